"""A language model whose whole distribution is a table that the test writes down."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from core import prompts
from core.language_models.base import Capabilities, LanguageModel, Response

QUERY = "Which of them?"


class TableModel(LanguageModel):
    """Knows one question, a finite vocabulary of answers, and every likelihood exactly.

    `first` is Q(y | F_0) and `rows[i]` is Q(y | F_1 with answer i told); each sums to 1.
    `true[i]` is Q("True") about answer i. What it was asked is kept in `sampled` (one
    ``(first, count)`` a call) and `scored` (one ``(prompts, answers)`` a call).
    """

    name, revision = "table", "1"
    capabilities = Capabilities(scores_given_text=True, seeded=True)

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
                int(np.random.default_rng([seed, first + i]).choice(len(p), p=p))
                for i in range(count)
            ]
        return [Response(texts[i], texts[i] not in self.cut) for i in drawn]

    def log_likelihoods(self, prompts, answers):
        self.scored.append((tuple(prompts), tuple(answers)))
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
