"""A run's pictures: valid, exact where it counts, and safe with any source."""

import math
import re

import numpy as np
import pytest

from core.charts import evaluation as charts
from core.charts.theme import DARK, LIGHT
from core.reports.evaluation import document
from core.studies.evaluation.row_table import QuestionPoints
from tests.charts.drawing import check, drawn, only_text, rows_of, texts
from tests.hostile import ANY_TEXTS

LINE = (0.5, "chance", "AUROC", "not shown")


def points(n=40, sources=("one", "many")):
    rng = np.random.default_rng(0)
    named = np.empty(n, object)
    named[:] = [sources[i % len(sources)] for i in range(n)]
    return drawn_points(rng.random(n), rng.random(n), rng.random(n) < 0.5, named)


def drawn_points(entropy, information, right, sources):
    n = len(sources)
    return QuestionPoints(np.arange(n), entropy, information, right, sources, 0, n)


INTERVALS = [
    charts.Estimate("Mutual information", "swayed", 0.9, 0.8, 0.95, "90%", is_main=True),
    charts.Estimate(
        *("Minimum conditional entropy", "copies", 0.6, 0.45, 0.7, "60%", "+30"), is_shown=False
    ),
    charts.Estimate("Semantic entropy", "differ", 0.55, math.nan, math.nan, "55%"),
]
NO_POINTS = points(0)


def drawings(palette):
    return {
        "dots": charts.estimates(INTERVALS, LINE, "share", ".0%", palette),
        "dots without intervals": charts.estimates(
            INTERVALS[2:], (0, "", "", "no ring"), "AUROC", ".0%", palette
        ),
        "scatter": charts.scatter(points(), palette),
        "scatter, many sources": charts.scatter(points(60, list("abcdefghij")), palette),
    }


@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
def test_every_chart_is_a_valid_picture(palette):
    nothing = {"nothing": charts.scatter(NO_POINTS, palette)}
    check(drawings(palette) | nothing, palette, nothing)


def test_a_dot_has_its_name_its_number_and_its_interval_if_there_is_one():
    chart = charts.estimates(INTERVALS, LINE, "share", ".0%", LIGHT)
    whiskers = [row for row in rows_of(chart, "lower") if not math.isnan(row["lower"] or math.nan)]
    assert {(row["lower"], row["upper"]) for row in whiskers} == {(0.8, 0.95), (0.45, 0.7)}
    found = drawn(chart)
    assert {"Mutual information", "90%", "60%", "55%", "+30", *LINE[1:]} <= set(texts(found))
    assert {each.sign for each in INTERVALS} <= set(texts(found))
    assert "Min. cond. entropy" in texts(found)
    assert "Minimum conditional entropy" in texts(drawn(chart.properties(width=600)))
    dots = re.findall(r'fill="([^"]*)" stroke="([^"]*)" stroke-width="2"', found)
    blue, grey = LIGHT.primary, LIGHT.muted
    assert dots == [(blue, blue), (LIGHT.background, grey), (grey, grey)]
    assert "no ring" not in texts(drawn(drawings(LIGHT)["dots without intervals"]))


def test_right_and_wrong_differ_by_more_than_their_colour():
    chart = charts.scatter(points(), LIGHT)
    across, up, marks = chart.to_dict(validate=False)["layer"]
    assert "x" in across["encoding"] and "y" in up["encoding"]  # what either doubts is beyond one
    fill = marks["encoding"]["fill"]["scale"]
    assert fill["range"] == [LIGHT.background, LIGHT.diverging[2]]
    assert {"right", "wrong", "one", "many"} <= set(texts(drawn(chart)))


def test_only_the_largest_sources_have_a_shape_of_their_own():
    chart = charts.scatter(points(60, list("aaabcdefghij")), LIGHT)
    found = {row["source"] for row in rows_of(chart, "source")}
    assert len(found) == charts.MOST_SOURCES + 1 and {"a", charts.OTHERS} <= found
    six = charts.scatter(points(60, list("abcdef")), LIGHT)
    assert {row["source"] for row in rows_of(six, "source")} == set("abcdef")


@pytest.mark.parametrize("name", ANY_TEXTS)
def test_any_source_is_drawn_as_text(name):
    picture = drawn(charts.scatter(points(9, (name, "s")), LIGHT))
    assert only_text(picture)
    assert any(text.startswith(charts.one_line(name)[:10]) for text in texts(picture))


def test_a_word_that_all_sources_begin_with_is_left_out_of_the_legend():
    alike = drawn(charts.scatter(points(9, ("world by heart", "world half known")), LIGHT))
    assert {"by heart", "half known"} <= {*texts(alike)}
    differ = drawn(charts.scatter(points(9, ("world by heart", "world")), LIGHT))
    assert {"world by heart", "world"} <= {*texts(differ)}


def test_the_scatter_says_its_finding():
    found = drawn_points(
        np.array([0.0, 2.0, 2.0]),
        np.array([0.0, 0.1, 1.9]),
        np.array([True, True, False]),
        np.array(["a", "a", "b"], object),
    )
    assert document.scatter(found).alt == (
        "Semantic entropy against mutual information: 2 right answers with a median S.E. of 1.00 "
        "and a median M.I. of 0.05 nats; 1 wrong answer with a median S.E. of 2.00 and a median "
        "M.I. of 1.90 nats."
    )
