"""How far two answers to one query depend on each other: the paper's epistemic score.

A model that knows says the same whatever answer its prompt suggests, so that answers are
independent; a model that does not know repeats the suggestion. From what a back end can do:

- it scores any text: :func:`from_conditionals` (Algorithm 3), :func:`certified_lower_bound`
- it scores its own samples: :func:`from_tuples` (Algorithms 1 and 2); of pairs, adjusted for
  chance, in :func:`core.uncertainty.sampled_evidence.from_chains`
- it only samples: :func:`from_counts`
- it is a known table: :func:`core.uncertainty.joint.from_table`

Estimates can exceed the exact value, most at small k and small γ. Lower bounds are
:func:`core.uncertainty.missing_mass.theorem_bound` (the paper's, of missing mass),
:func:`certified_lower_bound` and :mod:`core.uncertainty.confidence_limit`.
"""

import numpy as np
from numpy.typing import ArrayLike

from core.uncertainty import validation
from core.uncertainty.certified_bound import certified_lower_bound
from core.uncertainty.chance import adjustment_of_counts
from core.uncertainty.clustering import aggregate
from core.uncertainty.joint import MutualInformation, compare, from_rows
from core.uncertainty.logarithms import log_normalise
from core.uncertainty.tuples import ClusteredTuples, Tuples, cluster_tuples, deduplicate, encode

__all__ = [
    "ClusteredTuples",
    "MutualInformation",
    "certified_lower_bound",
    "cluster_tuples",
    "from_conditionals",
    "from_counts",
    "from_tuples",
]


def from_tuples(
    tuples: Tuples, log_probabilities: ArrayLike, *, gamma_1: float = 0.0, gamma_2: float = 0.0
) -> MutualInformation:
    """Estimate from sampled tuples and their probabilities (Algorithm 1, Section 4.1).

    Algorithm 2 (Section 4.2) is the same with the labels and log probabilities of
    :func:`cluster_tuples`. There is one entry for each distinct tuple, (u,), in the order first
    seen. For γ = 0 the value is at least 0 and at most ΣH_i - max H_i over the coordinates'
    entropies; it is 0 for independent answers only if the tuples form a full product.

    Raises `ValueError` if the tuples are empty, ragged, shorter than 2 or do not fit the
    probabilities; if a repeated tuple has two probabilities; if there is NaN, a positive logarithm,
    no mass, or a negative γ.

    `tuples`, (k, n): n >= 2. A repeated tuple counts once.
    `log_probabilities`, (k,): the log probability of each tuple under the pseudo joint
    distribution, in nats.
    `gamma_1, gamma_2`: the stabilisation parameters, at least 0; the paper often takes 1/k.
    """
    codes = encode(tuples)
    sampled = validation.log_probabilities(log_probabilities, "log_probabilities", dimensions=1)
    validation.shape(sampled, (len(codes),), "log_probabilities")
    validation.normalisable(sampled, "log_probabilities")

    first = deduplicate(codes, sampled)
    log_joint, log_mass = log_normalise(sampled[first])
    # The marginal of a coordinate: all the distinct tuples with the same answer there.
    log_product = np.zeros_like(log_joint)
    for answers in codes[first].T:
        log_product += aggregate(log_joint, answers)[answers]
    return compare(log_joint, log_product, float(log_mass), gamma_1=gamma_1, gamma_2=gamma_2)


def from_conditionals(
    log_marginal: ArrayLike,
    log_conditionals: ArrayLike,
    *,
    gamma_1: float = 0.0,
    gamma_2: float = 0.0,
) -> MutualInformation:
    """Estimate from the likelihoods of every answer after every answer (Algorithm 3, Section 6).

    The arrays are (m, m), rows the first answer; `log_mass` is ln Z, the sampled mass. For γ = 0,
    0 <= value <= min(H(first), H(second)) <= ln m.

    Raises `ValueError` if shapes do not fit; if there is NaN, a positive logarithm, a marginal or a
    row without mass, or a negative γ.

    `log_marginal`, (m,): ln μ'₁(i) = ln Q(i|F₀(x)) of each cluster, in nats; need not be
    normalised.
    `log_conditionals`, (m, m): row i, column t: ln μ'₂(t|i) = ln Q(t|F₁(x, i)), in nats; need not
    be normalised.
    `gamma_1, gamma_2`: the stabilisation parameters, at least 0; the paper's experiments take 0.
    """
    marginal = validation.log_probabilities(log_marginal, "log_marginal", dimensions=1)
    rows = validation.log_probabilities(log_conditionals, "log_conditionals", dimensions=2)
    validation.shape(rows, (marginal.size, marginal.size), "log_conditionals")
    validation.normalisable(marginal, "log_marginal")
    validation.normalisable(rows, "log_conditionals", axis=1)

    log_first, log_mass = log_normalise(marginal)
    log_rows, _ = log_normalise(rows, axis=1)
    return from_rows(log_first, log_rows, float(log_mass), gamma_1=gamma_1, gamma_2=gamma_2)


def from_counts(first_counts: ArrayLike, second_counts: ArrayLike) -> MutualInformation:
    """Estimate from how often answers came, for a back end without probabilities.

    Not in the paper. Ask for at least 30 second answers after each distinct first answer:
    fewer leave little to tell dependence from chance by. The arrays are (m, c), rows weighted by
    how often the first answer came; ``value = plug_in + correction`` may be negative. `log_mass`
    is the logarithm of the number of first answers.

    Raises `ValueError` if shapes do not fit; if a count is NaN, negative or no whole number; if
    there is no first answer, or a first answer without second answers.

    `first_counts`, (m,): how often each distinct first answer came.
    `second_counts`, (m, c): row i: how often each second answer came after first answer i was told.

    Counts make an entropy too small, and a row's more than the mixture's: the plug-in
    information is too large. The correction takes away what the same answers would show if they
    were dealt to the rows at random (see :func:`core.uncertainty.chance.adjustment_of_counts`).
    So the score of a model that knows is centred on 0, however many answers there are. Few first
    answers miss some that a dependent model would give, and make its score too low.
    """
    first = validation.counts(first_counts, "first_counts", dimensions=1)
    second = validation.counts(second_counts, "second_counts", dimensions=2)
    validation.shape(second, (first.size, second.shape[1]), "second_counts")
    came = first > 0
    if not came.any():
        raise ValueError("first_counts are all 0: sample at least one first answer.")
    draws = second.sum(axis=1)
    if (draws[came] == 0).any():
        raise ValueError("A first answer has no second answers: sample some, or leave it out.")

    weights = first / first.sum()
    added = adjustment_of_counts(weights[came], second[came])
    # A first answer that never came weighs nothing; its row may be anything, so 0 / 1.
    with np.errstate(divide="ignore"):
        log_first = np.log(weights)
        log_rows = np.log(second / np.maximum(draws, 1)[:, None])
    return from_rows(log_first, log_rows, float(np.log(first.sum())), correction=added)
