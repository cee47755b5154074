"""A result out of a file: the same numbers again, or one sentence that says why not."""

import json
from dataclasses import replace

import pytest

from core.abstention.policy import FORMAT, to_json
from core.abstention.policy_files import from_json
from core.codec import encode
from core.reports.amplification import words
from core.reports.inspection.words import outcome, read_outcome
from core.reports.result_files import MARK, MAX_RESULT_BYTES, MOST_CURVES, is_from_file, open_result
from core.store.database import open_database
from core.store.results import SavedResults
from core.studies.amplification import serialise as curves
from core.studies.amplification.curve import Case, amplify
from core.studies.inspection import serialise as inspections
from core.studies.inspection.certificates import default_policy
from core.studies.inspection.inspection import run
from core.studies.inspection.request import InvalidRequestError, Reading, Request
from tests.fakes import QUERY, TableModel, Turning, copies
from tests.hostile import HUGE, SCRIPT

INSPECTION = run(Request(QUERY, 20, 0.7, seed=3), copies(12), Reading("ratio", 0.9, 0.01, 0.02))
CURVE = amplify(Case(QUERY, "one", "two"), Turning(), (0, 1, 5))


def written(inspection=INSPECTION):
    return json.loads(inspections.to_json(inspection))


def again(found):
    """Save in another database what a file holds, and read it there."""
    with open_database("sqlite://") as database:
        results = SavedResults(database, "somebody else")
        about = found.kind, found.query, found.query, found.model, found.payload
        return results.open(results.save(*about, outcome=found.outcome))


def test_an_inspection_has_the_same_numbers_on_another_machine():
    found = open_result(inspections.to_json(INSPECTION).encode())
    assert (found.kind, found.query, found.model) == ("inspection", QUERY, "table")
    assert found.outcome == f"Not verified: {outcome(INSPECTION)}"
    assert read_outcome(outcome(INSPECTION)).stamp and not read_outcome(found.outcome).stamp
    there = inspections.from_json(again(found).payload)
    assert inspections.to_dict(there) == inspections.to_dict(INSPECTION) | {MARK: True}


def test_curves_and_policies_have_the_same_numbers_on_another_machine():
    for content in (words.to_json([CURVE, CURVE]), encode(words.to_dict(CURVE))):
        found = open_result(content.encode())
        first, *_ = curves.all_from_json(again(found).payload)
        assert found.kind == "amplification" and first.points == CURVE.points
        assert words.meaning(CURVE) and not words.meaning(first), "which nobody here checked"
        assert found.outcome == f"Not verified: {words.verdict(CURVE)}"
    policy = default_policy()
    found = open_result(to_json(policy).encode())
    marked = replace(policy, from_file=True)
    assert found.kind == "policy" and from_json(again(found).payload) == marked
    assert found.outcome == f"Not verified: {policy.in_short}"
    # Where it does not hold goes along; that it holds in each, nobody here checked.
    for caution, kept in (("Not for\n“a”.", "Not for “a”."), ("", None), ("x" * 501, "x" * 499)):
        payload = open_result(to_json(replace(policy, caution=caution)).encode()).payload
        own = from_json(payload)
        assert own.caution == kept or (own.caution or "").rstrip("…") == kept
        assert kept is None or f" {own.caution}" in own.sentence


def test_what_came_from_a_file_says_so_and_nothing_else_does():
    policy = to_json(default_policy())
    plain = [inspections.to_json(INSPECTION), words.to_json([CURVE]), policy]
    for payload in plain:
        assert not is_from_file(payload)
        assert is_from_file(open_result(payload.encode()).payload)
        assert is_from_file(open_result(open_result(payload.encode()).payload.encode()).payload)
    for payload in ("", "no JSON: from_file", '{"query": "from_file"}', '["from_file"]'):
        assert not is_from_file(payload)


def test_only_the_recording_counts():
    whole = written() | {"verdict": written()["verdict"] | {"answer": SCRIPT}, "from_file": False}
    whole["scores"]["mutual_information"]["value"] = 99.0
    found = open_result(json.dumps(whole).encode())
    assert is_from_file(found.payload) and SCRIPT not in found.payload
    assert found.outcome.endswith(outcome(INSPECTION))


def test_brackets_in_an_answer_are_no_parts_of_the_file():
    code, alike = [f"{n} {'[{' * 140}" for n in range(40)], [1 / 40] * 40
    inspection = run(Request(QUERY, 100), TableModel(code, alike, [alike] * 40))
    assert inspections.to_json(inspection).count("[") > 30_000
    for encoding in ("utf-8", "utf-16"):  # of which a shell of Windows makes the second
        found = open_result(inspections.to_json(inspection).encode(encoding))
        assert inspections.from_json(found.payload).query == QUERY


NEWER = written() | {"version": inspections.VERSION + 1}
#: What a small file can cost: a matrix of every answer with every other, a comparison of long
#: answers, a page of notes, 500 MB of brackets.
MANY = {"format": inspections.FORMAT, "recording": {"texts": [f"{n}" for n in range(1_001)]}}
LONG_ANSWER = {"format": inspections.FORMAT, "recording": {"seconds": [[{"text": "x" * 2_401}]]}}
NOTES = {"format": inspections.FORMAT, "recording": {"notes": ["x"] * 2_001}}
BRACKETS = b"[" + b"[[]]," * 15_000 + b"0]"
#: The same behind what is half a sign of another, a quotation mark in UTF-8, or an escaped one.
HIDDEN = [f'["≡", {BRACKETS.decode()}]'.encode(e) for e in ("utf-16", "utf-16-le", "utf-32")]
HIDDEN += [b'["\\\\", %s]' % BRACKETS, b'["\\"", %s]' % BRACKETS]
NAMED = [
    written() | {"recording": written()["recording"] | {"model": "x" * 2_001}},
    [curves.to_dict(CURVE) | {"read_as": "x" * 2_001}],
    json.loads(to_json(default_policy())) | {"score": "x" * 2_001},
]
#: What contradicts itself: a share that is not that of its likelihoods, one outside its interval,
#: and 99 errors among 100 answers of which at most 1% were to be wrong.
POINT = curves.to_dict(CURVE)["curve"][0]
OTHER_SHARE = curves.to_dict(CURVE) | {"curve": [POINT | {"normalised_probability": 0.0}]}
COUNTS = {
    "log_likelihood_answer": None,
    "log_likelihood_repeated": None,
    "lower": 0.9,
    "upper": 0.1,
}
OUTSIDE = curves.to_dict(CURVE) | {"curve": [POINT | COUNTS], "source": "counts of sampled answers"}
BROKEN = json.loads(to_json(default_policy())) | {
    "target_error": 0.01,
    "labels": 100,
    "belief": None,
}
BROKEN |= {"answered": 100, "errors": 99}
NINES = int("9" * 4_300)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "It is not JSON."),
        (b"\xff\xfe", "It is not JSON."),
        (b"[" * 29_000, "It is not JSON."),
        (b"null", "not a result saved by Believe"),
        (b"[]", "not a result saved by Believe"),
        (b"{}", "not a result saved by Believe"),
        (b'[{"curve": 1e999}]', "not a result saved by Believe"),
        (b'{"format": "other"}', "not a result saved by Believe"),
        (b'["x"]', "not a result saved by Believe"),
        (b'[{"curve": []}]', "not curves saved by Believe"),
        (json.dumps({"format": FORMAT}).encode(), "“version” is damaged"),
        (b'{"format": "believe.inspection"}', "not an inspection saved by Believe"),
        (json.dumps(NEWER).encode(), "a newer Believe"),
        (json.dumps(MANY).encode(), "1,000 different answers"),
        (json.dumps(LONG_ANSWER).encode(), "an answer of more than 2,400 characters"),
        (json.dumps(NOTES).encode(), "more notes and names"),
        *((each, "30,000 lists and objects") for each in (BRACKETS, *HIDDEN)),
        *((json.dumps(named).encode(), "more than 2,000 characters") for named in NAMED),
        (json.dumps(OTHER_SHARE).encode(), "not curves saved by Believe"),
        (json.dumps(OUTSIDE).encode(), "not curves saved by Believe"),
        (json.dumps(BROKEN).encode(), "that of 100 it answers 100, 99 wrongly"),
        (json.dumps(written() | {"version": NINES}).encode(), "a newer Believe"),
        (json.dumps({"format": FORMAT, "version": NINES}).encode(), "This policy has version"),
        (words.to_json([CURVE] * (MOST_CURVES + 1)).encode(), "8 curves"),
        (b" " * (MAX_RESULT_BYTES + 1), "20,000,000 bytes"),
        (str(HUGE).encode(), "not a result saved by Believe"),
    ],
)
def test_what_is_no_result_gets_one_clear_sentence(content, says):
    with pytest.raises(InvalidRequestError) as refused:
        open_result(content)
    assert says in str(refused.value) and len(str(refused.value)) < 600


@pytest.mark.parametrize("around", ['[{"curve": %s}]', '{"format": "believe.inspection", "x": %s}'])
def test_no_depth_is_an_error(around):
    for deep in range(900, 1_000):  # somewhere between, what can be read cannot be written again
        with pytest.raises(InvalidRequestError):
            open_result((around % ("[" * deep + "]" * deep)).encode())
