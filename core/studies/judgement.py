"""Was it right? On the embedded model's own questions the truth is known, so say so.

Every score is held against the truth twice: is the answer that it would serve right, and
was its decision, to answer or to abstain, the better one? Each score decides by its own
default threshold, all of them found on the same questions for the same error
(`benchmarks/default_threshold.py`), so that no score is judged by another's yardstick.
"""

from __future__ import annotations

from dataclasses import dataclass

from core.data import truth
from core.data.world import Fact
from core.studies.inspection import Inspection
from core.studies.verdict import Decision, default_thresholds
from core.uncertainty.scores import SCORES

WORLD_OF = "embedded"  # the one model that was taught this world, and nothing else


@dataclass(frozen=True)
class Judged:
    """One score's decision on one question, held against the truth.

    Attributes
    ----------
    name : str
        A key of `SCORES`.
    answer : str
        What the score would serve.
    right : bool
        Whether that is a right answer.
    threshold : float
        Of the score's doubt: it answers below.
    answered : bool
        Its decision. Mutual information's is the verdict, with the sampled mass looked at.
    """

    name: str
    answer: str
    right: bool
    threshold: float
    answered: bool

    @property
    def well_decided(self) -> bool:
        """Whether it answered and was right, or abstained and would have been wrong."""
        return self.answered == self.right


@dataclass(frozen=True)
class Judgement:
    """What is true about an inspected question, and how every score did."""

    fact: Fact
    scores: tuple[Judged, ...]


def judge(inspection: Inspection) -> Judgement | None:
    """Hold an inspection against the truth; None where nobody here knows the truth."""
    fact = truth.find(inspection.query) if inspection.recording.model == WORLD_OF else None
    if fact is None:
        return None
    return Judgement(fact, tuple(_judged(inspection, fact, name) for name in SCORES))


def _judged(inspection: Inspection, fact: Fact, name: str) -> Judged:
    score, threshold = inspection.scores[name], default_thresholds()[name]
    if name == inspection.verdict.threshold.score:
        threshold = inspection.verdict.threshold.value
        answered = inspection.verdict.decision is Decision.ANSWER
    else:
        answered = score.doubt is not None and score.doubt < threshold
    return Judged(name, score.answer, truth.is_right(score.answer, fact), threshold, answered)
