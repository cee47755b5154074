"""Gibbs distributions over {−1, 1}ⁿ: tuples whose mutual information is known in closed form.

Those of the paper's Appendix A, on which its listing compares the estimate with the exact value.
The title of its figure says μ(x) ∝ exp(−Σ x_i x_j / τ); what it computes, and what is here, is
μ(x) ∝ exp(+mean of x_i x_j over the pairs i < j, divided by τ).
"""

import numpy as np
from scipy.special import gammaln, logsumexp  # type: ignore[import-untyped, unused-ignore]

from core.uncertainty.logarithms import log_normalise, without_rounding
from core.uncertainty.validation import Floats, Integers

FEWEST, MOST = 2, 16  # coordinates: 2¹⁶ states are held at once
COLDEST = 0.01  # below, probabilities leave floating point


def states(n: int) -> Integers:
    """Return all tuples of {−1, 1}ⁿ, (2ⁿ, n), in the order of the paper's listing."""
    _in_range(n)
    bits = np.arange(2**n)[:, None] >> np.arange(n)[::-1]
    return 2 * (bits & 1) - 1


def log_probabilities(n: int, temperature: float) -> Floats:
    """Return ln μ of all tuples of {−1, 1}ⁿ in the order of :func:`states`, (2ⁿ,), nats.

    n is 2 to 16, the paper's τ 0.01 or more: the lower, the more the coordinates depend on each
    other. Raises `ValueError` if either is out of its range.
    """
    _in_range(n, temperature)
    return log_normalise(_potential(states(n).sum(axis=1), n) / temperature)[0]


def information(n: int, temperature: float) -> float:
    """Return the exact mutual information D(μ, μ⊗), nats, in [0, (n − 1) ln 2].

    By symmetry every coordinate is −1 or 1 with probability 1/2, so it is n ln 2 − H(μ); and
    H(μ) = ln Z − E[potential] / τ is a sum over the n + 1 values of Σ x_i. Parameters and errors
    as for :func:`log_probabilities`.
    """
    _in_range(n, temperature)
    ones = np.arange(n + 1)
    potential = _potential(2 * ones - n, n) / temperature
    log_ways = gammaln(n + 1) - gammaln(ones + 1) - gammaln(n - ones + 1)
    log_z = logsumexp(log_ways + potential)
    mean = np.exp(log_ways + potential - log_z) @ potential
    return without_rounding(float(n * np.log(2) - log_z + mean))


def _potential(total: Integers, n: int) -> Floats:
    """Return the mean of x_i x_j over all pairs, from Σ x_i."""
    return (total**2 - n) / (n * (n - 1))


def _in_range(n: int, temperature: float = 1.0) -> None:
    if not FEWEST <= n <= MOST:
        raise ValueError(f"n is {n}, but must be a whole number from {FEWEST} to {MOST}.")
    if not (np.isfinite(temperature) and temperature >= COLDEST):
        raise ValueError(f"The temperature is {temperature}, but must be at least {COLDEST}.")
