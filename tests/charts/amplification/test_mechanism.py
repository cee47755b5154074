"""The mechanism's pictures: the head's numbers, and one scale for all heat maps."""

import numpy as np
import pytest

from core.charts.amplification import mechanism as charts
from core.charts.amplification.mechanism import ON_ANSWER, ON_QUESTION
from core.charts.theme import DARK, LIGHT
from core.studies.amplification.mechanism import PromptAttention
from core.uncertainty import attention
from tests.charts.drawing import check, drawn, rows_of, spec_of, texts

HEADS = {
    "by hand": PromptAttention(
        1, np.array([[0.1, 0.2, 0.3], [0.6, 0.0, 1.0]]), np.array([[0.9, 0.5, 0.1], [0.2, 0.0, 0]])
    ),
    "nothing told": PromptAttention(0, np.full((4, 4), 0.25), np.zeros((4, 4))),
    "one head": PromptAttention(100, np.array([[1.0]]), np.array([[0.0]])),
}


def head(share=0.4, most=1000, dimension=64):
    return attention.repeat(
        attention.ideal_head(dimension=dimension, in_span=share), attention.spread(most)
    )


IDEALISED = {
    **{name: head(share) for name, share in attention.CASES.items()},
    "few copies": head(most=10),
    "smallest dimension": head(0.0, dimension=3),
    "never repeated": attention.repeat(attention.ideal_head(dimension=8), [0]),
}


# --------------------------------------------------------------------------- every chart


def test_every_chart_is_valid_finite_drawn_and_fetches_nothing():
    for name, found in IDEALISED.items():
        check({name: charts.weights(found, LIGHT), "out": charts.outputs(found, LIGHT)}, LIGHT)
    for name, found in HEADS.items():
        both = {f"{name}, {on}": charts.heads(found, on, LIGHT) for on in (ON_QUESTION, ON_ANSWER)}
        check(both, LIGHT)
    often = IDEALISED["seen often"]
    check({"weights": charts.weights(often, DARK), "out": charts.outputs(often, DARK)}, DARK)
    check({"heads": charts.heads(HEADS["by hand"], ON_ANSWER, DARK)}, DARK)


# ---------------------------------------------------------------------- the idealised head


def lines_of(chart):
    """The shares of every line or part, in the order of the repetitions."""
    shares = {}
    for row in sorted(rows_of(chart, "which"), key=lambda row: row["t"]):
        shares.setdefault(row["which"], []).append(row["share"])
    return shares


@pytest.mark.parametrize("name", IDEALISED)
def test_the_weights_are_the_heads_and_the_circles_the_closed_form(name):
    found = IDEALISED[name]
    chart = charts.weights(found, LIGHT)
    assert lines_of(chart) == {
        "on the query X": found.on_query.tolist(),
        "on all copies of Y": found.on_copies.tolist(),
    }
    circles = [row for row in rows_of(chart, "share") if "which" not in row]
    every = dict(zip(found.repetitions.tolist(), found.closed_form.tolist(), strict=True))
    assert 0 < len(circles) <= 20 and circles[0]["t"] == found.repetitions[0]
    assert all(every[row["t"]] == row["share"] for row in circles)


@pytest.mark.parametrize("name", IDEALISED)
def test_the_outputs_are_the_heads(name):
    found = IDEALISED[name]
    assert lines_of(charts.outputs(found, LIGHT)) == {
        "in-context: stated by Y": found.in_context.tolist(),
        "in-weight: learnt for X": found.in_weight.tolist(),
    }


@pytest.mark.parametrize("most", [10, 100, 1000])
def test_the_axis_has_a_place_for_no_repetition_and_ends_at_the_last(most):
    found = head(most=most)
    for chart in (charts.weights(found, LIGHT), charts.outputs(found, LIGHT)):
        spec = spec_of(chart)
        for part in spec.get("layer", [spec]):
            x = part["encoding"]["x"]
            assert (x["scale"]["type"], x["scale"]["domain"]) == ("symlog", [0, most])
            assert x["axis"]["values"] == [t for t in (0, 1, 10, 100, 1000) if t <= most]


def test_the_legends_name_both_lines_and_both_parts():
    found = IDEALISED["seen often"]
    weights = charts.weights(found, LIGHT)
    assert {"on the query X", "on all copies of Y"} <= set(texts(drawn(weights)))
    (dash,) = (x["encoding"]["strokeDash"] for x in spec_of(weights)["layer"][:1])
    solid, dashed = dash["scale"]["range"]
    assert solid != dashed  # told apart without colours
    parts = set(texts(drawn(charts.outputs(found, LIGHT))))
    assert {"in-context: stated by Y", "in-weight: learnt for X"} <= parts


# -------------------------------------------------------------------------- the real heads


@pytest.mark.parametrize("which", [ON_QUESTION, ON_ANSWER])
@pytest.mark.parametrize("name", HEADS)
def test_a_heat_map_has_a_cell_for_every_head_layer_by_layer(name, which):
    found = HEADS[name]
    shares = found.on_question if which == ON_QUESTION else found.on_answer
    chart = charts.heads(found, which, LIGHT)
    cells = [(row["layer"], row["head"], row["attention"]) for row in rows_of(chart, "attention")]
    assert cells == [(i + 1, j + 1, share) for (i, j), share in np.ndenumerate(shares)]
    # One scale for all of them: what is small in one must not look large in another.
    (scale,) = (layer["encoding"]["color"]["scale"] for layer in spec_of(chart)["layer"][:1])
    assert (scale["domain"], scale["range"]) == ([0, 1], list(LIGHT.sequential))
    assert {f"{share:.0%}" for share in shares.flat} <= set(texts(drawn(chart)))
