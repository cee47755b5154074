"""Pictures of the related scores: valid, and exact where it counts."""

import numpy as np
import pytest

from core.charts.laboratory import related as charts
from core.charts.theme import LIGHT
from core.reports.laboratory.related import NAMES, chart_data
from core.studies.laboratory.experiment import plain
from core.studies.laboratory.related import COMPARED, RelatedAnswers, RelatedScores
from core.uncertainty.related import Candidates
from tests.charts.drawing import check, drawn, rows_of, texts


def made(n=40, wrong=4):
    """So many questions, of which each `wrong`-th is answered wrongly, at a larger doubt."""
    rng = np.random.default_rng(0)
    rows = []
    for i in range(n):
        right = bool((i + 1) % wrong)
        doubts = {name: float(rng.random() + (not right)) for name in COMPARED}
        doubts.pop("two_stage")
        p = rng.dirichlet([3, 1, 1])
        again = np.minimum(p + 0.2 * rng.random(3), 1)
        truth = np.eye(3)[0] if right else np.eye(3)[1]
        found = Candidates(p, rng.random(3))
        rows.append(
            RelatedAnswers(
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
    return RelatedScores("embedded", "1", tuple(rows))


MADE = made()


@pytest.fixture(scope="module")
def pictured():
    return plain(chart_data(MADE))


def test_where_every_answer_is_right_nothing_is_drawn_that_has_no_value():
    found = plain(chart_data(made(4, wrong=5)))
    every = {p.name: p.chart(found, LIGHT) for p in charts.PICTURES}
    check(every, LIGHT, every)
    assert charts.thresholds_alt(found).endswith("M.I. undefined.")
    assert "M.I.: undefined" in charts.scores_alt(found)


def test_each_score_has_a_name_and_its_number(pictured):
    assert {*NAMES} == {*COMPARED}
    shown = " ".join(texts(drawn(charts.scores(pictured, LIGHT))))
    for key, name in NAMES.items():
        one = MADE.comparison.values[key]
        assert f"{name}: {one.value:.2f} ({one.lower:.2f} to {one.upper:.2f})" in shown


def test_the_two_stages_are_drawn_threshold_by_threshold(pictured):
    rows = rows_of(charts.thresholds(pictured, LIGHT), "which")
    drawn_so = [row["auroc"] for row in rows if row["which"] == charts.PASSES]
    assert drawn_so == pytest.approx([rank for _, rank in MADE.by_threshold()])


def test_bins_stand_beside_the_diagonal(pictured):
    rows = rows_of(charts.calibration(pictured, LIGHT), "answers")
    bins = MADE.calibration()
    promised, errors = ([row[name] for row in rows] for name in ("promised", "error"))
    assert promised == pytest.approx([one.promised for one in bins], rel=1e-4)
    assert errors == pytest.approx([one.error.value for one in bins], rel=1e-4)
    assert f"{MADE.overall.promised:.3f}" in charts.calibration_alt(pictured)
