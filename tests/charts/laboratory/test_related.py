"""Pictures of the related scores: valid, and exact where it counts."""

import numpy as np
import pytest

from core.charts.laboratory import related as charts
from core.charts.theme import DARK, LIGHT
from core.studies.laboratory.related import COMPARED, Asked, Related
from core.uncertainty.related import Candidates
from tests.charts.drawing import check, drawn, rows_of, texts


def made(n=40, wrong=4):
    """So many questions, of which each `wrong`-th is answered wrongly, at a larger doubt."""
    rng = np.random.default_rng(0)
    rows = []
    for i in range(n):
        right = bool(i % wrong)
        doubts = {name: float(rng.random() + (not right)) for name in COMPARED}
        doubts.pop("two_stage")
        p = rng.dirichlet([3, 1, 1])
        again = np.minimum(p + 0.2 * rng.random(3), 1)
        truth = np.eye(3)[0] if right else np.eye(3)[1]
        found = Candidates(p, rng.random(3))
        rows.append(
            Asked(
                f"q{i}",
                doubts,
                dict.fromkeys(doubts, right),
                ("a", "b", "c"),
                tuple(p),
                tuple(again),
                tuple(truth),
                found,
            )
        )
    return Related("embedded", "1", tuple(rows))


FOUND = made()


@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
def test_every_chart_is_a_valid_picture(palette):
    drawings = {
        "scores": charts.scores(FOUND, palette),
        "thresholds": charts.thresholds(FOUND, palette),
        "calibration": charts.calibration(FOUND, palette),
    }
    check(drawings, palette)


def test_where_every_answer_is_right_nothing_is_drawn_that_has_no_value():
    found = made(4, wrong=1)
    every = {
        "scores": charts.scores(found, LIGHT),
        "thresholds": charts.thresholds(found, LIGHT),
        "calibration": charts.calibration(found, LIGHT),
    }
    check(every, LIGHT, every)
    assert charts.thresholds_alt(found).endswith("M.I. undefined.")
    assert "M.I.: undefined" in charts.scores_alt(found)


def test_each_score_has_a_name_and_its_number():
    assert {*charts.NAMES} == {*COMPARED}
    shown = " ".join(texts(drawn(charts.scores(FOUND, LIGHT))))
    for name, one in charts.intervals(FOUND).items():
        assert f"{name}: {one.value:.2f} ({one.lower:.2f} to {one.upper:.2f})" in shown


def test_the_two_stages_are_drawn_threshold_by_threshold():
    rows = rows_of(charts.thresholds(FOUND, LIGHT), "which")
    drawn_so = [row["auroc"] for row in rows if row["which"] == charts.PASSES]
    assert drawn_so == [rank for _, rank in FOUND.by_threshold()]


def test_bins_stand_beside_the_diagonal():
    rows = rows_of(charts.calibration(FOUND, LIGHT), "answers")
    bins = FOUND.calibration()
    assert [row["promised"] for row in rows] == pytest.approx([one.promised for one in bins])
    assert [row["error"] for row in rows] == pytest.approx([one.error.value for one in bins])
    assert f"{FOUND.overall.promised:.3f}" in charts.calibration_alt(FOUND)
