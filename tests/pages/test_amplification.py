"""The page "Amplification" without a browser: what it asks, what it shows, and in which words.

Curves are tested below tests/studies/amplification, and how they are drawn and described below
tests/charts/amplification; here, that the page shows those of what was asked.
"""

import json
import re
import threading
from dataclasses import replace

import pytest

from core.charts.amplification import curves as charts
from core.charts.amplification import mechanism as mechanism_charts
from core.codec import isolate
from core.data.world import grading
from core.data.world.facts import Band
from core.language_models.errors import BrokenModelError
from core.reports.amplification import document, words
from core.studies.amplification import bundled, serialise
from core.studies.amplification.curve import (
    DEFAULT_REPETITIONS,
    FREQUENCY_REPETITIONS,
    SAMPLES_A_POINT,
    Case,
    amplify,
    grid,
)
from core.studies.amplification.fate import quartiles
from core.studies.amplification.gallery import AT_FIRST, EXAMPLES, PAPER, by_band, of_fact
from core.studies.amplification.mechanism import looking
from core.studies.inspection.request import InvalidRequestError
from core.ui.amplification import form, gallery, mechanism
from core.ui.runs import widget
from core.uncertainty import attention
from tests.fakes import Counted, Short, Turning
from tests.hostile import TEXTS
from tests.patience import LONG
from tests.sessions import keys, pictures, press, said, session, settled, table, texts, visit

FIELDS = ("query", "answer", "repeated")
FIRST, KNOWN, MANY = (EXAMPLES[name] for name in ("Half known", "Known", "Many answers"))
OWN, PUBLISHED, WORLD, WHY = ("Your question", "The paper’s", "Embedded world", "Mechanism")
SAME = 1e-3  # of what is shipped, which another machine has computed
SHARE = "P(answer to test) of the two"  # a heading of the table of points


@pytest.fixture
def app():
    return opened()


@pytest.fixture
def use(monkeypatch):
    """Let the page have another model than the shipped one."""

    def use(model):
        for module in ("model", "amplification.gallery", "amplification.mechanism"):
            monkeypatch.setattr(f"core.ui.{module}.embedded_model", lambda: model)
        return model

    return use


def opened(case=None, tab=OWN, **query):
    """Open the page with all that is behind its curves unfolded."""
    page = visit("amplification", **(given(case) if case else {}), tab=tab, **query)
    page.session_state["behind"] = True
    return settled(page.run())


def given(case):
    return dict(zip(FIELDS, fields_of(case), strict=True))


def fields_of(case):
    return [case.query, case.answer, case.repeated]


def ask(page, *texts):
    for field, text in zip(FIELDS, texts, strict=False):
        page.text_input(key=field).set_value(text)
    return settled(page.run())


def put(page, key, value):
    (found,) = [
        widget
        for widget in [*page.number_input, *page.selectbox, *page.select_slider, *page.slider]
        if widget.key == key
    ]
    return settled(found.set_value(value).run())


def typed(page):
    return Case(*(page.text_input(key=field).value for field in FIELDS))


def listed(page):
    """The rows below the charts: the question, with its number, and the answers of every curve."""
    cells = texts(page)
    firsts = [i for i, text in enumerate(cells) if re.match(r"\d\. ", text)]
    return [tuple(cells[i : i + 4]) for i in firsts]


def rows(curves):
    """What is listed of curves: their answers, and what became of each."""
    return [
        (f"{i}. {case.query}", isolate(case.answer), isolate(case.repeated), words.course(one))
        for i, one in enumerate(curves, 1)
        for case in [one.case]
    ]


def kept(page):
    """What the address says is kept."""
    found = page.query_params.get("kept", [])
    return [found] if isinstance(found, str) else found


def curves_of(model, *wanted, most=100):
    return [amplify(case, model, grid(model, most)) for case in wanted]


def shows(page, curves):
    """Whether the page shows exactly these curves, in words, numbers and alternatives."""
    assert listed(page) == rows(curves)
    assert pictures(page) == [each.alt for each in document.pictures(curves, "log")]
    points, expected = table(page, SHARE).to_dict("list"), serialise.to_table(curves)
    assert points.keys() == expected.keys()
    for heading, column in expected.items():
        numbers = isinstance(column[0], float)
        assert points[heading] == (pytest.approx(column, abs=SAME) if numbers else column)
    return True


# --------------------------------------------------------------------------- opening, asking


def test_opens_on_a_half_known_question_beside_two_others_and_shows_exact_prompts(app, embedded):
    assert app.title[0].value == "What does repeating an answer do?"
    assert typed(app) == FIRST
    found = curves_of(embedded, FIRST, KNOWN, MANY)
    assert shows(app, found)
    assert words.verdict(found[0]) in texts(app) and words.truth(found[0]) in texts(app)
    assert words.verdict(found[1]) not in texts(app)  # the verdict is about the question above it
    assert {"keep", "remove_1", "remove_2"} < set(keys(app))
    for times in (0, 100):
        put(app, "prompt_at", times)
        assert app.code[0].value == FIRST.prompt(times, embedded.reads(FIRST.query))
    put(app, "prompt_of", f"3. {MANY.query}")
    assert app.code[0].value == MANY.prompt(100, embedded.reads(MANY.query))
    press(app, "remove_2")
    assert app.code[0].value == FIRST.prompt(100, embedded.reads(FIRST.query))
    put(app, "most", 7)
    assert app.code[0].value == FIRST.prompt(
        app.number_input(key="prompt_at").value, embedded.reads(FIRST.query)
    )
    assert app.number_input(key="prompt_at").value <= 7
    assert shows(app, curves_of(embedded, FIRST, KNOWN, most=7))
    before = pictures(app)
    settled(app.segmented_control(key="scale").set_value("linear").run())
    assert pictures(app) == before  # the other axis shows the same
    assert "symlog" not in app.get("vega_lite_chart")[0].proto.spec


def test_what_is_typed_or_chosen_is_asked(app, embedded):
    case = Case("What is the capital of Germany?", "Berlin", "Bonn")
    ask(app, f"  {case.query} ", f"{case.answer}  ", f" {case.repeated}")
    found = curves_of(embedded, case)  # beside which nothing stands that nobody asked for
    assert shows(app, found) and words.verdict(found[0]) in texts(app)
    for name, example in EXAMPLES.items():
        settled(app.radio(key="example_question").set_value(name).run())
        assert app.radio(key="example_question").value == name
        assert typed(app) == example
        assert len(listed(app)) == (2 if example in (KNOWN, MANY) else 3)  # none of them twice


def test_bad_input_gets_a_sentence_and_no_curve(app):
    ask(app, "Where?", "Paris", "the paris.")
    assert said(app, "The two answers are the same.")
    assert not {"keep", "remove_0"} & set(keys(app)) and not pictures(app) and not listed(app)


def test_what_is_too_long_names_its_question_and_the_most_repetitions_that_fit(use):
    model, endless = use(Short()), Case("Name it!", "a", "b")
    page = opened(FIRST, most="9", kept=json.dumps(fields_of(endless)))
    with pytest.raises(InvalidRequestError) as error:
        curves_of(model, FIRST, most=9)
    assert said(page, "does not fit") == [f"{FIRST.query} {error.value}"]
    wanted, most = map(int, re.findall(r"\d+", str(error.value)))
    assert (wanted, most) == (9, 2) and not listed(page)
    put(page, "most", most)
    assert said(page, endless.query) and len(listed(page)) == 1  # the other is drawn


# ------------------------------------------------------- proposed from the model's answers


def test_of_a_question_of_the_world_the_truth_is_proposed(app):
    """Where many answers are right, another right one is repeated."""
    for query in ("what is the capital of PERU", EXAMPLES["Many answers"].query):
        fact = grading.find(query)
        ask(app, query)
        assert said(app, "The answers are still those to “")
        press(app, "propose_others")
        assert not said(app, "The answers are still those to “")
        case = typed(app)
        assert case.query == query

        def right(text, fact=fact):
            return [i for i, a in enumerate(fact.answers) if grading.matches(text, a.names)]

        assert right(case.answer)
        assert bool(right(case.repeated)) == (fact.band is Band.MANY_ANSWERS)
        assert right(case.repeated) != right(case.answer)
        question, answer, *_ = listed(app)[0]
        assert (question, answer) == (f"1. {query}", case.answer)


def test_of_another_question_it_is_said_that_the_answers_are_of_the_one_before(app):
    before = f"The answers are still those to “{FIRST.query}”."
    for query in (TEXTS[0], "Who was the first US president?"):
        ask(app, query)
        assert said(app, before)
        assert not [one for one in listed(app) if query in one[0]]  # and there is no such curve
    assert typed(app).repeated == FIRST.repeated  # nothing that was typed is taken away
    ask(app, query, "George Washington")
    assert not said(app, before)  # somebody who types answers knows whose they are
    ask(app, "Who was the first president of the US?")
    assert said(app, "The answers are still those to “Who was the first US president?”.")
    press(app, "keep_answers")  # the same question in other words
    assert not said(app, "The answers are still") and "first president of" in listed(app)[0][0]


def test_what_cannot_be_proposed_is_said_until_something_else_is_asked(use):
    model = use(Turning(0.31, samples=["the same"]))
    page = opened(Case("Who?", "me", "you"), kept="")
    press(page, "propose")
    assert said(page, "The model gave only one answer, “the same”.")
    assert typed(page) == Case("Who?", "me", "you") and len(listed(page)) == 1
    ask(page, "Another?")
    assert not said(page, "fewer than two answers")
    model.samples = ("one\u2028more", "two")
    press(page, "propose")
    assert said(page, "line break")
    model.samples = ("this", "that")
    ask(page, "A third?")
    press(page, "propose")
    assert not said(page, "line break")
    assert {typed(page).answer, typed(page).repeated} == {"this", "that"}
    ask(page, " ")
    press(page, "propose")
    assert said(page, "There is no question. Type one and ask again.")


# ------------------------------------------------------- kept beside the case, and the address


def test_curves_are_kept_and_removed_and_the_address_says_which(app, embedded):
    assert kept(app) == []  # the first ones need none
    press(app, "keep")
    assert app.button(key="keep").disabled and len(kept(app)) == 3
    case = Case("What is the capital of Italy?", "Rome", "Milan")
    ask(app, *fields_of(case))
    assert shows(app, curves_of(embedded, case, KNOWN, MANY, FIRST))
    page = opened(case, kept=kept(app))
    assert listed(page) == listed(app)
    press(page, "remove_1")
    press(page, "remove_1")
    assert shows(page, curves_of(embedded, case, FIRST))
    assert kept(page) == [json.dumps(fields_of(FIRST))]
    press(page, "remove_1")
    assert kept(page) == []  # nothing stands beside somebody's own question by itself
    assert not [box for box in page.selectbox if box.key == "prompt_of"]


def test_everything_can_be_given_in_the_address(embedded):
    case = Case("Who?\nAnd where?", "me", "you")
    other = Case('Who said "no"?', "He", "[She, too]")
    page = opened(case, most="9", scale="even", kept=[json.dumps(fields_of(other))])
    assert shows(page, curves_of(embedded, case, other, most=9))
    assert page.segmented_control(key="scale").value == "linear"


def test_only_as_many_are_kept_as_there_are_colours(use):
    use(Turning(0.37))
    several = [Case(f"Name number {i}", "one", "two") for i in range(form.MOST_KEPT + 2)]
    page = opened(kept=[json.dumps(fields_of(c)) for c in several])
    assert len(listed(page)) == charts.MOST_CURVES and page.button(key="keep").disabled
    press(page, "remove_3")
    press(page, "keep")
    assert len(listed(page)) == charts.MOST_CURVES - 1
    assert page.button(key="keep").disabled  # it is kept


GARBAGE = [
    *("nonsense", "[", "null", "7", "[]", "{}", '["a"]', '["a", "b"]', '["a", "b", "c", "d"]'),
    *('["a", "b", 3]', '["a", "b", "b"]', '["", "b", "c"]', '["a", "b", null]'),
    *('["a", "b\\nb", "c"]', '["a", "\\ud800", "c"]', "9" * 5000, "[" * 1500),
    f'["{"x" * 2001}", "a", "b"]',
]


def test_garbage_in_the_address_is_dropped(use):
    use(Turning(0.38))
    good = json.dumps(fields_of(MANY))
    page = opened(kept=[*GARBAGE, good, *GARBAGE])
    assert len(listed(page)) == 2 and kept(page) == [good]
    page = opened(kept=GARBAGE, most="100000", scale="cubic")
    assert kept(page) == [""] and pictures(page)


# ------------------------------------------------------------------------------ galleries


def test_a_tab_opens_by_the_name_that_it_had_before_too():
    app = session("amplification", tab="The mechanism")
    assert app.session_state["tab"] == WHY and app.slider


def test_the_papers_twelve_questions_stand_in_their_groups_and_can_be_looked_at_closer(embedded):
    page = opened(tab=PUBLISHED)
    every = [published for group in PAPER.values() for published in group]
    assert [heading.value for heading in page.header] == list(PAPER) and len(every) == 12
    found = [amplify(published.case, embedded, DEFAULT_REPETITIONS) for published in every]
    assert pictures(page) == [document.pictures([one], "log")[0].alt for one in found]
    of = bundled.recording().provenance
    assert f"Solid: {embedded.name}. Dotted: {of.title}, recorded {of.when}." in texts(page)
    for published, one in zip(every, found, strict=True):
        case, first = published.case, one.points[0]
        assert case.query in texts(page)
        assert (
            f"{case.answer} {charts.initial(first.log_likelihood_answer)}, repeated: "
            f"{case.repeated} {charts.initial(first.log_likelihood_repeated)} "
            f"(in the paper {published.answer} and {published.repeated})"
        ) in [text.replace("\u00a0", " ") for text in texts(page)]
    for i in range(0, 12, 4):
        assert ". ".join(words.medians(found[i : i + 4])) in texts(page)
    points = table(page, SHARE)
    assert list(points["Question"].unique()) == [published.case.query for published in every]
    press(page, f"closer_{every[1].case.query}")
    assert typed(page) == every[1].case
    assert shows(page, curves_of(embedded, every[1].case))


def test_a_curve_leads_to_the_verdict_on_its_question(app):
    press(app, "inspect")
    assert app.title[0].value == "Can I believe this answer?"
    assert app.text_input(key="q").value == FIRST.query


def test_the_world_is_shown_band_by_band_and_other_numbers_draw_other_questions(embedded):
    page = opened(tab=WORLD, each="3", draw="7")
    groups = {
        name: [amplify(case, embedded, DEFAULT_REPETITIONS) for case in group]
        for name, group in by_band(3, 7).items()
    }
    assert pictures(page) == [
        document.bands(groups).alt,
        *(document.band(name, found).alt for name, found in groups.items()),
    ]
    for found in groups.values():  # the chart says it, and its words for who cannot see it
        assert words.medians(found)[1] not in texts(page)
    medians, questions = (element.value for element in page.dataframe)
    assert list(medians["band"]) == list(groups)
    for row, found in zip(medians.to_dict("records"), groups.values(), strict=True):
        middle = quartiles(found)[1].tolist()
        assert [row[str(t)] for t in DEFAULT_REPETITIONS] == pytest.approx(middle, abs=SAME)
    before = list(questions["question"])
    assert before == [a.case.query for found in groups.values() for a in found]
    assert list(questions["outcome"]) == [
        words.verdict(a) for found in groups.values() for a in found
    ]
    put(page, "each", 4)
    assert set(before) < set(page.dataframe[1].value["question"])  # the same ones, and more
    put(page, "draw", 5)
    assert not set(before) <= set(page.dataframe[1].value["question"])


def test_what_everybody_meets_first_is_there_without_computing(monkeypatch):
    def computed(*_, **__):
        raise AssertionError("it was computed")

    monkeypatch.setattr("core.ui.amplification.curves.amplify", computed)
    page = opened(tab=WORLD)
    assert len(pictures(page)) == 6
    assert len(page.dataframe[1].value) == len(by_band(1)) * AT_FIRST
    assert len(pictures(opened(tab=PUBLISHED))) == 12
    assert len(listed(session("amplification"))) == 3  # a question of one's own comes first


def test_curves_are_drawn_as_they_finish(use, monkeypatch):
    model, gate, asked = use(Turning(0.32)), threading.Event(), threading.Event()
    score, cases = model.log_likelihoods, [c for group in by_band(3).values() for c in group]

    def slow(prompts, answers):
        if cases[4].query in prompts[0]:
            asked.set()
            assert gate.wait(LONG)
        return score(prompts, answers)

    model.log_likelihoods = slow
    monkeypatch.setattr(widget, "QUICK", 0.01)
    page = visit("amplification", tab=WORLD, each="3").run()
    assert asked.wait(LONG)
    done = [amplify(case, Turning(0.32), DEFAULT_REPETITIONS) for case in cases[:4]]
    first, second, *_ = by_band(3)
    page.run()
    assert page.get("progress") and pictures(page) == [
        document.bands({first: done[:3], second: done[3:]}).alt,
        document.band(first, done[:3]).alt,
        document.band(second, done[3:]).alt,
    ]
    gate.set()
    assert len(pictures(settled(page))) == 6


def test_a_slow_model_computes_curves_when_somebody_presses(use):
    model = use(Turning(0.34))
    model.capabilities = replace(model.capabilities, quick=False)
    page = opened()
    assert not pictures(page) and not model.asked
    assert pictures(press(page, "compute_own")) and model.asked


def test_a_gallery_is_computed_only_when_it_is_opened(use):
    model = use(Turning(0.33))
    opened(kept="")
    assert len(model.asked) == 1
    opened(tab=PUBLISHED).run()
    assert len(model.asked) == 13
    opened(tab=WORLD).run()
    drawn = {case for group in by_band(AT_FIRST).values() for case in group}
    published = {one.case for group in PAPER.values() for one in group}
    assert len(model.asked) == 1 + len(drawn | published)


# -------------------------------------------------------------------------- the mechanism


def shows_head(page):
    """Whether the idealised head is drawn as the controls say."""
    found = attention.repeat(
        attention.ideal_head(
            dimension=page.number_input(key="dimension").value,
            in_span=page.slider(key="in_span").value,
        ),
        attention.spread(page.select_slider(key="copies").value),
    )
    assert pictures(page)[:2] == [*(picture.alt for picture in document.ideal_head(found))]
    (sentence,) = said(page, "The copies of Y weigh as much as X")
    assert ("as soon as there is one" in sentence) == (found.gap <= 0 or "about" not in sentence)
    return sentence


def test_the_idealised_head_follows_the_papers_cases_and_every_control(use):
    """Beside a model that does not show its attention, and says so."""
    use(Turning(0.34))
    page = opened(tab=WHY)
    assert said(page, "This model does not expose its attention.") and len(pictures(page)) == 2
    overtaken = {}
    for name, share in attention.CASES.items():
        page.radio(key="example_question").set_value(name).run()
        assert page.slider(key="in_span").value == share
        at = shows_head(page).removeprefix("The copies of Y weigh as much as X at about ")
        overtaken[name] = float(at.split(" repetition")[0].replace(",", ""))
    assert overtaken["seen often"] > 1000 > overtaken["seen sometimes"]
    assert overtaken["seen sometimes"] > 10 * overtaken["never seen"]
    page = opened(tab=WHY, in_span="0.0", dimension="3", copies="10")
    assert page.number_input(key="dimension").value == 3
    assert page.select_slider(key="copies").value == 10
    shows_head(page)


def test_the_real_heads_follow_the_slider_and_the_fact(embedded):
    page = opened(tab=WHY, heads_at="100")
    for times in (100, 1):
        put(page, "heads_at", times)
        expected = []
        for band in (Band.BY_HEART, Band.RARELY):
            box = page.selectbox(key=f"fact_{band.name.lower()}")
            assert len(box.options) >= 12
            assert {grading.find(question).band for question in box.options} == {band}
            case = of_fact(grading.find(box.value))
            (found,) = looking(case, embedded, [times])
            expected += [
                document.heads(found, which).alt
                for which in (mechanism_charts.ON_QUESTION, mechanism_charts.ON_ANSWER)
            ]
            (point,) = amplify(case, embedded, [times]).points
            assert (
                f"“{case.repeated}” repeated {times} time{'' if times == 1 else 's'}, "
                f"“{case.answer}” keeps {words.percent(point.normalised_probability)} of the two."
            ) in texts(page)
        assert pictures(page)[2:] == expected
        box = page.selectbox(key="fact_rarely")
        put(page, box.key, box.options[-1])


# ------------------------------------------------------------- a model that cannot score


def says(told):
    """Ever less often right; sometimes something else."""
    right, repeated = FIRST.answer, FIRST.repeated
    return {0: [right], 1: [right, repeated, "Somebody"]}.get(told, [repeated])


def test_what_costs_calls_is_said_first_and_asked_only_on_demand(use):
    model = use(Counted(says, "counted on the page"))
    assert said(opened(tab=PUBLISHED), f"{12 * 40 * len(FREQUENCY_REPETITIONS):,} calls")
    page = opened(kept="")
    calls = SAMPLES_A_POINT * len(FREQUENCY_REPETITIONS)
    assert said(page, f": at most {calls:,} calls and ") and not pictures(page)
    page.run()
    put(page, "most", 50)
    assert model.calls == 0
    put(page, "most", 100)
    press(page, "pay_own")
    assert model.calls == calls
    expected = amplify(FIRST, Counted(says), FREQUENCY_REPETITIONS)
    assert words.verdict(expected) in texts(page)
    assert listed(page) == rows([expected])
    assert pictures(page) == [document.pictures([expected], "log")[0].alt]
    assert said(page, "its answers were counted")
    assert "Probabilities of both answers" not in texts(page)  # no picture with nothing in it
    points = table(page, "Interval from")
    assert list(points["Repetitions"]) == list(FREQUENCY_REPETITIONS)
    assert not [heading for heading in points if heading.startswith("ln P")]  # nothing to show
    assert list(points["Interval from"]) == pytest.approx([p.lower for p in expected.points])
    page.run()
    assert model.calls == calls


# -------------------------------------------------------------------- a model that fails


def test_a_model_that_cannot_be_opened_is_said_in_every_tab(monkeypatch):
    def broken():
        raise BrokenModelError("A file is missing. Restore it.")

    monkeypatch.setattr("core.ui.model.embedded_model", broken)
    for module in (gallery, mechanism):
        monkeypatch.setattr(module, "embedded_model", broken)
    for tab in (OWN, PUBLISHED, WORLD, WHY):
        page = opened(tab=tab)
        assert said(page, "A file is missing. Restore it.")
