"""The mechanism's pictures: the head's numbers, and one scale for all heat maps."""

import functools
import json
import math

import numpy as np
import pytest

from core.charts import export
from core.charts.amplification import mechanism as charts
from core.charts.amplification.mechanism import ON_QUESTION, ON_TOLD
from core.charts.theme import DARK, LIGHT
from core.studies.amplification.gallery import EXAMPLES
from core.studies.amplification.mechanism import Looking, looking
from core.uncertainty import attention
from tests.charts.drawing import check, drawn, rows_of, spec_of, texts

HEADS = {
    "by hand": Looking(
        1, np.array([[0.1, 0.2, 0.3], [0.6, 0.0, 1.0]]), np.array([[0.9, 0.5, 0.1], [0.2, 0.0, 0]])
    ),
    "nothing told": Looking(0, np.full((4, 4), 0.25), np.zeros((4, 4))),
    "one head": Looking(100, np.array([[1.0]]), np.array([[0.0]])),
}


def head(share=0.4, most=1000, dimension=64):
    return attention.repeat(
        attention.idealised(dimension=dimension, in_span=share), attention.spread(most)
    )


IDEALISED = {
    **{name: head(share) for name, share in attention.CASES.items()},
    "few copies": head(most=10),
    "smallest dimension": head(0.0, dimension=3),
    "never repeated": attention.repeat(attention.idealised(dimension=8), [0]),
}


@functools.cache
def drawings(palette=LIGHT):
    return {
        **{f"weights, {name}": charts.weights(found, palette) for name, found in IDEALISED.items()},
        **{f"outputs, {name}": charts.outputs(found, palette) for name, found in IDEALISED.items()},
        **{
            f"heads on {which}, {name}": charts.heads(found, which, palette)
            for name, found in HEADS.items()
            for which in (ON_QUESTION, ON_TOLD)
        },
    }


# --------------------------------------------------------------------------- every chart


def test_every_chart_is_valid_finite_drawn_and_fetches_nothing():
    check(drawings(), LIGHT)


def test_every_kind_of_chart_has_a_dark_palette():
    names = ["weights, seen often", "outputs, seen often", f"heads on {ON_TOLD}, by hand"]
    check({name: drawings(DARK)[name] for name in names}, DARK)


def test_charts_can_be_saved_without_a_browser():
    for chart in (drawings()["weights, seen often"], drawings()["heads on the question, by hand"]):
        assert export.to_png(chart).startswith(b"\x89PNG\r\n\x1a\n")


# ---------------------------------------------------------------------- the idealised head


@pytest.mark.parametrize("name", IDEALISED)
def test_the_weights_are_the_heads(name):
    found = IDEALISED[name]
    rows = rows_of(charts.weights(found, LIGHT), "which")
    for which, shares in (
        ("on the query X", found.on_query),
        ("on all copies of Y", found.on_copies),
    ):
        of = [row for row in rows if row["which"] == which]
        assert [row["t"] for row in of] == found.repetitions.tolist()
        assert [row["share"] for row in of] == shares.tolist()
    assert len(rows) == 2 * len(found.repetitions)


@pytest.mark.parametrize("name", IDEALISED)
def test_the_circles_are_the_closed_form_and_lie_on_the_line(name):
    found = IDEALISED[name]
    circles = [row for row in rows_of(charts.weights(found, LIGHT), "share") if "which" not in row]
    assert [row["share"] for row in circles] == found.closed_form.tolist()
    by_hand = [1 / (1 + t * math.exp(-found.gap)) for t in found.repetitions.tolist()]
    assert [row["share"] for row in circles] == pytest.approx(by_hand)
    assert [row["share"] for row in circles] == pytest.approx(found.on_query.tolist())


@pytest.mark.parametrize("name", IDEALISED)
def test_the_outputs_are_the_heads_and_fill_the_picture(name):
    found = IDEALISED[name]
    rows = rows_of(charts.outputs(found, LIGHT), "which")
    shares = {row["which"]: [] for row in rows}
    for row in rows:
        shares[row["which"]].append(row["share"])
    assert shares == {
        "in-context: stated by Y": found.in_context.tolist(),
        "in-weight: learnt for X": found.in_weight.tolist(),
    }
    assert np.sum(list(shares.values()), axis=0) == pytest.approx(np.ones(len(found.repetitions)))


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
    lines = set(texts(drawn(charts.weights(found, LIGHT))))
    assert {"on the query X", "on all copies of Y"} <= lines
    parts = set(texts(drawn(charts.outputs(found, LIGHT))))
    assert {"in-context: stated by Y", "in-weight: learnt for X"} <= parts


def test_the_lines_are_told_apart_without_colours():
    layers = spec_of(charts.weights(IDEALISED["seen often"], LIGHT))["layer"]
    (dash,) = (x["encoding"]["strokeDash"] for x in layers if "strokeDash" in x["encoding"])
    solid, dashed = dash["scale"]["range"]
    assert solid != dashed


def test_the_idealised_head_in_words():
    found = attention.Repeated(
        repetitions=np.array([0, 10]),
        on_query=np.array([1.0, 0.25]),
        on_copies=np.array([0.0, 0.75]),
        gap=1.0,
        closed_form=np.array([1.0, 0.25]),
        in_weight=np.array([1.0, 0.2]),
        in_context=np.array([0.0, 0.8]),
    )
    assert charts.weights_alt(found) == (
        "The weight on the query goes from 100.0% to 25.0% at 10 repetitions; the copies get "
        "the rest."
    )
    assert charts.outputs_alt(found) == (
        "The in-weight answer goes from 100.0% to 20.0% of the output, "
        "the in-context answer from 0.0% to 80.0%."
    )


# -------------------------------------------------------------------------- the real heads


@pytest.mark.parametrize("which", [ON_QUESTION, ON_TOLD])
@pytest.mark.parametrize("name", HEADS)
def test_a_heat_map_has_a_cell_for_every_head_layer_by_layer(name, which):
    found = HEADS[name]
    shares = found.on_question if which == ON_QUESTION else found.on_told
    rows = rows_of(charts.heads(found, which, LIGHT), "attention")
    assert [(row["layer"], row["head"]) for row in rows] == [
        (layer + 1, head + 1) for layer in range(shares.shape[0]) for head in range(shares.shape[1])
    ]
    assert [row["attention"] for row in rows] == shares.ravel().tolist()


@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
def test_all_heat_maps_share_one_scale(palette):
    """What is small in one picture must not look large in another."""
    scales = {
        json.dumps(layer["encoding"]["color"]["scale"])
        for found in HEADS.values()
        for which in (ON_QUESTION, ON_TOLD)
        for layer in spec_of(charts.heads(found, which, palette))["layer"]
        if layer["mark"]["type"] == "rect"
    }
    (scale,) = map(json.loads, scales)
    assert scale["domain"] == [0, 1]
    assert scale["range"] == list(palette.sequential)


def test_every_cell_says_its_number():
    said = texts(drawn(charts.heads(HEADS["by hand"], ON_QUESTION, LIGHT)))
    assert {"10%", "20%", "30%", "60%", "0%", "100%"} <= set(said)


def test_the_real_heads_in_words():
    found = HEADS["by hand"]
    assert charts.heads_alt(found, ON_QUESTION) == (
        "Attention on the question, mean over heads: layer 1 20%, layer 2 53%."
    )
    assert charts.heads_alt(found, ON_TOLD) == (
        "Attention on the answer in the prompt, mean over heads: layer 1 50%, layer 2 7%."
    )


def test_the_embedded_models_heads_can_be_drawn(embedded):
    for found in looking(EXAMPLES["Known"], embedded, [0, 2]):
        for which in (ON_QUESTION, ON_TOLD):
            rows = rows_of(charts.heads(found, which, LIGHT), "attention")
            assert len(rows) == found.on_question.size
            assert all(0 <= row["attention"] <= 1 + 1e-6 for row in rows)
            assert texts(drawn(charts.heads(found, which, DARK)))
