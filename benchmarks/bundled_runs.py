"""Run what the page Evaluation opens on: ``python -m benchmarks.bundled_runs [--write]``.

Asks the embedded model 300 questions of its world, drawn at random, as Inspection asks it, and
prints what every score is worth. With ``--write`` the run takes the place of the bundled one; do so
after every training.

``--number`` draws so many. ``--run FOLDER --folder NAME`` asks nothing: it bundles a finished run,
such as the one that ``benchmarks.paper_figures`` leaves of SmolLM2. ``--again`` asks nothing
either: it reads what the model of the bundled run ``--folder NAME`` said once more, as answers are
compared today.
"""

import argparse
import json
import math
import shutil
import tempfile
from pathlib import Path

import numpy as np
from pyarrow import parquet

from core import outputs
from core.abstention import metrics
from core.abstention.blocks import all_blocks
from core.data.datasets.draw import draw
from core.data.datasets.questions import Question
from core.data.datasets.world import world_questions
from core.language_models.registry import open_model
from core.language_models.trial import in_its_form
from core.studies.evaluation import bundled
from core.studies.evaluation.local import Task
from core.studies.evaluation.results import read_results
from core.studies.evaluation.rows import scored_row, table
from core.studies.evaluation.run import evaluate, survey
from core.studies.evaluation.run_folder import LOCK, MANIFEST, UNFINISHED, parts_of
from core.studies.evaluation.saved_run import Run
from core.studies.inspection.certificates import usual_least_mass
from core.studies.inspection.inspection import read
from core.studies.inspection.recorder import usual_request
from core.studies.inspection.request import Reading
from core.studies.inspection.serialise import recording_from_json
from core.studies.inspection.verdict import DecisionRule
from core.uncertainty.scores import SCORES
from core.uncertainty.similarity import ANSWER_RULE

MOST_ROWS, MOST = 1_000_000, 3_000_000  # bytes of a bundled run: its rows, and all of it


def main() -> None:
    given = options()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "run"
        if given.again:
            shutil.copytree(bundled.FOLDER / given.folder, folder)
            read_again(folder)
        elif given.run:
            shutil.copytree(given.run, folder, ignore=shutil.ignore_patterns(LOCK, "ray"))
        else:
            ask(given.number, folder)
        run = Run(folder)
        if not run.manifest["ended"]:
            raise SystemExit(f"{given.run} is not finished: go on with it first.")
        report(run)
        for name in (LOCK, UNFINISHED):
            (folder / name).unlink(missing_ok=True)
        rows = sum(part.stat().st_size for part in parts_of(folder))
        size = sum(file.stat().st_size for file in folder.iterdir())
        print(f"{size:,} bytes, of them {rows:,} of rows")
        if rows > MOST_ROWS or size > MOST:
            raise SystemExit(
                f"A bundled run has at most {MOST:,} bytes, and {MOST_ROWS:,} of rows: ask fewer."
            )
        if given.write:
            there = bundled.FOLDER / given.folder
            shutil.rmtree(there, ignore_errors=True)
            shutil.copytree(folder, there)
            print(f"Written to {there}.")


def ask(number: int, folder: Path) -> None:
    found = draw(world_questions(), number)
    model, _ = in_its_form(open_model("embedded"))
    request = usual_request("any", model.capabilities)
    task = Task(model, request, Reading(), usual_least_mass())
    outcome = evaluate(survey("embedded world", lambda: iter(found)), task, folder, progress)
    print(f"\n{outcome.done} questions, {outcome.failed} failed, {outcome.seconds:.0f} s")


def read_again(folder: Path) -> None:
    """Score what was said in a run once more, by the usual reading; nobody is asked."""
    run, reading = Run(folder), Reading()
    rule = DecisionRule(math.inf, run.pipeline.least_mass)
    for rows_part, said_part in zip(parts_of(folder), parts_of(folder, "recordings"), strict=True):
        said = parquet.read_table(said_part).to_pylist()
        recordings = {each["id"]: recording_from_json(each["recording"]) for each in said}
        rows = []
        for old in parquet.read_table(rows_part).to_pylist():
            if old["id"] not in recordings:
                raise SystemExit(f"{old['id']} has no recording: ask it again.")
            answers = tuple(map(tuple, old["answers"]))
            question = Question(old["id"], old["query"], answers, old["source"])
            inspection = read(recordings[old["id"]], reading, rule)
            rows.append(scored_row(question, inspection, seconds=old["seconds"]))
        with outputs.replacing(rows_part) as file:
            parquet.write_table(table(rows), file, compression="zstd")
    manifest = folder / MANIFEST
    content = json.loads(manifest.read_text(encoding="utf-8"))
    content["pipeline"] |= {
        "similarity": reading.similarity,
        "tau": reading.threshold,
        "answer_rule": ANSWER_RULE,
    }
    outputs.write(manifest, f"{json.dumps(content, indent=2, ensure_ascii=False)}\n")


def progress(stage: str, share: float) -> None:
    print(f"\r{stage}", end="", flush=True)


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--number", type=int, default=300)
    parser.add_argument("--run", type=Path, help="a finished run; nothing is asked")
    parser.add_argument("--again", action="store_true", help="read the bundled run once more")
    parser.add_argument("--folder", default="embedded_world")
    parser.add_argument("--write", action="store_true")
    return parser.parse_args()


def report(run: Run) -> None:
    results = read_results(run)
    rows = results.table
    for name, score in SCORES.items():
        doubts = np.array(rows[name].to_pylist(), float)
        right = results.correct[name]
        values = metrics.measures(all_blocks(doubts, right))
        shown = "  ".join(f"{m} {v:.3f}" for m, v in zip(metrics.MEASURES, values, strict=True))
        print(f"{score.symbol:>10}  right {right.mean():.1%}  {shown}")


if __name__ == "__main__":
    main()
