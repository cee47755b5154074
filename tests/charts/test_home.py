"""The home page's pictures: valid in both themes, and they say what their numbers say."""

import functools
import json
import re

import numpy as np
import pytest

from core.charts import home as charts
from core.charts.theme import DARK, LIGHT
from core.studies.amplification.curve import percent
from core.studies.home import CONTRADICTED, MEASURES, SHORT, Doubted, Turned
from core.studies.inspection.inspection import run
from core.studies.inspection.request import Request
from tests.charts.drawing import check, drawn, rows_of, spec_of, texts
from tests.fakes import QUERY, TableModel, falling, knows
from tests.hostile import ANY_TEXTS

TURNED = [
    Turned("Known", *CONTRADICTED["Known"], 0.97),
    Turned("Half known", *CONTRADICTED["Half known"], 0.2),
]
DOUBTED = [  # well answered, badly answered, well withheld, badly withheld
    Doubted("Known", 0.1, 0.3, True),
    Doubted("Half known", 0.2, 0.3, False),
    Doubted("Unknown", 1.25, 0.3, False),
    Doubted("Many answers", 2.0, 0.3, True),
]


def inspection_of(answers, first=None):
    first = falling(len(answers)) if first is None else np.asarray(first)
    return run(Request(QUERY, 200), TableModel(answers, first, np.tile(first, (len(first), 1))))


FEW = inspection_of(["Banana", "Lemon", "Mango"])
MANY = run(Request(QUERY, 200), knows(20))
STRANGE = inspection_of(ANY_TEXTS)


@functools.cache
def drawings(palette=LIGHT):
    return {
        "answers, few": charts.answers(FEW, palette),
        "turned": charts.turned(TURNED, palette),
        **{
            f"doubts, {measure}": charts.doubts(DOUBTED, measure, 2.0, palette)
            for measure in MEASURES
        },
    }


# --------------------------------------------------------------------------- every chart


def test_every_chart_is_valid_finite_drawn_and_fetches_nothing():
    check(drawings(), LIGHT)
    check({"many": charts.answers(MANY, LIGHT), "strange": charts.answers(STRANGE, LIGHT)}, LIGHT)
    check(drawings(DARK), DARK)


# ------------------------------------------------------------------------- what it says


@pytest.mark.parametrize("inspection", [FEW, MANY, STRANGE], ids=["few", "many", "strange"])
def test_answers_are_the_likeliest_clusters_and_the_rest_in_one_bar(inspection):
    rows = rows_of(charts.answers(inspection, LIGHT), "probability")
    *said, others = sorted(rows, key=lambda row: row["order"])
    likeliest = sorted(inspection.clusters, key=lambda cluster: -cluster.mass)
    assert len(said) == min(len(likeliest), charts.MOST_ANSWERS)
    for row, cluster in zip(said, likeliest, strict=False):
        assert row["answer"] == (cluster.text or "(no text)")
        assert row["probability"] == pytest.approx(cluster.mass)
    assert others["answer"] == charts.OTHERS
    assert others["probability"] >= 0
    assert sum(row["probability"] for row in rows) == pytest.approx(1)


def test_the_rest_is_not_drawn_in_the_colour_of_an_answer():
    spec = spec_of(charts.answers(FEW, LIGHT))
    colour = spec["layer"][0]["encoding"]["color"]
    assert f"=== {len(FEW.clusters)}" in json.dumps(colour)
    assert {colour["value"], colour["condition"]["value"]} == {LIGHT.primary, LIGHT.grid}


def test_the_answers_are_said_in_words():
    said = ", ".join(f"{cluster.text} {percent(cluster.mass)}" for cluster in FEW.clusters)
    assert charts.answers_alt(FEW) == (
        f"Asked “{QUERY}”, the model answers: {said}, {charts.OTHERS} less than 0.1%."
    )


@pytest.mark.parametrize(
    ("known", "said", "others"),
    [(0.998, "99.8%", "0.2%"), (0.9999, ">99.9%", "<0.1%")],
)
def test_what_is_nearly_certain_is_not_called_certain(known, said, others):
    almost = inspection_of(["Paris", "Lyon"], [known, 1 - known])
    written = {row["written"] for row in rows_of(charts.answers(almost, LIGHT), "written")}
    assert {said, others} <= written <= {said, others, "<0.1%"}
    picture = texts(drawn(charts.answers(almost, LIGHT)))
    assert said in picture and others in picture
    assert " 100%" not in charts.answers_alt(almost)
    assert " 0%" not in charts.answers_alt(almost)


def test_every_letter_can_be_read_from_afar():
    for name, chart in drawings().items():
        sizes = re.findall(r'font-size="([\d.]+)px"', drawn(chart))
        assert sizes and min(map(float, sizes)) >= 15, name


def test_a_name_wider_than_its_part_is_left_out():
    narrow = charts.turned(TURNED, LIGHT).properties(width=60)
    wide = charts.turned(TURNED, LIGHT).properties(width=600)
    hidden = re.compile(r'opacity="0"[^>]*>Judi Dench')
    assert hidden.search(drawn(narrow)) and not hidden.search(drawn(wide))


# ------------------------------------------------------------------------------- turned


def test_the_two_answers_of_a_question_share_one_bar():
    parts = {}
    for row in rows_of(charts.turned(TURNED, LIGHT), "share"):
        parts[row["question"], row["part"]] = row  # the labels repeat the wide ones
    assert len(parts) == 2 * len(TURNED)
    for case in TURNED:
        right = parts[SHORT[case.example], "the right answer"]
        told = parts[SHORT[case.example], "the answer in the prompt"]
        assert (right["answer"], told["answer"]) == (case.right, case.told)
        assert (right["start"], right["end"]) == (0, case.share)
        assert (told["start"], told["end"]) == (case.share, 1)
        assert right["share"] + told["share"] == pytest.approx(1)


def test_a_part_is_named_in_its_middle_where_its_name_has_room():
    labels = rows_of(charts.turned(TURNED, LIGHT), "middle")
    assert {row["answer"]: row["middle"] for row in labels} == pytest.approx(
        {"Paris": 0.485, "Judi Dench": 0.6}
    )


@pytest.mark.parametrize("share", [0.0, 0.25, 0.5, 1.0])
def test_a_share_at_its_limits_can_be_drawn(share):
    case = Turned("Known", "Paris", "Lyon", share)
    assert rows_of(charts.turned([case], LIGHT), "middle")
    assert f"Paris keeps {percent(share)} against Lyon" in charts.turned_alt([case])


def test_what_became_of_the_answers_is_said_in_words():
    assert charts.turned_alt(TURNED) == (
        "Capital of France: Paris keeps 97.0% against Lyon; "
        "M in Skyfall: Ralph Fiennes keeps 20.0% against Judi Dench"
    )


# ------------------------------------------------------------------------------- doubts


def test_a_doubt_is_drawn_with_its_decision_and_whether_that_was_good():
    chart = charts.doubts(DOUBTED, "Entropy", 2.0, LIGHT)
    words = rows_of(chart, "label")
    assert [(row["question"], row["nats"], row["label"], row["decision"]) for row in words] == [
        ("Capital of France", 0.1, "answers", "decides well"),
        ("M in Skyfall", 0.2, "answers: bad", "decides badly"),
        ("Capital of Zorvania", 1.25, "abstains", "decides well"),
        ("A yellow fruit", 2.0, "abstains: bad", "decides badly"),
    ]
    bars = [row for row in rows_of(chart, "nats") if "label" not in row]
    assert bars == [{k: v for k, v in row.items() if k != "label"} for row in words]
    assert rows_of(chart, "λ") == [{"λ": 0.3}]


def test_both_measures_are_drawn_to_one_scale_with_room_for_the_words():
    domains = []
    for measure in MEASURES:
        spec = spec_of(charts.doubts(DOUBTED, measure, 5.0, LIGHT))
        axes = [layer["encoding"]["x"] for layer in spec["layer"]]
        (domain,) = {tuple(x["scale"]["domain"]) for x in axes if "scale" in x}
        domains.append(domain)
        assert f"{measure.lower()} in nats" in {x.get("title") for x in axes}
    assert domains[0] == domains[1]
    assert domains[0][0] == 0 and domains[0][1] > 5.0


def test_every_doubt_is_said_in_words():
    assert charts.doubts_alt(DOUBTED, "Entropy") == (
        "Entropy, threshold 0.30 nats: "
        "Capital of France 0.10 nats, answers, decides well; "
        "M in Skyfall 0.20 nats, answers, decides badly; "
        "Capital of Zorvania 1.25 nats, abstains, decides well; "
        "A yellow fruit 2.00 nats, abstains, decides badly."
    )
