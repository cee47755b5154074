"""The command `evaluate`: every question of a file asked once, in a run that survives anything."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import click
import numpy as np

from core.abstention import metrics
from core.codec import counted, encoded, finite
from core.commands.engines import engine_of, engines
from core.commands.model import asks, opened, paid, tell
from core.commands.request import reads, wanted
from core.data.datasets.questions import read_questions
from core.studies import costs
from core.studies.evaluation.files import RunError
from core.studies.evaluation.local import Task
from core.studies.evaluation.reading import FILTERS, Filter, Run, labelled_csv
from core.studies.evaluation.rows import RIGHT, Match
from core.studies.evaluation.run import Questions, most, survey
from core.studies.evaluation.run import evaluate as ask_all
from core.studies.inspection.recorder import check_samples, usual_request
from core.studies.inspection.verdict import default_threshold
from core.studies.progress import Progress
from core.uncertainty.scores import SCORES

SHOWN, SAID = 0.2, 30.0  # seconds between two states: on a terminal, and in a file
LEFT_OUT = 20  # malformed rows of which it is said why they are left out
AGREE = "Nothing was asked. --yes agrees beforehand."


@click.command(help="Ask a model every question of a file, and score its answers by every score.")
@click.argument(
    "questions", type=click.Path(exists=True, dir_okay=False, path_type=Path), required=False
)
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    required=True,
    help="The folder of the run. One that is there is gone on with; without QUESTIONS it is only "
    "read.",
)
@asks
@reads
@engines
@click.option(
    "--on-malformed",
    type=click.Choice(["refuse", "skip"]),
    default="refuse",
    show_default=True,
    help="What becomes of a row of QUESTIONS that cannot be used; either names its line.",
)
@click.option("--retry-failed", is_flag=True, help="Ask questions that failed before once more.")
@click.option("--yes", is_flag=True, help="Agree to what a service may cost.")
@click.option(
    "--filter",
    "filters",
    multiple=True,
    metavar="NAME[=SOURCE]",
    help=f"Rows that count, of all or of one source: {', '.join(FILTERS)}. Repeat it for several.",
)
@click.option(
    "--match",
    type=click.Choice(list(RIGHT)),
    default="f1",
    show_default=True,
    help="When an answer is right: token F1 of at least 0.25 with an accepted answer, or exact.",
)
@click.option(
    "--labelled",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write the rows as the labelled CSV that `calibrate` reads.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def evaluate(questions: Path | None, out: Path, as_json: bool, **given: Any) -> None:
    """Ask what is left of a run, and print what every score is worth on its rows."""
    chosen = [Filter.named(text) for text in given["filters"]]
    run = Run(out)
    if questions is None:
        _ = run.manifest
    else:
        _asked(questions, run, given)
    found = _summary(run, chosen, given["match"])
    for sentence in found["dropped"]:
        tell(sentence)
    if given["labelled"] is not None:
        _write(given["labelled"], labelled_csv(run, chosen, given["match"])[0])
    click.echo(encoded(found) if as_json else _report(found))


def _asked(file: Path, run: Run, given: dict[str, Any]) -> None:
    """Ask the questions of a file that have no row yet."""
    options, reading = wanted("any", given)
    engine = engine_of(given)
    asked = _surveyed(file, given["on_malformed"])
    model = opened(given["model"], given["form"], given["budget"])
    request = usual_request("any", model.capabilities, **options)
    check_samples(request, model.capabilities)
    task = Task(model, request, reading, default_threshold().least_mass)
    left = max(asked.number - run.done, 0)
    if lasting := costs.lasting(left * costs.computed(request), model):
        tell(f"This takes {lasting} on this machine.")
    offered = most(asked, task, left)
    agree = (lambda: None) if given["yes"] or not left else _agree
    with (
        paid(model, offered, given["budget"], given["prices"], agree=agree),
        _shown(run) as progress,
    ):
        outcome = ask_all(
            asked,
            task,
            run.folder,
            progress,
            engine=engine(model, run.folder),
            again=given["retry_failed"],
        )
    new = outcome.done - outcome.before
    tell(f"{counted(new, 'question')} asked, {outcome.before:,} finished before.")


def _surveyed(file: Path, on_malformed: Any) -> Questions:
    """Read all questions once, and say which rows are left out."""
    problems: list[str] = []
    read = partial(read_questions, file, on_malformed, source=file.stem)
    asked = survey(file.name, partial(read, tell=problems.append))
    for problem in problems[:LEFT_OUT]:
        tell(f"Left out: {problem}")
    if problems:
        tell(f"{counted(len(problems), 'malformed row')} left out.")
    return Questions(asked.name, read, asked.number, asked.longest, asked.sha256)


def _agree() -> None:
    try:
        click.confirm("Ask?", abort=True, err=True)
    except click.Abort as error:
        raise click.ClickException(AGREE) from error


@contextmanager
def _shown(run: Run) -> Iterator[Progress]:
    """Show on standard error how far a run is, and when it is stopped what was finished."""
    terminal, last = sys.stderr.isatty(), time.monotonic()

    def progress(stage: str, share: float) -> None:
        nonlocal last
        if time.monotonic() - last >= (SHOWN if terminal else SAID):
            last = time.monotonic()
            click.echo(f"\r\033[K{stage}" if terminal else stage, nl=not terminal, err=True)

    try:
        yield progress
    except BaseException as error:
        if terminal:
            click.echo("\r\033[K", nl=False, err=True)
        if not isinstance(error, RunError):
            number = counted(run.done, "question")
            tell(f"{number} finished; run the same command again to go on.")
        raise
    if terminal:
        click.echo("\r\033[K", nl=False, err=True)


def _summary(run: Run, filters: list[Filter], match: Match) -> dict[str, Any]:
    """Return what a run is and what every score is worth on its rows."""
    columns = [c for name in SCORES for c in (name, f"{name}_{RIGHT[match]}")]
    rows = run.rows(filters, columns)
    manifest = run.manifest
    found: dict[str, Any] = {
        "folder": str(run.folder),
        "model": manifest["model"],
        "revision": manifest["revision"],
        "form": manifest["form"],
        "questions": manifest["questions"]["number"],
        "done": run.done,
        "rows": rows.table.num_rows,
        "dropped": list(rows.dropped),
        "match": match,
        "scores": {},
    }
    for name in SCORES:
        doubts = np.array(rows.table[name].to_pylist(), float)
        right = np.array(rows.table[f"{name}_{RIGHT[match]}"].to_pylist(), bool)
        found["scores"][name] = {
            "right": finite(right.mean()) if len(right) else None,
            **{m: finite(getattr(metrics, m)(doubts, right)) for m in metrics.MEASURES},
        }
    return found


def _report(found: dict[str, Any]) -> str:
    measures = list(metrics.MEASURES)
    head = "".join(f"{name.upper():>9}" for name in measures)
    return "\n".join(
        [
            f"{found['done']:,} of {counted(found['questions'], 'question')} finished, "
            f"{found['rows']:,} rows count, in {found['folder']}.",
            "",
            f"{'':>10}  {'right':>7}{head}",
            *(
                f"{SCORES[name].symbol:>10}  {_cell(values['right'], '7.1%')}"
                + "".join(_cell(values[m], "9.4f") for m in measures)
                for name, values in found["scores"].items()
            ),
        ]
    )


def _cell(value: float | None, form: str) -> str:
    return f"{'–':>{form.partition('.')[0]}}" if value is None else f"{value:{form}}"


def _write(path: Path, content: bytes) -> None:
    try:
        path.write_bytes(content)
    except OSError as error:
        raise click.ClickException(f"{path} cannot be written: {error.strerror}.") from error
