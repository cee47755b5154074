"""Charts: they are drawn from one cluster to many, say the same as the numbers, and stay safe."""

import itertools
import json
import math
import re
from dataclasses import replace

import numpy as np
import pytest

from core.charts import export, matrices
from core.charts import inspection as charts
from core.charts.theme import DARK, LIGHT
from core.codec import no_more
from core.data.world.nearest import NEAR
from core.language_models.language_model import Response
from core.reports.inspection import document
from core.reports.inspection.words import STAMPS, UNPROMISED, idle_doubt
from core.studies.inspection.conditional_rows import conditional_rows
from core.studies.inspection.inspection import read, run
from core.studies.inspection.recorder import record, usual_request
from core.studies.inspection.request import Reading, Request
from core.studies.inspection.stopping_rule import growth
from core.studies.inspection.verdict import (
    CERTIFIED,
    WIDTH,
    DecisionRule,
    Headline,
    decide,
    largest_that_stands,
    scale_end,
)
from core.uncertainty.scores import SCORES, Score
from tests.charts.drawing import check, drawn, only_text, rows_of, spec_of, texts
from tests.fakes import QUERY, TableModel, copies, falling, knows
from tests.hostile import ANY_TEXTS as HOSTILE
from tests.studies.inspection.rules import default_rule


def seen(clusters, maker=copies):
    """An inspection with exactly that many clusters: every answer is sampled in turn."""
    model = maker(clusters)
    draw = model.sample
    model.sample = lambda prompt, count, *, temperature=1.0, **rest: (
        [Response(model.answers[i % clusters], True) for i in range(count)]
        if temperature
        else draw(prompt, count, temperature=0)
    )
    return read(record(Request(QUERY, 3 * clusters), model), rule=default_rule())


EXAMPLES = (("A known one", 0.0), ("Unknown", 2.0))
INSPECTIONS = {n: seen(n) for n in (1, 2, 10, 70)}


@pytest.fixture(params=INSPECTIONS, ids="{} clusters".format)
def inspection(request):
    return INSPECTIONS[request.param]


def scale_of(chart):
    """The colour scale of a matrix."""
    spec = spec_of(chart)
    (scale,) = (
        layer["encoding"]["color"]["scale"]
        for layer in spec["layer"]
        if "scale" in layer["encoding"].get("color", {})
    )
    return scale


# --------------------------------------------------------------------------- every chart


@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
def test_every_chart_is_valid_finite_drawn_and_fetches_nothing(palette):
    for inspection in INSPECTIONS.values() if palette is LIGHT else [INSPECTIONS[2]]:
        points = growth(inspection.recording)
        threshold = inspection.information_threshold
        drawings = {
            which: matrices.matrix(inspection, which, palette) for which in matrices.MATRICES
        }
        drawings["doubt"] = charts.doubt_scale(inspection, EXAMPLES, palette)
        drawings["clusters"] = matrices.clusters(inspection, palette)
        drawings["told"] = charts.conditional_answers(conditional_rows(inspection), palette)
        drawings["growth"] = charts.growth(points, threshold, palette)
        check(drawings, palette)


# ------------------------------------------------------------------------- the matrices


def test_joint_and_product_share_one_scale_of_colours(inspection):
    joint, product = (matrices.matrix(inspection, which, LIGHT) for which in ("joint", "product"))
    assert scale_of(joint) == scale_of(product)
    information, m = inspection.evidence.mutual_information, matrices.MOST_CLUSTERS
    largest = max(information.joint[:m, :m].max(), information.product[:m, :m].max())
    assert scale_of(joint)["domain"] == [0, pytest.approx(largest)]


def test_contributions_diverge_around_zero(inspection):
    low, middle, high = scale_of(matrices.matrix(inspection, "contribution", LIGHT))["domain"]
    assert middle == 0
    assert -low == high > 0
    m = matrices.MOST_CLUSTERS
    largest = abs(inspection.evidence.mutual_information.contributions[:m, :m]).max()
    assert high == pytest.approx(max(largest, inspection.information_threshold / 4))


def test_a_small_contribution_is_pale_beside_a_large_one():
    """On a scale of its own, .05 nats of a fruit glowed like .36 of what is made up."""

    def strongest(inspection):
        high = scale_of(matrices.matrix(inspection, "contribution", LIGHT))["domain"][-1]
        return abs(inspection.evidence.mutual_information.contributions).max() / high

    assert strongest(seen(6, knows)) < 0.1 < 0.3 < strongest(seen(6, copies))


@pytest.mark.parametrize("which", matrices.MATRICES)
def test_a_matrix_shows_the_likeliest_clusters_row_by_row(inspection, which):
    information = inspection.evidence.mutual_information
    m = min(len(inspection.clusters), matrices.MOST_CLUSTERS)
    rows = rows_of(matrices.matrix(inspection, which, LIGHT), "joint")
    assert [(row["row"], row["column"]) for row in rows] == [*np.ndindex(m, m)]
    names = [cluster.text for cluster in inspection.clusters[:m]]
    assert [(row["first"], row["second"]) for row in rows] == [*itertools.product(names, names)]
    for name, values in (
        ("joint", information.joint),
        ("product", information.product),
        ("contribution", information.contributions),
    ):
        assert [row[name] for row in rows] == values[:m, :m].ravel().tolist()
    below = [row["label"] for row in rows if row[which] < -0.0005]
    assert all(label.startswith("−") for label in below)


def test_what_is_not_drawn_is_said():
    assert matrices.matrix_note(INSPECTIONS[10]) == ""
    drawn = INSPECTIONS[70].evidence.mutual_information.joint[:40, :40].sum()
    note = matrices.matrix_note(INSPECTIONS[70])
    assert "first 40 of 70" in note
    assert f"{drawn:.1%} of the joint" in note


@pytest.mark.parametrize(("clusters", "fit"), [(2, True), (10, False)])
def test_numbers_stand_in_the_cells_as_long_as_they_fit(clusters, fit):
    layers = spec_of(matrices.matrix(INSPECTIONS[clusters], "joint", LIGHT))["layer"]
    assert ("text" in {layer["mark"]["type"] for layer in layers}) is fit


@pytest.mark.parametrize("count", [4, 9])  # with numbers in the cells, and without
def test_axes_name_the_likeliest_first_whatever_the_alphabet_says(count):
    names = [f"{letter}nswer" for letter in "zaymbxcwd"[:count]]
    model = TableModel(names, falling(count), [falling(count)] * count)
    inspection = run(Request(QUERY, 200), model)
    bars = export.to_svg(matrices.clusters(inspection, LIGHT)).decode()
    assert re.findall(r">(\wnswer)<", bars) == names
    axes = export.to_svg(matrices.matrix(inspection, "joint", LIGHT)).decode()
    assert re.findall(r">(\wnswer)<", axes) == names * 2


# ------------------------------------------------------------------------- the others


def placed(chart):
    """The labels of a scale, each with where on it it stands."""
    return {row["label"]: row["x"] for row in rows_of(chart, "label")}


def test_doubt_stands_on_a_scale_beside_the_threshold_and_the_examples(inspection):
    labels = placed(charts.doubt_scale(inspection, EXAMPLES, LIGHT))
    limit = inspection.verdict.rule.value
    few = inspection.samples_needed is not None
    less, more = ("less doubt", "more doubt") if few else ("would be answered", "? I don’t know")
    assert labels[less] == 0
    assert labels[f"{more} from {limit:.3f}"] == limit
    assert labels["A known one"] == 0 and labels["Unknown"] == 2.0
    (at,) = (x for label, x in labels.items() if label.startswith("this question: "))
    assert (
        at == inspection.compared_doubt or at < inspection.compared_doubt > 5 * limit
    )  # beyond the scale


@pytest.mark.parametrize("gap", [1e-4, -1e-4])
def test_no_doubt_is_read_on_another_side_of_a_limit_than_it_lies(gap):
    """No “0.581” is below a limit of “0.581”, and none above one up to which it is believed."""
    inspection = read(run(Request(QUERY, 10), knows(2)).recording, rule=default_rule())
    most = largest_that_stands(2)
    for limit, doubt in ((0.5811 + gap, 0.5811), (0.5811, most - gap)):
        rule = replace(inspection.verdict.rule, value=limit)
        scores = inspection.scores | {"mutual_information": Score(doubt, doubt, "a")}
        changed = replace(
            inspection, scores=scores, verdict=replace(inspection.verdict, rule=rule, firm=True)
        )
        labels = " ".join(placed(charts.doubt_scale(changed, (), LIGHT)))
        assert f"this question: {doubt:.5f}" in labels
        beside, other = (limit, most) if doubt == 0.5811 else (most, limit)
        assert f"{other:.3f}" in labels and f"{other:.5f}" not in labels
        assert f"{beside:.5f}" in labels and f"{beside:.3f} " not in labels
        assert f"{doubt:.5f}" in document.doubt(changed).alt


def test_with_the_default_limit_every_scale_ends_alike():
    """Whatever the doubt of a question is, so that one can look from one to another."""
    limit, most = default_rule().value, math.log(8)
    assert scale_end(limit, 0.0) == scale_end(limit, most) and WIDTH * limit < 1.05 * most


def test_a_low_doubt_that_is_withheld_has_no_side(monkeypatch):
    """What too little was seen of does not stand because it lies below λ."""
    inspection = read(run(Request(QUERY, 10), knows(2)).recording, rule=default_rule())
    for is_served in (True, False):
        monkeypatch.setattr(type(inspection), "doubt_decides", is_served)
        scale = charts.doubt_scale(inspection, (), LIGHT)
        believed = inspection.belief_limit
        assert (believed is not None) is is_served
        steps = {row["label"]: row["x"] for row in scale.rows["steps"]}
        if is_served:  # the rule, in the words of the stamps; in colour as far as it is believed
            limit, part = inspection.verdict.rule.value, "10% of ln(2 answers)"
            assert steps == {
                STAMPS[Headline.BELIEVE].label: 0,
                f"{STAMPS[Headline.PERHAPS].label} above {believed:.3f}, {part}": believed,
                f"{STAMPS[Headline.ABSTAIN].label} from {limit:.3f}": limit,
            }
            perhaps, _, zone = scale.rows["zones"]
            assert (zone["end"], zone["colour"]) == (believed, LIGHT.primary)
            assert perhaps["x"] == believed, "one colour on the other is a third"
        else:
            assert {*steps} == {"less doubt", f"more doubt from {limit:.3f}"}
        colours = {row["colour"] for row in rows_of(scale, "end")[:2]}
        assert colours == ({LIGHT.muted, LIGHT.epistemic} if is_served else {LIGHT.muted})
        assert ("does not decide" in document.doubt(inspection).alt) is not is_served
        assert ("does not decide" in str(scale.shape)) is not is_served


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("What is the capital of Zorvania?", "74% away: What US state capitals do you know?"),
        ("Who was the king of the United States?", "34% away, but lacks “king”: Who was the first"),
        ("name a planet", "43% away: Name a dwarf planet."),  # 42.4%; near is 42%
        ("xyzzy", "100%: no taught question is like it at all"),
    ],
)
def test_where_nothing_near_was_taught_the_nearest_is_drawn_and_no_doubt(question, first, embedded):
    inspection = run(usual_request(question, embedded.capabilities), embedded)
    assert inspection.conceals
    picture = document.decisive_picture(inspection, EXAMPLES)
    scale = picture.chart(*picture.data, LIGHT)
    check({"nearness": scale}, LIGHT)
    assert placed(scale)[f"{STAMPS[Headline.UNTAUGHT].label} above {1 - NEAR:.0%}"] == 1 - NEAR
    assert "doubt" not in str(scale.rows)
    nearest = inspection.nearest_taught.nearest
    assert scale.rows["right"][0]["label"].startswith(first)
    marks = [*scale.rows["this"], *scale.rows["others"]]
    others = sorted(1 - offer.similarity for offer in nearest[1:])
    first_at = [1 - offer.similarity for offer in nearest[:1]] or [1.0]
    assert [row["x"] for row in marks] == first_at + others
    assert all(f"{each.question}” {each.distance}" in picture.alt for each in nearest)
    assert not nearest or first.partition(":")[0] in picture.alt, "with what it lacks"
    assert f"{inspection.compared_doubt:.3f} nats, decides" in idle_doubt(inspection)
    assert ("No taught question is like it" in picture.alt) == (not nearest)


def test_where_nothing_is_certified_no_side_of_the_scale_has_a_colour():
    """What is served there may have only so much doubt: it is not said that it does not decide."""
    inspection = run(Request(QUERY, 10), knows(2))
    assert inspection.verdict.rule is None
    scale = charts.doubt_scale(inspection, (), LIGHT)
    limit = inspection.information_threshold
    assert placed(scale)[UNPROMISED.label] == 0
    assert placed(scale)[f"more doubt above {limit:.3f}"] == limit
    assert not scale.rows["line"], "which is no λ"
    assert {row["colour"] for row in rows_of(scale, "end")[:2]} == {LIGHT.muted}
    withheld = run(Request(QUERY, 10), copies(3))
    labels = {*placed(charts.doubt_scale(withheld, (), LIGHT))}
    assert {"no limit λ is certified here", "less doubt", "more doubt"} <= labels
    assert "does not decide" not in str(scale.shape) + document.doubt(inspection).alt


def test_a_single_answer_that_nothing_certifies_has_no_limit(embedded):
    """It is kept to or not, and stands whatever γ makes of its M.I."""
    request = usual_request("What is the capital of Spain?", embedded.capabilities)
    single = run(request, embedded, Reading(gamma_1=0.1))
    assert single.evidence.answers == 1 and single.verdict.rule is None
    assert single.compared_doubt > single.information_threshold
    scale = document.doubt(single)
    steps = [row["label"] for row in scale.chart(*scale.data, LIGHT).rows["steps"]]
    assert steps == [UNPROMISED.label, "more doubt above 50%"]


@pytest.mark.parametrize(("limit", "words"), [(0.3, "50%"), (0.9, "59.4%")])  # ln 2 lies between
def test_a_single_answer_lies_where_it_is_kept_and_not_at_a_doubt_of_0(embedded, limit, words):
    """Its bars say something else in 9%, told one: a doubt of 0.000 beside them contradicts."""
    single = run(usual_request("What is the capital of France?", embedded.capabilities), embedded)
    rule = replace(single.verdict.rule, value=limit)
    picture = document.doubt(replace(single, verdict=replace(single.verdict, rule=rule)))
    scale = picture.chart(*picture.data, LIGHT)
    shares = [share for _, share in single.others]
    mean = sum(shares) / len(shares)
    (this,) = scale.rows["this"]
    assert this["x"] == pytest.approx(1 - mean) and not scale.rows["others"]
    change = f"{1 - mean:.1%}"
    assert f"this question: {change}" in placed(scale) and f"{change} on average" in picture.alt
    steps = {STAMPS[Headline.BELIEVE].label: 0}
    if limit > math.log(2):  # told others, it may be kept in less than half and lie below λ
        steps[f"{STAMPS[Headline.PERHAPS].label} above 50%"] = 0.5
    least = min(0.5, math.exp(-limit))
    steps[f"{STAMPS[Headline.ABSTAIN].label} above {words}"] = pytest.approx(1 - least)
    assert {row["label"]: row["x"] for row in scale.rows["steps"]} == steps
    assert [row["x"] for row in scale.rows["line"]] == [pytest.approx(1 - least)]
    zone = scale.rows["zones"][2]
    assert (zone["end"], zone["colour"]) == (pytest.approx(0.5), LIGHT.primary)
    check({"keeping": scale}, LIGHT)
    others = (("Lyon", 0.2),)
    scores, recording = single.scores, replace(single.recording, others=others)
    dropped = replace(single, recording=recording, verdict=decide(scores, 1.0, 1, rule, others))
    steps = charts.keeping(dropped, LIGHT).rows["steps"]
    assert [row["label"] for row in steps] == ["would be answered", f"? I don’t know above {words}"]


def test_the_bar_of_doubt_is_solid_as_far_as_it_is_certified():
    inspection = INSPECTIONS[10]
    assert 0 < inspection.certified_bound <= inspection.compared_doubt
    for less in (0.1, 0.6):
        scores = inspection.scores | {CERTIFIED: Score(less, less, "a")}
        scale = charts.doubt_scale(replace(inspection, scores=scores), (), LIGHT)
        *_, solid, hollow = rows_of(scale, "end")
        assert (solid["x"], solid["end"]) == (0, less)
        assert (hollow["x"], hollow["end"]) == (less, inspection.compared_doubt)
        assert placed(scale)[f"solid: certainly at least {less:.3f}"] == 0


@pytest.mark.parametrize(
    ("limit", "score"),
    [
        *((limit, "mutual_information") for limit in (math.inf, -math.inf, 0.0, 1e-9, 50.0)),
        *((0.3, score) for score in sorted(SCORES)),
    ],
)
def test_the_scale_of_doubt_is_drawn_whatever_decides(limit, score):
    """A policy may be of any score, and answer everything or nothing."""
    inspection = INSPECTIONS[10 if score == "mutual_information" else 1]
    ruled = read(inspection.recording, rule=DecisionRule(limit, 0.0, score))
    check({"doubt": charts.doubt_scale(ruled, EXAMPLES, LIGHT)}, LIGHT)
    assert document.doubt(ruled).alt


@pytest.mark.parametrize("limit", [-1.5, -0.4])
def test_a_limit_below_0_lies_on_the_scale_with_what_is_withheld_above_it(limit):
    """The doubt of minimum conditional entropy is 0 at most, and of what is copied 0."""
    inspection = INSPECTIONS[1]
    rule = DecisionRule(limit, 0.0, "min_conditional_entropy")
    ruled = read(inspection.recording, rule=rule)
    scale = charts.doubt_scale(ruled, (), LIGHT)
    labels, ends = placed(scale), scale.values
    assert ends["lowest"] < limit < 0 < ends["widest"]
    assert labels[f"? I don’t know from −{-limit:.3f}"] == limit
    assert labels["would be answered"] == ends["lowest"]
    answers, withholds = rows_of(scale, "end")[:2]
    assert (answers["end"], withholds["x"]) == (limit, limit)
    (at,) = (x for label, x in labels.items() if label.startswith("this question: "))
    assert at == max(ruled.compared_doubt, ends["lowest"])
    nothing = read(inspection.recording, rule=replace(rule, value=-math.inf))
    (only,) = charts.doubt_scale(nothing, (), LIGHT).rows["steps"]
    assert only["label"] == "? I don’t know from −∞"


def test_on_a_phone_there_is_no_room_for_a_label_left_of_a_small_doubt():
    inspection = INSPECTIONS[10]
    rule = DecisionRule(1.5 * inspection.compared_doubt, 0.0, "mutual_information")
    scale = charts.doubt_scale(read(inspection.recording, rule=rule), (), LIGHT)
    assert [row for row in scale.rows["right"] if row["label"].startswith("this question: ")]


def test_a_doubt_without_bounds_stands_at_the_end_of_the_scale():
    model = TableModel(["a", "b"], [1.0, 0.0], [[1.0, 0.0], [0.0, 1.0]])
    ruled = read(run(Request(QUERY, 3), model).recording)
    endless = replace(
        ruled, scores={**ruled.scores, "mutual_information": Score(math.inf, math.inf, "a")}
    )
    chart = charts.doubt_scale(endless, (), LIGHT)
    check({"doubt": chart}, LIGHT)
    assert math.isfinite(placed(chart)["this question: ∞"])


def test_clusters_have_their_share_of_all_probability_and_the_rest_is_not_sampled(inspection):
    *rows, rest = rows_of(matrices.clusters(inspection, LIGHT), "mass")
    listed = inspection.clusters[: matrices.MOST_BARS]
    assert [row["answer"] for row in rows] == [cluster.text for cluster in listed]
    assert [row["mass"] for row in rows] == [cluster.mass for cluster in listed]
    assert rest["answer"] == matrices.NOT_FOUND
    assert rest["mass"] == pytest.approx(max(0, 1 - inspection.sampled_mass), abs=1e-9)


def test_an_answer_said_again_is_ink_unless_it_is_the_models_own():
    """As on the page, where told its own answer it is blue."""
    rows = conditional_rows(INSPECTIONS[2])
    bars = rows_of(charts.conditional_answers(rows, LIGHT), "colour")
    again = {
        bar["answer"]: bar["colour"] for bar in bars if bar["row"] == f"Told “{bar['answer']}”"
    }
    own, other = rows.answers
    assert again == {own: LIGHT.primary, other: LIGHT.ink}


def test_an_arabic_answer_turns_nothing_beside_it_round():
    names = ["القاهرة ٢٠٢٤", "Lyon"]
    inspection = run(Request(QUERY, 30), TableModel(names, [0.6, 0.4], [[0.6, 0.4], [0.6, 0.4]]))
    bars = rows_of(charts.conditional_answers(conditional_rows(inspection), LIGHT), "label")
    cairo = "\u2068القاهرة ٢٠٢٤\u2069"
    assert [(bar["row"], bar["label"]) for bar in bars if bar["label"]][2:] == [
        *((f"Told “{cairo}”", words) for words in (f"{cairo} 60%", "Lyon 40%")),
        *(("Told “Lyon”", words) for words in (f"{cairo} 60%", "Lyon 40%")),
    ]


def test_growth_has_both_lines_and_the_threshold(inspection):
    points = growth(inspection.recording)
    chart = charts.growth(points, 0.3, LIGHT)
    by_line = {}
    for row in rows_of(chart, "what"):
        by_line.setdefault(row["what"], []).append(row["value"])
    assert by_line == {
        "certified lower bound (nats)": [point.certified for point in points],
        "sampled mass (probability)": [point.sampled_mass for point in points],
    }
    assert rows_of(chart, "λ") == [{"λ": 0.3, "samples": points[-1].samples}]
    assert f"certified from here on: {STAMPS[Headline.ABSTAIN].label}" in texts(drawn(chart))


def test_growth_without_a_certificate_shows_the_mass_alone():
    model = TableModel(["a"], [1.0], [[1.0]], cut={"a"})
    points = growth(run(Request(QUERY, 3), model).recording)
    rows = rows_of(charts.growth(points, 0.3, LIGHT), "what")
    assert {row["what"] for row in rows} == {"sampled mass (probability)"}
    assert "unknown" in document.growth_picture(points, 0.1).alt


# ---------------------------------------------------------------------------- in words


def test_every_chart_says_its_finding_in_words():
    inspection = INSPECTIONS[2]
    top, limit = inspection.clusters[0], inspection.verdict.rule.value
    assert inspection.compared_doubt < limit and inspection.samples_needed is not None
    assert document.doubt(inspection).alt == (
        f"The doubt is {inspection.compared_doubt:.3f} nats by M.I., "
        f"{no_more(inspection.certified_bound)} of them certified; that is below λ = {limit:.3f}, "
        "but does not decide here."
    )
    assert document.clusters(inspection).alt == (
        f"2 different answers; the likeliest, “{top.text}”, has {top.mass:.0%} of all "
        "probability, and < 0.1% was not found."
    )
    alone = document.clusters(run(Request(QUERY, 3), knows(1)))
    assert "has > 99.9% of all probability, and < 0.1% was not found." in alone.alt
    points = growth(inspection.recording)
    assert document.growth_picture(points, 0.1).alt == (
        f"With k = 6 the certified lower bound is {no_more(points[-1].certified, 2)} nats and the "
        f"sampled mass {points[-1].sampled_mass:.1%}."
    )


# ------------------------------------------------------------------------ hostile texts


@pytest.fixture(scope="module")
def hostile():
    n = len(HOSTILE)
    model = TableModel(HOSTILE, falling(n), 0.8 * np.eye(n) + 0.2 * falling(n))
    inspection = run(Request(QUERY, 300, 2.0), model, Reading("ratio", 1.0))
    assert {cluster.text for cluster in inspection.clusters} == set(HOSTILE) - {""}
    return inspection


def test_hostile_texts_are_data_and_nothing_else(hostile):
    expected = set(filter(None, HOSTILE))
    rows = rows_of(matrices.clusters(hostile, LIGHT), "mass")
    assert {row["answer"] for row in rows} == expected | {matrices.NOT_FOUND}
    for which in matrices.MATRICES:
        chart = matrices.matrix(hostile, which, LIGHT)
        assert {row["first"] for row in rows_of(chart, "first")} == expected
        outside = json.dumps(spec_of(chart) | {"datasets": None}, ensure_ascii=False)
        assert not any(text in outside for text in expected)


def test_hostile_texts_can_be_drawn(hostile):
    for chart in (matrices.clusters(hostile, LIGHT), matrices.matrix(hostile, "joint", DARK)):
        svg = export.to_svg(chart).decode("utf-8")
        assert only_text(svg) and "leak.png" in svg and "&lt;script" in svg
