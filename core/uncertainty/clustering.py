"""Answers that are alike enough share a cluster, and their likelihoods add up.

Step 4 of the paper's Algorithms 2 and 3. The paper's clusters D(i) may overlap, which would
count probability twice; here every answer belongs to exactly one.
"""

import numpy as np
from numpy.typing import ArrayLike

from core.uncertainty import validation
from core.uncertainty.validation import Floats, Integers


def likelihood_order(log_likelihoods: ArrayLike) -> Integers:
    """Return the indices, (n,), that put answers in order of falling likelihood; ties keep theirs.

    Raises `ValueError` if there are none, or one is NaN.
    """
    values = validation.numbers(log_likelihoods, "log_likelihoods", dimensions=1)
    return np.argsort(-values, kind="stable").astype(np.int64)


def cluster(similarity_matrix: ArrayLike, threshold: float) -> Integers:
    """Return each answer's label, (n,); they come in order of falling likelihood, as centres do.

    Each answer joins the most similar centre at or above the threshold (of several equally
    similar ones, the earliest), or becomes a centre itself. So a centre is the likeliest
    answer of its cluster.

    Raises `ValueError` if the matrix is empty, not square, NaN or outside [0, 1], or the threshold
    is.

    `similarity_matrix`, (n, n): in [0, 1]; entry (i, j) is how alike answers i and j are. Of an
    asymmetric matrix only the lower triangle is read: a later answer's likeness to an earlier
    centre.
    `threshold`: the paper's τ, in [0, 1]; the paper takes 0.25.
    """
    similarity = validation.numbers(similarity_matrix, "The similarity matrix", dimensions=2)
    validation.shape(similarity, (len(similarity), len(similarity)), "The similarity matrix")
    if similarity.min() < 0 or similarity.max() > 1:
        raise ValueError("The similarity matrix must lie between 0 and 1: divide it by its range.")
    validation.threshold(threshold)

    centre_indices: list[int] = []
    labels = np.empty(len(similarity), dtype=np.int64)
    for answer, row in enumerate(similarity):
        to_centres = row[centre_indices]
        nearest = int(to_centres.argmax()) if centre_indices else 0  # argmax: the earliest of ties
        if not centre_indices or to_centres[nearest] < threshold:
            nearest = len(centre_indices)
            centre_indices.append(answer)
        labels[answer] = nearest
    return labels


def centres(labels: ArrayLike) -> Integers:
    """Return the index of each cluster's first member: its centre, as :func:`cluster` labels."""
    return np.unique(validation.labels(labels), return_index=True)[1].astype(np.int64)


def aggregate(log_likelihoods: ArrayLike, labels: ArrayLike, axis: int = -1) -> Floats:
    """Add up the likelihoods within each cluster, on logarithms; m entries along the axis remain.

    Raises `ValueError` if there is NaN, or the labels do not fit the axis.

    `log_likelihoods`: in nats, with n entries along `axis`; -inf is probability 0.
    `labels`, (n,): 0..m-1, all in use.
    """
    values = validation.numbers(log_likelihoods, "log_likelihoods")
    if not -values.ndim <= axis < values.ndim:
        raise ValueError(f"log_likelihoods has no axis {axis}: it has {values.ndim} dimension(s).")
    groups = validation.labels(labels, length=values.shape[axis])
    members = np.moveaxis(values, axis, 0)
    # Scaled by the likeliest member of each cluster, so that no exponential underflows that
    # matters; a cluster of probability 0 has none, and any finite scale does.
    peak = np.full((groups.max() + 1, *members.shape[1:]), -np.inf)
    np.maximum.at(peak, groups, members)
    peak[np.isneginf(peak)] = 0
    total = np.zeros_like(peak)
    np.add.at(total, groups, np.exp(members - peak[groups]))
    with np.errstate(divide="ignore"):
        return np.moveaxis(np.log(total) + peak, 0, axis)


def counts(numbers: Integers, labels: Integers) -> Integers:
    """Return the sum of the numbers of each cluster, (m,)."""
    return np.bincount(labels, numbers).astype(np.int64)
