"""The paper's Figures 5 and 6: valid, exact where it counts, and safe with any score's name."""

import math
import re

import numpy as np
import pytest

from core.abstention.intervals import ConfidenceBand
from core.abstention.metrics import Bin, curve
from core.abstention.mixtures import Bar, Mixture
from core.charts import paper_figures as charts
from core.charts.theme import DARK, DASHES, LIGHT
from core.reports import paper_figures as pictures
from core.reports.calibration import document
from core.studies.calibration.diagnostics import BinDecisions
from core.uncertainty.scores import SCORES
from tests.charts.drawing import check, drawn, only_text, rows_of, spec_of, texts
from tests.hostile import LINES, TEXTS

INFORMATION, ENTROPY = "mutual_information", "semantic_entropy"
TITLES = SCORES[INFORMATION].title, SCORES[ENTROPY].title


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


def drawings(palette):
    return {
        "figure 5": charts.precision_recall(BANDS, palette),
        "figure 5, no bands": charts.precision_recall(PLAIN, palette),
        "figure 5, all": charts.precision_recall(dict.fromkeys(SCORES, BANDS[ENTROPY]), palette),
        "figure 6, recall": charts.mixture_bars(FOUND, charts.RECALL, palette),
        "figure 6, error": charts.mixture_bars(FOUND, charts.ERROR, palette),
    }


@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
def test_every_chart_is_a_valid_picture(palette):
    check(drawings(palette), palette)


def test_charts_of_nothing_are_valid_too():
    nothing = Mixture(ENTROPY, "ltt", (None,), (Bar("all", 2.0, *(math.nan,) * 4),))
    no_point = {ENTROPY: ConfidenceBand(*(np.zeros(0),) * 4)}
    empty = {
        "figure 5": charts.precision_recall({}, LIGHT),
        "figure 5, no point": charts.precision_recall(no_point, LIGHT),
        "figure 6": charts.mixture_bars([nothing], charts.ERROR, LIGHT),
    }
    check(empty, LIGHT, empty)
    assert pictures.precision_recall({}).alt == "No score has a value."
    alt = pictures.mixture([nothing], charts.ERROR).alt
    assert alt.endswith("Semantic entropy: hardly anything answered.")


@pytest.mark.parametrize("name", [*TEXTS, *LINES, "x" * 300], ids=ascii)
def test_any_name_can_be_drawn_and_is_only_text(name):
    beginning = " ".join(name.splitlines())[:20]  # long ones are cut
    of_rows = document.by_entropy(
        [BinDecisions(name, 0.3, (Bin("below 0.5", 10, 5, 1),))], "recall"
    )
    for picture in (
        drawn(charts.precision_recall({name: BANDS[ENTROPY]}, LIGHT)),
        drawn(of_rows.chart(*of_rows.data, LIGHT)),
    ):
        assert any(beginning in text for text in texts(picture)) and only_text(picture)


def test_the_first_score_is_blue_and_none_is_orange():
    spec = spec_of(charts.precision_recall(BANDS, LIGHT))["layer"][0]["encoding"]["color"]["scale"]
    assert spec == {"domain": [*TITLES], "range": [LIGHT.primary, LIGHT.muted]}
    every = charts.precision_recall(dict.fromkeys(SCORES, BANDS[ENTROPY]), LIGHT)
    scale = spec_of(every)["layer"][0]["encoding"]["color"]["scale"]
    assert len({*scale["range"]}) >= len(SCORES) - 1 and len(SCORES) <= len({*map(str, DASHES)})
    assert LIGHT.epistemic not in scale["range"]


def test_labelled_rows_have_the_same_figures():
    of = curve(np.arange(5000.0), np.arange(5000) % 5 > 0)
    picture = document.precision_recall({"s": of})
    rows = rows_of(picture.chart(*picture.data, LIGHT), "precision")
    assert len(rows) <= 400 and rows[-1]["recall"] == 1 and rows[-1]["precision"] == 0.8
    assert (
        picture.alt
        == "Precision by recall: s from 0% right of 0% answered to 80% of 100%, 80% of half."
    )
    bins = (
        Bin("below 0.5", 10, 9, 1),
        Bin("0.5 to 1.0", 4, 0, 0, 0),
        Bin("1.0 to 1.5", 4, 2, 1, 0),
    )
    error = document.by_entropy([BinDecisions("s", 0.1, bins)], charts.ERROR)
    assert error.alt == (
        "Wrong among the answered, by entropy in nats: s: below 0.5 11%, 1.0 to 1.5 50% (0%)."
    )
    assert "promised" not in drawn(error.chart(*error.data, LIGHT))  # one rule, and no legend


def test_the_papers_scores_come_first():
    assert charts.papers(["a", INFORMATION, "b", ENTROPY], "b", 3) == ["b", INFORMATION, ENTROPY]


def test_a_curve_and_its_band_are_drawn_point_by_point():
    rows = [row for row in rows_of(charts.precision_recall(BANDS, LIGHT), "lower")]
    of_information = [row for row in rows if row["score"] == TITLES[0]]
    assert [row["precision"] for row in of_information] == [1, 0.95, 0.9, 0.8]
    assert of_information[1]["lower"] == pytest.approx(0.9)
    assert pictures.precision_recall(BANDS).alt == (
        "Precision by recall: Mutual information from 100% right of 20% answered to 80% of 100%, "
        "94% of half; "
        "Semantic entropy from 95% right of 40% answered to 80% of 100%, 88% of half."
    )


def test_bars_have_their_two_standard_deviations_within_what_can_be():
    rows = rows_of(charts.mixture_bars(FOUND, charts.RECALL, LIGHT), "low")
    bins = {row["entropy"]: row for row in rows if row["bar"] == f"{TITLES[0]}, promised"}
    assert (bins["below 0.5"]["low"], bins["below 0.5"]["high"]) == pytest.approx((0.8, 1.0))
    assert (bins["2.0 or more"]["low"], bins["2.0 or more"]["high"]) == pytest.approx((0, 0.5))
    picture = drawn(charts.mixture_bars(FOUND, charts.RECALL, LIGHT))
    for text in ("the paper’s rule", "promised", TITLES[0], TITLES[1], "all"):
        assert text in texts(picture)
    lines = re.findall(r"<tspan[^>]*>([^<]*)</tspan>", picture)
    assert [line for line in lines if line in ("2.0 or", "more")] == ["2.0 or", "more"]
    assert "Mutual information, the paper’s rule: below 0.5 90%, 2.0 or more 20%, all 70%" in (
        pictures.mixture(FOUND, charts.RECALL).alt
    )


def test_of_hardly_any_answers_no_error_is_drawn():
    bars = (Bar("below 0.5", 9.0, 0.1, 0.1, 1.0, 0.0), Bar("all", 20.0, 0.05, 0.1, 0.4, 0.2))
    found = [Mixture(ENTROPY, "empirical", (0.5, 0.5), bars)]
    rows = rows_of(charts.mixture_bars(found, charts.ERROR, LIGHT), "low")
    assert {row["entropy"] for row in rows} == {"all"}  # one of twenty, not .9 of nine
    assert pictures.mixture(found, charts.ERROR).alt.endswith("Semantic entropy: all 40%.")
    recalls = rows_of(charts.mixture_bars(found, charts.RECALL, LIGHT), "low")
    assert {row["entropy"] for row in recalls} == {"below 0.5", "all"}


def test_a_diamond_and_brackets_have_the_error_by_the_other_label():
    bars = (Bar("below 0.5", 9.0, 0.5, 0.1, 0.2, 0.1, 0.4), Bar("all", 20.0, 0.5, 0.1, 0.1, 0.2))
    found = [Mixture(ENTROPY, "empirical", (0.5, 0.5), bars)]
    errors = charts.mixture_bars(found, charts.ERROR, LIGHT)
    assert {row["entropy"]: row["other"] for row in rows_of(errors, "other")}["below 0.5"] == 0.4
    assert "diamonds: by the other label" in drawn(errors)
    assert pictures.mixture(found, charts.ERROR).alt.endswith("below 0.5 20% (40%), all 10%.")
    assert "diamonds" not in drawn(charts.mixture_bars(found, charts.RECALL, LIGHT))
    assert pictures.mixture(found, charts.RECALL).alt.endswith("below 0.5 50%, all 50%.")


def test_a_bar_of_nothing_is_a_line_and_keeps_its_number():
    bars = (Bar("below 0.5", 9.0, 0.5, 0.1, 0.0, 0.0), Bar("all", 20.0, 0.5, 0.1, 0.4, 0.2))
    found = [Mixture(ENTROPY, "empirical", (0.5, 0.5), bars)]
    rows = rows_of(charts.mixture_bars(found, charts.ERROR, LIGHT), "height")
    heights = {row["entropy"]: (row["share"], row["height"]) for row in rows}
    assert heights["below 0.5"][0] == 0 < heights["below 0.5"][1] < 0.01
    assert heights["all"] == (0.4, 0.4)
