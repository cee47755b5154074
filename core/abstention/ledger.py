"""A ledger of labels: which rows were looked at, and what part of δ each look may spend.

Labels are a budget. Whoever adds rows after a failure and calibrates again, names another score, or
picks a setting after seeing several, tests once more; each test may be wrong with probability δ.
So all looks at the same labels share one δ: the first spends δ/2, the second δ/4, and so on, which
is δ in all, however many follow and whatever decides that they follow (the union bound).

Results that are shown without a test are a look, too: whoever sees those of several filters chooses
among them. The first test of all scores on just these rows takes the place of that look. A score
that is named once others were shown is one of them: its test has its part of what a look may spend.

A row is a number of 64 bits made of its question and its label. Of a look the smallest are kept,
`MOST_KEPT` at most: a file that has all rows of the look has these, too. Where another column names
the questions, or none does, rows are known again by cells: scores and answers that are long; and by
the order into which a score brings right and wrong ones, which stays when it is turned or rounded.
"""

import base64
import binascii
import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Final

import numpy as np
from numpy.typing import NDArray

from core.codec import count_of, one_line

Rows = NDArray[np.uint64]

MOST_KEPT: Final = 2048  # rows of a look; 1% of a larger one has one of these in 1 of 1e9 cases
FEWEST_KEPT: Final = 7  # that are expected among others: e⁻⁷ of files have none by chance
MATERIAL: Final = 0.2  # of the cells: two files have fewer in common by chance
FEWEST_STEPS: Final = 3  # of an order: another file has its numbers of right ones by chance
MOST_PRICES: Final = 3  # looks whose costs are said
MOST_LOOKS: Final = 30  # of what is left of δ then, no number of labels could prove anything
LABEL: Final = np.uint64(1)  # the bit that says whether the answer is right
NO_ROWS: Final[Rows] = np.zeros(0, np.uint64)


@dataclass(frozen=True, eq=False)
class Look:
    """One look at labels."""

    # A hash of rows, scores and target: who looks at the same again learns nothing new.
    setting: str
    place: int  # it may spend δ / 2^place, at least 1
    about: str  # what was looked at, in words
    rows: Rows  # which labels, or the smallest of them
    is_view: bool = False  # whether results were shown and nothing was tested
    number: int = 0  # of all its rows, of which `rows` may be some
    scores: Sequence[str] = ()  # that were shown
    named: str = ""  # the one that was tested; empty where several were, or none
    # Cells with their labels, or the smallest of them; and the steps of the order by each score.
    cells: Rows = field(default_factory=NO_ROWS.copy)
    orders: Sequence[Rows] = ()


def look(
    setting: str,
    about: str,
    rows: Rows,
    earlier: Sequence[Look],
    *,
    cells: Rows = NO_ROWS,
    orders: Sequence[Rows] = (),
    view_of: Sequence[str] = (),
    best_of: Sequence[str] = (),
    shown: Sequence[str] = (),
    named: str = "",
) -> Look:
    """Return a look at rows after earlier ones, whatever rows these were at.

    It is the earlier one if nothing has changed. Else it comes after all `related_looks`,
    but for a test of all scores that a view of the same rows has shown, which takes its place.

    `cells`, `orders`: by which rows are known where their questions do not tell. `view_of`: scores,
    where nothing is tested. `best_of`: those that are tested together. `shown`, `named`: those
    that a test shows, and the one that it is of.
    """
    related = related_looks(rows, earlier, cells, orders)
    for each in related:
        if each.setting == setting:
            return each
    new = Look(
        *(setting, 0, about, smallest(rows), bool(view_of), len(rows), tuple(view_of or shown)),
        *(named, smallest(cells), _sketches(orders)),
    )
    open_views = [each for each in related if each.is_view and not _is_tested(each, related)]
    same = [each for each in open_views if np.array_equal(each.rows, new.rows)]
    # Seen by several targets, one of them was chosen; of some scores, so were these.
    if len(same) == 1 and same[0].scores and {*same[0].scores} <= {*best_of}:
        return replace(new, place=same[0].place)
    number = len({each.setting for each in (*open_views, *_tests(related))})
    return replace(new, place=1 + max((number, *(each.place for each in related))))


def scores_to_choose(current: Look, looks: Sequence[Look]) -> int:
    """Return among how many scores that of a look was chosen, as looks before it showed them.

    1 where nothing was tested before but this score, or no other was shown.
    """
    related = related_looks(current.rows, looks, current.cells, current.orders)
    before = [each for each in related if each.place < current.place]
    return max([1, *(len(each.scores) for each in before if each.named != current.named)])


def _tests(looks: Sequence[Look]) -> list[Look]:
    return [each for each in looks if not each.is_view]


def _is_tested(view: Look, looks: Sequence[Look]) -> bool:
    """Say whether a test has taken the place of a view."""
    return any(
        each.place == view.place and np.array_equal(each.rows, view.rows) for each in _tests(looks)
    )


def related_looks(
    rows: Rows, earlier: Sequence[Look], cells: Rows = NO_ROWS, orders: Sequence[Rows] = ()
) -> tuple[Look, ...]:
    """Return the earlier looks that share a row with these, label included.

    Or that share many cells, or the order by a score, of which one may part more rows: so the same
    table is known again whatever names its questions, with a column more or less. A look of which
    too few rows are kept to tell is one, too.
    """
    ordered, most = np.sort(rows), smallest(cells)
    are_near = [
        _among(each.rows, ordered).any()
        or _overlap(each.cells, most) >= MATERIAL
        or cannot_tell(len(each.rows), each.number, len(rows))
        for each in earlier
    ]
    sketches = [] if all(are_near) else _sketches(orders)
    return tuple(
        each
        for each, is_near in zip(earlier, are_near, strict=True)
        if is_near or any(_is_one_order(*pair) for pair in product(each.orders, sketches))
    )


def cannot_tell(sample: int, number: int, others: int) -> bool:
    """Say whether others may be among a number of rows though none is in their sample."""
    return sample >= MOST_KEPT and 0 < others * sample < FEWEST_KEPT * number


def _is_one_order(one: Rows, other: Rows) -> bool:
    """Say whether all steps of one order are those of another, by those that stand for all."""
    if min(len(one), len(other)) < FEWEST_STEPS:
        return False
    first = max(one[0], other[0])
    return first in one and first in other and _overlap(one, other, FEWEST_STEPS) == 1


def _overlap(one: Rows, other: Rows, fewest: int = 1) -> float:
    """Return what part of the fewer rows is in both, by those that stand for all; 0 of too few."""
    if len(one) and len(other):
        end = min(one[-1], other[-1])
        one, other = one[one <= end], other[other <= end]
    fewer = min(len(one), len(other))
    return float(_among(one, other).sum()) / fewer if fewer >= fewest else 0.0


def _among(rows: Rows, ordered: Rows) -> NDArray[np.bool_]:
    """Return of each row whether it is one of others, which are sorted: faster than `np.isin`."""
    if not len(ordered):
        return np.zeros(len(rows), bool)
    nearest: Rows = ordered[np.searchsorted(ordered, rows).clip(max=len(ordered) - 1)]
    return np.equal(nearest, rows)


def _sketches(orders: Sequence[Rows]) -> list[Rows]:
    """Return the steps that stand for all of each order: together no more than of one."""
    return [smallest(each, MOST_KEPT // len(orders)) for each in orders]


def smallest(rows: Rows, most: int = MOST_KEPT) -> Rows:
    """Return the rows that stand for all: sorted, each once."""
    ordered: Rows = np.sort(rows)  # a tenth of the time that `np.unique` takes
    is_new = np.ones(len(rows), bool)
    is_new[1:] = ordered[1:] != ordered[:-1]
    return ordered[is_new][:most]


def to_text(rows: Rows) -> str:
    """Return the rows that stand for all as text, 11 characters each."""
    return base64.b64encode(smallest(rows).astype("<u8").tobytes()).decode("ascii")


def from_text(text: str) -> Rows:
    """Return the rows in a text; raise `ValueError` when it is none of `to_text`."""
    try:
        content = base64.b64decode(text.encode("ascii"), validate=True)
        rows = np.frombuffer(content, "<u8").astype(np.uint64)
    except (UnicodeEncodeError, binascii.Error, ValueError):
        raise ValueError("these are no rows") from None
    if len(rows) > MOST_KEPT:
        raise ValueError("these are too many rows")
    return rows


def asks_the_same(rows: Rows, others: Rows) -> NDArray[np.bool_]:
    """Return of each row whether others ask its question, whatever their labels, (n,)."""
    return np.isin(rows | LABEL, others | LABEL)


MAYBE_OWN: Final = (
    "This policy does not say which questions made it, so no rows are known to be new. Calibrate "
    "again for one that does."
)

#: Behind an earlier look that shares no row with a later one.
ALIKE: Final = " (perhaps other rows)"

UNNAMED_OWN: Final = (
    "The rows that made this policy name no questions, so no rows are known to be new. Calibrate "
    "on rows with questions for one that can be tested."
)


def no_names(number: int, rows: int) -> str:
    """Say that some of the rows that are to test a policy tell no question."""
    return (
        f"{number:,} of {rows:,} rows name no question, so they are not known to be new. Name the "
        "column of questions, and leave out rows without one."
    )


def other_names(there: str, here: str) -> str:
    """Say that a policy knows its questions by another column than these rows."""
    return (
        f"This policy knows its questions by “{one_line(there)}”, these rows theirs by "
        f"“{one_line(here)}”, so they are not known to be new. Give the column of the same texts "
        "the same heading."
    )


def no_test(own: int, questions: int) -> str:
    """Say that some of the questions made the policy that they are to test."""
    these = "All" if own == questions else f"{own:,} of {questions:,}"
    return (
        f"{these} of these questions made this policy, so they are no test of it, and nothing is "
        "promised here. Ask other questions for that."
    )


TOO_FEW: Final = (
    "Of the many questions that made this policy, it knows a part: too few to tell that none is "
    "among these. Ask more questions."
)

UNDER_OTHER_QUESTIONS: Final = (
    "These rows have the scores, their order or the answers of those that made this policy, under "
    "other questions. They may be the same, so nothing is promised here. Ask other questions for "
    "that."
)


def no_budget(place: int) -> str:
    """Say that the looks before one have left too little."""
    return f"{place - 1} looks at these labels have spent δ. Bring questions nobody has looked at."


def prices(place: int, delta: float, error: float) -> str:
    """Say what the looks after one cost: of δ, and how many answers at least.

    Without a mistake among m answers, P(Bin(m, α) = 0) = (1 − α)^m has to be at most a look's part.
    """
    costs = []
    for later in range(place + 1, place + 1 + MOST_PRICES):
        fewest = math.ceil(math.log(delta / 2**later) / math.log1p(-error))
        costs.append(f"look {later} δ/{2**later:,} and {count_of(fewest, 'answer')}")
    return (
        "To calibrate again on these rows, with more of them, another score or another target, is "
        f"another look. Of δ = {delta:.2g}, and in answers without a mistake, at least: "
        f"{', '.join(costs)}. Questions that nobody has looked at, such as a half held back, begin "
        "anew."
    )
