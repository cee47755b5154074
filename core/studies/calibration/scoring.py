"""Score questions whose right answers are known: labelled data for a calibration.

Every question is inspected under one request and reading. A row holds every score's doubt
and whether the answer that this score would serve is right, which can differ from score to
score on the same question. Where too little of the probability was seen for a verdict the
doubts are missing: the pipeline abstains there whatever the score.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from core.data.tabular.csv_export import to_csv
from core.data.world.grading import matches
from core.language_models.base import LanguageModel
from core.language_models.client.concurrency import at_once
from core.language_models.client.metered import metered
from core.language_models.usage import Meter, Used
from core.studies.inspection.inspection import read
from core.studies.inspection.pipeline import pipeline_of, to_text
from core.studies.inspection.recorder import record
from core.studies.inspection.recording import estimator_of
from core.studies.inspection.request import Reading, Request
from core.studies.inspection.verdict import DecisionRule, default_threshold, doubt_of
from core.studies.progress import Cancelled, Progress, silent
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
    threshold = DecisionRule(math.inf, least_mass)  # nothing is decided here
    recording = record(replace(request, query=gold.query), model, progress)
    inspection = read(recording, reading, threshold)
    mass, clusters = inspection.sampled_mass, len(inspection.clusters)
    return Scored(
        gold=gold,
        answer=inspection.scores["mutual_information"].answer,
        doubts={
            name: doubt_of(inspection.scores, name, mass, clusters, least_mass, inspection.others)
            for name in SCORES
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
    done: Mapping[int, Scored] | None = None,
    keep: Callable[[int, Scored], None] = lambda place, scored: None,
    meters: MutableMapping[int, Meter] | None = None,
) -> list[Scored]:
    """Score many questions, those that are not done: of a service several at the same time.

    Parameters
    ----------
    progress : callable
        Called in this thread only; the share of the questions that are done never falls.
    done : mapping of int to Scored, optional
        Results by the question's place in `golds`, from an attempt that was stopped.
    keep : callable
        Given every new result and its place at once, in whatever order and thread they come,
        so that nothing is lost when somebody cancels or another question fails.
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
    found = dict(done or {})
    left = [place for place in range(len(golds)) if place not in found]
    local = model.capabilities.local

    def say() -> None:
        number = len(found)
        stage = (
            f"Asking question {number + 1} of {len(golds)}"
            if local
            else f"{number} of {len(golds)} questions done"
        )
        progress(stage, number / len(golds))

    def ask(place: int, asked: LanguageModel, go_on: Callable[[], None]) -> None:
        # Within a question too: who stops must not wait for a slow service's hundred answers.
        scored = score(golds[place], asked, request, reading, lambda _, __: go_on())
        if not local:
            scored = replace(scored, used=asked.meter.used)
        found[place] = scored
        keep(place, scored)

    if local:  # its calls keep the processor busy: two at once would be no faster
        for place in left:
            say()
            ask(place, model, say)
    else:
        meters = {} if meters is None else meters
        asking = {place: metered(model, meters.setdefault(place, Meter())) for place in left}
        _all_at_once(left, lambda place, go_on: ask(place, asking[place], go_on), say)
    return [found[place] for place in range(len(golds))]


def _all_at_once(
    places: Sequence[int], ask: Callable[[int, Callable[[], None]], None], say: Callable[[], None]
) -> None:
    """Ask several questions at a time; after an error, wait for those under way and raise it.

    `say` is called in this thread several times a second, to the end: one can also stop while
    what is under way is waited for.
    """
    failed: list[Exception] = []
    stopped = threading.Event()

    def go_on() -> None:
        if stopped.is_set():
            raise Cancelled

    def one(place: int) -> None:
        if failed:
            return
        try:
            ask(place, go_on)
        except Exception as error:
            failed.append(error)

    def tick(_: float) -> None:
        try:
            say()
        except BaseException:
            stopped.set()
            raise

    if places:
        tick(0.0)  # before the first of them can be done
    at_once([partial(one, place) for place in places], workers=QUESTIONS_AT_ONCE, tick=tick)
    if failed:
        raise failed[0]


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
