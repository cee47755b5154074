"""Score questions whose right answers are known: labelled data for a calibration.

Every question is inspected under one request and reading. A row holds every score's doubt
and whether the answer that this score would serve is right, which can differ from score to
score on the same question. Where too little of the probability was seen for a verdict the
doubts are missing: the pipeline abstains there whatever the score.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, replace

from core.abstention.policy import Pipeline
from core.data.tabular.csv_export import to_csv
from core.data.world.grading import matches
from core.language_models.base import LanguageModel
from core.language_models.client.concurrency import stream
from core.language_models.client.metered import meter_for
from core.language_models.usage import Meter, Used
from core.studies.inspection.certificates import usual_least_mass
from core.studies.inspection.inspection import Inspection, read
from core.studies.inspection.pipeline import pipeline_of, to_text
from core.studies.inspection.recorder import record
from core.studies.inspection.recording import estimator_of
from core.studies.inspection.request import Reading, Request
from core.studies.inspection.verdict import DecisionRule, doubt_of
from core.studies.progress import Progress, silent
from core.uncertainty.scores import SCORES

# Of a service. A question often waits for its slowest reply before it can ask on: so many keep
# a service's places filled, and few enough are begun that little is half done when one stops.
QUESTIONS_AT_ONCE = 4


@dataclass(frozen=True)
class Gold:
    """A question and the answers that are right, in all their spellings."""

    query: str
    answers: tuple[str, ...]
    source: str = ""


@dataclass(frozen=True)
class ScoredQuestion:
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
    stands : bool or None
        Whether telling the model another answer hardly changes the next one; None where that is
        not known any more.
    used : Used or None
        What it really took of a service; None where calls cost nothing but time.
    """

    gold: Gold
    answer: str
    doubts: dict[str, float | None]
    correct: dict[str, bool]
    entropy: float | None
    sampled_mass: float
    stands: bool | None = None
    used: Used | None = None


def score(
    gold: Gold,
    model: LanguageModel,
    request: Request,
    reading: Reading | None = None,
    progress: Progress = silent,
    *,
    least_mass: float | None = None,
) -> ScoredQuestion:
    """Inspect one question, and hold every score's answer against the right ones.

    `least_mass` is the default policy's unless another is given.
    """
    one_request = replace(request, query=gold.query)
    return grade(gold, inspect_one(one_request, model, reading, progress, least_mass=least_mass))


def inspect_one(
    request: Request,
    model: LanguageModel,
    reading: Reading | None = None,
    progress: Progress = silent,
    *,
    least_mass: float | None = None,
) -> Inspection:
    """Inspect one question, beside others, to score it: nothing is decided.

    `progress` must not wait: other threads may wait for this one.
    """
    with model.beside():
        recording = record(request, model, progress)
    least_mass = usual_least_mass() if least_mass is None else least_mass
    return read(recording, reading, DecisionRule(math.inf, least_mass))


def questions_at_once(model: LanguageModel) -> int:
    """Return how many questions are best asked at the same time."""
    able = model.capabilities
    return able.questions_at_once if able.local else QUESTIONS_AT_ONCE


def grade(gold: Gold, inspection: Inspection) -> ScoredQuestion:
    """Hold every score's answer against the right ones."""
    mass, clusters = inspection.sampled_mass, len(inspection.clusters)
    least_mass = inspection.pipeline.least_mass
    return ScoredQuestion(
        gold=gold,
        answer=inspection.scores["mutual_information"].answer,
        doubts={
            name: doubt_of(inspection.scores, name, mass, clusters, least_mass, inspection.others)
            for name in SCORES
        },
        correct={
            name: matches(inspection.scores[name].answer, gold.answers, gold.query)
            for name in SCORES
        },
        entropy=inspection.scores["semantic_entropy"].doubt,
        sampled_mass=mass,
        stands=inspection.stands,
        used=inspection.recording.used,
    )


def score_all(
    golds: Sequence[Gold],
    model: LanguageModel,
    request: Request,
    reading: Reading | None = None,
    progress: Progress = silent,
    *,
    done: Mapping[int, ScoredQuestion] | None = None,
    keep: Callable[[int, ScoredQuestion], None] = lambda place, scored: None,
    meters: MutableMapping[int, Meter] | None = None,
) -> list[ScoredQuestion]:
    """Score many questions, those that are not done: several at the same time where that helps.

    Parameters
    ----------
    progress : callable
        Called in this thread only; the share of the questions that are done never falls.
    done : mapping of int to Scored, optional
        Results by the question's place in `golds`, from an attempt that was stopped.
    keep : callable
        Given every new result and its place at once, in whatever order they come, so that
        nothing is lost when somebody cancels or another question fails.
    meters : mutable mapping of int to Meter, optional
        What each question takes of a service, by its place. Given again with `done`, a result
        says what its earlier attempts took too.

    Returns
    -------
    list of Scored
        In the order of the questions.

    Raises
    ------
    Exception
        The first by which a question fails. No other is begun then; those under way end first.
    Cancelled
        Out of `progress`. What is under way is not waited for.
    """
    results = dict(done or {})
    left = [place for place in range(len(golds)) if place not in results]
    local = model.capabilities.local
    workers = questions_at_once(model)
    meters = {} if meters is None else meters

    def say() -> None:
        number = len(results)
        stage = (
            f"Asking question {number + 1} of {len(golds)}"
            if workers == 1
            else f"{number} of {len(golds)} questions done"
        )
        progress(stage, number / len(golds))

    def ask(place: int, go_on: Callable[[], None]) -> tuple[int, ScoredQuestion]:
        # Within a question too: who stops must not wait for a slow service's hundred answers.
        metered_model = model if local else meter_for(model, meters.setdefault(place, Meter()))
        scored = score(golds[place], metered_model, request, reading, lambda _, __: go_on())
        return place, scored if local else replace(scored, used=metered_model.meter.usage)

    for place, scored in stream(left, ask, workers=workers, tick=say):
        results[place] = scored
        keep(place, scored)
    return [results[place] for place in range(len(golds))]


HEADING = (
    *("question", "right answers", "source", "answer"),
    *SCORES,
    *(f"{name}_correct" for name in SCORES),
    *("entropy", "sampled_mass", "pipeline"),
)


def table(
    scored: Sequence[ScoredQuestion],
    model: LanguageModel,
    request: Request,
    reading: Reading | None = None,
    *,
    least_mass: float | None = None,
) -> bytes:
    """Return scored questions as a CSV that the calibration reads."""
    least = usual_least_mass() if least_mass is None else least_mass
    return labelled_table(
        scored,
        pipeline_of(
            model.name,
            model.revision,
            request,
            reading or Reading(),
            least,
            estimator_of(model.capabilities),
        ),
    )


def labelled_table(scored: Iterable[ScoredQuestion], pipeline: Pipeline) -> bytes:
    """Return questions that one pipeline scored as a CSV that the calibration reads."""
    pipeline_text = to_text(pipeline)
    return to_csv(
        HEADING,
        (
            (
                *(s.gold.query, " | ".join(s.gold.answers), s.gold.source, s.answer),
                *(_cell(s.doubts[name]) for name in SCORES),
                *(int(s.correct[name]) for name in SCORES),
                *(_cell(s.entropy), f"{s.sampled_mass:.6g}", pipeline_text),
            )
            for s in scored
        ),
    )


def _cell(value: float | None) -> float | str:
    return "" if value is None else value
