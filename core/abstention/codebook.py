"""What a table of labelled scores was read as: enough to audit what was promised on it."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from core.codec import count_of, decode, list_of, one_line

EVERY_ROW = ""  # each is a question of its own
PERSON = "a person"  # among graders the only one that is no program
_ROUNDING = 1e-6  # of a number that computes to a little more than it can be


@dataclass(frozen=True)
class Codebook:
    """Which column of a table meant what, for one score."""

    question: str  # the column that told one question from another; `EVERY_ROW` if each row was one
    questions: int  # how many different ones the rows used ask
    score: str
    larger_is_surer: bool
    label: str  # the column that said whether answers are right
    # right, wrong: which of its values meant that.
    right: tuple[str, ...]
    wrong: tuple[str, ...]
    right_rows: int  # of the rows used
    rows: int  # how many were used
    table_rows: int  # how many the table has
    left_out: tuple[str, ...]  # why the others were not used, a sentence each
    unused: tuple[str, ...]  # columns that were not read
    first: tuple[str, ...]  # the first rows in words
    claims: tuple[str, ...] = ()  # what a person vouched for of the score, a sentence each
    # Who made the labels, as a sentence names it; empty where the table does not say it.
    grader: str = ""
    grading: tuple[str, ...] = ()  # how they were made, a sentence each
    # The column of the same answers' labels by another rule, which did not count; empty without.
    other: str = ""
    # Columns that tell models, filters or epochs apart, and each value that the rows used have.
    only: tuple[tuple[str, str], ...] = ()
    # lowest, highest: of the score in the rows used; None where nobody knows.
    lowest: float | None = None
    highest: float | None = None
    notes: tuple[str, ...] = ()  # which part of the file the table is, and how it was made one

    def of_grader(self, promises: bool) -> str:
        """Say who made the labels, and that a program's promise agreement; "" where nobody knows.

        `promises`: whether something is promised on them.
        """
        if not self.grader:
            return ""
        who = f" The labels were made by {self.grader}"
        if not promises or self.grader == PERSON:
            return f"{who}."
        return f"{who}: what it calls wrong counts, so this promises agreement with it, not truth."

    def of_both(self, answered: int, errors: int, others: int) -> str:
        """Say how many of the answered are wrong by the label that counts, and by the other."""
        return (
            f" Of the {answered:,} answered, {errors:,} are wrong by {_quotation(self.label)}, "
            f"which counts, and {others:,} by {_quotation(self.other)}."
        )

    def of_rule(self, is_ours: bool, promises: bool) -> str:
        """Say that a rule made the labels of an evaluation, which name no grader; "" of others.

        `is_ours`: whether the rows say which pipeline scored them.
        """
        by_rule = self.other or (is_ours and self.label == f"{self.score}_correct")
        if self.grader or not by_rule:
            return ""
        return replace(self, grader="a rule").of_grader(promises)

    def misfit(self, row: Mapping[str, object], number: float) -> str:
        """Return why a row is not like those that were read; "" where nothing says so.

        A surer score than all of those by more than their width is on another scale, and so is one
        above 1 where those lie between 0 and 1, one above 0 or a doubt below 0, or a perplexity
        below 1, where none of those is.

        `row`: cells by column, as many as it has, whose headings may differ in case or signs.
        `number`: of its score; NaN where it has none.
        """
        cells = {
            _plain(str(name)): "" if cell is None else str(cell).strip()
            for name, cell in row.items()  # `csv.DictReader` has surplus cells under None
        }
        for name in dict(self.only):
            values = tuple(value for other, value in self.only if other == name)
            cell = cells.get(_plain(name), "")
            if cell and cell.casefold() not in [value.strip().casefold() for value in values]:
                return (
                    f"“{one_line(name)}” is {_quotation(cell)}, and only rows in which it is "
                    f"{list_of([*map(_quotation, values)], 'or')} made this policy. Give rows like "
                    "these."
                )
        if self.lowest is None or self.highest is None or self.lowest == self.highest:
            return ""
        low, high, own = self.lowest, self.highest, number
        if not self.larger_is_surer:
            low, high, own = -high, -low, -number
        # A probability is at most 1, its logarithm 0; a doubt is at least 0, and a perplexity 1.
        bound = -1.0 if "perplexity" in self.score.casefold() else 0.0
        if self.larger_is_surer:
            bound = 1.0 if low >= 0 else 0.0
        limit = bound + _ROUNDING if high <= bound else high + (high - low)
        if not own > limit:
            return ""
        return (
            f"{_quotation(self.score)} is {number:g}, and was {self.lowest:g} to "
            f"{self.highest:g} in the rows that made this policy. Give it on the same scale."
        )

    @property
    def width(self) -> float:
        """How far apart the scores lie; infinity where nobody knows."""
        low, high = self.lowest, self.highest
        return math.inf if low is None or high is None else high - low

    @property
    def sentences(self) -> tuple[str, ...]:
        """The codebook in words."""
        rows = count_of(self.rows, "row")
        alone = f"{rows} are taken as independent"
        if self.questions < self.rows:
            alone = f"{self.questions:,} of {alone}, the others being copies"
        asks = f"{rows} ask {count_of(self.questions, 'different question')}"
        return (
            f"Question: {_quotation(self.question)}; {asks}."
            if self.question
            else f"Question: every row asks another; {alone}.",
            *self.of_score,
            *self.grading,
            f"Rows used: {self.rows:,} of {self.table_rows:,}.",
            *self.left_out,
            f"Columns not used: {_values(self.unused)}.",
            *self.first,
        )

    @property
    def of_score(self) -> tuple[str, ...]:
        """What is right, the score's direction, and what was vouched for, in words."""
        rows = count_of(self.rows, "row")
        return (
            f"Right: {_quotation(self.label)} is {_values(self.right)} ({self.right_rows:,} of "
            f"{rows}); wrong: {_values(self.wrong)}.",
            f"Score: {_quotation(self.score)}; larger means "
            f"{'a surer answer' if self.larger_is_surer else 'more doubt'}.",
            *self.claims,
        )


def codebook_from(content: object) -> Codebook:
    """Return a codebook out of JSON that somebody may have edited; raises `ValueError`."""
    book = decode(Codebook, content, largest=sys.float_info.max)
    if book.width < 0:
        raise ValueError("a codebook’s lowest score is above its highest")
    return book


def number_of(cell: object) -> float:
    """Return the number of a cell; NaN where there is none."""
    try:
        return math.nan if isinstance(cell, bool | np.bool_) else float(cell)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return math.nan


def _plain(heading: str) -> str:
    return re.sub(r"[\s_-]", "", heading.casefold())


def _quotation(text: str) -> str:
    return f"“{one_line(text)}”"


def _values(texts: tuple[str, ...]) -> str:
    return list_of([_quotation(text) if text else "empty" for text in texts]) if texts else "none"
