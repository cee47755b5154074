"""Rows as numbers, and back."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.abstention.ledger import (
    MOST_KEPT,
    NO_ROWS,
    asks_the_same,
    from_text,
    look,
    smallest,
    to_text,
)

ROWS = st.lists(st.integers(0, 2**64 - 1), max_size=50).map(lambda rows: np.array(rows, np.uint64))


@given(ROWS)
def test_rows_out_and_back(rows):
    assert from_text(to_text(rows)).tolist() == smallest(rows).tolist() == sorted({*rows.tolist()})


def test_of_many_rows_the_smallest_stand_for_all():
    rows = np.random.default_rng(0).integers(0, 2**63, 5000).astype(np.uint64)
    assert smallest(rows).tolist() == sorted(rows.tolist())[:MOST_KEPT]
    # A file with more rows still has those of the look before.
    more = np.concatenate([rows, np.arange(4000, dtype=np.uint64)])
    assert np.isin(smallest(rows), more).all()


@given(st.lists(st.sets(st.integers(1, 6), min_size=1), max_size=9))
def test_all_looks_at_one_row_spend_delta_at_most(parts):
    looks = []
    for place, part in enumerate(parts):
        rows = np.array([2 * row for row in part], np.uint64)
        looks.append(look(str(place), "", rows, looks))
    for row in range(1, 7):
        assert sum(0.5**each.place for each in looks if 2 * row in each.rows) <= 1
    # Two parts, and both together: as a whole they may spend more, so no sentence says so.


def test_questions_are_compared_and_not_labels():
    rows, others = np.array([2, 5, 8], np.uint64), np.array([3, 4, 7], np.uint64)
    assert asks_the_same(rows, others).tolist() == [True, True, False]


def test_rows_whose_questions_differ_are_known_by_many_cells_or_an_order():
    cells = np.random.default_rng(0).integers(0, 2**63, 100_000).astype(np.uint64)
    steps = cells[:5000]  # of an order: more than are kept
    before = look("a", "seen", NO_ROWS, (), cells=cells[:50_000], orders=[cells[-9:], steps])

    def place(cells, *orders):
        return look("b", "seen", NO_ROWS, [before], cells=cells, orders=orders).place

    assert place(cells[:50_000]) == place(cells[1000:2000]) == place(cells[40_000:]) == 2
    assert place(cells[48_000:]) == place(cells[50_000:]) == place(NO_ROWS) == 1
    # The same order, rounded ones, one that parts more rows; one that has a step of its own; few.
    assert place(NO_ROWS, steps) == place(NO_ROWS, cells[-2:], steps[::50]) == 2
    assert place(NO_ROWS, np.r_[cells[-20:]]) == place(NO_ROWS, cells[-3:]) == 2
    assert place(NO_ROWS, np.r_[steps[:-50], cells[6000:6050]]) == place(NO_ROWS, cells[-2:]) == 1


def test_rows_too_few_to_tell_may_be_among_the_many_of_a_look():
    """Of 100,000 rows 2,048 are kept: of 342 of them or more, one at least nearly always."""
    rows = 2 * np.random.default_rng(0).permutation(200_000).astype(np.uint64)
    before = look("a", "seen", rows[:100_000], ())

    def place(rows, before):
        return look("b", "seen", rows, [before]).place

    assert place(np.sort(rows[:100_000])[-100:], before) == place(rows[-100:], before) == 2
    others = np.setdiff1d(rows[100_000:], before.rows)
    assert place(others[:342], before) == 1
    assert place(others[:9], look("a", "seen", rows[:2000], ())) == place(NO_ROWS, before) == 1


@pytest.mark.parametrize("text", ["A", "AAAA", "é", "!" * 12, to_text(np.zeros(1, np.uint64))[:-1]])
def test_what_is_no_rows_is_refused(text):
    with pytest.raises(ValueError, match="no rows"):
        from_text(text)
