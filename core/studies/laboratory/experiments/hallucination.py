"""A hallucination, drawn: the paper's Figure 4."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from core.data.world.facts import Fact, facts
from core.data.world.plain import plain as unmarked
from core.language_models.base import LanguageModel
from core.once import once
from core.studies.inspection.request import InvalidRequestError
from core.studies.laboratory.experiment import Asks, Experiment, Field, Outcome, Values
from core.studies.laboratory.hallucination import Hallucination, HallucinationSettings, run
from core.studies.laboratory.pseudo_joint import (
    LEAST_SMOOTHING,
    LIKELIEST,
    MOST_LIKELIEST,
    MOST_SMOOTHING,
    SMOOTHING,
)
from core.studies.progress import Progress

QUESTION: Final = "What is the official language of Liechtenstein?"  # never seen in training


@dataclass(frozen=True)
class _Asked:
    """Which question, and how it is looked at."""

    fact: Fact
    settings: HallucinationSettings


@once
def _facts() -> dict[str, Fact]:
    return {unmarked(fact.question): fact for fact in facts()}


def fact_of(question: str) -> Fact:
    """Return what is true about a question of the world, whatever its case and marks.

    Raises
    ------
    InvalidRequestError
        Where the world has no such question.
    """
    try:
        return _facts()[unmarked(question)]
    except KeyError:
        raise InvalidRequestError(
            "What is true about this question is not known here. Choose one of “What can I ask?”, "
            "worded as it is there."
        ) from None


def _settings(values: Values) -> _Asked:
    named: dict[str, Any] = dict(values)
    return _Asked(fact_of(named.pop("question")), HallucinationSettings(**named))


def _work(task: _Asked, model: LanguageModel, progress: Progress) -> Outcome:
    hallucination = run(model, task.fact, task.settings, progress)
    return Outcome(hallucination.sentence, _columns(hallucination), _picture_content(hallucination))


def _columns(hallucination: Hallucination) -> dict[str, Any]:
    m = len(hallucination.texts)
    return {
        "first answer": [text for text in hallucination.texts for _ in range(m)],
        "second answer": list(hallucination.texts) * m,
        "both right": [bool(a and b) for a in hallucination.right for b in hallucination.right],
        "Q̃": hallucination.q.ravel(),
        "P̃": hallucination.p.ravel(),
        "Q̃ − P̃, where above 0": hallucination.excess.ravel(),
        "contribution to D, nats": hallucination.contributions.ravel(),
    }


def _picture_content(hallucination: Hallucination) -> dict[str, Any]:
    return {
        "question": hallucination.question,
        "texts": hallucination.texts,
        "right": hallucination.right,
        "q": hallucination.q,
        "p": hallucination.p,
        "excess": hallucination.excess,
        "misplaced": hallucination.misplaced,
        "wrong": hallucination.wrong,
    }


EXPERIMENT = Experiment(
    name="hallucination",
    title="Mass that should not be there",
    about=(
        "What a model says to a question, as pairs of answers, beside what is true. Where the "
        "model puts more than the truth has, it hallucinates."
    ),
    paper="Figure 4, Section 4",
    fields=(
        Field("question", "Question of the embedded world", QUESTION, check=fact_of),
        Field("likeliest", "Likeliest answers looked at", LIKELIEST, 0, MOST_LIKELIEST, 1),
        Field(
            "smoothing",
            "Smoothing ε of the truth",
            SMOOTHING,
            LEAST_SMOOTHING,
            MOST_SMOOTHING,
            0.01,
            folded=True,
        ),
    ),
    settings=_settings,
    work=_work,
    asks=Asks.CHOSEN,
    quick=True,
)
