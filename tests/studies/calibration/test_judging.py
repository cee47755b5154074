"""A model as a judge of predictions: what it is asked, what its words mean, and what that takes."""

import math
import re
from string import ascii_letters

import numpy as np
import pytest

from core.data.datasets.predictions import predictions_in, read_predictions
from core.data.tabular.uploads import parse
from core.language_models.client.batch import BatchingModel
from core.language_models.client.concurrency import AT_ONCE
from core.language_models.client.retry import RetryingModel
from core.language_models.errors import ModelError, SilentError
from core.language_models.language_model import Capabilities, LanguageModel, Response
from core.language_models.usage import Budget
from core.studies.calibration.judging import (
    CONTROLS,
    MOST_NAMES,
    STEP,
    control_prompts,
    judge_predictions,
    judge_prompts,
)
from core.studies.costs import plan_judging
from tests.fakes import TOLD


class Judge(LanguageModel):
    """Says True where both answers begin with one letter, and nothing where one begins with “?”."""

    name, revision = "judge", "1"

    def __init__(self, **abilities):
        self.capabilities = Capabilities(scores_given_text=False, **abilities)
        self.prompts = []

    def sample(self, prompt, count, *, temperature=1.0, seed=0, first=0):
        assert (count, temperature) == (1, 0.0)
        self.prompts.append(prompt)
        letters = set(re.findall(f"{TOLD}(.)", prompt))
        return [Response("Maybe" if "?" in letters else str(len(letters) == 1), True)]

    def log_likelihoods(self, prompts, answers):
        raise AssertionError("It scores no text.")


def rows(*each):
    lines = ["prediction,gold,question", *(f"{text},{gold},Which?" for text, gold in each)]
    upload = parse("\n".join(lines).encode(), "x.csv")
    return read_predictions(upload, predictions_in(upload))


@pytest.mark.parametrize("local", [True, False])
def test_true_with_any_reference_is_right_and_what_is_plain_is_not_asked(local):
    model = Judge(local=local)
    controls = [("", letter) for letter in ascii_letters[:40]]
    predictions = rows(
        *controls,
        *[("a1", "b|a2"), ("a1", "b"), ("a1", "?"), ("a1", "?|a2"), ("A2", "a2"), ("", "b")],
        *[("a1", ""), ("a1", "b"), ("a1", "b|c|d|a2")],
    )
    labels = judge_predictions(predictions, model)[len(controls) :]
    no = math.nan
    np.testing.assert_array_equal(labels, [1, 0, no, 1, 1, 0, no, 0, 0])
    asked = [prompt for each in judge_prompts(predictions) for prompt in each]
    assert sorted(model.prompts) == sorted([*control_prompts(predictions), *set(asked)])
    assert max(map(len, judge_prompts(predictions))) == MOST_NAMES


def test_what_is_stated_has_room_for_a_time_out_of_all_that_is_under_way():
    class Slow(Judge):
        def sample(self, prompt, *args, **options):
            if prompt in silent:
                silent.remove(prompt)
                raise SilentError("Nothing came.")
            return super().sample(prompt, *args, **options)

    predictions = rows(*((f"{at}", f"{ascii_letters[at]}x") for at in range(STEP + 1)))
    silent = set(control_prompts(predictions)[:AT_ONCE])
    number, judge, budget = STEP + 1 + CONTROLS, Slow(local=False), Budget()
    prompts = [prompt for each in judge_prompts(predictions) for prompt in each]
    stated = plan_judging([*control_prompts(predictions), *prompts], judge.capabilities)
    budget.limit(stated)
    labels = judge_predictions(
        predictions, BatchingModel(RetryingModel(judge, budget, wait=lambda seconds: None))
    )
    assert not np.isnan(labels).any() and len(judge.prompts) == number
    assert budget.requests == number + AT_ONCE == stated.requests


@pytest.mark.parametrize("abilities", [{}, {"local": False}])
def test_no_more_is_asked_than_was_said_and_all_of_it_is_counted(abilities):
    model, progress = Judge(**abilities), []
    predictions = rows(*((f"{at}", f"{ascii_letters[at]}x") for at in range(STEP + 1)))
    judge_predictions(predictions, model, progress.append)
    assert len(model.prompts) == STEP + 1 + CONTROLS
    assert progress == [0, STEP / (STEP + 1)]


def test_who_says_true_to_everything_judges_nothing():
    predictions = rows(*(("z", f"a{letter}") for letter in ascii_letters[:30]))
    model = Judge()
    with pytest.raises(ModelError, match="judge cannot judge: of 20 pairs of different right"):
        judge_predictions(predictions, model)
    assert model.prompts == control_prompts(predictions)  # and no more is paid for


def test_who_cannot_be_checked_judges_nothing():
    model = Judge()
    with pytest.raises(ModelError, match=r"takes 20 pairs of references .* and there are 0"):
        judge_predictions(rows(*[("x", "y")] * 50), model)
    assert not model.prompts
