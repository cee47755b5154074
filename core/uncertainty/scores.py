"""Eight scores of one query's evidence, each with the answer it would serve.

A score has a value to show and a *doubt*, which is larger the more one should doubt, for
thresholds and rankings. The paper's baselines stand in its Section 6, the scores of Ahdritz
et al. and Johnson et al. in its related work (Appendix), the last two are ours.
"""

import math
import operator
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from core.uncertainty import certified_bound
from core.uncertainty.evidence import Evidence
from core.uncertainty.logarithms import entropy, without_rounding
from core.uncertainty.validation import Floats

Unit = Literal["nats", "probability", "covariance"]


# What the doubt of S.V. and −ln of the sampled mass weigh beside M.I., for every model. Fixed by
# `benchmarks/default_policy.py --weights` on half of the rows that certify nothing.
OF_VERIFICATION, OF_MASS = 0.15, 0.15
# ln p of “True” and of “False” where a model says neither; JSON knows no infinity.
NEITHER = -9999.0
FEWEST_SECONDS = 10  # second answers after one told, to speak of their entropy


@dataclass(frozen=True)
class Score:
    """One score of one query."""

    value: float | None  # what is shown, in its unit in `SCORES`; None if the evidence cannot tell
    doubt: float | None  # Larger means "doubt more"; None exactly if the value is
    answer: str  # what this score serves if its doubt is small enough
    reason: str | None = None  # why there is no value; None if there is one


def greedy_probability(evidence: Evidence) -> Score:
    """T0: the probability of the greedy response; −ln p, for 1 − p would tie long answers."""
    if evidence.greedy_log_likelihood is None:
        reason = "This model does not report how probable its answers are."
        return Score(None, None, evidence.greedy, reason)
    log_p = min(evidence.greedy_log_likelihood, 0.0)
    return Score(float(np.exp(log_p)), abs(log_p), evidence.greedy)


def semantic_entropy(evidence: Evidence) -> Score:
    """S.E.: the entropy H(Y₁) of the normalised clusters (Kuhn et al.), in [0, ln m]."""
    value = without_rounding(float(entropy(evidence.log_first)))
    return Score(value, value, evidence.likeliest_first)


def self_verification(evidence: Evidence) -> Score:
    """S.V.: p(True) / (p(True) + p(False)), asked about the answer S.E. serves (Kadavath et al.).

    Unavailable, and never 0, if the model was not asked about that text, or said neither.
    """
    answer = evidence.likeliest_first
    if answer not in evidence.verification:
        return Score(None, None, answer, f"The model was not asked whether “{answer}” is correct.")
    log_true, log_false = evidence.verification[answer]
    if max(log_true, log_false) <= NEITHER:
        reason = f"Asked whether “{answer}” is correct, the model said neither “True” nor “False”."
        return Score(None, None, answer, reason)
    doubt = float(np.logaddexp(0.0, log_false - log_true))  # -ln(t / (t + f))
    return Score(float(np.exp(-doubt)), doubt, answer)


def mutual_information(evidence: Evidence) -> Score:
    """M.I.: how far a second answer depends on the first (Algorithms 1 to 3)."""
    if evidence.chance_note:
        return Score(None, None, evidence.likeliest_second, evidence.chance_note)
    value = evidence.mutual_information.value
    return Score(value, value, evidence.likeliest_second)


def min_conditional_entropy(evidence: Evidence) -> Score:
    """The least H(Y₂|Y₁ = i) over the told centres i (Ahdritz et al.), in [0, ln m].

    Low means that some answer is copied as soon as it is told: the doubt is its negative. Of
    sampled second answers only those count that follow on one that was told `FEWEST_SECONDS`
    times or more: a single one would always be “copied”.
    """
    is_condition = np.isfinite(evidence.log_first)  # a second answer alone was never told
    if evidence.second_counts is not None:
        is_condition &= evidence.second_counts >= FEWEST_SECONDS
        if not is_condition.any():
            reason = (
                f"No answer was given in the prompt {FEWEST_SECONDS} times, too few to see what "
                "follows."
            )
            return Score(None, None, evidence.likeliest_first, reason)
    rows = entropy(evidence.log_second_given_first[is_condition], axis=1)
    value = without_rounding(float(rows.min()))
    return Score(value, 0.0 - value, evidence.likeliest_first)


def pair_covariance(evidence: Evidence) -> Score:
    """Σ over clusters of p̂(y, y) - p̂(y)² (Johnson et al.), in [-1, 1].

    p̂(y) is the first answer's probability μ̂₁(y), and p̂(y, y) = μ̂₁(y) μ̂₂(y|y) that of
    the same answer twice.
    """
    first = np.exp(evidence.log_first)
    repeated = np.exp(np.diag(evidence.log_second_given_first))
    value = without_rounding(float((first * (repeated - first)).sum()))
    return Score(value, value, evidence.likeliest_first)


def certified_mutual_information(evidence: Evidence) -> Score:
    """Return a certain lower bound of the model's mutual information (see ``certified_bound``).

    Each cluster counts as one answer, as in M.I. Unavailable without exact likelihoods, if every
    response was cut off, or if likelihoods do not belong to whole answers and add up to more
    than 1.
    """
    try:
        value = certified_bound.certified_lower_bound(*evidence.certified_table())
    except ValueError as error:
        return Score(None, None, evidence.likeliest_second, str(error))
    return Score(value, value, evidence.likeliest_second)


def weighted_doubt(evidence: Evidence) -> Score:
    """Return M.I. and, in fixed parts, the doubt of S.V. and how little was seen; see `weight`.

    It serves the answer of M.I. Unavailable without exact likelihoods, for which alone its
    weights were fixed, or where S.V. is.
    """
    information, verification = mutual_information(evidence), self_verification(evidence)
    reason = verification.reason
    if evidence.row_masses is None:
        reason = "Its weights hold for exact likelihoods of given texts; this model reports none."
    if reason or information.value is None or verification.doubt is None:
        return Score(None, None, information.answer, reason or information.reason)
    value = float(weight(information.value, verification.doubt, evidence.sampled_mass))
    return Score(value, value, information.answer)


def weight(
    information: ArrayLike,
    verification: ArrayLike,
    sampled_mass: ArrayLike,
    weights: tuple[float, float] = (OF_VERIFICATION, OF_MASS),
) -> Floats:
    """Return M.I. + a · (doubt of S.V.) + b · (−ln of the sampled mass), nats.

    M.I. is normalised by the answers that were seen, so it cannot tell how little that was. M.I.
    and the doubt of S.V. are in nats, the mass in [0, 1].
    """
    unseen = -np.log(np.maximum(np.asarray(sampled_mass, float), sys.float_info.min))
    doubted = np.asarray(verification, float)
    value = np.asarray(information, float) + weights[0] * doubted + weights[1] * unseen
    return np.asarray(value)


@dataclass(frozen=True)
class ScoreInfo:
    """What a page and a report say about a score."""

    symbol: str  # what the paper and the charts call it
    title: str  # its name in plain words
    sign: str  # what it doubts an answer for, in at most 24 characters
    function: Callable[[Evidence], Score]  # from evidence to score
    unit: Unit  # {"nats", "probability", "covariance"}: of the value
    range: str  # between what values it lies
    reference: str  # where it comes from
    value_at: Callable[[float], float] = float  # from a doubt to the value that has it

    @property
    def larger_is_surer(self) -> bool:
        """Whether a large value is a sign of a sure answer: the doubt falls as the value rises."""
        return self.value_at(1.0) < self.value_at(0.0)

    @property
    def doubt_unit(self) -> str:
        """The unit of its doubt, which of a probability is −ln p; "" where it has none."""
        return "" if self.unit == "covariance" else "nats"


def _probability_of(surprise: float) -> float:
    return math.exp(-surprise)


#: Every score by name, the paper's first. A new score is a function above and a line here.
SCORES: dict[str, ScoreInfo] = {
    "mutual_information": ScoreInfo(
        symbol="M.I.",
        title="Mutual information",
        sign="swayed by other answers",
        function=mutual_information,
        unit="nats",
        range="0 to ln(clusters) for γ = 0; from samples alone, also slightly below 0",
        reference="Algorithms 1 to 3; Section 6",
    ),
    "semantic_entropy": ScoreInfo(
        symbol="S.E.",
        title="Semantic entropy",
        sign="answers differ",
        function=semantic_entropy,
        unit="nats",
        range="0 to ln(clusters)",
        reference="Kuhn et al.; Section 6, baseline (ii)",
    ),
    "greedy_probability": ScoreInfo(
        symbol="T0",
        title="Greedy probability",
        sign="answer is improbable",
        function=greedy_probability,
        unit="probability",
        range="0 to 1",
        reference="Section 6, baseline (i)",
        value_at=_probability_of,
    ),
    "self_verification": ScoreInfo(
        symbol="S.V.",
        title="Self-verification",
        sign="calls itself wrong",
        function=self_verification,
        unit="probability",
        range="0 to 1",
        reference="Kadavath et al.; Section 6, baseline S.V.",
        value_at=_probability_of,
    ),
    "min_conditional_entropy": ScoreInfo(
        symbol="min C.E.",
        title="Minimum conditional entropy",
        sign="copies another answer",
        function=min_conditional_entropy,
        unit="nats",
        range="0 to ln(clusters)",
        reference="Ahdritz et al.; related work",
        value_at=operator.neg,
    ),
    "pair_covariance": ScoreInfo(
        symbol="Pair cov.",
        title="Pair covariance",
        sign="repeats what it is told",
        function=pair_covariance,
        unit="covariance",
        range="−1 to 1",
        reference="Johnson et al.; related work",
    ),
    "certified_mutual_information": ScoreInfo(
        symbol="M.I. ≥",
        title="Certified mutual information",
        sign="surely swayed",
        function=certified_mutual_information,
        unit="nats",
        range="0 to ln(clusters)",
        reference="Theorem 4.5, with a bound of ours",
    ),
    "weighted_doubt": ScoreInfo(
        symbol="W.D.",
        title="Weighted doubt",
        sign="three doubts together",
        function=weighted_doubt,
        unit="nats",
        range="0 or more, without a limit",
        reference="Ours",
    ),
}
