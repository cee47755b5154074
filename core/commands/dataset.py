"""The command `dataset`: questions with their right answers, out of the files of others."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from core.codec import count_of
from core.commands.columns import COLUMNS, columns, skips
from core.commands.files import FilesFirst, Input, Output, with_options
from core.commands.model import tell
from core.data.datasets.draw import draw
from core.data.datasets.natural_questions import read_ambigqa, read_nq_open
from core.data.datasets.questions import MalformedRowError, Question, write_questions
from core.data.datasets.summary import MOST_LEFT_OUT, DatasetSummary, omissions
from core.data.datasets.tables import QuestionFile
from core.data.datasets.triviaqa import Improper, read_triviaqa
from core.data.datasets.wordnet import FOLDER, wordnet_questions
from core.data.datasets.world import SETS, Wording, world_questions
from core.outputs import sentence

PROGRESS = 10_000  # questions
SKIP = "--on-malformed skip leaves such rows out."
BANDS = {name.replace(",", "").replace(" ", "-"): name for name in SETS}

FILE = click.argument("file", type=Input())


@dataclass
class _Notes:
    """What was said of rows that are left out."""

    skipped: int = 0
    dropped: int = 0

    def skip(self, problem: str) -> None:
        self.skipped += 1
        if self.skipped <= MOST_LEFT_OUT:
            tell(f"Left out: {problem}")

    def drop(self) -> None:
        self.dropped += 1


#: The options on what is written.
_writes = with_options(
    click.option(
        "--out", type=Output(), required=True, help="The file of questions to write, as JSON lines."
    ),
    click.option(
        "--sample", type=click.IntRange(1), help="Write only so many questions, drawn at random."
    ),
    click.option("--seed", type=int, default=0, show_default=True, help="Seed of the sample."),
    click.option("--overwrite", is_flag=True, help="Replace the file of --out."),
)


class _Group(click.Group):
    command_class = FilesFirst


@click.group(
    cls=_Group, help="Write the questions of a dataset, with their right answers, as JSON lines."
)
def dataset() -> None:
    """Datasets by their names."""


@dataset.command(help="TriviaQA: an official JSON file, or EVOUNA's TQ.json.")
@FILE
@_writes
@skips
@click.option(
    "--improper",
    type=click.Choice(["drop", "keep"]),
    default="drop",
    show_default=True,
    help="What becomes of EVOUNA's rows that are marked improper; kept ones have a source of "
    "their own.",
)
def triviaqa(file: Path, skips: bool, improper: Improper, **writing: Any) -> None:
    """Write the questions of TriviaQA."""
    notes = _Notes()
    reader = read_triviaqa(
        file, notes.skip if skips else None, improper=improper, dropped=notes.drop
    )
    _write(reader, notes, **writing)


def _of_file(name: str, title: str, read: Callable[..., Iterator[Question]]) -> None:
    """Add the command of a file that is read without further options."""

    @dataset.command(name, help=title)
    @FILE
    @_writes
    @skips
    def command(file: Path, skips: bool, **writing: Any) -> None:
        notes = _Notes()
        _write(read(file, notes.skip if skips else None), notes, **writing)


_of_file("ambigqa", "AmbigQA: a JSON file of AmbigNQ, light or full.", read_ambigqa)
_of_file("nq_open", "NQ-Open: a file of JSON lines.", read_nq_open)


@dataset.command(help="Any file of questions and right answers: JSON, CSV, Parquet, Excel.")
@FILE
@_writes
@columns
@skips
def file(file: Path, skips: bool, **options: Any) -> None:
    """Write the questions of anybody's file."""
    roles = {name: options.pop(name) for name in COLUMNS}
    questions, notes = QuestionFile(file, **roles), _Notes()
    _write(questions.questions(notes.skip if skips else None), notes, questions.meaning, **options)


@dataset.command(help="The world of the embedded model: a question for each fact.")
@_writes
@click.option(
    "--band",
    "bands",
    type=click.Choice(list(BANDS)),
    multiple=True,
    help="Only questions that the model can know so well. Repeat it for several.  [default: all]",
)
@click.option(
    "--wording",
    type=click.Choice(["trained", "held-out"]),
    default="trained",
    show_default=True,
    help="Words that the training used, or words that it never used.",
)
def world(bands: tuple[str, ...], wording: Wording, **writing: Any) -> None:
    """Write the questions of the embedded world."""
    chosen = {BANDS[band] for band in bands or BANDS}
    _write(world_questions(chosen, wording), _Notes(), **writing)


@dataset.command(help="WordNet: “Name a type of …”, out of a folder with WordNet's files.")
@click.argument(
    "folder", type=click.Path(exists=True, file_okay=False, path_type=Path), default=FOLDER
)
@_writes
def wordnet(folder: Path, **writing: Any) -> None:
    """Write the questions made of WordNet."""
    tell("Reading WordNet takes some seconds.")
    _write(wordnet_questions(folder), _Notes(), **writing)


def _write(
    questions: Iterator[Question],
    notes: _Notes,
    meaning: tuple[str, ...] = (),
    *,
    out: Path,
    sample: int | None,
    seed: int,
    overwrite: bool,
) -> None:
    """Write questions, or a draw of them, and say what was left out."""
    if out.exists() and not overwrite:
        raise click.ClickException(f"{out} exists; --overwrite replaces it.")
    for line in meaning:
        tell(line)
    summary = DatasetSummary()
    counted_ones = _counting(questions, summary)
    try:
        some = draw(counted_ones, sample, seed) if sample else counted_ones
        written = write_questions(some, out, lambda: notes.skipped)
    except MalformedRowError as error:
        raise click.ClickException(f"{error} {SKIP}") from error
    except OSError as error:
        raise click.ClickException(sentence(out, error)) from error
    for line in (*summary.sentences, *omissions([], notes.skipped)):
        tell(line)
    if notes.dropped:
        dropped = count_of(notes.dropped, "row")
        tell(f"{dropped} marked improper left out; --improper keep keeps them.")
    if sample and written < sample:
        tell("The dataset has fewer questions than --sample; all are written.")
    click.echo(f"{count_of(written, 'question')} written to {out}.")


def _counting(questions: Iterator[Question], summary: DatasetSummary) -> Iterator[Question]:
    """Count questions, and say now and then how many were read."""
    for number, question in enumerate(questions, 1):
        summary.add(question)
        if number % PROGRESS == 0:
            tell(f"{number:,} questions read")
        yield question
