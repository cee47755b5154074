"""Score questions whose right answers are known: labelled data for a calibration.

Every question is inspected under one request and reading. A row holds every score's doubt
and whether the answer that this score would serve is right, which can differ from score to
score on the same question. Where too little of the probability was seen for a verdict the
doubts are missing: the pipeline abstains there whatever the score.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from core.data.exports import to_csv
from core.data.truth import matches
from core.language_models.base import LanguageModel, Used
from core.studies.inspection import Reading, read
from core.studies.pipeline import pipeline_of, to_text
from core.studies.progress import Progress, silent
from core.studies.recorder import record
from core.studies.recording import Request, estimator_of
from core.studies.verdict import Threshold, default_threshold, doubt_of
from core.uncertainty.scores import SCORES


@dataclass(frozen=True)
class Gold:
    """A question and the answers that are right, in all their spellings."""

    query: str
    answers: tuple[str, ...]
    source: str = ""


@dataclass(frozen=True)
class Scored:
    """One question's doubts, and whether each score's answer is right.

    Attributes
    ----------
    gold : Gold
    answer : str
        What mutual information would serve.
    doubts : dict of str to (float or None)
        By the keys of `SCORES`; None abstains.
    correct : dict of str to bool
    entropy : float or None
        Semantic entropy, nats, whether or not enough was seen.
    sampled_mass : float
    used : Used or None
        What it really took of a service; None where calls cost nothing but time.
    """

    gold: Gold
    answer: str
    doubts: dict[str, float | None]
    correct: dict[str, bool]
    entropy: float | None
    sampled_mass: float
    used: Used | None = None


def score(
    gold: Gold,
    model: LanguageModel,
    request: Request,
    reading: Reading | None = None,
    progress: Progress = silent,
    *,
    least_mass: float | None = None,
) -> Scored:
    """Inspect one question, and hold every score's answer against the right ones.

    `least_mass` is the default policy's unless another is given.
    """
    least_mass = default_threshold().least_mass if least_mass is None else least_mass
    threshold = Threshold(math.inf, least_mass)  # nothing is decided here
    recording = record(replace(request, query=gold.query), model, progress)
    inspection = read(recording, reading, threshold)
    mass, clusters = inspection.sampled_mass, len(inspection.clusters)
    return Scored(
        gold=gold,
        answer=inspection.scores["mutual_information"].answer,
        doubts={
            name: doubt_of(inspection.scores, name, mass, clusters, least_mass) for name in SCORES
        },
        correct={name: matches(inspection.scores[name].answer, gold.answers) for name in SCORES},
        entropy=inspection.scores["semantic_entropy"].doubt,
        sampled_mass=mass,
        used=recording.used,
    )


def score_all(
    golds: Sequence[Gold],
    model: LanguageModel,
    request: Request,
    reading: Reading | None = None,
    progress: Progress = silent,
    *,
    done: Sequence[Scored] = (),
    keep: Callable[[Scored], None] = lambda scored: None,
) -> list[Scored]:
    """Score many questions, going on after those that are done.

    Parameters
    ----------
    done : sequence of Scored
        The first questions' results, from an attempt that was stopped.
    keep : callable
        Given every new result at once, so that nothing is lost when somebody cancels.
    """
    found = list(done)
    for i, gold in enumerate(golds[len(found) :], len(found)):
        where = f"Asking question {i + 1} of {len(golds)}", i / len(golds)
        progress(*where)
        # Within a question too: who stops must not wait for a slow service's hundred answers.
        found.append(
            score(gold, model, request, reading, lambda _, __, where=where: progress(*where))
        )
        keep(found[-1])
    return found


HEADING = (
    *("question", "right answers", "source", "answer"),
    *SCORES,
    *(f"{name}_correct" for name in SCORES),
    *("entropy", "sampled_mass", "pipeline"),
)


def table(
    scored: Sequence[Scored],
    model: LanguageModel,
    request: Request,
    reading: Reading | None = None,
    *,
    least_mass: float | None = None,
) -> bytes:
    """Return scored questions as a CSV that the calibration reads."""
    least = default_threshold().least_mass if least_mass is None else least_mass
    pipeline = to_text(
        pipeline_of(
            model.name,
            model.revision,
            request,
            reading or Reading(),
            least,
            estimator_of(model.capabilities),
        )
    )
    return to_csv(
        HEADING,
        (
            (
                *(s.gold.query, " | ".join(s.gold.answers), s.gold.source, s.answer),
                *(_cell(s.doubts[name]) for name in SCORES),
                *(int(s.correct[name]) for name in SCORES),
                *(_cell(s.entropy), f"{s.sampled_mass:.6g}", pipeline),
            )
            for s in scored
        ),
    )


def _cell(value: float | None) -> float | str:
    return "" if value is None else value
