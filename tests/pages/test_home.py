"""The page "Home" without a browser: the numbers of its lanes, and the ways on."""

import json
import math
from dataclasses import replace

import pytest

from core.reports.inspection.words import STAMPS
from core.studies.home import PREPARED, TIMES
from core.studies.inspection.certificates import default_policy
from core.studies.inspection.verdict import Headline
from core.ui import home, model_opening
from core.ui.components import challenge, lanes, presentation
from core.ui.glossary import KEY
from core.ui.policy_badge import IN_USE
from tests.sessions import keys, press, said, session


@pytest.fixture
def app():
    return session("home")


@pytest.fixture
def content(monkeypatch):
    """What the browser is handed, by the component's key."""
    found = {}

    def noting(draw):
        def noted(*, data, key, **rest):
            found[key] = data
            return draw(data=data, key=key, **rest)

        return noted

    for component in (lanes, challenge, presentation):
        monkeypatch.setattr(component, "mount", noting(component.mount))
    return found


def numbers(page):
    return page.dataframe[0].value


def test_the_browser_gets_every_step_of_every_lane_at_once(content):
    page = session("home")
    assert not page.exception
    drawn = content["lanes"]["lanes"]
    assert [lane["question"] for lane in drawn] == list(PREPARED)
    assert content["lanes"]["times"] == list(TIMES)
    assert all(len(lane["steps"]) == len(TIMES) for lane in drawn)
    styles = ["believe", "believe", "doubt", "doubt"]
    assert [lane["stamp"]["style"] for lane in drawn] == styles
    # Lemon is true, too: of what a lane is told, only what its own answer gives way to is judged.
    assert [lane["prompt"].partition(" “")[0] for lane in drawn] == ["Told:"] * 4
    assert drawn[2]["why"] == "Las Vegas gives way, and is wrong"
    assert [lane["doubt"] for lane in drawn] == [  # nothing near the last was taught
        *("doubt 3.4% ≤ limit 50%", "doubt 0.03 ≤ limit 0.18", "doubt 0.63 ≥ limit 0.58"),
        "",
    ]
    shares, believed = [0.034 / 0.5, 0.029 / 0.581, 0.63 / 0.581], [1, math.log(6) / 10 / 0.581]
    assert [lane["of_limit"] for lane in drawn[:3]] == pytest.approx(shares, rel=0.02)
    assert [lane["believed"] for lane in drawn[:2]] == pytest.approx(believed, rel=0.02)
    assert [lane["stamp"]["when"] for lane in drawn] == [
        KEY[lane["stamp"]["label"]] for lane in drawn
    ]
    assert {drawn[3]["own"], *drawn[3]["others"]} == {lanes.MADE_UP}, (
        "nothing made up is named unasked"
    )
    assert lanes.MADE_UP not in {drawn[0]["own"], drawn[1]["own"], *drawn[1]["others"]}
    assert len(json.dumps(content)) < 20_000
    assert home.prepared_lanes() is home.prepared_lanes()  # for all who come


@pytest.mark.parametrize(
    ("headline", "doubt", "limit", "share", "words"),
    [
        (Headline.PERHAPS, 0.5805, 0.5841, None, "doubt 0.581 < limit 0.584"),
        (Headline.PERHAPS, 0.58051, 0.58092, None, "doubt 0.58051 < limit 0.58092"),
        (Headline.ABSTAIN, 0.5834, 0.5809, None, "doubt 0.583 ≥ limit 0.581"),
        (Headline.BELIEVE, 0.1771, 0.5809, None, "doubt 0.177 ≤ limit 0.179"),
        (Headline.PERHAPS, 0.8, 0.9, 0.449, "doubt 55.1% ≤ limit 59.4%"),  # 1 − exp(−0.9) = 0.5934
        (Headline.ABSTAIN, 0.8, 0.6, 0.449, "doubt 55.1% > limit 50%"),
        (Headline.BELIEVE, 0.0, 0.9, 0.9, "doubt 10% ≤ limit 50%"),
    ],
)
def test_a_lane_has_its_doubt_beside_the_limit_that_gave_its_word(
    content, headline, doubt, limit, share, words
):
    """In as many digits as tell them apart."""
    session("home")
    lane = home.prepared_lanes()[1]
    assert lane.belief_limit == pytest.approx(math.log(6) / 10)
    beside = replace(lane, headline=headline, doubt=doubt, limit=limit, share=share)
    assert lanes.doubt_in_words(beside) == words


def test_the_challenge_has_the_lanes_doubts_and_judgements(content):
    session("home")
    cases = content["challenge"]["cases"]
    assert [case["right"] for case in cases] == [True, True, False, False]
    assert [case["name"] for case in cases] == list(PREPARED.values())
    widest = content["challenge"]["widest"]
    assert all(0 <= doubt < widest for case in cases for doubt in case["doubts"].values())


def test_the_stories_to_present_are_the_lanes_own(content):
    session("home")
    stories = content["present"]["stories"]
    for story, drawn in zip(stories, content["lanes"]["lanes"], strict=False):
        assert {name: story[name] for name in ("question", "own", "told", "stamp")} == {
            name: drawn[name] for name in ("question", "own", "told", "stamp")
        }
        assert story["steps"] == [drawn["steps"][TIMES.index(n)] for n in presentation.PLACES]
    assert [story["meaning"] for story in stories] == [
        "It keeps to its answer, as a model does to what it knows.",
        "It keeps its other answers, too: several may be right.",
        "It drops its own answer, as a model does a guess. And it was wrong.",
    ]
    assert [story["put_in"][-1] for story in stories] == [
        f"Told 100 times: “One answer to the question is {told}.”"
        for told in ("Lyon", "Lemon", "Carson City")
    ]


def test_the_table_says_what_the_lanes_show(app):
    table = numbers(app)
    assert list(table["question"]) == list(PREPARED)
    assert list(table["its own answer"])[:2] == ["Paris", "Banana"]
    assert next(iter(table["100 ×"])) == "> 99.9%"
    assert list(table.columns)[4:] == [f"{times} ×" for times in TIMES]


def ask(page, question):
    page.text_input(key="own_question").set_value(question)
    (button,) = (b for b in page.button if b.label == "Ask")
    return button.click().run()


def test_a_question_of_ones_own_becomes_a_lane_and_stands_in_the_address():
    page = session("home", own="What is the capital of Spain?")
    assert list(numbers(page)["its own answer"])[-1] == "Madrid"
    assert ask(page, "What is the capital of Italy?").query_params["own"].endswith("Italy?")
    assert list(numbers(page)["question"]) == [*PREPARED, "What is the capital of Italy?"]
    assert list(numbers(page)["its own answer"])[-1] == "Rome"
    page = session("home", own="x" * 100_000)
    assert not page.exception and list(numbers(page)["question"]) == list(PREPARED)


def test_no_other_policy_than_the_one_in_use_decides_a_question_of_ones_own():
    page = session("home", own="Name a mammal")
    assert list(numbers(page)["question"])[-1] == "Name a mammal"
    page.session_state[IN_USE] = replace(default_policy(), threshold=0.01, belief=None)
    assert list(numbers(page.run())["question"]) == list(PREPARED)
    assert said(
        page, "decided by the policy that is built in. Your own question goes to Inspection"
    )
    assert ask(page, "Name a fish").title[0].value == "Can I believe this answer?"


def test_what_was_never_taught_is_never_to_be_believed(content):
    ask(session("home"), "Who stole the Mona Lisa?")
    *_, own = content["lanes"]["lanes"]
    assert own["question"] == "Who stole the Mona Lisa?" and own["why"] == lanes.OTHER_WORDS
    for headline, stamp in STAMPS.items():  # the words of every page, and a reason
        drawn = lanes.as_data(replace(home.prepared_lanes()[0], headline=headline), TIMES)
        assert drawn["stamp"]["label"] == stamp.label and drawn["why"]
    assert own["stamp"]["label"] != STAMPS[Headline.BELIEVE].label


def test_the_challenge_gives_its_answer_away_only_folded_and_computed(app):
    (folded,) = (e for e in app.expander if e.label == "Is there such a place?")
    (text,) = folded.text
    entropy, information = (home.challenge(home.prepared_lanes(), m) for m in home.MEASURES)
    for number in (*vars(entropy).values(), *vars(information).values()):
        assert isinstance(number, str) or f"{number:.2f}" in text.value


def test_the_ways_on():
    for button, title in (
        ("catalogue", "What can I ask?"),
        ("threshold", "When should it answer?"),
    ):
        assert press(session("home"), button).title[0].value == title
    assert "use_model" in keys(press(session("home"), "own_model"))


@pytest.mark.parametrize("installed", [True, False])
def test_a_real_language_model_is_one_press_away_where_it_is_installed(installed, monkeypatch):
    opened = []
    monkeypatch.setattr(model_opening, "find_spec", lambda name: installed or None)
    monkeypatch.setattr(model_opening, "use", lambda *wish: opened.append(wish))
    page = session("home")
    assert ("real" in keys(page)) == installed
    if installed:
        press(page, "real")
        assert opened == [("smollm2", None, None)]


def test_only_a_lane_that_is_there_can_be_opened(monkeypatch):
    for sent in (None, True, -1, 4, 2.0, "0", {"a": 1}, [0]):
        result = type("Result", (), {"opened": sent})()
        monkeypatch.setattr(lanes, "mount", lambda result=result, **_: result)
        assert lanes.lanes(home.prepared_lanes(), key="x") is None
    result = type("Result", (), {"opened": 2})()
    monkeypatch.setattr(lanes, "mount", lambda **_: result)
    assert lanes.lanes(home.prepared_lanes(), key="x") == 2
