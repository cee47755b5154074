"""The page "Amplification" without a browser: what it asks, what it shows, and in which words."""

import json
import re
import threading
import time

import pytest

from core import prompts
from core.charts.amplification import curves as charts
from core.charts.amplification import mechanism as mechanism_charts
from core.data.world import grading
from core.data.world.facts import Band, facts
from core.data.world.grading import matches
from core.language_models.errors import BrokenModelError, ModelError
from core.studies.amplification import gallery as proposals
from core.studies.amplification import serialise
from core.studies.amplification.curve import (
    DEFAULT_REPETITIONS,
    FREQUENCY_REPETITIONS,
    SAMPLES_A_POINT,
    Case,
    amplify,
    grid,
    percent,
)
from core.studies.amplification.gallery import (
    EXAMPLES,
    PAPER,
    by_band,
    drawn,
    of_fact,
    propose,
    quartiles,
)
from core.studies.amplification.mechanism import looking
from core.studies.inspection.inspection import run
from core.studies.inspection.request import InvalidRequestError, Request
from core.ui.amplification import form, gallery, mechanism
from core.ui.runs import widget
from core.uncertainty import attention
from tests.fakes import Counted, Turning
from tests.sessions import go, visit

FIELDS = ("query", "answer", "repeated")
FIRST, KNOWN, MANY = (EXAMPLES[name] for name in ("Half known", "Known", "Many answers"))
PUBLISHED, WORLD, WHY = "The paper’s questions", "The embedded world", "The mechanism"
SHARE = "P(right answer) of the two"  # a heading of the table of points
HOSTILE = [
    "![](http://example.invalid/x.png)",
    "<script>alert(1)</script>",
    "$5 and $6 :red[x] **b**",
    "a \"quoted\" 'one' \\ [link](http://example.invalid)",
]


@pytest.fixture
def app():
    return opened()


@pytest.fixture
def use(monkeypatch):
    """Let the page have another model than the shipped one."""

    def use(model):
        monkeypatch.setattr("core.ui.model.embedded", lambda: model)
        for module in (gallery, mechanism):
            monkeypatch.setattr(module, "embedded", lambda: model)
        return model

    return use


def opened(**query):
    page = visit("amplification")
    for name, value in query.items():
        page.query_params[name] = value
    return settled(page.run())


def settled(page):
    """Run until nothing is on its way: a slow machine shows progress first."""
    for _ in range(600):
        if not page.get("progress"):
            return sound(page)
        time.sleep(0.1)
        page.run()
    raise AssertionError("the curves never came")


def sound(page):
    assert not page.exception
    return page


def ask(page, *texts):
    for field, text in zip(FIELDS, texts, strict=False):
        page.text_input(key=field).set_value(text)
    return settled(page.run())


def press(page, key):
    page.button(key=key).click().run()
    return settled(page)


# ---------------------------------------------------------------------- looking at the page


def texts(page):
    return [text.value for text in page.text]


def said(page, words):
    return [text for text in texts(page) if words in text]


def typed(page):
    return Case(*(page.text_input(key=field).value for field in FIELDS))


def listed(page):
    """The lines below the charts: one for every curve, with its number."""
    return [text for text in texts(page) if re.match(r"\d\. Q: ", text)]


def lines(curves):
    return [f"{i + 1}. {charts.described(one)}" for i, one in enumerate(curves)]


def keys(page):
    return [button.key for button in page.button]


def pictures(page):
    """What the charts say in words."""
    return [chart.proto.alt for chart in page.get("vega_lite_chart")]


def kept(page):
    """What the address says is kept."""
    given = page.query_params.get("kept", [])
    return [given] if isinstance(given, str) else given


def table(page, heading):
    (found,) = [table.value for table in page.dataframe if heading in table.value]
    return found


def curves_of(model, *wanted, most=100):
    return [amplify(case, model, grid(model, most)) for case in wanted]


def shows(page, curves):
    """Whether the page shows exactly these curves, in words, numbers and alternatives."""
    assert listed(page) == lines(curves)
    assert pictures(page) == [charts.curves_alt(curves), charts.probabilities_alt(curves)]
    assert table(page, SHARE).to_dict("list") == serialise.to_table(curves)
    return True


# --------------------------------------------------------------------------- opening it


def test_opens_on_a_half_known_question_beside_a_known_one_and_one_of_many_answers(app, embedded):
    assert app.title[0].value == "What does repeating an answer do?"
    assert typed(app) == FIRST
    found = curves_of(embedded, FIRST, KNOWN, MANY)
    assert shows(app, found)
    assert found[0].verdict in texts(app)
    assert found[1].verdict not in texts(app)  # the verdict is about the question above it
    assert keys(app)[-3:] == ["keep", "remove_1", "remove_2"]


def test_opens_within_the_frame(embedded):
    """The other tests run the page without app.py, as a cold deep link does."""
    page = visit().run()
    settled(go(page, "amplification").run())
    assert shows(page, curves_of(embedded, FIRST, KNOWN, MANY))


def test_what_is_typed_is_asked(app, embedded):
    case = Case("What is the capital of Germany?", "Berlin", "Bonn")
    ask(app, case.query, case.answer, case.repeated)
    found = curves_of(embedded, case, KNOWN, MANY)
    assert shows(app, found)
    assert found[0].verdict in texts(app)


def test_white_space_around_what_is_typed_means_nothing(app, embedded):
    ask(app, f"  {FIRST.query} ", f"{FIRST.answer}  ", f" {FIRST.repeated}")
    assert shows(app, curves_of(embedded, FIRST, KNOWN, MANY))


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_fills_in_all_three(app, embedded, name):
    ask(app, "Who?", "Somebody", "Nobody")
    press(app, f"case_{name}")
    assert typed(app) == EXAMPLES[name]
    others = [case for case in (KNOWN, MANY) if case != EXAMPLES[name]]
    assert shows(app, curves_of(embedded, EXAMPLES[name], *others))  # none of them twice


def test_fewer_repetitions_make_a_shorter_curve(app, embedded):
    app.number_input(key="most").set_value(7).run()
    settled(app)
    assert shows(app, curves_of(embedded, FIRST, KNOWN, MANY, most=7))
    assert sorted(set(table(app, SHARE)["Repetitions"])) == list(range(8))


def test_the_other_axis_shows_the_same(app, embedded):
    before = pictures(app)
    app.segmented_control(key="scale").set_value("linear").run()
    assert pictures(settled(app)) == before
    spec = json.loads(app.get("vega_lite_chart")[0].proto.spec)
    assert "symlog" not in json.dumps(spec)


# ---------------------------------------------------------------------------- the prompt


def test_the_exact_prompt_is_shown_for_any_number_of_repetitions(app):
    for times in (0, 1, 3, 100):
        app.number_input(key="prompt_at").set_value(times).run()
        assert app.code[0].value == prompts.iterative(FIRST.query, [FIRST.repeated] * times)


def test_the_prompt_stays_below_fewer_repetitions(app):
    app.number_input(key="prompt_at").set_value(100).run()
    app.number_input(key="most").set_value(1).run()
    settled(app)
    at = app.number_input(key="prompt_at").value
    assert at <= 1
    assert app.code[0].value == FIRST.prompt(at)


def test_the_exact_prompt_is_shown_of_any_curve(app):
    assert app.selectbox(key="prompt_of").value == f"1. {FIRST.query}"
    app.selectbox(key="prompt_of").set_value(f"3. {MANY.query}").run()
    assert app.code[0].value == MANY.prompt(2)
    press(app, "remove_2")
    assert app.code[0].value == FIRST.prompt(2)


def test_of_one_curve_there_is_nothing_to_choose():
    assert not [box for box in opened(kept="").selectbox if box.key == "prompt_of"]


# ------------------------------------------------------------------- proposed from samples


@pytest.mark.parametrize(
    "query", [*(drawn(band, 1, seed=1)[0].question for band in Band), "what is the capital of PERU"]
)
def test_of_a_question_of_the_world_the_truth_is_proposed(app, query):
    fact = grading.find(query)
    ask(app, query)
    press(app, "propose")
    case = typed(app)
    assert case.query == query

    def right(text):
        return [i for i, answer in enumerate(fact.answers) if matches(text, answer.names)]

    assert right(case.answer)
    if fact.band is Band.MANY_ANSWERS:
        assert right(case.repeated) and right(case.repeated) != right(case.answer)
    else:
        assert not right(case.repeated)
    assert listed(app)[0].startswith(f"1. Q: {query}  A: {case.answer} (")


@pytest.mark.parametrize("query", ["What is the capital of Zorvania?", "asdf qwer zxcv"])
def test_of_any_other_question_the_two_likeliest_clusters_are_proposed(app, embedded, query):
    assert grading.find(query) is None
    ask(app, query)
    press(app, "propose")
    found = run(Request(query), embedded)
    first, second, *_ = sorted(found.clusters, key=lambda cluster: -cluster.mass)
    assert typed(app) == Case(query, first.text, second.text)
    assert propose(found) == (first.text, second.text)


def test_of_another_question_it_is_said_that_the_answers_are_of_the_one_before(app):
    before = "The answers below still belong to “"
    assert not said(app, before)
    ask(app, HOSTILE[0])
    assert said(app, f"{before}{FIRST.query}”.")
    ask(app, "Who was the first US president?")
    assert said(app, f"{before}{FIRST.query}”.")
    assert typed(app).repeated == FIRST.repeated  # nothing that was typed is taken away
    press(app, "propose")
    assert not said(app, before)
    own = typed(app)
    ask(app, FIRST.query)
    assert said(app, f"{before}{own.query}”.")
    ask(app, own.query)
    assert not said(app, before)
    ask(app, FIRST.query, FIRST.answer)
    assert not said(app, before)  # somebody who types answers knows whose they are


def test_where_the_model_always_says_the_same_nothing_is_proposed(use):
    use(Turning(samples=["the same"]))
    page = opened(query="Who?", answer="me", repeated="you", kept="")
    press(page, "propose")
    assert said(page, "The model gave fewer than two answers in 10 samples, “the same”.")
    assert typed(page) == Case("Who?", "me", "you")
    assert len(listed(page)) == 1


def test_without_a_question_nothing_is_proposed(app):
    ask(app, " ")
    press(app, "propose")
    assert said(app, "There is no question. Type one and ask again.")


def test_a_model_that_fails_while_proposing_is_said(use):
    model = use(Turning(0.31))
    page = opened(kept="")

    def broken(*_, **__):
        raise ModelError("The model went away. Start it again.")

    model.sample = broken
    press(page, "propose")
    assert said(page, "The model went away. Start it again.")
    assert typed(page) == FIRST and len(listed(page)) == 1


def test_one_persons_cancel_does_not_end_anothers_proposal(use, monkeypatch):
    model, gate = use(Turning(0.33, samples=["this", "that"])), threading.Event()
    sample = model.sample

    def slow(*given, **settings):
        assert gate.wait(60)
        return sample(*given, **settings)

    pages = [opened(kept="", query="Whose?") for _ in range(2)]
    monkeypatch.setattr(widget, "QUICK", 0.01)
    model.sample = slow
    for page in pages:
        page.button(key="propose").click().run()
    one, other = pages
    one.button(key="cancel_propose").click().run()
    assert said(one, "Cancelled. Nothing changed.")
    gate.set()
    settled(other)
    assert {typed(other).answer, typed(other).repeated} == {"this", "that"}
    assert typed(one).answer == FIRST.answer


def test_a_new_proposal_takes_the_last_ones_sentence_away(use):
    model = use(Turning(0.32, samples=["the same"]))
    page = opened(kept="")
    press(page, "propose")
    assert said(page, "fewer than two answers")
    model.samples = ("this", "that")
    ask(page, "Another?")
    press(page, "propose")
    assert not said(page, "fewer than two answers")
    assert {typed(page).answer, typed(page).repeated} == {"this", "that"}


# --------------------------------------------------------------------- kept beside the case


def test_a_kept_curve_stays_beside_the_next_one(app, embedded):
    case = Case("What is the capital of Italy?", "Rome", "Milan")
    press(app, "keep")
    assert app.button(key="keep").disabled
    ask(app, case.query, case.answer, case.repeated)
    assert shows(app, curves_of(embedded, case, KNOWN, MANY, FIRST))


def test_a_removed_curve_is_gone(app, embedded):
    press(app, "remove_1")
    assert shows(app, curves_of(embedded, FIRST, MANY))
    press(app, "remove_1")
    assert shows(app, curves_of(embedded, FIRST))
    press(app, "keep")
    ask(app, "", "", "")
    assert shows(app, curves_of(embedded, FIRST))


def test_only_as_many_are_kept_as_there_are_colours(embedded):
    several = [Case(f"Name number {i}", "one", "two") for i in range(form.MOST_KEPT + 2)]
    page = opened(kept=[json.dumps([c.query, c.answer, c.repeated]) for c in several])
    assert shows(page, curves_of(embedded, FIRST, *several[: form.MOST_KEPT]))
    assert len(listed(page)) == charts.MOST_CURVES
    assert page.button(key="keep").disabled
    press(page, "remove_3")
    press(page, "keep")
    assert len(listed(page)) == charts.MOST_CURVES - 1
    assert page.button(key="keep").disabled  # it is kept


def test_the_kept_curves_outlive_an_input_that_is_none(app, embedded):
    ask(app, "", "Paris", "Lyon")
    assert shows(app, curves_of(embedded, KNOWN, MANY))
    assert "keep" not in keys(app)


def test_with_nothing_kept_and_nothing_typed_there_is_no_picture():
    page = opened(kept="", query="")
    ask(page, "")
    assert said(page, "There is no question.")
    assert not pictures(page) and not listed(page)


# ------------------------------------------------------------------------------ bad input


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (("", "Paris", "Lyon"), "There is no question. Type one."),
        ((" ", "Paris", "Lyon"), "There is no question. Type one."),
        (("Where?", "", "Lyon"), "There is no right answer. Type one."),
        (("Where?", "Paris", "  "), "There is no answer to repeat. Type one."),
        (("Where?", "Paris", "the paris."), "The two answers are the same."),
        (("Where?", "Paris", "Paris"), "The two answers are the same."),
        (("Where?", "Paris ", " Paris"), "The two answers are the same."),
        (("Where?", "Paris\nLyon", "Rome"), "The right answer has a line break"),
        (("Where?", "Paris", "Rome\u2028Lyon"), "The answer to repeat has a line break"),
    ],
)
def test_bad_input_gets_a_sentence_and_no_curve(app, given, sentence):
    ask(app, *given)
    assert said(app, sentence)
    assert len(listed(app)) == 2  # the kept ones


def test_a_line_break_in_the_question_is_none_of_an_answers(embedded):
    case = Case("Who?\nAnd where?", "me", "you")
    page = opened(query=case.query, answer=case.answer, repeated=case.repeated, kept="")
    assert shows(page, curves_of(embedded, case))
    assert page.code[0].value == case.prompt(2)


def test_a_prompt_that_is_too_long_names_the_most_repetitions_that_fit(embedded):
    case = Case(FIRST.query, "no", "far too many words " * 20)
    page = opened(answer=case.answer, repeated=case.repeated, kept="", most="200")
    with pytest.raises(InvalidRequestError) as error:
        curves_of(embedded, case, most=200)
    (sentence,) = said(page, "does not fit")
    assert sentence == f"{case.query} {error.value}"
    given, most = map(int, re.findall(r"\d+", sentence))
    assert 0 < most < given == 200 and not listed(page)
    page.number_input(key="most").set_value(most + 1).run()
    (sentence,) = said(settled(page), "does not fit")
    assert re.findall(r"\d+", sentence) == [str(most + 1), str(most)]
    page.number_input(key="most").set_value(most).run()
    assert shows(settled(page), curves_of(embedded, case, most=most))
    assert not said(page, "does not fit")


def test_the_others_are_drawn_where_one_does_not_fit(embedded):
    page = opened(repeated="far too many words " * 20)
    assert len(said(page, "does not fit")) == 1
    assert shows(page, curves_of(embedded, KNOWN, MANY))


def test_a_question_that_does_not_fit_by_itself_gets_a_sentence():
    page = opened(query="q" * 1990, answer="a", repeated="b", kept="", most="1")
    assert said(page, "Shorten the question")
    assert not listed(page)


# ------------------------------------------------------------------------------ permalink


def test_everything_can_be_given_in_the_address(embedded):
    case = Case("What is the capital of Spain?", "Madrid", "Barcelona")
    other = Case('Who said "no"?', "He", "[She, too]")
    page = opened(
        query=case.query,
        answer=case.answer,
        repeated=case.repeated,
        most="9",
        scale="linear",
        kept=[json.dumps([other.query, other.answer, other.repeated])],
    )
    assert shows(page, curves_of(embedded, case, other, most=9))
    assert page.segmented_control(key="scale").value == "linear"


def test_the_address_follows_what_is_kept(app, embedded):
    assert kept(app) == []  # the first ones need none
    press(app, "keep")
    assert len(kept(app)) == 3
    case = Case("Who?", "me", "you")
    page = opened(kept=kept(app), query=case.query, answer=case.answer, repeated=case.repeated)
    assert shows(page, curves_of(embedded, case, KNOWN, MANY, FIRST))
    press(page, "remove_1")
    press(page, "remove_1")
    assert kept(page) == [json.dumps([FIRST.query, FIRST.answer, FIRST.repeated])]
    press(page, "remove_1")
    assert kept(page) == [""]  # nothing, which is not the same as the first ones
    assert listed(opened(kept="")) == lines(curves_of(embedded, FIRST))


GARBAGE = [
    "nonsense",
    "[",
    "null",
    "7",
    "[]",
    "{}",
    '["a"]',
    '["a", "b"]',
    '["a", "b", "c", "d"]',
    '["a", "b", 3]',
    '["a", "b", "b"]',
    '["", "b", "c"]',
    '["a", "b", null]',
    '["a", "b\\nb", "c"]',
    '["a", "\\ud800", "c"]',
    "9" * 5000,
    f'["{"x" * 2001}", "a", "b"]',
]


def test_garbage_among_what_is_kept_is_dropped(embedded):
    good = json.dumps([MANY.query, MANY.answer, MANY.repeated])
    page = opened(kept=[*GARBAGE, good, *GARBAGE])
    assert shows(page, curves_of(embedded, FIRST, MANY))
    assert kept(page) == [good]
    assert kept(opened(kept=GARBAGE)) == [""]


@pytest.mark.parametrize(
    "bad",
    [
        {"most": "many"},
        {"most": "0"},
        {"most": "-3"},
        {"most": "100000"},
        {"scale": "cubic"},
        {"tab": "None"},
        {"each": "9999", "draw": "-1", "tab": WORLD},
        {"in_span": "7", "copies": "11", "dimension": "2", "tab": WHY},
        {"heads_at": "3", "tab": WHY},
    ],
)
def test_nonsense_in_the_address_is_no_traceback(bad):
    assert pictures(opened(**bad))


# --------------------------------------------------------------------- hostile text


@pytest.mark.parametrize("hostile", HOSTILE)
def test_hostile_texts_reach_no_markdown(hostile):
    case = Case(hostile, f"{hostile} right", f"{hostile} wrong")
    page = opened(
        query=case.query,
        answer=case.answer,
        repeated=case.repeated,
        most="5",
        kept=[json.dumps([f"kept {hostile}", hostile, "else"])],
    )
    assert len(listed(page)) == 2
    assert page.code[0].value == case.prompt(2)
    press(page, "propose")
    for element in [*page.markdown, *page.caption, *page.title, *page.subheader, *page.error]:
        assert hostile not in element.value
    for button in page.button:
        assert hostile not in button.label and hostile not in (button.help or "")


# ------------------------------------------------------------------------------ galleries


def test_the_papers_twelve_questions_stand_in_their_groups(embedded):
    page = opened(tab=PUBLISHED)
    every = [published for group in PAPER.values() for published in group]
    assert [heading.value for heading in page.subheader] == list(PAPER)
    assert len(every) == 12
    found = [amplify(published.case, embedded, DEFAULT_REPETITIONS) for published in every]
    assert pictures(page) == [charts.curves_alt([one]) for one in found]
    shown = texts(page)
    for published, one in zip(every, found, strict=True):
        case, first = published.case, one.points[0]
        assert case.query in shown and one.verdict in shown
        assert (
            f"{case.answer} {charts.initial(first.log_likelihood_answer)}, repeated: "
            f"{case.repeated} {charts.initial(first.log_likelihood_repeated)} "
            f"(in the paper {published.answer} and {published.repeated})"
        ) in shown


def test_a_question_of_the_paper_can_be_looked_at_closer(embedded):
    page = visit().run()
    page.query_params["tab"] = PUBLISHED
    settled(go(page, "amplification").run())
    case = PAPER[next(iter(PAPER))][1].case
    press(page, f"closer_{case.query}")
    assert typed(page) == case
    assert shows(page, curves_of(embedded, case, KNOWN, MANY))


@pytest.mark.parametrize(("each", "draw"), [(12, 0), (3, 7)])
def test_the_world_is_shown_band_by_band(embedded, each, draw):
    page = opened(tab=WORLD, each=str(each), draw=str(draw))
    groups = {
        name: [amplify(case, embedded, DEFAULT_REPETITIONS) for case in group]
        for name, group in by_band(each, draw).items()
    }
    assert pictures(page) == [charts.band_alt(name, found) for name, found in groups.items()]
    medians, questions = (element.value for element in page.dataframe)
    assert list(medians["band"]) == list(groups)
    for row, found in zip(medians.to_dict("records"), groups.values(), strict=True):
        _, median, _ = quartiles(found)
        assert [row[str(t)] for t in DEFAULT_REPETITIONS] == median.tolist()
    assert list(questions["question"]) == [a.case.query for found in groups.values() for a in found]
    assert list(questions["outcome"]) == [a.verdict for found in groups.values() for a in found]
    assert len(questions) == 5 * each


def test_other_numbers_draw_other_questions():
    page = opened(tab=WORLD, each="3")
    before = list(page.dataframe[1].value["question"])
    page.number_input(key="draw").set_value(5).run()
    settled(page)
    after = list(page.dataframe[1].value["question"])
    assert len(before) == len(after) == 15 and before != after
    page.number_input(key="each").set_value(4).run()
    settled(page)
    assert set(after) < set(page.dataframe[1].value["question"])  # the same ones, and more


def test_a_gallery_is_computed_only_when_it_is_opened(use):
    model = use(Turning(0.33))
    opened(kept="")
    assert len(model.asked) == 1
    opened(tab=PUBLISHED)
    assert len(model.asked) == 13
    opened(tab=PUBLISHED)
    assert len(model.asked) == 13


# -------------------------------------------------------------------------- the mechanism


def head(page):
    """The idealised head as the controls say."""
    return attention.repeat(
        attention.idealised(
            dimension=page.number_input(key="dimension").value,
            in_span=page.slider(key="in_span").value,
        ),
        attention.spread(page.select_slider(key="copies").value),
    )


def shows_head(page):
    found = head(page)
    assert pictures(page)[:2] == [
        mechanism_charts.weights_alt(found),
        mechanism_charts.outputs_alt(found),
    ]
    return said(page, "The copies of Y weigh as much as X")[0]


def test_the_papers_three_cases_set_the_slider():
    page = opened(tab=WHY)
    overtaken = {}
    for name, share in attention.CASES.items():
        press(page, f"preset_{share}")
        assert page.slider(key="in_span").value == share
        at = shows_head(page).removeprefix("The copies of Y weigh as much as X at about ")
        overtaken[name] = float(at.split(" repetition")[0].replace(",", ""))
    assert overtaken["seen often"] > 1000 > overtaken["seen sometimes"]
    assert overtaken["seen sometimes"] > 10 * overtaken["never seen"]


@pytest.mark.parametrize(
    ("share", "dimension", "copies"),
    [(0.0, 3, 1000), (0.0, 1024, 10), (0.05, 1024, 100), (0.35, 512, 100), (1.0, 3, 10)],
)
def test_every_setting_moves_the_head(share, dimension, copies):
    page = opened(tab=WHY, in_span=str(share), dimension=str(dimension), copies=str(copies))
    assert page.slider(key="in_span").value == share
    assert page.number_input(key="dimension").value == dimension
    assert page.select_slider(key="copies").value == copies
    text = shows_head(page)
    gap = head(page).gap
    assert ("as soon as there is one" in text) == (gap <= 0)


def heads(page, band):
    """What stands in the box of a band: its question and its sentence."""
    question = page.selectbox(key=f"fact_{band.name.lower()}").value
    return question, of_fact(grading.find(question))


@pytest.mark.parametrize("times", [0, 1, 100])
def test_the_real_heads_follow_the_slider(embedded, times):
    page = opened(tab=WHY)
    page.select_slider(key="heads_at").set_value(times).run()
    sound(page)
    expected = []
    for band in (Band.BY_HEART, Band.RARELY):
        _, case = heads(page, band)
        (found,) = looking(case, embedded, [times])
        expected += [
            mechanism_charts.heads_alt(found, which)
            for which in (mechanism_charts.ON_QUESTION, mechanism_charts.ON_TOLD)
        ]
        (point,) = amplify(case, embedded, [times]).points
        assert (
            f"“{case.repeated}” repeated {times} time{'' if times == 1 else 's'}, "
            f"“{case.answer}” keeps {percent(point.normalised_probability)} of the two "
            "answers’ probability."
        ) in texts(page)
    assert pictures(page)[2:] == expected


def test_the_facts_to_choose_from_are_of_their_band(embedded):
    page = opened(tab=WHY)
    assert heads(page, Band.BY_HEART)[0] == KNOWN.query
    for band in (Band.BY_HEART, Band.RARELY):
        box = page.selectbox(key=f"fact_{band.name.lower()}")
        assert len(box.options) >= 12
        assert {grading.find(question).band for question in box.options} == {band}
        box.set_value(box.options[-1]).run()
        question, case = heads(sound(page), band)
        assert question == box.options[-1]
        (found,) = looking(case, embedded, [1])
        assert mechanism_charts.heads_alt(found, mechanism_charts.ON_TOLD) in pictures(page)


def test_a_model_that_does_not_show_its_attention_says_so(use):
    use(Turning(0.34))
    page = opened(tab=WHY)
    assert said(page, "This model does not show its attention.")
    assert len(pictures(page)) == 2  # the idealised head needs none
    assert not any(box.key.startswith("fact_") for box in page.selectbox)


# ------------------------------------------------------------- a model that cannot score


def says(told):
    """Ever less often right; sometimes something else."""
    return {0: ["Ralph Fiennes"], 1: ["Ralph Fiennes", "Judi Dench", "Somebody"]}.get(
        told, ["Judi Dench"]
    )


def test_what_costs_calls_is_said_first_and_asked_only_on_demand(use):
    model = use(Counted(says, "counted on the page"))
    page = opened(kept="")
    calls = SAMPLES_A_POINT * len(FREQUENCY_REPETITIONS)
    assert said(page, f": at most {calls:,} calls, about ")
    assert not pictures(page)
    for _ in range(3):
        page.run()
    page.number_input(key="most").set_value(50).run()
    assert model.calls == 0
    page.number_input(key="most").set_value(100).run()
    press(page, "pay_own")
    assert model.calls == calls
    expected = amplify(FIRST, Counted(says), FREQUENCY_REPETITIONS)
    assert expected.verdict in texts(page)
    assert listed(page) == lines([expected])
    assert pictures(page) == [charts.curves_alt([expected])]
    assert said(page, "its answers were counted")
    points = table(page, "95% interval from")
    assert list(points["Repetitions"]) == list(FREQUENCY_REPETITIONS)
    assert not [heading for heading in points if heading.startswith("ln P")]  # nothing to show
    assert list(points["95% interval from"]) == pytest.approx([p.lower for p in expected.points])
    page.run()
    assert model.calls == calls


def test_where_neither_answer_was_ever_sampled_that_is_said(use):
    use(Counted(lambda told: ["Something else"], "says something else"))
    page = opened(kept="")
    press(page, "pay_own")
    assert said(page, "Neither answer was sampled")
    assert not said(page, "nan")


@pytest.mark.parametrize("tab", [PUBLISHED, WORLD])
def test_a_gallery_too_says_what_it_costs(use, tab):
    model = use(Counted(says, "counted in galleries"))
    page = opened(tab=tab)
    assert len(said(page, " calls, about ")) == 1 and not pictures(page)
    page.run()
    assert model.calls == 0


# -------------------------------------------------------------------- a model that fails


class Failing(Turning):
    """Goes away, and comes back when the test lets it."""

    gone = True

    def log_likelihoods(self, prompts, answers):
        if self.gone:
            raise ModelError("The model of `$x$` went away. Start it again.")
        return super().log_likelihoods(prompts, answers)


@pytest.mark.parametrize(("tab", "place"), [(None, "own"), (PUBLISHED, "paper"), (WORLD, "world")])
def test_a_model_that_fails_is_said_and_can_be_asked_again(use, tab, place):
    model = use(Failing(0.35, samples=[place]))
    page = opened(**({"tab": tab, "each": "3"} if tab else {}))
    for _ in range(2):
        assert said(page, "The model of `$x$` went away. Start it again.")
        assert not pictures(page)
        page.run()
    press(page, f"again_{place}")
    assert said(page, "went away")  # it still is
    model.gone = False
    page.run()
    assert said(page, "went away")  # nobody asks again but the person
    press(page, f"again_{place}")
    assert pictures(page) and not said(page, "went away")


def test_what_was_computed_before_it_failed_is_kept(use):
    class Second(Failing):
        def log_likelihoods(self, prompts, answers):
            self.gone = self.gone and KNOWN.query in prompts[0]
            found = super().log_likelihoods(prompts, answers)
            self.gone = True
            return found

    model = use(Second(0.36))
    page = opened()
    assert said(page, "went away") and not listed(page)
    assert len(listed(opened(kept=""))) == 1
    assert len(model.asked) == 1


def test_the_world_has_a_rival_for_every_answer():
    """Or the page would repeat the word “None”."""
    for fact in facts():
        assert proposals.rival(fact) not in ("", "None", fact.answers[0].text)


# ------------------------------------------------------------------ what went wrong once


@pytest.mark.parametrize("tab", [None, PUBLISHED, WORLD, WHY])
def test_a_model_that_cannot_be_opened_is_said(monkeypatch, tab):
    def broken():
        raise BrokenModelError("A file is missing. Restore it.")

    monkeypatch.setattr("core.ui.model.embedded", broken)
    for module in (gallery, mechanism):
        monkeypatch.setattr(module, "embedded", broken)
    page = visit("amplification")
    if tab:
        page.query_params["tab"] = tab
    page.run()
    assert not page.exception
    assert said(page, "A file is missing. Restore it.")


def test_deep_garbage_in_the_address_is_no_traceback():
    assert listed(opened(kept="[" * 1500))


def test_a_proposal_that_is_no_case_gets_a_sentence(use):
    use(Turning(samples=["one\u2028more", "two"]))
    page = opened(kept="")
    press(page, "propose")
    assert said(page, "line break")


def test_another_question_takes_the_sentence_about_the_last_proposal_away(use):
    use(Turning(0.41, samples=["the same"]))
    page = opened(kept="")
    press(page, "propose")
    assert said(page, "fewer than two answers")
    ask(page, "Another?")
    assert not said(page, "fewer than two answers")


def test_a_gallery_of_a_model_that_cannot_score_has_fewer_points(use):
    use(Counted(lambda told: ["this"], "gallery points"))
    page = opened(tab=PUBLISHED)
    assert said(page, f"{12 * 40 * len(FREQUENCY_REPETITIONS):,} calls")


def test_no_picture_is_offered_that_has_nothing_in_it(use):
    use(Counted(lambda told: ["Judi Dench"], "empty picture"))
    page = opened(kept="")
    press(page, "pay_own")
    assert "Probabilities of both answers" not in texts(page)


def test_sentences_name_the_question_they_are_about():
    found = [text for text in texts(opened(most="900")) if "does not fit" in text]
    assert len(found) == 3
    assert any("capital of France" in text for text in found)
