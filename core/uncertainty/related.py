"""The scores of related work in full, beyond the single numbers in :mod:`core.uncertainty.scores`.

What the paper says of them (its Related work) is what is computed here:

- Ahdritz et al. (arXiv 2402.03563) condition on each of the top completions in turn; the least
  entropy of what follows says whether the model copies. As it is, sure answers look copied. The
  paper proposes a first stage that keeps completions above a threshold.
- Johnson et al. (arXiv 2402.08733) take V̂(y|x) = p̂(y, y|x) − p̂(y|x)² of each answer. A model that
  is second-order calibrated errs by V̂ on average over a class of questions,
  mean of (p̂(y|x') − p(y|x'))² = mean of V̂(y|x').

From memory, and not in the paper: Ahdritz et al. look at single tokens of a small model, chosen by
a band of its entropy; Johnson et al. train on pairs of observations, as no model here is, and call
p̂(y|x) / p̂(y|y, x) the cheat-corrected confidence.
"""

from dataclasses import dataclass

import numpy as np

from core.uncertainty.clustering import aggregate
from core.uncertainty.evidence import Evidence
from core.uncertainty.logarithms import entropy
from core.uncertainty.scores import FEWEST_SECONDS
from core.uncertainty.validation import Floats, Integers


@dataclass(frozen=True, eq=False)
class Covariances:
    """Johnson et al.'s V̂(y|x) of each answer."""

    first: Floats  # (a,): p̂(y|x)
    repeated: Floats  # (a,): p̂(y|y, x): that it comes again after it was told

    @property
    def values(self) -> Floats:
        """V̂, (a,): what the squared error of `first` should be on average, in [-1, 1/4]."""
        return self.first * (self.repeated - self.first)

    @property
    def confidence(self) -> Floats:
        """p̂(y|x) / p̂(y|y, x), (a,): 1 where telling an answer makes it no likelier.

        0 where it never comes again after it was told, whatever its probability before.
        """
        return np.divide(
            self.first, self.repeated, out=np.zeros_like(self.first), where=self.repeated > 0
        )


def covariances(evidence: Evidence, labels: Integers | None = None) -> Covariances:
    """Return V̂ of each cluster, or of each group of clusters that `labels`, (m,), make.

    Exact likelihoods are taken as they are, what was not found left out; samples, normalised. The
    sum over normalised clusters is :func:`core.uncertainty.scores.pair_covariance`.
    """
    if evidence.row_masses is None:
        first, rows = evidence.log_first, evidence.log_second_given_first
    else:
        first = evidence.cluster_log_marginal
        of_centres = evidence.log_conditionals[evidence.centres]
        rows = np.minimum(aggregate(of_centres, evidence.labels, axis=1), 0.0)
    groups = np.arange(len(first)) if labels is None else labels
    p = np.bincount(groups, np.exp(first))
    both = np.exp(first)[:, None] * np.exp(rows) * (groups[:, None] == groups)
    twice = np.bincount(groups, both.sum(axis=1))
    repeated = np.divide(twice, p, out=np.zeros_like(p), where=p > 0)
    # What rounding adds is no probability.
    return Covariances(np.minimum(p, 1.0), np.minimum(repeated, 1.0))


@dataclass(frozen=True, eq=False)
class Candidates:
    """What Ahdritz et al.'s test looks at: the answers that were told, and what followed."""

    probabilities: Floats  # (c,): p̂(y|x) of each; with exact likelihoods, the model's own
    entropies: Floats  # (c,): H(Y₂|Y₁ = y) over the clusters, nats

    def doubt(self, least: float, fewest: int = 2) -> float:
        """Return the two-stage doubt: −min of the entropies of those at least so probable.

        `least` is the threshold of the first stage; at 0 all are kept. With fewer kept than
        `fewest`, the model is sure, and the doubt −∞. The paper leaves open what then happens. With
        1, a single candidate is tested like several, and a sure answer looks copied: telling it
        leaves nothing open.
        """
        is_candidate = self.probabilities >= least
        if is_candidate.sum() < max(fewest, 1):
            return -np.inf
        return 0.0 - float(self.entropies[is_candidate].min())


def candidates(evidence: Evidence) -> Candidates:
    """Return the first stage's candidates: every cluster after which enough is known."""
    is_condition = np.isfinite(evidence.log_first)
    if evidence.second_counts is not None:
        is_condition &= evidence.second_counts >= FEWEST_SECONDS
    exact = evidence.row_masses is not None
    log_p = evidence.cluster_log_marginal if exact else evidence.log_first
    rows = evidence.log_second_given_first[is_condition]
    return Candidates(
        np.exp(log_p[is_condition]), entropy(rows, axis=1) if is_condition.any() else np.empty(0)
    )
