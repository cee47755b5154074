"""The home page's pictures: valid in both themes, and they say what their numbers say."""

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


def drawings(palette=LIGHT):
    return {
        "answers, few": charts.answers(FEW, palette),
        "answers, many": charts.answers(MANY, palette),
        "answers, strange": charts.answers(STRANGE, palette),
        "turned": charts.turned(TURNED, palette),
        **{
            f"doubts, {measure}": charts.doubts(DOUBTED, measure, 2.0, palette)
            for measure in MEASURES
        },
    }


# --------------------------------------------------------------------------- every chart


def test_every_chart_is_valid_finite_drawn_and_fetches_nothing():
    check(drawings(), LIGHT)


def test_every_kind_of_chart_has_a_dark_palette():
    names = ["answers, few", "turned", "doubts, Entropy"]
    check({name: drawings(DARK)[name] for name in names}, DARK)


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
    assert sum(row["probability"] for row in rows) == pytest.approx(1)


def test_nothing_else_is_left_when_all_was_sampled():
    rows = rows_of(charts.answers(FEW, LIGHT), "probability")
    (others,) = (row for row in rows if row["answer"] == charts.OTHERS)
    assert 0 <= others["probability"] < 1e-9


def test_the_rest_is_not_drawn_in_the_colour_of_an_answer():
    spec = spec_of(charts.answers(FEW, LIGHT))
    colour = spec["layer"][0]["encoding"]["color"]
    assert f"=== {len(FEW.clusters)}" in json.dumps(colour)
    assert {colour["value"], colour["condition"]["value"]} == {LIGHT.primary, LIGHT.grid}


def test_the_answers_are_said_in_words():
    text = charts.answers_alt(FEW)
    assert QUERY in text
    for cluster in FEW.clusters:
        assert f"{cluster.text} {percent(cluster.mass)}" in text
    assert f"{charts.OTHERS} less than 0.1%" in text


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


def test_a_part_is_named_where_its_name_has_room():
    labels = rows_of(charts.turned(TURNED, LIGHT), "middle")
    assert {row["answer"] for row in labels} == {"Paris", "Judi Dench"}
    for row in labels:
        assert row["middle"] == pytest.approx((row["start"] + row["end"]) / 2)


@pytest.mark.parametrize("share", [0.0, 0.25, 0.5, 1.0])
def test_a_share_at_its_limits_can_be_drawn(share):
    case = Turned("Known", "Paris", "Lyon", share)
    chart = charts.turned([case], LIGHT)
    spec_of(chart)
    assert rows_of(chart, "middle")
    assert f"Paris keeps {percent(share)} against Lyon" in charts.turned_alt([case])


def test_what_became_of_the_answers_is_said_in_words():
    assert charts.turned_alt(TURNED) == (
        "Capital of France: Paris keeps 97.0% against Lyon; "
        "M in Skyfall: Ralph Fiennes keeps 20.0% against Judi Dench"
    )


# ------------------------------------------------------------------------------- doubts


def test_a_doubt_is_drawn_with_its_decision_and_whether_that_was_good():
    rows = rows_of(charts.doubts(DOUBTED, "Entropy", 2.0, LIGHT), "label")
    assert [(row["question"], row["nats"]) for row in rows] == [
        (SHORT[case.example], case.value) for case in DOUBTED
    ]
    assert [(row["label"], row["decision"]) for row in rows] == [
        ("answers", "decides well"),
        ("answers: bad", "decides badly"),
        ("abstains", "decides well"),
        ("abstains: bad", "decides badly"),
    ]


def test_the_bars_have_the_same_rows_as_their_words():
    chart = charts.doubts(DOUBTED, "Entropy", 2.0, LIGHT)
    bars = [row for row in rows_of(chart, "nats") if "label" not in row]
    words = [{k: v for k, v in row.items() if k != "label"} for row in rows_of(chart, "label")]
    assert bars == words


def test_the_line_stands_at_the_threshold():
    assert rows_of(charts.doubts(DOUBTED, "Entropy", 2.0, LIGHT), "λ") == [{"λ": 0.3}]


def test_both_measures_are_drawn_to_one_scale_with_room_for_the_words():
    domains = [
        layer["encoding"]["x"]["scale"]["domain"]
        for measure in MEASURES
        for layer in spec_of(charts.doubts(DOUBTED, measure, 5.0, LIGHT))["layer"]
        if "scale" in layer["encoding"]["x"]
    ]
    assert len(domains) >= 2
    assert all(domain == domains[0] for domain in domains)
    assert domains[0][0] == 0 and domains[0][1] > 5.0


@pytest.mark.parametrize("measure", MEASURES)
def test_the_axis_names_the_measure_and_its_unit(measure):
    spec = json.dumps(spec_of(charts.doubts(DOUBTED, measure, 2.0, LIGHT)))
    assert f"{measure.lower()} in nats" in spec


def test_every_doubt_is_said_in_words():
    text = charts.doubts_alt(DOUBTED, "Entropy")
    assert text.startswith("Entropy, threshold 0.30 nats: ")
    assert "Capital of France 0.10 nats, answers, decides well" in text
    assert "M in Skyfall 0.20 nats, answers, decides badly" in text
    assert "Capital of Zorvania 1.25 nats, abstains, decides well" in text
    assert "A yellow fruit 2.00 nats, abstains, decides badly" in text
