"""Two runs side by side: what differs between them, and what became of every question.

Rows belong together that ask the same question, by `question_keys`. Of a question that a run asks
more than once, its first row counts. Where other answers count as right in the other run, right
here and wrong there says nothing of the models: such a question is left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from core.abstention.resampled_measures import ResampledMeasures, resample
from core.data.tabular.columns import question_keys
from core.studies.evaluation.results import CONFIDENCE, Results, share_right
from core.studies.evaluation.row_table import Table, doubt_cells
from core.studies.evaluation.run import differences_between
from core.studies.evaluation.saved_run import Run
from core.studies.evaluation.score_comparison import ScoreComparison, adjusted_p_values
from core.studies.progress import Progress, silent

HERE, THERE = "this run", "the other"


class Change(StrEnum):
    """What became of a question, by one score."""

    ALL = "All"
    ONLY_HERE = "Right only here"
    ONLY_THERE = "Right only there"
    OTHER_ANSWER = "Another answer"
    BOTH_WRONG = "Wrong in both"


@dataclass(frozen=True, eq=False)
class SharedQuestions:
    """The questions that two runs share."""

    here: Results
    there: Results
    # at_here, at_there: (n,): their rows of the same questions.
    at_here: NDArray[np.int64]
    at_there: NDArray[np.int64]
    at_others: NDArray[np.int64]  # rows here of questions with other right answers there, left out

    def __len__(self) -> int:
        return len(self.at_here)

    @cached_property
    def scores(self) -> tuple[str, ...]:
        """The scores that both runs have."""
        return tuple(name for name in self.here.scores if name in self.there.scores)

    def right(self, score: str) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Return whether each question's answer is right in this run, and in the other."""
        here, there = self.here.correct[score], self.there.correct[score]
        return here[self.at_here], there[self.at_there]

    @cached_property
    def by_other_label(self) -> SharedQuestions:
        """The same questions, right by the other label."""
        return replace(self, here=self.here.by_other_label, there=self.there.by_other_label)

    def doubts(self, score: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return each question's doubt in this run, and in the other."""
        return self.here.doubts[score][self.at_here], self.there.doubts[score][self.at_there]

    def answers(self, score: str) -> tuple[NDArray[np.object_], NDArray[np.object_]]:
        """Return the answer that a score serves in this run, and in the other."""
        return (self.here.answers(score)[self.at_here], self.there.answers(score)[self.at_there])

    def of(self, change: Change, score: str) -> NDArray[np.int64]:
        """Return the places of questions of which so much became, the largest change first."""
        right, other = self.right(score)
        common = {
            Change.ALL: np.ones(len(self), bool),
            Change.ONLY_HERE: right & ~other,
            Change.ONLY_THERE: other & ~right,
            Change.BOTH_WRONG: ~right & ~other,
        }
        if change is Change.OTHER_ANSWER:
            answers = self.answers(score)
            chosen = answers[0] != answers[1]
        else:
            chosen = common[change]
        before, after = self.doubts(score)
        order = np.argsort(-np.nan_to_num(np.abs(before - after), nan=-1.0), kind="stable")
        return order[chosen[order]]

    def table(self, places: NDArray[np.int64], score: str) -> Table:
        """Return questions as columns by heading."""
        answers, right, doubts = self.answers(score), self.right(score), self.doubts(score)
        columns: dict[str, list[object]] = {
            "question": self.here.queries[self.at_here[places]].tolist()
        }
        for name, of in ((HERE, 0), (THERE, 1)):
            columns[f"answer, {name}"] = answers[of][places].tolist()
        for name, of in ((HERE, 0), (THERE, 1)):
            judged = np.where(right[of][places], "right", "wrong")
            columns[f"right or wrong, {name}"] = judged.tolist()
        for name, of in ((HERE, 0), (THERE, 1)):
            columns[f"doubt, {name}"] = doubt_cells(doubts[of][places])
        return columns


def shared_questions(here: Results, there: Results) -> SharedQuestions:
    """Put the rows of two runs beside each other, by their questions."""
    one, other = _first_rows(here), _first_rows(there)
    pairs = np.array([(one[key], other[key]) for key in one if key in other], np.int64)
    at_here, at_there = pairs.reshape(-1, 2).T
    same = np.array(
        [
            a == b
            for a, b in zip(_right_names(here, at_here), _right_names(there, at_there), strict=True)
        ],
        bool,
    )
    return SharedQuestions(here, there, at_here[same], at_there[same], at_here[~same])


def _first_rows(results: Results) -> dict[Any, int]:
    rows: dict[Any, int] = {}
    for row, key in enumerate(question_keys(pa.array(results.queries, pa.large_string()))):
        rows.setdefault(key.as_py(), row)
    return rows


def _right_names(results: Results, rows: NDArray[np.int64]) -> list[set[str]]:
    answers = results.table["answers"].take(pa.array(rows)).to_pylist()
    return [{name.strip().casefold() for name in chain(*each)} for each in answers]


def in_common(runs: Sequence[Run]) -> NDArray[np.int64]:
    """Return how many questions each two of some runs have finished both, (n, n)."""
    every = [_keys_of(run) for run in runs]
    return np.array([[len(one & other) for other in every] for one in every], np.int64)


def _keys_of(run: Run) -> set[str]:
    queries = [text for batch in run.batches(["query"]) for text in batch["query"].to_pylist()]
    return set(question_keys(pa.array(queries, pa.large_string())).to_pylist())


def _questions(run: Run) -> tuple[Any, ...]:
    questions = run.manifest.get("questions") or {}
    return tuple(questions.get(name) for name in ("sha256", "name", "number"))


def differences(here: Run, there: Run) -> list[str]:
    """Return one phrase for everything in which two runs were made differently."""
    parts = differences_between(there.manifest, here.manifest)
    inputs = [_questions(run) for run in (there, here)]
    if inputs[0][0] != inputs[1][0]:
        names, numbers = ([each[at] for each in inputs] for at in (1, 2))
        parts.append(
            f"questions = {names[0]} there, {names[1]} here"
            if names[0] != names[1]
            else f"another version of {names[0]}: {numbers[0]} there, {numbers[1]} here"
        )
    return parts


@dataclass(frozen=True)
class RunSide:
    """One score in both runs, on shared questions; all p-values are adjusted by Holm's method."""

    score: str
    # right_here, right_there: shares of right answers.
    right_here: float
    right_there: float
    # other_here, other_there: by the other label.
    other_here: float
    other_there: float
    # only_here, only_there: questions that only one of the two answers rightly.
    only_here: int
    only_there: int
    # The p-value of as uneven a split between these two (McNemar's exact test), adjusted.
    chance: float
    # The measure in this run against the other; the scores of both have the same name.
    by: ScoreComparison


def compare_scores(
    both: SharedQuestions, number: int, progress: Progress = silent
) -> tuple[RunSide, ...]:
    """Compare the AUROC of every score in this run with that in the other.

    By the paired bootstrap: each resample draws the same questions of both runs. The p-values of
    the right answers and of the AUROC are adjusted together, for twice the number of scores; one
    that is not known yet counts as 1.

    `number`: of resamples.
    """
    names = both.scores
    right = {name: both.right(name) for name in names}
    resampled = _resample(both, right, number, progress)
    every = []
    for name in names:
        by = ScoreComparison(
            *(name, name, "auroc"),
            (
                resampled.interval(f"0{name}", "auroc").value,
                resampled.interval(f"1{name}", "auroc").value,
            ),
            resampled.difference(f"0{name}", f"1{name}", "auroc", CONFIDENCE),
            "paired bootstrap",
            resampled.p_value(f"0{name}", f"1{name}", "auroc"),
        )
        every.append(_side(name, right[name], both.by_other_label.right(name), by))
    return _with_holm(every)


def _with_holm(every: Sequence[RunSide]) -> tuple[RunSide, ...]:
    """Return both p-values of every score adjusted as one family."""
    p_values = adjusted_p_values(
        [*(side.chance for side in every), *(side.by.p_value for side in every)],
        [*(0.0 for _ in every), *(side.by.difference.value for side in every)],
    )
    return tuple(
        replace(side, chance=float(chance), by=replace(side.by, adjusted=float(p)))
        for side, chance, p in zip(every, *np.split(p_values, 2), strict=True)
    )


def _resample(
    both: SharedQuestions,
    right: Mapping[str, tuple[NDArray[np.bool_], ...]],
    number: int,
    progress: Progress,
) -> ResampledMeasures:
    doubts, correct = {}, {}
    for name in both.scores:
        for of in (0, 1):
            doubts[f"{of}{name}"] = both.doubts(name)[of]
            correct[f"{of}{name}"] = right[name][of]
    return resample(
        doubts,
        correct,
        both.here.questions[both.at_here],
        None,
        number=number,
        progress=lambda share: progress("Resampling the shared questions", share),
    )


def _side(
    name: str,
    right: tuple[NDArray[np.bool_], ...],
    by_other_label: tuple[NDArray[np.bool_], ...],
    by: ScoreComparison,
) -> RunSide:
    from scipy.stats import binomtest  # takes long to load

    here, there = right
    only = int(np.count_nonzero(here & ~there)), int(np.count_nonzero(there & ~here))
    chance = float(binomtest(only[0], sum(only)).pvalue) if sum(only) else 1.0
    one, two, three, four = map(share_right, (*right, *by_other_label))
    return RunSide(name, one, two, three, four, *only, chance, by)
