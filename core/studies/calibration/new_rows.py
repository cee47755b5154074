"""Deciding by a policy: the labelled rows, and new ones without labels."""

import math
from dataclasses import dataclass
from itertools import chain, count

import numpy as np
from numpy.typing import NDArray
from scipy.stats import fisher_exact

from core.abstention.drift import FALSE_ALARMS, FEWEST, Drift, drift
from core.abstention.policy import Policy, check_rows, own_direction
from core.data.tabular.columns import column_of
from core.data.tabular.csv_export import to_csv
from core.data.tabular.grading import RIGHT, WRONG
from core.data.tabular.headings import plain_heading
from core.data.tabular.label_words import GRADED_BY
from core.data.tabular.labelled_rows import LabelledRows, doubts_of
from core.data.tabular.mixed_rows import other_settings
from core.data.tabular.pipelines import pipelines_of
from core.data.tabular.unanswered_rows import silent_rows
from core.data.tabular.uploads import Upload
from core.studies.calibration.calibration import Calibration, CalibrationError


def decisions(data: LabelledRows, policy: Policy) -> bytes:
    """Return a disarmed CSV: every labelled row with its score and the decision.

    Whoever calibrates on it reads what made the scores, and whose labels they are.
    """
    doubts, book = data.doubts[policy.score], data.codebooks.get(policy.score)
    numbers = own_direction(doubts, policy.larger_is_surer)
    is_graded = bool(book and book.label.startswith(GRADED_BY))
    own = book.label if book and is_graded else f"{policy.score}_correct"
    labels = {own: data.correct[policy.score]}
    if other := data.others.get(policy.score):
        labels[other.column] = other.right
    words = (WRONG, RIGHT) if is_graded else (0, 1)
    pipeline = {"pipeline": data.pipeline} if data.pipeline else {}
    return to_csv(
        ("row", "query", "source", policy.score, "decision", *labels, *pipeline),
        (
            (
                int(row) + 1,
                str(query),
                str(source),
                "" if math.isnan(doubt) else float(number),
                "answer" if doubt < policy.threshold else "abstain",
                *(words[int(each)] for each in right),
                *pipeline.values(),
            )
            for row, query, source, doubt, number, *right in zip(
                *(data.kept, data.queries, data.sources, doubts, numbers),
                *labels.values(),
                strict=True,
            )
        ),
    )


@dataclass(frozen=True)
class NewScores:
    """Scores without labels, and what a policy decides on them."""

    policy: Policy
    upload: Upload
    doubts: NDArray[np.float64]  # (n,): NaN where there is none: abstain
    silent: NDArray[np.bool_]  # (n,): whether what should be the answer is none: abstain
    others: str = ""  # of which models or settings the rows are that the policy is not, in words

    @property
    def answers(self) -> NDArray[np.bool_]:
        """Whether each row is answered."""
        return self.passes & ~self.silent

    @property
    def passes(self) -> NDArray[np.bool_]:
        """Whether each row's doubt is below λ."""
        return self.doubts < self.policy.threshold

    @property
    def answered(self) -> int:
        """How many rows are answered."""
        return int(self.answers.sum())

    @property
    def is_answered_as_often(self) -> bool:
        """Whether as many are below λ as of the rows that made the policy, by Fisher's test.

        Of those without an answer nobody knows how many these counted: all, or none.
        """
        policy, passes = self.policy, int(self.passes.sum())
        if policy.labels:
            alike = round(policy.answered / policy.labels * len(self.doubts))
            passes = min(max(alike, self.answered), passes)
        shares = [
            (passes, len(self.doubts) - passes),
            (policy.answered, policy.labels - policy.answered),
        ]
        return not policy.labels or bool(fisher_exact(shares).pvalue >= FALSE_ALARMS)

    @property
    def shows_nothing(self) -> bool:
        """Whether rows of another scale could be answered just so: few, or all of them below λ."""
        withholds = self.policy.answered < self.policy.labels
        return len(self.doubts) < FEWEST or (withholds and bool(self.passes.all()))


def new_scores(upload: Upload, policy: Policy) -> NewScores:
    """Read the policy's score out of a table without labels.

    Raises `CalibrationError` when the score's column is missing, or a row is not like those that
    made the policy, by its model, filter or epoch or the scale of its score; `PolicyError` when a
    row does not name the policy's pipeline; `UploadError` when the column holds no numbers.
    """
    if policy.score not in upload.table.columns:
        raise CalibrationError(
            f"There is no column “{policy.score}” in {upload.name}. Give the scores the same "
            "heading as in the calibration."
        )
    check_rows(policy, pipelines_of(upload))
    doubts = doubts_of(upload, policy.score, policy.larger_is_surer)
    surest = own_direction(float(np.nanmin(doubts, initial=np.inf)), policy.larger_is_surer)
    if book := policy.codebook:
        only = {plain_heading(name) for name, _ in book.only}
        there = [name for name in upload.headings if plain_heading(name) in only]
        rows = ({name: text} for name in there for text in column_of(upload, name).texts)
        misfits = (book.misfit(row, surest) for row in chain([{}], rows))
        if misfit := next(filter(None, misfits), ""):
            raise CalibrationError(f"In {upload.name}: {misfit}")
    silent = np.zeros(len(upload.table), bool)
    for each in silent_rows(upload, policy.score).values():
        silent |= each
    of_models = (book.only, book.unused) if book else ((), ())
    others = "" if policy.pipeline else other_settings(upload, *of_models)
    return NewScores(policy, upload, doubts, silent, others)


def drift_from(calibration: Calibration, fresh: NewScores) -> Drift:
    """Compare new scores with the calibration's; raise `CalibrationError` if there are none."""
    try:
        return drift(calibration.doubts, fresh.doubts)
    except ValueError as error:
        raise CalibrationError(str(error)) from error


def new_decisions(fresh: NewScores) -> bytes:
    """Return the new table as a disarmed CSV with a column `decision` at its end.

    A column of that name is an earlier decision, and is called so.
    """
    headings = fresh.upload.headings
    decisions = np.where(fresh.answers, "answer", "abstain")
    columns = (fresh.upload.table[name] for name in headings)
    taken = {plain_heading(name) for name in headings} - {"decision"}
    earlier = next(n for i in count(1) if plain_heading(n := f"decision before {i}") not in taken)
    names = (earlier if plain_heading(name) == "decision" else name for name in headings)
    return to_csv((*names, "decision"), zip(*columns, decisions, strict=True))
