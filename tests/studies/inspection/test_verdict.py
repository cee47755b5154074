"""The decision: answer, abstain, or say that too little was seen."""

import math
from dataclasses import replace
from importlib.util import find_spec
from itertools import product

import pytest

from core.abstention.policy import Belief
from core.language_models.backends.gguf import SMOLLM2
from core.language_models.forms import Form
from core.language_models.registry import open_model
from core.studies.inspection.certificates import WEIGHTED, default_policy
from core.studies.inspection.verdict import (
    NO_ANSWER,
    Decision,
    DecisionRule,
    decide,
    doubt_of,
    rule_of,
)
from core.uncertainty.scores import SCORES, Score
from tests.studies.inspection.rules import default_rule

THRESHOLD = DecisionRule(value=0.3, least_mass=0.1, origin="by hand")


def scored(
    doubt, *, entropy=0.1, certified=0.0, reason=None, answer="Paris", name="mutual_information"
):
    others = {"semantic_entropy": entropy, "certified_mutual_information": certified}
    others = {other: Score(v, v, "Lyon") for other, v in others.items()}
    return others | {name: Score(doubt, doubt, answer, reason)}


@pytest.mark.parametrize(
    ("doubt", "mass", "decision"),
    [
        (0.0, 1.0, Decision.ANSWER),
        (0.2999, 0.1, Decision.ANSWER),
        (-0.1, 0.5, Decision.ANSWER),
        (0.3, 1.0, Decision.ABSTAIN),  # at λ: doubt < λ is what is answered
        (0.3, 0.1, Decision.ABSTAIN),
        (5.0, 0.0999, Decision.TOO_LITTLE),  # normalised over a sliver: says nothing
        (0.2999, 0.0999, Decision.TOO_LITTLE),
        (0.0, 0.0, Decision.TOO_LITTLE),
    ],
)
def test_the_decision(doubt, mass, decision):
    verdict = decide(scored(doubt), mass, 3, THRESHOLD)
    assert verdict.decision is decision
    assert verdict.answer == "Paris"
    assert verdict.rule is THRESHOLD


@pytest.mark.parametrize(
    ("certified", "decision"),
    [(0.3, Decision.ABSTAIN), (0.2999, Decision.TOO_LITTLE), (None, Decision.TOO_LITTLE)],
)
def test_a_certificate_counts_however_little_was_sampled(certified, decision):
    assert decide(scored(0.5, certified=certified), 0.01, 3, THRESHOLD).decision is decision


def test_a_certificate_counts_whatever_gamma_made_of_the_score():
    assert decide(scored(-0.7, certified=0.4), 0.6, 3, THRESHOLD).decision is Decision.ABSTAIN


@pytest.mark.parametrize(
    ("certified", "limit", "words"),
    [
        (0.9996, 0.25, "0.999 nats, is at least λ = 0.250."),
        (0.5806, 0.5806, "0.58060 nats, is at least λ = 0.58060."),  # and not 0.580 below 0.581
        (0.25, 0.25, "0.250 nats, is at least λ = 0.250."),
    ],
)
def test_a_certified_bound_is_rounded_down_and_not_below_what_it_reaches(certified, limit, words):
    told = decide(scored(0.5, certified=certified), 0.9, 3, DecisionRule(limit, 0.02))
    assert told.reason.endswith(f"The certified lower bound, {words}")
    alone = decide(scored(0.5, certified=0.9996), 0.9, 3, None)
    assert "The certified lower bound, 0.999 nats, is more than" in alone.reason


@pytest.mark.parametrize(("mass", "decision"), [(0.49, "TOO_LITTLE"), (0.5, "ANSWER")])
def test_one_cluster_alone_needs_half_of_the_probability(mass, decision):
    """Its mutual information is 0 whatever the model knows."""
    assert decide(scored(0.0), mass, 1, THRESHOLD).decision is Decision[decision]


@pytest.mark.parametrize("reason", ["Every response was cut off.", None])
def test_missing_doubt_is_no_answer_and_no_abstention(reason):
    verdict = decide(scored(None, reason=reason), 1.0, 3, THRESHOLD)
    assert verdict.decision is Decision.TOO_LITTLE
    assert (verdict.reason == reason) == (reason is not None)
    assert verdict.reason.endswith(".")
    assert reason or SCORES["mutual_information"].symbol in verdict.reason


@pytest.mark.parametrize("name", sorted(SCORES))
def test_any_score_can_be_the_one_that_is_compared(name):
    scores = scored(0.2, answer="one") | scored(0.5, name=name, answer="other")
    verdict = decide(scores, 1.0, 3, DecisionRule(0.3, 0.1, score=name))
    assert verdict.decision is Decision.ABSTAIN
    assert verdict.answer == "other"
    assert SCORES[name].symbol in verdict.reason


@pytest.mark.parametrize(
    ("doubt", "mass", "entropy", "says"),
    [
        (0.5, 1.0, 0.1, "does not know"),
        (0.1, 0.05, 0.1, "cover only 5.0%"),
        (0.5, 0.05, 0.1, "too little to judge"),
        (0.1, 1.0, 2.0, "Several of its 3 answers may be right: told one"),
        (0.1, 1.0, 0.1, "hardly changes"),
    ],
)
def test_the_reason_is_a_sentence_with_its_numbers(doubt, mass, entropy, says):
    reason = decide(scored(doubt, entropy=entropy), mass, 3, THRESHOLD).reason
    assert says in reason
    assert f"{doubt:.3f} nats" in reason
    assert reason.endswith(".")


def test_many_answers_are_not_claimed_when_the_entropy_is_unknown():
    assert "may be right" not in decide(scored(0.1, entropy=None), 1.0, 3, THRESHOLD).reason


def test_a_doubt_that_a_single_answer_cannot_have_is_not_called_small():
    """Told “Beijing”, Qwen says Paris in 13%, and the pair covariance of its one answer is 0."""
    rule = replace(THRESHOLD, score="pair_covariance")
    scores = scored(0.0) | scored(0.0, name="pair_covariance")
    single, several = (decide(scores, 1.0, number, rule).reason for number in (1, 2))
    assert "so this doubt is 0 whatever it is told." in single
    assert "The doubt is small enough." in several


def test_the_default_is_certified_and_says_so():
    policy, threshold = default_policy(), default_rule()
    assert policy.method == "ltt" and policy.has_guarantee
    assert policy.errors / policy.answered <= policy.upper_bound <= policy.target_error
    assert threshold.value > 0 and 0 < threshold.least_mass < 1
    assert threshold.score in SCORES
    assert threshold.origin == f"Default policy. {policy.sentence}"


def test_the_default_was_found_on_the_shipped_model(embedded):
    pipeline = default_policy().pipeline
    why = "run python -m benchmarks.default_policy --write again"
    assert (pipeline.model, pipeline.revision) == (embedded.name, embedded.revision), why


@pytest.mark.skipif(not find_spec(SMOLLM2), reason="SmolLM2 is not installed")
def test_that_of_smollm2_was_found_in_the_form_that_suits_it():
    pipeline = default_policy("smollm2").pipeline
    model = open_model("smollm2").in_form(Form.EXAMPLES)
    why = "run python -m benchmarks.default_policy --model smollm2 --write again"
    assert (pipeline.model, pipeline.revision) == (model.name, model.revision), why


@pytest.mark.parametrize("name", sorted(SCORES))
@pytest.mark.parametrize("certified", [None, 0.1, 0.3, 0.9])
def test_it_answers_exactly_when_the_doubt_is_below(name, certified):
    """What a policy is calibrated on is what decides: also where too little was seen."""
    rule = replace(THRESHOLD, score=name)
    for doubt, mass, clusters in product((0.0, 0.29, 0.3, 0.31), (0.05, 0.1, 0.9), (1, 3)):
        scores = scored(doubt) | scored(doubt, certified=certified, name=name)
        compared = doubt_of(scores, name, mass, clusters, rule.least_mass)
        answers = decide(scores, mass, clusters, rule).decision is Decision.ANSWER
        assert answers == (compared is not None and compared < rule.value)


# ------------------------------------------------------------------ what may be believed

PROMISE = DecisionRule(0.3, 0.1, error=0.05, belief=Belief(0.25, 0.02, 100, 1))
KEPT = (("Madrid", 0.9),)


@pytest.mark.parametrize(
    ("change", "clusters", "doubt", "others", "firm"),
    [
        ({}, 1, 0.0, KEPT, True),
        ({}, 1, 0.0, (), False),  # a single answer that was told no other is not kept to
        ({}, 3, 0.05, (), True),
        ({}, 3, 0.2, (), False),  # telling it another moves it, though less than λ allows
        ({"error": None}, 3, 0.05, (), False),
        ({"error": 0.2}, 3, 0.05, (), False),
        ({"belief": None}, 3, 0.05, (), False),  # a promise of all is none of those that stand
        ({"belief": Belief(0.04, 0.02, 100, 1)}, 3, 0.05, (), False),
        ({"value": 3.0}, 3, 0.05, (), False),  # a λ that withholds nothing tests nothing
        ({"value": 3.0}, 1, 0.0, KEPT, True),
    ],
)
def test_only_an_answer_that_stands_under_a_promise_may_be_believed(
    change, clusters, doubt, others, firm
):
    rule = replace(PROMISE, **change)
    verdict = decide(scored(doubt, entropy=1.0), 0.9, clusters, rule, others)
    assert (verdict.decision, verdict.firm) == (Decision.ANSWER, firm), verdict.reason


def test_a_certified_bound_above_what_stands_is_not_believed():
    assert not decide(scored(0.0, entropy=1.0, certified=0.2), 0.9, 3, PROMISE).firm


def test_a_lambda_that_withholds_nothing_is_said_so():
    reason = decide(scored(0.05, entropy=0.2), 0.9, 3, PROMISE).reason
    echo = "Even if it only repeated what it is told, its doubt would be 0.200 nats at most"
    assert f"{echo}, below the limit, so “Perhaps”." in reason


@pytest.mark.parametrize("method", ["crc", "empirical", "by hand"])
def test_a_policy_that_promises_nothing_of_the_answered_is_no_reason_to_believe(method):
    confidence = None if method != "ltt" else 0.9
    policy = replace(default_policy(), method=method, confidence=confidence, belief=None)
    assert rule_of(policy).error is None
    assert rule_of(replace(default_policy(), confidence=0.6)).error is None
    assert rule_of(replace(default_policy(), score="semantic_entropy")).belief is None
    rule, policy = rule_of(default_policy()), default_policy()
    assert rule.error == policy.target_error and rule.perhaps is not None
    (number, wrong), stand = rule.perhaps, policy.belief
    assert (number + stand.answered, wrong + stand.errors) == (policy.answered, policy.errors)


@pytest.mark.parametrize(
    ("doubt", "certified", "mass", "decision"),
    [
        (0.1, 0.0, 0.9, Decision.ANSWER),
        (0.2, 0.0, 0.9, Decision.UNDECIDED),
        (0.2, 0.2, 0.9, Decision.ABSTAIN),
        (0.2, 0.2, 0.01, Decision.ABSTAIN),
        (0.1, 0.0, 0.2, Decision.TOO_LITTLE),
    ],
)
def test_without_a_certificate_nothing_is_promised(doubt, certified, mass, decision):
    """The floor of the mass is no lower than any certified one."""
    verdict = decide(scored(doubt, certified=certified), mass, 3, None)
    assert (verdict.decision, verdict.firm, verdict.rule) == (decision, False, None)


def test_answers_that_contradict_each_other_are_not_served_as_one():
    verdict = decide(scored(0.0), 0.9, 2, PROMISE, veto="“2” and “5” differ.")
    assert (verdict.decision, verdict.reason) == (Decision.UNDECIDED, "“2” and “5” differ.")
    withheld = decide(scored(0.9), 0.9, 2, PROMISE, veto="“2” and “5” differ.")
    assert withheld.decision is Decision.ABSTAIN


def test_what_says_that_it_has_no_answer_is_not_served_as_one():
    for rule, clusters in ((PROMISE, 2), (None, 1)):  # of several such, none counts as an answer
        verdict = decide(scored(0.0, answer="I don’t know."), 0.9, clusters, rule)
        assert (verdict.decision, verdict.firm) == (Decision.UNDECIDED, False)
        assert verdict.reason == NO_ANSWER


# ------------------------------------------------------- a single answer, and others told

MADRID, ROME = ("Madrid", 0.2), ("Rome", 0.4)


def test_a_single_answer_is_held_against_what_the_model_says_when_told_others():
    verdict = decide(scored(0.0), 0.9, 1, THRESHOLD, (MADRID, ROME))
    assert verdict.decision is Decision.ABSTAIN
    assert "Told “Madrid” or “Rome”, the model says something else 70% of the time" in verdict.why
    assert verdict.measured == "The doubt is 1.204 nats (−ln p), at least λ = 0.300 nats."
    assert doubt_of(
        scored(0.0), "mutual_information", 0.9, 1, THRESHOLD.least_mass, (MADRID, ROME)
    ) == pytest.approx(-math.log(0.3))


def test_a_model_that_keeps_to_its_single_answer_is_believed_and_what_was_told_is_named():
    verdict = decide(scored(0.0), 0.9, 1, THRESHOLD, (("Madrid", 0.9), ("Rome", 0.4)))
    assert verdict.decision is Decision.ANSWER
    assert "Told “Madrid” or “Rome”, the model says something else 35%" in verdict.reason
    assert "of the time on average, told “Rome” 60%." in verdict.reason
    verdict = decide(scored(0.0), 0.9, 1, THRESHOLD, (("Madrid", 0.9), ("Rome", 0.5)))
    assert "of the time on average." in verdict.reason
    verdict = decide(scored(0.0), 0.9, 1, THRESHOLD, (("Madrid", 0.9),))
    assert "something else 10% of the time." in verdict.reason


def test_where_no_other_answer_was_told_the_verdict_says_so():
    verdict = decide(scored(0.0), 0.9, 1, THRESHOLD)
    assert verdict.decision is Decision.ANSWER
    assert "was told no other" in verdict.reason


def test_the_weighted_doubt_is_raised_with_the_information_in_it():
    """To what is certified, and by how far the model turns from its only answer."""
    rule = replace(THRESHOLD, value=1.0, score=WEIGHTED)
    both = scored(0.1, certified=0.8) | scored(0.4, certified=0.8, name=WEIGHTED)
    assert doubt_of(both, WEIGHTED, 0.9, 3, 0.1) == pytest.approx(0.8 + 0.3)
    verdict = decide(both, 0.9, 3, rule)
    assert verdict.decision is Decision.ABSTAIN
    assert "M.I. is 0.800 nats of it" in verdict.why
    assert verdict.measured == "W.D. is 1.100 nats, at least λ = 1.000 nats."
    alone = scored(0.0) | scored(0.2, name=WEIGHTED)
    assert decide(alone, 0.9, 1, rule, (MADRID,)).decision is Decision.ABSTAIN
    assert decide(alone, 0.9, 1, rule, (("Madrid", 0.9),)).decision is Decision.ANSWER
    certified = scored(0.5, certified=1.0) | scored(0.7, certified=1.0, name=WEIGHTED)
    assert decide(certified, 0.01, 3, rule).decision is Decision.ABSTAIN  # whatever was seen
    seen = decide(alone | scored(0.0, certified=None), 0.9, 3, rule)
    assert "hardly changes what it says. " in seen.why
    assert seen.measured == "W.D. is 0.200 nats, below λ = 1.000 nats."


def test_other_scores_do_not_look_at_what_else_was_told():
    assert doubt_of(scored(0.0), "semantic_entropy", 0.9, 1, 0.0, (MADRID,)) == 0.1


@pytest.mark.parametrize(
    ("doubt", "close"), [(0.25, False), (0.28, True), (0.31, True), (0.35, False)]
)
def test_a_close_call_is_called_one(doubt, close):
    assert ("near the limit" in decide(scored(doubt), 1.0, 3, THRESHOLD).reason) == close


def test_numbers_that_look_alike_are_told_apart():
    reason = decide(scored(THRESHOLD.value + 2e-5), 1.0, 3, THRESHOLD).reason
    assert "0.30002 nats, at least λ = 0.30000" in reason


def test_an_answer_that_changes_the_next_one_is_not_said_to_hardly_do_so():
    """Of two clusters M.I. is ln 2 at most, so a large λ withholds nothing: it says so."""
    rule = DecisionRule(0.9, 0.0)
    reason = decide(scored(0.5), 1.0, 2, rule).reason
    assert "Telling the model another answer changes what it says" in reason
    assert "below λ = 0.900" in reason
