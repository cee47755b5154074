"""Language models to test with: tables of likelihoods, limits, and beliefs that turn."""

import hashlib
import itertools
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.shared import limited
from core import prompts
from core.language_models.errors import PromptTooLongError
from core.language_models.language_model import Capabilities, LanguageModel, Response, prompt_seed
from core.language_models.true_false import question
from core.studies.inspection.certificates import default_policy

QUERY = "Which of them?"


class TableModel(LanguageModel):
    """Knows one question, a finite vocabulary of answers, and every likelihood exactly.

    `first` is Q(y | F_0) and `rows[i]` is Q(y | F_1 with answer i told); each sums to 1.
    `true[i]` is Q("True") about answer i. What it was asked is kept in `sampled` (one
    ``(first, count)`` a call) and `scored` (one ``(prompts, answers)`` a call).
    """

    name, revision = "table", "1"
    capabilities = Capabilities(scores_given_text=True)

    def __init__(
        self,
        answers: Sequence[str],
        first: Sequence[float],
        rows: Sequence[Sequence[float]],
        *,
        query: str = QUERY,
        true: float = 0.75,
        cut: Collection[str] = (),
    ) -> None:
        self.answers = list(answers)
        self.first, self.rows = np.asarray(first, float), np.asarray(rows, float)
        self.cut = set(cut)
        self.table = {prompts.iterative(query): dict(zip(answers, self.first, strict=True))}
        for answer, row in zip(answers, self.rows, strict=True):
            self.table[prompts.iterative(query, [answer])] = dict(zip(answers, row, strict=True))
            about = prompts.self_verification(query, answer)
            self.table[about] = {prompts.TRUE: true, prompts.FALSE: 1 - true}
        self.sampled: list[tuple[int, int]] = []
        self.scored: list[tuple[tuple[str, ...], tuple[str, ...]]] = []

    def sample(self, prompt, count, *, temperature=1.0, seed=0, first=0):
        self.sampled.append((first, count))
        row = self.table[prompt]
        texts, p = list(row), np.array(list(row.values()))
        if temperature == 0:
            drawn = [int(p.argmax())] * count
        else:
            p = p ** (1 / temperature)
            p /= p.sum()
            drawn = [
                int(
                    np.random.default_rng([prompt_seed(seed, prompt), first + i]).choice(
                        len(p), p=p
                    )
                )
                for i in range(count)
            ]
        return [Response(texts[i], texts[i] not in self.cut) for i in drawn]

    def log_likelihoods(self, prompts, answers):
        self.scored.append((tuple(prompts), tuple(answers)))
        with np.errstate(divide="ignore"):
            return np.log([[self.table[p][a] for a in answers] for p in prompts])

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """Every (prompt, answer) that was scored, as often as it was."""
        return [(p, a) for asked, answers in self.scored for p in asked for a in answers]

    @property
    def mutual_information(self) -> float:
        """The exact mutual information of the first and the second answer, nats."""
        joint = self.first[:, None] * self.rows
        product = self.first[:, None] * joint.sum(axis=0)
        seen = joint > 0
        return float((joint[seen] * np.log(joint[seen] / product[seen])).sum())


class Searched(TableModel):
    """A table that can also be searched for its likeliest answers."""

    capabilities = Capabilities(scores_given_text=True, searches=True)

    def likeliest(self, prompt, count):
        row = sorted(self.table[prompt].items(), key=lambda pair: -pair[1])[:count]
        return [Response(text, text not in self.cut, float(np.log(p))) for text, p in row if p]


def certified(model: Searched) -> Searched:
    """Pass for the model that the bundled policies were certified for: asked as usual, they fit.

    It may be told any answer of the world, and keeps to its own then.
    """
    pipeline = default_policy().pipeline
    assert pipeline is not None
    model.name, model.revision = pipeline.model, pipeline.revision
    model.table = Steadfast(model)
    return model


class Steadfast(dict):
    """The table of a model that answers what it was not made for as if nothing were told."""

    def __init__(self, model: TableModel) -> None:
        super().__init__(model.table)
        self.untold = dict(zip(model.answers, model.first, strict=True))

    def __missing__(self, prompt: str) -> dict[str, float]:
        return self.untold


def words(count: int) -> list[str]:
    """Answers that have nothing in common, whichever similarity compares their words."""
    return [f"answer{i}" for i in range(count)]


def falling(count: int) -> np.ndarray:
    """A distribution that falls slowly: all answers come up, and no two are tied."""
    weights = 1 / np.arange(2.0, count + 2)
    return weights / weights.sum()


def knows(count: int) -> TableModel:
    """Many right answers: telling it one changes nothing. Mutual information 0."""
    first = falling(count)
    return TableModel(words(count), first, np.tile(first, (count, 1)))


def copies(count: int, share: float = 0.8) -> TableModel:
    """Does not know: told an answer, it repeats it with probability `share` or more."""
    first = falling(count)
    rows = share * np.eye(count) + (1 - share) * first
    return TableModel(words(count), first, rows)


# ------------------------------------------------- models that say which answers are the same

# Texts that share words, some of them all of their words.
TEXTS = [
    *("red apple", "Red apple.", "green apple", "the banana", "banana", "yellow banana", "plum"),
    *(f"{colour} {fruit}" for colour in ("pale", "dark") for fruit in ("fig", "lime", "melon")),
]


def sureness(one: str, other: str) -> float:
    """Return some share of True about a pair, the same whichever comes first."""
    text = "\0".join(sorted((one, other)))
    return (1 + hashlib.sha256(text.encode()).digest()[0]) / 258


def comparing(model: TableModel, sure=sureness) -> TableModel:
    """Teach a model how sure it is that two of its answers mean the same."""
    for one, other in itertools.combinations(model.answers, 2):
        share = sure(one, other)
        model.table[question(QUERY, one, other)] = {prompts.TRUE: share, prompts.FALSE: 1 - share}
    return model


def fruit(sure=sureness) -> TableModel:
    """A model whose answers are `TEXTS`; told one, it names others that rarely come first."""
    n = len(TEXTS)
    rows = [[0.5 * (i == j) + 0.5 * p for j, p in enumerate(falling(n)[::-1])] for i in range(n)]
    return comparing(TableModel(TEXTS, falling(n) ** 2 / (falling(n) ** 2).sum(), rows), sure)


def asked_about(prompt: str) -> bool:
    """Say whether a prompt compares two answers."""
    return prompts.SAME in prompt


# ------------------------------------------------------- models with abilities switched off


@dataclass(frozen=True)
class SampleCall:
    """One call of `Limited.sample`."""

    prompt: str
    count: int
    temperature: float
    seed: int
    first: int


class Limited(limited.Limited):
    """Keeps what was asked in `asked` (samples), `scored` and `continued` (next tokens).

    More than one request can return is a fault of whoever asks, and fails the test.
    """

    def __init__(self, inner, **abilities):
        super().__init__(inner, **abilities)
        self.asked: list[SampleCall] = []
        self.scored: list[tuple[tuple[str, ...], tuple[str, ...]]] = []
        self.continued: list[str] = []

    def sample(self, prompt, count, *, temperature=1.0, seed=0, first=0):
        assert count <= self.capabilities.candidates_a_call, "more than one request can return"
        self.asked.append(SampleCall(prompt, count, temperature, seed, first))
        return super().sample(prompt, count, temperature=temperature, seed=seed, first=first)

    def log_likelihoods(self, prompts, answers):
        if self.capabilities.scores_given_text:
            assert len(prompts) * len(answers) <= self.capabilities.pairs_a_call
            self.scored.append((tuple(prompts), tuple(answers)))
        return super().log_likelihoods(prompts, answers)

    def next_token(self, prompt):
        if self.capabilities.next_token:
            self.continued.append(prompt)
        return super().next_token(prompt)


# -------------------------------------- models that believe what they are told often enough

TOLD = "answer to question Q is "


def times_told(prompt: str) -> int:
    """How many answers a prompt tells."""
    return prompt.count(TOLD)


class Turning(LanguageModel):
    """Scores: of two answers the first loses `pull` nats to the second at every repetition.

    Both together have the probability `mass`; before any repetition the first has `known`
    of it. `samples` is what it says when it is sampled, in turn. Every number of repetitions
    that it was asked about is kept in `asked`, one tuple a call.
    """

    revision = "1"
    capabilities = Capabilities(scores_given_text=True)

    def __init__(
        self,
        known: float = 0.8,
        pull: float = 0.1,
        *,
        mass: float = 0.9,
        samples: Sequence[str] = ("one", "two"),
    ) -> None:
        self.name = f"turning {known} {pull} {mass} {samples}"
        self.known, self.pull, self.mass, self.samples = known, pull, mass, samples
        self.asked: list[tuple[int, ...]] = []

    def sample(self, prompt, count, *, temperature=1.0, seed=0, first=0):
        return [Response(self.samples[(first + i) % len(self.samples)], True) for i in range(count)]

    def log_likelihoods(self, prompts, answers):
        times = np.array([times_told(prompt) for prompt in prompts])
        self.asked.append(tuple(times.tolist()))
        odds = np.log(self.known / (1 - self.known)) - self.pull * times
        pair = np.column_stack([-np.logaddexp(0, -odds), -np.logaddexp(0, odds)])
        # Whatever comes behind the two has next to nothing.
        rest = np.full((len(times), max(0, len(answers) - 2)), -50.0)
        return np.log(self.mass) + np.column_stack([pair, rest])[:, : len(answers)]


class Short(Turning):
    """Has room for two repetitions, and none for a question with an exclamation mark."""

    def log_likelihoods(self, prompts, answers):
        if any(times_told(prompt) > 2 or "!" in prompt for prompt in prompts):
            raise PromptTooLongError("The prompt is too long. Shorten it.")
        return super().log_likelihoods(prompts, answers)


class Counted(LanguageModel):
    """Cannot score: `says` gives the texts that it says in turn after so many repetitions.

    How many answers it has given is kept in `calls`, and what it was asked in `asked`: one
    ``(prompt, temperature, seed)`` a call.
    """

    revision = "1"
    capabilities = Capabilities(scores_given_text=False)

    def __init__(self, says: Callable[[int], Sequence[str]], name: str = "counted") -> None:
        self.name, self.says, self.calls = name, says, 0
        self.asked: list[tuple[str, float, int]] = []

    def sample(self, prompt, count, *, temperature=1.0, seed=0, first=0):
        self.calls += count
        self.asked.append((prompt, temperature, seed))
        texts = self.says(times_told(prompt))
        return [Response(texts[(first + i) % len(texts)], True) for i in range(count)]

    def log_likelihoods(self, prompts, answers):
        raise AssertionError("it cannot score texts")
