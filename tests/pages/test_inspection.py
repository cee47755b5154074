"""The page "Inspection" without a browser: what it says, and that it says it in words."""

import json
import re
import threading
import time

import pytest

from core import prompts
from core.data.world import grading
from core.data.world.facts import facts
from core.language_models.backends.embedded.model import EmbeddedModel
from core.language_models.errors import ModelError
from core.language_models.registry import open_model
from core.studies.home import EXAMPLES
from core.studies.inspection.inspection import run
from core.studies.inspection.request import Reading, Request
from core.studies.inspection.verdict import Decision
from core.ui.inspection.recordings import recordings
from core.uncertainty.scores import SCORES
from tests.language_models.openai_server import serving
from tests.sessions import choose, go, press, said, session, visit


@pytest.fixture
def app():
    return settle(visit("inspection").run())


def settle(page):
    """Run until the page shows a result: a slow machine shows progress first."""
    for _ in range(200):
        if page.code or any("There is no question" in text.value for text in page.text):
            return page
        time.sleep(0.1)
        page.run()
    raise AssertionError("the inspection never ended")


def ask(page, query, **settings):
    page.text_input(key="q").set_value(query)
    for key, value in settings.items():
        page.number_input(key=key).set_value(value)
    page.run()
    return settle(page.run())


def metrics(page):
    return {metric.label: metric.value for metric in page.metric}


def answer(page):
    """The first code block of the page is the model's answer: code is never Markdown."""
    return page.code[0].value


def test_opens_on_a_live_example_without_an_exception(app):
    assert not app.exception
    assert app.text_input(key="q").value == "What is the capital of France?"
    assert answer(app) == "Paris"


def test_shows_the_numbers_of_the_study(app):
    query = "Name an alcoholic drink"
    ask(app, query, seed=3)
    expected = run(Request(query, seed=3), open_model("embedded"), Reading())
    shown = metrics(app)
    for name, info in SCORES.items():
        value = f"{expected.scores[name].value:.3f}"
        assert shown[info.title] == (value if info.unit == "probability" else f"{value} nats")
    assert shown["Sampled mass"] == f"{expected.sampled_mass:.1%}"
    assert any(expected.verdict.reason == text.value for text in app.text)


def test_examples_ask_their_question(app):
    app.button(key="example_Many answers").click().run()
    assert app.text_input(key="q").value == "Name a yellow fruit."
    assert not app.exception


@pytest.mark.parametrize("query", ["", "   ", "\n"])
def test_an_empty_question_gets_a_sentence(app, query):
    ask(app, query)
    assert not app.exception
    assert any("There is no question" in text.value for text in app.text)


def test_moving_the_threshold_asks_the_model_nothing(app):
    ask(app, "Name a city in the UK")
    made = recordings()._largest
    before = {key: recording.calls for key, recording in made.items()}
    app.slider(key="tau").set_value(0.9).run()
    app.selectbox(key="similarity").set_value("ratio").run()
    app.number_input(key="gamma_1").set_value(0.1).run()
    assert not app.exception
    assert {key: recording.calls for key, recording in made.items()} == before


def test_sampling_more_extends_the_same_evidence(app):
    query = "Name a mammal"
    ask(app, query)
    app.button(key="sample_30").click().run()
    ask(app, query)
    assert app.number_input(key="k").value == 30
    recording = next(r for key, r in recordings()._largest.items() if query in key)
    assert recording.request.samples == 30
    assert [call.sequences for call in recording.calls if call.purpose == "sample"] == [10, 20]


@pytest.mark.parametrize("fewer", [True, False])
def test_a_chosen_cell_outlives_neither_its_clusters_nor_the_page(app, fewer):
    ask(app, "Name a yellow fruit.", k=30)
    app.selectbox(key="first").set_value(app.selectbox(key="first").options[-1]).run()
    ask(app, "What is the capital of France?" if fewer else "Name a mammal", k=10)
    assert not app.exception
    assert app.selectbox(key="first").value in app.selectbox(key="first").options


@pytest.mark.parametrize(
    "hostile",
    ["![](http://example.invalid/x.png)", "<script>alert(1)</script>", "$5 and $6 :red[x] **b**"],
)
def test_hostile_questions_reach_no_markdown(app, hostile):
    ask(app, hostile)
    assert not app.exception
    for element in [*app.markdown, *app.caption, *app.title, *app.subheader, *app.error]:
        assert hostile not in element.value


def test_every_setting_can_be_given_in_the_address():
    page = visit("inspection")
    page.query_params.update({"q": "Name a mammal", "k": "12", "tau": "0.5", "seed": "4"})
    settle(page.run())
    assert page.text_input(key="q").value == "Name a mammal"
    assert page.number_input(key="k").value == 12
    assert page.slider(key="tau").value == 0.5
    assert page.number_input(key="seed").value == 4


@pytest.mark.parametrize("bad", [{"k": "9999"}, {"k": "many"}, {"tau": "7"}, {"similarity": "x"}])
def test_nonsense_in_the_address_is_no_traceback(bad):
    page = visit("inspection")
    page.query_params.update(bad)
    settle(page.run())
    assert not page.exception
    assert answer(page)


def test_opens_within_the_frame():
    """The other tests run the page without app.py, as a cold deep link does."""
    page = visit().run()
    settle(go(page, "inspection").run())
    assert not page.exception
    assert answer(page) == "Paris"


def test_json_of_the_page_and_of_the_command_are_the_same(app, tmp_path):
    from click.testing import CliRunner

    from core.cli import main
    from core.studies.inspection import serialise

    query = "What is the capital of Germany?"
    printed = CliRunner().invoke(main, ["inspect", query, "--seed", "5", "--json"])
    page = run(Request(query, seed=5), open_model("embedded"), Reading())
    ask(app, query, seed=5)
    ours, theirs = json.loads(serialise.to_json(page)), json.loads(printed.stdout)
    for both in (ours, theirs):
        for call in both["calls"]["list"] + both["recording"]["calls"]:
            call.pop("seconds")
    assert ours == theirs
    assert (
        metrics(app)["Mutual information"]
        == f"{theirs['scores']['mutual_information']['value']:.3f} nats"
    )


def test_a_failure_on_the_way_to_a_certificate_is_said_and_loses_nothing(app, monkeypatch):
    ask(app, "Who is the duke of Nowhere?", k=5)
    before = metrics(app)

    def broken(*_, **__):
        raise ModelError("The model went away. Start it again.")

    monkeypatch.setattr("core.ui.inspection.recordings.record", broken)
    app.button(key="certify").click().run()
    for _ in range(100):
        if any("went away" in text.value for text in app.text):
            break
        time.sleep(0.1)
        app.run()
    assert not app.exception
    assert any("The model went away" in text.value for text in app.text)
    assert metrics(app) == before


@pytest.mark.parametrize(
    ("example", "decision"),
    [
        ("Known", Decision.ANSWER),
        ("Half known", Decision.ABSTAIN),
        ("Unknown", Decision.ABSTAIN),
        ("Many answers", Decision.ANSWER),
        ("Nonsense", Decision.TOO_LITTLE),
    ],
)
def test_the_examples_show_what_the_tour_in_the_readme_says(embedded, example, decision):
    assert run(Request(EXAMPLES[example]), embedded).verdict.decision is decision


# ---------------------------------------------------------------------- was it right?


def one_of_every_band():
    return {fact.band: fact.question for fact in reversed(facts())}


def decisions(page):
    return [table.value for table in page.dataframe if "decision" in table.value]


@pytest.mark.parametrize(
    "query",
    [
        *one_of_every_band().values(),
        EXAMPLES["Half known"],  # some authors of its documents believe a misconception
        "what is the capital of FRANCE",  # as careless people write
    ],
)
def test_a_question_of_the_world_is_held_against_the_truth(app, query):
    ask(app, query)
    assert not app.exception
    assert "Was it right?" in [heading.value for heading in app.subheader]
    said, fact = [text.value for text in app.text], grading.find(query)
    (right,) = [
        text
        for text in said
        if re.match(r"The truth: |Right answers in its training \(\d+\): ", text)
    ]
    assert all(answer.text in right for answer in fact.answers)
    (band,) = [text for text in said if text.startswith("Band: ")]
    assert band.startswith(f"Band: {fact.band.value}. {fact.exposures or 'No'} training document")
    erring = fact.exposures and fact.misconception_share
    assert bool(erring) == ("of them, the author believes" in band)

    (table,) = decisions(app)
    assert list(table["score"]) == [info.title for info in SCORES.values()]
    for row in table.to_dict("records"):
        good = (row["would"] == "answer") == (row["which is"] == "right")
        assert row["decision"] == ("✓ good" if good else "✗ bad")
    served = table.set_index("score").loc["Mutual information"]
    did = "It answered, and" if served["would"] == "answer" else "It abstained; its answer"
    assert f"{did} was {served['which is']}." in said


def test_the_truth_is_held_against_the_answer_that_stands_above_it(app):
    (table,) = decisions(app)
    served = table.set_index("score").loc["Mutual information"]
    assert (served["with"], served["which is"]) == (answer(app), "right")


@pytest.mark.parametrize("example", ["Unknown", "Nonsense"])
def test_of_any_other_question_nobody_here_knows_the_truth(app, example):
    ask(app, EXAMPLES[example])
    assert not app.exception
    assert any("outside the embedded model’s world" in text.value for text in app.text)
    assert not any(text.value.startswith(("Band: ", "The truth: ")) for text in app.text)
    assert not decisions(app)
    assert [link.proto.page for link in app.get("page_link")] == ["questions"]


# ------------------------------------------------------ the model as its own similarity

POOR = "it judges no better than a coin"


def calls_of(query):
    """What the recordings of a question took so far, judged and not."""
    return {key: len(r.calls) for key, r in recordings()._largest.items() if query in key}


def test_the_model_is_asked_to_compare_answers_once_and_only_where_that_is_chosen(app):
    query = "What is the capital of Borduria?"
    ask(app, query, k=6)
    plain = calls_of(query)
    assert not said(app, POOR) and said(app, "Words in common, as in the paper")
    assert not any(prompts.SAME in code.value for code in app.code)
    app.selectbox(key="similarity").set_value("judge").run()
    settle(app)
    assert said(app, POOR) and said(app, "The model itself compares the answers")
    assert app.slider(key="tau").value == 0.5 and app.query_params["tau"] == "0.5"
    expected = run(Request(query, 6, judged=True), open_model("embedded"), Reading("judge", 0.5))
    value = expected.scores["mutual_information"].value
    assert metrics(app)["Mutual information"] == f"{value:.3f} nats"
    both = calls_of(query)
    assert len(both) == 2 and plain.items() <= both.items()
    assert sorted(both.values()) == [n := plain.popitem()[1], n + 1]  # nothing was sampled anew
    (table,) = [table.value for table in app.dataframe if "mean the same" in table.value]
    sure = [sure for _, _, sure in expected.recording.pairs]
    assert table["mean the same"].tolist() == pytest.approx(sure, abs=1e-4)
    assert any(prompts.SAME in code.value for code in app.code)
    app.selectbox(key="similarity").set_value("ratio").run()
    assert app.slider(key="tau").value == 0.25
    app.slider(key="tau").set_value(0.7).run()
    app.selectbox(key="similarity").set_value("judge").run()
    assert app.slider(key="tau").value == 0.7  # the person's own choice stays
    assert not app.exception and calls_of(query) == both
    assert any("Only the similarity “judge” calls" in caption.value for caption in app.caption)


def test_the_judge_can_stand_in_the_address():
    page = visit("inspection")
    page.query_params.update({"q": "Name a mammal", "k": "5", "similarity": "judge"})
    settle(page.run())
    assert page.selectbox(key="similarity").value == "judge"
    assert not page.exception and said(page, POOR) and metrics(page)
    assert page.query_params["similarity"] == "judge"


def test_a_service_compares_answers_after_the_cost_was_said(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    page = session("inspection", q="Name a metal", k="3")
    with serving("echo") as server:
        choose(page, server.base_url, server.model)
        press(page, "pay_inspection")
        plain, asked = metrics(page), len(server.exchanges)
        assert plain
        page.selectbox(key="similarity").set_value("judge").run()
        assert not metrics(page) and len(server.exchanges) == asked
        assert "pay_inspection" in [button.key for button in page.button]
        press(page, "pay_inspection")
        assert metrics(page) and not said(page, POOR)
        new = [json.dumps(body) for body in server.bodies[asked:]]
        assert new and all(prompts.SAME in body for body in new)  # and nothing else
        page.selectbox(key="similarity").set_value("token_f1").run()
        assert metrics(page) == plain and len(server.exchanges) == asked + len(new)


# -------------------------------------------------------------- what a model cannot certify


@pytest.mark.parametrize(
    ("flavour", "members"),
    [("echo", "log-likelihoods"), ("top", "log-likelihoods"), ("none", "shares")],
)
def test_a_model_that_certifies_nothing_promises_nothing(monkeypatch, flavour, members):
    """The "echo" here is told no end token: likelihoods of answers without their end."""
    for name in ("OPENAI_API_KEY", "BELIEVE_END_TEXT"):
        monkeypatch.delenv(name, raising=False)
    page = session("inspection", q="Name a gas")
    with serving(flavour) as server:
        choose(page, server.base_url, server.model)
        press(page, "pay_inspection")
    assert metrics(page)["Certified mutual information"] == "–"
    assert said(page, "Nothing can be certified here: that takes exact likelihoods of whole")
    promises = ("**certified lower bound** holds", "Thick tick: the certified bound")
    shown = [element.value for element in [*page.markdown, *page.caption]]
    assert not [text for text in shown if any(promise in text for promise in promises)]
    assert "certify" not in [button.key for button in page.button]
    assert page.button(key="sample_300")
    labels = [expander.label for expander in page.expander]
    assert f"Members of each cluster, with {members}" in labels


def test_the_embedded_model_promises_a_bound_and_shows_likelihoods(app):
    assert any("certified lower bound" in markdown.value for markdown in app.markdown)
    assert any("what is certified" in caption.value for caption in app.caption)
    assert "Members of each cluster, with log-likelihoods" in [e.label for e in app.expander]


@pytest.mark.parametrize(("button", "query"), [("draw_many", "Name a gas"), ("ask", "Name a cat")])
def test_a_link_to_many_samples_waits_for_a_press(button, query):
    page = visit("inspection")
    page.query_params.update(q=query, k="300")
    page.run()
    assert said(page, "This link asks for 300 samples") and not page.code
    press(page, button)
    assert settle(page).code
    assert page.number_input(key="k").value == 300


def test_who_asks_for_many_samples_on_the_page_need_not_ask_twice(app):
    ask(app, "Name a gas", k=300)
    assert app.code and "draw_many" not in [button.key for button in app.button]


def test_who_asks_something_else_has_no_more_sampled_for_what_was_asked_before(app, monkeypatch):
    gate, draw = threading.Event(), EmbeddedModel.sample

    def slow(self, prompt, count, **options):
        assert "Lilliput" not in prompt or gate.wait(60)
        return draw(self, prompt, count, **options)

    ask(app, "Who is the queen of Lilliput?")
    monkeypatch.setattr(EmbeddedModel, "sample", slow)
    app.button(key="certify").click().run()
    job = app.session_state["run_certifying"].job
    assert not job.cancelling
    ask(app, "Name a noble gas")
    assert job.cancelling and "run_certifying" not in app.session_state
    gate.set()
    assert job.wait(60) and job.cancelled
