"""Sums, normalising and entropy of probabilities that are only ever held as logarithms.

The likelihood of a long answer may be e^-2000, which is 0 in floating point. Its logarithm
is an ordinary number, and everything here stays on that side.
"""

import numpy as np

from core.uncertainty.validation import Floats

#: A value nearer to 0 than this is rounding error, and reported as 0.
ROUNDING = 1e-12


def log_sum_exp(
    log_weights: Floats, axis: int | tuple[int, ...] | None = None, *, keepdims: bool = False
) -> Floats:
    """Return ln Σ exp(log_weights) along `axis` (over everything, if None); ln 0 is -inf.

    Unlike ``np.logaddexp.reduce``, the sum runs pairwise and keeps twelve digits over a
    million terms; unlike SciPy's, it costs microseconds on the small tables of one query.
    """
    peak = log_weights.max(axis=axis, keepdims=True)
    # All weights 0: shifting by -inf would leave NaN, and any finite shift does.
    shift = np.where(np.isneginf(peak), 0.0, peak)
    with np.errstate(divide="ignore"):
        total = np.log(np.exp(log_weights - shift).sum(axis=axis, keepdims=True)) + shift
    return np.asarray(total if keepdims else np.squeeze(total, axis=axis))


def log_normalise(log_weights: Floats, axis: int | None = None) -> tuple[Floats, Floats]:
    """Divide weights, not all 0 along `axis`, by their sum; over everything, if that is None.

    Returns ln of the probabilities, and ln of what was divided by, without `axis`.
    """
    log_mass = log_sum_exp(log_weights, axis, keepdims=True)
    return log_weights - log_mass, np.squeeze(log_mass, axis=axis)


def entropy(log_probabilities: Floats, axis: int = -1) -> Floats:
    """Return the Shannon entropy -Σ p ln p along `axis`, in nats; 0 ln 0 is 0."""
    probabilities = np.exp(log_probabilities)
    surprise = np.where(probabilities > 0, -log_probabilities, 0.0)
    return np.asarray((probabilities * surprise).sum(axis=axis))


def without_rounding(value: float) -> float:
    """Return 0 for a value that differs from 0 by rounding only, and any other as it is."""
    return 0.0 if abs(value) < ROUNDING else value
