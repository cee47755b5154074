"""What draws miss of known distributions: simulation, theory and limits agree."""

import numpy as np
import pytest

from core.reports.laboratory.missing_mass import sentence
from core.studies.inspection.request import InvalidRequestError
from core.studies.laboratory.missing_mass import (
    MOST_KINDS,
    Law,
    MissingMassSettings,
    probabilities_of,
    run,
)
from core.uncertainty.missing_mass import expected_missing_mass


@pytest.mark.parametrize("law", Law)
def test_simulation_and_theory_agree_and_limits_hold(law):
    """2,000 samples at five k. Five standard errors are exceeded once in a million means.

    A limit that just keeps its 10% shows more than 14% once in a billion.
    """
    own = (0.4, 0.3, 0.1) if law is Law.OWN else ()
    twice = 95 if law is Law.UNIFORM else 100  # where U_k of kinds alike varies most
    sizes = (1, 5, 20, twice, 500)
    settings = MissingMassSettings(law, kinds=50, own=own, draws=sizes, samples=2000)
    found = run(settings)
    assert found.rest == pytest.approx(0.2 if own else 0, abs=1e-9)
    np.testing.assert_allclose(
        found.expected, expected_missing_mass(settings.probabilities, settings.draws)
    )
    error = found.missing.std(axis=0) / np.sqrt(2000)
    assert (np.abs(found.missing.mean(axis=0) - found.expected) <= 5 * error + 1e-12).all()
    assert max(found.too_high.max(), found.too_low.max()) <= 0.14
    assert (np.diff(found.missing, axis=1) <= 1e-12).all()  # a sample goes on
    if own:
        assert np.isnan(found.finite_support).all() and np.isnan(found.entropy).all()
        assert "at most 20.0% besides that nobody has found" in sentence(found)
    else:
        assert (found.expected <= np.minimum(found.finite_support, found.entropy) + 1e-12).all()
    assert (found.zipf is not None) == (law is Law.ZIPF)
    assert (found.low <= found.expected).all() and (found.expected <= found.high).all()


@pytest.mark.parametrize(
    ("confidence", "allowed"), [(0.9, "10%"), (0.975, "2.5%"), (0.999, "0.1%")]
)
def test_what_is_allowed_is_said_as_it_is(confidence, allowed):
    found = run(MissingMassSettings(kinds=5, draws=(20,), samples=10, confidence=confidence))
    assert sentence(found).endswith(f"of the samples; {allowed} is allowed.")


def test_no_bound_allows_more_than_everything():
    found = run(MissingMassSettings(kinds=200, draws=(1,), samples=10))
    assert found.entropy[-1] > 1
    assert "the entropy 100.00%" in sentence(found)


def test_good_turing_is_too_large_by_what_came_once_over_k():
    found = run(MissingMassSettings(kinds=30, draws=(20,), samples=4000))
    p = found.probabilities
    once = float((p**2 * (1 - p) ** 19).sum())  # E U_k⁽¹⁾ / k
    off = (found.good_turing - found.missing)[:, 0]
    assert off.mean() == pytest.approx(once, abs=5 * off.std() / np.sqrt(4000))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1, 1, 2", (0.25, 0.25, 0.5)),
        ("3", (1.0,)),
        ("\n 0.5;0.5\t0 \n", (0.5, 0.5, 0.0)),
        ("1e-300 1e-300", (0.5, 0.5)),
        ("1e308 1e308", (0.5, 0.5)),
    ],
)
def test_probabilities_are_read_as_they_are_typed(text, expected):
    assert probabilities_of(text) == pytest.approx(expected)


@pytest.mark.parametrize(
    "text", ["", "half", "1 -1", "0 0", "nan", "inf 1", "1," * (MOST_KINDS + 5)]
)
def test_what_is_no_distribution_is_refused(text):
    with pytest.raises(InvalidRequestError):
        probabilities_of(text)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"law": Law.OWN, "own": ()}, "number of kinds is 0"),
        ({"law": Law.OWN, "own": (0.9, 0.9)}, "sum to at most 1"),
        ({"kinds": 10_000, "samples": 10_000}, "size of the simulation"),
    ],
)
def test_what_no_one_field_shows_is_refused(settings, sentence):
    with pytest.raises(InvalidRequestError, match=sentence):
        MissingMassSettings(**settings)
