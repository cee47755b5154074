"""A run's pictures: valid, exact where it counts, and safe with any source."""

import math
import re

import numpy as np
import pytest

from core.abstention.intervals import ConfidenceBand
from core.abstention.mixtures import Bar, Mixture
from core.charts import evaluation as charts
from core.charts.theme import DARK, DASHES, LIGHT
from core.reports.evaluation import document
from core.uncertainty.scores import SCORES
from tests.charts.drawing import check, drawn, only_text, rows_of, texts
from tests.hostile import ANY_TEXTS

INFORMATION, ENTROPY = "mutual_information", "semantic_entropy"


def band(*precision, start=0.2, width=0.05):
    values = np.array(precision, float)
    recalls = np.linspace(start, 1, len(values))
    return ConfidenceBand(recalls, values, values - width, np.minimum(values + width, 1))


BANDS = {INFORMATION: band(1, 0.95, 0.9, 0.8), ENTROPY: band(0.95, 0.8, 0.75, 0.8, start=0.4)}
PLAIN = {INFORMATION: band(1, 0.9, 0.8, width=math.nan)}
BARS = (
    Bar("below 0.5", 20.5, 0.9, 0.1, 0.04, 0.02),
    Bar("2.0 or more", 9.0, 0.2, 0.3, math.nan, math.nan),
    Bar("all", 29.5, 0.7, math.nan, 0.05, math.nan),
)
FOUND = tuple(
    Mixture(score, rule, (0.5, None), BARS)
    for score in (INFORMATION, ENTROPY)
    for rule in ("empirical", "ltt")
)


def points(n=40, sources=("one", "many")):
    rng = np.random.default_rng(0)
    named = np.empty(n, object)
    named[:] = [sources[i % len(sources)] for i in range(n)]
    return charts.Points(rng.random(n), rng.random(n), rng.random(n) < 0.5, named)


INTERVALS = [
    charts.Estimate(INFORMATION, 0.9, 0.8, 0.95, is_main=True),
    charts.Estimate("min_conditional_entropy", 0.6, 0.45, 0.7, is_shown=False),
    charts.Estimate(ENTROPY, 0.55, math.nan, math.nan),
]
NO_POINTS = charts.Points(*(np.zeros(0),) * 2, np.zeros(0, bool), np.zeros(0, object))


def drawings(palette):
    return {
        "figure 5": charts.precision_recall(BANDS, palette),
        "figure 5, no bands": charts.precision_recall(PLAIN, palette),
        "figure 5, all": charts.precision_recall(dict.fromkeys(SCORES, BANDS[ENTROPY]), palette),
        "figure 6, recall": charts.mixture_bars(FOUND, charts.RECALL, palette),
        "figure 6, error": charts.mixture_bars(FOUND, charts.ERROR, palette),
        "dots": charts.estimates(INTERVALS, 0.5, "AUROC", palette),
        "dots without intervals": charts.estimates(INTERVALS[2:], 0.5, "AUROC", palette),
        "scatter": charts.scatter(points(), palette),
        "scatter, many sources": charts.scatter(points(60, list("abcdefghij")), palette),
    }


@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
def test_every_chart_is_a_valid_picture(palette):
    check(drawings(palette), palette)


def test_charts_of_nothing_are_valid_too():
    nothing = Mixture(ENTROPY, "ltt", (None,), (Bar("all", 2.0, *(math.nan,) * 4),))
    none = np.zeros(0)
    empty = {
        "figure 5": charts.precision_recall({}, LIGHT),
        "figure 5, no point": charts.precision_recall(
            {ENTROPY: ConfidenceBand(*(none,) * 4)}, LIGHT
        ),
        "figure 6": charts.mixture_bars([nothing], charts.ERROR, LIGHT),
        "scatter": charts.scatter(NO_POINTS, LIGHT),
    }
    check(empty, LIGHT, empty)
    assert document.precision_recall({}).alt == "No score has a value."
    assert document.mixture([nothing], charts.ERROR).alt.endswith(
        "S.E., guaranteed: hardly anything answered."
    )


def test_a_curve_and_its_band_are_drawn_point_by_point():
    rows = [row for row in rows_of(charts.precision_recall(BANDS, LIGHT), "lower")]
    of_information = [row for row in rows if row["score"] == "M.I."]
    assert [row["precision"] for row in of_information] == [1, 0.95, 0.9, 0.8]
    assert of_information[1]["lower"] == pytest.approx(0.9)
    assert document.precision_recall(BANDS).alt == (
        "Precision by recall: M.I. from 100% right of 20% answered to 80% of 100%, 94% of half; "
        "S.E. from 95% right of 40% answered to 80% of 100%, 88% of half."
    )


def test_a_dot_has_its_name_its_number_and_its_interval_if_there_is_one():
    chart = charts.estimates(INTERVALS, 0.5, "AUROC", LIGHT)
    whiskers = [row for row in rows_of(chart, "lower") if not math.isnan(row["lower"] or math.nan)]
    assert {(row["lower"], row["upper"]) for row in whiskers} == {(0.8, 0.95), (0.45, 0.7)}
    found = drawn(chart)
    assert {"Mutual information", "0.90", "0.60", "0.55"} <= set(texts(found))
    assert re.findall(r"<tspan[^>]*>([^<]*)</tspan>", found) == ["Minimum conditional", "entropy"]
    dots = re.findall(r'fill="([^"]*)" stroke="([^"]*)" stroke-width="2"', found)
    blue, grey = LIGHT.primary, LIGHT.muted
    assert dots == [(blue, blue), (LIGHT.background, grey), (grey, grey)]


def test_bars_have_their_two_standard_deviations_within_what_can_be():
    rows = rows_of(charts.mixture_bars(FOUND, charts.RECALL, LIGHT), "low")
    bins = {row["entropy"]: row for row in rows if row["bar"] == "M.I., guaranteed"}
    assert (bins["below 0.5"]["low"], bins["below 0.5"]["high"]) == pytest.approx((0.8, 1.0))
    assert (bins["2.0 or more"]["low"], bins["2.0 or more"]["high"]) == pytest.approx((0, 0.5))
    picture = drawn(charts.mixture_bars(FOUND, charts.RECALL, LIGHT))
    for text in ("the paper’s rule", "guaranteed", "M.I.", "S.E.", "all"):
        assert text in texts(picture)
    lines = re.findall(r"<tspan[^>]*>([^<]*)</tspan>", picture)
    assert [line for line in lines if line in ("2.0 or", "more")] == ["2.0 or", "more"]
    assert "M.I., the paper’s rule: below 0.5 90%, 2.0 or more 20%, all 70%" in (
        document.mixture(FOUND, charts.RECALL).alt
    )


def test_of_hardly_any_answers_no_error_is_drawn():
    bars = (Bar("below 0.5", 9.0, 0.1, 0.1, 1.0, 0.0), Bar("all", 20.0, 0.05, 0.1, 0.4, 0.2))
    found = [Mixture(ENTROPY, "empirical", (0.5, 0.5), bars)]
    rows = rows_of(charts.mixture_bars(found, charts.ERROR, LIGHT), "low")
    assert {row["entropy"] for row in rows} == {"all"}  # one of twenty, not .9 of nine
    assert document.mixture(found, charts.ERROR).alt.endswith("the paper’s rule: all 40%.")
    recalls = rows_of(charts.mixture_bars(found, charts.RECALL, LIGHT), "low")
    assert {row["entropy"] for row in recalls} == {"below 0.5", "all"}


def test_a_diamond_and_brackets_have_the_error_by_the_other_label():
    bars = (Bar("below 0.5", 9.0, 0.5, 0.1, 0.2, 0.1, 0.4), Bar("all", 20.0, 0.5, 0.1, 0.1, 0.2))
    found = [Mixture(ENTROPY, "empirical", (0.5, 0.5), bars)]
    errors = charts.mixture_bars(found, charts.ERROR, LIGHT)
    others = {row["entropy"]: row["other"] for row in rows_of(errors, "other")}
    assert others["below 0.5"] == 0.4
    assert "diamonds: by the other label" in drawn(errors)
    assert document.mixture(found, charts.ERROR).alt.endswith("below 0.5 20% (40%), all 10%.")
    recalls = charts.mixture_bars(found, charts.RECALL, LIGHT)
    assert "diamonds" not in drawn(recalls)
    assert document.mixture(found, charts.RECALL).alt.endswith("below 0.5 50%, all 50%.")


def test_a_bar_of_nothing_is_a_line_and_keeps_its_number():
    bars = (Bar("below 0.5", 9.0, 0.5, 0.1, 0.0, 0.0), Bar("all", 20.0, 0.5, 0.1, 0.4, 0.2))
    found = [Mixture(ENTROPY, "empirical", (0.5, 0.5), bars)]
    rows = rows_of(charts.mixture_bars(found, charts.ERROR, LIGHT), "height")
    heights = {row["entropy"]: (row["share"], row["height"]) for row in rows}
    assert heights["below 0.5"][0] == 0 < heights["below 0.5"][1] < 0.01
    assert heights["all"] == (0.4, 0.4)


def test_a_score_has_one_colour_in_all_charts():
    alone = charts.precision_recall({ENTROPY: BANDS[ENTROPY]}, LIGHT).to_dict(validate=False)
    color = alone["layer"][0]["encoding"]["color"]["scale"]
    assert color == {"domain": ["S.E."], "range": [LIGHT.categories[1]]}
    for looks in (LIGHT.categories, DARK.categories, list(map(str, DASHES))):
        assert len(SCORES) <= len(looks) == len(set(looks))  # or two would look alike


def test_right_and_wrong_differ_by_more_than_their_colour():
    chart = charts.scatter(points(), LIGHT)
    fill = chart.to_dict(validate=False)["encoding"]["fill"]["scale"]
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


def test_the_scatter_says_its_finding():
    found = charts.Points(
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
