"""Saved inspections: recomputed offline, refused with a sentence, safe in a spreadsheet."""

import functools
import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from core.charts import inspection as charts
from core.charts import matrices
from core.charts.theme import LIGHT
from core.cli import _report as report
from core.reports.inspection.words import outcome
from core.store.results import MAX_RESULT_BYTES
from core.studies.costs import price, spending
from core.studies.inspection import recorder, serialise
from core.studies.inspection.certificates import default_policy
from core.studies.inspection.inspection import read, run
from core.studies.inspection.recorder import record
from core.studies.inspection.recording import Estimator
from core.studies.inspection.request import InvalidRequestError, Reading, Request, Sampling
from core.studies.inspection.stopping_rule import growth
from core.studies.inspection.verdict import Decision
from core.uncertainty.scores import SCORES
from tests.csv_files import records_in
from tests.fakes import QUERY, Limited, Searched, TableModel, copies, falling, fruit, words
from tests.hostile import ANY_TEXTS, HUGE, edited, opened, put, remove

VERSION_1 = Path(__file__).parent / "data" / "inspection-version-1.json"

CONTRACT = {
    *("query", "model", "estimator", "seed", "responses", "clusters", "joint", "product"),
    *("contributions", "sampled_mass", "certified_lower_bound", "scores", "verdict", "calls"),
    "taught",
}


@pytest.fixture(scope="module")
def inspection():
    return run(Request(QUERY, 20, 0.7, seed=3), copies(12), Reading("ratio", 0.3, 0.01, 0.02))


@pytest.fixture
def text(inspection):
    return serialise.to_json(inspection)


def broken(text, change):
    """The saved inspection after `change` was done to it."""
    data = json.loads(text)
    change(data)
    return json.dumps(data)


# ------------------------------------------------------------------------- the way back


def test_numbers_are_computed_from_the_recording_and_not_read(text):
    def lie(data):
        data["sampled_mass"] = 0.0
        data["scores"]["mutual_information"]["value"] = 99.0
        data["verdict"]["answer"] = "something else"

    assert serialise.to_json(serialise.from_json(broken(text, lie).encode())) == text


def test_it_holds_what_the_contract_names(inspection, text):
    data = json.loads(text)
    assert set(data) >= CONTRACT
    assert set(data["scores"]) == set(SCORES)
    assert all({"value", "doubt"} <= set(score) for score in data["scores"].values())
    m, r = len(inspection.clusters), len(inspection.recording.texts)
    for name in ("joint", "product", "contributions"):
        assert [len(row) for row in data[name]] == [m] * m
    assert len(data["responses"]) == r
    assert sum(response["count"] for response in data["responses"]) == 20
    assert data["calls"]["number"] == len(data["calls"]["list"]) == len(inspection.recording.calls)
    assert data["certified_lower_bound"] == inspection.certified_bound


def test_one_that_was_saved_with_a_control_of_direction_still_opens(text):
    first = json.loads(text)["recording"]["texts"][0]
    turned = text.replace(json.dumps(first), json.dumps(f"\u202e{first}"))
    assert turned != text
    assert serialise.to_json(serialise.from_json(turned)) == text


def test_hostile_texts_survive_the_journey():
    first = falling(len(ANY_TEXTS))
    seen = run(Request(QUERY, 300), TableModel(ANY_TEXTS, first, [first] * len(first)))
    assert set(seen.recording.texts) == set(ANY_TEXTS) - {""}
    back = serialise.from_json(serialise.to_json(seen))
    assert back.recording.texts == seen.recording.texts
    assert serialise.to_dict(back) == serialise.to_dict(seen)


# ------------------------------------------------------------------------------ refused


def rename(data, text):
    """Give the first text another name wherever it stands in the recording."""
    recording = data["recording"]
    old, recording["texts"][0] = recording["texts"][0], text
    for sample in recording["samples"]:
        sample["text"] = text if sample["text"] == old else sample["text"]


USED = ("requests", "prompt_tokens", "response_tokens")
BROKEN = {
    "no format": remove("format"),
    "another format": put("other.format", "format"),
    "no version": remove("version"),
    "version as text": put("one", "version"),
    "no recording": remove("recording"),
    "recording as a list": put([], "recording"),
    "no request": remove("recording", "request"),
    "unknown request field": put(1, "recording", "request", "extra"),
    "another k": put(21, "recording", "request", "samples"),
    "no samples": put([], "recording", "samples"),
    "sample without text": remove("recording", "samples", 0, "text"),
    "sample with another text": put("never said", "recording", "samples", 0, "text"),
    "texts in another order": lambda data: data["recording"]["texts"].reverse(),
    "a text that is none": put(5, "recording", "texts", 0),
    "a row too few": remove("recording", "log_likelihoods", 0),
    "ragged rows": remove("recording", "log_likelihoods", 1, 0),
    "a likelihood above 1": put(3.0, "recording", "log_likelihoods", 0, 0),
    "a likelihood that is none": put(float("nan"), "recording", "log_likelihoods", 1, 1),
    "a likelihood as text": put("much", "recording", "log_likelihoods", 1, 1),
    "a likelihood beyond all floats": put(HUGE, "recording", "log_likelihoods", 1, 1),
    "a verification that is none": put(float("nan"), "recording", "verification", 0, 0),
    "too few verifications": remove("recording", "verification", 0),
    "a greedy likelihood beyond all floats": put(-(HUGE), "recording", "greedy_log_likelihood"),
    "no reading": remove("reading_similarity"),
    "a text that is no Unicode": lambda data: rename(data, "\ud800"),
    "a greedy text that is none": put(5, "recording", "greedy", "text"),
    "a number of sequences that is none": put("x", "recording", "calls", 0, "sequences"),
    "more sequences than there can be": put(HUGE, "recording", "calls", 0, "sequences"),
    "a call of no duration": put(None, "recording", "calls", 0, "seconds"),
    "a call without end": put(math.inf, "recording", "calls", 0, "seconds"),
    "a call for a list": put(["x"], "recording", "calls", 0, "purpose"),
    "tokens that are none": put(dict.fromkeys(USED, -1), "recording", "used"),
    "a model that is none": put(5, "recording", "model"),
    "a sample that is complete in words": put("yes", "recording", "samples", 0, "complete"),
}


def test_a_text_may_have_another_name(text):
    renamed = serialise.from_json(broken(text, lambda data: rename(data, "fine")))
    assert renamed.recording.texts[0] == "fine"


@pytest.mark.parametrize("change", BROKEN.values(), ids=BROKEN)
def test_what_was_changed_is_refused_with_a_sentence(text, change):
    with pytest.raises(InvalidRequestError) as caught:
        serialise.from_json(broken(text, change))
    assert str(caught.value).endswith(".")


@pytest.mark.parametrize(
    "text", ["", "{", "null", "5", "[]", "{}", '"text"', b"\xff\xfe\x00", b"\x89PNG", "[" * 100_000]
)
def test_what_is_no_inspection_is_refused_with_a_sentence(text):
    with pytest.raises(InvalidRequestError, match=r"not an inspection.*\.$") as caught:
        serialise.from_json(text)
    assert len(str(caught.value)) < 500


def test_a_file_that_is_too_large_for_an_inspection_is_not_read(text):
    with pytest.raises(InvalidRequestError, match="more than 20,000,000 bytes"):
        serialise.from_json(text + " " * MAX_RESULT_BYTES)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (put(7, "reading_threshold"), "threshold τ"),
        (put("vibes", "reading_similarity"), "no similarity"),
        (put(0, "recording", "request", "temperature"), "temperature"),
        (put("", "recording", "request", "query"), "no question"),
    ],
)
def test_limits_hold_for_files_too(text, change, says):
    with pytest.raises(InvalidRequestError, match=says):
        serialise.from_json(broken(text, change))


def test_a_newer_file_asks_for_an_update(text):
    with pytest.raises(InvalidRequestError, match=r"newer Believe.*Update"):
        serialise.from_json(broken(text, put(serialise.VERSION + 1, "version")))


# ---------------------------------------------------------------------------------- CSV


def csv_of(inspection):
    return records_in(serialise.to_csv_bytes(inspection))


def test_the_csv_has_one_row_a_text_and_is_disarmed():
    texts = ["=HYPERLINK(1)", "-5-1", "plain, with comma", "@x"]
    seen = run(Request(QUERY, 100), TableModel(texts, falling(4), [falling(4)] * 4))
    expected = ["'=HYPERLINK(1)", "'-5-1", "plain, with comma", "'@x"]
    table = csv_of(seen)
    assert [row["response"] for row in table] == [row["cluster"] for row in table] == expected
    assert {row["query"] for row in table} == {QUERY}


# ----------------------------------------------------------------------- rungs of the ladder

RUNGS = {
    "exact": {"scores_given_text": True},
    "chained": {"own_log_likelihoods": True, "next_token": True},
    "chained, opinions": {"own_log_likelihoods": True},
    "counted": {"next_token": True},
    "counted, opinions": {},
}
rungs = pytest.mark.parametrize("abilities", RUNGS.values(), ids=RUNGS)


def limited(**abilities):
    return Limited(copies(3, share=0.4), **abilities)


@functools.cache
def sampled(**abilities):
    """An inspection in which every second answer came as a first one, too."""
    return run(Request(QUERY, 100, 1.0, seed=3), limited(**abilities), Reading("ratio", 0.9, 0.01))


@rungs
def test_recordings_come_back_as_they_were(abilities):
    seen = sampled(**abilities)
    text = serialise.to_json(seen)
    assert json.loads(text, parse_constant=pytest.fail)  # NaN is no JSON
    back = serialise.from_json(text)
    assert serialise.to_dict(back) == serialise.to_dict(seen)
    for name in ("scores", "verdict", "reading", "clusters", "pipeline"):
        assert getattr(back, name) == getattr(seen, name), name
    ours, theirs = seen.recording, back.recording
    for name in ("estimator", "seconds", "samples", "texts", "greedy", "greedy_log_likelihood"):
        assert getattr(theirs, name) == getattr(ours, name), name
    for name in ("verification", "log_likelihoods"):
        np.testing.assert_array_equal(getattr(theirs, name), getattr(ours, name), strict=True)


def test_what_had_to_be_known_of_the_answers_stays_with_them_and_is_said():
    notes = ("It takes no temperature.", "![](http://x.example/leak.png)")
    model = fruit()
    model.capabilities = replace(model.capabilities, notes=notes)
    found = run(Request(QUERY, 10, seed=3), model)
    text = serialise.to_json(found)
    assert json.loads(text)["notes"] == [*notes]
    again = serialise.from_json(text)
    assert again.recording.notes == notes and serialise.to_json(again) == text
    assert all(note in report(again, False, False).splitlines() for note in notes)
    older = serialise.from_json(broken(text, lambda data: data["recording"].pop("notes")))
    assert older.recording.notes == () and older.scores == found.scores
    with pytest.raises(InvalidRequestError):
        serialise.from_json(broken(text, put([7], "recording", "notes")))


def test_how_the_question_was_read_stays_with_it_and_older_files_were_read_as_typed():
    model = fruit()
    model.reads = lambda question: question if question == QUERY else QUERY
    found = run(Request("WHICH of them?!", 10, seed=3), model)
    text = serialise.to_json(found)
    assert json.loads(text)["recording"]["read_as"] == QUERY
    again = serialise.from_json(text)
    assert (again.recording.read_as, again.recording.question) == (QUERY, QUERY)
    assert again.query == "WHICH of them?!" and serialise.to_json(again) == text
    assert again.cell(0, 0).prompt == found.cell(0, 0).prompt
    older = serialise.from_json(broken(text, lambda data: data["recording"].pop("read_as")))
    assert (older.recording.read_as, older.recording.question) == (None, "WHICH of them?!")
    with pytest.raises(InvalidRequestError):
        serialise.from_json(broken(text, put(7, "recording", "read_as")))


@rungs
def test_a_recording_that_came_back_can_grow(abilities):
    back = serialise.from_json(serialise.to_json(sampled(**abilities))).recording
    larger = Request(QUERY, 130, 1.0, seed=3)
    model = limited(**abilities)
    grown = record(larger, model, previous=back)
    whole = record(larger, limited(**abilities))
    assert (grown.samples, grown.seconds) == (whole.samples, whole.seconds)
    np.testing.assert_array_equal(grown.log_likelihoods, whole.log_likelihoods)
    assert max(a.first for a in model.asked) >= 1  # the series went on


@pytest.mark.parametrize(
    ("rung", "estimator"),
    [("exact", Estimator.EXACT), ("chained", Estimator.CHAINED), ("counted", Estimator.COUNTED)],
)
def test_the_estimator_stands_where_the_scores_stand(rung, estimator):
    data = json.loads(serialise.to_json(sampled(**RUNGS[rung])))
    assert data["estimator"] == data["recording"]["estimator"] == estimator.value
    assert (data["certified_lower_bound"] is None) == (estimator is not Estimator.EXACT)
    greedy = data["scores"]["greedy_probability"]
    assert (greedy["value"] is None) == (estimator is Estimator.COUNTED)
    assert (greedy["reason"] is None) != (estimator is Estimator.COUNTED)


@rungs
def test_responses_stand_in_the_csv(abilities):
    seen = sampled(**abilities)
    table = csv_of(seen)
    assert [row["response"] for row in table] == list(seen.evidence.responses)
    assert sum(int(row["samples"]) for row in table) == 100
    for row, value in zip(table, seen.evidence.log_marginal, strict=True):
        assert float(row["log_likelihood_nats"]) == pytest.approx(value)


def test_a_text_that_never_came_first_has_no_likelihood_in_the_csv():
    model = TableModel(["answer0", "answer1", "answer2"], [0.6, 0.4, 0.0], [[0.4, 0.3, 0.3]] * 3)
    row = csv_of(run(Request(QUERY, 50), Limited(model)))[-1]
    assert (row["response"], row["samples"], row["log_likelihood_nats"]) == ("answer2", "0", "")


SECONDS = ("recording", "seconds")
BROKEN_SECONDS = {
    "no second answers": remove(*SECONDS),
    "second answers that are none": put(5, *SECONDS),
    "a row too few": remove(*SECONDS, 0),
    "a row too many": lambda data: data["recording"]["seconds"].append([]),
    "an empty row": put([], *SECONDS, 0),
    "a row that is none": put(None, *SECONDS, 1),
    "an answer that is none": put("yes", *SECONDS, 0, 0),
    "an answer without text": remove(*SECONDS, 0, 0, "text"),
    "a text that is none": put(5, *SECONDS, 0, 0, "text"),
    "a text that is no Unicode": put("\ud800", *SECONDS, 0, 0, "text"),
    "more than an answer has": put(1, *SECONDS, 0, 0, "extra"),
    "a likelihood above 1": put(0.5, *SECONDS, 0, 0, "log_likelihood"),
    "a likelihood that is none": put(math.nan, *SECONDS, 0, 0, "log_likelihood"),
    "a likelihood as text": put("much", *SECONDS, 0, 0, "log_likelihood"),
    "a likelihood beyond all floats": put(-(HUGE), *SECONDS, 0, 0, "log_likelihood"),
    "a sample's likelihood above 1": put(0.5, "recording", "samples", 0, "log_likelihood"),
    "an unknown estimator": put("magic", "recording", "estimator"),
    "another estimator": put(Estimator.EXACT.value, "recording", "estimator"),
    "no estimator": remove("recording", "estimator"),
}


@pytest.mark.parametrize("change", BROKEN_SECONDS.values(), ids=BROKEN_SECONDS)
def test_damaged_second_answers_are_refused_with_a_sentence(change):
    text = serialise.to_json(sampled(**RUNGS["chained"]))
    assert serialise.from_json(text)
    with pytest.raises(InvalidRequestError) as caught:
        serialise.from_json(broken(text, change))
    assert str(caught.value).endswith(".")


def test_second_answers_belong_to_no_exact_recording(text):
    answers = [[{"text": "x", "complete": True}]] * len(json.loads(text)["recording"]["texts"])
    with pytest.raises(InvalidRequestError, match="second answers do not fit"):
        serialise.from_json(broken(text, put(answers, *SECONDS)))


# --------------------------------------------------------------------------- earlier versions


def test_a_file_of_version_1_is_still_read():
    """Made by the version before the ladder: it knows no estimator and no second answers."""
    text = VERSION_1.read_text(encoding="utf-8")
    data = json.loads(text)
    assert data["version"] == 1
    assert {"estimator", "seconds"}.isdisjoint(data["recording"])
    seen = serialise.from_json(text)
    assert seen.recording.estimator is Estimator.EXACT
    assert seen.recording.seconds == ()
    again = json.loads(serialise.to_json(seen))
    assert again["version"] == serialise.VERSION == 3
    assert again["verdict"].pop("decision") == Decision.TOO_LITTLE  # it has but four answers
    assert data["verdict"].pop("decision") == Decision.ABSTAIN
    del again["verdict"]["reason"], data["verdict"]["reason"]  # a sentence may change
    assert again["verdict"].pop("threshold") is None  # its policy was of another pipeline
    assert data["verdict"].pop("threshold")["origin"].startswith("Default policy.")
    assert again["verdict"].pop("policy") is None and not again["verdict"].pop("promises")
    assert again["scores"].pop("weighted_doubt")["value"] > 0  # this score is new
    for name in set(data) - {"version", "recording", "calls"}:
        assert again[name] == data[name], name
    recording = data["recording"]
    for response in (*recording["samples"], recording["greedy"]):
        assert response.setdefault("log_likelihood") is None  # this field is new
    recording["request"] |= {
        "judged": False,
        "sampling": Sampling.SHARED,
        "typed": None,
        "answer_tokens": 32,
        "claim": False,
        "system": "",
        "context": "",
    }  # and so are these
    for name, value in recording.items():
        assert again["recording"][name] == value, name


def test_a_promise_that_a_file_states_by_itself_is_not_believed():
    """A λ chosen by hand is read again; what it promised has to come from a policy."""
    data = json.loads(VERSION_1.read_text(encoding="utf-8"))
    forged = {"value": 9.0, "least_mass": 0.0, "origin": "Certified.", "error": 0.001}
    data["verdict"]["threshold"] |= forged
    seen = serialise.from_json(json.dumps(data))
    assert seen.verdict.rule.value == 9.0 and seen.verdict.rule.error is None
    assert not seen.verdict.firm


def test_a_saved_inspection_is_decided_by_its_policy_again():
    model = copies(4, share=0.1)
    made = record(Request(QUERY, 30), model)
    pipeline = read(made).pipeline
    policy = replace(default_policy(), pipeline=pipeline, threshold=9.0, belief=None)
    seen = read(made, policy=policy)
    again = serialise.from_json(serialise.to_json(seen))
    assert again.policy == policy and again.verdict == seen.verdict
    refused = read(made, policy=replace(policy, pipeline=replace(pipeline, samples=99)))
    assert serialise.from_json(serialise.to_json(refused)).refused == refused.refused
    forged = read(made, policy=replace(policy, target_error=0.001))
    with pytest.raises(InvalidRequestError, match=r"promises at most 0\.1% wrong"):
        serialise.from_json(serialise.to_json(forged))


def test_a_recording_of_other_random_numbers_does_not_grow():
    """Version 1 drew from the seed alone: the same seed now draws other answers."""
    seen = serialise.from_json(VERSION_1.read_text(encoding="utf-8"))
    larger = Request(QUERY, 30, 0.7, seed=3)
    with pytest.raises(ValueError, match="can grow"):
        record(larger, copies(4, share=0.5), previous=seen.recording)


# ------------------------------------------------------------------------- edited by hand


def shown(inspection, *, charted=True):
    """Whatever the page and the command line make of an inspection."""
    serialise.to_csv_bytes(inspection)
    assert json.loads(serialise.to_json(inspection), parse_constant=pytest.fail)
    report(inspection, False, False).encode()
    recording = inspection.recording
    assert math.isfinite(sum(call.seconds for call in recording.calls))
    if recording.used:
        assert math.isfinite(price(recording.used, 1e6, 1e6, 1_000_000)) and spending(
            recording.used
        )
    if charted:
        charts.doubt_scale(inspection, (), LIGHT).to_dict(validate=False)
        matrices.clusters(inspection, LIGHT).to_dict(validate=False)
        growth(recording, inspection.reading)
    matrices.matrix_note(inspection)
    return recording.pairs, recording.complete, outcome(inspection)


READ = ("format", "version", "verdict", "recording")


@pytest.mark.parametrize("rung", ["exact", "counted, opinions"])
def test_an_inspection_edited_by_hand_is_refused_or_can_be_shown(rung, monkeypatch):
    monkeypatch.setattr(recorder, "SECONDS", 4)
    made = run(Request(QUERY, 3), limited(**RUNGS[rung]), Reading("ratio"))
    whole = json.loads(serialise.to_json(made))
    whole["recording"]["used"] = {"requests": 3, "prompt_tokens": 10, "response_tokens": 5}
    found = {name: whole[name] for name in whole if name in READ or name.startswith("reading_")}
    assert shown(serialise.from_json(json.dumps(found)))
    drawn = set()
    for path, text in edited(found):
        back = opened(serialise.from_json, text, InvalidRequestError)
        if back is not None:
            shown(back, charted=path[:-1] not in drawn)  # a chart takes long
            drawn.add(path[:-1])


def test_a_search_that_did_not_begin_with_the_likeliest_is_none():
    """Fewer of its answers are those in front; else no prefix could be shown."""
    request = Request(QUERY, 6, sampling=Sampling.LIKELIEST)
    text = serialise.to_json(run(request, Searched(words(6), falling(6), [falling(6)] * 6)))
    assert shown(serialise.from_json(text))
    for place, value in ((1, -2000.0), (0, -50.0), (2, 0.0)):
        change = put(value, "recording", "samples", place, "log_likelihood")
        with pytest.raises(InvalidRequestError, match="order of their likelihoods"):
            serialise.from_json(broken(text, change))


def test_a_judged_inspection_edited_by_hand_is_refused_or_can_be_shown():
    request = Request(QUERY, 6, judged=True)
    whole = json.loads(serialise.to_json(run(request, fruit(), Reading("judge", 0.5))))
    for path, text in edited({"recording": whole["recording"]}):
        if "judged" in path:
            changed = json.dumps(whole | json.loads(text))
            back = opened(serialise.from_json, changed, InvalidRequestError)
            if back is not None:
                shown(back)
