"""Sampled tuples of answers (Y_1, …, Y_n): which are distinct, and which mean the same."""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, count
from operator import itemgetter

import numpy as np
from numpy.typing import ArrayLike, NDArray

from core.uncertainty import clustering, similarity, validation
from core.uncertainty.validation import Floats, Integers

Tuples = Sequence[Sequence[Hashable]] | NDArray[np.integer]

#: How far the scores of one tuple that was sampled twice may differ, in nats: batching noise.
SCORING_NOISE = 1e-3


@dataclass(frozen=True, eq=False)
class ClusteredTuples:
    """Tuples after step 4 of the paper's Algorithm 2, ready for ``from_tuples``."""

    labels: Integers  # (u, n): the distinct tuples of cluster labels
    # (u,): the log probability of each, in nats: of all the tuples that fell together.
    log_probabilities: Floats
    # (v,): every text of any coordinate, in order of falling likelihood.
    vocabulary: tuple[str, ...]
    vocabulary_labels: Integers  # (v,): the cluster of each text


def encode(tuples: Tuples) -> Integers:
    """Replace the answers of each coordinate, anything hashable, by numbers: (k, n).

    Two entries of one column are equal exactly if the answers are; every column uses all the
    numbers from 0 on. Raises `ValueError` if there are no tuples, tuples differ in length, or have
    fewer than two coordinates.
    """
    if isinstance(tuples, np.ndarray) and tuples.ndim == 2 and tuples.dtype.kind in "iu":
        columns = [np.unique(column, return_inverse=True)[1] for column in tuples.T]
    else:
        rows = tuples.tolist() if isinstance(tuples, np.ndarray) else tuples
        columns = [_numbers(map(itemgetter(j), rows)) for j in range(_length(rows))]
    if len(columns) < 2 or not columns[0].size:
        raise ValueError("tuples must hold at least one tuple of two or more answers.")
    return np.stack(columns, axis=1).astype(np.int64)


def _length(rows: Sequence[Sequence[Hashable]]) -> int:
    """Return the one length all the rows have; a text is no row, though it has a length."""
    kinds = set(map(type, rows))
    if any(issubclass(kind, str) or not issubclass(kind, Sequence | np.ndarray) for kind in kinds):
        raise ValueError("tuples must be a sequence of tuples of answers, not of single answers.")
    lengths = set(map(len, rows))
    if len(lengths) > 1:
        raise ValueError(f"tuples must all have one length, but have lengths {sorted(lengths)}.")
    return lengths.pop() if lengths else 0


def _numbers(values: Iterable[Hashable]) -> Integers:
    """Number `values` in the order first seen."""
    number: defaultdict[Hashable, int] = defaultdict(count().__next__)
    return np.fromiter(map(number.__getitem__, values), dtype=np.int64)


def distinct(codes: Integers) -> Integers:
    """Return the index of the first occurrence of each distinct row, rising: the paper's set U."""
    # One integer for each row, like the digits of a number: sorting k integers is far
    # quicker than sorting k rows. Re-numbered wherever the next digit would not fit.
    keys, size = codes[:, 0], int(codes[:, 0].max()) + 1
    for column in codes.T[1:]:
        base = int(column.max()) + 1
        if size * base > np.iinfo(np.int64).max:
            keys = np.unique(keys, return_inverse=True)[1].astype(np.int64)
            size = int(keys.max()) + 1
        keys, size = keys * base + column, size * base
    in_order = np.sort(keys)
    if (in_order[1:] != in_order[:-1]).all():  # no repeats: spare the slower sort of indices
        return np.arange(len(keys))
    return np.sort(np.unique(keys, return_index=True)[1]).astype(np.int64)


def deduplicate(codes: Integers, log_probabilities: Floats) -> Integers:
    """Return :func:`distinct`, once sure that equal tuples come with equal probabilities.

    Raises `ValueError` if a repeated tuple has two log probabilities further apart than
    `SCORING_NOISE`.
    """
    first = distinct(codes)
    if len(first) < len(codes):
        # Sorted lexicographically, equal rows stand together and so do their probabilities.
        order = np.lexsort(codes.T)
        same = (codes[order][1:] == codes[order][:-1]).all(axis=1)
        sorted_log = log_probabilities[order]
        # Equality first: -inf minus -inf would be NaN.
        before, after = sorted_log[:-1][same], sorted_log[1:][same]
        if (np.abs(after[after != before] - before[after != before]) > SCORING_NOISE).any():
            raise ValueError(
                "A repeated tuple comes with two different probabilities: score each distinct "
                "tuple once, and merge tuples of clusters with cluster_tuples first."
            )
    return first


def cluster_tuples(
    tuples: Sequence[Sequence[str]],
    log_probabilities: ArrayLike,
    *,
    threshold: float = 0.25,
    method: str = similarity.DEFAULT,
) -> ClusteredTuples:
    """Cluster the texts of all coordinates, then merge tuples (step 4 of Algorithm 2).

    One vocabulary serves every coordinate: a text is in the same cluster wherever it
    stands. A text is as likely as all the distinct tuples it stands in, once for each place.
    A repeated tuple counts once. `log_probabilities`, (k,), are in nats; the threshold is the
    paper's τ, and the method a key of ``similarity.SIMILARITIES``.

    Raises `ValueError` on bad input, as :func:`encode`, :func:`deduplicate`,
    ``similarity.pairwise`` and ``clustering.cluster`` do.
    """
    codes = encode(tuples)
    log_p = validation.log_probabilities(log_probabilities, "log_probabilities", dimensions=1)
    validation.shape(log_p, (len(codes),), "log_probabilities")
    first = deduplicate(codes, log_p)
    log_p = log_p[first]

    # One number for each text, whatever its coordinate; then texts by falling likelihood.
    places = list(chain.from_iterable(tuples[i] for i in first))
    texts = list(dict.fromkeys(places))
    n = codes.shape[1]
    numbers = _numbers(places)
    order = clustering.likelihood_order(clustering.aggregate(np.repeat(log_p, n), numbers))

    vocabulary = tuple(texts[i] for i in order)
    by_rank = clustering.cluster(similarity.pairwise(vocabulary, method), threshold)
    labels = by_rank[np.argsort(order)][numbers].reshape(-1, n)

    group = _numbers(map(tuple, labels.tolist()))
    return ClusteredTuples(
        labels=labels[clustering.centres(group)],
        log_probabilities=clustering.aggregate(log_p, group),
        vocabulary=vocabulary,
        vocabulary_labels=by_rank,
    )
