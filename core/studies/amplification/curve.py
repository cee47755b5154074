"""Amplification: what repeating an answer does to a model (the paper's Section 3).

The model is told t times that one answer is b, and asked how likely the right answer a and
b are. What it knows stays, however often it is told otherwise; what it half knows turns at
once; of many right answers each keeps a share. All t of a query go out as one batched call.

A model that cannot score given texts is sampled. Where it says how likely its samples are, that
is used: it tells two answers apart that were drawn equally often. Elsewhere they are counted.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import InitVar, dataclass, field
from enum import StrEnum
from functools import partial
from itertools import chain

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit  # type: ignore[import-untyped, unused-ignore]

from core import prompts
from core.codec import TURNS, count_of, is_writable
from core.data.world.grading import SAME_ANSWER
from core.language_models.client.concurrency import AT_ONCE, at_once
from core.language_models.errors import ModelError, PromptTooLongError
from core.language_models.language_model import (
    LanguageModel,
    Response,
    notes_on_cut,
    shared_beginning,
)
from core.language_models.usage import Usage
from core.studies.inspection.request import MAX_QUERY_CHARACTERS, InvalidRequestError
from core.studies.progress import Progress, silent
from core.uncertainty.accents import without_accents
from core.uncertainty.no_answer import is_no_answer
from core.uncertainty.same_answer import contradict
from core.uncertainty.similarity import token_f1, tokens

DEFAULT_REPETITIONS = (0, 1, 2, 5, 10, 20, 50, 100)
FREQUENCY_REPETITIONS = (0, 1, 5, 20, 100)  # where every point costs many calls
MOST_REPETITIONS = 1000
MOST_POINTS = 101
SAMPLES_A_POINT = 40  # where given texts cannot be scored
_NUMBER = re.compile(r"\d+")
_Z = 1.959964  # of a normal law, 95% lie within so many standard deviations
HARDLY_EVER = math.log(1e-6)  # nats; what is rarer at first is no answer of this model's


class Origin(StrEnum):
    """What a curve is made of, by what the model can do."""

    SCORED = "exact likelihoods"
    SAMPLED = "own likelihoods of sampled answers"
    COUNTED = "counts of sampled answers"


@dataclass(frozen=True)
class Case:
    """A query, its right answer, and the answer that is repeated.

    `kept`: whether the case was accepted once and is only read again.

    Raises `InvalidRequestError` with a sentence, when one of them is empty, too long, has a line
    break, or when the two answers are the same but for case, punctuation and articles.
    """

    query: str
    answer: str
    repeated: str
    kept: InitVar[bool] = field(default=False, kw_only=True)

    def __post_init__(self, kept: bool) -> None:
        """Tidy the texts and enforce the limits, whatever the screen in front allowed."""
        for name, words in (
            ("query", "question"),
            ("answer", "answer to test"),
            ("repeated", "answer to repeat"),
        ):
            text = TURNS.sub("", getattr(self, name)).strip()
            object.__setattr__(self, name, text)
            if not text:
                raise InvalidRequestError(f"There is no {words}. Type one.")
            if len(text) > MAX_QUERY_CHARACTERS:
                raise InvalidRequestError(
                    f"The {words} has {len(text):,} characters; at most "
                    f"{MAX_QUERY_CHARACTERS:,} are allowed. Shorten it."
                )
            if name != "query" and len(text.splitlines()) > 1:
                raise InvalidRequestError(
                    f"The {words} has a line break, where a model’s answer ends. Use one line."
                )
            if not is_writable(text):
                raise InvalidRequestError(f"The {words} is not valid Unicode. Type it again.")
        # Earlier releases let two spellings of one answer pass, and their curves must still open.
        same = (
            self.answer == self.repeated if kept else _words(self.answer) == _words(self.repeated)
        )
        if same:
            raise InvalidRequestError(
                "The two answers are the same. Choose a different answer to repeat."
            )

    def prompt(self, repetitions: int, read_as: str | None = None) -> str:
        """Return the prompt F_t with the repeated answer told t times.

        `read_as` is the question as the model reads it, where that is not how it was typed.
        """
        return prompts.iterative(read_as or self.query, [self.repeated] * repetitions)


@dataclass(frozen=True)
class Point:
    """Where the two answers stand after t repetitions."""

    repetitions: int  # t
    # log_likelihood_answer, log_likelihood_repeated: ln Q(a | F_t) and ln Q(b | F_t), nats; of
    # sampled answers, those of all that mean it. None where the model says none, and where no such
    # answer was sampled.
    log_likelihood_answer: float | None
    log_likelihood_repeated: float | None
    # P(a) / (P(a) + P(b)), in [0, 1]; None where neither was ever sampled.
    normalised_probability: float | None
    # lower, upper: the 95% Wilson interval where answers are counted. Where the sampled ones say
    # their likelihoods: what the share would be if all that was not sampled meant b, or a.
    lower: float | None = None
    upper: float | None = None

    @property
    def repeated_is_likelier(self) -> bool:
        """Whether the repeated answer is the likelier one."""
        return self.normalised_probability is not None and self.normalised_probability < 0.5


@dataclass(frozen=True)
class Amplification:
    """A curve over the number of repetitions."""

    case: Case
    model: str
    revision: str
    points: tuple[Point, ...]
    # What it really took of a service; None where calls cost nothing but time.
    used: Usage | None = field(default=None, compare=False)
    source: Origin = Origin.SCORED  # what the shares are made of
    # The question as it stood in the prompts, where the model reads it otherwise than it was typed.
    read_as: str | None = None
    notes: tuple[str, ...] = ()  # what has to be known of the model's answers, in sentences
    from_file: bool = False  # whether a file says so, which nobody here checked

    @property
    def has_likelihoods(self) -> bool:
        """Whether any point says how likely one of the answers is."""
        pairs = ((p.log_likelihood_answer, p.log_likelihood_repeated) for p in self.points)
        return any(value is not None for both in pairs for value in both)

    @property
    def crossing(self) -> int | None:
        """The first t of the curve where the repeated answer is the likelier; None if none is."""
        return next((p.repetitions for p in self.informative if p.repeated_is_likelier), None)

    @property
    def is_foreign(self) -> bool:
        """Whether the model, before any repetition, hardly ever gives either answer."""
        first = self.points[0]
        values = (first.log_likelihood_answer, first.log_likelihood_repeated)
        return first.repetitions == 0 and all(v is not None and v < HARDLY_EVER for v in values)

    def probability(self, point: Point) -> float | None:
        """Return P(a) by itself at a point; None where nothing tells it.

        Of counted answers, the narrower Wilson's interval, the more of all meant either.
        """
        if self.source is not Origin.COUNTED:
            value = point.log_likelihood_answer
            return None if value is None else math.exp(value)
        share, low, high = point.normalised_probability, point.lower, point.upper
        if share is None or low is None or high is None:
            return None
        middle = (low + high) / 2
        counted = _Z**2 * (0.5 - middle) / (middle - share) if middle != share else 0.0
        return share * counted / SAMPLES_A_POINT

    @property
    def informative(self) -> list[Point]:
        """The points at which either answer was seen."""
        return [p for p in self.points if p.normalised_probability is not None]


def tidy(repetitions: Sequence[int]) -> tuple[int, ...]:
    """Return distinct numbers of repetitions in rising order.

    Raises `InvalidRequestError` when there are none, or one is negative or above
    `MOST_REPETITIONS`.
    """
    counts = tuple(sorted({int(t) for t in repetitions}))
    if not counts:
        raise InvalidRequestError("Name at least one number of repetitions, such as 0,1,10.")
    if counts[0] < 0 or counts[-1] > MOST_REPETITIONS:
        raise InvalidRequestError(
            f"Numbers of repetitions must lie between 0 and {MOST_REPETITIONS:,}."
        )
    return counts


def grid(model: LanguageModel, most: int) -> tuple[int, ...]:
    """Return the numbers of repetitions of a curve up to `most`.

    Every one of them, or, beyond `MOST_POINTS` and where every point costs many calls or much
    time, fewer that are further and further apart.

    Raises `InvalidRequestError` when `most` is negative or above `MOST_REPETITIONS`.
    """
    tidy([most])
    able = model.capabilities
    if not (able.scores_given_text and able.quick):
        fewer = DEFAULT_REPETITIONS if able.scores_given_text else FREQUENCY_REPETITIONS
        return tidy([*(t for t in fewer if t < most), most])
    if most < MOST_POINTS:
        return tuple(range(most + 1))
    spread = np.geomspace(10, most, MOST_POINTS - 10)
    return tidy([*range(11), *np.round(spread).astype(int).tolist()])


def amplify(
    case: Case,
    model: LanguageModel,
    repetitions: Sequence[int] = DEFAULT_REPETITIONS,
    progress: Progress = silent,
    *,
    seed: int = 0,
) -> Amplification:
    """Tell the model the answer to repeat t times, for every t, and see what becomes of it.

    Raises `InvalidRequestError`, also when a prompt does not fit: it names the largest t that does.
    """
    times = tidy(repetitions)
    progress(stage := f"Repeating an answer up to {times[-1]} times", 0.0)
    before, source = model.meter.usage, source_of(model)
    notes: tuple[str, ...] = ()
    able = model.capabilities
    same = shared_beginning(able, case.answer, case.repeated)
    if same and source is not Origin.COUNTED:
        raise InvalidRequestError(same)
    if source is Origin.SCORED:
        points = _by_likelihood(case, model, times, progress, stage)
    else:
        weigh = partial(_weigh, whole=able.whole_answers)
        point = weigh if source is Origin.SAMPLED else _count
        responses = _draw(case, model, times, progress, seed)
        points = tuple(point(t, row, case) for t, row in zip(times, responses, strict=True))
        notes = notes_on_cut(chain.from_iterable(responses))
    used = None if able.local else model.meter.usage - before
    read = model.reads(case.query)
    read_as = None if read == case.query else read
    return Amplification(case, model.name, model.revision, points, used, source, read_as, notes)


def source_of(model: LanguageModel) -> Origin:
    """Return what a model’s curves are made of."""
    able = model.capabilities
    if able.scores_given_text:
        return Origin.SCORED
    return Origin.SAMPLED if able.own_log_likelihoods else Origin.COUNTED


def _by_likelihood(
    case: Case, model: LanguageModel, times: tuple[int, ...], progress: Progress, stage: str
) -> tuple[Point, ...]:
    try:
        rows = _score_all(case, model, times, progress, stage)
        if np.isnan(rows).any():
            raise ModelError(
                f"{model.name} cannot score one of these answers behind every prompt. Choose other "
                "answers, or another model."
            )
    except PromptTooLongError as error:
        if not model.capabilities.local:  # a search would cost calls that nobody agreed to
            raise InvalidRequestError(f"{error} Or choose fewer repetitions.") from error
        sentence = _what_fits(case, model, times[-1], error, progress)
        raise InvalidRequestError(sentence) from error
    return tuple(point_of(t, float(a), float(b)) for t, (a, b) in zip(times, rows, strict=True))


def point_of(repetitions: int, log_answer: float, log_repeated: float) -> Point:
    """Return the point of two likelihoods, ln Q(a | F_t) and ln Q(b | F_t)."""
    return Point(repetitions, log_answer, log_repeated, _share(log_answer, log_repeated))


def _score_all(
    case: Case, model: LanguageModel, times: Sequence[int], progress: Progress, stage: str
) -> NDArray[np.float64]:
    """Score both answers after every t, looking meanwhile whether somebody cancels."""
    call = partial(
        model.log_likelihoods,
        [case.prompt(t, model.reads(case.query)) for t in times],
        [case.answer, case.repeated],
    )
    workers = 1 if model.capabilities.local else AT_ONCE
    return at_once([call], workers=workers, tick=lambda share: progress(stage, share))[0]


def _share(log_answer: float, log_repeated: float) -> float | None:
    """Return P(a) / (P(a) + P(b)); None where neither is possible at all."""
    if max(log_answer, log_repeated) == -math.inf:
        return None
    return float(expit(log_answer - log_repeated))


def _what_fits(
    case: Case, model: LanguageModel, most: int, error: PromptTooLongError, progress: Progress
) -> str:
    """Find the largest t whose prompt fits, by bisection, and say it."""

    def fits(repetitions: int) -> bool:
        try:
            _score_all(case, model, [repetitions], progress, "Finding out how many repetitions fit")
        except PromptTooLongError:
            return False
        return True

    if not fits(0):
        return str(error)
    low, high = 0, most
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return (
        f"With {count_of(most, 'repetition')} the prompt does not fit into the model’s context; "
        f"the most that fits is {low}."
    )


def most_calls(model: LanguageModel, repetitions: Sequence[int]) -> int:
    """Return how many calls a curve takes at most; 0 where calls cost nothing but time."""
    points, able = len(tidy(repetitions)), model.capabilities
    if able.scores_given_text:
        scored = math.ceil(2 * points / able.pairs_a_call) + points * able.calls_a_prompt
        return 0 if able.local else scored
    return points * (
        SAMPLES_A_POINT if able.local else math.ceil(SAMPLES_A_POINT / able.candidates_a_call)
    )


def _draw(
    case: Case, model: LanguageModel, times: tuple[int, ...], progress: Progress, seed: int
) -> list[list[Response]]:
    def draw(t: int) -> list[Response]:
        return model.sample(case.prompt(t, model.reads(case.query)), SAMPLES_A_POINT, seed=seed)

    def tick(share: float) -> None:
        progress(f"Sampling after {count_of(times[int(share * len(times))], 'repetition')}", share)

    try:
        return at_once(
            [partial(draw, t) for t in times],
            workers=1 if model.capabilities.local else AT_ONCE,
            tick=tick,
        )
    except PromptTooLongError as error:
        raise InvalidRequestError(f"{error} Or choose fewer repetitions.") from error


def _count(t: int, responses: Sequence[Response], case: Case) -> Point:
    ours = sum(_is_meant(response.text, case.answer, case.repeated) for response in responses)
    theirs = sum(_is_meant(response.text, case.repeated, case.answer) for response in responses)
    return Point(t, None, None, *_wilson(ours, ours + theirs))


def _weigh(t: int, responses: Sequence[Response], case: Case, *, whole: bool) -> Point:
    """Add up the likelihoods of the distinct answers that mean the one, and the other.

    `whole`: whether they have their ends. One without holds every longer answer: each counts once.
    """
    weights: dict[str, float] = {}
    for response in responses:
        if response.text and response.log_likelihood is not None:
            likelihood = math.exp(response.log_likelihood)
            weights[response.text] = max(likelihood, weights.get(response.text, 0.0))
    for text, likelihood in [] if whole else [*weights.items()]:
        begun = [other for other in weights if other != text and text.startswith(other)]
        if begun:
            nearest = max(begun, key=len)
            weights[nearest] = max(weights[nearest] - likelihood, 0.0)
    ours = sum(p for text, p in weights.items() if _is_meant(text, case.answer, case.repeated))
    theirs = sum(p for text, p in weights.items() if _is_meant(text, case.repeated, case.answer))
    both = ours + theirs
    if not both:
        return Point(t, None, None, None)
    unseen = max(1.0 - sum(weights.values()), 0.0)
    return Point(
        t,
        min(math.log(ours), 0.0) if ours else None,
        min(math.log(theirs), 0.0) if theirs else None,
        *(ours / both, ours / (both + unseen), (ours + unseen) / (both + unseen)),
    )


def _is_meant(text: str, answer: str, other: str) -> bool:
    """Whether a sampled text counts as an answer, and is no nearer to the other one.

    It may say more (“Bell, in 1876”), but not the contrary, another number, or nothing.
    """
    # Without accents: a person who types Pele means Pelé.
    bare, near_to, far_from = map(without_accents, (text, answer, other))
    near = token_f1(bare, near_to)
    if near < SAME_ANSWER or near <= token_f1(bare, far_from) or is_no_answer(bare):
        return False
    return not contradict(bare if _NUMBER.search(answer) else _NUMBER.sub("", bare), near_to)


def _words(text: str) -> list[str]:
    return tokens(without_accents(text))


def _wilson(successes: int, trials: int) -> tuple[float | None, float | None, float | None]:
    """Return a share with its 95% Wilson interval; Nones without a trial."""
    from scipy.stats import binomtest  # takes long to load

    if not trials:
        return None, None, None
    interval = binomtest(successes, trials).proportion_ci(0.95, method="wilson")
    return successes / trials, float(interval.low), float(interval.high)
