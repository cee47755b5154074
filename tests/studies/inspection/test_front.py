"""A system prompt and a context: in front of every prompt, and part of a score's pipeline."""

import json
from dataclasses import replace

import pytest
from click.testing import CliRunner

import believe
from core import prompts
from core.abstention.policy import PolicyError, to_json
from core.abstention.policy_files import from_json
from core.cli import main
from core.language_models.client.wrapper import Wrapper
from core.reports.inspection.document import report
from core.reports.inspection.words import SYSTEM
from core.studies.costs import computed_tokens, plan
from core.studies.inspection.certificates import certificate, default_policy
from core.studies.inspection.inspection import read
from core.studies.inspection.pipeline import front_of
from core.studies.inspection.recorder import record
from core.studies.inspection.request import MAX_FRONT_CHARACTERS, InvalidRequestError, Request
from core.studies.inspection.serialise import from_json as inspection_from_json
from core.studies.inspection.serialise import to_json as inspection_to_json
from core.studies.inspection.taught_questions import in_taught_words
from core.ui.model import embedded_model
from tests.fakes import QUERY, copies, knows
from tests.studies.inspection.rungs import every, limited
from tests.studies.inspection.test_taught_questions import NEAR
from tests.test_guard import policy_for

FRONT = {"system": "Be brief.", "context": "Paris\nis a city."}
TEXT = "Be brief.\n\nContext:\nParis\nis a city.\n\n"


class Behind(Wrapper):
    """Answers the question, whatever stands in front, and remembers what that was."""

    def __init__(self, inner):
        super().__init__(inner)
        self.fronts = set()

    def rest(self, prompt):
        front, _, rest = prompt.partition(prompts.QUESTION)
        self.fronts.add(front)
        return prompts.QUESTION + rest

    def sample(self, prompt, count, **how):
        return self.inner.sample(self.rest(prompt), count, **how)

    def likeliest(self, prompt, count):
        return self.inner.likeliest(self.rest(prompt), count)

    def log_likelihoods(self, contexts, answers):
        return self.inner.log_likelihoods([self.rest(prompt) for prompt in contexts], answers)

    def next_token(self, prompt):
        return self.inner.next_token(self.rest(prompt))


class Undecided(dict):
    """A table that says True or False to what it was not made for."""

    def __missing__(self, prompt):
        return {prompts.TRUE: 0.5, prompts.FALSE: 0.5}


@every
def test_it_stands_in_front_of_every_prompt_and_nothing_else_changes(estimator):
    request = Request(QUERY, 100, seed=1, judged=True)
    table = copies(4)
    table.table = Undecided(table.table)
    model = Behind(limited(table, estimator))
    bare, behind = (record(each, model) for each in (request, replace(request, **FRONT)))
    assert model.fronts == {"", TEXT}
    assert behind.texts == bare.texts and behind.seconds == bare.seconds
    assert (behind.log_likelihoods == bare.log_likelihoods).all()
    assert (behind.verification == bare.verification).all()
    model.fronts.clear()
    record(replace(request, **FRONT), model)
    assert model.fronts == {TEXT}


class Chats(Behind):
    """Has a turn for a system prompt."""

    def __init__(self, inner):
        super().__init__(inner)
        self.systems = set()

    def with_system(self, text):
        self.systems.add(text)
        return self


@every
def test_in_a_chat_the_system_prompt_has_a_turn_of_its_own(estimator):
    table = copies(4)
    table.table = Undecided(table.table)
    model = Chats(limited(table, estimator))
    recording = record(Request(QUERY, 100, seed=1, judged=True, **FRONT), model)
    assert model.systems == {"Be brief."}
    behind = prompts.front(context=FRONT["context"])
    assert model.fronts == {behind}
    again = inspection_from_json(inspection_to_json(read(recording)))
    cell = again.cell(0, 0)
    assert cell.prompt == behind + prompts.iterative(QUERY, [cell.first])
    (part,) = [each for each in report(again).parts if each.title == "Prompts"]
    assert SYSTEM[True] in part.texts and part.code[0] == behind + prompts.iterative(QUERY)


def test_a_cell_shows_the_prompt_as_it_was_sent():
    inspection = read(record(Request(QUERY, 50, **FRONT), Behind(copies(4))))
    cell = inspection.cell(0, 0)
    assert cell.prompt == TEXT + prompts.iterative(QUERY, [cell.first])
    assert inspection.recording.system_turn is False


def test_it_is_saved_and_opens_again():
    inspection = read(record(Request(QUERY, 50, **FRONT), Behind(copies(4))))
    request = inspection_from_json(inspection_to_json(inspection)).recording.request
    assert (request.system, request.context) == (FRONT["system"], FRONT["context"])


def test_no_certificate_of_bare_questions_fits_what_has_something_in_front():
    own = default_policy().pipeline
    assert certificate(own) and not certificate(replace(own, front=front_of(Request("q", **FRONT))))
    guard = believe.Guard(Behind(knows(6)), policy_for(knows(6)))
    assert guard(QUERY) and not guard(QUERY, context="Something.")
    assert "in front of the prompt" in guard(QUERY, context="Something.").reason
    assert believe.Guard(knows(6), system="Be brief.").policy is None
    with pytest.raises(PolicyError, match="in front of the prompt = “nothing” there, “system"):
        believe.Guard(knows(6), policy_for(knows(6)), system="Be brief.")


def test_a_policy_fits_its_own_system_prompt_and_any_context_where_it_had_one():
    model = Behind(knows(6))
    policy = policy_for(model, front=front_of(Request(QUERY, **FRONT)))
    assert from_json(to_json(policy)) == policy
    assert json.loads(to_json(policy))["version"] > 1  # which is refused where nobody knows fronts
    guard = believe.Guard(model, policy, system=FRONT["system"])
    assert guard(QUERY, context="Another.") and not guard(QUERY)
    with pytest.raises(PolicyError, match="in front of the prompt"):
        believe.Guard(model, policy, system="Be long.")


def test_the_guard_takes_a_limit_and_a_policy_of_another_is_refused():
    with pytest.raises(PolicyError, match="tokens of an answer = 32 there, 64 here"):
        believe.Guard(embedded_model(), default_policy(), answer_tokens=64)
    assert believe.Guard(embedded_model(), answer_tokens=64).policy is None
    with pytest.raises(InvalidRequestError, match="cannot be chosen"):
        believe.Guard(knows(6), answer_tokens=64)


def test_a_model_that_was_taught_questions_alone_refuses_it(tmp_path):
    with pytest.raises(InvalidRequestError, match="means nothing to it"):
        believe.guard(system="Be brief.")
    assert "means nothing to it" in believe.guard()(QUERY, context="Something.").reason
    assert "means nothing to it" in believe.claims("It is.", system="Be brief.")[0].reason
    file = tmp_path / "context.txt"
    file.write_text("Something.")
    for command in (["inspect", QUERY, "--no-keep"], ["inspect", QUERY, "--quick"]):
        result = CliRunner().invoke(main, [*command, "--context", str(file)])
        assert result.exit_code and ("means nothing" in result.stderr or "alone" in result.stderr)


@pytest.mark.parametrize("text", ["x" * (MAX_FRONT_CHARACTERS + 1), "\ud800"])
def test_too_much_in_front_is_refused(text):
    for name in FRONT:
        with pytest.raises(InvalidRequestError, match="20,000 characters"):
            Request(QUERY, **{name: text})


def test_its_tokens_are_counted_and_its_question_is_asked_as_typed():
    bare, long = Request(NEAR), Request(NEAR, context="x " * 999)
    assert computed_tokens(long) > computed_tokens(bare) + 900
    capabilities = limited(copies(4), next(iter(every.args[1]))).capabilities
    assert plan(long, capabilities).prompt_tokens / plan(bare, capabilities).prompt_tokens > 3
    assert in_taught_words(bare, embedded_model()).typed
    assert in_taught_words(long, embedded_model()) == long


def test_a_front_of_white_space_is_none():
    assert Request(QUERY, system=" \n", context="\t").front == ""
