"""The related scores in full, beside mutual information on the same questions.

- The two-stage threshold that the paper proposes for the test of Ahdritz et al.: how well the score
  finds wrong answers at every threshold, and at one that was tuned on other questions.
- V̂(y|x) of Johnson et al. answer by answer, and second-order calibration: whether the squared error
  of the model's probabilities is what V̂ says, where the true distribution is known. Right answers
  that were not found count, with p̂ = 0: left out, a model that misses them would seem to err less
  than it says. Wrong ones that were not found are unknown.

Questions are asked once; thresholds and bins are read off what was recorded.
"""

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from core.abstention.intervals import Comparison, Interval, interval, resamples
from core.abstention.metrics import auroc
from core.abstention.resampled_measures import compare
from core.data.world.facts import Fact, RightAnswer
from core.data.world.grading import SAME_ANSWER, matches
from core.language_models.language_model import LanguageModel
from core.studies.inspection.inspection import Inspection, read
from core.studies.inspection.recorder import record, usual_request
from core.studies.inspection.request import Reading, Request
from core.studies.laboratory.asking import Seldom, of_each
from core.studies.progress import Progress, silent
from core.uncertainty.related import Candidates, candidates, covariances
from core.uncertainty.scores import SCORES
from core.uncertainty.similarity import token_f1
from core.uncertainty.validation import Floats

#: Thresholds of the first stage that are tried; at 0, it keeps all.
THRESHOLDS: Final = (0.0, 0.001, 0.003, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5)
BINS: Final = 8
#: In so large a share of the cases, an error may exceed what V̂ allows (Markov's inequality).
EXCEEDED: Final = 0.1

#: What is compared, in plain words; the answer that S.E. serves, but for M.I.
COMPARED: Final = {
    "mutual_information": "M.I.",
    "semantic_entropy": "S.E.",
    "min_conditional_entropy": "minimum conditional entropy (Ahdritz et al.)",
    "two_stage": "the same after a threshold tuned on other questions",
    "pair_covariance": "pair covariance (Johnson et al.), all answers",
    "covariance": "V̂ of the answer served",
    "cheat_corrected": "p̂(y) / p̂(y|y) of the answer served",
}


@dataclass(frozen=True)
class RelatedAnswers:
    """What one question's answers show."""

    query: str
    # Of the scores of `COMPARED`, but for the two-stage one; None where the evidence cannot tell.
    doubts: Mapping[str, float | None]
    correct: Mapping[str, bool]  # whether the answer that each serves is right
    # The answers found, spellings of one right answer as one; then the right ones not found.
    answers: tuple[str, ...]
    # predicted, repeated, truth: p̂(y|x), p̂(y|y, x) and p(y|x) of each; the first two are 0 where
    # it was not found.
    predicted: tuple[float, ...]
    repeated: tuple[float, ...]
    truth: tuple[float, ...]
    candidates: Candidates = field(repr=False)  # for the two stages


@dataclass(frozen=True)
class ReliabilityBin:
    """Answers of about the same V̂: what it says, and what the squared error is."""

    answers: int
    promised: float  # the mean V̂
    error: Interval  # the mean of (p̂ − p)², with its 95% bootstrap interval over questions


@dataclass(frozen=True)
class RelatedScores:
    """All scores on the same questions."""

    model: str
    revision: str
    questions: tuple[RelatedAnswers, ...]
    seed: int = 0  # of the halves on which the threshold is tuned, and of the bootstrap

    def two_stage(self, least: float, fewest: int = 2) -> Floats:
        """Return the two-stage doubt of every question at a threshold, (questions,)."""
        return np.array([q.candidates.doubt(least, fewest) for q in self.questions])

    @functools.cached_property
    def _right(self) -> NDArray[np.bool_]:
        return np.array([q.correct["semantic_entropy"] for q in self.questions])

    def by_threshold(self, fewest: int = 2) -> tuple[tuple[float, float], ...]:
        """Return every threshold with its AUROC for wrong answers, NaN where all are of a kind."""
        return tuple(
            (least, auroc(self.two_stage(least, fewest), self._right)) for least in THRESHOLDS
        )

    @functools.cached_property
    def tuned_thresholds(self) -> tuple[tuple[float, float], Floats]:
        """The threshold that is best on each half, and the doubts of either by the other's."""
        n = len(self.questions)
        half = np.random.default_rng(self.seed).permutation(n) < n // 2
        doubts, best = np.empty(n), []
        at = np.array([self.two_stage(least) for least in THRESHOLDS])
        for tuning in (half, ~half):
            ranks = [auroc(row[tuning], self._right[tuning]) for row in at]
            place = int(np.argmax(np.nan_to_num(ranks)))  # all of one kind: the first
            best.append(THRESHOLDS[place])
            doubts[~tuning] = at[place][~tuning]
        return (best[0], best[1]), doubts

    @functools.cached_property
    def comparison(self) -> Comparison:
        """The AUROC of every score for wrong answers, and its difference from that of M.I."""
        doubts: dict[str, Floats] = {}
        correct: dict[str, NDArray[np.bool_]] = {}
        for name in COMPARED:
            own = "semantic_entropy" if name == "two_stage" else name
            correct[name] = np.array([q.correct[own] for q in self.questions])
            doubts[name] = (
                self.tuned_thresholds[1]
                if name == "two_stage"
                else np.array([q.doubts[name] for q in self.questions], float)  # None is NaN
            )
        places = np.arange(len(self.questions))
        return compare(doubts, correct, places, "mutual_information", seed=self.seed)

    @functools.cached_property
    def _answers(self) -> tuple[Floats, Floats, NDArray[np.int64]]:
        """V̂ and squared error of every answer, and its question."""
        p, again, truth = (
            np.concatenate([np.asarray(getattr(q, name), float) for q in self.questions])
            for name in ("predicted", "repeated", "truth")
        )
        of = np.repeat(np.arange(len(self.questions)), [len(q.answers) for q in self.questions])
        return p * (again - p), (p - truth) ** 2, of

    def calibration(self, bins: int = BINS) -> tuple[ReliabilityBin, ...]:
        """Return bins of equally many answers, of rising V̂."""
        promised, _, _ = self._answers
        order = np.argsort(promised, kind="stable")
        return tuple(self._bin(part) for part in np.array_split(order, bins) if part.size)

    @functools.cached_property
    def overall(self) -> ReliabilityBin:
        """What V̂ promises of all answers, and what the squared error is."""
        return self._bin(np.arange(len(self._answers[0])))

    @functools.cached_property
    def excess(self) -> Interval:
        """The mean of (p̂ − p)² − V̂ over all answers, with its interval: 0 if calibrated."""
        promised, error, of = self._answers
        return self._mean(error - promised, of)

    @functools.cached_property
    def beyond(self) -> float:
        """The share of answers whose squared error exceeds V̂ / `EXCEEDED`.

        If the mean squared error of answers of the same V̂ is V̂, it is at most `EXCEEDED`.
        """
        promised, error, _ = self._answers
        return float(np.mean(error > np.maximum(promised, 0.0) / EXCEEDED + 1e-12))

    def _bin(self, places: NDArray[np.int64]) -> ReliabilityBin:
        promised, error, of = self._answers
        values = self._mean(error[places], of[places])
        return ReliabilityBin(len(places), float(promised[places].mean()), values)

    def _mean(self, values: Floats, of: NDArray[np.int64]) -> Interval:
        """Return a mean over answers; those of one question are drawn together."""
        means = []
        for weights in resamples(of, seed=self.seed):
            if weights.any():
                means.append(np.average(values, weights=weights))
        return interval(values.mean(), np.array(means))


def run(
    facts: Sequence[Fact],
    model: LanguageModel,
    request: Request | None = None,
    reading: Reading | None = None,
    progress: Progress = silent,
    *,
    seed: int = 0,
) -> RelatedScores:
    """Ask a model questions whose true answers are known, and compute every score of each.

    `request`: how they are asked; its question is not looked at. As usual for the model by default.

    Raises `InvalidRequestError` when there is no question.
    """

    def one(fact: Fact, go_on: Seldom) -> RelatedAnswers:
        own = request or usual_request(fact.question, model.capabilities)
        own = replace(own, query=fact.question)
        recording = record(own, model, lambda stage, share: go_on())
        return of_inspection(read(recording, reading), fact.answers)

    rows = of_each(model, facts, one, progress)
    return RelatedScores(model.name, model.revision, tuple(rows), seed)


def of_inspection(inspection: Inspection, answers: Sequence[RightAnswer]) -> RelatedAnswers:
    """Return what one inspected question's answers show, held against the true distribution."""
    evidence, scores = inspection.evidence, inspection.scores
    texts = evidence.centre_texts
    names = [_answer_in(text, answers) for text in texts]
    # All spellings of a right answer are one; each wrong one is one by itself.
    keys = [(0, name) if name is not None else (1, i) for i, name in enumerate(names)]
    places = {key: place for place, key in enumerate(dict.fromkeys(keys))}
    merged = covariances(evidence, np.array([places[key] for key in keys]))
    missed = [answer for i, answer in enumerate(answers) if (0, i) not in places]
    nothing = (0.0,) * len(missed)
    served = int(evidence.log_first.argmax())
    of_cluster = covariances(evidence)
    right = [name for text in answers for name in text.names]
    doubts = {name: scores[name].doubt for name in COMPARED if name in SCORES}
    doubts["covariance"] = float(of_cluster.values[served])
    doubts["cheat_corrected"] = 0.0 - float(of_cluster.confidence[served])
    correct = {
        name: matches(scores[name if name in SCORES else "semantic_entropy"].answer, right)
        for name in doubts
    }
    return RelatedAnswers(
        inspection.query,
        doubts,
        correct,
        (*(texts[keys.index(key)] for key in places), *(each.names[0] for each in missed)),
        (*merged.first.tolist(), *nothing),
        (*merged.repeated.tolist(), *nothing),
        (
            *(answers[i].probability if kind == 0 else 0.0 for kind, i in places),
            *(each.probability for each in missed),
        ),
        candidates(evidence),
    )


def _answer_in(text: str, answers: Sequence[RightAnswer]) -> int | None:
    """Return which right answer a text names: the most alike, if it counts as one at all."""
    alike = [max(token_f1(text, name) for name in answer.names) for answer in answers]
    best = int(np.argmax(alike))
    return best if alike[best] >= SAME_ANSWER else None
