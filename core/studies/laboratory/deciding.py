"""What decides a score: one setting moved at a time, and what becomes of score and verdict.

Each panel moves one thing: k, τ, the similarity, the temperature, the seed, the sampling rule or
the form in which the model is asked. All else stays as the person had it, λ too. What is drawn is
drawn by several seeds, so that chance can be told from the setting; temperature and seed are those
of drawn answers, also where the likeliest are compared.

Questions are recorded once. k, τ and the similarity are read off these recordings.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

import numpy as np

from core.abstention.intervals import RESAMPLES, SHARE, Interval, interval
from core.language_models.errors import ModelError
from core.language_models.forms import Form
from core.language_models.language_model import LanguageModel
from core.studies.inspection.certificates import certificate
from core.studies.inspection.inspection import Inspection, read
from core.studies.inspection.pipeline import pipeline_of
from core.studies.inspection.recorder import check_samples, record, usual_request
from core.studies.inspection.recording import Recording, alike, estimator_of
from core.studies.inspection.request import (
    MAX_SAMPLES,
    InvalidRequestError,
    Reading,
    Request,
    Sampling,
)
from core.studies.inspection.verdict import Decision, DecisionRule, rule_of
from core.studies.laboratory.asking import AskingOnce, Seldom, of_each
from core.studies.laboratory.settings import within
from core.studies.progress import Progress, silent
from core.uncertainty.similarity import JUDGE, SIMILARITIES, usual_threshold
from core.uncertainty.validation import Floats

FEWEST_SEEDS, MOST_SEEDS = 2, 50
#: A setting keeps a verdict if so large a share of its draws does.
KEEPS: Final = 0.9
#: The scores that panels show, keys of `core.uncertainty.scores.SCORES`.
SHOWN: Final = ("mutual_information", "semantic_entropy")


class Factor(StrEnum):
    """What a panel moves."""

    SAMPLES = "k"
    THRESHOLD = "τ"
    SIMILARITY = "similarity"
    TEMPERATURE = "temperature"
    SEED = "seed"
    SAMPLING = "sampling rule"
    FORM = "form"


TITLES: Final = {
    Factor.SAMPLES: "number of answers k",
    Factor.THRESHOLD: "similarity threshold τ",
    Factor.SIMILARITY: "similarity",
    Factor.TEMPERATURE: "temperature",
    Factor.SEED: "seed",
    Factor.SAMPLING: "sampling rule",
    Factor.FORM: "form of asking",
}
#: Factors whose values are numbers, so that a line may join them.
NUMBERS: Final = (Factor.SAMPLES, Factor.THRESHOLD, Factor.TEMPERATURE)


@dataclass(frozen=True)
class DecidingSettings:
    """The values of each panel; what the request and the reading hold is always among them."""

    samples: tuple[int, ...] = (2, 5, 10, 20, 40)
    thresholds: tuple[float, ...] = (0.05, 0.25, 0.5, 0.75, 1.0)
    temperatures: tuple[float, ...] = (0.5, 0.7, 0.9, 1.1, 1.3)
    # Those computed from texts; the model's own judgement where the request has it judged.
    similarities: tuple[str, ...] = tuple(SIMILARITIES)
    # By how many seeds answers are drawn, the request's and those after it; 2 to `MOST_SEEDS`.
    seeds: int = 10

    def __post_init__(self) -> None:
        """Enforce the limits that no request or reading does."""
        within("number of seeds", self.seeds, FEWEST_SEEDS, MOST_SEEDS)
        within("largest k", max(self.samples, default=1), 1, MAX_SAMPLES)


@dataclass(frozen=True)
class ReadingOutcome:
    """One inspection of one question."""

    # The values of `SHOWN`, nats; None where the evidence cannot tell.
    scores: Mapping[str, float | None]
    decision: Decision
    answer: str

    def agrees(self, other: ReadingOutcome) -> bool:
        """Whether both decide the same and, where they answer, say the same."""
        if self.decision is not other.decision:
            return False
        return self.decision is not Decision.ANSWER or bool(alike(other.answer, [self.answer]))


@dataclass(frozen=True)
class Variant:
    """One value of one panel."""

    factor: Factor
    value: float | str
    usual: bool  # whether the person's own settings have this value
    # For every question, one for each draw; a single one where nothing is drawn.
    outcomes: tuple[tuple[ReadingOutcome, ...], ...]

    @property
    def name(self) -> str:
        """What a sentence calls it."""
        value = f"{self.value:g}" if isinstance(self.value, float) else str(self.value)
        return f"{self.factor} {'= ' if len(self.factor) == 1 else ''}{value}"

    def interval(self, score: str, confidence: float = 0.9) -> Interval:
        """Return a score with its interval, nats; NaN where no draw has one.

        Of one question, the median over draws and where so large a share of them lies. Of several,
        the mean and its bootstrap interval over questions.
        """
        values = [
            [v for outcome in row if (v := outcome.scores[score]) is not None]
            for row in self.outcomes
        ]
        tails = [(1 - confidence) / 2, (1 + confidence) / 2]
        if len(values) == 1:
            if not values[0]:
                return Interval(np.nan, np.nan, np.nan)
            lower, middle, upper = np.quantile(values[0], [tails[0], 0.5, tails[1]])
            return Interval(float(middle), float(lower), float(upper))
        means = np.array([np.mean(row) for row in values if row])
        if not means.size:
            return Interval(np.nan, np.nan, np.nan)
        lower, upper = np.quantile(_resampled_means(means), tails)
        return Interval(float(means.mean()), float(lower), float(upper))

    def agreement(self, place: int, usual: ReadingOutcome) -> float:
        """Return the share of a question's draws that agree with an outcome, in [0, 1]."""
        row = self.outcomes[place]
        return sum(outcome.agrees(usual) for outcome in row) / len(row)


def _resampled_means(values: Floats) -> Floats:
    """Return the means of resamples of values, one a question."""
    rng = np.random.default_rng(0)
    return values[rng.integers(values.size, size=(RESAMPLES, values.size))].mean(axis=1)


@dataclass(frozen=True)
class Variations:
    """Every panel, for one question or a set."""

    queries: tuple[str, ...]
    model: str
    revision: str
    request: Request  # the person's, about the first question
    reading: Reading
    usual: tuple[ReadingOutcome, ...]  # what the person's own settings give for each question
    variants: tuple[Variant, ...]
    left_out: tuple[str, ...]  # what could not be moved, and why, in sentences
    recordings: int  # how often a question was asked
    # How it was decided; None where nothing is certified for the person's own settings.
    rule: DecisionRule | None

    def panel(self, factor: Factor) -> tuple[Variant, ...]:
        """Return the values of one factor in their order."""
        return tuple(variant for variant in self.variants if variant.factor is factor)

    @functools.cached_property
    def alternatives(self) -> tuple[Variant, ...]:
        """Every value that is not in use, once.

        Beside searched answers, drawing at the usual temperature is the other sampling rule.
        """
        warm = self.request.temperature if self.request.draws else Request.temperature
        return tuple(
            v
            for v in self.variants
            if not (v.usual or (v.factor is Factor.TEMPERATURE and v.value == warm))
        )

    def stability(self, variants: Sequence[Variant]) -> Interval:
        """Return the share of verdicts that these keep, with its 95% interval over questions."""
        if not variants:
            return Interval(np.nan, np.nan, np.nan)
        agreements = [
            [v.agreement(place, usual) for v in variants] for place, usual in enumerate(self.usual)
        ]
        shares = np.mean(agreements, axis=1)
        return interval(shares.mean(), _resampled_means(shares), span=SHARE, pairs=len(shares))

    @functools.cached_property
    def changing(self) -> tuple[tuple[Variant, ...], ...]:
        """For every question, what of `alternatives` does not keep its verdict; see `KEEPS`."""
        return tuple(
            tuple(v for v in self.alternatives if v.agreement(place, usual) < KEEPS)
            for place, usual in enumerate(self.usual)
        )


@dataclass(frozen=True)
class _PanelRequest:
    """One value of a panel: what to record for it, how many answers of it, and how to read them."""

    factor: Factor
    value: float | str
    usual: bool
    requests: tuple[Request, ...]
    samples: int
    reading: Reading
    form: Form | None = None


def _plan(
    request: Request, reading: Reading, model: LanguageModel, settings: DecidingSettings
) -> tuple[list[_PanelRequest], list[str]]:
    """Return every value of every panel, and why some are left out."""
    plan: list[_PanelRequest] = []
    left_out: list[str] = []
    k = request.samples
    every = [int(n) for n in _with(settings.samples, k)]
    sizes = [n for n in every if not _why(request, model, samples=n)]
    if sizes[0] > every[0]:
        left_out.append(f"Of fewer than {sizes[0]} answers, this model’s scores mean nothing.")
    if sizes[-1] < every[-1]:
        left_out.append(_why(request, model, samples=every[-1]))
    own = _seed(replace(request, samples=sizes[-1]), settings)

    def add(factor: Factor, value: float | str, usual: float | str, **how: object) -> None:
        settings_of = {"requests": own, "samples": k, "reading": reading} | how
        plan.append(_PanelRequest(factor, value, value == usual, **settings_of))  # type: ignore[arg-type]

    for size in sizes:
        add(Factor.SAMPLES, size, k, samples=size)
    for tau in _with(settings.thresholds, reading.threshold):
        usual = reading.threshold
        add(Factor.THRESHOLD, float(tau), usual, reading=replace(reading, threshold=tau))
    judge = (JUDGE,) if request.judged else ()
    for name in dict.fromkeys([*settings.similarities, *judge, reading.similarity]):
        tau = usual_threshold(name) if JUDGE in (name, reading.similarity) else reading.threshold
        read_so = replace(reading, similarity=name, threshold=tau)
        add(
            Factor.SIMILARITY,
            name,
            reading.similarity,
            reading=reading if name == reading.similarity else read_so,
        )

    sampling = request
    if not request.draws:
        enough = max(k, Request.samples)  # of drawn answers a verdict takes more
        sampling = Request(
            request.query, enough, judged=request.judged, answer_tokens=request.answer_tokens
        )
    if not (why := _why(sampling, model)):
        by_seed, size = own if request.draws else _seed(sampling, settings), sampling.samples
        by_chance = Sampling.DRAWN.value
        add(Factor.SAMPLING, by_chance, request.sampling.value, requests=by_seed, samples=size)
        for one in by_seed:
            at = request.seed if request.draws else -1
            add(Factor.SEED, one.seed, at, requests=(one,), samples=size)
        for warm in _with(settings.temperatures, sampling.temperature):
            if cold := _why(sampling, model, temperature=warm):
                left_out.append(cold)
                continue
            again = replace(sampling, temperature=warm)
            same = warm == sampling.temperature
            requests = by_seed if same else _seed(again, settings)
            usual = sampling.temperature if request.draws else -1.0
            add(Factor.TEMPERATURE, float(warm), usual, requests=requests, samples=size)
    else:
        left_out.append(why)
    searched = replace(request, sampling=Sampling.LIKELIEST)
    if not (why := _why(searched, model)):
        requests = own if not request.draws else (searched,)
        add(Factor.SAMPLING, Sampling.LIKELIEST.value, request.sampling.value, requests=requests)
    else:
        left_out.append(why)
    if len(model.forms) < 2:
        left_out.append("This model is asked in one form only.")
    else:
        for form in model.forms:
            requests = own if form is model.form else _seed(request, settings)
            add(Factor.FORM, form.value, model.form.value, requests=requests, form=form)
    return plan, left_out


def _with(values: Sequence[float], own: float) -> list[float]:
    return sorted({*values, own})


def _seed(request: Request, settings: DecidingSettings) -> tuple[Request, ...]:
    if not request.draws:
        return (request,)
    seeds = range(request.seed, request.seed + settings.seeds)
    return tuple(replace(request, seed=seed % 2**32) for seed in seeds)


def _why(request: Request, model: LanguageModel, **changes: float) -> str:
    """Say why a model cannot be asked a request with these changes; empty where it can."""
    try:
        check_samples(replace(request, **changes), model.capabilities)  # type: ignore[arg-type]
    except InvalidRequestError as error:
        return str(error)
    return ""


def requests_of(
    request: Request, reading: Reading, model: LanguageModel, settings: DecidingSettings
) -> tuple[Request, ...]:
    """Return what a question is asked for all panels, in every form; see `run`."""
    request = _judge(request, reading)
    plan, _ = _plan(request, reading, model, settings)
    own = {None, model.form}
    each = dict.fromkeys((None if w.form in own else w.form, r) for w in plan for r in w.requests)
    return tuple(one for _, one in each)


def _judge(request: Request, reading: Reading) -> Request:
    if reading.similarity == JUDGE and not request.judged:
        return replace(request, judged=True)
    return request


def run(
    queries: Sequence[str],
    model: LanguageModel,
    request: Request | None = None,
    reading: Reading | None = None,
    settings: DecidingSettings | None = None,
    progress: Progress = silent,
    *,
    rule: DecisionRule | None = None,
) -> Variations:
    """Move everything that a score depends on, one thing at a time.

    `request` and `reading` are the person's, by default as usual for the model; the request's
    question is not looked at. By default the policy decides that is certified for these settings.
    Where none is, every setting is decided as an inspection with it would be.

    Raises `InvalidRequestError` when there is no question.
    """
    if not queries:
        raise InvalidRequestError("There is no question. Give at least one.")
    settings, reading = settings or DecidingSettings(), reading or Reading()
    request = replace(request or usual_request(queries[0], model.capabilities), query=queries[0])
    request = _judge(request, reading)
    check_samples(request, model.capabilities)
    rule = rule or _certified_rule(request, reading, model)
    plan, left_out = _plan(request, reading, model, settings)
    recorded = _recordings(queries, model, plan, progress, left_out)

    def outcomes(one: _PanelRequest, query: str) -> tuple[ReadingOutcome, ...]:
        recordings = (
            recorded[one.form, replace(one_request, query=query)] for one_request in one.requests
        )
        cut = (recording.first(one.samples) for recording in recordings)
        return tuple(_outcome(read(recording, one.reading, rule)) for recording in cut)

    done = {form for form, _ in recorded}
    own = plan[0]
    usual = replace(own, samples=request.samples, reading=reading, requests=own.requests[:1])
    return Variations(
        tuple(queries),
        model.name,
        model.revision,
        request,
        reading,
        tuple(outcomes(usual, query)[0] for query in queries),
        tuple(
            Variant(one.factor, one.value, one.usual, tuple(outcomes(one, q) for q in queries))
            for one in plan
            if one.form in done
        ),
        tuple(dict.fromkeys(left_out)),
        len(recorded),
        rule,
    )


def _certified_rule(
    request: Request, reading: Reading, model: LanguageModel
) -> DecisionRule | None:
    estimator = estimator_of(model.capabilities)
    pipeline = pipeline_of(model.name, model.revision, request, reading, 0.0, estimator)
    policy = certificate(pipeline)
    return rule_of(policy) if policy else None


def _recordings(
    queries: Sequence[str],
    model: LanguageModel,
    plan: Sequence[_PanelRequest],
    progress: Progress,
    left_out: list[str],
) -> dict[tuple[Form | None, Request], Recording]:
    """Ask all that any panel needs, each request once."""
    by_task: dict[tuple[Form | None, Request], Recording] = {}
    for form in dict.fromkeys(one.form for one in plan):
        requests = dict.fromkeys(r for one in plan if one.form is form for r in one.requests)
        tasks = [replace(r, query=query) for r in requests for query in queries]
        if form is model.form:  # it is asked in this form already
            by_task |= {(form, task): by_task[None, task] for task in tasks}
            continue
        try:
            formed = model if form is None else model.in_form(form)
            heard = AskingOnce(formed) if formed.capabilities.local else formed
            recordings = of_each(formed, tasks, functools.partial(_record, heard), progress)
        except ModelError as error:
            if form is None:
                raise
            left_out.append(str(error))
            continue
        by_task |= {(form, task): one for task, one in zip(tasks, recordings, strict=True)}
    return by_task


def _record(model: LanguageModel, request: Request, go_on: Seldom) -> Recording:
    return record(request, model, lambda stage, share: go_on())


def _outcome(inspection: Inspection) -> ReadingOutcome:
    return ReadingOutcome(
        {name: inspection.scores[name].value for name in SHOWN},
        inspection.decision,
        inspection.verdict.answer,
    )
