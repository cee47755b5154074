"""“True” or “False”, as a list of next tokens says it, or as samples do."""

import numpy as np
import pytest

from core.language_models.base import Response
from core.language_models.opinions import LEAST_LEFT, from_next_token, from_samples


def test_all_spellings_of_a_word_are_added_up():
    listed = {" True": np.log(0.5), "true": np.log(0.2), " False": np.log(0.1), " The": -2.0}
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
    listed = {"True": 0.0, "true": -12.5, "False": -14.0}
    assert from_next_token(listed).tolist() == [0.0, -14.0]


@pytest.mark.parametrize("listed", [{}, {" The": -0.1, " A": -3.0}])
def test_where_neither_word_is_listed_there_is_no_opinion(listed):
    log_true, log_false = from_next_token(listed)
    assert log_true == log_false
    assert np.isfinite(log_true)


def test_samples_are_counted_with_half_a_vote_for_either_word():
    drawn = [Response(text, True) for text in ("True", "true.", "False", "I do not know")]
    assert np.exp(from_samples(drawn)) == pytest.approx([2.5 / 4, 1.5 / 4])
    assert np.exp(from_samples([])) == pytest.approx([0.5, 0.5])
