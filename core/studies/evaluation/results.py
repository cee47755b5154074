"""What every score is worth on the rows of a run: measures with intervals, and curves.

The doubts are those that a policy decides by, so a question of which too little was seen, or
nothing may be served, counts as the most doubtful of all. Rows count that did not fail, and that
the filters keep.
"""

from __future__ import annotations

import os
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import compute

from core.abstention import metrics
from core.abstention.intervals import ConfidenceBand, Interval
from core.abstention.metrics import Curve
from core.abstention.resampled_measures import ResampledMeasures, resample
from core.codec import count_of, list_of
from core.data.tabular.columns import question_numbers
from core.data.world.grading import matches
from core.studies.evaluation.rows import RIGHT, SCHEMA, Match, other_rule
from core.studies.evaluation.run_folder import LOCK, RunError
from core.studies.evaluation.saved_run import Filter, Run, unfit_scores
from core.studies.progress import Progress, silent
from core.uncertainty.scores import SCORES
from core.uncertainty.validation import Floats

RESAMPLES: Final = 1_000
FEWEST: Final = 500  # with fewer, seven p-values could not be small together
#: Rows × scores × resamples in about a second on one core.
A_SECOND: Final = 16_000_000
POINTS: Final = 60  # of a curve
CONFIDENCE: Final = 0.95  # of every interval


@dataclass(frozen=True, eq=False)
class Results:
    """The rows of a run that count."""

    run: Run
    table: pa.Table  # of `SCHEMA`, or of what the measures need
    match: Match = "same_answer"  # {"same_answer", "f1", "exact"}: when an answer is right
    dropped: tuple[str, ...] = ()  # a sentence for every reason why rows do not count
    # The score whose answer is judged for all scores, so that they are compared on the same
    # answers; None where each is judged by its own.
    served: str | None = None
    only: tuple[str, ...] = ()  # the sources that count, where rows of others are left out

    def __len__(self) -> int:
        return int(self.table.num_rows)

    @cached_property
    def ids(self) -> NDArray[np.object_]:
        """The questions' ids."""
        return self.texts("id")

    @cached_property
    def queries(self) -> NDArray[np.object_]:
        """The questions."""
        return self.texts("query")

    @cached_property
    def questions(self) -> NDArray[np.int64]:
        """Which question each row asks, as `question_numbers` says."""
        return question_numbers(self.queries)

    @cached_property
    def sources(self) -> NDArray[np.object_]:
        """Where the questions are from; "" where that is not said."""
        return self.texts("source")

    @cached_property
    def entropies(self) -> Floats:
        """Of the model's answers, nats; NaN where there is none."""
        return self._numbers("entropy")

    @cached_property
    def right_answers(self) -> NDArray[np.int64]:
        """How many different right answers each question has."""
        lengths = compute.list_value_length(self.table["answers"]).fill_null(0)
        return np.asarray(lengths.to_numpy(), np.int64)

    @cached_property
    def doubts(self) -> Mapping[str, Floats]:
        """By score, as a policy decides by it; NaN where it answers at no λ."""
        return {name: self._numbers(name) for name in SCORES}

    @cached_property
    def correct(self) -> Mapping[str, NDArray[np.bool_]]:
        """Whether the answer that each score serves is right."""
        own = self.correct_by(self.match)
        return own if self.served is None else dict.fromkeys(SCORES, own[self.served])

    def correct_by(self, match: Match) -> Mapping[str, NDArray[np.bool_]]:
        """Return whether each score's own answer is right by a rule, whichever is chosen."""
        if match != "same_answer":
            columns = {name: self.table[f"{name}_{RIGHT[match]}"] for name in SCORES}
            return {name: np.asarray(each.to_numpy(), bool) for name, each in columns.items()}
        return self._same_answers

    @cached_property
    def _same_answers(self) -> Mapping[str, NDArray[np.bool_]]:
        accepted = [tuple(chain(*names)) for names in self.table["answers"].to_pylist()]
        answers = {name: list(enumerate(self.texts(f"{name}_answer"))) for name in SCORES}
        right = {  # most scores of a row serve the same answer
            (row, answer): matches(answer, accepted[row], self.queries[row])
            for row, answer in sorted(set(chain(*answers.values())))  # a row's names are read once
        }
        return {name: np.array([right[one] for one in answers[name]], bool) for name in SCORES}

    @cached_property
    def by_other_label(self) -> Results:
        """The same rows, right by the paper's label; by the same answer where that was chosen."""
        return replace(self, match=other_rule(self.match))

    @cached_property
    def scores(self) -> tuple[str, ...]:
        """The scores that have a doubt in some row."""
        return tuple(name for name in SCORES if not np.isnan(self.doubts[name]).all())

    @cached_property
    def unfit_scores(self) -> tuple[str, ...]:
        """The scores that some of these questions chose: here they had to do well."""
        return tuple(name for name in unfit_scores(self.queries) if name in self.scores)

    @cached_property
    def has_independent_rows(self) -> bool:
        """Whether every row has a question of its own, so that rows are independent."""
        return len(np.unique(self.questions)) == len(self)

    @cached_property
    def curves(self) -> Mapping[str, Curve]:
        """Every score's curve, exact and complete."""
        return {name: metrics.curve(self.doubts[name], self.correct[name]) for name in self.scores}

    def right(self, score: str) -> float:
        """Return the share of questions that a score serves a right answer to; NaN of none."""
        return share_right(self.correct[score])

    def answers(self, score: str) -> NDArray[np.object_]:
        """Return the answer that is judged for a score: its own, or that of the served one."""
        return self.texts(f"{self.served or score}_answer")

    def texts(self, column: str) -> NDArray[np.object_]:
        """Return a column of texts; "" where there is none."""
        texts = np.empty(len(self), object)
        texts[:] = [text or "" for text in self.table[column].to_pylist()]
        return texts

    def _numbers(self, column: str) -> Floats:
        return np.asarray(self.table[column].to_numpy(), float)


def share_right(right: NDArray[np.bool_]) -> float:
    """Return the share that is right; NaN of none."""
    return float(right.mean()) if len(right) else float("nan")


def columns_for(match: Match) -> list[str]:
    """Return the columns that the measures and the mixtures need, both usual labels among them."""
    labels = dict.fromkeys((RIGHT["same_answer"], RIGHT["f1"], RIGHT[match]))
    scores = [c for name in SCORES for c in (name, *(f"{name}_{label}" for label in labels))]
    return ["id", "query", "answers", "source", "entropy", *scores]


def read_results(
    run: Run,
    filters: Sequence[Filter] = (),
    match: Match = "same_answer",
    *,
    sources: Iterable[str] = (),
    columns: Sequence[str] | None = None,
    served: str | None = None,
) -> Results:
    """Read the rows of a run that count: of all sources, if none is named.

    `columns` are all by default; see `columns_for`. `served` is the score whose answer is judged
    for all. Raises `RunError` when the run is damaged, or has no source that is named.
    """
    rows = run.rows(filters, list(columns or SCHEMA.names))
    table, dropped, only = rows.table, rows.dropped, ()
    if chosen := pa.array(sorted(set(sources)), pa.string()):
        labels = compute.fill_null(table["source"], "")
        there = set(labels.to_pylist())
        if unknown := sorted(set(chosen.to_pylist()) - there):
            raise RunError(f"The rows are of {list_of(sorted(there))}, not of {list_of(unknown)}.")
        table = table.filter(compute.is_in(labels, value_set=chosen))
        others = rows.table.num_rows - table.num_rows
        only = tuple(chosen.to_pylist()) if others else ()
        dropped += (f"Left out {count_of(others, 'row')} of other sources.",)
    # Rows are in the order in which they were finished, which resamples must not depend on.
    return Results(run, table.combine_chunks().sort_by("id"), match, dropped, served, only)


def stamp(run: Run) -> Hashable:
    """Return what changes whenever a run gets rows, without reading them."""
    files = sorted(path for path in run.folder.glob("*") if path.name != LOCK)
    there = ((path.name, _stat(path)) for path in files)
    return tuple((name, stat.st_size, stat.st_mtime_ns) for name, stat in there if stat)


def _stat(path: Any) -> os.stat_result | None:
    try:
        return os.stat(path)
    except OSError:  # it has just become part of another file
        return None


@dataclass(frozen=True, eq=False)
class RunMeasures:
    """The measures of every score, with intervals where there are resamples."""

    results: Results
    resampled: ResampledMeasures

    @property
    def number(self) -> int:
        """How many resamples the intervals are of."""
        return self.resampled.number

    def interval(self, score: str, measure: str) -> Interval:
        """Return a measure with its interval; NaN where nothing can be said."""
        if score not in self.results.scores:
            return Interval(*(float("nan"),) * 3)
        return self.resampled.interval(score, measure, CONFIDENCE)

    @cached_property
    def bands(self) -> Mapping[str, ConfidenceBand]:
        """Every score's precision by recall, with its band."""
        return {name: self.resampled.band(name, CONFIDENCE) for name in self.results.scores}


def affordable(rows: int, scores: int, seconds: float = 1.0) -> int:
    """Return how many resamples can be computed in about so long; 0 where too few."""
    number = int(seconds * A_SECOND / max(rows * scores, 1))
    return 0 if number < FEWEST else min(number, RESAMPLES)


def measure_run(results: Results, number: int, progress: Progress = silent) -> RunMeasures:
    """Measure every score of a run on the same resamples of its questions; see `affordable`."""
    return RunMeasures(
        results,
        resample(
            {name: results.doubts[name] for name in results.scores},
            {name: results.correct[name] for name in results.scores},
            results.questions,
            {name: _recalls(curve) for name, curve in results.curves.items()},
            number=number,
            progress=lambda share: progress("Resampling the questions", share),
        ),
    )


def _recalls(curve: Curve) -> Floats:
    """Return where a curve is drawn: from its smallest block, which no threshold can part."""
    if not len(curve.doubts):
        return np.zeros(0)
    first, last = curve.coverage[0], curve.coverage[-1]
    return np.unique(np.append(np.linspace(first, last, POINTS), last))
