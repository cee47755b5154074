"""When the paper's theorem says anything, and what its bound is made of."""

import numpy as np
import pytest

from core.reports.laboratory.finite_samples import sentence
from core.studies.inspection.request import InvalidRequestError
from core.studies.laboratory.finite_samples import FiniteSamplesSettings, run
from core.uncertainty.missing_mass import theorem_bound


def test_a_million_draws_tell_the_theorem_nothing_about_200_answers():
    """Zipf's law over 200, repeated with a probability of .7: 2.35 nats."""
    found = run(FiniteSamplesSettings(draws=(100, 1_000_000, 100_000_000), samples=1))
    assert found.exact == pytest.approx(2.353, abs=1e-3)
    assert found.bound[1] < 0 < found.bound[2] < found.exact
    assert found.least == 100_000_000
    assert found.certified[0] > 0.3 * found.exact
    assert (found.certified <= found.exact + 1e-9).all()
    assert "something at k = 100,000,000" in sentence(found)


def test_the_theorems_bound_is_made_of_what_is_reported():
    settings = FiniteSamplesSettings(12, copying=0.5, draws=(30, 3000), samples=2)
    found = run(settings)
    assert (found.bound < found.exact).all()
    for at, k in enumerate(settings.draws):
        again = theorem_bound(
            found.estimate[at],
            k,
            expected_missing=found.expected_missing[at],
            support=found.support[at],
            outside=found.outside[at],
            confidence=settings.confidence,
        )
        assert again == pytest.approx(found.bound[at])
        assert found.gamma_1[at] == pytest.approx(1 / (k * found.support[at]))
        assert found.gamma_2[at] >= found.gamma_1[at]


def test_more_supports_to_choose_from_never_lower_it():
    one, many = (
        run(FiniteSamplesSettings(20, draws=(50, 500), samples=2, outside=outside))
        for outside in ((0.0,), (0.0, 0.01, 0.1))
    )
    assert (many.bound >= one.bound - 1e-12).all()
    np.testing.assert_array_equal(one.support, 400)
    np.testing.assert_array_equal(one.outside, 0)


@pytest.mark.parametrize("outside", [(0.9,), (), (-0.1,), "half", "nan"])
def test_shares_that_cannot_be_outside_are_refused(outside):
    with pytest.raises(InvalidRequestError, match=r"Give up to 12 numbers from 0 to 0\.5"):
        FiniteSamplesSettings(outside=outside)
