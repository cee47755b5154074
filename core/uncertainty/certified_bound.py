"""A lower bound of a model's mutual information that no sample can break.

From the exact likelihoods of any distinct texts X_i, however they were found, with
Z₁ = Σ Q(X_i|x) and first-answer weights Q(X_i|x) / Z₁,

    I(Q̃) >= Z₁ · I(weights, rows Q(·|F₁(x, X_i)) completed by "anything else").

*Why.* Let E say whether the first answer is among the X_i. E is a function of the first
answer, so I(Y₁; Y₂) = I(E; Y₂) + I(Y₁; Y₂|E) >= Z₁ · I(Y₁; Y₂|E = 1). Counting all other
second answers as one outcome can only lose information (data processing).

There is no sampling error in it and no confidence level. By the paper's Theorem 4.5 it also
bounds the epistemic divergence D(Q̃, P̃), if only right answers are independent.
"""

import numpy as np
from numpy.typing import ArrayLike

from core.uncertainty import validation
from core.uncertainty.clustering import aggregate
from core.uncertainty.joint import from_rows
from core.uncertainty.logarithms import log_normalise, log_sum_exp
from core.uncertainty.validation import Floats, Integers

#: By how much rounding can lift a sum of probabilities above 1: models compute in half precision.
ROUNDING = 1e-2


def certified_lower_bound(log_marginal: ArrayLike, log_conditionals: ArrayLike) -> float:
    """Return a certain lower bound of the model's mutual information, nats, in [0, ln r].

    Raises `ValueError` if shapes do not fit, there is NaN, no mass, or any probabilities of
    distinct answers add up to more than 1 and `ROUNDING`; what is within it is normalised.

    `log_marginal`, (r,): ln Q(X_i|x) of distinct texts, in nats: likelihoods of whole answers, not
    normalised.
    `log_conditionals`, (r, c): row i: ln Q(X_t|F₁(x, X_i)) of distinct texts, in nats; rows sum to
    at most 1.
    """
    marginal, rows = _table(log_marginal, log_conditionals)
    log_first, log_mass = log_normalise(marginal)
    _at_most_one(log_mass, "The likelihoods of the distinct answers")
    information = from_rows(log_first, complete(rows), float(log_mass))
    return float(np.exp(np.minimum(log_mass, 0.0))) * information.value


def complete(log_rows: Floats) -> Floats:
    """Add “anything else” to rows, (r, c), that add up to at most 1 and `ROUNDING`: (r, c + 1)."""
    log_covered = log_sum_exp(log_rows, axis=1)
    _at_most_one(log_covered, "The conditional likelihoods of one row")
    # Rounding may cover a little more than all.
    with np.errstate(divide="ignore"):
        log_rest = np.log(-np.expm1(np.minimum(log_covered, 0.0)))
    return log_normalise(np.column_stack([log_rows, log_rest]), axis=1)[0]


def lump(
    log_marginal: ArrayLike, log_conditionals: ArrayLike, labels: ArrayLike
) -> tuple[Floats, Floats]:
    """Count all the answers of a cluster as one outcome, rows and columns alike: (m,) and (m, m).

    The row of a cluster is the mixture of its members' rows with the members' weights: what
    the model says after *some* answer of the cluster. (Algorithm 3 conditions on the centre
    instead; the bound would not hold for that.)

    Raises `ValueError` if shapes do not fit, there is NaN, a cluster has no mass, or the
    likelihoods of its answers add up to more than 1.

    `log_marginal, log_conditionals`, (r,) and (r, r): see :func:`certified_lower_bound`, which
    takes what is returned.
    `labels`, (r,): 0..m-1, all in use.
    """
    marginal, rows = _table(log_marginal, log_conditionals)
    validation.shape(rows, (marginal.size, marginal.size), "log_conditionals")
    clusters = validation.labels(labels, length=marginal.size)
    lumped = aggregate(marginal, clusters)
    validation.normalisable(lumped[:, None], "log_marginal", axis=1)
    weights = marginal - lumped[clusters]
    _at_most_one(lumped, "The likelihoods of a cluster’s answers to the question")
    mixed = aggregate(weights[:, None] + rows, clusters, 0)
    return np.minimum(lumped, 0.0), lump_seconds(mixed, clusters)


def lump_seconds(log_rows: Floats, labels: Integers) -> Floats:
    """Count all the second answers of a cluster as one outcome: columns alone, (r, m).

    Raises `ValueError` if the likelihoods of a cluster's answers add up to more than 1 and
    `ROUNDING`.
    """
    lumped = aggregate(log_rows, labels, axis=1)
    _at_most_one(lumped, "The likelihoods of a cluster’s answers to the prompt with one of them")
    return np.minimum(lumped, 0.0)


def _table(log_marginal: ArrayLike, log_conditionals: ArrayLike) -> tuple[Floats, Floats]:
    marginal = validation.log_probabilities(log_marginal, "log_marginal", dimensions=1)
    rows = validation.log_probabilities(log_conditionals, "log_conditionals", dimensions=2)
    validation.normalisable(marginal, "log_marginal")
    validation.shape(rows, (marginal.size, rows.shape[1]), "log_conditionals")
    return marginal, rows


def _at_most_one(log_sums: Floats, name: str) -> None:
    if log_sums.max() > np.log1p(ROUNDING):
        raise ValueError(
            f"{name} add up to {np.exp(log_sums.max()):.4g}, which is more than 1, even after the "
            "rounding of half precision: score distinct, complete answers, each with its end."
        )
