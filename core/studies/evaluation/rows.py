"""A row of a run: one question, what every score says of it, and whether its answer is right.

A score has five columns: its doubt as a policy decides by it, empty where it answers at no λ
(`NAME`); its own doubt (`NAME_raw`); the answer that it serves (`NAME_answer`); whether that is
right by token F1 (`NAME_correct`), and word for word (`NAME_exact`). A question that failed has
its error and no scores. Rows from before the weighted doubt are `complete`. What the model said
is beside the rows, in the same order of questions: see `run_folder`.
"""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from itertools import chain
from typing import Any, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import compute

from core.codec import finite, one_line
from core.data.datasets.questions import Question
from core.data.tabular.headings import RULES
from core.data.world.grading import matches, matches_by_f1, matches_exactly
from core.language_models.language_model import encodable
from core.language_models.usage import Usage
from core.studies.inspection.certificates import SCORE, WEIGHTED
from core.studies.inspection.inspection import Inspection
from core.studies.inspection.serialise import recording_to_json
from core.uncertainty.scores import SCORES, weight

Match = Literal["same_answer", "f1", "exact"]
#: The column of a score that decides whether its answer is right, by how answers are compared. The
#: rule for the same answer is applied to the answer itself, as it stands today.
RIGHT: Mapping[Match, str] = {"same_answer": "answer", "f1": "correct", "exact": "exact"}
#: How an answer is compared with the accepted ones, in words.
RIGHT_BY: Mapping[str, str] = {**RULES, "exact": "word for word"}


def other_rule(match: Match) -> Match:
    """Return the rule whose labels stand beside those of another."""
    return "same_answer" if match == "f1" else "f1"


LONGEST_ERROR = 500  # characters
TOKENS = ("prompt_tokens", "response_tokens")
USED = ("requests", *TOKENS)  # the columns of what a row took of a service

SCHEMA = pa.schema(
    [
        ("id", pa.string()),
        ("query", pa.string()),
        ("answers", pa.list_(pa.list_(pa.string()))),
        ("source", pa.string()),
        ("error", pa.string()),
        ("greedy", pa.string()),
        ("responses", pa.list_(pa.string())),
        ("clusters", pa.int32()),
        ("sampled_mass", pa.float64()),
        ("entropy", pa.float64()),
        *chain.from_iterable(
            (
                (name, pa.float64()),
                (f"{name}_raw", pa.float64()),
                (f"{name}_answer", pa.string()),
                (f"{name}_correct", pa.bool_()),
                (f"{name}_exact", pa.bool_()),
            )
            for name in SCORES
        ),
        *((name, pa.int64()) for name in USED),
        ("seconds", pa.float64()),
    ]
)
ALWAYS_THERE = ("id", "query", "answers", "source")
RECORDINGS = pa.schema([("id", pa.string()), ("recording", pa.string())])


@dataclass(frozen=True)
class Row:
    """One finished question."""

    values: dict[str, Any]  # by the names of `SCHEMA`; what is missing there is None
    # What the model said, as JSON; see `serialise.recording_from_json`.
    recording: str | None = None
    unreachable: bool = False  # whether it failed because the service could not be reached

    @property
    def id(self) -> str:
        """The question's."""
        return str(self.values["id"])

    @property
    def is_failure(self) -> bool:
        """Whether there is an error instead of scores."""
        return self.values["error"] is not None

    def is_right(self, score: str, match: Match = "same_answer") -> bool:
        """Return whether the answer that a score serves is right."""
        column = self.values[f"{score}_{RIGHT[match]}"]
        if match != "same_answer":
            return bool(column)
        return matches(column, chain(*self.values["answers"]), self.values["query"])


def scored_row(
    question: Question, inspection: Inspection, used: Usage | None = None, seconds: float = 0.0
) -> Row:
    """Return the row of a question that was answered.

    Where too little of the probability was seen for a verdict, or nothing may be served, the doubts
    are missing: the pipeline abstains there whatever the score. `used` is what the question took of
    a service, None where calls cost nothing but time; `seconds` go from its first call to its
    scores, those included in which it waited beside others.
    """
    recording = inspection.recording
    values = _about(question, used, seconds) | {
        "greedy": recording.greedy.text,
        "responses": list(recording.texts),
        "clusters": len(inspection.clusters),
        "sampled_mass": inspection.sampled_mass,
        "entropy": inspection.scores["semantic_entropy"].doubt,
    }
    doubts = inspection.doubts
    for name, score in inspection.scores.items():
        values |= {
            name: doubts[name],
            f"{name}_raw": None if score.doubt is None else finite(score.doubt),
            f"{name}_answer": score.answer,
            f"{name}_correct": matches_by_f1(score.answer, question.names),
            f"{name}_exact": matches_exactly(score.answer, question.names),
        }
    try:
        serialised = recording_to_json(recording)
    except ValueError:  # a likelihood of 0, which JSON cannot hold: the scores are here
        serialised = None
    return Row(values, serialised)


def failed_row(question: Question, error: str, used: Usage | None, seconds: float) -> Row:
    """Return the row of a question that could not be scored; see `scored_row`."""
    reason = one_line(encodable(error), LONGEST_ERROR)
    return Row(_about(question, used, seconds) | {"error": reason})


def table(rows: Iterable[Row]) -> pa.Table:
    """Return rows as a table of `SCHEMA`."""
    batch = pa.RecordBatch.from_pylist([row.values for row in rows], SCHEMA)
    return pa.Table.from_batches([complete(batch)], SCHEMA)


def is_emptied(rows: pa.RecordBatch) -> bool:
    """Say whether another program emptied what every row has, or the answer of a score."""

    def gaps(column: pa.Array) -> bool:
        return column.null_count or (pa.types.is_list(column.type) and gaps(column.flatten()))

    there = set(rows.schema.names)
    scored = (
        rows.filter(rows[n].is_valid())[f"{n}_answer"]
        for n in SCORES
        if {n, f"{n}_answer"} <= there
    )
    return any(map(gaps, (*(rows[name] for name in ALWAYS_THERE if name in there), *scored)))


#: What `complete` computes the weighted doubt from.
PARTS_OF_WEIGHTED = ("self_verification_raw", "certified_mutual_information_raw", "sampled_mass")


def complete(rows: pa.RecordBatch) -> pa.RecordBatch:
    """Fill in the weighted doubt of rows that were written before there was one.

    It is missing where they lack a part of it, and where no bound of M.I. is certified: then the
    likelihoods may not be exact. Its answer is that of M.I.
    """
    verification, bound, mass = (_numbers(rows[name]) for name in PARTS_OF_WEIGHTED)
    exact = np.where(np.isnan(bound), np.nan, 1.0)
    for name in (n for n in SCHEMA.names if n.startswith(WEIGHTED)):
        column = rows[name.replace(WEIGHTED, SCORE)]
        if pa.types.is_floating(column.type):
            doubts = weight(_numbers(column), verification, mass) * exact
            column = pa.array(doubts, from_pandas=True)
        if name in rows.schema.names:
            column = compute.coalesce(rows[name], column)
            rows = rows.set_column(rows.schema.get_field_index(name), name, column)
        else:
            rows = rows.append_column(name, column)
    return rows


def _numbers(column: pa.Array) -> NDArray[np.float64]:
    return np.asarray(column.to_numpy(zero_copy_only=False), float)


def total_usage(rows: pa.RecordBatch) -> Usage | None:
    """Return what rows took of a service; None where they took only time."""
    requests, *tokens = map(rows.column, USED)
    if requests.null_count == len(requests):
        return None
    silent = requests.filter(tokens[0].is_null())
    return Usage(*(column.sum().as_py() or 0 for column in (requests, *tokens, silent)))


def _usage(used: Usage | None) -> dict[str, int | None]:
    """Return the columns of what was used; no tokens where a reply did not say how many."""
    if used is None:
        return {}
    columns: dict[str, int | None] = asdict(used)
    return columns | (dict.fromkeys(TOKENS) if columns.pop("unreported") else {})


def _about(question: Question, used: Usage | None, seconds: float) -> dict[str, Any]:
    return {
        "id": question.id,
        "query": question.query,
        "answers": [list(names) for names in question.answers],
        "source": question.source,
        "error": None,
        **_usage(used),
        "seconds": round(seconds, 6),
    }
