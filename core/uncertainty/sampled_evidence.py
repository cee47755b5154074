"""The evidence of a model that cannot say how likely a given text is: samples alone.

It stands in the place of :class:`core.uncertainty.evidence.Evidence`, and every score reads
it as it reads that one. Two kinds of model need it, by what their samples say:

- each sample says its own likelihood: :func:`from_chains`, Algorithms 1 and 2 on pairs of a
  first and a second answer, k of 100 or more, adjusted for chance;
- samples say nothing but their text: :func:`from_counted`, frequencies adjusted for chance,
  30 second answers or more after each distinct first answer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike

from core.uncertainty import chance, clustering, validation
from core.uncertainty.joint import MutualInformation, compare
from core.uncertainty.logarithms import entropy, log_normalise, log_sum_exp, without_rounding
from core.uncertainty.mutual_information import from_counts
from core.uncertainty.similarity import pairwise, reordered
from core.uncertainty.validation import Booleans, Floats, Integers

K = TypeVar("K", bound=Hashable)

#: A first answer, and the one given after it was told; each with its log probability, nats.
Chain = tuple[str, str, float, float]

#: Distinct texts, and how alike they are.
Compared = tuple[Sequence[str], ArrayLike]


UNTOLD = "Almost no answer repeated, so dependence cannot be told from chance. Draw more samples."


@dataclass(frozen=True, eq=False, kw_only=True)
class SampledEvidence:
    """Sampled first and second answers to one query, and their clusters.

    There are v distinct texts, first answers or second, and m clusters of them.

    Attributes
    ----------
    responses : tuple of str, (v,)
        In order of falling likelihood as first answers; those that only came second follow, of
        counts by likelihood too, of pairs by how often they came.
    counts : ndarray of int64, (v,)
        How often each was sampled as a first answer; 0 for second answers alone.
    log_marginal : ndarray of float64, (v,)
        ln Q(Y_i|F₀(x)): as the model says, or of the share of the samples; -inf where it
        never came first.
    log_conditionals : ndarray of float64, (v, v)
        Row i: the same of second answers after Y_i was told; -inf where none came.
    complete : ndarray of bool, (v,)
    greedy : str
        The response at temperature zero.
    greedy_log_likelihood : float or None
        ln Q(greedy|F₀(x)), if the model says it.
    verification : mapping of str to (float, float)
        As in `Evidence`; of shares of samples where the model says no more.
    labels : ndarray of int64, (v,)
    mutual_information : MutualInformation
        With (m, m) arrays.
    unstabilised : MutualInformation
        The same for γ = 0.
    log_first : ndarray of float64, (m,)
        ln μ̂₁ of the clusters as first answers, normalised; -inf where none came first.
    log_second_given_first : ndarray of float64, (m, m)
        Row i: ln of the second answer after cluster i was told, normalised; a row of -inf
        where it never came first.
    seconds : ndarray of int64, (m,)
        How many second answers came after each cluster was told.
    untold : str or None
        Why the mutual information cannot be told from what chance alone shows; None if it can.
    sampled_mass : float
        The share of the model's probability that was seen, in [0, 1]: of the pairs of answers,
        the sum of their likelihoods; of counted first answers, Good and Turing's estimate,
        1 - (clusters that came once) / k.
    similarity, threshold, gamma_1, gamma_2
        As in `Evidence`; from counts there is no γ.
    """

    responses: tuple[str, ...]
    counts: Integers
    log_marginal: Floats
    log_conditionals: Floats
    complete: Booleans
    greedy: str
    greedy_log_likelihood: float | None
    verification: Mapping[str, tuple[float, float]]
    labels: Integers
    mutual_information: MutualInformation
    unstabilised: MutualInformation
    log_first: Floats
    log_second_given_first: Floats
    seconds: Integers
    sampled_mass: float
    untold: str | None = None
    similarity: str = "token_f1"
    threshold: float = 0.25
    gamma_1: float = 0.0
    gamma_2: float = 0.0

    @cached_property
    def centres(self) -> Integers:
        """The index of each cluster's centre, its likeliest text, (m,)."""
        return clustering.centres(self.labels)

    @cached_property
    def centre_texts(self) -> tuple[str, ...]:
        """The text that stands for each cluster, (m,)."""
        return tuple(self.responses[i] for i in self.centres)

    @cached_property
    def cluster_counts(self) -> Integers:
        """How many first answers fell into each cluster, (m,)."""
        return _by_cluster(self.counts, self.labels)

    @cached_property
    def cluster_log_marginal(self) -> Floats:
        """ln μ'₁, the likelihood of each cluster as a first answer, (m,)."""
        return clustering.aggregate(self.log_marginal, self.labels)

    @cached_property
    def log_second(self) -> Floats:
        """ln of the second answer by itself, (m,)."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.mutual_information.joint.sum(axis=0)))

    @property
    def likeliest_first(self) -> str:
        """The centre of the most probable first answer."""
        return self.centre_texts[int(self.log_first.argmax())]

    @property
    def likeliest_second(self) -> str:
        """The centre of the most probable second answer."""
        return self.centre_texts[int(self.log_second.argmax())]

    def certified_table(self, *, lumped: bool = False) -> None:
        """Return None: what was not sampled cannot be bounded without exact likelihoods."""
        del lumped


def from_chains(
    chains: Sequence[Chain],
    *,
    greedy: str,
    greedy_log_likelihood: float | None,
    complete: Mapping[str, bool] | None = None,
    verification: Mapping[str, tuple[float, float]] | None = None,
    similarity: str = "token_f1",
    compared: Compared | None = None,
    threshold: float = 0.25,
    gamma_1: float = 0.0,
    gamma_2: float = 0.0,
) -> SampledEvidence:
    """Build evidence from k sampled pairs with their own likelihoods (Algorithms 1 and 2).

    The mutual information is that of Algorithm 2, adjusted for chance, which is not in the
    paper: see :func:`core.uncertainty.chance.adjustment_of_pairs`. Its `plug_in` is Algorithm 2's.

    Parameters
    ----------
    chains : sequence of (str, str, float, float)
        First answer, the answer after it was told, and ln Q of each, in the order drawn. Sampled
        twice, an answer may come with two likelihoods that differ by a server's noise: the first
        counts.
    complete : mapping of str to bool, optional
        Texts that were cut off; all others came to their end.
    compared : (sequence of str, array_like), optional
        All texts, and how alike they are, if something else has judged it: (v,) and (v, v).
    greedy, greedy_log_likelihood, verification, similarity, threshold, gamma_1, gamma_2
        See :class:`SampledEvidence`.

    Raises
    ------
    ValueError
        If there are no chains, or a likelihood is NaN or above 0.
    """
    if not chains:
        raise ValueError("There are no chains: sample at least one pair of answers.")
    validation.log_probabilities([c[2:] for c in chains], "log probabilities of the chains")
    _check(greedy_log_likelihood, verification)
    log_first = _first_seen((a, p) for a, _, p, _ in chains)
    log_pair = _first_seen(((a, b), q) for a, b, _, q in chains)

    firsts = Counter(a for a, *_ in chains)
    texts = sorted({*log_first, *(b for _, b in log_pair)})
    # By nothing that would change if the second answers were dealt on: clusters follow from it.
    as_second = {b: np.log(times) for b, times in Counter(b for _, b, *_ in chains).items()}
    order = _order(texts, log_first, as_second)
    responses = tuple(texts[i] for i in order)
    number = {text: i for i, text in enumerate(responses)}
    marginal = np.array([log_first.get(text, -np.inf) for text in responses])
    rows = np.full((len(responses), len(responses)), -np.inf)
    for (a, b), q in log_pair.items():
        rows[number[a], number[b]] = q

    labels = clustering.cluster(_alike(responses, similarity, compared), threshold)
    log_joint = clustering.aggregate(
        clustering.aggregate(marginal[:, None] + rows, labels, axis=0), labels, axis=1
    )
    validation.normalisable(log_joint, "The likelihoods of the chains")
    log_joint, log_mass = log_normalise(log_joint)
    log_first_of_pairs = log_sum_exp(log_joint, axis=1)[:, None]
    log_second = log_sum_exp(log_joint, axis=0)
    pairs = np.array([(number[a], number[b]) for a, b, *_ in chains])

    of_second = float(entropy(log_second))

    def estimate(gamma_1: float, gamma_2: float) -> tuple[MutualInformation, str | None]:
        gammas = {"gamma_1": gamma_1, "gamma_2": gamma_2}
        plain = compare(log_joint, log_first_of_pairs + log_second, float(log_mass), **gammas)
        by_chance = chance.dealt_estimates(pairs, marginal, rows, labels, **gammas)
        added = chance.adjustment_of_pairs(plain.value, of_second, by_chance)
        adjusted = replace(plain, value=without_rounding(plain.value + added), correction=added)
        return adjusted, None if chance.can_tell(plain.value, of_second, by_chance) else UNTOLD

    unstabilised, untold = estimate(0.0, 0.0)
    return SampledEvidence(
        responses=responses,
        counts=np.array([firsts[text] for text in responses], dtype=np.int64),
        log_marginal=marginal,
        log_conditionals=rows,
        complete=_ended(responses, complete),
        greedy=greedy,
        greedy_log_likelihood=greedy_log_likelihood,
        verification=dict(verification or {}),
        labels=labels,
        mutual_information=estimate(gamma_1, gamma_2)[0] if gamma_1 or gamma_2 else unstabilised,
        unstabilised=unstabilised,
        log_first=log_normalise(clustering.aggregate(marginal, labels))[0],
        log_second_given_first=_given(log_joint, log_first_of_pairs),
        seconds=_by_cluster(np.array([firsts[text] for text in responses]), labels),
        sampled_mass=min(1.0, float(np.exp(log_mass))),
        untold=untold,
        similarity=similarity,
        threshold=threshold,
        gamma_1=gamma_1,
        gamma_2=gamma_2,
    )


def from_counted(
    firsts: Mapping[str, int],
    seconds: Mapping[str, Mapping[str, int]],
    *,
    greedy: str,
    complete: Mapping[str, bool] | None = None,
    verification: Mapping[str, tuple[float, float]] | None = None,
    similarity: str = "token_f1",
    compared: Compared | None = None,
    threshold: float = 0.25,
) -> SampledEvidence:
    """Build evidence from how often answers came, adjusted for chance.

    A cluster's second answers are those after any of its members was told: the same meaning
    was told, and they were paid for.

    Parameters
    ----------
    firsts : mapping of str to int
        How often each distinct first answer came.
    seconds : mapping of str to mapping of str to int
        After each of them was told: how often which second answer came.
    complete, greedy, verification, similarity, compared, threshold
        See :func:`from_chains`.

    Raises
    ------
    ValueError
        If there is no first answer, or one without second answers; if a second answer came
        after what was no first answer; if a count is below 1.
    """
    if not firsts:
        raise ValueError("There are no first answers: sample at least one.")
    if not all(seconds.get(text) for text in firsts):
        raise ValueError("A first answer has no second answers: sample some, or leave it out.")
    if set(seconds) != set(firsts):
        raise ValueError("Second answers are given after a text that was no first answer.")
    if min(*firsts.values(), *(c for row in seconds.values() for c in row.values())) < 1:
        raise ValueError("Counts must be at least 1: leave out what never came.")
    _check(None, verification)
    k = sum(firsts.values())
    share = {text: np.log(count / k) for text, count in firsts.items()}
    texts = list(dict.fromkeys([*firsts, *(b for row in seconds.values() for b in row)]))
    as_second = _sums(
        (b, share[a] + np.log(count / sum(row.values())))
        for a, row in seconds.items()
        for b, count in row.items()
    )
    responses = tuple(texts[i] for i in _order(texts, share, as_second))
    v = len(responses)
    number = {text: i for i, text in enumerate(responses)}
    counts = np.array([firsts.get(text, 0) for text in responses], dtype=np.int64)
    table = np.zeros((v, v))
    for a, row in seconds.items():
        for b, count in row.items():
            table[number[a], number[b]] = count

    labels = clustering.cluster(_alike(responses, similarity, compared), threshold)
    m = int(labels.max()) + 1
    by_cluster = np.zeros((m, m))
    np.add.at(by_cluster, (labels[:, None], labels[None, :]), table)
    came = _by_cluster(counts, labels)
    with np.errstate(divide="ignore", invalid="ignore"):
        rows = np.log(table / np.maximum(table.sum(axis=1, keepdims=True), 1))
        log_rows = np.log(by_cluster / np.maximum(by_cluster.sum(axis=1, keepdims=True), 1))
        log_first = np.log(came / k)
        marginal = np.log(counts / k)
    information = from_counts(came, by_cluster)
    return SampledEvidence(
        responses=responses,
        counts=counts,
        log_marginal=marginal,
        log_conditionals=rows,
        complete=_ended(responses, complete),
        greedy=greedy,
        greedy_log_likelihood=None,
        verification=dict(verification or {}),
        labels=labels,
        mutual_information=information,
        unstabilised=information,
        log_first=log_first,
        log_second_given_first=log_rows,
        seconds=by_cluster.sum(axis=1).astype(np.int64),
        sampled_mass=1 - float((came == 1).sum()) / k,
        similarity=similarity,
        threshold=threshold,
    )


def _by_cluster(counts: Integers, labels: Integers) -> Integers:
    """Return the sum of the counts of each cluster, (m,)."""
    return np.bincount(labels, counts).astype(np.int64)


def _alike(responses: Sequence[str], similarity: str, compared: Compared | None) -> Floats:
    return reordered(responses, *compared) if compared else pairwise(responses, similarity)


def _first_seen(items: Iterable[tuple[K, float]]) -> dict[K, float]:
    """Return each key with the first of its values."""
    found: dict[K, float] = {}
    for key, value in items:
        found.setdefault(key, value)
    return found


def _sums(items: Iterable[tuple[str, float]]) -> dict[str, float]:
    """Return the logarithm of each key's summed probabilities."""
    found: dict[str, float] = {}
    for key, value in items:
        found[key] = float(np.logaddexp(found.get(key, -np.inf), value))
    return found


def _order(
    texts: Sequence[str], as_first: Mapping[str, float], as_second: Mapping[str, float]
) -> Integers:
    """Return the order of falling likelihood as first answers, then as second ones."""
    first = np.array([as_first.get(text, -np.inf) for text in texts])
    second = np.array([as_second.get(text, -np.inf) for text in texts])
    return np.lexsort((-second, -first)).astype(np.int64)


def _ended(responses: Sequence[str], complete: Mapping[str, bool] | None) -> Booleans:
    return np.array([(complete or {}).get(text, True) for text in responses], dtype=bool)


def _given(log_joint: Floats, log_sums: Floats) -> Floats:
    """Return a joint's rows, each divided by its sum; -inf where that is 0."""
    # A row without mass is all -inf already: it may be divided by anything, so by 1.
    return np.asarray(log_joint - np.where(np.isneginf(log_sums), 0.0, log_sums))


def _check(greedy: float | None, verification: Mapping[str, tuple[float, float]] | None) -> None:
    """Refuse likelihoods that are none, as `Evidence` does."""
    if greedy is not None:
        validation.finite_log(greedy, "greedy_log_likelihood")
    for text, both in (verification or {}).items():
        for value in both:
            validation.finite_log(value, f"The verification of {text!r}")
