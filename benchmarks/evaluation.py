"""Many questions against one at a time, against the bare forward passes, and in memory.

    python -m benchmarks.evaluation [--questions 300] [--trivial 200000]

On the embedded model, ten drawn answers a question as in the paper, all in this process:

- a batch, many questions asked at the same time, against one call at a time: every answer drawn
  and every (prompt, answer) pair scored by a call of its own. At least 4 times as fast;
- against one question at a time, whose own calls are batches already: only printed;
- against the bare forward passes of the batch, replayed: at most 1.5 times as long.

The same, but for one call at a time, of the likeliest answers. Ratios of sums over interleaved
rounds; absolute times are only printed. Then a run of 200,000 questions on a model that takes no
time, and the same run opened again: memory grows by less than 200 MB.
"""

import argparse
import resource
import shutil
import statistics
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.inspection import Recorder
from benchmarks.ratios import Ratio, each, report, seconds
from core import prompts
from core.data.datasets.draw import draw
from core.data.datasets.questions import Question
from core.data.datasets.world import world_questions
from core.language_models.client.wrapper import Wrapper
from core.language_models.language_model import Capabilities, LanguageModel, Response
from core.language_models.registry import open_model
from core.studies.evaluation.local import Task, ask, local
from core.studies.evaluation.rows import Row
from core.studies.evaluation.run import evaluate, survey
from core.studies.evaluation.run_folder import PART
from core.studies.inspection.certificates import usual_least_mass
from core.studies.inspection.recorder import usual_request
from core.studies.inspection.request import Reading, Sampling

QUESTIONS, ROUNDS, SLOW = 300, 5, 6  # so many a round are asked one call at a time
TRIVIAL = 200_000


def _ratios(sampling: Sampling) -> tuple[Ratio, Ratio]:
    of = f"Evaluation, {sampling.value} answers:"
    return (
        Ratio(f"{of} many questions at a time / their bare forward passes", most=1.5),
        Ratio(f"{of} one question at a time / many"),
    )


OF = {sampling: _ratios(sampling) for sampling in (Sampling.DRAWN, Sampling.LIKELIEST)}
BY_CALL = Ratio("Evaluation, drawn answers: one call at a time / many questions", least=4)
RATIOS = (*OF[Sampling.DRAWN], BY_CALL, *OF[Sampling.LIKELIEST])
MOST_MEMORY = 200  # MB


class OneCall(Wrapper):
    """Draws every answer, and scores every pair, by a call of its own."""

    def sample(
        self, prompt: str, count: int, *, temperature: float = 1.0, seed: int = 0, first: int = 0
    ) -> list[Response]:
        return [
            self.inner.sample(prompt, 1, temperature=temperature, seed=seed, first=first + i)[0]
            for i in range(count)
        ]

    def log_likelihoods(self, prompts: Sequence[str], answers: Sequence[str]) -> np.ndarray:
        score = self.inner.log_likelihoods
        found = [[score([p], [a])[0, 0] for a in answers] for p in prompts]
        return np.array(found).reshape(len(prompts), len(answers))


class Trivial(LanguageModel):
    """Says the same to every question, at once."""

    name, revision = "trivial", "1"
    capabilities = Capabilities(scores_given_text=True)

    def sample(self, prompt: str, count: int, **_: Any) -> list[Response]:
        return [Response("yes", True)] * count

    def log_likelihoods(self, asked: Sequence[str], answers: Sequence[str]) -> np.ndarray:
        return np.full(
            (len(asked), len(answers)), np.log(0.9 if answers != [prompts.FALSE] else 0.1)
        )


def nothing(under_way: float) -> None:
    """Tick."""


def one_by_one(questions: Sequence[Question], task: Task) -> list[Row]:
    return [ask(task, question, nothing) for question in questions]


def many(questions: Sequence[Question], task: Task) -> list[Row]:
    return list(local(iter(questions), task, nothing))


def throughput(sampling: Sampling, questions: int) -> bool:
    """Print how much faster a batch is; return whether it is fast enough."""
    model = open_model("embedded")
    request = usual_request("any", model.capabilities, sampling=sampling)
    task = Task(model, request, Reading(), usual_least_mass())
    by_call = replace(task, model=OneCall(model))
    asked = iter(draw(world_questions(), questions * (ROUNDS + 1), 1))
    many(list(islice(asked, questions)), task)  # warm
    batch, alone, calls, bare = [], [], [], []
    for _ in range(ROUNDS):
        part = list(islice(asked, questions))
        with Recorder(model.llama) as recorder:
            many(part, task)
        batch.append(seconds(lambda part=part: many(part, task)) / len(part))
        bare.append(seconds(recorder.replay) / len(part))
        few = part[:: max(1, len(part) // (4 * SLOW))]
        alone.append(seconds(lambda few=few: one_by_one(few, task)) / len(few))
        if sampling is Sampling.DRAWN:
            took = seconds(lambda few=few: one_by_one(few[:SLOW], by_call))
            calls.append(took / len(few[:SLOW]))
    print(f"{sampling.value} answers, milliseconds a question")
    print(f"  many questions at a time       {1000 * statistics.mean(batch):8.1f}")
    print(f"  bare forward passes of these   {1000 * statistics.mean(bare):8.1f}")
    print(f"  one question at a time         {1000 * statistics.mean(alone):8.1f}")
    over_passes, one_question = OF[sampling]
    measured = {over_passes: each(batch, bare), one_question: each(alone, batch)}
    if calls:
        print(f"  one call at a time             {1000 * statistics.mean(calls):8.1f}")
        measured[BY_CALL] = each(calls, batch)
    return report(measured)


def memory(number: int) -> bool:
    """Print by how much memory grows over so many questions; return whether that is little."""

    def read() -> Iterator[Question]:
        return (Question(f"q{i}", f"Is {i} a number?", (("yes",),)) for i in range(number))

    model = Trivial()
    request = usual_request("any", model.capabilities, samples=2)
    task = Task(model, request, Reading(), usual_least_mass())
    questions = survey("trivial", read)
    folder, before = Path(tempfile.mkdtemp()), 0.0

    def progress(stage: str, share: float) -> None:
        nonlocal before
        if share * number == 2 * PART:  # everything is imported, and a part was written
            before = most_memory()

    try:
        took = seconds(lambda: evaluate(questions, task, folder, progress))
        after = most_memory()
        again = seconds(lambda: evaluate(questions, task, folder))
        size = sum(path.stat().st_size for path in folder.iterdir())
    finally:
        shutil.rmtree(folder)
    grown = most_memory() - before
    print(f"{number:,} questions of a trivial model in {took:.0f} seconds, {size / 1e6:.0f} MB")
    print(f"  memory after {2 * PART:,} questions   {before:8.0f} MB")
    print(f"  grown by the run               {after - before:8.0f} MB")
    print(f"  with opening it again, {again:.0f} s     {grown:8.0f} MB (less than {MOST_MEMORY})")
    return grown < MOST_MEMORY


def most_memory() -> float:
    """Return the most memory that this process has used, MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--questions", type=int, default=QUESTIONS, help="a round")
    parser.add_argument("--trivial", type=int, default=TRIVIAL, help="of the trivial model")
    options = parser.parse_args()
    good = [
        throughput(sampling, options.questions) for sampling in (Sampling.DRAWN, Sampling.LIKELIEST)
    ]
    good.append(memory(options.trivial))
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
