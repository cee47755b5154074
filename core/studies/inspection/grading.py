"""Was it right? On the embedded model's own questions the truth is known, so say so.

Every score is held against the truth twice: is the answer that it would serve right, and
was its decision, to answer or to abstain, the better one? Each score decides by its own
default policy, all of them certified on the same questions for the same error
(`benchmarks/default_policy.py`), so that no score is judged by another's yardstick.
"""

import math
from dataclasses import dataclass

from core.data.world import grading
from core.data.world.facts import Fact
from core.studies.inspection.certificates import certificate
from core.studies.inspection.inspection import Inspection
from core.studies.inspection.taught_questions import WORLD_OF
from core.studies.inspection.verdict import doubt_of
from core.uncertainty.scores import SCORES


@dataclass(frozen=True)
class GradedDecision:
    """One score's decision on one question, held against the truth where that is known."""

    name: str  # a key of `SCORES`
    answer: str  # what the score would serve
    right: bool | None  # whether that is a right answer; None where nobody here knows
    # What is compared with the threshold; None where it abstains at any λ.
    doubt: float | None
    # Of the score's doubt: it answers below. −∞ answers nothing.
    threshold: float

    @property
    def answered(self) -> bool:
        """Its decision, by the same rules as the verdict's."""
        return self.doubt is not None and self.doubt < self.threshold

    @property
    def well_decided(self) -> bool | None:
        """Whether it answered and was right, or abstained and would have been wrong."""
        return None if self.right is None else self.answered == self.right


@dataclass(frozen=True)
class Judgement:
    """What is true about an inspected question, and how every score did."""

    fact: Fact
    scores: tuple[GradedDecision, ...]


def judge(inspection: Inspection) -> Judgement | None:
    """Hold an inspection against the truth; None where nobody here knows the truth."""
    fact = _fact(inspection)
    return None if fact is None else Judgement(fact, decisions(inspection))


def decisions(inspection: Inspection) -> tuple[GradedDecision, ...]:
    """Return what every score decides, in the order of `SCORES`."""
    fact = _fact(inspection)
    return tuple(_judge(inspection, fact, name) for name in SCORES)


def _fact(inspection: Inspection) -> Fact | None:
    return grading.find(inspection.query) if inspection.recording.model == WORLD_OF else None


def _judge(inspection: Inspection, fact: Fact | None, name: str) -> GradedDecision:
    rule = inspection.verdict.rule
    default = certificate(inspection.pipeline, name)
    usual = default.threshold if default else -math.inf
    doubt = doubt_of(
        inspection.scores,
        name,
        inspection.sampled_mass,
        inspection.evidence.answers,
        inspection.least_mass,
        inspection.recording.others,
    )
    answer = inspection.scores[name].answer
    right = None if fact is None else grading.is_right(answer, fact)
    threshold = rule.value if rule and name == rule.score else usual
    return GradedDecision(name, answer, right, doubt, threshold)
