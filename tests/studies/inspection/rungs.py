"""Models on each rung of the ladder: they say only what the estimator takes."""

import pytest

from core.studies.inspection.recording import Estimator
from tests.fakes import Limited

ABILITIES = {
    Estimator.EXACT: {"scores_given_text": True},
    Estimator.CHAINED: {"own_log_likelihoods": True},
    Estimator.COUNTED: {},
}
SAMPLED = [Estimator.CHAINED, Estimator.COUNTED]
sampled = pytest.mark.parametrize("estimator", SAMPLED, ids=lambda e: e.name.lower())
every = pytest.mark.parametrize("estimator", ABILITIES, ids=lambda e: e.name.lower())


def limited(inner, estimator, *, next_token=True, **options):
    """A model that can do no more than an estimator takes."""
    return Limited(inner, next_token=next_token, **ABILITIES[estimator], **options)
