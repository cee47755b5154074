"""Run what the page Evaluation opens on: ``python -m benchmarks.bundled_runs [--write]``.

Asks the embedded model 300 questions of its world, drawn at random, with ten drawn answers each, as
in the paper, and prints what every score is worth. With ``--write`` the run takes the place of the
bundled one; do so after every training.

``--model smollm2`` asks another model, ``--questions FILE --name NAME`` other questions, and
``--folder`` names the bundled run. ``--number`` draws so many of either.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from pathlib import Path

import numpy as np

from core.abstention import metrics
from core.data.datasets.draw import draw
from core.data.datasets.questions import read_questions
from core.data.datasets.world import world_questions
from core.language_models.registry import open_model
from core.language_models.trial import in_its_form
from core.studies.evaluation import bundled
from core.studies.evaluation.files import LOCK, UNFINISHED
from core.studies.evaluation.local import Task
from core.studies.evaluation.reading import Run
from core.studies.evaluation.run import Questions, evaluate, survey
from core.studies.inspection.request import Reading, Request, Sampling
from core.studies.inspection.verdict import default_threshold
from core.uncertainty.scores import SCORES

LARGEST = 1_000_000  # bytes of a bundled run


def main() -> None:
    given = options()
    asked = questions(given.questions, given.name, given.number)
    model, _ = in_its_form(open_model(given.model))
    request = Request("any", given.samples, sampling=Sampling.DRAWN)
    task = Task(model, request, Reading(), default_threshold().least_mass)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "run"
        outcome = evaluate(asked, task, folder, progress)
        print(f"\n{outcome.done} questions, {outcome.failed} failed, {outcome.seconds:.0f} s")
        report(Run(folder))
        for name in (LOCK, UNFINISHED):
            (folder / name).unlink(missing_ok=True)
        size = sum(file.stat().st_size for file in folder.iterdir())
        print(f"{size:,} bytes")
        if size > LARGEST:
            raise SystemExit(f"A bundled run has at most {LARGEST:,} bytes: ask fewer questions.")
        if given.write:
            there = bundled.FOLDER / given.folder
            shutil.rmtree(there, ignore_errors=True)
            shutil.copytree(folder, there)
            print(f"Written to {there}.")


def progress(stage: str, share: float) -> None:
    print(f"\r{stage}", end="", flush=True)


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", default="embedded")
    parser.add_argument("--questions", type=Path, help="JSON lines; by default the world")
    parser.add_argument("--name", default="embedded world", help="of the questions")
    parser.add_argument("--number", type=int, default=300)
    parser.add_argument("--samples", type=int, default=10)
    parser.add_argument("--folder", default="embedded_world")
    parser.add_argument("--write", action="store_true")
    return parser.parse_args()


def questions(file: Path | None, name: str, number: int) -> Questions:
    found = draw(read_questions(file) if file else world_questions(), number)
    return survey(name, lambda: iter(found))


def report(run: Run) -> None:
    rows = run.rows().table
    for name, score in SCORES.items():
        doubts = np.array(rows[name].to_pylist(), float)
        right = np.array(rows[f"{name}_correct"].to_pylist(), bool)
        values = "  ".join(
            f"{m} {getattr(metrics, m)(doubts, right):.3f}" for m in metrics.MEASURES
        )
        print(f"{score.symbol:>10}  right {right.mean():.1%}  {values}")


if __name__ == "__main__":
    main()
