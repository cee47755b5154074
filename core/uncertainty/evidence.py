"""Everything that was recorded about one query: all a score may look at.

However a model answers, its evidence looks the same: :meth:`Evidence.build` makes it from the
likelihoods of given texts, :mod:`core.uncertainty.sampled_evidence` from samples alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from core.uncertainty import certified_bound, clustering, validation
from core.uncertainty.joint import MutualInformation
from core.uncertainty.logarithms import log_normalise, log_sum_exp
from core.uncertainty.mutual_information import from_conditionals
from core.uncertainty.no_answer import is_no_answer
from core.uncertainty.similarity import DEFAULT, pairwise, reorder
from core.uncertainty.validation import Booleans, Floats, Integers

#: Distinct texts, and how alike they are.
ComparedTuples = tuple[Sequence[str], ArrayLike]


@dataclass(frozen=True)
class Hyperparameters:
    """How answers are clustered and the mutual information stabilised; asks the model nothing."""

    # A key of ``similarity.SIMILARITIES``, or the name of a similarity whose matrix is given.
    similarity: str = DEFAULT
    threshold: float = 0.25  # the paper's τ, in [0, 1]
    # gamma_1, gamma_2: the stabilisation parameters of the mutual information, at least 0; counts
    # have none.
    gamma_1: float = 0.0
    gamma_2: float = 0.0

    @property
    def gammas(self) -> dict[str, float]:
        """What stabilises the mutual information; empty where nothing does."""
        gammas = {"gamma_1": self.gamma_1, "gamma_2": self.gamma_2}
        return gammas if any(gammas.values()) else {}

    def cluster(self, responses: Sequence[str], compared: ComparedTuples | None) -> Integers:
        """Return the cluster of each response, (r,); they come in order of falling likelihood."""
        alike = reorder(responses, *compared) if compared else pairwise(responses, self.similarity)
        return clustering.cluster(alike, self.threshold)


@dataclass(frozen=True, eq=False, kw_only=True)
class Evidence:
    """The answers to one query, their likelihoods, their clusters, and what follows from them.

    There are r distinct responses and m clusters; all likelihoods are natural logarithms at
    temperature 1. Where the model scores no given text, they are its samples' own likelihoods,
    or shares of samples, and -inf where nothing was drawn.

    Raises `ValueError` if a likelihood of the greedy response or of a verification is none.
    """

    # (r,): the distinct texts in order of falling likelihood as first answers. Of samples alone,
    # those that only came second follow: of counts by likelihood too, of pairs by how often they
    # came.
    responses: tuple[str, ...]
    # (r,): how often each was sampled as a first answer; 0 for second answers alone.
    counts: Integers
    log_marginal: Floats  # (r,): ln Q(Y_i|F₀(x))
    log_conditionals: Floats  # (r, r): Row i: ln Q(Y_j|F₁(x, Y_i))
    # (r,): whether a response ended by itself. One that was cut off has no likelihood as a whole
    # answer, and is left out of the certified bound.
    complete: Booleans
    greedy: str  # the response at temperature zero
    greedy_log_likelihood: float | None  # ln Q(greedy|F₀(x)), if the model says it
    # For texts that were shown to the model with the question whether they are correct: ln
    # p("True") and ln p("False"). Which text is judged depends on the clustering.
    verification: Mapping[str, tuple[float, float]]
    labels: Integers  # (r,): the cluster of each response, 0..m-1 in order of the centres
    parameters: Hyperparameters  # what the labels and the mutual information come from
    # With (m, m) arrays: Algorithm 3, Algorithm 2 adjusted for chance, or of counts.
    mutual_information: MutualInformation
    unstabilised: MutualInformation  # the same for γ = 0
    # (m,): ln μ̂₁ of the clusters as first answers, normalised; -inf where none came first.
    log_first: Floats
    # (m, m): Row i: ln μ̂₂, the second answer after cluster i was told, normalised; a row of -inf
    # where it never came first.
    log_second_given_first: Floats
    log_second: Floats  # (m,): ln Σ_j μ̂₁(j) μ̂₂(·|j), the second answer by itself
    # The share of the model's probability that was seen, in [0, 1]: Σ Q(Y_i|F₀(x)); of pairs, the
    # sum of their likelihoods; of counted first answers, Good and Turing's estimate, 1 - (clusters
    # that came once) / k.
    sampled_mass: float
    # (m,): the paper's Z_i: how much probability the clusters cover after each centre; None of
    # samples alone.
    row_masses: Floats | None = None
    # (m,): how many second answers were sampled after each cluster was told; None where they were
    # scored instead.
    second_counts: Integers | None = None
    # why the mutual information cannot be told from what chance alone shows; None if it can.
    chance_note: str | None = None

    def __post_init__(self) -> None:
        if self.greedy_log_likelihood is not None:
            validation.finite_log(self.greedy_log_likelihood, "greedy_log_likelihood")
        for text, (log_true, log_false) in self.verification.items():
            validation.finite_log(log_true, f"ln p(True) of {text!r}")
            validation.finite_log(log_false, f"ln p(False) of {text!r}")
        for value in vars(self).values():
            if isinstance(value, np.ndarray):
                value.setflags(write=False)

    @classmethod
    def build(
        cls,
        responses: Sequence[str],
        log_marginal: ArrayLike,
        log_conditionals: ArrayLike,
        counts: ArrayLike | None = None,
        *,
        greedy: str,
        greedy_log_likelihood: float,
        complete: ArrayLike | None = None,
        verification: Mapping[str, tuple[float, float]] | None = None,
        parameters: Hyperparameters | None = None,
        compared: ComparedTuples | None = None,
    ) -> Evidence:
        """Build evidence from the likelihood of every response under every prompt (Algorithm 3).

        Raises `ValueError` if anything is empty, NaN, positive where a logarithm of a probability
        must stand, does not fit the responses, or cannot be normalised; for an unknown similarity.

        `responses`, (r,): distinct texts, in the order first seen: it decides between equal
        likelihoods.
        `log_marginal, log_conditionals, counts, complete`: in the order of `responses`, see the
        class; by default, each response was sampled once and is complete.
        `greedy, greedy_log_likelihood, verification, parameters`: see the class.
        `compared`: all texts, (r,), and how alike they are, (r, r), if something else judged it.
        """
        texts = validation.texts(responses, "responses")
        r = len(texts)
        if len(set(texts)) < r:
            raise ValueError("responses must be distinct: give each text once, and its count.")
        marginal = validation.log_probabilities(log_marginal, "log_marginal", dimensions=1)
        rows = validation.log_probabilities(log_conditionals, "log_conditionals", dimensions=2)
        sampled = np.ones(r, dtype=np.int64) if counts is None else np.asarray(counts)
        ended = np.ones(r, dtype=bool) if complete is None else np.asarray(complete, dtype=bool)
        validation.shape(marginal, (r,), "log_marginal")
        validation.shape(rows, (r, r), "log_conditionals")
        validation.shape(sampled, (r,), "counts")
        validation.shape(ended, (r,), "complete")
        validation.normalisable(marginal, "log_marginal")
        validation.normalisable(rows, "log_conditionals", axis=1)
        if not np.issubdtype(sampled.dtype, np.integer) or sampled.min() < 1:
            raise ValueError("counts must be whole numbers of at least 1: each text was sampled.")

        order = clustering.likelihood_order(marginal)
        texts = tuple(texts[i] for i in order)
        marginal, rows = marginal[order], rows[order][:, order]
        parameters = parameters or Hyperparameters()
        labels = parameters.cluster(texts, compared)
        of_clusters = _at_most_1(clustering.aggregate(marginal, labels))
        of_centres = rows[clustering.centres(labels)]
        after_centres = _at_most_1(clustering.aggregate(of_centres, labels, axis=1))
        information = unstabilised = from_conditionals(of_clusters, after_centres)
        if gammas := parameters.gammas:
            information = from_conditionals(of_clusters, after_centres, **gammas)
        log_first = log_normalise(of_clusters)[0]
        log_rows = log_normalise(after_centres, axis=1)[0]
        return cls(
            responses=texts,
            counts=sampled[order].astype(np.int64),
            log_marginal=marginal,
            log_conditionals=rows,
            complete=ended[order],
            greedy=greedy,
            greedy_log_likelihood=greedy_log_likelihood,
            verification=dict(verification or {}),
            labels=labels,
            parameters=parameters,
            mutual_information=information,
            unstabilised=unstabilised,
            log_first=log_first,
            log_second_given_first=log_rows,
            log_second=log_sum_exp(log_first[:, None] + log_rows, axis=0),
            sampled_mass=min(1.0, float(np.exp(log_sum_exp(marginal)))),
            row_masses=np.exp(log_sum_exp(after_centres, axis=1)),
        )

    # ---- Clusters: m of them, in order of their centres' likelihood. ----

    @cached_property
    def centres(self) -> Integers:
        """The index of each cluster's centre, its likeliest response, (m,)."""
        return clustering.centres(self.labels)

    @cached_property
    def centre_texts(self) -> tuple[str, ...]:
        """The text that stands for each cluster, (m,)."""
        return tuple(self.responses[i] for i in self.centres)

    @property
    def answers(self) -> int:
        """How many clusters came first, as answers: some only come second, some say “unknown”."""
        firsts = zip(self.centre_texts, self.log_first, strict=True)
        return sum(p > -np.inf and not is_no_answer(text) for text, p in firsts) or 1

    @cached_property
    def cluster_counts(self) -> Integers:
        """How many samples fell into each cluster, (m,)."""
        return clustering.counts(self.counts, self.labels)

    @cached_property
    def cluster_log_marginal(self) -> Floats:
        """ln μ'₁, the likelihood of each cluster as a first answer, (m,)."""
        return _at_most_1(clustering.aggregate(self.log_marginal, self.labels))

    @property
    def likeliest_first(self) -> str:
        """The centre of the most probable cluster: what S.E. and S.V. serve."""
        return self.centre_texts[int(self.log_first.argmax())]

    @property
    def likeliest_second(self) -> str:
        """The centre of the most probable second answer: what M.I. serves."""
        return self.centre_texts[int(self.log_second.argmax())]

    def certified_table(self) -> tuple[Floats, Floats]:
        """Return what the certified bound is computed from: each cluster counts as one answer.

        ``log_marginal, log_conditionals`` of the clusters of complete responses, (c,) and (c, c),
        not normalised. The bound is lower than that of single wordings. It needs independence of
        right meanings only, not of their wordings. Raises `ValueError` with why there is none, for
        a person.
        """
        whole, labels = self._whole()
        rows = self.log_conditionals[np.ix_(whole, whole)]
        return certified_bound.lump(self.log_marginal[whole], rows, labels)

    def sample_table(self) -> tuple[Integers, Floats]:
        """Return what the lower limit with a confidence is computed from.

        ``counts, log_rows`` of the responses, and after each the clusters of complete ones, (r,)
        and (r, c), not normalised. Every sample is a draw of its own, cut off or not. What the
        model says next counts by cluster, so that right meanings must be independent, not their
        wordings. Raises `ValueError` with why there is none, for a person.
        """
        whole, labels = self._whole()
        return self.counts, certified_bound.lump_seconds(self.log_conditionals[:, whole], labels)

    def _whole(self) -> tuple[Booleans, Integers]:
        """Return which responses have a likelihood as a whole answer, and their clusters."""
        if self.row_masses is None:
            raise ValueError(
                "A certified bound needs exact likelihoods of given texts; this model reports none."
            )
        whole = self.complete & np.isfinite(self.log_marginal)
        if not whole.any():
            raise ValueError(
                "Every response was cut off, so none has a likelihood as a whole answer."
            )
        # Clusters that lost all their members leave gaps in the labels.
        return whole, np.unique(self.labels[whole], return_inverse=True)[1]


def _at_most_1(log_likelihoods: Floats) -> Floats:
    """Take off what servers' rounding adds: the texts of a cluster are no surer than sure."""
    return np.asarray(np.minimum(log_likelihoods, 0.0))
