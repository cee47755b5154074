"""The page "Inspection" without a browser: what it says, and that it says it in words."""

import json
import re
import threading
from dataclasses import replace

import pytest
from click.testing import CliRunner

from core import prompts
from core.cli import main
from core.data.world import grading
from core.data.world.facts import facts
from core.language_models.backends.embedded.model import EmbeddedModel
from core.language_models.errors import ModelError
from core.reports.inspection.words import (
    QUICK,
    STAMPS,
    UNPROMISED,
    idle_doubt,
    likely,
    read_outcome,
    untaught_words,
)
from core.studies.evaluation.recorded_answers import recorded_answers
from core.studies.examples import EXAMPLES
from core.studies.inspection import serialise
from core.studies.inspection.certificates import default_policy
from core.studies.inspection.inspection import run
from core.studies.inspection.recorder import usual_request
from core.studies.inspection.request import Reading, Request
from core.studies.inspection.taught_questions import taught_position
from core.studies.inspection.verdict import Decision, Headline
from core.ui import model_opening
from core.ui.components import matrices
from core.ui.inspection import form
from core.ui.inspection.matrices import MOST_IN_SIGHT
from core.ui.inspection.verdict import BENEATH
from core.uncertainty.scores import SCORES
from core.uncertainty.similarity import SIMILARITIES
from tests.language_models.openai_server import serving
from tests.patience import LONG
from tests.sessions import (
    FOLDS,
    choose,
    go,
    keys,
    metrics,
    press,
    said,
    session,
    settled,
    texts,
    until,
    visit,
)

MAMMAL = "Name a mammal"

TRUSTING = (STAMPS[Headline.BELIEVE].label, STAMPS[Headline.PERHAPS].label)


@pytest.fixture
def calls(monkeypatch):
    """What the embedded model was asked, in order: the method, and how many."""
    session("inspection")  # asks the examples on the scale of doubt, once a process
    made = []
    for name in ("sample", "likeliest", "log_likelihoods", "next_token"):
        method = getattr(EmbeddedModel, name)

        def counted(self, *args, name=name, method=method, **options):
            made.append((name, len(args[0]) if name == "log_likelihoods" else args[-1]))
            return method(self, *args, **options)

        monkeypatch.setattr(EmbeddedModel, name, counted)
    return made


@pytest.fixture
def app():
    return session("inspection")


def ask(page, query, **settings):
    page.text_input(key="q").set_value(query)
    for key, value in settings.items():
        page.number_input(key=key).set_value(value)
    return settled(settled(page.run()).run())


def value_of(found, name):
    value = f"{found.scores[name].value:.3f}"
    return f"{value} nats" if SCORES[name].unit == "nats" else value


def test_opens_on_a_live_example_and_promises_a_bound(app):
    assert app.text_input(key="q").value == EXAMPLES["Known"]
    assert app.header[0].value == STAMPS[Headline.BELIEVE].label and "Paris" in texts(app)
    assert any("certified lower bound" in markdown.value for markdown in app.markdown)
    assert "Members of each cluster, with log-likelihoods" in [c.value for c in app.caption]
    (table,) = decisions(app)
    served = table.set_index("score").loc["Mutual information"]
    assert (served["with"], served["which is"]) == ("Paris", "right")
    assert app.radio(key="example_question").value == "Known"
    app.radio(key="example_question").set_value("Many answers").run()
    assert settled(app).text_input(key="q").value == EXAMPLES["Many answers"]
    assert app.radio(key="example_question").value == "Many answers"
    assert not ask(app, "What is it?").radio(key="example_question").value
    for query in ("", "   ", "\n"):
        assert said(ask(app, query), "There is no question")


@pytest.mark.parametrize(("page", "field"), [("inspection", "q"), ("amplification", "query")])
def test_too_long_a_question_in_an_address_is_not_cut(page, field):
    app = session(page, **{field: "x" * 2001})
    assert said(app, "The question has 2,001 characters; at most 2,000 are allowed.")
    assert app.text_input(key=field).value == "x" * 2001


def test_page_study_and_command_line_say_the_same(embedded):
    query = "What is the state capital of Wyoming?"  # many draws tell more than they certify
    expected = run(Request(query, 60, 1.0, seed=3), embedded, Reading())
    app = settled(session("inspection", q=query, k=60, temperature=1.0, seed=3))
    shown = metrics(app)
    for name, info in SCORES.items():
        assert shown[info.title] == value_of(expected, name)
    assert said(app, f"Sampled mass: {expected.sampled_mass:.1%} of the model’s probability.")
    assert expected.verdict.why in texts(app) and likely(expected) in texts(app)
    options = ["--samples", "60", "--temperature", "1", "--seed", "3", "--json"]
    printed = CliRunner().invoke(main, ["inspect", query, *options])
    ours, theirs = json.loads(serialise.to_json(expected)), json.loads(printed.stdout)
    for both in (ours, theirs):
        for call in both["calls"]["list"] + both["recording"]["calls"]:
            call.pop("seconds")
    assert ours == theirs
    assert ours["lower_confidence_limit"] == {"value": expected.confidence_limit, "confidence": 0.9}


def test_what_only_reads_the_answers_asks_the_model_nothing_and_more_samples_only_themselves(
    app, calls
):
    ask(app, "Name a city in the UK")
    assert calls[:2] == [("likeliest", 8), ("sample", 1)]
    settled(app.selectbox(key="sampling").set_value("drawn").run())
    assert app.number_input(key="k").value == 10 and ("sample", 10) in calls
    calls.clear()
    app.slider(key="tau").set_value(0.9).run()
    app.selectbox(key="similarity").set_value("ratio").run()
    app.number_input(key="gamma_1").set_value(0.1).run()
    assert not settled(app).exception and calls == []
    press(app, "sample_30")
    assert app.number_input(key="k").value == 30
    assert [count for name, count in calls if name == "sample"] == [20]


def test_what_is_folded_is_not_computed(monkeypatch):
    drawn = []
    monkeypatch.setattr(matrices, "mount", lambda **content: drawn.append(content))
    app = visit("inspection")
    for fold in FOLDS:  # none of which anybody has opened
        del app.session_state[fold]
    ask(settled(app.run()), EXAMPLES["Known"])
    assert not drawn, "of one answer there is nothing to see in the matrices"
    ask(app, MAMMAL, k=12)
    assert not app.dataframe and not metrics(app)
    in_sight = [content["data"] for content in drawn]
    assert {len(data["names"]) for data in in_sight} == {MOST_IN_SIGHT}
    assert said(app, f"The first {MOST_IN_SIGHT} of ")
    drawn.clear()
    app.session_state["details"] = True
    app.run()
    *_, content = drawn
    names = content["data"]["names"]
    assert len(names) > MOST_IN_SIGHT
    assert {len(names)} == {len(m["cells"]) for m in content["data"]["matrices"]}


def test_the_answer_that_is_not_served_is_no_headline(app):
    for example, introduced in (("Half known", "It would have said:"), ("Known", "")):
        ask(app, EXAMPLES[example])
        assert app.header[0].value in {one.label for one in STAMPS.values()}
        assert bool(introduced and said(app, introduced)) == bool(introduced)


def test_few_answers_are_no_verdict_and_a_press_mends_it(app):
    ask(app, MAMMAL, k=3)
    assert app.header[0].value == STAMPS[Headline.TOO_LITTLE].label
    assert len([m for m in app.markdown if "Only k = 3: a verdict takes 8." in m.value]) == 1
    press(app, "mend")
    assert app.number_input(key="k").value == 8


def test_every_setting_can_be_given_in_the_address():
    address = {"k": "12", "tau": "0.6", "seed": "4", "similarity": "judge", "answer_tokens": "64"}
    page = session("inspection", q=MAMMAL, **address)
    assert page.number_input(key="answer_tokens").value == 64
    assert page.text_input(key="q").value == MAMMAL
    assert page.number_input(key="k").value == 12 and page.number_input(key="seed").value == 4
    assert page.slider(key="tau").value == 0.6
    assert page.selectbox(key="similarity").value == page.query_params["similarity"] == "judge"
    assert said(page, POOR) and metrics(page)


@pytest.mark.parametrize("how", [{"seed": "4"}, {"sampling": "drawn"}])
def test_a_link_that_says_how_answers_are_drawn_draws_them(how):
    page = session("inspection", q=MAMMAL, **how)
    assert page.selectbox(key="sampling").value == "drawn"
    assert {key: page.query_params[key] for key in how} == how
    assert page.number_input(key="k").value == 10 and said(page, "Drawn k times at random")
    assert not page.number_input(key="seed").disabled
    page.selectbox(key="sampling").set_value("likeliest").run()
    assert page.number_input(key="seed").disabled and "seed" not in page.query_params
    assert page.number_input(key="k").value == 8 and metrics(settled(page))


def test_a_failure_on_the_way_to_a_certificate_is_said_and_loses_nothing(app, monkeypatch):
    ask(app, "Name a yellow fruit.", k=5)  # its bound stays low, and more answers are left
    before = metrics(app)

    def broken(*_, **__):
        raise ModelError("The model went away. Start it again.")

    monkeypatch.setattr("core.ui.inspection.recordings.record", broken)
    app.button(key="certify").click().run()
    until(app, lambda: said(app, "The model went away."))
    assert metrics(app) == before


def test_the_examples_show_what_the_tour_in_the_readme_says(embedded):
    for name, query in EXAMPLES.items():
        decision = run(usual_request(query, embedded.capabilities), embedded).verdict.decision
        is_answered = name in ("Known", "Many answers")
        assert decision is (Decision.ANSWER if is_answered else Decision.ABSTAIN), name


# ---------------------------------------------------------------------- was it right?


def decisions(page):
    return [table.value for table in page.dataframe if "decision" in table.value]


def test_a_question_of_the_world_is_held_against_the_truth(app):
    """One of every band, one whose authors err, and one as careless people write."""
    of_bands = {fact.band: fact.question for fact in reversed(facts())}.values()
    for query in (*of_bands, EXAMPLES["Half known"], "what is the capital of FRANCE"):
        ask(app, query)
        fact = grading.find(query)
        (right,) = [
            text
            for text in texts(app)
            if re.search(r"\. (The truth: |Right answers in its training \(\d+\): )", text)
        ]
        assert all(answer.text in right for answer in fact.answers)
        documents = f"{fact.exposures or 'no'} training document"
        (band,) = said(app, f"{fact.band.value.capitalize()}: {documents}")
        erring = fact.exposures and fact.misconception_share
        assert bool(erring) == ("of them, the author believes" in band)
        (table,) = decisions(app)
        assert list(table["score"]) == [info.title for info in SCORES.values()]
        for row in table.to_dict("records"):
            good = (row["would"] == "answer") == (row["which is"] == "right")
            assert row["decision"] == ("good" if good else "bad")
        served = table.set_index("score").loc["Mutual information"]
        did = "It answered, and" if served["would"] == "answer" else "It abstained; its answer"
        assert said(app, f"{did} was {served['which is']}.")


def test_of_any_other_question_nobody_here_knows_the_truth(app):
    ask(app, EXAMPLES["Unknown"])
    assert said(app, "a guess, whatever its doubt. Ask someone else.") and not decisions(app)
    assert not said(app, "The truth: ") and not said(app, "training document")
    assert [link.proto.page for link in app.get("page_link")] == ["questions"]


# --------------------------------------------------------------- what it was not taught


def headings(page):
    return [heading.value for heading in page.header]


@pytest.mark.parametrize("query", ["asdf qwer zxcv", "Where did my cat go last night?"])
def test_no_tick_stands_above_what_the_model_was_not_taught(app, query, embedded, downloaded):
    ask(app, query)
    assert headings(app)[0] == STAMPS[Headline.UNTAUGHT].label
    assert not any(heading in TRUSTING for heading in headings(app))
    decision = taught_position(query, "embedded")
    assert said(app, untaught_words(decision)) and "ask_nearest_0" not in keys(app)
    assert not [text for text in texts(app) if text in BENEATH.values()]
    seen = run(usual_request(query, embedded.capabilities), embedded)
    assert not [c.text for c in seen.clusters if c.text in texts(app)]
    assert not said(app, seen.verdict.why) and "amplify" not in keys(app)
    assert len(app.get("vega_lite_chart")) == 1, "how near it is"
    assert not said(app, idle_doubt(seen)), "which decides nothing"
    press(app, "reveal")
    assert [text for text in texts(app) if text in BENEATH.values()]
    assert seen.verdict.answer in texts(app) and said(app, seen.verdict.why)
    assert "amplify" in keys(app) and "reveal" not in keys(app)
    assert b"near" in downloaded(app, "nearness.svg")
    ask(app, EXAMPLES["Many answers"])
    assert headings(app)[0] == STAMPS[Headline.BELIEVE].label
    assert not [text for text in texts(app) if text in BENEATH.values()]
    scale = app.get("vega_lite_chart")[0].proto.SerializeToString()
    assert b"State capital of Nevada" in scale and b"Zorvania" not in scale, "its doubt is idle"
    assert b"Capital of France" not in scale, "its doubt is a share, of a single answer"
    assert not said(app, "Did you mean") and not said(app, "The model was not taught these words")


def test_another_model_is_one_press_away_where_this_one_was_taught_nothing_near(app, monkeypatch):
    monkeypatch.setattr(model_opening, "find_spec", lambda name: True)
    wishes = []
    monkeypatch.setattr(model_opening, "use", lambda *wish: wishes.append(wish))
    ask(app, EXAMPLES["Known"])
    assert "ask_real" not in keys(app)
    ask(app, "asdf qwer zxcv")
    press(app, "ask_real")
    assert wishes == [("smollm2", None, None)]
    monkeypatch.setattr(model_opening, "find_spec", lambda name: None)
    app.run()
    assert "ask_real" not in keys(app)
    press(app, "ask_another")
    assert app.radio(key="model_kind").options


def test_what_a_larger_model_answered_before_is_offered_beneath_and_named_where_it_opens(app):
    untaught = (
        each for each in recorded_answers() if taught_position(each.question, "embedded").outside
    )
    answer = next(untaught)
    ask(app, answer.question)
    assert said(app, f"{answer.provenance.title}, recorded:")
    stamp, came, *_ = read_outcome(answer.outcome)
    assert {stamp.label, came} <= set(texts(app)), "it says what came of it before it opens"
    shown = keys(app)  # below what this model says, as on any other page
    assert shown.index("reveal") < shown.index("open_recorded")
    press(app, "open_recorded")
    assert said(app, f"{answer.sentence}. No model was asked now.")
    assert said(app, f"{answer.question} · gguf:Qwen2.5-Coder"), "without the folder of a machine"
    assert headings(app)[0] == stamp.label and "open_recorded" not in keys(app)


def test_a_perhaps_that_nothing_promises_is_seen_to_be_one(app):
    ask(app, EXAMPLES["Known"])
    perhaps = STAMPS[Headline.PERHAPS].label
    assert STAMPS[Headline.BELIEVE].label in headings(app) and perhaps in texts(app)
    shown = keys(app)
    assert shown.index("open_recorded") < shown.index("amplify")
    assert "(up to 15% may be wrong)" in texts(app), "why the larger model's is no more"
    app.slider(key="tau").set_value(0.9).run()  # for which nothing is certified
    assert headings(app)[0] == UNPROMISED.label
    press(app, "open_recorded")
    assert headings(app)[0] == perhaps and said(app, "up to 15% are wrong")
    assert "amplify" not in keys(app)  # the curve would be of the model in use, which is another


def test_what_is_surely_meant_is_asked_with_a_way_back_to_what_was_typed(app):
    typed = "waht is the captial of Frnace"
    ask(app, typed)
    assert said(app, f"Read as: {EXAMPLES['Known']}") and decisions(app)
    assert headings(app)[0] == STAMPS[Headline.BELIEVE].label
    press(app, "ask_as_typed")
    assert app.query_params["as_typed"] == "true"
    assert not said(app, "Read as: ") and not decisions(app)
    assert headings(app)[0] != STAMPS[Headline.BELIEVE].label
    assert app.text_input(key="q").value == typed
    press(app, "ask_nearest_0")
    assert app.text_input(key="q").value == EXAMPLES["Known"]
    assert decisions(app) and "ask_nearest_0" not in keys(app)
    ask(app, "captial of Frnace?")
    assert said(app, "Read as: "), "the next question is read as usual"


def test_with_a_policy_of_ones_own_a_question_is_asked_as_it_was_when_the_policy_was_made(app):
    app.session_state["policy_in_use"] = default_policy()
    ask(app, "waht is the captial of Frnace")
    assert not said(app, "Read as: ") and "ask_nearest_0" in keys(app)


def test_more_answers_are_compared_with_the_limit_of_the_policy_in_use(app):
    ask(app, EXAMPLES["Half known"])
    assert said(app, "Certified: ") and said(app, "From 0.581 on, an answer is withheld.")
    policy = default_policy()
    app.session_state["policy_in_use"] = replace(policy, threshold=0.6, belief=None)
    assert said(app.run(), "From 0.600 on, an answer is withheld.")
    app.session_state["policy_in_use"] = replace(policy, threshold=0.9, belief=None)
    assert not said(app.run(), "Certified: ")


def test_a_near_question_is_asked_from_a_kept_result_too(on_ones_own):
    typed = "who inventd dinamite"
    page = session("inspection", q=typed, as_typed="true")
    (link,) = [c.value.partition("?saved=")[2] for c in page.code if "?saved=" in c.value]
    page = session("inspection", saved=link)
    assert said(page, "Who invented dynamite? (")
    press(page, "ask_nearest_0")
    assert page.text_input(key="q").value == "Who invented dynamite?"
    assert "saved" not in page.query_params and "ask_nearest_0" not in keys(page)


# ------------------------------------------------------ the model as its own similarity

POOR = "it judges no better than a coin"


def test_the_model_is_asked_to_compare_answers_once_and_only_where_that_is_chosen(
    app, calls, embedded
):
    query = "What is the capital of Borduria?"
    ask(app, query, k=6)
    press(app, "reveal")
    assert not said(app, POOR) and said(app, SIMILARITIES["same_answer"])
    assert not any(prompts.SAME in code.value for code in app.code)
    calls.clear()
    app.selectbox(key="similarity").set_value("judge").run()
    settled(app)
    assert {name for name, _ in calls} == {"log_likelihoods"}  # nothing was sampled anew
    assert said(app, POOR) and said(app, "The model itself compares the answers")
    assert app.slider(key="tau").value == 0.5 and app.query_params["tau"] == "0.5"
    request = usual_request(query, embedded.capabilities, samples=6, judged=True)
    expected = run(request, embedded, Reading("judge", 0.5))
    assert metrics(app)["Mutual information"] == value_of(expected, "mutual_information")
    (table,) = [table.value for table in app.dataframe if "mean the same" in table.value]
    sure = [sure for _, _, sure in expected.recording.pairs]
    assert table["mean the same"].tolist() == pytest.approx(sure, abs=1e-4)
    assert any(prompts.SAME in code.value for code in app.code)
    calls.clear()
    app.selectbox(key="similarity").set_value("ratio").run()
    assert app.slider(key="tau").value == 0.25
    app.slider(key="tau").set_value(0.7).run()
    app.selectbox(key="similarity").set_value("judge").run()
    assert app.slider(key="tau").value == 0.7  # the person's own choice stays
    assert not settled(app).exception and calls == []
    assert any("Only the similarity “judge” calls" in caption.value for caption in app.caption)


def test_a_service_compares_answers_after_the_cost_was_said(on_ones_own):
    page = session("inspection", q="Name a metal", k="3")
    with serving("echo") as server:
        choose(page, server.base_url, server.model)
        press(page, "pay_inspection")
        plain, asked = metrics(page), len(server.exchanges)
        assert plain
        page.selectbox(key="similarity").set_value("judge").run()
        assert not metrics(page) and len(server.exchanges) == asked
        press(page, "pay_inspection")
        assert metrics(page) and not said(page, POOR)
        new = [json.dumps(body) for body in server.bodies[asked:]]
        assert new and all(prompts.SAME in body for body in new)  # and nothing else
        page.selectbox(key="similarity").set_value("token_f1").run()
        assert metrics(page) == plain and len(server.exchanges) == asked + len(new)


def test_a_system_prompt_and_a_context_stand_in_front_and_not_in_the_address(on_ones_own):
    page = session("inspection", q="Name a metal", k="3")
    with serving("echo") as server:
        choose(page, server.base_url, server.model)
        assert said(page, QUICK)
        page.text_area(key="system").set_value("Answer like a smith.")
        page.text_area(key="context").set_value("Gold is dear.").run()
        assert not said(page, QUICK)  # it would ask without them
        press(page, "pay_inspection")
        fronts = [body for body in map(json.dumps, server.bodies) if "Answer like a smith." in body]
        assert metrics(page) and fronts and all("Gold is dear." in body for body in fronts)
        assert not {"system", "context"} & set(page.query_params)
        assert said(page, "Asked behind a system prompt and a context")


# -------------------------------------------------------------- what a model cannot certify


@pytest.mark.parametrize(("flavour", "members"), [("echo", "log-likelihoods"), ("none", "shares")])
def test_a_model_that_certifies_nothing_promises_nothing(
    on_ones_own, monkeypatch, flavour, members
):
    """The "echo" here lists no end token: likelihoods of answers without their end."""
    monkeypatch.delenv("BELIEVE_END_TEXT", raising=False)
    page = session("inspection", q="Name a gas")
    with serving(flavour, lists_end=False) as server:
        choose(page, server.base_url, server.model)
        press(page, "pay_inspection")
    assert metrics(page)["Certified mutual information"] == "–"
    assert said(page, "Nothing can be certified here: that takes exact likelihoods of whole")
    assert not [m.value for m in page.markdown if "certified lower bound holds" in m.value]
    assert "certify" not in keys(page) and page.button(key="sample_300")
    assert f"Members of each cluster, with {members}" in [c.value for c in page.caption]


# ------------------------------------------------------------------------- many samples


def test_more_answers_are_wanted_to_one_question_and_not_to_the_next(app):
    ask(app, MAMMAL)
    press(app, "sample_30")
    assert app.number_input(key="k").value == 30 and app.query_params["k"] == "30"
    ask(app, "Name a gas")
    assert app.number_input(key="k").value == 8 and "k" not in app.query_params
    ask(app, MAMMAL, k=12)  # what is chosen under the settings stays
    ask(app, "Name a gas")
    assert app.number_input(key="k").value == 12


@pytest.mark.parametrize(("button", "query"), [("draw_many", "Name a duke"), ("ask", "Name a cat")])
def test_a_link_to_many_samples_waits_for_a_press(button, query, monkeypatch):
    monkeypatch.setattr(form, "MOST_UNASKED", 11)  # 300 take minutes of a processor
    page = visit("inspection", q=query, k="12").run()
    assert said(page, "This link asks for up to 12 answers") and not page.code
    assert press(page, button).code and page.number_input(key="k").value == 12


def test_who_asks_for_many_samples_on_the_page_need_not_ask_twice(app, monkeypatch):
    monkeypatch.setattr(form, "MOST_UNASKED", 11)
    ask(app, "Name a count", k=12)
    assert app.code and "draw_many" not in keys(app)


def test_who_asks_something_else_has_no_more_sampled_for_what_was_asked_before(app, monkeypatch):
    gate, search = threading.Event(), EmbeddedModel.likeliest

    def slow(self, prompt, count):
        assert "tool" not in prompt or gate.wait(LONG)
        return search(self, prompt, count)

    ask(app, "Name a tool")
    monkeypatch.setattr(EmbeddedModel, "likeliest", slow)
    app.button(key="certify").click().run()
    job = app.session_state["run_certifying"].job
    assert not job.cancelling
    ask(app, "Name a noble gas")
    assert job.cancelling and "run_certifying" not in app.session_state
    gate.set()
    assert job.wait(LONG) and job.cancelled


def test_the_question_is_still_there_on_the_way_back(app):
    ask(app, MAMMAL)
    go(app, "home").run()
    assert settled(go(app, "inspection").run()).text_input(key="q").value == MAMMAL
