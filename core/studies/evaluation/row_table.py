"""The table of a run’s rows: searched, filtered, and as files."""

import io
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pyarrow import parquet

from core.codec import encode
from core.data.tabular.csv_export import to_csv
from core.studies.evaluation.results import Results
from core.studies.evaluation.rows import RIGHT_BY

Table = Mapping[str, list[object]]
BETWEEN = " | "  # answers in one cell
PLACES = 6  # after the point, of what is drawn


class RowPart(StrEnum):
    """Which rows."""

    ALL = "All"
    RIGHT = "Right"
    WRONG = "Wrong"
    LABELS_DIFFER = "Labels differ"
    UNKNOWN = "Too little seen"


def listed_rows(
    results: Results, score: str, part: RowPart = RowPart.ALL, words: str = ""
) -> NDArray[np.int64]:
    """Return the places of rows, the least doubtful first; those without a doubt last.

    `words`: all of them must be in the question, the answer, a right answer or the source, in any
    case.
    """
    doubts, right = results.doubts[score], results.correct[score]
    chosen = {
        RowPart.ALL: np.ones(len(results), bool),
        RowPart.RIGHT: right,
        RowPart.WRONG: ~right,
        RowPart.LABELS_DIFFER: right != results.by_other_label.correct[score],
        RowPart.UNKNOWN: np.isnan(doubts),
    }[part]
    order = np.argsort(doubts, kind="stable")
    order = order[chosen[order]]
    if terms := words.casefold().split():
        searchable = _searchable(results, score)
        order = order[[all(word in searchable[row] for word in terms) for row in order]]
    return order


def _searchable(results: Results, score: str) -> list[str]:
    columns = results.queries, results.sources, results.answers(score)
    rights = results.table["answers"].to_pylist()
    return [
        "\n".join((*texts, *chain(*(right or ())))).casefold()
        for *texts, right in zip(*columns, rights, strict=True)
    ]


def rows_table(results: Results, score: str, places: NDArray[np.int64]) -> Table:
    """Return rows as columns by heading, by what one score serves."""
    accepted = results.table["answers"].take(places).to_pylist()
    right = results.correct[score][places]
    return {
        "question": results.queries[places].tolist(),
        "answer": results.answers(score)[places].tolist(),
        "right or wrong": np.where(right, "right", "wrong").tolist(),
        # Before what may be wide: beyond the edge of the page, nobody would look for them.
        "doubt": doubt_cells(results.doubts[score][places]),
        "entropy": doubt_cells(results.entropies[places]),
        "right answers": [
            BETWEEN.join(names[0] for names in cell or () if names) for cell in accepted
        ],
        RIGHT_BY[results.by_other_label.match]: np.where(
            results.by_other_label.correct[score][places], "right", "wrong"
        ).tolist(),
        "source": results.sources[places].tolist(),
    }


def doubt_cells(values: NDArray[np.float64]) -> list[object]:
    """Return numbers as cells; None where there is none."""
    return [None if np.isnan(value) else float(value) for value in values]


def as_csv(results: Results) -> bytes:
    """Return all columns of the rows as a disarmed CSV."""
    return to_csv(
        results.table.column_names,
        (
            tuple(map(_cell, row.values()))
            for batch in results.table.to_batches()
            for row in batch.to_pylist()
        ),
    )


def _cell(value: Any) -> object:
    if value is None:
        return ""
    if isinstance(value, bool):
        return int(value)
    return encode(value) if isinstance(value, list) else value  # as an upload is read


def as_parquet(results: Results) -> bytes:
    """Return all columns of the rows as a Parquet file."""
    buffer = io.BytesIO()
    parquet.write_table(results.table, buffer, compression="zstd")
    return buffer.getvalue()


@dataclass(frozen=True, eq=False)
class QuestionPoints:
    """Questions by semantic entropy and mutual information."""

    rows: NDArray[np.int64]  # (n,): their places in the results
    # entropy, information: (n,): Doubts in nats, rounded so that what is drawn is what is chosen.
    entropy: NDArray[np.float64]
    information: NDArray[np.float64]
    right: NDArray[np.bool_]  # (n,): whether the answer of mutual information is
    sources: NDArray[np.object_]  # (n,)
    # missing, drawable: questions without, and with, both doubts; a sample of the latter is in
    # `rows`.
    missing: int
    drawable: int


def scatter_points(results: Results, most: int) -> QuestionPoints:
    """Return the questions with both doubts; of too many, so many drawn at random."""
    entropy = results.doubts["semantic_entropy"].round(PLACES) + 0.0
    information = results.doubts["mutual_information"].round(PLACES) + 0.0
    rows = np.flatnonzero(~(np.isnan(entropy) | np.isnan(information)))
    drawable = len(rows)
    if drawable > most:
        rows = np.sort(np.random.default_rng(0).choice(rows, most, replace=False))
    right = results.correct["mutual_information"][rows]
    counts = len(results) - drawable, drawable
    return QuestionPoints(
        rows, entropy[rows], information[rows], right, results.sources[rows], *counts
    )
