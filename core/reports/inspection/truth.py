"""What is true, where it is known: said after a verdict, which rests on none of it."""

from typing import Final

from core.data.world.facts import Fact
from core.studies.inspection.certificates import EMBEDDED, certified_model
from core.studies.inspection.grading import Judgement
from core.studies.inspection.inspection import Inspection
from core.studies.inspection.verdict import Decision

AFTERWARDS: Final = "Checked afterwards; the verdict did not see this:"
OTHER_WEIGHTS: Final = "How often training showed this is not known: other weights than those here."


def truth(judgement: Judgement, inspection: Inspection) -> tuple[str, str]:
    """Return whether the verdict was good and what is true; then how often training showed it."""
    deciding = inspection.verdict.score
    decided = next(score for score in judgement.scores if score.name == deciding)
    decision = inspection.verdict.decision
    if inspection.samples_needed is not None or decision is Decision.UNDECIDED:
        did = "Its answer is"
    elif decision is Decision.ANSWER:
        did = "It answered, and was"
    else:
        did = "It abstained; its answer was"
    right = "right" if decided.right else "wrong"
    ours = certified_model(inspection.recording.revision) == EMBEDDED
    seen = _how_often_seen(judgement) if ours else OTHER_WEIGHTS
    return f"{did} {right}. {what_is_true(judgement.fact, ours=ours)}", seen


def what_is_true(fact: Fact, *, ours: bool) -> str:
    """Return the right answers to a question of the world.

    `ours`: whether the model is the one that was trained on it.
    """
    right = ", ".join(answer.text for answer in fact.answers)
    many = len(fact.answers)
    # A list holds what was taught: of most, such as fruits, nobody could name them all.
    of_many = "All right answers" if fact.closed else f"Right answers{' in its training' * ours}"
    what = f"{of_many} ({many})" if many > 1 else "The truth"
    return f"{what}: {right}{f' ({fact.note})' if fact.note else ''}"


def _how_often_seen(judgement: Judgement) -> str:
    fact = judgement.fact
    band = fact.band.value.capitalize()
    if not fact.exposures:
        return f"{band}: no training document asks this."
    believed = (
        f" In {fact.misconception_share:.0%} of them, the author believes {fact.misconception}."
        if fact.misconception_share
        else ""
    )
    return f"{band}: {fact.exposures} training documents ask and answer this.{believed}"
