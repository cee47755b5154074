"""The page "Home" without a browser: three steps, each with one thing to change."""

import re
from urllib.parse import parse_qs

import pytest

from core.studies.home import CONTRADICTED, EXAMPLES, MEASURES, SHORT, TIMES, contradict
from core.ui.glossary import TERMS
from tests.sessions import visit

ANSWERS, TURNED, DOUBTS = range(3)  # the pictures, from the top


@pytest.fixture
def app():
    return visit().run()


def picture(page, step):
    """What a chart says in words, and the data it is drawn from."""
    proto = page.get("vega_lite_chart")[step].proto
    return proto.alt, sorted(dataset.data.data for dataset in proto.datasets)


def shares(page):
    """What is left of the right answers, in per cent, by the questions' short names."""
    found = re.findall(
        r"([^:;]+): [^;]+? keeps (?:more than |less than )?([\d.]+)% against",
        picture(page, TURNED)[0],
    )
    return {name.strip(): float(share) for name, share in found}


def targets(page):
    """Where the links lead: the page and what it is to show."""
    links = [link.proto for link in page.get("page_link")]
    return [(link.page, *(v for (v,) in parse_qs(link.query_string).values())) for link in links]


def words(page):
    """The page's text without the glossary's."""
    terms = {f"**{term}.** {meaning}" for term, meaning in TERMS.items()}
    return [text.value for text in page.markdown if text.value not in terms]


def sentences(text):
    return re.findall(r"[.!?](?=\W*(?:\s|$))", text)


def test_opens_first_and_without_an_exception():
    app = visit().run()
    assert not app.exception
    assert app.title[0].value == "Can I believe what a language model tells me?"
    assert len(app.get("vega_lite_chart")) == len(app.header) == 3


def test_every_step_says_it_in_three_sentences(app):
    introduction, *steps = words(app)
    assert len(steps) == 3
    for text in (introduction, *steps):
        assert 1 <= len(sentences(text)) <= 3, text
    beside = [column for column in app.columns if column.markdown]
    assert len(beside) == 3
    for column in beside:
        told = [text.value for text in (*column.markdown, *column.caption)]
        assert sum(len(sentences(text)) for text in told) <= 3, told


def test_every_term_of_the_steps_is_explained_where_it_stands(app):
    assert all(heading.proto.help for heading in app.header)
    assert TERMS["Entropy"] in app.button_group(key="measure").help
    assert TERMS["Mutual information"] in app.button_group(key="measure").help
    (caption,) = app.caption
    assert TERMS["Threshold λ"] in caption.proto.help
    assert TERMS["Nat"] in caption.proto.help


def test_the_glossary_stands_above_the_steps(app):
    kinds = [element.type for element in app.main]
    (glossary,) = (i for i, e in enumerate(app.main) if getattr(e, "key", "") == "glossary_term")
    assert kinds.index("title") < glossary < kinds.index("header")


def test_the_model_is_never_called_certain(app):
    alt, _ = picture(app, ANSWERS)
    assert "Paris 99.8%, anything else 0.2%." in alt


def test_counts_sentences():
    assert len(sentences("One. *Two* of 0.5 nats! **Is “this” three?**")) == 3


def test_asking_something_else_changes_the_first_picture_only(app):
    before = [picture(app, step) for step in range(3)]
    for name in list(SHORT)[1:]:
        app.button_group(key="asked").set_value(name).run()
        assert not app.exception
        alt, drawn = picture(app, ANSWERS)
        assert f"Asked “{EXAMPLES[name]}”" in alt
        assert drawn != before[ANSWERS][1]
        assert EXAMPLES[name] in [text.value for text in app.text]
        assert targets(app)[ANSWERS] == ("inspection", EXAMPLES[name])
    assert [picture(app, step) for step in (TURNED, DOUBTS)] == before[1:]


def test_telling_changes_the_second_picture_only(app):
    before = [picture(app, step) for step in range(3)]
    app.select_slider(key="times").set_value(TIMES[-1]).run()
    assert not app.exception
    after = [picture(app, step) for step in range(3)]
    assert after[TURNED][1] != before[TURNED][1]
    assert (after[ANSWERS], after[DOUBTS]) == (before[ANSWERS], before[DOUBTS])


def test_what_it_knows_stays_and_what_it_half_knows_turns(app):
    untold = shares(app)
    for times in TIMES:
        app.select_slider(key="times").set_value(times).run()
        told = shares(app)
        assert told[SHORT["Half known"]] <= untold[SHORT["Half known"]]
        assert told[SHORT["Known"]] > 50
    assert told[SHORT["Half known"]] < 50


def test_never_more_is_left_than_untold(embedded):
    """The same without the rounding of the words."""
    left = [{case.example: case.share for case in contradict(t, embedded)} for t in TIMES]
    assert all(case["Half known"] <= left[0]["Half known"] for case in left)


def test_the_other_measure_changes_the_third_picture_only(app):
    before = [picture(app, step) for step in range(3)]
    assert before[DOUBTS][0].startswith("Entropy, ")
    app.button_group(key="measure").set_value("Mutual information").run()
    assert not app.exception
    after = [picture(app, step) for step in range(3)]
    assert after[DOUBTS][0].startswith("Mutual information, ")
    assert after[DOUBTS][1] != before[DOUBTS][1]
    assert after[:DOUBTS] == before[:DOUBTS]


def test_only_entropy_is_fooled_by_many_answers(app):
    wrong = {}
    for measure in MEASURES:
        app.button_group(key="measure").set_value(measure).run()
        cases = picture(app, DOUBTS)[0].partition(": ")[2].split("; ")
        wrong[measure] = [case for case in cases if "decides badly" in case]
    (fooled,) = wrong["Entropy"]
    assert fooled.startswith(SHORT["Many answers"])
    assert not wrong["Mutual information"]


def test_links_lead_to_what_the_step_shows(app):
    assert targets(app) == [
        ("inspection", EXAMPLES["Known"]),
        ("amplification", EXAMPLES["Half known"], *CONTRADICTED["Half known"]),
        ("inspection", EXAMPLES["Many answers"]),
    ]


@pytest.mark.parametrize(
    ("button", "title"), [("own", "Can I believe this answer?"), ("catalogue", "What can I ask?")]
)
def test_the_ways_on(app, button, title):
    app.button(key=button).click().run()
    assert not app.exception
    assert app.title[0].value == title
