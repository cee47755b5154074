"""Two workers of Ray against one, and one against this process, on two idle cores.

    python -m benchmarks.cluster [--questions 1024] [--rounds 2]

On the embedded model, ten drawn answers a question as in the paper, Ray started on this machine
(`requirements/cluster.txt`). Timed from when every worker holds its model to the last row; what
it takes until then is printed beside it. Two workers are at least 1.6 times as fast as one.
Medians of ratios over interleaved rounds.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.ratios import Ratio, each, report
from core.commands.engines import Opening
from core.data.datasets.draw import draw
from core.data.datasets.questions import Question
from core.data.datasets.world import world_questions
from core.language_models.base import LanguageModel
from core.language_models.registry import open_model
from core.language_models.usage import Budget
from core.studies.evaluation.cluster import Cluster, engine_on
from core.studies.evaluation.local import Engine, Task, local
from core.studies.evaluation.run import evaluate, survey
from core.studies.inspection.recorder import usual_request
from core.studies.inspection.request import Reading, Sampling
from core.studies.inspection.verdict import default_threshold

QUESTIONS, ROUNDS = 1024, 2
ONE_WORKER = Ratio("Evaluation by one worker of Ray / by this process")
TWO_WORKERS = Ratio("Evaluation by one worker of Ray / by two", least=1.6)
RATIOS = (ONE_WORKER, TWO_WORKERS)


@dataclass(frozen=True)
class Timed:
    """Opens the model, and writes down when that was done."""

    opening: Opening
    folder: Path

    def __call__(self, budget: Budget) -> LanguageModel:
        model = self.opening(budget)
        (self.folder / f"opened-{os.getpid()}").write_text(repr(time.time()))
        return model


def timed(task: Task, questions: list[Question], workers: int) -> tuple[float, float]:
    """Return the seconds until all workers are ready, and from then on; of 0, of this process."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        opening = Timed(Opening(task.model.name, task.model.form), folder)
        engine: Engine = local
        if workers:
            engine = engine_on(Cluster(workers=workers), folder / "run", opening)
        last = 0.0

        def noting(left: Iterator[Question], task: Task, tick: object) -> Iterator[object]:
            nonlocal last
            for row in engine(left, task, tick):
                last = time.time()
                yield row

        asked = survey("benchmark", lambda: iter(questions))
        began = time.time()
        evaluate(asked, task, folder / "run", engine=noting)
        ready = [float(path.read_text()) for path in folder.glob("opened-*")]
        assert len(ready) == workers, "a worker began late, or again"
        since = max(ready, default=began)
        return since - began, last - since


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--questions", type=int, default=QUESTIONS, help="a round")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    options = parser.parse_args()
    model = open_model("embedded")
    request = usual_request("any", model.capabilities, sampling=Sampling.DRAWN)
    task = Task(model, request, Reading(), default_threshold().least_mass)
    asked = draw(world_questions(), options.questions * options.rounds, 1)
    took, waited = defaultdict(list), defaultdict(list)
    for i in range(options.rounds):
        part = asked[i * options.questions : (i + 1) * options.questions]
        for workers in (0, 1, 2):
            before, seconds = timed(task, part, workers)
            took[workers].append(seconds)
            waited[workers].append(before)
    number = options.questions * options.rounds
    print(f"{number:,} questions, load {os.getloadavg()[0]:.1f} in the end")
    for workers, name in ((0, "this process"), (1, "one worker"), (2, "two workers")):
        print(
            f"  {name:13} {1000 * sum(took[workers]) / number:8.1f} ms a question, "
            f"{sum(waited[workers]) / options.rounds:6.1f} s before"
        )
    kept = report({ONE_WORKER: each(took[1], took[0]), TWO_WORKERS: each(took[1], took[2])})
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
