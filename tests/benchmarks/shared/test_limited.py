"""A model with abilities switched off says what the model inside says, or refuses."""

import numpy as np
import pytest

from benchmarks.shared.limited import Limited
from core import prompts
from core.language_models.errors import ModelError, SmallerRequestsError
from tests.fakes import QUERY, copies

PROMPT = prompts.iterative(QUERY)


def test_what_is_switched_off_is_refused():
    model = Limited(copies(3))
    with pytest.raises(ModelError, match="how likely a given answer is"):
        model.log_likelihoods([PROMPT], ["answer0"])
    with pytest.raises(ModelError, match="how likely its next words are"):
        model.next_token(PROMPT)
    assert {response.log_likelihood for response in model.sample(PROMPT, 5)} == {None}


def test_what_is_left_is_what_the_model_inside_says():
    inner = copies(3)
    model = Limited(inner, scores_given_text=True, own_log_likelihoods=True, next_token=True)
    told = prompts.iterative(QUERY, ["answer1"])
    scores = model.log_likelihoods([PROMPT, told], inner.answers)
    np.testing.assert_array_equal(scores, inner.log_likelihoods([PROMPT, told], inner.answers))
    said = dict(zip(inner.answers, scores[0], strict=True))
    drawn = model.sample(PROMPT, 20, seed=4)
    assert [r.text for r in drawn] == [r.text for r in inner.sample(PROMPT, 20, seed=4)]
    assert [r.log_likelihood for r in drawn] == [said[r.text] for r in drawn]
    listed = model.next_token(prompts.self_verification(QUERY, "answer0"))
    assert listed == pytest.approx({" True": np.log(0.75), " False": np.log(0.25)})
    assert model.meter.requests == 3
    assert (model.name, model.revision) == ("limited", inner.revision)


def test_a_question_is_read_as_the_model_inside_reads_it():
    inner = copies(3)
    inner.reads = str.casefold
    assert Limited(inner).reads("WHICH?") == "which?"


def test_more_than_one_request_can_hold_is_refused_and_not_counted():
    model = Limited(copies(3), scores_given_text=True, candidates_a_call=8, pairs_a_call=5)
    with pytest.raises(SmallerRequestsError, match="At most 8"):
        model.sample(PROMPT, 9)
    with pytest.raises(SmallerRequestsError, match="At most 5"):
        model.log_likelihoods([PROMPT] * 2, ["answer0"] * 3)
    assert model.meter.requests == 0
    assert len(model.sample(PROMPT, 8)) == 8
