"""All scores of an inspection as a table: what each is, and what it would have done by itself."""

import math
from collections.abc import Sequence
from typing import Final

from core.codec import limit_in_words, no_more
from core.reports.inspection.words import by_draws
from core.studies.inspection.conditional_rows import chance
from core.studies.inspection.grading import GradedDecision, decisions
from core.studies.inspection.inspection import Inspection, display
from core.studies.inspection.recording import Estimator
from core.studies.inspection.verdict import CERTIFIED, SCORE
from core.uncertainty.own_answers import AnswerScores
from core.uncertainty.scores import SCORES

MOST: Final = 999.0  # times its threshold, as shown of what has no bounds


def score_table(inspection: Inspection) -> dict[str, list[str] | list[float | None]]:
    """Return the columns of the table, a row a score in the order of `SCORES`.

    The last two, “which is” and “decision”, are there where the truth is known.
    """
    decided = decisions(inspection)
    names = list(SCORES)
    columns: dict[str, list[str] | list[float | None]] = {
        "score": [SCORES[name].title for name in names],
        "value": [value_shown(inspection, name) for name in names],
        "possible": [_range(inspection, name) for name in names],
        "doubt against λ": [_against(one) for one in decided],
        "answers": [_answers(one) for one in decided],
        "would": ["answer" if one.answered else "abstain" for one in decided],
        "with": [display(one.answer) for one in decided],
    }
    if all(one.right is not None for one in decided):
        columns["which is"] = ["right" if one.right else "wrong" for one in decided]
        columns["decision"] = ["good" if one.well_decided else "bad" for one in decided]
    return columns


def remarks(inspection: Inspection) -> list[str]:
    """Say how much was seen, why M.I. counts as more than its value, and why scores have none."""
    mass = chance(inspection.sampled_mass, inspection.recording.estimator is Estimator.COUNTED, 1)
    seen = f"Sampled mass: {mass} of the model’s probability{by_draws(inspection)}."
    raised = _raise_reason(inspection, decisions(inspection))
    missing = [
        f"{SCORES[name].title}: {score.reason}"
        for name, score in inspection.scores.items()
        if score.reason
    ]
    return [seen, *([raised] if raised else []), *missing]


def own_table(result: AnswerScores) -> dict[str, list[str]]:
    """Return the columns of a table of the scores of answers that somebody has, a row a score."""
    return {
        "score": [SCORES[name].title for name in SCORES],
        "value": [value_shown(result, name) for name in SCORES],
        "why not": [result.scores[name].reason or "" for name in SCORES],
    }


def answer_table(result: AnswerScores) -> dict[str, list[str]]:
    """Return the columns of a table of the different answers, the likeliest first."""
    return {
        "answer": [display(text) for text, _ in result.answers],
        "share of what is here": [f"{share:.1%}" for _, share in result.answers],
    }


def value_shown(scored: Inspection | AnswerScores, name: str) -> str:
    """Return the value of a score with its unit; a dash where there is none."""
    value = scored.scores[name].value
    if value is None:
        return "–"
    written = no_more(value) if name == CERTIFIED else f"{value:z.3f}".replace("-", "−")
    return f"{written} nats" if SCORES[name].unit == "nats" else written


def _raise_reason(inspection: Inspection, decided: Sequence[GradedDecision]) -> str | None:
    """Say why mutual information is doubted more than its value says, where it is."""
    value = inspection.scores[SCORE].value
    doubt = next(one.doubt for one in decided if one.name == SCORE)
    if value is None or doubt is None or doubt <= value:
        return None
    return (
        f"{SCORES[SCORE].title} counts as a doubt of {doubt:.3f} nats, not {value:z.3f}: so much "
        "is certified, or the model turned from its only answer when it was told others."
    )


def _range(inspection: Inspection, name: str) -> str:
    if "ln(clusters)" in SCORES[name].range:
        return f"0 to {inspection.largest_information:.2f} (ln of the clusters)"
    return SCORES[name].range


def _answers(decided: GradedDecision) -> str:
    """Say from which value on it answers, in the score's own direction."""
    if decided.threshold == -math.inf:
        return "never: not certified"
    info = SCORES[decided.name]
    side = "above" if info.larger_is_surer else "below"
    return f"{side} {limit_in_words(info.value_at(decided.threshold), '.3f')}"


def _against(decided: GradedDecision) -> float | None:
    """Return a doubt as a multiple of its threshold, `MOST` at most; None where it has none."""
    if decided.doubt is None or not math.isfinite(decided.threshold) or decided.threshold <= 0:
        return None
    return max(0.0, min(decided.doubt / decided.threshold, MOST))
