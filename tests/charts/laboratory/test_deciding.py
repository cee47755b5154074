"""Pictures of what decides a score: one scale for all panels, and verdicts told apart."""

import math
from dataclasses import replace

import pytest

from core.charts.laboratory import deciding as charts
from core.charts.theme import LIGHT
from core.reports.laboratory.deciding import TITLES, chart_data
from core.studies.inspection.request import Reading, Request
from core.studies.inspection.verdict import Decision, DecisionRule
from core.studies.laboratory.deciding import SHOWN, Factor, ReadingOutcome, Variant, Variations
from core.studies.laboratory.experiment import plain
from tests.charts.drawing import check, drawn, only_text, rows_of, spec_of, texts
from tests.hostile import ANY_TEXTS, LINES


def outcome(information, entropy=1.0, limit=0.4):
    decision = Decision.ANSWER if information < limit else Decision.ABSTAIN
    scores = {"mutual_information": information, "semantic_entropy": entropy}
    return ReadingOutcome(scores, decision, "Rome")


def variant(factor, value, *informations, usual=False):
    return Variant(factor, value, usual, (tuple(outcome(one) for one in informations),))


VARIANTS = (
    variant(Factor.SAMPLES, 2, 0.1),
    variant(Factor.SAMPLES, 8, 0.2, usual=True),
    variant(Factor.SAMPLES, 40, 0.6),
    variant(Factor.SIMILARITY, "token_f1", 0.2, usual=True),
    variant(Factor.SIMILARITY, "token_set_ratio", 0.3),
    variant(Factor.TEMPERATURE, 0.9, 0.1, 0.2, 0.3),
    variant(Factor.SEED, 0, 0.9),
)
MADE = Variations(
    ("Where?",), "embedded", "1", Request("Where?", 8), Reading(), (outcome(0.2),), VARIANTS,
    ("This model is asked in one form only.",), 9, DecisionRule(0.4, 0.1),
)  # fmt: skip
UNKNOWN = replace(
    MADE,
    variants=(
        Variant(
            Factor.SEED,
            0,
            True,
            ((ReadingOutcome(dict.fromkeys(SHOWN), Decision.TOO_LITTLE, ""),),),
        ),
    ),
)


def of(found):
    return plain(chart_data(found))


FOUND = of(MADE)


def test_charts_of_nothing_are_valid_too():
    unknown = of(UNKNOWN)
    endless = of(replace(UNKNOWN, rule=DecisionRule(math.inf, 0.1)))
    empty = {
        "panel": charts.panel(unknown, LIGHT, "seed"),
        "strip": charts.strip(unknown, LIGHT),
        "no λ": charts.strip(endless, LIGHT),
    }
    check(empty, LIGHT, empty)
    assert endless["limit"] is None
    assert of(replace(MADE, rule=DecisionRule(1, 0, "greedy_probability")))["limit"] is None


def test_all_panels_have_the_scale_of_the_largest():
    scales = set()
    for factor in (Factor.SAMPLES, Factor.SEED):
        for layer in spec_of(charts.panel(FOUND, LIGHT, TITLES[factor]))["layer"]:
            if "scale" in layer["encoding"].get("y", {}):
                scales.add(tuple(layer["encoding"]["y"]["scale"]["domain"]))
    assert scales == {(0.0, charts.reach(FOUND))} and charts.reach(FOUND) > 1.0


def test_marks_say_whether_the_verdict_is_kept():
    rows = {row["value"]: row for row in rows_of(charts.strip(FOUND, LIGHT), "kept")}
    assert rows["8"]["verdict"] == charts.KEPT and rows["40"]["verdict"] == charts.CHANGED
    assert rows["0.9"]["kept"] == 1
    shown = texts(drawn(charts.strip(FOUND, LIGHT)))
    assert charts.KEPT in shown and charts.CHANGED in shown and "λ" in shown
    assert "number of answers k 2 of 3" in charts.strip_alt(FOUND) and "seed 0 of 1" in (
        charts.strip_alt(FOUND)
    )


def test_a_panel_shows_both_scores_with_where_most_draws_lie():
    rows = rows_of(charts.panel(FOUND, LIGHT, "temperature"), "kept")
    (one,) = {row["nats"]: row for row in rows if row["score"] == "M.I."}.values()
    assert (one["nats"], one["lower"], one["upper"]) == pytest.approx((0.2, 0.11, 0.29))
    assert "M.I. 0.20, S.E. 1.00, same verdict" in charts.panel_alt(FOUND, "temperature")


@pytest.mark.parametrize("text", [ANY_TEXTS[1], *LINES])
def test_any_name_of_a_form_is_drawn_as_text(text):
    found = of(replace(MADE, variants=(variant(Factor.FORM, text, 0.2),)))
    assert only_text(drawn(charts.panel(found, LIGHT, TITLES[Factor.FORM])))
