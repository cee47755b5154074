"""The page "What can I ask?" without a browser: a list to narrow, and surprises.

That a click on a question inspects it is tested in the browser: AppTest cannot choose a cell.
"""

import pytest

from core.data.world import grading
from core.data.world.facts import Band
from core.studies.questions import BANDS, entries, search
from tests.hostile import TEXTS
from tests.sessions import go, harmless, press, said, session, settled


@pytest.fixture
def app():
    return session("questions")


def listed(page):
    (table,) = page.dataframe
    shown = list(table.value["question"])
    assert f"{len(shown):,} question" in page.caption[0].value
    return shown


def questions(found):
    return [entry.question for entry in found]


def narrow(page, words, subject="everything", band="everything"):
    page.text_input(key="words").set_value(words)
    page.selectbox(key="subject").set_value(subject)
    return settled(page.selectbox(key="band").set_value(band).run())


def test_words_subject_and_band_narrow_the_list_and_widen_it_again(app):
    assert listed(app) == questions(entries())
    assert listed(narrow(app, "FRANCE capital")) == ["What is the capital of France?"]
    area = search("capital of")[0].subject_area
    for band in BANDS:
        assert listed(narrow(app, "", band=band)) == questions(search("", band=band))
        assert set(app.dataframe[0].value["band"]) == {band}
    assert listed(narrow(app, "capital", area, Band.RARELY.value)) == questions(
        search("capital", area, Band.RARELY.value)
    )
    assert set(app.dataframe[0].value["subject_area"]) == {area}
    assert listed(narrow(app, "")) == questions(entries())


def test_nothing_found_gets_a_sentence_and_hostile_words_reach_no_markdown(app):
    narrow(app, " ".join(TEXTS))
    assert not app.dataframe and said(app, "Nothing matches") and harmless(app)
    assert not app.caption  # nothing to click


def test_the_search_can_be_given_in_the_address_and_nonsense_there_finds_everything():
    page = session("questions", words="bird", band="many answers")
    assert listed(page) == questions(search("bird", band="many answers"))
    page = session("questions", words="\n ", band="x", subject="nothing")
    assert listed(page) == questions(entries())


def test_a_surprise_is_a_question_of_its_band_whatever_was_asked_before():
    page = session("inspection", q="Who is the mayor of Tomorrow?")
    for band in BANDS:
        settled(go(page, "questions").run())
        press(page, f"surprise_{band}")
        assert page.title[0].value == "Can I believe this answer?"
        assert grading.find(page.text_input(key="q").value).band == band
