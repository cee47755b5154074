"""A policy goes out and comes back whole, and decides for its own pipeline only."""

import json
import math
from dataclasses import MISSING, asdict, fields, replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.abstention import policy as policies
from core.abstention.codebook import PERSON, Codebook
from core.abstention.ledger import to_text
from core.abstention.policy import (
    Belief,
    Pipeline,
    Policy,
    PolicyError,
    check_pipeline,
    pipeline_from_dict,
    to_dict,
    to_json,
)
from core.abstention.policy_files import from_json, policy_from_dict
from core.codec import LARGEST, encode
from tests.hostile import edited, opened

PIPELINE = Pipeline(
    model="embedded",
    revision="5d1c",
    prompt="0f3a",
    samples=10,
    temperature=0.9,
    similarity="token_f1",
    tau=0.25,
    gamma_1=0.0,
    gamma_2=1e-9,
    estimator="Algorithm 3 (exact likelihoods)",
    least_mass=0.9,
    sampling="drawn",
)
BELIEF = Belief(threshold=0.1, target_error=0.02, answered=200, errors=1)
POLICY = Policy(
    score="mutual_information",
    threshold=0.125,
    method="ltt",
    target_error=0.05,
    confidence=0.9,
    upper_bound=0.049,
    labels=1000,
    answered=400,
    errors=12,
    data="9f86d081",
    pipeline=PIPELINE,
    larger_is_surer=False,
    scores_tried=1,
    settings_tried=1,
)
BELIEVING = replace(POLICY, belief=BELIEF)

SHARES = st.floats(0, 1, exclude_min=True, exclude_max=True)
FINITE = st.floats(allow_nan=False, allow_infinity=False)
TEXTS = st.text(max_size=20)


@st.composite
def beliefs(draw, most, largest):
    answered = draw(st.integers(0, most))
    errors = draw(st.integers(0, answered))
    return Belief(min(draw(FINITE), largest), draw(SHARES), answered, errors)


@st.composite
def policy_of_any_kind(draw):
    method = draw(st.sampled_from(sorted(policies.GUARANTEES)))
    labels = draw(st.integers(0, 10**9))
    answered = draw(st.integers(0, labels))
    threshold = draw(FINITE | st.just(math.inf))
    pipeline = Pipeline(
        **{
            f.name: draw(
                {"str": TEXTS, "int": st.integers(-LARGEST, LARGEST), "float": FINITE}[str(f.type)]
            )
            for f in fields(Pipeline)
        }
    )
    return Policy(
        score=draw(TEXTS),
        threshold=threshold,
        method=method,
        target_error=draw(SHARES),
        confidence=draw(SHARES) if method == "ltt" else None,
        upper_bound=draw(st.none() | st.floats(0, 1)),
        labels=labels,
        answered=answered,
        errors=draw(st.integers(0, answered)),
        data=draw(TEXTS),
        pipeline=draw(st.none() | st.just(pipeline)),
        larger_is_surer=draw(st.booleans()),
        scores_tried=draw(st.integers(1, 100)),
        settings_tried=draw(st.integers(1, 100)),
        left_out=draw(st.integers(0, 100)),
        selection=draw(TEXTS),
        targets_tried=draw(st.integers(1, 100)),
        belief=draw(st.none() | beliefs(answered, threshold)) if method == "ltt" else None,
    )


# ------------------------------------------------------------------------------ in and out


@given(policy_of_any_kind())
def test_out_and_back(policy):
    text = to_json(policy)
    back = policy_from_dict(json.loads(text))  # whether or not its labels prove it
    assert back == policy
    assert to_json(back) == text
    json.loads(text, parse_constant=pytest.fail)  # strict JSON: no NaN, no Infinity


def test_the_file_says_in_words_what_it_promises_and_they_are_not_believed():
    found = to_dict(replace(POLICY, threshold=math.inf))
    assert list(found)[:3] == ["format", "version", "guarantee"]
    assert (found["format"], found["version"]) == ("believe-policy", 1)
    assert found["guarantee"] == POLICY.sentence
    assert found["threshold"] is None
    assert found["answer_if"] == {"score": "mutual_information", "below": None}
    found = to_dict(POLICY) | {"guarantee": "Never wrong."}
    assert from_json(json.dumps(found)) == POLICY


SURE = replace(POLICY, score="confidence", threshold=-0.404, larger_is_surer=True, pipeline=None)


def test_the_file_says_its_rule_in_the_scores_own_direction():
    found = to_dict(SURE)
    assert found["answer_if"] == {"score": "confidence", "above": 0.404}
    refused({**found, "threshold": -0.2}, "contradict each other")
    refused({**found, "answer_if": {"score": "confidence", "above": 0.2}}, "contradict each other")
    del found["answer_if"]  # of an older Believe
    refused({**found, "threshold": -0.2}, "“rule” and “threshold” contradict")
    assert from_json(json.dumps(found)) == SURE


@pytest.mark.parametrize(
    ("cell", "decision"),
    [
        *((0.41, "answer"), (0.404, "abstain"), (0.4, "abstain"), ("0.5", "answer")),
        *(
            (None, "abstain"),
            ("", "abstain"),
            ("sure", "abstain"),
            (True, "abstain"),
            (np.True_, "abstain"),
        ),
        *((math.nan, "abstain"), (-math.inf, "abstain"), (-(10**400), "abstain")),
        *((math.inf, "answer"), ("inf", "answer")),  # as in the table that it was calibrated on
    ],
)
def test_a_row_is_decided_by_its_own_number_and_what_is_none_abstains(cell, decision):
    assert SURE.decide({"confidence": cell, "question": "Who?"}) == decision


@pytest.mark.parametrize(
    "cell", ["93%", "0,93", "٠٫٩٣", "['0.93']", "0.93 (sure)", [1], pd.Series([0.9, 0.8])]
)
def test_a_number_that_only_a_table_reads_is_refused_and_not_taken_for_none(cell):
    with pytest.raises(PolicyError, match=r"“confidence” is “.+”, which is no number\. Give one"):
        SURE.decide({"confidence": cell})


def test_a_row_of_another_pipeline_or_without_the_score_is_refused():
    row = {"mutual_information": 0.1, "pipeline": json.dumps(asdict(PIPELINE))}
    assert POLICY.decide(row) == "answer"
    with pytest.raises(PolicyError, match="k = 10 there, 30 here"):
        POLICY.decide(row | {"pipeline": json.dumps(asdict(replace(PIPELINE, samples=30)))})
    for text in ("no JSON", "{}", "[" * 100_000, "", None, math.nan):
        with pytest.raises(PolicyError, match="“pipeline” is missing, empty or damaged"):
            POLICY.decide(row | {"pipeline": text})
    with pytest.raises(PolicyError, match="“pipeline” is missing"):
        POLICY.decide({"mutual_information": 0.1})  # another's quantity may have the name
    for row in ({"Confidence": 0.9}, None, "confidence"):
        with pytest.raises(PolicyError, match="no “confidence”"):
            SURE.decide(row)


@pytest.mark.parametrize(
    "policy",
    [
        replace(POLICY, target_error=0.03),
        replace(POLICY, confidence=0.99),
        replace(POLICY, errors=30, upper_bound=None),
        replace(BELIEVING, belief=replace(BELIEF, target_error=0.01)),
        replace(POLICY, looks=9),  # each look spends half of what was left
        replace(POLICY, scores_tried=500),
        replace(POLICY, targets_tried=500),
        replace(POLICY, looks=1000, scores_tried=10**9, targets_tried=10**6),
    ],
)
def test_a_promise_that_its_labels_cannot_prove_was_changed(policy):
    assert from_json(to_json(BELIEVING)) == BELIEVING
    from_json(to_json(replace(policy, method="empirical", confidence=None, belief=None)))
    with pytest.raises(PolicyError, match="cannot prove that"):
        from_json(to_json(policy))


@pytest.mark.parametrize(
    ("policy", "says"),
    [
        (replace(POLICY, rows=to_text(np.arange(1001, dtype=np.uint64))), "names 1,001 rows"),
        (
            replace(POLICY, rows=to_text(np.arange(1, 2000, 2, dtype=np.uint64))),
            "1,000 of them right",
        ),
        (replace(POLICY, upper_bound=POLICY.errors / POLICY.labels / 2), "upper bound is below"),
        (replace(POLICY, errors=0), "is not that of 0 wrong among 400"),
        (replace(POLICY, method="crc", confidence=None, target_error=0.001), "answered and wrong"),
    ],
)
def test_a_policy_whose_numbers_contradict_each_other_was_changed(policy, says):
    with pytest.raises(PolicyError, match=f"{says}.*Somebody has changed it"):
        from_json(to_json(policy))


def test_an_endless_threshold_answers_no_infinite_doubt_and_says_so():
    assert replace(POLICY, threshold=math.inf).where == "at any value"
    assert replace(POLICY, threshold=math.inf, larger_is_surer=True).where == "at any value"


def test_no_limit_is_rounded_past_what_it_parts():
    sure = replace(SURE, threshold=-0.9999995961)
    assert sure.where == "above 0.9999996"
    written = to_dict(sure)
    assert written["rule"] == "answer if confidence is above 0.9999996"
    assert from_json(json.dumps({**written, "rule": "answer if confidence is above 1"})) == sure
    refused({**written, "rule": "answer if confidence is above 0.99"}, "contradict each other")
    book = replace(BOOK, lowest=1e7, highest=1e7 + 40)
    large = replace(POLICY, threshold=1e7 + 12.3, codebook=book)
    assert large.where == "below 10000012" and from_json(to_json(large)) == large
    assert replace(large, codebook=None).where == "below 1e+07"


def refused(found, sentence):
    """Check that a file is refused with a sentence, whether it is text or bytes."""
    text = found if isinstance(found, str | bytes) else json.dumps(found)
    with pytest.raises(PolicyError, match=sentence) as refusal:
        from_json(text)
    message = str(refusal.value)
    assert message[0].isupper()
    assert message.endswith(".")
    assert len(message) < 400


FIELDS = [(kind, f) for kind in (Policy, Pipeline, Belief) for f in fields(kind)]


def place(found, kind):
    """Where the fields of a policy or of its pipeline stand in what was read."""
    return found if kind is Policy else found["pipeline" if kind is Pipeline else "belief"]


@pytest.mark.parametrize(
    ("kind", "name"),
    [(kind, f.name) for kind, f in FIELDS if f.default is MISSING and f.name != "sampling"],
)
def test_a_missing_field_is_named(kind, name):
    found = to_dict(BELIEVING)
    del place(found, kind)[name]
    refused(found, f"lacks “{name}”")


WRONG = {
    "str": [None, 1, 1.5, True, [], {}, "\ud800"],
    "str | None": [1, 1.5, True, [], {}, "\ud800"],
    "int": [None, "1", 1.0, True, [1], {}],
    "int | None": ["1", 1.0, True, [1], {}],
    "float": [None, "1", True, [], {}, math.nan, math.inf, -math.inf, 10**400],
    "float | None": ["0.9", False, [], {}, math.nan, math.inf, 10**400],
    "bool": [None, 0, 1, "true", []],
    "Pipeline | None": [1, "", [], True],
    "Belief | None": [1, "", [], True],
    "Codebook | None": [1, "", [], True, {}],
}


@pytest.mark.parametrize(
    ("kind", "name", "value"),
    [
        (kind, f.name, value)
        for kind, f in FIELDS
        for value in WRONG[str(f.type)]
        if (f.name, value) != ("threshold", None)  # which is infinity
    ],
)
def test_a_damaged_field_is_named(kind, name, value):
    found = to_dict(BELIEVING)
    place(found, kind)[name] = value
    refused(found, f"“{name}” is damaged")


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"format": "other"}, "not a Believe policy"),
        ({"format": None}, "not a Believe policy"),
        ({"version": 4}, "has version 4; this Believe reads versions up to 3"),
        ({"version": 0}, "has version 0"),
        ({"version": "1"}, "“version” is damaged"),
        ({"version": True}, "“version” is damaged"),
        ({"version": 1.0}, "“version” is damaged"),
        ({"version": "x" * 10_000}, "“version” is damaged"),
        ({"method": "magic"}, "no method “magic”"),
        ({"target_error": 0}, "target error"),
        ({"target_error": 1}, "target error"),
        ({"confidence": 1}, "confidence"),
        ({"confidence": 0}, "confidence"),
        ({"confidence": None}, "states a confidence"),
        ({"method": "crc"}, "risk control does not"),
        ({"upper_bound": 1.5}, "upper bound"),
        ({"errors": 401}, "errors ≤ answered ≤ labels"),
        ({"answered": 1001}, "errors ≤ answered ≤ labels"),
        ({"errors": -1}, "errors ≤ answered ≤ labels"),
        ({"scores_tried": 0}, "At least one"),
        ({"settings_tried": 0}, "At least one"),
        ({"targets_tried": 0}, "At least one"),
        ({"left_out": -1}, "cannot be negative"),
        ({"looks": -1}, "looks at the labels"),
        ({"rows": "AAA"}, "“rows” is damaged"),
        ({"rows": "AAAA"}, "“rows” is damaged"),
        ({"rows": "é"}, "“rows” is damaged"),
        ({"rows": "AAAAAAAAAAA=" * 3000}, "“rows” is damaged"),
    ],
)
def test_what_no_calibration_could_have_made(changes, sentence):
    refused({**to_dict(POLICY), **changes}, sentence)


@pytest.mark.parametrize(
    "text",
    [
        *("", "no JSON", "{", "[" * 100_000, '{"a":' * 100_000, "9" * 10_000),
        *(b"\xff\xfe\x00", b"\x80", "[]", "null", '"believe-policy"', "{}"),
        '{"format": ["believe-policy"]}',
        '{"format": "believe-policy"}',
        '{"format": "believe-policy", "version": 1}',
        '{"format": "believe-policy", "version": 1, "threshold": NaN}',
    ],
)
def test_hostile_text(text):
    refused(text, r"\.$")


@given(st.text() | st.binary())
def test_any_text_is_refused_with_a_sentence(text):
    refused(text, r"\.$")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=5,
)


@given(st.sampled_from(sorted(to_dict(POLICY))), JSON)
def test_any_value_of_a_field_is_read_or_refused(name, value):
    text = json.dumps({**to_dict(POLICY), name: value})
    try:
        found = from_json(text)
    except PolicyError as error:
        assert str(error).endswith(".")
    else:
        assert from_json(to_json(found)) == found


@pytest.mark.parametrize("found", [None, [], "x", {"model": 1}, {}])
def test_a_pipeline_by_itself(found):
    assert pipeline_from_dict(asdict(PIPELINE)) == PIPELINE
    with pytest.raises(PolicyError, match=r"\.$"):
        pipeline_from_dict(found)


# -------------------------------------------------------------------------------- deciding


WEIGHTS = {
    "0123456789ab": True,
    "0123456789ab, asked in the form chat": True,
    "0123456789ab-bfloat16, asked in the form chat": True,
    "0123456789ab-other": False,
    "2026-11-28": False,
}


@pytest.mark.parametrize("name", [f.name for f in fields(Pipeline)])
def test_it_refuses_a_pipeline_that_differs_in_one_field(name):
    value = getattr(PIPELINE, name)
    other = f"{value}x" if isinstance(value, str) else value + type(value)(1)
    with pytest.raises(PolicyError) as refusal:
        check_pipeline(POLICY, replace(PIPELINE, **{name: other}))
    message = str(refusal.value)
    assert str(other) in message.split(" there, ")[1]
    assert message.count(" there, ") == 1
    assert PIPELINE.differences(PIPELINE) == []


@pytest.mark.parametrize(("revision", "same"), WEIGHTS.items())
def test_the_same_weights_are_the_same_model_and_a_service_of_the_same_name_is_not(revision, same):
    here = replace(PIPELINE, revision=revision)
    assert (here.differences(replace(here, model="elsewhere")) == []) == same


def test_it_names_every_difference_however_small():
    there = replace(PIPELINE, tau=0.2500000001, samples=1234567)
    expected = "k = 10 there, 1234567 here; τ = 0.25 there, 0.2500000001 here"
    with pytest.raises(PolicyError, match=expected):
        check_pipeline(POLICY, there)


def test_scores_of_unknown_origin_decide_nothing():
    with pytest.raises(PolicyError, match="unknown origin"):
        check_pipeline(replace(POLICY, pipeline=None), PIPELINE)


# --------------------------------------------------------------------------------- promises


def test_the_guarantee_of_learn_then_test():
    assert POLICY.has_guarantee
    assert POLICY.sentence == (
        "With 90% confidence over draws of 1,000 labelled rows, at most 5% of answered questions "
        "are wrong, for questions drawn like these and scored by the same pipeline."
    )
    assert "are wrong, and at most 2% of those that it believes, for" in BELIEVING.sentence


@pytest.mark.parametrize(
    ("confidence", "target", "words"),
    [
        (0.95, 0.07, "With 95% confidence over draws of 1,000 labelled rows, at most 7% "),
        (0.9999, 0.125, "With 99.99% confidence over draws of 1,000 labelled rows, at most 12.5% "),
        (1 - 1e-9, 0.2, "With more than 99.9999% confidence over draws of 1,000 labelled "),
        (0.9, 0.0005, "at most 0.05% "),
        (0.9, 0.12345, "at most 12.345% "),
    ],
)
def test_percentages_are_not_rounded_to_something_better(confidence, target, words):
    assert words in replace(POLICY, confidence=confidence, target_error=target).sentence


def test_a_setting_chosen_after_looking_weakens_the_promise():
    assert replace(POLICY, settings_tried=3).sentence == (
        POLICY.sentence + " This is one of 3 settings tried on these rows; choosing among them "
        "afterwards weakens the promise."
    )


def test_a_target_chosen_from_a_list_says_that_the_list_holds_at_once():
    assert replace(POLICY, targets_tried=7).sentence == (
        POLICY.sentence + " The target was chosen among 7 after a look at the rows: they were "
        "tested together, so that this holds for all of them at once."
    )


def test_rows_left_out_narrow_the_promise():
    """They are no random rows: the promise is for questions like the others."""
    assert replace(POLICY, left_out=61).sentence == (
        POLICY.sentence + " 61 rows without a label were left out, so this holds only for "
        "questions like the labelled ones."
    )
    assert " 1 row without a label was left out" in replace(POLICY, left_out=1).sentence
    assert "left out" not in replace(POLICY, left_out=61).with_threshold(0.1, 10, 1).sentence


def test_readers_who_do_not_know_the_rule_of_answers_refuse_a_policy_by_its_version():
    versions = {
        rule: to_dict(replace(POLICY, pipeline=replace(PIPELINE, answer_rule=rule)))["version"]
        for rule in (1, 2)
    }
    assert versions == {1: 1, 2: 3}


@pytest.mark.parametrize("name", [f.name for f in fields(Policy) if f.default is not MISSING])
def test_a_policy_from_before_a_field_existed_is_read(name):
    found = to_dict(POLICY)
    found.pop(name, None)
    assert from_json(json.dumps(found)) == POLICY


def test_risk_control_does_not_promise_what_it_does_not():
    risk = replace(POLICY, method="crc", confidence=None)
    assert risk.has_guarantee
    assert "of all questions are answered and wrong" in risk.sentence
    assert "does not bound the error among the answered" in risk.sentence


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"threshold": math.nan}, "damaged"),
        ({"target_error": 0.0}, "damaged"),
        ({"errors": 201}, "errors ≤ answered"),
        ({"answered": 401}, "Only Learn-then-Test"),  # more than the policy answers
    ],
)
def test_a_promise_of_what_stands_that_no_calibration_could_have_made(change, sentence):
    with pytest.raises(PolicyError, match=sentence):
        replace(BELIEVING, belief=replace(BELIEF, **change))


def test_moving_the_threshold_drops_the_guarantee():
    assert BELIEVING.with_threshold(0.5, 700, 90).belief is None
    moved = POLICY.with_threshold(0.5, 700, 90)
    assert (moved.threshold, moved.answered, moved.errors) == (0.5, 700, 90)
    assert (moved.method, moved.confidence, moved.upper_bound) == ("by hand", None, None)
    assert not moved.has_guarantee
    assert moved.sentence.startswith("No promise: λ was chosen by hand.")
    assert "90 of 700" in moved.sentence
    assert moved.pipeline == PIPELINE
    assert from_json(to_json(moved)) == moved
    # Even back to where it was, for that, too, is a choice after looking.
    assert not moved.with_threshold(0.125, 400, 12).has_guarantee
    assert POLICY.with_threshold(0.125, 400, 12) is POLICY


def test_the_empirical_rule_promises_nothing():
    observed = replace(POLICY, method="empirical", confidence=None, upper_bound=None)
    assert not observed.has_guarantee
    assert observed.sentence.startswith("No promise: λ was chosen and judged on the same 1,000")


@pytest.mark.parametrize("threshold", [math.nan, -math.inf])
def test_a_threshold_is_a_number_or_infinity(threshold):
    """Minus infinity would go out as null, and come back as answering everything."""
    with pytest.raises(PolicyError, match="not a number"):
        replace(POLICY, threshold=threshold)
    with pytest.raises(PolicyError, match="not a number"):
        POLICY.with_threshold(threshold, 0, 0)


def test_a_file_that_is_too_large_for_a_policy_is_not_read():
    with pytest.raises(PolicyError, match="more than 1,000,000 bytes"):
        from_json(to_json(POLICY) + " " * 1_000_000)


def test_a_policy_edited_by_hand_is_refused_or_can_be_shown():
    for _, text in edited(json.loads(to_json(POLICY))):
        back = opened(from_json, text, PolicyError)
        if back is not None:
            assert json.loads(to_json(back), parse_constant=pytest.fail)
            back.sentence.encode()
            assert back.where


WORDS = Codebook(
    *("question", 2, "confidence", True, "is_hallucination", ("0",), ("1",), 1, 3, 4),
    *(("Line 5: left out.",), ("model",), ("Line 2: “Why?”, right.",)),
)
BOOK = replace(WORDS, score=POLICY.score, larger_is_surer=False, rows=POLICY.labels)


def test_a_policy_says_what_its_table_was_read_as():
    policy = replace(BELIEVING, codebook=BOOK)
    assert from_json(to_json(policy)) == policy
    found = to_dict(policy)
    assert from_json(encode({k: v for k, v in found.items() if k != "codebook"})).codebook is None
    for name, value in {"score": "a", "larger_is_surer": True, "rows": 999}.items():
        book = {**found["codebook"], name: value}
        refused(encode({**found, "codebook": book}), "“codebook” and .*contradict each other")
    new = ("claims", "only", "lowest", "highest")
    older = {k: v for k, v in found["codebook"].items() if k not in new}
    assert from_json(encode({**found, "codebook": older})) == policy
    for name, value in (
        *(("question", 1), ("right", "0"), ("right", [1]), ("wrong", [""] * 2001), ("rows", -1)),
        *(("larger_is_surer", 1), ("questions", True), ("lowest", True), ("highest", 10**400)),
        *(("only", {}), ("only", [["model"]]), ("only", [["model", 1]])),
    ):
        book = {**found["codebook"], name: value}
        with pytest.raises(PolicyError, match="“codebook” is damaged"):
            from_json(encode({**found, "codebook": book}))
    turned = {**found["codebook"], "lowest": 1.0, "highest": 0.0}
    refused(encode({**found, "codebook": turned}), "“codebook” is damaged")


@pytest.mark.parametrize(
    ("larger_is_surer", "lowest", "highest", "on_scale", "beyond"),
    [
        *((True, 0.1, 0.9, 1.0, 1.1), (True, 0.1, 0.9, 0.0, 87), (True, -3.0, 1.0, 4.9, 5.1)),
        (True, -3.0, -1.0, 0.0, 0.02),  # logarithms, and a probability
        *((False, 0.1, 2.1, 0.0, -0.1), (False, 0.1, 2.1, 90, -2), (True, 5, 5, 6, None)),
        (False, -0.5, 2.1, -3.0, -3.2),
    ],
)
def test_a_row_unlike_the_labelled_ones_is_not_decided(
    larger_is_surer, lowest, highest, on_scale, beyond
):
    scale = {"larger_is_surer": larger_is_surer, "lowest": lowest, "highest": highest}
    book = replace(BOOK, only=(("model", "GPT-4"),), **scale)
    policy = replace(BELIEVING, larger_is_surer=larger_is_surer, codebook=book, pipeline=None)
    for like in ({}, {"model": "gpt-4 "}, {"model": None}, {None: ["surplus"], 7: "x"}):
        assert policy.decide({policy.score: on_scale, **like}) in ("answer", "abstain")
    assert policy.decide({policy.score: ""}) == "abstain"
    if beyond is not None:
        with pytest.raises(PolicyError, match="Give it on the same scale"):
            policy.decide({policy.score: beyond})
    with pytest.raises(PolicyError, match="“model” is “llama”, and only rows in which it is “GPT-"):
        policy.decide({policy.score: on_scale, " Model_": "llama"})
    mix = replace(policy, codebook=replace(book, only=(*book.only, ("model", "small"))))
    assert mix.decide({policy.score: on_scale, "model": "Small"}) in ("answer", "abstain")
    with pytest.raises(PolicyError, match="only rows in which it is “GPT-4” or “small” made"):
        mix.decide({policy.score: on_scale, "model": "llama"})
    second = replace(policy, codebook=replace(book, only=(("epoch", "1"),)))
    with pytest.raises(PolicyError, match="“epoch” is “0”"):
        second.decide({policy.score: on_scale, "epoch": 0})
    assert policy.decide({policy.score: pd.NA, "pipeline": pd.NA}) == "abstain"


def test_what_a_person_vouched_for_is_in_the_promise_that_rests_on_it():
    claims = ("As you said, the score was made blind.", "As you said, rows are independent.")
    policy = replace(BELIEVING, codebook=replace(BOOK, claims=claims))
    assert policy.sentence == f"{BELIEVING.sentence} {' '.join(claims)}"
    assert "As you said" not in policy.with_threshold(1.0, 1, 1).sentence


def test_labels_made_by_a_program_promise_agreement_with_it():
    book = replace(BOOK, grader="the rule “same answer”", grading=("Labels: made.",))
    policy = replace(BELIEVING, codebook=book)
    assert policy.sentence == (
        f"{BELIEVING.sentence} The labels were made by the rule “same answer”: what it calls "
        "wrong counts, so this promises agreement with it, not truth."
    )
    assert policy.with_threshold(1.0, 1, 1).sentence.endswith("by the rule “same answer”.")
    by_a_person = replace(policy, codebook=replace(book, grader=PERSON))
    of_a_run = replace(BOOK, label=f"{BELIEVING.score}_correct")
    evaluated = replace(BELIEVING, codebook=of_a_run, pipeline=PIPELINE)
    assert "made by a rule: what it calls wrong counts" in evaluated.sentence
    assert "made by" not in replace(evaluated, pipeline=None).sentence
    beside = replace(BELIEVING, codebook=replace(BOOK, other="correct_f1"), other_errors=3)
    assert beside.sentence.endswith("so this promises agreement with it, not truth.")
    assert by_a_person.sentence.endswith("The labels were made by a person.")
    assert from_json(to_json(policy)) == policy and book.grading[0] in book.sentences
    found = to_dict(replace(BELIEVING, codebook=BOOK))
    older = {k: v for k, v in found["codebook"].items() if k not in ("grader", "grading")}
    assert from_json(encode({**found, "codebook": older})).codebook == BOOK


def test_errors_by_another_label_are_of_answered_questions_and_of_a_named_column():
    policy = replace(BELIEVING, codebook=replace(BOOK, other="correct_f1"), other_errors=3)
    assert from_json(to_json(policy)) == policy and "and 3 by “correct_f1”." in policy.sentence
    for changes in (
        {"other_errors": policy.answered + 1},
        {"other_errors": -1},
        {"codebook": None},
    ):
        with pytest.raises(PolicyError, match="other"):
            replace(policy, **changes)
    found = to_dict(replace(BELIEVING, codebook=BOOK))
    older = {k: v for k, v in found["codebook"].items() if k != "other"}
    assert from_json(encode({**found, "codebook": older})).codebook == BOOK


def test_a_codebook_in_words():
    assert WORDS.sentences == (
        "Question: “question”; 3 rows ask 2 different questions.",
        "Right: “is_hallucination” is “0” (1 of 3 rows); wrong: “1”.",
        "Score: “confidence”; larger means a surer answer.",
        "Rows used: 3 of 4.",
        "Line 5: left out.",
        "Columns not used: “model”.",
        "Line 2: “Why?”, right.",
    )
    assert replace(WORDS, claims=("As you said.",)).sentences[3] == "As you said."
    every = replace(WORDS, question="", questions=3, wrong=(), unused=()).sentences
    assert every[0] == "Question: every row asks another; 3 rows are taken as independent."
    assert every[1].endswith("wrong: none.") and "Columns not used: none." in every
