"""A calibration's pictures: valid, exact where it counts, and safe with any heading."""

import json
import math
import re

import numpy as np
import pytest

from core.abstention.metrics import Bin, curve
from core.charts import calibration as charts
from core.charts.theme import DARK, LIGHT
from core.studies.calibration import calibration as study
from core.studies.calibration import diagnostics
from core.studies.calibration.calibration import Target, calibrate
from core.studies.calibration.example import EXAMPLE
from core.studies.calibration.groups import by_group
from core.uncertainty.scores import SCORES
from tests.charts.drawing import check, drawn, only_text, rows_of, spec_of, texts
from tests.hostile import LINES, TEXTS

INFORMATION = "mutual_information"
DATA = study.read(EXAMPLE.read_bytes(), EXAMPLE.name)
FOUND = calibrate(DATA, Target(score=INFORMATION))
POLICY = FOUND.policy
CURVES = diagnostics.curves(DATA)
SHARES = diagnostics.shares(FOUND)
GROUPS = by_group(FOUND).groups

NONE = np.zeros(0)
NO_SHARES = dict.fromkeys(("start", "end", "right", "wrong"), NONE)
NO_CURVE = curve([math.nan, math.inf], [1, 0])
ONE_BLOCK = curve([0.5, 0.5, 0.5, math.nan], [1, 1, 0, 1])
ENDLESS = study.move_threshold(FOUND, math.inf)


def risk(points, policy, moved=None, *, target=0.05, surer=False, palette=LIGHT):
    return charts.risk_coverage(points, policy, moved, target, 0.9, surer, palette)


def drawings(palette):
    return {
        "risk": risk(CURVES[INFORMATION], POLICY, palette=palette),
        "groups": charts.groups(GROUPS, 0.05, palette),
    }


def extremes():
    """Charts of data at the ends of what there can be."""
    return {
        "risk, endless": charts.risk_coverage(
            CURVES[INFORMATION], ENDLESS, None, 0.05, 0.9, False, LIGHT
        ),
        "risk, no policy": charts.risk_coverage(
            CURVES[INFORMATION], None, None, 0.05, 0.9, False, LIGHT
        ),
        "risk, empty": risk(NO_CURVE, None),
        "risk, one block": risk(ONE_BLOCK, None),
        "groups, none answered": charts.groups([Bin("x", 5, 0, 0)], 0.05, LIGHT),
        "groups, empty": charts.groups([], 0.05, LIGHT),
    }


# --------------------------------------------------------------------------- every chart


def test_every_chart_is_valid_finite_drawn_and_fetches_nothing():
    check(drawings(LIGHT) | extremes(), LIGHT)
    check(drawings(DARK), DARK)


def test_no_words_say_nan():
    for text in (
        charts.histogram_alt(SHARES, INFORMATION, POLICY.threshold),
        charts.histogram_alt(NO_SHARES, "s", math.inf),
        charts.risk_coverage_alt(CURVES[INFORMATION], ENDLESS),
        charts.risk_coverage_alt(NO_CURVE, None),
        charts.risk_coverage_alt(ONE_BLOCK, study.move_threshold(FOUND, -9.0)),
        charts.groups_alt(GROUPS),
        charts.groups_alt([Bin("", 5, 0, 0)]),
    ):
        assert text and not re.search(r"\b(nan|NaN|inf|None)\b", text)


# ------------------------------------------------------------------------ hostile names


@pytest.mark.parametrize("name", [*TEXTS, *LINES, "x" * 300], ids=ascii)
def test_any_name_can_be_drawn_and_is_only_text(name):
    beginning = " ".join(name.splitlines())[:20]  # long ones are cut
    bins = (Bin(name, 10, 5, 1), Bin("another", 9, 3, 0))
    picture = drawn(charts.groups(bins, 0.05, LIGHT))
    assert any(beginning in text for text in texts(picture)) and only_text(picture)


def test_a_score_of_ours_is_called_by_its_title_and_another_by_its_heading():
    assert {name: charts.name_of(name) for name in SCORES} == {
        name: info.title for name, info in SCORES.items()
    }
    # In Vega's expressions a line break would be an error, and no chart at all.
    assert charts.name_of("a\u2028my_score\r\nc") == "a my_score c"


# ---------------------------------------------------------------------------- histogram


def test_a_confidence_stands_in_its_own_direction():
    rows = risk_rows(risk(curve([-0.9, -0.5], [1, 0]), None, surer=True))
    assert [row["score"] for row in rows] == [0.9, 0.5]


def test_the_histogram_in_words():
    right, wrong = int(SHARES["right"].sum()), int(SHARES["wrong"].sum())
    title = SCORES[INFORMATION].title
    assert charts.histogram_alt(SHARES, INFORMATION, 0.25) == (
        f"Histogram of {title} for {right:,} right and {wrong:,} wrong answers; threshold 0.250."
    )
    assert charts.histogram_alt(SHARES, INFORMATION, math.inf).endswith("threshold ∞.")
    assert charts.histogram_alt(NO_SHARES, "s", None) == (
        "Histogram of s for 0 right and 0 wrong answers; no threshold."
    )


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0.000"),
        (0.25, "0.250"),
        (-1.5, "−1.500"),
        (0.000123456, "0.000123"),
        (-1e-9, "−1e−09"),
        (0.999, "0.999"),
        (0.9996, "0.9996"),
        (0.99999996, "0.99999996"),
        (1.0, "1.000"),
        (math.inf, "∞"),
        (-math.inf, "−∞"),
    ],
)
def test_a_number_is_shown_as_a_person_reads_it(value, text):
    assert charts.number(value) == text


# ------------------------------------------------------------------------ risk–coverage


def risk_rows(chart):
    return [row for row in rows_of(chart, "coverage") if "score" in row]


def diamond(chart):
    return [row for row in rows_of(chart, "coverage") if "score" not in row]


def test_the_curve_holds_the_studys_numbers():
    full = CURVES[INFORMATION]
    rows = risk_rows(risk(full, POLICY))
    exact = {
        doubt: (answered / POLICY.labels, errors / answered)
        for doubt, answered, errors in zip(full.doubts, full.answered, full.errors, strict=True)
    }
    assert 100 < len(rows) <= 400
    assert all(exact[row["score"]] == (row["coverage"], row["error"]) for row in rows)
    assert all(0 <= row["lower"] <= row["error"] <= row["upper"] <= 1 for row in rows)


def test_the_target_and_the_policy_are_drawn():
    chart = risk(CURVES[INFORMATION], POLICY)
    assert rows_of(chart, "α") == [{"α": 0.05}]
    assert diamond(chart) == [
        {"coverage": POLICY.answered / POLICY.labels, "error": POLICY.errors / POLICY.answered}
    ]
    assert diamond(risk(CURVES[INFORMATION], None)) == []
    moved = study.move_threshold(FOUND, 1.0)
    both = risk(CURVES[INFORMATION], POLICY, moved)
    assert diamond(both) == [
        {"coverage": of.answered / POLICY.labels, "error": of.errors / of.answered}
        for of in (POLICY, moved)
    ]
    nothing = study.move_threshold(FOUND, -9.0)
    assert nothing.answered == 0
    assert diamond(risk(CURVES[INFORMATION], nothing)) == []


def test_fifty_thousand_doubts_are_drawn_as_four_hundred_and_exactly():
    n = 50_000
    rng = np.random.default_rng(5)
    doubts = rng.permutation(n) / n
    correct = rng.random(n) > 0.02 + 0.3 * doubts
    full = curve(doubts, correct)
    assert len(full.doubts) == n
    chart = risk(full, None, target=0.1)
    rows = risk_rows(chart)
    assert 300 < len(rows) <= 400
    wrong = np.cumsum(~correct[np.argsort(doubts)])
    assert (rows[0]["coverage"], rows[0]["error"]) == (1 / n, wrong[0])
    assert (rows[-1]["coverage"], rows[-1]["error"]) == (1, wrong[-1] / n)
    assert rows[-1]["score"] == doubts.max()
    for row in rows:
        answered = round(row["coverage"] * n)
        assert row["error"] == wrong[answered - 1] / answered
    assert len(json.dumps(spec_of(chart))) < 100_000


def test_a_confidence_without_end_is_no_number_but_no_obstacle():
    """Its doubt is −∞: the surest of all."""
    chart = charts.risk_coverage(
        curve([-math.inf, 0.5], [1, 0]), None, None, 0.05, 0.9, False, LIGHT
    )
    assert [row["score"] for row in risk_rows(chart)] == [None, 0.5]
    assert texts(drawn(chart))


def test_one_block_is_a_point_that_can_be_seen():
    for points, seen in ((ONE_BLOCK, True), (CURVES[INFORMATION], False)):
        chart = spec_of(risk(points, None))
        (line,) = (layer for layer in chart["layer"] if layer["mark"]["type"] == "line")
        assert line["mark"]["point"] is seen
    (row,) = risk_rows(risk(ONE_BLOCK, None))
    assert (row["coverage"], row["error"], row["score"]) == (0.75, 1 / 3, 0.5)


def test_risk_in_words():
    assert charts.risk_coverage_alt(ONE_BLOCK, None) == (
        "Answering every question with a score (75%) gets 33.3% wrong; no threshold is certified."
    )
    assert charts.risk_coverage_alt(NO_CURVE, None) == "No labelled answer has a score."
    text = charts.risk_coverage_alt(CURVES[INFORMATION], POLICY)
    assert f"at the threshold {POLICY.answered / POLICY.labels:.0%} are answered" in text
    assert f"{POLICY.errors / POLICY.answered:.1%} of them wrong" in text
    moved = study.move_threshold(FOUND, 1.0)
    by_hand = f"; at λ by hand {moved.answered / POLICY.labels:.0%} are answered and"
    assert by_hand in charts.risk_coverage_alt(CURVES[INFORMATION], POLICY, moved)
    finite = np.isfinite(FOUND.doubts)
    assert f"({finite.mean():.0%}) gets {(~FOUND.correct[finite]).mean():.1%} wrong;" in text


# ----------------------------------------------------------------------------- by group


def test_groups_are_the_studys_the_most_wrong_first():
    chart = charts.groups(GROUPS, 0.05, LIGHT)
    answered = sorted((b for b in GROUPS if b.answered), key=lambda b: -b.error)
    columns = ("group", "questions", "answered", "errors", "error")
    rows = rows_of(chart, "label")
    assert [tuple(row[name] for name in columns) for row in rows] == [
        (b.name, b.queries, b.answered, b.errors, b.error) for b in answered
    ]
    for row, b in zip(rows, answered, strict=True):
        withheld = f", {b.queries - b.answered:,} withheld" * (b.answered < b.queries)
        assert row["label"] == f"{b.errors} of {b.answered}{withheld}"
    assert rows_of(chart, "α") == [{"α": 0.05}]
    names = [b.name for b in answered]
    assert [text for text in texts(drawn(chart)) if text in names] == names


def test_a_telephone_has_room_for_names_and_counts():
    """Without the word that all groups begin with, and without what is withheld."""
    bins = [Bin("world by heart", 5, 4, 1), Bin("world never seen", 3, 2, 2)]
    narrow = texts(drawn(charts.groups(bins, 0.05, LIGHT)))
    assert {"by heart", "never seen", "1 of 4", "2 of 2"} <= {*narrow}
    assert charts.groups_alt(bins).startswith("world by heart: 1 of 4 answered wrong, 1 withheld")


def test_rows_of_no_group_have_a_name():
    bins = [Bin("", 5, 4, 1), Bin("x", 3, 2, 0)]
    assert "(none)" in texts(drawn(charts.groups(bins, 0.05, LIGHT)))
    assert charts.groups_alt(bins) == (
        "(none): 1 of 4 answered wrong, 1 withheld; x: 0 of 2 answered wrong, 1 withheld"
    )


def test_an_error_above_the_target_has_room():
    for bins, target in (([Bin("x", 9, 4, 4)], 0.05), ([Bin("x", 9, 4, 0)], 0.3)):
        spec = spec_of(charts.groups(bins, target, LIGHT))
        (most,) = spec["params"]
        (domain,) = (
            layer["encoding"]["x"]["scale"]["domain"]
            for layer in spec["layer"]
            if "scale" in layer["encoding"]["x"]
        )
        assert domain == [0, {"expr": most["name"]}]
        assert most["value"] >= max(target, bins[0].errors / bins[0].answered)
