"""The page "What can I ask?" without a browser: a list to narrow, and surprises.

That a click on a question inspects it is tested in the browser: AppTest cannot choose a cell.
"""

import pytest

from core.data.world import grading
from core.data.world.facts import Band
from core.studies.questions import BANDS, entries, search, subject_areas
from tests.sessions import go, visit


@pytest.fixture
def app():
    return visit("questions").run()


@pytest.fixture
def whole_app():
    """With the other pages, to go to them."""
    return visit().run()


def listed(page):
    assert not page.exception
    (table,) = page.dataframe
    shown = list(table.value["question"])
    assert f"Questions found: {len(shown)}." in page.caption[0].value
    return shown


def questions(found):
    return [entry.question for entry in found]


def test_opens_on_everything(app):
    assert listed(app) == questions(entries())


def test_words_narrow_the_list(app):
    app.text_input(key="words").set_value("capital").run()
    capitals = listed(app)
    assert 1 < len(capitals) < len(entries())
    assert capitals == questions(search("capital"))
    app.text_input(key="words").set_value("FRANCE capital").run()
    assert listed(app) == ["What is the capital of France?"]


def test_the_subject_narrows_the_list(app):
    area = subject_areas()[-1]
    app.selectbox(key="subject").set_value(area).run()
    assert 0 < len(listed(app)) < len(entries())
    assert set(app.dataframe[0].value["subject_area"]) == {area}


@pytest.mark.parametrize("band", BANDS)
def test_the_band_narrows_the_list(app, band):
    app.selectbox(key="band").set_value(band).run()
    assert 0 < len(listed(app)) < len(entries())
    assert set(app.dataframe[0].value["band"]) == {band}


def test_all_three_narrow_it_together_and_widen_it_again(app):
    area, band = search("capital of")[0].subject_area, Band.RARELY.value
    app.text_input(key="words").set_value("capital")
    app.selectbox(key="subject").set_value(area)
    app.selectbox(key="band").set_value(band).run()
    few = listed(app)
    assert few == questions(search("capital", area, band))
    app.selectbox(key="band").set_value("everything").run()
    assert set(few) < set(listed(app))
    app.selectbox(key="subject").set_value("everything")
    app.text_input(key="words").set_value("").run()
    assert listed(app) == questions(entries())


def test_nothing_found_gets_a_sentence(app):
    app.text_input(key="words").set_value("xyzzy").run()
    assert not app.exception
    assert not app.dataframe
    assert any("Nothing matches" in text.value for text in app.text)
    assert not app.caption  # nothing to click


def test_punctuation_and_accents_do_not_count(app):
    app.text_input(key="words").set_value("capital? france!").run()
    assert listed(app) == ["What is the capital of France?"]
    app.text_input(key="words").set_value("beyonce").run()
    assert listed(app) == ["Name a female singer."]


def test_the_search_can_be_given_in_the_address():
    page = visit("questions")
    page.query_params.update({"words": "bird", "band": "many answers"})
    assert listed(page.run()) == questions(search("bird", band="many answers"))


@pytest.mark.parametrize("bad", [{"band": "x"}, {"subject": "nothing"}, {"words": "\n "}])
def test_nonsense_in_the_address_is_no_traceback(bad):
    page = visit("questions")
    page.query_params.update(bad)
    assert listed(page.run()) == questions(entries())


@pytest.mark.parametrize("hostile", ["![](http://example.invalid/x.png)", "$5 and $6 :red[x]"])
def test_hostile_words_reach_no_markdown(app, hostile):
    app.text_input(key="words").set_value(hostile).run()
    assert not app.exception
    assert not any(hostile in text.value for text in [*app.markdown, *app.caption, *app.title])


@pytest.mark.parametrize("band", BANDS)
def test_a_surprise_is_a_question_of_its_band_whatever_was_asked_before(whole_app, band):
    page = go(whole_app, "inspection").run()
    page.text_input(key="q").set_value("Who is the mayor of Tomorrow?").run()
    go(page, "questions").run()
    page.button(key=f"surprise_{band}").click().run()
    assert not page.exception
    assert page.title[0].value == "Can I believe this answer?"
    assert grading.find(page.text_input(key="q").value).band == band
