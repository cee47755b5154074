"""Everything that was recorded about one query: all a score may look at.

Moving the similarity, its threshold or γ asks the model nothing: :meth:`Evidence.recluster`
applies them to the same record.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from core.uncertainty import certified, clustering, validation
from core.uncertainty.joint import MutualInformation
from core.uncertainty.logarithms import log_normalise, log_sum_exp
from core.uncertainty.mutual_information import from_conditionals
from core.uncertainty.similarity import pairwise
from core.uncertainty.validation import Booleans, Floats, Integers


@dataclass(frozen=True, eq=False, kw_only=True)
class Evidence:
    """The sampled responses to one query, their likelihoods, and their clusters.

    Build it with :meth:`build`, which orders and clusters. There are r distinct responses
    and m clusters; all likelihoods are natural logarithms at temperature 1.

    Attributes
    ----------
    responses : tuple of str, (r,)
        The distinct sampled texts in order of falling likelihood.
    counts : ndarray of int64, (r,)
        How often each was sampled.
    log_marginal : ndarray of float64, (r,)
        ln Q(Y_i|F₀(x)).
    log_conditionals : ndarray of float64, (r, r)
        Row i: ln Q(Y_j|F₁(x, Y_i)).
    complete : ndarray of bool, (r,)
        Whether a response ended by itself. One that was cut off has no likelihood as a
        whole answer, and is left out of the certified bound.
    greedy : str
        The response at temperature zero.
    greedy_log_likelihood : float
        ln Q(greedy|F₀(x)).
    verification : mapping of str to (float, float)
        For texts that were shown to the model with the question whether they are correct:
        ln p("True") and ln p("False"). Which text is judged depends on the clustering.
    labels : ndarray of int64, (r,)
        The cluster of each response, 0..m-1 in order of the centres.
    similarity : str
        What the labels come from: a key of ``similarity.SIMILARITIES``, or the name of a
        similarity whose matrix was given.
    threshold : float
        The paper's τ, in [0, 1].
    gamma_1, gamma_2 : float
        The stabilisation parameters of the mutual information.

    Raises
    ------
    ValueError
        If anything is empty, NaN, positive where a logarithm of a probability must stand,
        does not fit the responses, or cannot be normalised.
    """

    responses: tuple[str, ...]
    counts: Integers
    log_marginal: Floats
    log_conditionals: Floats
    complete: Booleans
    greedy: str
    greedy_log_likelihood: float
    verification: Mapping[str, tuple[float, float]]
    labels: Integers
    similarity: str = "token_f1"
    threshold: float = 0.25
    gamma_1: float = 0.0
    gamma_2: float = 0.0

    def __post_init__(self) -> None:
        responses = validation.texts(self.responses, "responses")
        r = len(responses)
        if len(set(responses)) < r:
            raise ValueError("responses must be distinct: give each text once, and its count.")
        marginal = validation.log_probabilities(self.log_marginal, "log_marginal", dimensions=1)
        validation.shape(marginal, (r,), "log_marginal")
        validation.normalisable(marginal, "log_marginal")
        if (np.diff(marginal) > 0).any():
            raise ValueError(
                "responses must fall in likelihood: Evidence.build puts them in order."
            )
        rows = validation.log_probabilities(self.log_conditionals, "log_conditionals", dimensions=2)
        validation.shape(rows, (r, r), "log_conditionals")
        validation.normalisable(rows, "log_conditionals", axis=1)
        counts = np.asarray(self.counts)
        validation.shape(counts, (r,), "counts")
        if not np.issubdtype(counts.dtype, np.integer) or counts.min() < 1:
            raise ValueError("counts must be whole numbers of at least 1: each text was sampled.")
        complete = np.asarray(self.complete, dtype=bool)
        validation.shape(complete, (r,), "complete")
        validation.threshold(self.threshold)
        validation.stabilisers(self.gamma_1, self.gamma_2)
        validation.finite_log(self.greedy_log_likelihood, "greedy_log_likelihood")
        for text, (log_true, log_false) in self.verification.items():
            validation.finite_log(log_true, f"ln p(True) of {text!r}")
            validation.finite_log(log_false, f"ln p(False) of {text!r}")

        arrays = {
            "counts": counts.astype(np.int64),
            "log_marginal": marginal.copy(),
            "log_conditionals": rows.copy(),
            "complete": complete.copy(),
            "labels": validation.labels(self.labels, length=r),
        }
        for name, array in arrays.items():
            array.setflags(write=False)
            object.__setattr__(self, name, array)
        object.__setattr__(self, "responses", responses)
        object.__setattr__(self, "verification", dict(self.verification))

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
        similarity: str = "token_f1",
        similarity_matrix: ArrayLike | None = None,
        threshold: float = 0.25,
        gamma_1: float = 0.0,
        gamma_2: float = 0.0,
    ) -> Evidence:
        """Put distinct responses in order of falling likelihood, and cluster them.

        Parameters
        ----------
        responses : sequence of str, (r,)
            Distinct texts, in the order first seen: it decides between equal likelihoods.
        log_marginal, log_conditionals, counts, complete : array_like
            In the order of `responses`, see the class; by default, each response was
            sampled once and is complete.
        greedy, greedy_log_likelihood, verification, threshold, gamma_1, gamma_2
            See the class.
        similarity : str, default "token_f1"
            A key of ``similarity.SIMILARITIES``; any name, if a matrix is given.
        similarity_matrix : array_like, (r, r), optional
            How alike the responses are, in their order, if something else has judged it.

        Returns
        -------
        Evidence

        Raises
        ------
        ValueError
            See the class; also for an unknown similarity.
        """
        texts = validation.texts(responses, "responses")
        r = len(texts)
        marginal = validation.log_probabilities(log_marginal, "log_marginal", dimensions=1)
        rows = validation.log_probabilities(log_conditionals, "log_conditionals", dimensions=2)
        sampled = np.ones(r, dtype=np.int64) if counts is None else np.asarray(counts)
        ended = np.ones(r, dtype=bool) if complete is None else np.asarray(complete, dtype=bool)
        validation.shape(marginal, (r,), "log_marginal")
        validation.shape(rows, (r, r), "log_conditionals")
        validation.shape(sampled, (r,), "counts")
        validation.shape(ended, (r,), "complete")

        order = clustering.likelihood_order(marginal)
        ordered = tuple(texts[i] for i in order)
        if similarity_matrix is not None:
            given = validation.numbers(similarity_matrix, "similarity_matrix", dimensions=2)
            validation.shape(given, (r, r), "similarity_matrix")
            similarity_matrix = given[np.ix_(order, order)]
        return cls(
            responses=ordered,
            counts=sampled[order],
            log_marginal=marginal[order],
            log_conditionals=rows[np.ix_(order, order)],
            complete=ended[order],
            greedy=greedy,
            greedy_log_likelihood=greedy_log_likelihood,
            verification=verification or {},
            labels=_labels(ordered, similarity, similarity_matrix, threshold),
            similarity=similarity,
            threshold=threshold,
            gamma_1=gamma_1,
            gamma_2=gamma_2,
        )

    def recluster(
        self,
        similarity: str | None = None,
        threshold: float | None = None,
        *,
        similarity_matrix: ArrayLike | None = None,
        gamma_1: float | None = None,
        gamma_2: float | None = None,
    ) -> Evidence:
        """Return the same record under other settings; what is None stays as it is.

        Parameters
        ----------
        similarity, threshold, similarity_matrix, gamma_1, gamma_2
            As in :meth:`build`; the matrix in the order of :attr:`responses`. Evidence that
            was clustered by a given matrix needs it again for another threshold.

        Raises
        ------
        ValueError
            As :meth:`build` does.
        """
        name = self.similarity if similarity is None else similarity
        tau = self.threshold if threshold is None else threshold
        same = similarity_matrix is None and (name, tau) == (self.similarity, self.threshold)
        labels = self.labels if same else _labels(self.responses, name, similarity_matrix, tau)
        return replace(
            self,
            labels=labels,
            similarity=name,
            threshold=tau,
            gamma_1=self.gamma_1 if gamma_1 is None else gamma_1,
            gamma_2=self.gamma_2 if gamma_2 is None else gamma_2,
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

    @cached_property
    def cluster_counts(self) -> Integers:
        """How many samples fell into each cluster, (m,)."""
        counts = np.zeros(len(self.centres), dtype=np.int64)
        np.add.at(counts, self.labels, self.counts)
        return counts

    @cached_property
    def cluster_log_marginal(self) -> Floats:
        """ln μ'₁, the likelihood of each cluster without an answer told, (m,)."""
        return _at_most_1(clustering.aggregate(self.log_marginal, self.labels))

    @cached_property
    def cluster_log_conditionals(self) -> Floats:
        """ln μ'₂, (m, m): row i after cluster i's centre was told, column t for cluster t."""
        rows = self.log_conditionals[self.centres]
        return _at_most_1(clustering.aggregate(rows, self.labels, axis=1))

    # ---- Distributions over clusters: normalised, as Algorithm 3 does. ----

    @cached_property
    def log_first(self) -> Floats:
        """ln μ̂₁, the first answer, (m,)."""
        return log_normalise(self.cluster_log_marginal)[0]

    @cached_property
    def log_second_given_first(self) -> Floats:
        """ln μ̂₂, the second answer (column) given the first (row), (m, m)."""
        return log_normalise(self.cluster_log_conditionals, axis=1)[0]

    @cached_property
    def log_second(self) -> Floats:
        """ln Σ_j μ̂₁(j) μ̂₂(·|j), the second answer by itself, (m,)."""
        return log_sum_exp(self.log_first[:, None] + self.log_second_given_first, axis=0)

    @cached_property
    def mutual_information(self) -> MutualInformation:
        """Algorithm 3 on the clusters, with (m, m) arrays."""
        return from_conditionals(
            self.cluster_log_marginal,
            self.cluster_log_conditionals,
            gamma_1=self.gamma_1,
            gamma_2=self.gamma_2,
        )

    @property
    def likeliest_first(self) -> str:
        """The centre of the most probable cluster: what S.E. and S.V. serve."""
        return self.centre_texts[int(self.log_first.argmax())]

    @property
    def likeliest_second(self) -> str:
        """The centre of the most probable second answer: what M.I. serves."""
        return self.centre_texts[int(self.log_second.argmax())]

    # ---- How much of the model's probability was seen. ----

    @cached_property
    def sampled_mass(self) -> float:
        """Σ Q(Y_i|F₀(x)) over the distinct responses: a probability."""
        return min(1.0, float(np.exp(log_sum_exp(self.log_marginal))))

    @cached_property
    def row_masses(self) -> Floats:
        """The paper's Z_i, (m,): how much probability the clusters cover after each centre."""
        return np.exp(log_sum_exp(self.cluster_log_conditionals, axis=1))

    def certified_table(self, *, lumped: bool = False) -> tuple[Floats, Floats] | None:
        """Return what the certified bound is computed from.

        Parameters
        ----------
        lumped : bool, default False
            Whether to count each cluster as one answer. The bound is lower then; it needs
            independence of right meanings only, not of their wordings.

        Returns
        -------
        tuple of ndarray, (c,) and (c, c), or None
            ``log_marginal, log_conditionals`` of the complete responses (or of clusters of
            them), not normalised; None if no response is complete.
        """
        kept = self.complete & np.isfinite(self.log_marginal)
        if not kept.any():
            return None
        marginal, rows = self.log_marginal[kept], self.log_conditionals[np.ix_(kept, kept)]
        if not lumped:
            return marginal, rows
        # Clusters that lost all their members leave gaps in the labels.
        labels = np.unique(self.labels[kept], return_inverse=True)[1]
        return certified.lump(marginal, rows, labels)


def _at_most_1(log_likelihoods: Floats) -> Floats:
    """Take off what servers' rounding adds: the texts of a cluster are no surer than sure."""
    return np.asarray(np.minimum(log_likelihoods, 0.0))


def _labels(
    responses: tuple[str, ...], similarity: str, matrix: ArrayLike | None, threshold: float
) -> Integers:
    return clustering.cluster(
        pairwise(responses, similarity) if matrix is None else matrix, threshold
    )
