"""Two workers of Ray against one, and against two processes without Ray, on two idle cores.

    python -m benchmarks.cluster [--questions 1024] [--rounds 2]

On the embedded model, ten drawn answers a question as in the paper, Ray started on this machine
(`requirements/cluster.txt`). Timed from when every worker holds its model to the last row; what
it takes until then is printed beside it. Two workers are to be at least 1.6 times as fast as one.
But a process computes on more than one core by itself, since it scores some answers while it asks
for others: two cores divided by what it uses are the most that a second process can bring. Two
processes that ask half of the questions each, without Ray, show it. Medians of ratios over
interleaved rounds.
"""

import argparse
import multiprocessing
import os
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from benchmarks.ratios import Ratio, each, report
from core import outputs
from core.commands.engines import Opening
from core.data.datasets.draw import draw
from core.data.datasets.questions import Question
from core.data.datasets.world import world_questions
from core.language_models.language_model import LanguageModel
from core.language_models.registry import open_model
from core.language_models.usage import Budget
from core.studies.evaluation.cluster import RayCluster, engine_on
from core.studies.evaluation.local import Engine, Task, local
from core.studies.evaluation.run import evaluate, survey
from core.studies.inspection.certificates import usual_least_mass
from core.studies.inspection.recorder import usual_request
from core.studies.inspection.request import Reading, Sampling

QUESTIONS, ROUNDS = 1024, 2
ONE_WORKER = Ratio("Evaluation by one worker of Ray / by this process")
TWO_WORKERS = Ratio("Evaluation by one worker of Ray / by two", least=1.6)
TWO_PROCESSES = Ratio("Evaluation by this process / by two without Ray")
CORES = Ratio("Evaluation in this process: cores that it computes on", unit="cores")
RATIOS = (ONE_WORKER, TWO_WORKERS, TWO_PROCESSES, CORES)


@dataclass(frozen=True)
class Timed:
    """Opens the model, and writes down when that was done."""

    opening: Opening
    folder: Path

    def __call__(self, budget: Budget) -> LanguageModel:
        model = self.opening(budget)
        outputs.write(self.folder / f"opened-{os.getpid()}", repr(time.time()))
        return model


def seconds_of(task: Task, questions: list[Question], workers: int) -> tuple[float, float]:
    """Return the seconds until all workers are ready, and from then on; of 0, of this process."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        opening = Timed(Opening(task.model.name, task.model.form), folder)
        engine: Engine = local
        if workers:
            engine = engine_on(RayCluster(workers=workers), folder / "run", opening)
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


def beside_each_other(questions: list[Question]) -> tuple[float, float]:
    """Return the seconds until two processes are ready, and from then on; each asks half."""
    halves = [questions[::2], questions[1::2]]
    began = time.time()
    with ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as pool:
        times = list(pool.map(alone, halves))
    since = max(ready for ready, _ in times)
    return since - began, max(end for _, end in times) - since


def alone(questions: list[Question]) -> tuple[float, float]:
    """Ask in this process; return when it was ready, and when it was done."""
    task = usual_task()
    ready = time.time()
    seconds_of(task, questions, 0)
    return ready, time.time()


def usual_task() -> Task:
    model = open_model("embedded")
    request = usual_request("any", model.capabilities, sampling=Sampling.DRAWN)
    return Task(model, request, Reading(), usual_least_mass())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--questions", type=int, default=QUESTIONS, help="a round")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    options = parser.parse_args()
    task = usual_task()
    asked = draw(world_questions(), options.questions * options.rounds, 1)
    ways: dict[str, Callable[[list[Question]], tuple[float, float]]] = {
        "this process": lambda part: seconds_of(task, part, 0),
        "one worker": lambda part: seconds_of(task, part, 1),
        "two workers": lambda part: seconds_of(task, part, 2),
        "two processes": beside_each_other,
    }
    took, waited, cores = defaultdict(list), defaultdict(list), []
    for i in range(options.rounds):
        part = asked[i * options.questions : (i + 1) * options.questions]
        for name, way in ways.items():
            computed = time.process_time()
            before, seconds = way(part)
            if name == "this process":
                cores.append((time.process_time() - computed) / seconds)
            took[name].append(seconds)
            waited[name].append(before)
    number = options.questions * options.rounds
    print(f"{number:,} questions, load {os.getloadavg()[0]:.1f} in the end")
    for name in ways:
        print(
            f"  {name:13} {1000 * sum(took[name]) / number:8.1f} ms a question, "
            f"{sum(waited[name]) / options.rounds:6.1f} s before"
        )
    one = took["one worker"]
    kept = report(
        {
            ONE_WORKER: each(one, took["this process"]),
            TWO_WORKERS: each(one, took["two workers"]),
            TWO_PROCESSES: each(took["this process"], took["two processes"]),
            CORES: cores,
        }
    )
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
