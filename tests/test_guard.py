"""The guard: what it serves and promises, and that nothing it cannot know makes it promise."""

import asyncio
import concurrent.futures
import json
import math
import re
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import believe
from benchmarks import names
from core.abstention.policy import Policy, PolicyError, to_json
from core.language_models.client import concurrency
from core.language_models.errors import ModelError
from core.language_models.language_model import Capabilities, LanguageModel, Response
from core.studies.inspection.certificates import default_policy
from core.studies.inspection.pipeline import prompt_fingerprint
from tests.fakes import QUERY, Searched, TableModel, certified, comparing, falling, knows, words
from tests.loops import in_own_loop
from tests.patience import LONG

ROOT = Path(__file__).parents[1]
FRANCE, NEVADA = "What is the capital of France?", "What is the state capital of Nevada?"


@pytest.fixture(scope="module")
def guard():
    return believe.guard()


def policy_for(model: LanguageModel, **changes) -> Policy:
    """A policy that a calibration of a model's drawn answers could have made."""
    own = default_policy().pipeline
    pipeline = replace(
        own,
        model=model.name,
        revision=model.revision,
        samples=10,
        temperature=0.9,
        sampling="drawn",
        **changes,
    )
    return replace(default_policy(), pipeline=pipeline)


def test_a_policy_of_answers_that_the_model_compares_has_it_compare_them():
    model = comparing(knows(3), lambda *_: 0.1)
    policy = policy_for(model, prompt=prompt_fingerprint(judged=True), similarity="judge", tau=0.5)
    answer = believe.Guard(model, replace(policy, belief=None))(QUERY)
    assert answer.text in model.answers and answer.inspection.reading.similarity == "judge"


def test_what_is_known_is_served_with_its_promise_and_what_is_not_is_withheld(guard):
    known, unknown = guard.batch([FRANCE, NEVADA])
    assert isinstance(known, believe.Answer) and known and known.believed
    assert str(known) == known.text == "Paris"
    assert known.promise == f"Default policy. {default_policy().sentence}"
    assert f" {default_policy().caution} " in known.promise
    assert known.inspection.evidence.sampled_mass > 0.9
    scores = known.to_dict()["scores"]
    assert scores["mutual_information"] == pytest.approx(0, abs=0.1)
    of_greedy = known.inspection.scores["greedy_probability"]
    assert scores["greedy_probability"] == of_greedy.doubt != of_greedy.value
    assert default_policy().decide(scores) == "answer"
    assert default_policy().decide(unknown.to_dict()["scores"]) == "abstain"
    assert isinstance(unknown, believe.Abstention) and not unknown and str(unknown) == ""
    assert "does not know" in unknown.reason and "promise" not in unknown.to_dict()
    assert {known, unknown, guard(FRANCE)} == {known, unknown}


@pytest.mark.parametrize(
    ("question", "reason"),
    [
        (
            "What is the capital of Zorvania?",
            "Not near anything this model was taught. What it says",
        ),
        ("", "no question"),
        ("x" * 2001, "at most 2,000"),
        ("\ud800", "Unicode"),
    ],
)
def test_what_the_promise_does_not_cover_is_withheld(guard, question, reason):
    answer = guard(question)
    assert not answer and reason in answer.reason


@pytest.mark.parametrize(
    "question",
    [
        FRANCE,
        NEVADA,
        "What is the capital of Trinidad and Tobago?",  # one answer, which it does not keep to
        "Who invented the paper clip?",  # little doubt, and not what it was taught
    ],
)
def test_its_policy_decides_on_what_is_logged_as_it_did_itself(guard, question):
    logged = guard(question).to_dict()
    assert guard.policy.decide(logged["scores"]) == logged["decision"]


def test_a_policy_of_ones_own_decides_on_what_was_typed(guard):
    """It was calibrated on questions as people type them."""
    typed, meant = "whats teh capitol of spain", "What's the capital of Spain?"
    assert guard(typed).inspection.query == meant
    assert believe.guard(policy=default_policy())(typed).inspection.query == typed


def test_it_can_be_awaited(guard):
    async def both():
        return await asyncio.gather(guard.ask(FRANCE), guard.ask(FRANCE))

    assert [str(answer) for answer in in_own_loop(both())] == ["Paris", "Paris"]


def test_without_a_policy_that_fits_the_evidence_is_there_and_nothing_is_served():
    answer = believe.Guard(knows(6))(QUERY)
    assert not answer and "Nothing is certified for this model" in answer.reason
    assert answer.inspection.scores["mutual_information"].value == pytest.approx(0, abs=1e-9)
    row = answer.to_dict()["scores"]  # to calibrate on
    assert row["mutual_information"] == pytest.approx(0, abs=1e-9) and "table" in row["pipeline"]


def test_a_policy_of_the_same_model_serves_and_one_of_another_is_refused():
    model = knows(6)
    policy = policy_for(model)
    answer = believe.Guard(model, policy)(QUERY)
    assert answer and answer.promise == policy.sentence
    model.revision = "2"
    with pytest.raises(PolicyError, match=r"revision = “1” there, “2” here"):
        believe.Guard(model, policy)
    with pytest.raises(PolicyError, match="model = “embedded” there"):
        believe.Guard(model, default_policy())


def test_another_model_of_the_same_name_is_not_certified():
    model = Searched(words(3), falling(3), np.tile(falling(3), (3, 1)))
    certified(model)
    assert believe.Guard(model).policy == default_policy()  # by name and revision, it is
    model.revision = "0" * 12
    assert believe.Guard(model).policy is None


def test_a_policy_that_can_decide_no_inspection_is_refused_at_once():
    model = knows(6)
    with pytest.raises(PolicyError, match="unknown origin"):
        believe.Guard(model, replace(policy_for(model), pipeline=None))


def test_a_policy_that_names_settings_that_are_none_is_refused():
    model = knows(6)
    for changes in ({"similarity": "telepathy"}, {"tau": 7.0}):
        with pytest.raises(PolicyError, match="settings that do not exist"):
            believe.Guard(model, policy_for(model, **changes))


def test_a_policy_comes_from_a_file(tmp_path):
    (tmp_path / "policy.json").write_text(to_json(default_policy()))
    assert str(believe.guard(policy=tmp_path / "policy.json")(FRANCE)) == "Paris"
    with pytest.raises(PolicyError, match="cannot be read: No such file"):
        believe.guard(policy=tmp_path / "none.json")
    (tmp_path / "policy.json").write_text("{}")
    with pytest.raises(PolicyError, match="not a Believe policy"):
        believe.guard(policy=str(tmp_path / "policy.json"))
    content = json.loads(to_json(default_policy()))
    (tmp_path / "policy.json").write_text(json.dumps(content | {"threshold": 9.0}))
    with pytest.raises(PolicyError, match="contradict each other"):
        believe.guard(policy=tmp_path / "policy.json")
    with pytest.raises(PolicyError, match="cannot prove"):
        believe.guard(policy=replace(default_policy(), target_error=0.01))


class Impossible(TableModel):
    """States probabilities that add up to more than 1, and less than 1 each."""

    name = "impossible"

    def log_likelihoods(self, prompts, answers):
        return np.minimum(super().log_likelihoods(prompts, answers) + math.log(2), -0.1)


def test_likelihoods_that_are_no_probabilities_decide_nothing():
    first = falling(6)
    model = Impossible(words(6), first, np.tile(first, (6, 1)))
    answer = believe.Guard(model, policy_for(model))(QUERY)
    assert not answer and "so they are none" in answer.reason


class Failing(TableModel):
    name = "failing"

    def sample(self, prompt, count, **options):
        raise ModelError("The server is away.")


class Silent(TableModel):
    name = "silent"

    def sample(self, prompt, count, **options):
        return [Response("", True)] * count


@pytest.mark.parametrize(("kind", "reason"), [(Failing, "is away"), (Silent, "nothing")])
def test_a_model_that_fails_or_says_nothing_is_a_reason_to_abstain(kind, reason):
    model = kind(words(3), falling(3), np.tile(falling(3), (3, 1)))
    answer = believe.Guard(model, policy_for(model))(QUERY)
    assert not answer and reason in answer.reason and answer.inspection is None


class Paid(TableModel):
    name, capabilities = "paid", Capabilities(scores_given_text=True, local=False)


def test_what_comes_after_the_budget_is_withheld(monkeypatch):
    first = falling(6)
    model = Paid(words(6), first, np.tile(first, (6, 1)))
    answer = believe.guard(model, policy_for(model), budget=3)(QUERY)
    assert not answer and "budget of 3 calls is used up" in answer.reason


class Own(LanguageModel):
    """Somebody's own model around a service, as code.md shows one."""

    name, revision = "own", "1"
    capabilities = Capabilities(scores_given_text=False, local=False, candidates_a_call=1)

    def __init__(self, reply):
        self.reply, self.calls = reply, 0

    def sample(self, prompt, count, **options):
        self.calls += 1
        return [self.reply(prompt) for _ in range(count)]

    def log_likelihoods(self, prompts, answers):
        raise ModelError("It does not say how likely a text is.")


def cuts_off(prompt):
    raise TimeoutError("https://example.org/?key=secret")


@pytest.mark.parametrize(
    ("reply", "fault"), [(cuts_off, "TimeoutError"), (lambda _: "Paris", "AttributeError")]
)
def test_whatever_the_code_of_somebodys_model_raises_is_a_reason_to_abstain(reply, fault, caplog):
    answers = believe.guard(Own(reply)).batch([FRANCE, NEVADA])
    assert not any(answers)
    assert {a.reason for a in answers} == {
        f"own failed with {fault}; the log “believe” says where."
    }
    assert all(record.exc_info for record in caplog.records)
    (claim,) = believe.claims("Paris is in France.", model=Own(reply))
    assert claim.mark == "open" and fault in claim.reason


def test_who_stops_it_from_within_hears_so(guard):
    def stop(stage, share):
        raise believe.Cancelled

    with pytest.raises(believe.Cancelled):
        guard(FRANCE, stop)


@pytest.mark.parametrize("how", ["ask", "batch", "call", "claims"])
def test_whoever_goes_away_pays_for_what_is_under_way_and_no_more(how, monkeypatch):
    """A question takes some forty calls of this model, of which eight are made at once."""
    under_way, let_go, before = threading.Event(), threading.Event(), threading.enumerate()

    def reply(prompt):
        under_way.set()
        assert let_go.wait(LONG)
        return Response("Paris", True)

    model = Own(reply)
    guard = believe.guard(model)
    calls = {
        "batch": lambda: guard.batch([FRANCE, NEVADA]),
        "call": lambda: guard(FRANCE),
        "claims": lambda: believe.claims("Paris is in France.", model=model),
    }

    async def given_up():
        asked = asyncio.create_task(guard.ask(FRANCE))
        await asyncio.to_thread(under_way.wait, LONG)
        asked.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asked
        let_go.set()

    def interrupted(futures, *options):
        if threading.current_thread() is here and under_way.wait(LONG) and next(pressed, False):
            raise KeyboardInterrupt
        return concurrent.futures.wait(futures, *options)

    if how == "ask":
        in_own_loop(given_up())
    else:
        here, pressed = threading.current_thread(), iter([True])
        monkeypatch.setattr(concurrency, "wait", interrupted)
        with pytest.raises(KeyboardInterrupt):
            calls[how]()
        let_go.set()
    while begun := {t for t in threading.enumerate() if not t.daemon} - {*before}:
        for thread in begun:
            if thread.ident:  # else it is about to be started
                thread.join(LONG)
    assert 0 < model.calls <= concurrency.AT_ONCE


def test_a_service_of_ones_own_is_asked_no_more_than_the_budget():
    model = Own(lambda prompt: Response("Paris", True))
    assert "budget of 5 calls" in believe.guard(model, budget=5)(FRANCE).reason
    assert model.calls == 5


def test_all_names_come_with_a_star():
    names = {}
    exec("from believe import *", names)
    assert names["guard"] is believe.guard


# ------------------------------------------------------------------------------- the pages


def test_the_page_runs_from_top_to_bottom(capsys):
    """Every block of Python, one after the other, as somebody would type them."""
    page = (ROOT / "docs/code.md").read_text(encoding="utf-8")
    exec("\n".join(re.findall(r"^```python\n(.*?)^```", page, re.DOTALL | re.MULTILINE)), {})
    printed = capsys.readouterr().out
    assert printed.startswith("Paris\nDefault policy. With 90% confidence")
    assert "Nothing is certified for this model" in printed


def test_the_reference_is_that_of_the_code():
    page = (ROOT / names.PAGE).read_text(encoding="utf-8")
    assert page == names.page(), "run python -m benchmarks.names --write"
    assert "## believe.guard" in page and "## believe.Policy" in page


def test_the_notebook_runs_from_top_to_bottom(tmp_path, monkeypatch, capfd):
    cells = json.loads((ROOT / "docs/guard.ipynb").read_text(encoding="utf-8"))["cells"]
    monkeypatch.setenv("PYTHONPATH", str(ROOT))  # for the command that it starts
    monkeypatch.chdir(tmp_path)
    exec("\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "code"), {})
    printed = capfd.readouterr().out
    assert "Paris\nTrue" in printed and "['Paris', 'Banana']" in printed
    assert "'score': 'mutual_information', 'below': 0.5" in printed
    assert printed.endswith("answer\nabstain\n")


def test_the_command_line_loads_nothing_that_an_extra_brings():
    code = "import sys, core.cli, believe.names; print(*{*sys.modules} & {'altair', 'streamlit'})"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert (done.returncode, done.stdout.strip()) == (0, "")


@pytest.mark.parametrize(
    ("misuse", "says"),
    [
        (lambda guard: believe.guard(5), "neither a name"),
        (lambda guard: believe.guard(policy=5), "neither a Policy nor its file"),
        (lambda guard: believe.policy_in(None), "takes the path"),
        (lambda guard: believe.guard(budget=None), "whole number from 1"),
        (lambda guard: believe.guard(budget=0), "whole number from 1"),
        (lambda guard: guard(5), "are texts"),
        (lambda guard: guard(None), "are texts"),
        (lambda guard: guard(FRANCE, context=5), "are texts"),
        (lambda guard: guard.batch(FRANCE), "A batch is a list"),
        (lambda guard: guard.batch([FRANCE, None]), "A batch is a list"),
        (lambda guard: guard.batch(None), "A batch is a list"),
        (lambda guard: guard.batch(pd.DataFrame({"question": [FRANCE]})), "A batch is a list"),
        (lambda guard: believe.guard(system=None), "are texts"),
        (lambda guard: believe.guard(answer_tokens="5"), "from 1 to 256"),
    ],
)
def test_what_makes_no_sense_is_a_sentence(guard, misuse, says):
    with pytest.raises(ValueError, match=says):
        misuse(guard)
