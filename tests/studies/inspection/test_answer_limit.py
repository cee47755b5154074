"""The limit of an answer: it is kept to, belongs to what a score was made with, and is shown."""

import json
from dataclasses import replace

import pytest

import believe
from core.abstention.policy import Policy, PolicyError, to_json
from core.abstention.policy_files import from_json
from core.language_models.client.cache import CachingModel
from core.language_models.language_model import (
    LONGEST_ANSWER,
    MOST_ANSWER_TOKENS,
    Capabilities,
    Response,
    longest_answer,
)
from core.reports.inspection.words import cut_at_limit
from core.reports.result_files import open_result
from core.store.calls import Calls
from core.store.database import open_database
from core.studies.costs import computed_tokens, plan
from core.studies.inspection.certificates import certificate, default_policy
from core.studies.inspection.inspection import read
from core.studies.inspection.recorder import record, usual_request
from core.studies.inspection.request import InvalidRequestError, Request
from core.studies.inspection.serialise import from_json as inspection_from_json
from core.studies.inspection.serialise import to_json as inspection_to_json
from tests.fakes import QUERY, TableModel

WORDS = " ".join(["word"] * 40)


class Limiting(TableModel):
    """Has one answer of 40 words, and is cut after so many of them as the limit has tokens."""

    capabilities = Capabilities(scores_given_text=True, limits_answers=True)

    def __init__(self):
        super().__init__([WORDS], [1.0], [[1.0]])
        self.table = {}

    def sample(self, prompt, count, **how):
        self.sampled.append((0, count))
        said = " ".join(WORDS.split()[: self.answer_tokens])
        return [Response(said, said == WORDS, limit=self.answer_tokens)] * count

    def log_likelihoods(self, prompts, answers):
        return super().log_likelihoods(["p"] * len(prompts), answers)


def limiting():
    model = Limiting()
    for n in range(1, 41):
        model.table.setdefault("p", {})[" ".join(["word"] * n)] = 0.5
    model.table["p"] |= {"True": 0.5, "False": 0.5}
    return model


def seen(tokens):
    return read(record(Request(QUERY, 2, answer_tokens=tokens), limiting()))


def test_an_answer_ends_at_the_limit_that_was_asked_for_and_it_is_said():
    assert "did not end within 32 tokens." in cut_at_limit(seen(32))
    assert "did not end within 1 token." in cut_at_limit(seen(1))
    assert len(seen(32).verdict.answer.split()) == 32
    whole = seen(64)
    assert whole.verdict.answer == WORDS and cut_at_limit(whole) is None
    assert (whole.pipeline.answer_tokens, whole.pipeline.revision) == (
        64,
        seen(32).pipeline.revision,
    )


def test_an_answer_that_a_search_found_whole_is_not_called_cut(embedded):
    """The greedy one has no room for its end within the limit; the same text was scored with it."""
    request = usual_request("Name a yellow fruit.", embedded.capabilities, answer_tokens=1)
    searched = read(record(request, embedded))
    greedy = searched.recording.greedy
    assert (greedy.text, greedy.complete) == (searched.verdict.answer, False)
    assert cut_at_limit(searched) is None


def test_a_model_that_cannot_be_limited_is_refused_before_it_is_asked():
    model = TableModel(["a"], [1.0], [[1.0]])
    with pytest.raises(InvalidRequestError, match="cannot be chosen: it is 32 tokens"):
        record(Request(QUERY, 2, answer_tokens=64), model)
    assert model.sampled == []


@pytest.mark.parametrize("tokens", [0, MOST_ANSWER_TOKENS + 1])
def test_a_limit_out_of_range_is_refused(tokens):
    with pytest.raises(InvalidRequestError, match="choose one from 1 to 256"):
        Request(QUERY, answer_tokens=tokens)


def test_longer_answers_are_fewer_as_they_must_open_again():
    assert Request(QUERY, 300).most_samples == 300
    with pytest.raises(InvalidRequestError, match="Choose at most 37 answers, or shorter ones"):
        Request(QUERY, 38, answer_tokens=256)
    assert longest_answer(16) == LONGEST_ANSWER and longest_answer(64) == 2 * LONGEST_ANSWER


def test_a_policy_fits_one_limit_alone_and_one_that_says_none_means_32():
    pipeline = default_policy().pipeline
    assert pipeline.answer_tokens == 32 and certificate(pipeline) is not None
    longer = replace(pipeline, answer_tokens=64)
    assert certificate(longer) is None
    assert longer.differences(pipeline) == ["tokens of an answer = 64 there, 32 here"]
    policy = replace(default_policy(), pipeline=longer)
    assert from_json(to_json(policy)) == policy
    assert json.loads(to_json(policy))["version"] > 1  # which a Believe without limits refuses
    with pytest.raises(PolicyError, match="tokens of an answer = 64 there, 32 here"):
        policy.decide({policy.score: 0, "pipeline": json.dumps(vars(pipeline))})


def test_the_guard_asks_with_the_limit_of_its_policy():
    model, own = limiting(), default_policy().pipeline
    pipeline = replace(
        seen(64).pipeline,
        **{name: getattr(own, name) for name in ("similarity", "tau", "least_mass")},
    )
    policy: Policy = replace(default_policy(), pipeline=pipeline)
    answer = believe.guard(model, policy)(QUERY)
    assert answer.inspection.recording.request.answer_tokens == 64
    assert answer.inspection.verdict.answer == WORDS


def test_kept_answers_of_one_limit_are_none_of_another():
    model, calls = limiting(), Calls(open_database("sqlite://"))
    kept = CachingModel(model, calls)
    for tokens in (32, 64, 32, 64):
        (response,) = kept.with_limit(tokens).sample("p", 1)
        assert (len(response.text.split()), response.limit) == (min(tokens, 40), tokens)
    assert len(model.sampled) == 2


def test_what_is_saved_opens_with_its_limit_and_without_one_it_is_32():
    saved = inspection_to_json(seen(64))
    again = inspection_from_json(saved)
    assert again.pipeline == seen(64).pipeline and again.recording.samples[0].limit == 64
    assert inspection_from_json(open_result(saved.encode()).payload).verdict == again.verdict
    older = json.loads(inspection_to_json(seen(32)))
    del older["recording"]["request"]["answer_tokens"]
    assert inspection_from_json(json.dumps(older)).pipeline.answer_tokens == 32


def test_what_it_costs_follows_the_limit():
    usual, longer = Request(QUERY, 5), Request(QUERY, 5, answer_tokens=128)
    drawing = Capabilities(scores_given_text=False, next_token=True, local=False)
    first, second = plan(usual, drawing), plan(longer, drawing)
    assert second.requests == first.requests
    assert second.response_tokens - first.response_tokens >= 96 * (5 + 5 * 30)
    assert computed_tokens(longer) > 2 * computed_tokens(usual)
