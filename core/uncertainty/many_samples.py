"""Estimates and bounds of a known distribution of tuples, for many samples at once.

The formulas are those of :mod:`core.uncertainty.mutual_information`,
:mod:`core.uncertainty.certified_bound` and :mod:`core.uncertainty.confidence_limit`, which look at
one sample of one model; here arrays hold as many samples as a simulation draws.

The bounds are for tuples of any length n: by the chain rule, the mutual information D(μ, μ⊗) is
Σ_j I(Y_1 … Y_{j−1}; Y_j), and what is true of a first and a second answer is true of the first
j − 1 answers and the next one.
"""

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import entr, rel_entr  # type: ignore[import-untyped, unused-ignore]

from core.uncertainty.confidence_limit import CONFIDENCE, allowance
from core.uncertainty.entropies import plug_in
from core.uncertainty.validation import Booleans, Floats, Integers


def algorithm_1(
    sample: Integers,
    codes: Integers,
    probabilities: Floats,
    *,
    samples: int,
    gamma_1: ArrayLike = 0.0,
    gamma_2: ArrayLike = 0.0,
) -> Floats:
    """Return the paper's estimate of each sample, (samples,), nats; see ``from_tuples``.

    `sample`, (u,): to which sample each distinct tuple belongs, 0 to `samples` − 1; each has one at
    least.
    `codes`, (u, n): the distinct tuples of each sample, as numbers from 0 on.
    `probabilities`, (u,): μ of each, above 0; not normalised.
    `gamma_1, gamma_2`, () or (samples,): the stabilisation parameters of each sample, at least 0.
    """
    gammas = [np.broadcast_to(np.asarray(g, dtype=np.float64), samples) for g in (gamma_1, gamma_2)]
    joint = probabilities / np.bincount(sample, probabilities, samples)[sample]
    log_product = np.zeros_like(joint)
    values = int(codes.max()) + 1
    for answers in codes.T:
        cell = sample * values + answers
        with np.errstate(divide="ignore"):  # a value that a sample does not hold, and nobody reads
            log_marginal = np.log(np.bincount(cell, joint))
        log_product += log_marginal[cell]
    log_joint = np.log(joint)
    for log_p, gamma in ((log_joint, gammas[0]), (log_product, gammas[1])):
        if gamma.any():
            with np.errstate(divide="ignore"):
                np.logaddexp(log_p, np.log(gamma)[sample], out=log_p)
    return np.asarray(np.bincount(sample, joint * (log_joint - log_product), samples))


def information_of_counts(
    counts: Integers, entropy: Callable[[Integers], Floats] = plug_in
) -> Floats:
    """Return Σ H(Y_j) − H(Y_1 … Y_n) of each sample, (r,), by an estimator of entropies, nats.

    `counts`, (r, v, …, v), say how often each tuple came in each sample; `entropy` is a function of
    :mod:`core.uncertainty.entropies`.
    """
    axes = range(1, counts.ndim)
    of_one = [counts.sum(axis=tuple(a for a in axes if a != axis)) for axis in axes]
    whole = entropy(counts.reshape(len(counts), -1))
    return np.asarray(sum(entropy(c) for c in of_one) - whole)


def certified_bounds(seen: Booleans, table: Floats) -> Floats:
    """Return the certified lower bound from each set of tuples, (r,), nats.

    Σ_j Z_j I(beginnings seen; Y_j), with Z_j the probability of the beginnings of length j − 1
    that were seen; see :mod:`core.uncertainty.certified_bound`. All next answers are scored after
    each. `seen`, (r, v, …, v), has one tuple at least of each sample; `table`, (v, …, v), is μ.
    """
    total = np.zeros(len(seen))
    for weights, rows in _steps(table):
        came = seen.reshape(len(seen), len(weights), -1).any(axis=2) * weights
        mass = came.sum(axis=1)
        mixed = came @ rows / mass[:, None]
        total += mass * entr(mixed).sum(axis=1) - came @ entr(rows).sum(axis=1)
    return total


def between(counts: Integers, table: Floats) -> tuple[Floats, Floats]:
    """Return L and U of each sample, (r,) and (r,), nats: E L <= I <= E U.

    L = Σ_j [H(M_j) − mean_i H(R_ij)], with R_ij what comes as answer j after the first j − 1
    answers of draw i and M_j the mean of these rows; U = Σ_j mean_i D(R_ij ‖ M_j without R_ij).
    See :mod:`core.uncertainty.confidence_limit`. `counts`, (r, v, …, v), say how often each tuple
    came in each sample; `table`, (v, …, v), is μ. Raises `ValueError` with fewer than two draws.
    """
    draws = counts.reshape(len(counts), -1).sum(axis=1).astype(np.float64)
    lower, upper = np.zeros(len(counts)), np.zeros(len(counts))
    if (draws < 2).any():
        raise ValueError("L and U compare draws with each other: draw two tuples or more.")
    for _, rows in _steps(table):
        came = counts.reshape(len(counts), len(rows), -1).sum(axis=2)
        shares = came / draws[:, None]
        mean = shares @ rows
        lower += entr(mean).sum(axis=1) - shares @ entr(rows).sum(axis=1)
        # Of what was drawn only: other beginnings have no part in the mean.
        at, beginning = np.nonzero(came)
        k = draws[at, None]
        # What rounding leaves of a row that no other draw shares is next to nothing.
        others = np.maximum((k * mean[at] - rows[beginning]) / (k - 1), np.finfo(float).tiny)
        apart = rel_entr(rows[beginning], others).sum(axis=1)
        upper += np.bincount(at, shares[at, beginning] * apart, len(counts))
    return lower, upper


def limit(lower: Floats, draws: int, n: int, confidence: float = CONFIDENCE) -> Floats:
    """Return the lower limit of mutual information that L of k tuples gives, at a confidence.

    One draw moves each of the n − 1 terms of L by at most h(1/k), so all of them by n − 1 times
    that: McDiarmid's inequality, as for pairs in :mod:`core.uncertainty.confidence_limit`. `lower`
    is L, as :func:`between` returns it, nats; k was chosen beforehand.
    """
    return np.maximum(0.0, lower - (n - 1) * allowance(draws, confidence))


def _steps(table: Floats) -> Iterator[tuple[Floats, Floats]]:
    """Yield for j = 2 … n the beginnings' weights, (b,), and answer j after each, (b, v)."""
    shape = table.shape
    for length in range(1, table.ndim):
        beginnings = int(np.prod(shape[:length]))
        joint = table.reshape(beginnings, shape[length], -1).sum(axis=2)
        weights = joint.sum(axis=1)
        # What cannot begin a tuple weighs nothing; its row may be anything.
        rows = joint / np.where(weights > 0, weights, 1.0)[:, None]
        yield weights, np.where(weights[:, None] > 0, rows, 1 / shape[length])
