"""Curves in files: as they were, as tables to read, and refused if somebody edited them."""

import json
import math

import pytest

from core.charts.amplification import curves as curve_charts
from core.charts.theme import LIGHT
from core.cli import _curve as report
from core.reports.amplification.document import names, pictures
from core.reports.amplification.words import to_dict, to_json, verdict
from core.studies.amplification.curve import MOST_REPETITIONS, Case, Origin, amplify
from core.studies.amplification.serialise import (
    COLUMNS,
    all_from_json,
    to_columns,
    to_csv_bytes,
    to_table,
)
from core.studies.costs import price
from core.studies.inspection.request import InvalidRequestError
from tests.csv_files import records_in
from tests.fakes import QUERY, Counted, Limited, Turning
from tests.hostile import edited, opened
from tests.studies.amplification.test_curve import CAPITAL, Weighing, curve, evidence, refusal


def test_curves_of_two_spellings_that_were_kept_once_still_open():
    found = amplify(Case("q", "Lemon", "LEMON", kept=True), evidence(1.0), [0, 1])
    assert all_from_json(to_json([found])) == [found]
    assert refusal(lambda: Case("q", "a", "a", kept=True)).startswith("The two answers are the")


def test_how_the_question_was_read_stays_with_the_curve():
    model = evidence(1.0)
    model.reads = str.casefold
    found = amplify(CAPITAL, model, [0, 2])
    text = to_json([found])
    (saved,) = json.loads(text)
    assert (saved["query"], saved["read_as"]) == (CAPITAL.query, CAPITAL.query.casefold())
    assert all_from_json(text) == [found]
    del saved["read_as"]
    (older,) = all_from_json(json.dumps([saved]))
    assert older.read_as is None and older.points == found.points
    with pytest.raises(InvalidRequestError):
        all_from_json(json.dumps([saved | {"read_as": 7}]))


def test_a_curve_as_json():
    found = amplify(Case("Wer?", "Ærø", "Goethe"), evidence(1.0), [0, 3])
    text = to_json([found, found])
    assert "Ærø" in text
    data, again = json.loads(text)
    assert data == again == to_dict(found)
    assert list(data)[:3] == ["query", "answer", "repeated"]
    assert (data["query"], data["answer"], data["repeated"]) == ("Wer?", "Ærø", "Goethe")
    assert (data["model"], data["revision"]) == ("teller", "7")
    assert data["verdict"] == verdict(found)
    assert data["curve"][1] == {
        "repetitions": 3,
        "log_likelihood_answer": -20.0,
        "log_likelihood_repeated": pytest.approx(-20 + math.log(4)),
        "normalised_probability": pytest.approx(1 / 5),
        "lower": None,
        "upper": None,
    }
    assert json.loads(to_json([])) == []


@pytest.mark.parametrize(
    ("model", "source"),
    [
        (evidence(1.0), Origin.SCORED),
        (Counted(lambda t: ["Paris"]), Origin.COUNTED),
        (Weighing([("Paris", 0.5)]), Origin.SAMPLED),
    ],
)
def test_a_curve_says_what_it_is_made_of_and_older_ones_are_understood(model, source):
    found = amplify(CAPITAL, model, [0])
    assert all_from_json(to_json([found])) == [found] and found.source is source
    (saved,) = json.loads(to_json([found]))
    del saved["source"]
    (older,) = all_from_json(json.dumps([saved]))
    # Once, nothing was weighed.
    assert older.source is (Origin.SCORED if source is Origin.SAMPLED else source)
    with pytest.raises(InvalidRequestError):
        all_from_json(json.dumps([saved | {"source": "a guess"}]))


def test_what_was_never_sampled_is_null_and_no_nan():
    found = amplify(CAPITAL, Counted(lambda t: ["Nice"]), [0])
    (saved,) = json.loads(to_json([found]), parse_constant=pytest.fail)
    (point,) = saved["curve"]
    assert {value for name, value in point.items() if name != "repetitions"} == {None}


def test_a_table_has_one_row_a_point():
    found = [amplify(CAPITAL, evidence(1.0), [0, 1, 2]), curve({0: 0.5, 7: None})]
    columns = to_columns(found)
    assert tuple(columns) == COLUMNS
    assert columns["repetitions"] == [0, 1, 2, 0, 7]
    assert columns["query"] == [CAPITAL.query] * 5
    assert columns["normalised_probability"] == [
        p.normalised_probability for a in found for p in a.points
    ]
    assert to_columns([]) == {name: [] for name in COLUMNS}


def test_the_table_to_read_has_headings_and_no_empty_column():
    scored = to_table([amplify(CAPITAL, evidence(1.0), [0, 1])])
    assert list(scored) == [
        "Question",
        "Answer to test",
        "Answer to repeat",
        "Repetitions",
        "ln P(answer to test), nats",
        "ln P(answer to repeat), nats",
        "P(answer to test) of the two",
    ]
    assert scored["ln P(answer to test), nats"] == [-20.0, -20.0]
    counted = to_table([amplify(CAPITAL, Counted(lambda t: ["Paris"]), [0])])
    assert list(counted)[3:] == [
        "Repetitions",
        "P(answer to test) of the two",
        "Interval from",
        "Interval to",
    ]


def test_formulas_are_disarmed_and_gaps_are_empty():
    found = amplify(
        Case("=HYPERLINK(0)", "@sum", "+1"), Counted(lambda t: ["Nice" if t else "@sum"]), [0, 2]
    )
    raw = to_csv_bytes([found, amplify(CAPITAL, evidence(1.0), [0])])
    assert raw.startswith(b"\xef\xbb\xbf")
    first, second, negative = records_in(raw)
    assert tuple(first) == COLUMNS
    texts = tuple(first[name] for name in ("query", "answer", "repeated"))
    assert texts == ("'=HYPERLINK(0)", "'@sum", "'+1")
    assert (first["repetitions"], float(first["normalised_probability"])) == ("0", 1.0)
    assert float(first["lower"]) == pytest.approx(found.points[0].lower)
    assert first["log_likelihood_answer"] == ""
    assert second["repetitions"] == "2"
    assert second["normalised_probability"] == second["lower"] == second["upper"] == ""
    assert float(negative["log_likelihood_answer"]) == -20


# ------------------------------------------------------------------------- edited by hand


@pytest.mark.parametrize("abilities", [{"scores_given_text": True}, {}], ids=["exact", "counted"])
def test_curves_edited_by_hand_are_refused_or_can_be_shown(abilities):
    model = Limited(Turning(), **abilities)
    case = Case(QUERY, "one", "two")
    found = json.loads(to_json([amplify(case, model, [0, 1, 5])]))
    found[0]["used"] = {"requests": 3, "prompt_tokens": 10, "response_tokens": 5}
    charted = set()
    for path, text in edited(found):
        drawn = opened(all_from_json, text, InvalidRequestError)
        for one in drawn or []:
            assert drawn
            assert one.points[-1].repetitions <= MOST_REPETITIONS
            report(one).encode()
            names([one])[0].encode()
            assert json.loads(to_json(drawn), parse_constant=pytest.fail)
            to_csv_bytes(drawn)
            to_table(drawn)
            for scale in curve_charts.SCALES if path[:-1] not in charted else ():
                curve_charts.curves(one, scale, LIGHT).to_dict(validate=False)
                curve_charts.probabilities(one, scale, LIGHT).to_dict(validate=False)
            charted.add(path[:-1])  # a chart takes long
            pictures(drawn, "log")
            if one.used:
                assert math.isfinite(price(one.used, 1e6, 1e6, 1_000_000))
