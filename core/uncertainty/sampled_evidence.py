"""The evidence of a model that cannot say how likely a given text is: samples alone.

Two kinds of model need it, by what their samples say:

- each sample says its own likelihood: :func:`from_chains`, Algorithms 1 and 2 on pairs of a
  first and a second answer, k of 100 or more, adjusted for chance;
- samples say nothing but their text: :func:`from_tallies`, frequencies adjusted for chance,
  30 second answers or more after each distinct first answer.
"""

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

import numpy as np

from core.uncertainty import chance, validation
from core.uncertainty.clustering import aggregate, counts
from core.uncertainty.evidence import ComparedTuples, Evidence, Hyperparameters
from core.uncertainty.joint import MutualInformation, from_table
from core.uncertainty.logarithms import entropy, log_normalise, log_sum_exp, without_rounding
from core.uncertainty.mutual_information import from_counts
from core.uncertainty.validation import Booleans, Floats, Integers

K = TypeVar("K", bound=Hashable)

#: A first answer, and the one given after it was told; each with its log probability, nats.
Chain = tuple[str, str, float, float]

CHANCE_NOTE = (
    "Almost no answer repeated, so dependence cannot be told from chance. Draw more samples."
)


def from_chains(
    chains: Sequence[Chain],
    *,
    greedy: str,
    greedy_log_likelihood: float | None,
    complete: Mapping[str, bool] | None = None,
    verification: Mapping[str, tuple[float, float]] | None = None,
    parameters: Hyperparameters | None = None,
    compared: ComparedTuples | None = None,
) -> Evidence:
    """Build evidence from k sampled pairs with their own likelihoods (Algorithms 1 and 2).

    The mutual information is that of Algorithm 2, adjusted for chance, which is not in the
    paper: see :func:`core.uncertainty.chance.adjustment_of_pairs`. Its `plug_in` is Algorithm 2's.

    Raises `ValueError` if there are no chains, or a likelihood is NaN or above 0.

    `chains`: first answer, the answer after it was told, and ln Q of each, in the order drawn.
    Sampled twice, an answer may come with two likelihoods that differ by a server's noise: the
    first counts.
    `complete`: texts that were cut off; all others came to their end.
    `greedy, greedy_log_likelihood, verification, parameters, compared`: see :meth:`Evidence.build`.
    """
    if not chains:
        raise ValueError("There are no chains: sample at least one pair of answers.")
    validation.log_probabilities([c[2:] for c in chains], "log probabilities of the chains")
    parameters = parameters or Hyperparameters()
    responses, marginal, rows = _likelihoods(chains)
    labels = parameters.cluster(responses, compared)
    number = {text: i for i, text in enumerate(responses)}
    pairs = np.array([(number[a], number[b]) for a, b, *_ in chains])
    sampled = np.bincount(pairs[:, 0], minlength=len(responses))

    unstabilised, chance_note = _estimate(pairs, marginal, rows, labels, {})
    information = unstabilised
    if gammas := parameters.gammas:
        information, _ = _estimate(pairs, marginal, rows, labels, gammas)
    log_joint = log_normalise(_of_clusters(marginal, rows, labels))[0]
    log_sums = log_sum_exp(log_joint, axis=1)[:, None]
    with np.errstate(divide="ignore"):
        log_second = np.log(information.joint.sum(axis=0))
    return Evidence(
        responses=responses,
        counts=sampled,
        log_marginal=marginal,
        log_conditionals=rows,
        complete=_ends(responses, complete),
        greedy=greedy,
        greedy_log_likelihood=greedy_log_likelihood,
        verification=dict(verification or {}),
        labels=labels,
        parameters=parameters,
        mutual_information=information,
        unstabilised=unstabilised,
        log_first=log_normalise(aggregate(marginal, labels))[0],
        # A row without mass is all -inf already: it may be divided by anything, so by 1.
        log_second_given_first=log_joint - np.where(np.isneginf(log_sums), 0.0, log_sums),
        log_second=log_second,
        sampled_mass=min(1.0, float(np.exp(information.log_mass))),
        second_counts=counts(sampled, labels),
        chance_note=chance_note,
    )


def _likelihoods(chains: Sequence[Chain]) -> tuple[tuple[str, ...], Floats, Floats]:
    """Return the distinct texts in order, ln Q of each, (v,), and after each, (v, v)."""
    log_first = _first_values((a, p) for a, _, p, _ in chains)
    log_pair = _first_values(((a, b), q) for a, b, _, q in chains)
    texts = sorted({*log_first, *(b for _, b in log_pair)})
    # By nothing that would change if the second answers were dealt on: clusters follow from it.
    as_second = {b: np.log(times) for b, times in Counter(b for _, b, *_ in chains).items()}
    responses = _order(texts, log_first, as_second)
    number = {text: i for i, text in enumerate(responses)}
    rows = np.full((len(responses), len(responses)), -np.inf)
    for (a, b), q in log_pair.items():
        rows[number[a], number[b]] = q
    return responses, np.array([log_first.get(text, -np.inf) for text in responses]), rows


def _of_clusters(marginal: Floats, rows: Floats, labels: Integers) -> Floats:
    """Return step 4 of Algorithm 2: ln of the pairs' likelihoods by cluster, (m, m)."""
    return aggregate(aggregate(marginal[:, None] + rows, labels, axis=0), labels, axis=1)


def _estimate(
    pairs: Integers, marginal: Floats, rows: Floats, labels: Integers, gammas: dict[str, float]
) -> tuple[MutualInformation, str | None]:
    """Return Algorithm 2's estimate, adjusted for chance, and why it means nothing if so."""
    plain = from_table(_of_clusters(marginal, rows, labels), **gammas)
    with np.errstate(divide="ignore"):
        of_second = float(entropy(np.log(plain.joint.sum(axis=0))))
    dealt = chance.dealt_estimates(pairs, marginal, rows, labels, **gammas)
    added = chance.adjustment_of_pairs(plain.value, of_second, dealt)
    adjusted = replace(plain, value=without_rounding(plain.value + added), correction=added)
    return adjusted, None if chance.can_tell(plain.value, of_second, dealt) else CHANCE_NOTE


def from_tallies(
    firsts: Mapping[str, int],
    seconds: Mapping[str, Mapping[str, int]],
    *,
    greedy: str,
    complete: Mapping[str, bool] | None = None,
    verification: Mapping[str, tuple[float, float]] | None = None,
    parameters: Hyperparameters | None = None,
    compared: ComparedTuples | None = None,
) -> Evidence:
    """Build evidence from how often answers came, adjusted for chance.

    `firsts` counts each distinct first answer, `seconds` which second answers came after it was
    told; all else as in :func:`from_chains`. A cluster's second answers are those after any of its
    members was told: the same meaning was told, and they were paid for.

    Raises `ValueError` if there is no first answer, or one without second answers; if a second
    answer came after what was no first answer; if a count is below 1.
    """
    if not firsts:
        raise ValueError("There are no first answers: sample at least one.")
    if not all(seconds.get(text) for text in firsts):
        raise ValueError("A first answer has no second answers: sample some, or leave it out.")
    if set(seconds) != set(firsts):
        raise ValueError("Second answers are given after a text that was no first answer.")
    if min(*firsts.values(), *(c for row in seconds.values() for c in row.values())) < 1:
        raise ValueError("Counts must be at least 1: leave out what never came.")
    parameters = parameters or Hyperparameters()
    k = sum(firsts.values())
    share = {text: np.log(count / k) for text, count in firsts.items()}
    texts = list(dict.fromkeys([*firsts, *(b for row in seconds.values() for b in row)]))
    as_second = _sums(
        (b, share[a] + np.log(count / sum(row.values())))
        for a, row in seconds.items()
        for b, count in row.items()
    )
    responses = _order(texts, share, as_second)
    v = len(responses)
    number = {text: i for i, text in enumerate(responses)}
    sampled = np.array([firsts.get(text, 0) for text in responses], dtype=np.int64)
    table = np.zeros((v, v))
    for a, row in seconds.items():
        for b, count in row.items():
            table[number[a], number[b]] = count

    labels = parameters.cluster(responses, compared)
    m = int(labels.max()) + 1
    by_cluster = np.zeros((m, m))
    np.add.at(by_cluster, (labels[:, None], labels[None, :]), table)
    came = counts(sampled, labels)
    with np.errstate(divide="ignore", invalid="ignore"):
        rows = np.log(table / np.maximum(table.sum(axis=1, keepdims=True), 1))
        log_rows = np.log(by_cluster / np.maximum(by_cluster.sum(axis=1, keepdims=True), 1))
        log_first = np.log(came / k)
        marginal = np.log(sampled / k)
        information = from_counts(came, by_cluster)
        log_second = np.log(information.joint.sum(axis=0))
    return Evidence(
        responses=responses,
        counts=sampled,
        log_marginal=marginal,
        log_conditionals=rows,
        complete=_ends(responses, complete),
        greedy=greedy,
        greedy_log_likelihood=None,
        verification=dict(verification or {}),
        labels=labels,
        parameters=parameters,
        mutual_information=information,
        unstabilised=information,
        log_first=log_first,
        log_second_given_first=log_rows,
        log_second=log_second,
        sampled_mass=1 - float((came == 1).sum()) / k,
        second_counts=by_cluster.sum(axis=1).astype(np.int64),
    )


def _first_values(items: Iterable[tuple[K, float]]) -> dict[K, float]:
    scores: dict[K, float] = {}
    for key, value in items:
        scores.setdefault(key, value)
    return scores


def _sums(items: Iterable[tuple[str, float]]) -> dict[str, float]:
    sums: dict[str, float] = {}
    for key, value in items:
        sums[key] = float(np.logaddexp(sums.get(key, -np.inf), value))
    return sums


def _order(
    texts: Sequence[str], as_first: Mapping[str, float], as_second: Mapping[str, float]
) -> tuple[str, ...]:
    """Return texts in order of falling likelihood as first answers, then as second ones."""
    first = np.array([as_first.get(text, -np.inf) for text in texts])
    second = np.array([as_second.get(text, -np.inf) for text in texts])
    return tuple(texts[i] for i in np.lexsort((-second, -first)))


def _ends(responses: Sequence[str], complete: Mapping[str, bool] | None) -> Booleans:
    return np.array([(complete or {}).get(text, True) for text in responses], dtype=bool)
