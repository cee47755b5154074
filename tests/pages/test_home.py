"""The page "Home" without a browser: three steps, each with one thing to change."""

import re
from urllib.parse import parse_qs

import pytest

from core.studies.home import CONTRADICTED, EXAMPLES, MEASURES, SHORT, TIMES
from core.ui import home
from core.ui.glossary import TERMS
from tests.sessions import keys, press, session, texts

ANSWERS, TURNED, DOUBTS = range(3)  # the pictures, from the top


@pytest.fixture
def app():
    return session("home")


def picture(page, step):
    """What a chart says in words, and the data it is drawn from."""
    proto = page.get("vega_lite_chart")[step].proto
    return proto.alt, sorted(dataset.data.data for dataset in proto.datasets)


def changed(page, before, step):
    """Whether the picture of one step has changed, and no other."""
    assert not page.exception
    after = [picture(page, each) for each in range(3)]
    assert after[step] != before[step]
    assert after[:step] == before[:step] and after[step + 1 :] == before[step + 1 :]
    return True


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


def sentences(text):
    return re.findall(r"[.!?](?=\W*(?:\s|$))", text)


def test_every_step_says_it_in_three_sentences_and_explains_its_terms(app):
    assert app.title[0].value == "Can I believe what a language model tells me?"
    assert len(app.get("vega_lite_chart")) == len(app.header) == 3
    assert len(sentences("One. *Two* of 0.5 nats! **Is “this” three?**")) == 3
    glossary = "\n\n".join(f"**{term}.** {meaning}" for term, meaning in TERMS.items())
    words = [text.value for text in app.markdown if text.value != glossary]
    assert len(words) == 4 and all(1 <= len(sentences(text)) <= 3 for text in words)
    beside = [column for column in app.columns if column.markdown]
    assert len(beside) == 3
    for column in beside:
        told = [text.value for text in (*column.markdown, *column.caption)]
        assert sum(len(sentences(text)) for text in told) <= 3, told
    assert all(heading.proto.help for heading in app.header)
    (caption,) = app.caption
    for term, place in (
        ("Entropy", app.button_group(key="measure").help),
        ("Mutual information", app.button_group(key="measure").help),
        ("Threshold λ", caption.proto.help),
        ("Nat", caption.proto.help),
    ):
        assert TERMS[term] in place
    kinds = [element.type for element in app.main]
    (glossary,) = (i for i, e in enumerate(app.main) if getattr(e, "key", "") == "glossary_term")
    assert kinds.index("title") < glossary < kinds.index("header")
    assert (
        "Paris more than 99.9%, anything else less than 0.1%." in picture(app, ANSWERS)[0]
    )  # never certain


def test_asking_something_else_changes_the_first_picture_only(app):
    assert targets(app) == [
        ("inspection", EXAMPLES["Known"]),
        ("amplification", EXAMPLES["Half known"], *CONTRADICTED["Half known"]),
        ("inspection", EXAMPLES["Many answers"]),
    ]
    before = [picture(app, step) for step in range(3)]
    for name in list(SHORT)[1:]:
        app.button_group(key="asked").set_value(name).run()
        assert changed(app, before, ANSWERS)
        assert f"Asked “{EXAMPLES[name]}”" in picture(app, ANSWERS)[0]
        assert EXAMPLES[name] in texts(app)
        assert targets(app)[ANSWERS] == ("inspection", EXAMPLES[name])


def test_telling_changes_the_second_picture_only_and_turns_what_it_half_knows(app):
    before, untold = [picture(app, step) for step in range(3)], shares(app)
    for times in TIMES[1:]:
        app.select_slider(key="times").set_value(times).run()
        assert changed(app, before, TURNED)
        told = shares(app)
        assert told[SHORT["Half known"]] <= untold[SHORT["Half known"]]
        assert told[SHORT["Known"]] > 50
    assert told[SHORT["Half known"]] < 50


def test_the_other_measure_changes_the_third_picture_only_and_is_not_fooled(app):
    before, wrong = [picture(app, step) for step in range(3)], {}
    for measure in MEASURES:
        app.button_group(key="measure").set_value(measure).run()
        alt = picture(app, DOUBTS)[0]
        assert alt.startswith(f"{measure}, ")
        wrong[measure] = [
            case for case in alt.partition(": ")[2].split("; ") if "decides badly" in case
        ]
    app.button_group(key="measure").set_value("Mutual information").run()
    assert changed(app, before, DOUBTS)
    (fooled,) = wrong["Entropy"]
    assert fooled.startswith(SHORT["Many answers"]) and not wrong["Mutual information"]


def test_the_ways_on():
    for button, title in (
        ("own", "Can I believe this answer?"),
        ("catalogue", "What can I ask?"),
    ):
        assert press(session("home"), button).title[0].value == title


@pytest.mark.parametrize("installed", [True, False])
def test_a_real_language_model_is_one_press_away_where_it_is_installed(installed, monkeypatch):
    opened = []
    monkeypatch.setattr(home, "find_spec", lambda name: installed or None)
    monkeypatch.setattr(home.model_opening, "use", lambda *wish: opened.append(wish))
    page = session("home")
    assert ("real" in keys(page)) == installed
    if installed:
        press(page, "real")
        assert opened == [("smollm2", None, None)]
        assert page.text_input(key="q").value
