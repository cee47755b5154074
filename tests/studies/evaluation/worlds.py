"""Questions and models of which every answer is known, for runs."""

import math
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from core import prompts
from core.data.datasets.questions import Question
from core.language_models.language_model import Capabilities, LanguageModel, Response, prompt_seed
from core.studies.evaluation.local import Task
from core.studies.evaluation.rows import SCHEMA, Row
from core.studies.evaluation.run import Questions, evaluate, survey
from core.studies.evaluation.saved_run import Run
from core.studies.inspection.certificates import usual_least_mass
from core.studies.inspection.request import Reading, Request
from core.uncertainty.scores import SCORES
from tests.studies.inspection.rules import default_rule

NUMBER = re.compile(r"question number (\d+)")
TOLD = re.compile(re.escape(prompts.FIRST_ANSWER) + r"(\w+)")
ANSWERS = ("red", "blue", "green", "yellow", "black")
PERIOD = 4  # of every four questions: one known, one with many answers, two guessed
RIGHT = (ANSWERS[:1], ANSWERS[2:3], ANSWERS[:3], ANSWERS[:1])


def questions(number: int, first: int = 0) -> list[Question]:
    """Questions by number, of two sources."""
    return [
        Question(
            f"q{i}",
            f"What is question number {i}?",
            tuple((answer,) for answer in RIGHT[i % PERIOD]),
            "many" if i % PERIOD == 2 else "one",
        )
        for i in range(first, first + number)
    ]


def surveyed(asked: list[Question], name: str = "questions.jsonl") -> Questions:
    def read() -> Iterator[Question]:
        return iter(asked)

    return survey(name, read)


class World(LanguageModel):
    """Answers every question by its number; the numbers that it was asked are kept in `asked`.

    Numbers in `broken` raise what they hold. It is a service unless `local`.
    """

    name, revision = "world of numbers", "1"

    def __init__(self, broken: dict[int, Exception] | None = None, *, local: bool = True) -> None:
        self.capabilities = Capabilities(scores_given_text=True, local=local)
        self.broken = broken or {}
        self.asked: list[int] = []

    def table(self, prompt: str) -> dict[str, float]:
        """The probability of every answer to a prompt."""
        if prompts.VERIFICATION in prompt:
            return {prompts.TRUE: 0.75, prompts.FALSE: 0.25}
        number, told = int(NUMBER.search(prompt)[1]), TOLD.search(prompt)
        weights = 1 / np.arange(2.0 + number % 7, 7.0 + number % 7)
        if number % PERIOD == 0:
            weights[0] = 50.0
        elif number % 2 and told:
            weights[ANSWERS.index(told[1])] *= 20
        return dict(zip(ANSWERS, weights / weights.sum(), strict=True))

    def sample(self, prompt, count, *, temperature=1.0, seed=0, first=0):
        number = int(NUMBER.search(prompt)[1])
        if temperature == 0:
            self.asked.append(number)
        if number in self.broken:
            raise self.broken[number]
        if not self.capabilities.local:
            self.meter.add(1, 10, count)
        p, keyed = np.array(list(self.table(prompt).values())), prompt_seed(seed, prompt)
        if temperature == 0:
            return [Response(ANSWERS[int(p.argmax())], True)] * count
        p = p ** (1 / temperature)
        draws = (np.random.default_rng([keyed, first + i]) for i in range(count))
        return [Response(ANSWERS[int(d.choice(len(p), p=p / p.sum()))], True) for d in draws]

    def log_likelihoods(self, prompts, answers):
        if not self.capabilities.local:
            self.meter.add(1, 100, 0)
        return np.log([[self.table(prompt)[answer] for answer in answers] for prompt in prompts])


def task(model: LanguageModel, samples: int = 10, **more: object) -> Task:
    return Task(model, Request("any", samples, **more), Reading(), usual_least_mass())


def written(folder: Path, *rows: dict[str, object]) -> Run:
    """Write a run of hand-made rows: of each, what is not said is missing, and no score is.

    What serves a right answer, by ``NAME_correct``, serves an accepted one, and else another.
    """

    def engine(left, wanted, tick):
        for question in left:
            values = rows[int(question.id[1:])]
            found = dict.fromkeys(SCHEMA.names) | {
                **{"id": question.id, "query": question.query, "source": question.source},
                **{"answers": [list(names) for names in question.answers]},
                **{"greedy": "", "responses": [], "entropy": 0.0, "seconds": 0.0},
            }
            (right, *_), *_ = values.get("answers", found["answers"])
            for name in SCORES:
                served = right if values.get(f"{name}_correct", True) else "another"
                found |= {f"{name}_correct": True, f"{name}_exact": True, f"{name}_answer": served}
            yield Row(found | values)

    evaluate(surveyed(questions(len(rows))), task(World()), folder, engine=engine)
    return Run(folder)


def rows_of(folder: Path) -> dict[str, dict]:
    """Every row by its id, without times; each id once."""
    rows = [row for batch in Run(folder).batches() for row in batch.to_pylist()]
    found = {row["id"]: {k: v for k, v in row.items() if k != "seconds"} for row in rows}
    assert len(found) == len(rows), "a question has two rows"
    return found


def decided(row):
    """What every score's default threshold decides on a row."""
    limit = default_rule().value
    return {name: row[name] is not None and row[name] < limit for name in SCORES}


def assert_same(one, other):
    """The same rows: numbers to 1e-4, all else and every decision alike."""
    assert one.keys() == other.keys()
    for id, row in one.items():
        for name, value in row.items():
            if isinstance(value, float):
                assert math.isclose(value, other[id][name], abs_tol=1e-4), (id, name)
            else:
                assert value == other[id][name], (id, name)
        assert decided(row) == decided(other[id])
