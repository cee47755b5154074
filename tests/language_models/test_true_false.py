"""“True” or “False”, as a list of next tokens says it, or as samples do."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core import prompts
from core.language_models.language_model import Capabilities, LanguageModel, Response
from core.language_models.true_false import (
    LEAST_LEFT,
    from_next_token,
    from_samples,
    opinion,
    question,
    sameness,
)
from core.uncertainty.scores import NEITHER
from tests.fakes import QUERY, TEXTS, Limited, fruit, sureness


def test_all_spellings_of_a_word_are_added_up():
    shares = {
        " True": 0.2,
        "ĠTrue": 0.1,
        "▁true": 0.1,
        "true": 0.1,
        "True,": 0.1,
        '"True"': 0.05,
        "(True)": 0.05,
    }
    shares |= {" FALSE": 0.06, "False.": 0.04, " Trueish": 0.05, " not True": 0.05, "": 0.05}
    listed = {token: float(np.log(share)) for token, share in shares.items()}
    assert np.exp(from_next_token(listed)) == pytest.approx([0.7, 0.1])


@pytest.mark.parametrize(
    ("listed", "most"),
    [
        ({" True": 0.5, " The": 0.3}, 0.2),  # what the listed ones leave over
        ({" True": 0.5, " The": 0.1}, 0.1),  # no more than the last that is listed
        ({" True": 1.0}, LEAST_LEFT),
    ],
)
def test_a_word_that_is_not_listed_gets_a_bound_and_never_0(listed, most):
    log_true, log_false = from_next_token({t: float(np.log(p)) for t, p in listed.items()})
    assert np.exp(log_true) == pytest.approx(listed[" True"])
    assert np.exp(log_false) == pytest.approx(most, rel=1e-6)


def test_rounded_probabilities_never_add_up_to_more_than_1():
    assert from_next_token({"True": 0.0, "true": -12.5, "False": -14.0}).tolist() == [0.0, -14.0]


@pytest.mark.parametrize("listed", [{}, {" The": -0.1, " A": -3.0}])
def test_where_neither_word_is_listed_there_is_no_opinion(listed):
    assert from_next_token(listed).tolist() == [NEITHER, NEITHER]


def test_samples_are_counted_with_half_a_vote_for_either_word():
    drawn = [Response(text, True) for text in ("True", "true.", "False", "I do not know")]
    assert np.exp(from_samples(drawn)) == pytest.approx([2.5 / 4, 1.5 / 4])
    assert from_samples([Response("Paris", True)] * 10).tolist() == [NEITHER, NEITHER]


PAIRS = [(TEXTS[0], TEXTS[2]), (TEXTS[6], TEXTS[2]), (TEXTS[4], TEXTS[5])]
ASKED = [question(QUERY, *pair) for pair in PAIRS]
SURE = [sureness(*pair) for pair in PAIRS]


class Says(LanguageModel):
    """Says one thing, whatever it is asked: likelihoods, next tokens or a text."""

    name, revision = "says", "1"

    def __init__(self, *, likelihoods=None, tokens=None, text=""):
        self.capabilities = Capabilities(
            scores_given_text=likelihoods is not None, next_token=tokens is not None
        )
        self.likelihoods, self.tokens, self.text = likelihoods, tokens, text

    def sample(self, prompt, count, *, temperature=1.0, seed=0, first=0):
        return [Response(self.text, True)] * count

    def log_likelihoods(self, prompts, answers):
        with np.errstate(divide="ignore"):
            return np.tile(np.log(self.likelihoods), (len(prompts), 1))

    def next_token(self, prompt):
        return {token: float(np.log(p)) for token, p in self.tokens.items()}


def test_an_opinion_is_of_next_tokens_or_else_of_ten_samples():
    listing, sampling = Says(tokens={" True": 0.6, " False": 0.3}), Says(text="False")
    assert np.exp(opinion(listing, "?")) == pytest.approx([0.6, 0.3])
    assert np.exp(opinion(sampling, "?")) == pytest.approx([0.5 / 11, 10.5 / 11])


@given(one=st.text(), other=st.text())
def test_a_pair_is_one_question_whichever_answer_came_first(one, other):
    asked = question("Which?", one, other)
    assert asked == question("Which?", other, one)
    assert asked in (
        prompts.same_meaning("Which?", one, other),
        prompts.same_meaning("Which?", other, one),
    )


def test_likelihoods_are_asked_for_in_one_call_and_next_tokens_pair_by_pair():
    scoring, continuing = fruit(), Limited(fruit(), next_token=True)
    for model in (scoring, continuing):
        np.testing.assert_allclose(sameness(model, ASKED), SURE)
        assert sameness(model, []).shape == (0,)
    assert scoring.scored[0] == (tuple(ASKED), (prompts.TRUE, prompts.FALSE))
    assert not scoring.sampled
    assert continuing.continued == ASKED and not continuing.asked


def test_where_there_are_no_probabilities_one_greedy_answer_decides():
    model = Limited(fruit())
    np.testing.assert_array_equal(sameness(model, ASKED), [float(p > 0.5) for p in SURE])
    assert [(a.prompt, a.count, a.temperature) for a in model.asked] == [(p, 1, 0) for p in ASKED]
    assert sameness(model, []).shape == (0,)


@pytest.mark.parametrize(
    ("likelihoods", "share"),
    [
        ((0.3, 0.1), 0.75),
        ((1e-9, 3e-9), 0.25),
        ((0.2, 0.0), 1.0),
        ((0.0, 0.2), 0.0),
        ((0.0, 0.0), np.nan),
    ],
)
def test_a_share_is_of_true_and_false_alone(likelihoods, share):
    found = sameness(Says(likelihoods=likelihoods), ["?", "!"])
    np.testing.assert_allclose(found, [share, share])


@pytest.mark.parametrize(
    ("tokens", "share"),
    [
        ({" True": 0.6, "true": 0.1, " False": 0.2, " Yes": 0.1}, 0.7 / 0.9),
        ({" True": 0.9, " Yes": 0.05, " No": 0.01}, 0.9 / 0.91),  # False is at most 0.01
        ({" False": 0.9, " Yes": 0.05}, 0.05 / 0.95),
        ({" Yes": 0.9, " No": 0.1}, np.nan),
        ({}, np.nan),
    ],
)
def test_next_tokens_are_read(tokens, share):
    np.testing.assert_allclose(sameness(Says(tokens=tokens), ["?"]), [share])


@pytest.mark.parametrize(
    ("text", "share"),
    [
        *[(text, 1.0) for text in ("True", " true.", "TRUE, both are fruits.", "**True**")],
        *[(text, 0.0) for text in ("False", "false: one is a town", "(False)")],
        *[(text, np.nan) for text in ("", "  ", "Yes", "Truely", "It is not true", "Paris")],
    ],
)
def test_the_first_word_of_an_answer_is_read(text, share):
    np.testing.assert_array_equal(sameness(Says(text=text), ["?"]), [share])
