"""An amplification's pictures: valid, the study's numbers, and safe with any text in them."""

import functools
import html
import json
import math
import re

import pytest

from core.charts import export
from core.charts import line_labels as ends_of
from core.charts.amplification import curves as charts
from core.charts.theme import DARK, LIGHT
from core.studies.amplification.curve import (
    DEFAULT_REPETITIONS,
    FREQUENCY_REPETITIONS,
    Amplification,
    Case,
    Point,
    amplify,
)
from core.studies.amplification.fate import ALIVE, Fate, fate, last_fate, quartiles
from tests.charts.drawing import check, drawn, only_text, rows_of, spec_of, texts
from tests.fakes import Counted, Turning
from tests.hostile import TEXTS as HOSTILE

FRANCE = Case("What is the capital of France?", "Paris", "Lyon")
FRUIT = Case("Name a yellow fruit.", "Lemon", "Banana")


def says(told):
    """Three in four are right, then ever fewer; after five repetitions it changes the subject."""
    return {0: ["Paris"] * 3 + ["Lyon"], 1: ["Paris", "Lyon"], 5: ["Rome"]}.get(told, ["Lyon"])


STAYS = amplify(FRUIT, Turning(0.6, 0.0))
TURNS = amplify(FRANCE, Turning(0.9, 0.5))
SURE = amplify(FRANCE, Turning(0.95, 0.0))
EVERY = amplify(FRANCE, Turning(0.7, 0.01), range(101))
ONE = amplify(FRUIT, Turning(), [0])
COUNTED = amplify(FRANCE, Counted(says), FREQUENCY_REPETITIONS)
SILENT = amplify(FRANCE, Counted(lambda told: ["Rome"], "silent"), FREQUENCY_REPETITIONS)
STUDIES = {
    "one": TURNS,
    "many points": EVERY,
    "a single point": ONE,
    "counted": COUNTED,
    "never sampled": SILENT,
}
BANDS = {"by heart": [STAYS], "half known": [TURNS, STAYS], "never seen": [TURNS]}


# --------------------------------------------------------------------------- every chart


def test_every_chart_is_valid_finite_drawn_and_fetches_nothing():
    drawings = {
        f"{draw.__name__}, {name}, {scale}": draw(found, scale, LIGHT)
        for draw in (charts.curves, charts.probabilities)
        for name, found in STUDIES.items()
        for scale in (charts.SCALES if name == "one" else ["log"])
    }
    drawings |= {
        f"small, {name}": charts.small(found, {}, LIGHT) for name, found in STUDIES.items()
    }
    drawings["band"] = charts.band("Title", [TURNS, STAYS, STAYS], LIGHT)
    drawings["band of one"] = charts.band("Title", [TURNS], LIGHT)
    drawings["bands"] = charts.bands(BANDS, LIGHT)
    drawings["captions"] = charts.curves(TURNS, "log", LIGHT, beside=[STAYS], captions=True)
    # Their models do not report likelihoods.
    empty = {"probabilities, never sampled, log", "probabilities, counted, log"}
    check(drawings, LIGHT, empty)
    check({"curves": charts.curves(TURNS, "log", DARK)}, DARK)
    beside = charts.small(TURNS, {"dashed": ONE, "dotted": STAYS}, DARK)
    check({"small": beside, "bands": charts.bands(BANDS, DARK)}, DARK)
    check({"band": charts.band("Title", [TURNS], DARK)}, DARK)


def legend_of(picture):
    """The lines of the legend's labels, which stand in one text each."""
    return [html.unescape(line) for line in re.findall(r"<tspan[^>]*>([^<]*)</tspan>", picture)]


def encodings(chart, channel):
    """That channel of every layer that has it."""
    layers = spec_of(chart)["layer"]
    return [layer["encoding"][channel] for layer in layers if channel in layer["encoding"]]


# ------------------------------------------------------------------------------- captions


@pytest.mark.parametrize(
    ("log_likelihood", "written"),
    [
        (1e-9, "≈ 1.0"),  # rounding has pushed it above one
        (0.0, "≈ 1.0"),
        (math.log(0.9996), "≈ 1.0"),
        (math.log(0.9995), "≈ 1.0"),
        (math.log(0.9994), "0.999"),
        (math.log(0.936), "0.936"),
        (math.log(0.0634), "0.063"),
        (math.log(0.0996), "0.100"),
        (math.log(0.001), "0.001"),
        (math.log(0.00099), "9.9 × 10⁻⁴"),
        (math.log(0.000999), "1 × 10⁻³"),
        (math.log(3.1e-6), "3.1 × 10⁻⁶"),
        (math.log(9.02e-6), "9 × 10⁻⁶"),
        (math.log(9.96e-7), "1 × 10⁻⁶"),
        (math.log(9.94e-7), "9.9 × 10⁻⁷"),
        (math.log(1e-6), "1 × 10⁻⁶"),
        (math.log(1.29e-10), "1.3 × 10⁻¹⁰"),
        (math.log(2.5e-300), "2.5 × 10⁻³⁰⁰"),
        (-1000 * math.log(10) + math.log(4.2), "4.2 × 10⁻¹⁰⁰⁰"),  # too small for a float
        (-math.inf, "0"),
        (None, "unknown"),
    ],
)
def test_a_probability_is_written_as_in_the_papers_captions(log_likelihood, written):
    assert charts.initial(log_likelihood) == written


# ------------------------------------------------------------------------------ the curves


@pytest.mark.parametrize("scale", charts.SCALES)
@pytest.mark.parametrize("name", STUDIES)
def test_the_curves_are_the_studys_numbers(name, scale):
    found = STUDIES[name]
    columns = ("query", "t", "share", "lower", "upper", "answer", "told", "fate")
    rows = rows_of(charts.curves(found, scale, LIGHT), "query")
    assert [tuple(row[column] for column in columns) for row in rows] == [
        (
            *(charts.name(found), p.repetitions, p.normalised_probability, p.lower, p.upper),
            *(found.case.answer, found.case.repeated, last_fate(found).value),
        )
        for p in found.points
        if p.normalised_probability is not None
    ]


@pytest.mark.parametrize(("found", "banded"), [(COUNTED, True), (TURNS, False)])
def test_frequencies_have_a_band_and_likelihoods_have_none(found, banded):
    layers = spec_of(charts.curves(found, "log", LIGHT))["layer"]
    assert ("area" in {layer["mark"]["type"] for layer in layers}) is banded


COLOURS = {Fate.STAYS: LIGHT.primary, Fate.ALIVE: LIGHT.muted, Fate.GIVES_WAY: LIGHT.epistemic}


def test_colours_say_what_happens():
    lines = [c for c in encodings(charts.curves(TURNS, "log", LIGHT), "color") if c["scale"]]
    assert lines
    for colour in lines:
        looks = dict(zip(colour["scale"]["domain"], colour["scale"]["range"], strict=True))
        assert looks == COLOURS


def test_the_probabilities_have_the_colour_of_the_own_and_of_the_repeated_answer():
    for colour in encodings(charts.probabilities(TURNS, "log", LIGHT), "color"):
        assert colour["scale"]["domain"] == ["answer", "repeated"]
        assert colour["scale"]["range"] == [LIGHT.primary, LIGHT.ink]


def test_lines_are_named_at_their_ends_and_no_name_covers_another():
    level = amplify(FRANCE, Turning(0.5, 0.0))
    picture = charts.probabilities(level, "log", LIGHT)
    ends = rows_of(picture, "label")
    assert {row["label"] for row in ends} == {"Paris", "Lyon"} <= set(texts(drawn(picture)))
    (y,) = {json.dumps(y["scale"]) for y in encodings(picture, "y") if "scale" in y}
    low, high = json.loads(y)["domainMin"], json.loads(y)["domainMax"]
    first, second = sorted(row["log10"] for row in ends)
    assert low <= first and second <= high
    assert second - first >= (high - low) * ends_of.APART / charts.HEIGHT - 1e-9


def test_a_name_and_what_becomes_of_it_stand_where_its_line_ends():
    rows = rows_of(charts.curves(TURNS, "log", LIGHT), "label")
    assert [(row["label"], row["share"]) for row in rows] == [
        ("Paris\ngives way", pytest.approx(TURNS.points[-1].normalised_probability, abs=0.03))
    ]
    listed = rows_of(charts.curves(TURNS, "log", LIGHT, beside=[EVERY]), "label")
    assert {row["label"] for row in listed} == {"1. Paris\ngives way", "2. Paris\nboth alive"}
    several = rows_of(charts.curves(TURNS, "log", LIGHT, beside=[EVERY], captions=True), "label")
    assert {row["label"].replace("\n", " ") for row in several} == {
        "1. Paris gives way",
        f"2. Paris both alive {EVERY.case.query}",
    }


@pytest.mark.parametrize(("found", "marked"), [(TURNS, True), (EVERY, False)])
def test_only_lines_of_few_points_have_marks(found, marked):
    for chart in (
        charts.curves(found, "log", LIGHT),
        charts.probabilities(found, "log", LIGHT),
        charts.small(found, {}, LIGHT),
    ):
        lines = [x["mark"] for x in spec_of(chart)["layer"] if x["mark"]["type"] == "line"]
        assert [bool(line.get("point")) for line in lines] == [marked]


def test_the_nearest_point_is_told_wherever_the_pointer_is():
    for chart in (
        charts.curves(EVERY, "log", LIGHT),
        charts.probabilities(TURNS, "log", LIGHT),
        charts.small(STAYS, {}, LIGHT),
        charts.band("Title", [STAYS], LIGHT),
        charts.bands(BANDS, LIGHT),
    ):
        (near,) = spec_of(chart)["params"]
        assert near["select"]["nearest"] and near["select"]["on"] == "pointermove"
        assert any("tooltip" in layer["encoding"] for layer in spec_of(chart)["layer"])


def test_the_edge_says_what_a_curve_that_ends_there_has_become():
    """As `fate` has it, drawn and in words."""
    for chart in (
        charts.curves(TURNS, "log", LIGHT),
        charts.small(TURNS, {}, LIGHT),
        charts.band("Title", [TURNS], LIGHT),
        charts.bands(BANDS, LIGHT),
    ):
        parts = rows_of(chart, "high")
        assert {part["t"] for part in parts} == {100}
        assert {fate((each["low"] + each["high"]) / 2): each["colour"] for each in parts} == COLOURS
        assert {fate(part["high"]) for part in parts} == {Fate.STAYS, Fate.ALIVE}
    chart = charts.bands(BANDS, LIGHT)
    assert set(charts.MEANINGS.values()) <= set(texts(drawn(chart.properties(width=600))))
    on_a_phone = {"stands", "both alive", "gives way"}
    assert on_a_phone <= set(texts(drawn(chart.properties(width=330))))
    assert charts.MEANINGS[Fate.GIVES_WAY] == "gives way: ends below 20%"
    low, high = (share / (1 - share) for share in ALIVE)
    assert (low, high) == pytest.approx((1 / 4, 4))


def legend_in(found):
    return legend_of(drawn(charts.curves(found, "log", LIGHT, captions=True)))


def test_the_legend_names_the_query_with_its_initial_probabilities():
    """What the paper's captions have, so that it stands in exported figures too."""
    assert legend_in(TURNS)[-2:] == [
        "What is the capital of France?",
        "“Paris” 0.810, repeated: “Lyon” 0.090",
    ]
    assert legend_of(drawn(charts.curves(TURNS, "log", LIGHT))) == ["Paris", "gives way"]  # its end
    assert "What is the capital of France?" in legend_in(COUNTED)  # beside a band, too


def test_long_texts_are_cut_in_the_legend_and_wrapped_for_a_telephone():
    found = amplify(Case("long " * 100, "a" * 50, "b" * 50), Turning())
    lines = charts.name(found).split("\n")
    assert lines[0].startswith("long long") and lines[1].endswith("…")
    assert lines[2:] == [f"“{'a' * 27}…” 0.720,", f"repeated: “{'b' * 27}…” 0.180"]
    assert max(map(len, lines)) <= charts.LEGEND_WIDTH and legend_in(found)[-4:] == lines


def test_a_line_break_in_a_query_becomes_a_space_in_the_legend():
    found = amplify(Case("one\ntwo\u2028three\r\n\tfour", "a", "b"), Turning())
    assert "one two three four" in legend_in(found)


def test_half_is_marked_and_the_axis_goes_from_nothing_to_everything():
    chart = charts.curves(TURNS, "log", LIGHT)
    assert [(row["y"], row["end"]) for row in rows_of(chart, "y")] == [(0.5, 100)]
    domains = [y["scale"]["domain"] for y in encodings(chart, "y") if "scale" in y]
    assert domains and all(domain == [0, 1] for domain in domains)


@pytest.mark.parametrize("draw", [charts.curves, charts.probabilities])
def test_the_logarithmic_axis_has_a_place_for_no_repetition(draw):
    (x,) = {json.dumps(x) for x in encodings(draw(TURNS, "log", LIGHT), "x")}
    scale, values = json.loads(x)["scale"], json.loads(x)["axis"]["values"]
    assert (scale["type"], scale["domain"]) == ("symlog", [0, 100])
    assert values == [0, 1, 3, 10, 30, 100]
    (x,) = {json.dumps(x) for x in encodings(draw(TURNS, "linear", LIGHT), "x")}
    assert "symlog" not in x


def test_others_stand_beside_it_and_are_named_at_their_ends():
    chart = charts.curves(TURNS, "log", LIGHT, beside=[STAYS], captions=True)
    assert {row["place"] for row in rows_of(chart, "query")} == {0, 1}
    assert {row["label"] for row in rows_of(chart, "label")} == {
        "1. Paris\ngives way",
        "2. Lemon\nboth alive\nName a yellow\nfruit.",
    }


def test_the_axis_ends_where_the_curve_does():
    short = amplify(FRUIT, Turning(), [0, 1, 7])
    for found, most in ((short, 7), (TURNS, 100), (ONE, 1)):
        for x in encodings(charts.curves(found, "log", LIGHT), "x"):
            assert x["scale"]["domain"] == [0, most]
            *before, last = x["axis"]["values"]
            assert last == most and all(t < most for t in before)


# ------------------------------------------------------------------- the raw probabilities


@pytest.mark.parametrize("name", ["one", "many points", "a single point"])
def test_the_probabilities_are_the_studys_numbers(name):
    found = STUDIES[name]
    columns = ("which", "text", "t", "log10", "probability")
    rows = rows_of(charts.probabilities(found, "log", LIGHT), "probability")
    assert [tuple(row[column] for column in columns) for row in rows] == [
        (which, text, p.repetitions, value / math.log(10), math.exp(value))
        for p in found.points
        for which, text, value in (
            ("answer", found.case.answer, p.log_likelihood_answer),
            ("repeated", found.case.repeated, p.log_likelihood_repeated),
        )
    ]


@pytest.mark.parametrize(
    ("exponents", "marked"),
    [
        ([-0.5, -0.52], [0, -1]),  # all near 0.3
        ([0.0], [0, -1]),
        ([None], [0, -1]),
        ([-1.0], [0, -1]),
        ([-5.2, 0.0], [0, -1, -2, -3, -4, -5, -6]),
        ([-6.1], [0, -2, -4, -6, -8]),
        ([-23.4], [0, -5, -10, -15, -20, -25]),
        ([-1000.0], [0, -200, -400, -600, -800, -1000]),
    ],
)
def test_only_whole_powers_of_ten_are_marked_from_certainty_down(exponents, marked):
    values = [None if power is None else power * math.log(10) for power in exponents]
    points = tuple(Point(t, value, value, 0.5) for t, value in enumerate(values))
    chart = charts.probabilities(Amplification(FRANCE, "none", "0", points), "log", LIGHT)
    for y in encodings(chart, "y"):
        assert (y["axis"]["values"], y["scale"]["domainMax"]) == (marked, 0)
        assert y["scale"]["domainMin"] == marked[-1]
    powers = {"1" if power == 0 else f"1e{power}" for power in marked}
    assert {text for text in texts(drawn(chart)) if re.match(r"1e|1$", text)} >= powers


def test_answer_and_repeated_are_told_apart_without_colours():
    chart = charts.probabilities(TURNS, "log", LIGHT)
    (dash,) = encodings(chart, "strokeDash")
    assert dash["scale"]["domain"] == ["answer", "repeated"]
    assert dash["scale"]["range"][0] != dash["scale"]["range"][1]
    assert {"answer", "repeated"} <= set(texts(drawn(chart)))


def test_a_model_that_cannot_score_has_no_probabilities_to_draw():
    for found in (COUNTED, SILENT):
        assert rows_of(charts.probabilities(found, "log", LIGHT), "log10") == []


# ------------------------------------------------------------------------ small multiples


@pytest.mark.parametrize(
    ("found", "colour"),
    [(TURNS, LIGHT.epistemic), (STAYS, LIGHT.muted), (SURE, LIGHT.primary)],
    ids=["turns", "both alive", "stays"],
)
def test_a_small_chart_is_the_same_curve_coloured_by_what_happens(found, colour):
    chart = charts.small(found, {}, LIGHT)
    assert [(row["t"], row["share"]) for row in rows_of(chart, "share")] == [
        (p.repetitions, p.normalised_probability)
        for p in found.points
        if p.normalised_probability is not None
    ]
    (line,) = [x["mark"] for x in spec_of(chart)["layer"] if x["mark"]["type"] == "line"]
    assert line["color"] == line["point"]["color"] == colour


def test_a_band_has_every_curve_and_their_quartiles():
    found = [TURNS, STAYS, amplify(FRUIT, Turning(0.5, 0.2)), amplify(FRUIT, Turning(0.99, 0.1))]
    chart = charts.band("Title", found, LIGHT)
    rows = rows_of(chart, "share")
    for i, one in enumerate(found):
        assert [row["share"] for row in rows if row["case"] == i] == [
            point.normalised_probability for point in one.points
        ]
    summary = rows_of(chart, "median")
    assert [row["t"] for row in summary] == list(DEFAULT_REPETITIONS)
    assert [[row[name] for row in summary] for name in ("lower", "median", "upper")] == (
        quartiles(found).tolist()
    )


def test_the_medians_of_all_bands_are_the_quartiles_in_the_middle():
    rows = rows_of(charts.bands(BANDS, LIGHT), "median")
    for band, found in BANDS.items():
        assert [row["median"] for row in rows if row.get("band") == band and "lower" in row] == (
            quartiles(found)[1].tolist()
        )


# ------------------------------------------------------------------------ hostile texts


@functools.cache
def hostile() -> tuple[Amplification, ...]:
    turned = [*HOSTILE[1:], HOSTILE[0]]
    return tuple(
        amplify(Case(text, f"a {text}", f"b {other}"), Turning())
        for text, other in zip(HOSTILE, turned, strict=True)
    )


@pytest.mark.parametrize("found", hostile())
def test_hostile_texts_stand_in_the_data_and_in_names_and_nowhere_else(found):
    """Not in a title, an expression or a format, where Vega would read them."""
    every = (
        charts.curves(found, "log", LIGHT, captions=True),
        charts.probabilities(found, "linear", LIGHT),
    )
    for chart in every:
        assert only_text(drawn(chart))
        spec = spec_of(chart)
        del spec["datasets"]
        for layer in spec["layer"]:
            layer["encoding"].get("strokeDash", {}).pop("scale", None)
        assert json.dumps(found.case.query)[1:-1] not in json.dumps(spec, ensure_ascii=False)


@pytest.mark.parametrize("text", ["A question?", *HOSTILE])
def test_hostile_texts_can_be_exported_as_a_subtitle(text):
    alone = export.alone(charts.small(ONE, {}, DARK), "A title", text)
    picture = export.to_svg(alone).decode()
    assert picture.startswith("<svg") and picture.rstrip().endswith("</svg>")
    assert {"A title", text} <= set(texts(picture)) and only_text(picture)
    assert export.to_png(alone).startswith(b"\x89PNG\r\n\x1a\n")


# ------------------------------------------------------------------ what went wrong once


def test_an_impossible_answer_has_the_probability_zero():
    points = tuple(Point(t, -math.inf, -1.0, 0.0) for t in (0, 1))
    found = Amplification(FRANCE, "none", "0", points)
    rows = rows_of(charts.probabilities(found, "log", LIGHT), "probability")
    assert [row["which"] for row in rows] == ["repeated"] * 2
