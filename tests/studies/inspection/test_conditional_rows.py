"""The rows of what is said after an answer was told: all the probability, and nothing else."""

from dataclasses import replace

import numpy as np
import pytest

from core.language_models.language_model import Response
from core.studies.inspection.conditional_rows import MOST, chance, conditional_rows
from core.studies.inspection.inspection import read, run
from core.studies.inspection.request import Request
from tests.fakes import QUERY, Limited, TableModel, copies, falling, knows


def rows_of(model, samples=200):
    inspection = run(Request(QUERY, samples), model)
    return inspection, conditional_rows(inspection)


def test_rows_are_the_models_own_probabilities():
    model = copies(5, share=0.6)
    _, found = rows_of(model)
    assert found.answers == tuple(model.answers)
    nothing, *told = found.rows
    assert nothing.after is None and nothing.says == pytest.approx(model.first)
    assert [row.after for row in told] == model.answers
    assert np.array([row.says for row in told]) == pytest.approx(model.rows)


def test_what_is_known_gives_equal_rows_and_what_is_copied_its_own_answer():
    _, known = rows_of(knows(4))
    first, *others = (row.says for row in known.rows[1:])
    assert all(row == pytest.approx(first) for row in others)
    _, copied = rows_of(copies(4, share=0.9))
    assert [int(np.argmax(row.says)) for row in copied.rows[1:]] == [0, 1, 2, 3]


def test_what_was_not_sampled_is_missing_to_one():
    inspection, found = rows_of(copies(6), samples=3)
    assert len(found.answers) < 6
    assert sum(found.rows[0].says) == pytest.approx(inspection.sampled_mass)
    assert all(sum(row.says) < 1 for row in found.rows)


def test_of_many_answers_the_likeliest_are_told_apart():
    model = knows(3 * MOST)
    turns = [Response(text, True) for text in model.answers]
    draw = model.sample
    model.sample = lambda prompt, count, *, temperature=1.0, **rest: (
        turns if temperature else draw(prompt, count, temperature=0)
    )
    _, found = rows_of(model, samples=len(turns))
    assert len(found.answers) == MOST and len(found.rows) == MOST + 1
    assert {len(row.says) for row in found.rows} == {MOST}
    assert sum(found.rows[0].says) == pytest.approx(falling(3 * MOST)[:MOST].sum())


def test_a_single_answer_was_told_others():
    alone, found = rows_of(TableModel(["Paris", "Lyon"], [1.0, 0.0], [[1.0, 0.0], [0.75, 0.25]]))
    assert [row.after for row in found.rows] == [None, "Paris"]  # nothing else was known to tell it
    found = conditional_rows(read(replace(alone.recording, others=(("Lyon", 0.75), ("Nice", 0.5)))))
    assert found.answers == ("Paris",)
    assert [(row.after, row.says) for row in found.rows[1:]] == [
        ("Lyon", (0.75,)),
        ("Nice", (0.5,)),
    ]


def test_where_answers_are_counted_rows_are_shares():
    inspection, found = rows_of(Limited(copies(3, share=0.9), own_log_likelihoods=False))
    assert inspection.evidence.row_masses is None
    for row in found.rows[1:]:
        assert sum(row.says) == pytest.approx(1)
        assert row.rest == pytest.approx(0)
    _, alone = rows_of(Limited(knows(1), own_log_likelihoods=False), samples=10)
    assert [chance(*row.says, alone.is_counted) for row in alone.rows] == ["100%", "100%"]


def test_no_probability_of_a_models_own_is_called_certain():
    _, found = rows_of(knows(1))
    assert [chance(*row.says, found.is_counted) for row in found.rows] == ["> 99.9%", "> 99.9%"]
    shares = (0.0, 0.0004, 0.0123, 0.876, 0.9941)
    assert [chance(p, False) for p in shares] == ["< 0.1%", "< 0.1%", "1.2%", "88%", "99.4%"]
