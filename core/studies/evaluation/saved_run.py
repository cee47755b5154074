"""A run as its folder holds it: its rows, through filters, as labelled data, as inspections.

Nothing is dropped when questions are asked, for that was paid for. Filters apply when rows are
read, and report what they drop.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import parquet

from core.abstention.policy import Pipeline
from core.codec import count_of, list_of, one_line
from core.data.datasets.summary import extent, omissions
from core.data.tabular.csv_export import to_csv
from core.data.tabular.fingerprints import of_questions
from core.data.tabular.labelled_rows import SELECTION
from core.once import once
from core.studies.evaluation.bundled import CHOSE_WEIGHTS, FOLDER
from core.studies.evaluation.rows import RIGHT_BY, SCHEMA, Match, Row, other_rule, table
from core.studies.evaluation.run import ORDER, pipeline_in
from core.studies.evaluation.run_folder import (
    UNFINISHED,
    RunError,
    batches,
    manifest_of,
    parts_of,
    whole_lines,
)
from core.studies.inspection.certificates import SCORE, WEIGHTED
from core.studies.inspection.inspection import Inspection, read
from core.studies.inspection.pipeline import to_text
from core.studies.inspection.request import Reading
from core.studies.inspection.serialise import recording_from_json
from core.uncertainty.scores import SCORES

SHORT: Final = 20  # characters
DIVERSE: Final = 0.7  # nats: about the entropy of two equally likely answers


def is_short(row: Mapping[str, Any]) -> bool:
    """Return whether the greedy answer and another one are shorter than `SHORT`."""
    return len(row["greedy"]) < SHORT and any(len(text) < SHORT for text in row["responses"])


def is_diverse(row: Mapping[str, Any]) -> bool:
    """Return whether the semantic entropy is above `DIVERSE`."""
    return row["entropy"] is not None and row["entropy"] > DIVERSE


@dataclass(frozen=True)
class RowKind:
    """What a filter keeps."""

    keeps: Callable[[Mapping[str, Any]], bool]  # says of a row that did not fail whether it stays
    columns: tuple[str, ...]  # what it looks at
    dropped: str  # what is said of the others


#: The filters of the paper's Section 6, by name.
FILTERS: Final[Mapping[str, RowKind]] = {
    "short": RowKind(
        is_short,
        ("greedy", "responses"),
        f"the greedy answer, or every other one, has {SHORT} characters or more",
    ),
    "diverse": RowKind(is_diverse, ("entropy",), f"the semantic entropy is {DIVERSE} nats or less"),
}


@dataclass(frozen=True)
class Filter:
    """One of `FILTERS`, on all rows or on those of a source: “diverse=wordnet”."""

    name: str
    source: str | None = None

    @classmethod
    def from_text(cls, text: str) -> Filter:
        """Return a filter by its text; raise `RunError` when there is none of that name."""
        name, equals, source = text.partition("=")
        if name not in FILTERS:
            raise RunError(
                f"There is no filter “{one_line(name)}”. Choose {list_of(list(FILTERS), 'or')}."
            )
        return cls(name, source if equals else None)

    def keeps(self, row: Mapping[str, Any]) -> bool:
        """Return whether a row that did not fail stays."""
        concerned = self.source is None or row["source"] == self.source
        return not concerned or FILTERS[self.name].keeps(row)


@dataclass(frozen=True)
class RunRows:
    """Rows of a run, and what was dropped on the way."""

    table: pa.Table  # of `SCHEMA`, or of the columns that were wanted
    dropped: tuple[str, ...] = ()  # a sentence for every reason
    total: int = 0  # how many questions are finished


@dataclass(frozen=True)
class Run:
    """A run in a folder, finished or not."""

    folder: Path

    @cached_property
    def manifest(self) -> Mapping[str, Any]:
        """What is written of it; see `run_folder.manifest_of`."""
        return manifest_of(self.folder)

    @cached_property
    def pipeline(self) -> Pipeline:
        """What its scores were made with."""
        return pipeline_in(self.manifest)

    @property
    def reading(self) -> Reading:
        """How its recordings were read."""
        pipeline = self.pipeline
        return Reading(pipeline.similarity, pipeline.tau, pipeline.gamma_1, pipeline.gamma_2)

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        """Yield all rows, a part at a time, those that wait for their part last."""
        waiting = self._waiting  # first: they may be on their way into a part
        parts = parts_of(self.folder)
        for part in parts:
            yield from batches(part, columns)
        if waiting:
            last = [id for b in (batches(parts[-1], ["id"]) if parts else ()) for id in b["id"]]
            newest = {id.as_py() for id in last}
            rows = table(row for row in waiting if row.id not in newest)
            yield from rows.select(list(columns or SCHEMA.names)).to_batches()

    @property
    def finished_questions(self) -> int:
        """How many questions are finished."""
        return sum(len(batch) for batch in self.batches(["id"]))

    @property
    def notes(self) -> tuple[str, ...]:
        """What is to be said beside every number of this model."""
        notes = self.manifest.get("notes")
        return tuple(map(str, notes)) if isinstance(notes, list) else ()

    @property
    def extent(self) -> tuple[str, ...]:
        """Which of its questions are finished, as a sentence, if not all."""
        number = int(self.manifest["questions"]["number"])
        return extent(self.finished_questions, number, at_random=ORDER in self.manifest)

    def unfinished_questions(self, number: int, *, again: bool = False) -> int:
        """How many of so many questions are to be asked; `again`: also those that failed."""
        finished = self.finished_questions
        if again:
            finished = sum(batch.column("error").null_count for batch in self.batches(["error"]))
        return max(number - finished, 0)

    @property
    def commonest_error(self) -> str:
        """Why the most of its failed rows failed; "" where none did."""
        errors = Counter(
            each for batch in self.batches(["error"]) for each in batch["error"].to_pylist()
        )
        errors.pop(None, None)
        return max(errors, key=lambda each: errors[each], default="")

    @property
    def _waiting(self) -> list[Row]:
        return whole_lines(self.folder / UNFINISHED)[0]

    def rows(self, filters: Sequence[Filter] = (), columns: Sequence[str] | None = None) -> RunRows:
        """Return the rows that did not fail and that the filters, one after the other, keep.

        All columns by default. Raises `RunError` when no row has the source that a filter names.
        """
        names = list(columns or SCHEMA.names)
        looked_at = {c for f in filters for c in FILTERS[f.name].columns} | {"source", "error"}
        batches: list[pa.RecordBatch] = []
        dropped: Counter[int | None] = Counter()  # by the place of a filter, -1 for a failure
        sources: set[str] = set()
        for batch in self.batches(list(dict.fromkeys([*names, *looked_at]))):
            stays = []
            for row in batch.select(sorted(looked_at)).to_pylist():
                sources.add(row["source"])
                misfits = (place for place, each in enumerate(filters) if not each.keeps(row))
                by = next(misfits, None) if row["error"] is None else -1
                dropped[by] += 1
                stays.append(by is None)
            batches.append(batch.select(names).filter(pa.array(stays, pa.bool_())))
        total = dropped.total()
        for each in filters:
            if each.source is not None and each.source not in sources:
                raise RunError(
                    f"No question of this run is of the source “{one_line(each.source)}”. There "
                    f"are {list_of([one_line(s) or '(none)' for s in sorted(sources)])}."
                )
        if total > self.manifest["questions"]["number"]:
            raise RunError(
                f"{self.folder} has more rows than questions: a part of it stands there twice. "
                "Delete the copy."
            )
        schema = pa.schema([SCHEMA.field(name) for name in names])
        rows = count_of(total, "row")
        sentences = [f"Dropped {dropped[-1]:,} of {rows}: they failed."] if dropped[-1] else []
        sentences += [_sentence(each, dropped[at], rows) for at, each in enumerate(filters)]
        return RunRows(pa.Table.from_batches(batches, schema), tuple(sentences), total)

    def inspection(self, id: str) -> Inspection | None:
        """Return what a question's row was made of; None where nothing was recorded.

        Raises `InvalidRequestError` when the recording was changed.
        """
        for row in self._waiting:
            if row.id == id and row.recording:
                return self._read(row.recording)
        for part in reversed(parts_of(self.folder, "recordings")):
            stored = parquet.read_table(part, filters=[("id", "==", id)])
            if len(stored):
                return self._read(stored["recording"][0].as_py())
        return None

    def _read(self, recording: str) -> Inspection:
        return read(recording_from_json(recording), self.reading)


def _sentence(each: Filter, dropped: int, rows: str) -> str:
    of = "" if each.source is None else f" of the source “{one_line(each.source)}”"
    return f"Dropped {dropped:,} of {rows}: {FILTERS[each.name].dropped}{of}."


def labelled_csv(
    run: Run, filters: Sequence[Filter] = (), match: Match = "same_answer"
) -> tuple[bytes, tuple[str, ...]]:
    """Return a run as the labelled table that the calibration reads, and what is not in it.

    The table says so, too, for a promise holds for what remains. The labels by another rule stand
    beside those that count: see `core.data.tabular.label_meanings.own_labels`.

    `match`: when an answer counts as right.
    """
    rows = run.rows(filters)
    # What cannot be promised on these rows has no values in them.
    without = dict.fromkeys(unfit_scores(np.array(rows.table["query"].to_pylist(), object)))
    every = (
        Row(values | without) for batch in rows.table.to_batches() for values in batch.to_pylist()
    )
    selection = (
        # Of one column: whoever calibrates may choose another.
        *([] if match == "same_answer" else [f"Right by “…_correct”: {RIGHT_BY[match]}."]),
        *omissions([], int(run.manifest["questions"].get("malformed", 0))),
        *rows.dropped,
        *extent(rows.total, run.manifest["questions"]["number"], at_random=ORDER in run.manifest),
    )
    return labelled_table(every, run.pipeline, match, " ".join(selection)), selection


def unfit_scores(questions: NDArray[np.object_]) -> tuple[str, ...]:
    """Return the scores whose weights some of these questions chose, however they are typed.

    Nothing may be promised of them on these rows, and no lead counts.
    """
    return (WEIGHTED,) if np.isin(of_questions(questions), _chose_weights()).any() else ()


@once
def _chose_weights() -> NDArray[np.uint64]:
    tables = (Run(FOLDER / name).rows((), ["query"]).table for name in CHOSE_WEIGHTS)
    return of_questions(np.array([q for of in tables for q in of["query"].to_pylist()], object))


def heading(match: Match = "same_answer") -> tuple[str, ...]:
    """Return the headings of a labelled table."""
    return (
        *("question", "right answers", "source", "answer"),
        *SCORES,
        *(f"{name}_correct" for name in SCORES),
        *(f"{name}_correct_{other_rule(match)}" for name in SCORES),
        *("entropy", "sampled_mass", "pipeline"),
    )


def labelled_table(
    rows: Iterable[Row], pipeline: Pipeline, match: Match = "same_answer", selection: str = ""
) -> bytes:
    """Return rows that one pipeline scored as a CSV that the calibration reads.

    `selection`: what is not among them, in words.
    """
    names, last = heading(match), [to_text(pipeline)]
    if selection:
        names, last = (*names, SELECTION), [*last, selection]
    return to_csv(names, ((*_cells(row, match), *last) for row in rows))


def _cells(row: Row, match: Match) -> tuple[object, ...]:
    values, mass = row.values, row.values["sampled_mass"]
    return (
        *(values["query"], " | ".join(chain(*values["answers"])), values["source"]),
        *(values[f"{SCORE}_answer"], *(values[name] for name in SCORES)),
        *(int(row.is_right(name, by)) for by in (match, other_rule(match)) for name in SCORES),
        *(values["entropy"], None if mass is None else f"{mass:.6g}"),
    )
