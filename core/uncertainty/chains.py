"""Chains of n answers, each given after all before it were told: what the later ones add.

The information of n answers is D(joint, product of the marginals), as in the paper's Section 4.
By the chain rule it is Σ_j I(Y₁ … Y_{j−1}; Y_j): it never falls as chains grow, and each answer
adds at most its own entropy.
"""

from collections.abc import Sequence

import numpy as np

from core.uncertainty import tuples, validation
from core.uncertainty.chance import IMPOSSIBLE
from core.uncertainty.clustering import aggregate
from core.uncertainty.joint import MutualInformation, from_table
from core.uncertainty.logarithms import entropy, log_normalise, log_sum_exp
from core.uncertainty.mutual_information import from_tuples
from core.uncertainty.validation import Floats, Integers


def informations(
    log_first: Floats, log_nexts: Sequence[Floats], **gammas: float
) -> tuple[MutualInformation, ...]:
    """Return Algorithm 3 for chains of 2, 3, … n answers, from every answer after every chain.

    For γ = 0, no value is below the one before it, and the first is that of
    :func:`core.uncertainty.mutual_information.from_conditionals`.

    Raises `ValueError` if shapes do not fit, or anything cannot be normalised.

    `log_first`, (m,): ln Q(i|F₀(x)) of each cluster, in nats; need not be normalised.
    `log_nexts`, (m, m, m): ln Q of the last index after the earlier ones were told in their order;
    need not be normalised.
    `**gammas`: ``gamma_1`` and ``gamma_2``, at least 0.
    """
    validation.normalisable(log_first, "log_first")
    joint = log_normalise(log_first)[0]
    values = []
    for rows in log_nexts:
        validation.shape(rows, (len(log_first),) * (joint.ndim + 1), "log_nexts")
        validation.normalisable(rows, "log_nexts", axis=-1)
        joint = joint[..., None] + log_normalise(rows, axis=-1)[0]
        values.append(from_table(joint, **gammas))
    return tuple(values)


def largest(information: MutualInformation) -> float:
    """Return what the information of a table can be at most, ΣH_i − max H_i, nats (for γ = 0)."""
    axes = range(information.joint.ndim)
    entropies = []
    with np.errstate(divide="ignore"):
        for own in axes:
            p = information.joint.sum(axis=tuple(axis for axis in axes if axis != own))
            entropies.append(float(entropy(np.log(p))))
    return sum(entropies) - max(entropies)


def deal(codes: Integers, log_steps: Floats, labels: Integers, **gammas: float) -> Floats:
    """Return Algorithm 2's estimate where answers are dealt on to other chains, (ways,), nats.

    As :func:`core.uncertainty.chance.dealt_estimates`, which it equals for n = 2: the s-th way
    gives each chain the j-th answer of the chain (j − 1)·s places on. Ways that would leave two
    answers of one chain together are left out.

    `codes`, (k, n): the texts of each chain, in the order drawn.
    `log_steps`, (k, n): ln Q of each answer after those before it.
    `labels`, (v,): the cluster of each text.
    """
    k, n = codes.shape
    as_answer = [_after_any(codes, log_steps, place) for place in range(n)]
    estimates = []
    for way in range(1, k):
        if any(way * apart % k == 0 for apart in range(1, n)):
            continue
        rows = np.stack([np.roll(codes[:, j], -way * j) for j in range(n)], axis=1)
        rows = rows[tuples.distinct(tuples.encode(rows))]
        log_p = sum((as_answer[j][rows[:, j]] for j in range(n)), np.zeros(len(rows)))
        estimates.append(estimate(labels[rows], log_p, **gammas).value)
    return np.array(estimates)


def estimate(labels: Integers, log_p: Floats, **gammas: float) -> MutualInformation:
    """Return Algorithm 2's estimate of distinct chains of texts, by the clusters of their answers.

    `labels`, (u, n), are these clusters; `log_p`, (u,), is ln of each chain's probability, not
    normalised.
    """
    cells, cell = np.unique(labels, axis=0, return_inverse=True)
    added = aggregate(log_p, cell.ravel())
    # Dealt chains may add up to more than 1: what all are divided by does not matter here.
    return from_tuples(cells, added - max(0.0, float(added.max())), **gammas)


def _after_any(codes: Integers, log_steps: Floats, place: int) -> Floats:
    """Return ln Q of each text as the answer in a place: the mean over what it came after, (v,)."""
    first = np.unique(codes[:, : place + 1], axis=0, return_index=True)[1]
    before = np.maximum(log_steps[first, :place].sum(axis=1), IMPOSSIBLE)
    texts = codes[first, place]
    totals = np.full(int(codes.max()) + 1, -np.inf)
    for text in np.unique(texts):
        of = texts == text
        totals[text] = log_sum_exp(before[of] + log_steps[first[of], place]) - log_sum_exp(
            before[of]
        )
    return totals
