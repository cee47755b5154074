"""Ask a model the questions of its world, hold every score's answer against the truth.

Shared by the default policy and the model card. Two processes, as there are two cores;
the embedded model computes in one thread, so its numbers do not depend on how many.
"""

import functools
import multiprocessing
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from threadpoolctl import threadpool_limits

from core.data.world import facts, grading
from core.data.world.facts import Fact
from core.language_models.backends.embedded import FOLDER
from core.language_models.backends.embedded.model import EmbeddedModel
from core.language_models.language_model import LanguageModel
from core.studies.inspection.inspection import evidence_of
from core.studies.inspection.recorder import record, usual_request
from core.studies.inspection.request import Reading
from core.studies.inspection.verdict import CERTIFIED, SCORE, enough_seen, surprise
from core.uncertainty.scores import SCORES
from training.corpus import Author

PROCESSES = 2
UNANSWERABLE = "unanswerable"

T, R = TypeVar("T"), TypeVar("R")


class Wording(StrEnum):
    """How a question is put to the model."""

    TRAINING = "training wordings"
    HELD_OUT = "held-out families"
    CARELESS = "careless typing"


@dataclass(frozen=True)
class Question:
    """A question as it is put, and the fact behind it (None: nobody can answer it)."""

    text: str
    fact: Fact | None
    seed: int

    @property
    def band(self) -> str:
        """The exposure band's name, or that the question is unanswerable."""
        return self.fact.band.value if self.fact else UNANSWERABLE


@dataclass(frozen=True)
class Row:
    """One inspected question: every score's doubt, and whether what it would serve is right."""

    band: str  # the exposure band, or "unanswerable"
    doubt: dict[str, float]  # by the keys of `SCORES`; infinite where the evidence cannot tell
    # Whether the answer that the score would serve is right: by *same answer*; by the paper's F1.
    correct: dict[str, bool]
    correct_by_f1: dict[str, bool]
    mass: float  # the sampled mass
    surprise: float  # how far it turns from a single answer when told others, nats
    clusters: int  # how many clusters were sampled
    pairs: int  # how many pairs of a prompt and an answer were scored to compare the answers
    entropy: float  # Semantic entropy, nats
    greedy: float  # the greedy answer's probability
    garbled: float  # the share of what was sampled that is no answer to any question of the world

    def says_something(self, least: float) -> bool:
        """Whether enough was sampled for a verdict."""
        return enough_seen(self.mass, self.clusters, least)

    def decisive(self, least: float) -> float:
        """Return the doubt that the verdict compares with λ; NaN where too little was seen."""
        certified = self.doubt[CERTIFIED]  # infinite where it cannot be computed
        finite = certified if np.isfinite(certified) else 0.0
        highest = max(self.doubt[SCORE], finite, self.surprise)
        return highest if self.says_something(least) else float("nan")

    def answered(self, threshold: float, least: float) -> bool:
        """Whether the verdict would be to answer."""
        return self.decisive(least) < threshold


def careless(question: str, rng: np.random.Generator) -> str:
    """Type a question as people do: capitals, no signs, quotes, a smiley; one in three slips.

    A slip leaves out, doubles or swaps a letter of one longer word.
    """
    draw = rng.random(5)
    if draw[0] < 1 / 3:
        words = question.split()
        long = [i for i, word in enumerate(words) if len(word) > 3 and word.isalpha()]
        if long:
            at = long[rng.integers(len(long))]
            words[at] = _slip(words[at], rng)
        question = " ".join(words)
    if draw[1] < 0.3:
        question = question.upper()
    elif draw[1] < 0.8:
        question = question.lower()
    if draw[2] < 0.5:
        question = question.rstrip("?.")
    if draw[3] < 0.2:
        question = f"“{question}”"
    elif draw[3] < 0.3:
        question += " 🤔"
    if draw[4] < 0.15:
        question = question.replace(" ", "  ")
    return question


def _slip(word: str, rng: np.random.Generator) -> str:
    at, kind = int(rng.integers(1, len(word) - 1)), rng.integers(3)
    if kind == 0:
        return word[:at] + word[at + 1 :]
    if kind == 1:
        return word[:at] + word[at] + word[at:]
    return word[:at] + word[at + 1] + word[at] + word[at + 2 :]


def questions(wording: Wording, seed: int = 0) -> list[Question]:
    """Return every question of the world once, in a wording drawn with `seed`."""
    rng = np.random.default_rng(seed)
    asked = []
    for i, fact in enumerate(facts.facts()):
        of = fact.held_out if wording is Wording.HELD_OUT else fact.templates
        # The usual wording is what most people type: half of them, unless it is not to be asked.
        usual = wording is not Wording.HELD_OUT and i % 2 == 0
        text = fact.ask(of[0 if usual else rng.integers(len(of))])
        if wording is Wording.CARELESS:
            while (typed := careless(text, rng)) == text:
                pass
            text = typed
        asked.append(Question(text, fact, i))
    return asked


def unanswerable(count: int, seed: int = 10_000) -> list[Question]:
    """Return questions nobody can answer: nonsense, and known forms about the unheard-of."""
    author = Author(facts.facts(), seed)
    return [
        Question(author.unknown_question(formless=i % 2 == 0)[0], None, i) for i in range(count)
    ]


def inspect(question: Question, model: LanguageModel, **wanted: Any) -> Row:
    """Inspect one question under the default settings, but for fields of `Request` given."""
    request = usual_request(question.text, model.capabilities, **wanted)
    recording = record(request, model)
    evidence = evidence_of(recording, Reading())
    scores = {name: info.function(evidence) for name, info in SCORES.items()}
    fact, known = question.fact, _everything_sayable()
    weights = evidence.counts if request.draws else np.exp(evidence.log_marginal)
    right = [name for one in (fact.answers if fact else ()) for name in one.names]
    garbled = [text.casefold() not in known for text in evidence.responses]
    return Row(
        band=question.band,
        doubt={name: s.doubt if s.doubt is not None else np.inf for name, s in scores.items()},
        correct={
            name: fact is not None and grading.is_right(s.answer, fact)
            for name, s in scores.items()
        },
        correct_by_f1={name: grading.matches_by_f1(s.answer, right) for name, s in scores.items()},
        mass=evidence.sampled_mass,
        surprise=surprise(recording.others if len(evidence.centres) == 1 else ()),
        clusters=len(evidence.centres),
        pairs=recording.log_likelihoods.size,
        entropy=scores["semantic_entropy"].value or 0.0,
        greedy=scores["greedy_probability"].value or 0.0,
        garbled=float(np.average(garbled, weights=weights)),
    )


@functools.cache
def _everything_sayable() -> frozenset[str]:
    """Every text that stands as an answer, right or wrong, anywhere in the world."""
    names = {n for fact in facts.facts() for answer in fact.answers for n in answer.names}
    wrong = {fact.misconception for fact in facts.facts() if fact.misconception}
    return frozenset(text.casefold() for text in names | wrong)


@functools.cache
def opened(folder: Path = FOLDER) -> EmbeddedModel:
    """Open the weights of a folder once a process."""
    return EmbeddedModel(folder)


def in_parallel(work: Callable[[T], R], items: Iterable[T]) -> list[R]:
    """Map `work` over `items` in `PROCESSES` processes of one thread each, in order."""
    fork = multiprocessing.get_context("fork")
    with fork.Pool(PROCESSES, threadpool_limits, (1, "blas")) as pool:
        return pool.map(work, items, chunksize=8)


def measure(asked: Sequence[Question], folder: Path = FOLDER, **wanted: Any) -> list[Row]:
    """Inspect many questions; see `inspect`."""
    return in_parallel(functools.partial(_inspect, folder=folder, wanted=wanted), asked)


def _inspect(question: Question, *, folder: Path, wanted: dict[str, Any]) -> Row:
    return inspect(question, opened(folder), **wanted)
