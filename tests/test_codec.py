"""Files that somebody edited: the documented sentence comes out, or a result that can be shown."""

import copy
import json
import math

import pytest

from core.abstention import policy
from core.abstention.policy import PolicyError
from core.charts import inspection as charts
from core.charts.amplification import curves as curve_charts
from core.charts.theme import LIGHT
from core.cli import _curve, _report
from core.studies.amplification import curve
from core.studies.amplification import serialise as serialise_curves
from core.studies.costs import price, spent
from core.studies.inspection import serialise as serialise_inspection
from core.studies.inspection.inspection import run
from core.studies.inspection.request import InvalidRequestError, Reading, Request
from core.studies.inspection.stopping import growth
from core.studies.inspection.verdict import default_policies
from tests.fakes import QUERY, copies
from tests.judging import fruit
from tests.limited import Limited
from tests.turning import Turning

HUGE = 10**400
LEAVES = [None, "x" * 1000, "\ud83d", -1, 0, HUGE, 1e308, math.inf, math.nan, True, [], {}]


def places(found, path=()):
    """Yield the path of everything in parsed JSON; of a list its first entry and its last."""
    if path:
        yield path
    items = found.items() if isinstance(found, dict) else ()
    if isinstance(found, list):
        items = [(i, found[i]) for i in sorted({0, len(found) - 1}) if found]
    for key, value in items:
        yield from places(value, (*path, key))


def edited(found):
    """Yield (path, value, text) of a file in which one thing was replaced, or taken out."""
    for path in places(found):
        for value in [*LEAVES, "away"]:
            changed = copy.deepcopy(found)
            inside = changed
            for key in path[:-1]:
                inside = inside[key]
            if value == "away":
                del inside[path[-1]]
            else:
                inside[path[-1]] = value
            yield path, value, json.dumps(changed)


def refused(read, text, error):
    """Return what a file holds; None if it is refused, with a sentence that can be shown."""
    try:
        return read(text)
    except error as refusal:
        sentence = str(refusal)
        assert sentence.endswith(".") and sentence.encode() and len(sentence) < 600, sentence
        return None


def shown(inspection, *, charted=True):
    """Whatever the page and the command line make of an inspection."""
    serialise_inspection.to_csv_bytes(inspection)
    assert json.loads(serialise_inspection.to_json(inspection), parse_constant=pytest.fail)
    _report(inspection).encode()
    recording = inspection.recording
    assert math.isfinite(sum(call.seconds for call in recording.calls))
    if recording.used:
        assert math.isfinite(price(recording.used, 1e6, 1e6)) and spent(recording.used)
    if charted:
        charts.doubt(inspection, LIGHT).to_dict()
        charts.clusters(inspection, LIGHT).to_dict()
        growth(recording, inspection.reading)
    charts.matrix_note(inspection)
    return recording.pairs, recording.complete, inspection.outcome


RUNGS = {
    "exact": {"scores_given_text": True},
    "counted": {},
}
READ = ("format", "version", "verdict", "recording")


@pytest.mark.parametrize("abilities", RUNGS.values(), ids=RUNGS)
def test_an_inspection_edited_by_hand_is_refused_or_can_be_shown(abilities):
    made = run(Request(QUERY, 4), Limited(copies(3, share=0.4), **abilities), Reading("ratio"))
    whole = json.loads(serialise_inspection.to_json(made))
    whole["recording"]["used"] = {"requests": 3, "prompt_tokens": 10, "response_tokens": 5}
    found = {name: whole[name] for name in whole if name in READ or name.startswith("reading_")}
    assert shown(serialise_inspection.from_json(json.dumps(found)))
    drawn = set()
    for path, _, text in edited(found):
        opened = refused(serialise_inspection.from_json, text, InvalidRequestError)
        if opened is not None:
            shown(opened, charted=path[:2] not in drawn)  # a chart takes long
            drawn.add(path[:2])


def test_a_judged_inspection_edited_by_hand_is_refused_or_can_be_shown():
    request = Request(QUERY, 6, judged=True)
    whole = json.loads(serialise_inspection.to_json(run(request, fruit(), Reading("judge", 0.5))))
    for path, _, text in edited({"recording": whole["recording"]}):
        if "judged" in path:
            changed = json.dumps(whole | json.loads(text))
            opened = refused(serialise_inspection.from_json, changed, InvalidRequestError)
            if opened is not None:
                shown(opened)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("calls", 0, "sequences"), "x"),
        (("calls", 0, "sequences"), HUGE),
        (("calls", 0, "seconds"), None),
        (("calls", 0, "seconds"), 1e999),
        (("calls", 0, "purpose"), ["x"]),
        (("used",), {"requests": -1, "prompt_tokens": HUGE, "response_tokens": 0}),
        (("model",), 5),
        (("samples", 0, "complete"), "yes"),
    ],
)
def test_what_no_recording_holds_is_refused(path, value):
    found = json.loads(serialise_inspection.to_json(run(Request(QUERY, 6), copies(3))))
    inside = found["recording"]
    for key in path[:-1]:
        inside = inside[key]
    inside[path[-1]] = value
    with pytest.raises(InvalidRequestError, match="was changed"):
        serialise_inspection.from_json(json.dumps(found))


@pytest.mark.parametrize("abilities", [RUNGS["exact"], RUNGS["counted"]], ids=["exact", "counted"])
def test_curves_edited_by_hand_are_refused_or_can_be_shown(abilities):
    model = Limited(Turning(), **abilities)
    case = curve.Case(QUERY, "one", "two")
    found = json.loads(serialise_curves.all_to_json([curve.amplify(case, model, [0, 1, 5])]))
    found[0]["used"] = {"requests": 3, "prompt_tokens": 10, "response_tokens": 5}
    charted = set()
    for path, _, text in edited(found):
        drawn = refused(serialise_curves.all_from_json, text, InvalidRequestError)
        for one in drawn or []:
            assert drawn
            assert one.points[-1].repetitions <= curve.MOST_REPETITIONS
            _curve(one).encode()
            curve_charts.described(one).encode()
            assert json.loads(serialise_curves.all_to_json(drawn), parse_constant=pytest.fail)
            serialise_curves.to_csv_bytes(drawn)
            serialise_curves.to_table(drawn)
            for scale in curve_charts.SCALES if path[:2] not in charted else ():
                curve_charts.curves(drawn, scale, LIGHT).to_dict()
                curve_charts.probabilities(drawn, scale, LIGHT).to_dict()
            charted.add(path[:2])  # a chart takes long
            curve_charts.probabilities_alt(drawn)
            if one.used:
                assert math.isfinite(price(one.used, 1e6, 1e6))


def test_policies_edited_by_hand_are_refused_or_can_be_shown():
    first = next(iter(default_policies().values()))
    for _, _, text in edited(json.loads(policy.to_json(first))):
        opened = refused(policy.from_json, text, PolicyError)
        if opened is not None:
            assert json.loads(policy.to_json(opened), parse_constant=pytest.fail)
            opened.sentence.encode()
            assert opened.where
