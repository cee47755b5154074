"""What counted answers would seem to tell though they do not depend on what was told.

Few draws look less diverse than what they are drawn from, and those of one row, after one
answer was told, are fewer than those of all rows. So rows seem to differ from their mixture by
chance alone. The remedy is to compare like with like: n draws of a row with n draws of the
mixture.
"""

from __future__ import annotations

import numpy as np
from scipy.special import gammaln, xlogy  # type: ignore[import-untyped, unused-ignore]
from scipy.stats import poisson

from core.uncertainty.checks import Floats, Integers

MOST_DRAWS = 50  # that are compared: the work grows with their third power


def adjustment(weights: Floats, counts: Floats) -> float:
    """Return what to add to the plug-in information, nats: 0 then means “as if by chance”.

    With H₂ the entropy of the second answer as counted, M the expected entropy of n draws from
    the mixture and R that of n draws after one told answer, both without replacement from what
    was counted, the adjusted information is H₂ (M - R) / M. M - R has mean 0, exactly, if
    second answers do not depend on the first, whatever the weights and the sizes of the rows; the
    scaling of what is above 0 then adds a little. If each follows from the first, R is 0, and H₂
    remains. The form is that of the adjusted mutual information of Vinh, Epps and Bailey (2010),
    here in nats. In between it is too low where n draws see few of the mixture's answers. A value
    below 0 is M - R itself.

    Parameters
    ----------
    weights : ndarray of float64, (m,)
        Of the first answers; they sum to 1.
    counts : ndarray of float64, (m, c)
        Whole numbers, at least one in each row. n is the smallest row's sum, at most
        `MOST_DRAWS`; with n = 1 nothing can be told from chance, and the adjusted value is 0.
    """
    counts = counts[:, counts.any(axis=0)]
    draws = counts.sum(axis=1)
    rows = counts / draws[:, None]
    of_second = _entropy(weights @ rows)
    information = of_second - weights @ _entropy(rows)
    n = int(min(draws.min(), MOST_DRAWS))
    of_draws = expected_entropy_of_mixture(weights, counts, n)
    difference = of_draws - weights @ expected_entropy_of_rows(counts, n)
    scale = of_second / of_draws if difference > 0 else 1.0
    return float(difference * scale - information)


def expected_entropy_of_rows(counts: Floats, n: int) -> Floats:
    """Return the expected entropy of n draws without replacement from each row, (m,), nats."""
    draws = counts.sum(axis=1)
    seen = np.arange(n + 1)
    shares = _without_replacement(draws[:, None, None], counts[:, :, None], n, seen)
    return np.asarray((shares @ _surprise(seen, n)).sum(axis=1))


def expected_entropy_of_mixture(weights: Floats, counts: Floats, n: int) -> float:
    """Return the expected entropy of n draws from the mixture of the rows, nats.

    Each draw is of row i with probability w_i, and without replacement in its row, so that n
    draws of the mixture are n different ones of those that were made: their expectation over
    what was counted is that of n independent draws of the true mixture.

    How many of them are of one kind is found with a generating function: the number of draws
    from row i is Poisson with mean n w_i, given that they are n in all.
    """
    columns, times = np.unique(counts, axis=1, return_counts=True)  # most kinds came once
    draws = counts.sum(axis=1)
    number = np.arange(n + 1)
    roots = np.exp(2j * np.pi * np.outer(number, number) / (n + 1))
    # (kinds, draws so far, z): Σ_x z^x p(so many draws, x of them of this kind), z a root of 1.
    state = np.zeros((len(times), n + 1, n + 1), dtype=complex)
    state[:, 0] = 1
    elsewhere = np.ones(len(times))  # the weight of the rows in which a kind never came
    for weight, row, size in zip(weights, columns, draws, strict=True):
        kinds = np.flatnonzero(row)
        of_kind = _without_replacement(size, row[kinds, None, None], number[:, None], number)
        step = poisson.pmf(number, n * weight)[:, None] * (of_kind @ roots)
        before, after = state[kinds], np.zeros_like(state[kinds])
        for drawn in number:
            after[:, drawn:] += before[:, : n + 1 - drawn] * step[:, drawn, None]
        state[kinds] = after
        elsewhere[kinds] -= weight
    others = poisson.pmf(n - number, n * np.maximum(elsewhere, 0.0)[:, None])
    generated = np.einsum("ka,kaz->kz", others, state) / poisson.pmf(n, n)
    shares = np.fft.fft(generated, axis=1).real / (n + 1)
    return float(times @ (shares @ _surprise(number, n)))


def _without_replacement(size: Floats, of_kind: Floats, n: Integers | int, x: Integers) -> Floats:
    """Return the chance that of n draws from a row x are of a kind (hypergeometric)."""
    rest = size - of_kind
    possible = (x <= of_kind) & (x <= n) & (n - x <= rest)
    x = np.where(possible, x, 0)  # any x that the logarithms bear
    y = np.where(possible, n - x, 0)
    log_ways = _log_choose(of_kind, x) + _log_choose(rest, y) - _log_choose(size, n)
    return np.where(possible, np.exp(log_ways), 0.0)


def _log_choose(of: Floats, some: Integers | int) -> Floats:
    return np.asarray(gammaln(of + 1.0) - gammaln(np.add(some, 1.0)) - gammaln(of - some + 1.0))


def _surprise(count: Integers, n: int) -> Floats:
    """Return -p ln p of p = count / n."""
    return np.asarray(-xlogy(count / n, count / n))


def _entropy(shares: Floats) -> Floats:
    """Return the entropies of shares along the last axis, nats."""
    return np.asarray(-xlogy(shares, shares).sum(axis=-1))
