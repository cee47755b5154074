"""Inspections: reading a recording, moving what can be moved, and the certified bound."""

import itertools
import math
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from core import prompts
from core.abstention.policy import Belief
from core.abstention.thresholds import learn_then_test
from core.reports.inspection.truth import truth
from core.reports.inspection.words import (
    ABOVE,
    LABELS,
    STAMPS,
    STAMPS_BY_PROMISE,
    UNPROMISED,
    beneath,
    caveat,
    likely,
    outcome,
    read_outcome,
    reasons,
    served_sentence,
)
from core.studies.inspection.certificates import default_policy
from core.studies.inspection.grading import judge
from core.studies.inspection.inspection import NOT_OF_THESE_WORDS, cannot_decide, read, run
from core.studies.inspection.recorder import record, usual_request
from core.studies.inspection.recording import Estimator
from core.studies.inspection.request import Reading, Request, Sampling
from core.studies.inspection.serialise import to_dict
from core.studies.inspection.verdict import Decision, DecisionRule, Headline
from core.uncertainty.confidence_limit import lower_confidence_limit
from core.uncertainty.sampled_evidence import from_chains
from core.uncertainty.scores import SCORES
from tests.fakes import QUERY, Searched, TableModel, certified, copies, falling, knows, words
from tests.studies.inspection.rules import default_rule
from tests.studies.inspection.rungs import SAMPLED, every, limited, sampled
from tests.uncertainty.test_same_answer import CONTRADICTING_SETS

KNOWN_BY_HEART = "What is the capital of France?"
NEVER = DecisionRule(value=math.inf, least_mass=0.5, origin="by hand")


def ask(samples, seed=0):
    return Request(QUERY, samples, seed=seed)


# ------------------------------------------------------------------------------ the read


def test_a_whole_vocabulary_gives_the_models_own_mutual_information():
    model = copies(5)
    seen = run(ask(200), model)
    assert list(seen.scores) == list(SCORES)
    assert len(seen.clusters) == 5
    assert seen.sampled_mass == pytest.approx(1)
    assert seen.scores["mutual_information"].value == pytest.approx(model.mutual_information)
    assert seen.certified_bound == pytest.approx(model.mutual_information)
    assert seen.scores["self_verification"].value == pytest.approx(0.75)
    assert seen.compared_doubt == pytest.approx(model.mutual_information)
    assert seen.verdict.decision is Decision.ABSTAIN


def test_many_right_answers_are_answered_and_one_of_them_is_served():
    seen = run(ask(200), knows(5))
    assert seen.scores["mutual_information"].value == pytest.approx(0, abs=1e-9)
    assert seen.scores["semantic_entropy"].value > 1
    assert seen.verdict.decision is Decision.ANSWER
    assert seen.verdict.answer == "answer0"


def test_clusters_hold_every_text_once_and_all_the_probability():
    texts = ["London", "London, UK", "Paris", "the London", "Berlin"]
    model = TableModel(texts, falling(5), np.tile(falling(5), (5, 1)))
    seen = run(ask(200), model)
    assert [c.text for c in seen.clusters] == ["London", "Paris", "Berlin"]
    assert sorted([text for c in seen.clusters for text, _, _ in c.members]) == sorted(texts)
    assert sum(c.probability for c in seen.clusters) == pytest.approx(1)
    assert sum(c.mass for c in seen.clusters) == pytest.approx(seen.sampled_mass)
    assert sum(c.samples for c in seen.clusters) == 200
    london = seen.clusters[0]
    assert london.mass == pytest.approx(model.first[[0, 1, 3]].sum())
    for text, log_likelihood, count in london.members:
        assert log_likelihood == np.log(model.first[texts.index(text)])
        assert count == [s.text for s in seen.recording.samples].count(text)


def test_what_to_choose_is_not_what_is_in_use():
    """Of two answers in one cluster that are not one: the rule compares each with the first."""
    texts = ["Washington", "George Washington", "Denzel Washington"]
    model = TableModel(texts, falling(3), np.tile(falling(3), (3, 1)))
    recording, rule = record(ask(200), model), DecisionRule(9.0, 0.5, origin="by hand")
    seen = read(recording, rule=rule)
    assert len(seen.clusters) == 1
    assert "they are not the same. Choose a τ nearer 1." in seen.verdict.reason
    by_words = read(recording, Reading(similarity="token_f1"), rule=rule)
    assert "Choose the similarity “same answer”, or a τ" in by_words.verdict.reason
    assert len(read(recording, Reading(threshold=0.95)).clusters) == 3


def test_a_cell_says_what_it_was_computed_from():
    model = copies(4, share=0.5)
    seen = run(ask(100), model)
    information = seen.evidence.mutual_information
    for i, j in itertools.product(range(4), repeat=2):
        cell = seen.cell(i, j)
        first, second = seen.clusters[i].text, seen.clusters[j].text
        assert (cell.first, cell.second) == (first, second)
        assert cell.prompt == prompts.iterative(QUERY, [first])
        row, column = model.answers.index(first), model.answers.index(second)
        assert cell.log_likelihoods == ((second, np.log(model.rows[row, column])),)
        assert cell.joint == information.joint[i, j]
        assert cell.product == information.product[i, j]
        assert cell.contribution == information.contributions[i, j]


def test_each_stabilisation_parameter_has_its_place():
    recording = record(ask(30), copies(6, share=0.5))

    def value(gamma_1, gamma_2):
        seen = read(recording, Reading(gamma_1=gamma_1, gamma_2=gamma_2))
        return seen.scores["mutual_information"].value

    assert value(0.2, 0.0) > value(0.0, 0.0) > value(0.0, 0.2)


# --------------------------------------------------------- what is likely beyond the certain


def test_independent_draws_make_more_likely_than_is_certain():
    """Sixty draws show few of 200 answers, each of which is repeated when it is told."""
    model = copies(200, share=0.9)
    seen = run(Request(QUERY, 60, 1.0), model)
    texts, counts = seen.recording.texts, seen.recording.counts
    expected = lower_confidence_limit(counts, seen.recording.log_likelihoods[1:])
    assert seen.confidence_limit == pytest.approx(expected)
    assert len(texts) < 60 and seen.certified_bound < expected < model.mutual_information
    assert f"With 90% confidence, the model’s own M.I. is at least {expected:.3f}" in likely(seen)
    certain = run(Request(QUERY, 200, 1.0), copies(5))
    assert certain.certified_bound > certain.confidence_limit > 0
    assert likely(certain) is None


@pytest.mark.slow
def test_the_limit_is_seldom_too_high():
    """From seed to limit: promised are at most 10 in 100. Half of the answers are copied."""
    rows = np.tile(falling(30), (30, 1))
    rows[::2] = np.eye(30)[::2]
    model = TableModel(words(30), falling(30), np.maximum(rows, 1e-12))
    limits = [run(Request(QUERY, 30, 1.0, seed), model).confidence_limit for seed in range(100)]
    assert len(set(limits)) > 1 and max(limits) > 0
    assert sum(limit > model.mutual_information for limit in limits) <= 10


def test_draws_that_are_not_independent_limit_nothing():
    """Colder ones; more, wanted by who saw the first; fewer than were seen; the likeliest."""
    model = copies(20, share=0.9)
    ten, thirty = Request(QUERY, 10, 1.0), Request(QUERY, 30, 1.0)
    grown = record(thirty, model, previous=record(ten, model))
    searched = Searched(model.answers, model.first, model.rows)
    cut = TableModel(words(2), falling(2), [falling(2)] * 2, cut=words(2))
    for made in (
        record(replace(thirty, temperature=0.9), model),
        grown,
        grown.first(10),
        record(thirty, model).first(10),
        record(replace(thirty, sampling=Sampling.LIKELIEST), searched),
        record(thirty, cut),
        record(thirty, limited(model, Estimator.COUNTED)),
    ):
        assert (read(made).confidence_limit, likely(read(made))) == (None, None)


# ------------------------------------------------------------- moving what can be moved


def test_a_moved_threshold_decides_anew():
    recording = record(ask(30), copies(10, share=0.6))
    assert read(recording, rule=default_rule()).verdict.decision is Decision.ABSTAIN
    assert read(recording, rule=NEVER).verdict.decision is Decision.ANSWER


@pytest.mark.parametrize(
    ("reading", "clusters"),
    [
        (("token_f1", 0.25), 2),
        (("token_f1", 0.7), 3),
        (("ratio", 0.8), 2),  # London with Londom
        (("ratio", 0.5), 1),
    ],
)
def test_the_similarity_and_its_threshold_decide_what_counts_as_one_answer(reading, clusters):
    texts = ["London", "London, UK", "Londom"]
    recording = record(ask(100), TableModel(texts, falling(3), [falling(3)] * 3))
    assert len(read(recording, Reading(*reading)).clusters) == clusters


def test_a_verdict_on_few_answers_says_how_many_it_takes(embedded):
    assert run(ask(10), knows(4)).samples_needed is None
    assert run(ask(9), knows(4)).samples_needed == 10
    for samples, wanted in ((8, None), (7, 8)):
        found = run(usual_request(KNOWN_BY_HEART, embedded.capabilities, samples=samples), embedded)
        assert (found.samples_needed, found.verdict.decision) == (wanted, Decision.ANSWER)
        if wanted:
            assert found.headline is Headline.TOO_LITTLE
            assert beneath(found)[0] == "Only k = 7: a verdict takes 8."


MANY, HALF = "Name a yellow fruit.", "What is the state capital of Nevada?"
MOST_WRONG = (
    "Use it: {} of {} labelled “Believe it” were wrong. "
    "Promised for such questions: at most 2% (90% sure)."
)
PROMISE = DecisionRule(0.66, 0.1, error=0.05, belief=Belief(0.25, 0.02, 100, 1))


@pytest.mark.parametrize(
    ("question", "change", "why", "in_short"),
    [
        (MANY, {"error": None}, "Nothing promises with 90% confidence that answers are right", ""),
        (MANY, {"error": 0.3}, "up to 30% are wrong", "up to 30% may be wrong"),
        (MANY, {"belief": None}, "promises nothing of answers that stand", "its policy"),
        (MANY, {"belief": Belief(0.01, 0.02, 100, 1)}, "Too many of the answers", ABOVE),
        (
            MANY,
            {"value": 9.0},
            "Even if it only repeated what it is told",
            "even a guess is below the limit: ",
        ),
        (HALF, {}, "takes a doubt of at most 0.069.", f"{ABOVE} 0.069"),
        (
            HALF,
            {"perhaps": (1200, 90)},
            "Of 1,200 labelled questions with “Perhaps”, 90 (7.5%) were wrong.",
            ABOVE,
        ),
        (
            HALF,
            {"score": "semantic_entropy", "value": 2.0},
            "an M.I. of at most 0.069",
            f"M.I. {ABOVE} 0.069",
        ),
    ],
)
def test_perhaps_says_what_is_missing_to_believe_it(embedded, question, change, why, in_short):
    recording = record(usual_request(question, embedded.capabilities), embedded)
    there = read(recording, rule=replace(PROMISE, **change))
    assert there.headline is Headline.PERHAPS
    assert why in " ".join(reasons(there, quotes=True))
    limit = there.belief_limit
    assert limit is None or there.compared_doubt >= limit
    assert there.promises == ("error" not in change or change["error"] is not None)
    mark = STAMPS_BY_PROMISE[there.promises][there.headline]
    assert mark is (STAMPS[Headline.PERHAPS] if there.promises else UNPROMISED)
    assert read_outcome(outcome(there)).mark is mark
    assert read_outcome(outcome(there)).why.startswith(in_short)
    assert bool(in_short) == bool(read_outcome(outcome(there)).why)
    close = read(recording, rule=replace(there.verdict.rule, value=there.compared_doubt + 2e-5))
    saved = read_outcome(outcome(close))
    assert saved.doubt < saved.limit, "saved in as many digits as tell them apart"


def test_no_doubt_is_believed_of_an_answer_that_something_else_speaks_against():
    """A scale on which a “Perhaps” lies within “Believe it” contradicts what stands beside it."""
    first, kinds = np.array([0.96, *[0.04 / 7] * 7]), np.eye(8)
    follows = [first, *(0.25 * first + 0.75 * kinds[kind] for kind in range(1, 8))]
    recording = run(Request(QUERY, 300), TableModel(words(8), first, follows)).recording
    rule = DecisionRule(0.15, 0.1, error=0.05, belief=Belief(0.15, 0.02, 100, 1))
    there = read(recording, rule=rule)
    assert there.headline is Headline.PERHAPS and there.compared_doubt < 0.1
    assert there.belief_limit is None


def test_a_single_answer_that_was_told_no_other_is_perhaps_for_that_reason(embedded):
    recording = record(usual_request(KNOWN_BY_HEART, embedded.capabilities), embedded)
    there = read(replace(recording, others=()), rule=PROMISE)
    assert there.headline is Headline.PERHAPS and "is not known" in caveat(there)
    assert read_outcome(outcome(there)).why == "not told another answer"
    assert caveat(read(recording, rule=PROMISE)) == MOST_WRONG.format(1, 100)
    uncertified = read(recording, Reading(gamma_1=0.1))  # no rule at all
    assert uncertified.headline is Headline.PERHAPS and not uncertified.promises
    assert read_outcome(outcome(uncertified)).mark is UNPROMISED


def test_no_promise_holds_of_a_question_in_other_words_than_those_taught(embedded):
    """The certificate is of taught words; what earlier versions saved says no more today."""
    asked = "at what temperature does water boil in celsius"
    near = run(usual_request(asked, embedded.capabilities), embedded)
    assert near.headline is Headline.PERHAPS and near.verdict.rule == default_rule()
    assert not near.promises and to_dict(near)["verdict"]["promises"] is False
    assert near.origin == f"{NOT_OF_THESE_WORDS} {near.verdict.rule.origin}"
    assert caveat(read(near.recording, rule=replace(default_rule(), error=0.2))) is None
    assert served_sentence(near)[0] == "100 °C. Perhaps, no promise."
    saved = outcome(near)
    for text in (saved, saved.replace("no promise", "≤ 5% wrong")):
        came = read_outcome(text)
        assert (came.mark, came.policy) == (UNPROMISED, "default policy: no promise")


# ------------------------------------------------------------------------- when to stop


def test_other_settings_than_those_of_the_default_are_said(embedded):
    recording = record(usual_request(KNOWN_BY_HEART, embedded.capabilities), embedded)
    assert caveat(read(recording)) == MOST_WRONG.format(4, 877)
    assert "γ₁ = 0.0 there, 0.1 here" in caveat(read(recording, Reading(gamma_1=0.1)))
    assert "k = 8 there, 7 here" in caveat(read(recording.first(7)))
    for name in ("smollm2", "another"):
        renamed = read(replace(recording, model=name))
        assert renamed.headline is not Headline.BELIEVE and renamed.verdict.rule is None
        assert caveat(renamed).startswith("These are the weights of embedded, named otherwise")
    formed = read(replace(recording, revision=f"{recording.revision}, asked in the form chat"))
    assert caveat(formed).startswith("This model was certified with other settings")
    assert "asked in the form chat” here" in caveat(formed) and formed.verdict.rule is None
    for changed in (read(recording, Reading(gamma_1=0.1)), read(recording.first(7)), formed):
        assert changed.verdict.rule is None and changed.headline is not Headline.BELIEVE
    foreign = read(replace(recording, revision="0" * 12))
    assert foreign.verdict.rule is None and foreign.headline is Headline.PERHAPS
    assert truth(judge(foreign), foreign)[0].startswith("It answered, and was right.")
    other = caveat(read(record(ask(10), knows(5))))
    assert other == (
        "Nothing is certified for this model, so “Perhaps” is the most that is said. Label 200 "
        "answers on Calibration: if the surest are right, a λ applies here."
    )
    for wrong, is_certified in ((0, True), (4, False)):  # at a first look: at half of δ
        doubts = np.arange(float(LABELS))
        right = (doubts >= wrong) & (doubts < LABELS / 3)
        of = learn_then_test(doubts, right, target_error=0.05, confidence=0.95)
        assert (of.value is not None) == is_certified


@pytest.mark.parametrize(
    ("reading", "differs"),
    [(Reading(threshold=0.5), "0.5 here"), (Reading(gamma_2=0.2), "0.2 here")],
)
def test_a_policy_of_another_pipeline_is_refused_and_decides_nothing(embedded, reading, differs):
    """No other policy takes its place, also where one would fit."""
    policy = replace(default_policy(), score="semantic_entropy")
    recording = record(usual_request(KNOWN_BY_HEART, embedded.capabilities), embedded)
    inspection = read(recording, reading, policy=policy)
    assert differs in inspection.refused
    assert inspection.verdict.reason == inspection.refused
    assert inspection.verdict.rule is None
    assert inspection.decision is Decision.UNDECIDED
    assert (
        inspection.headline is Headline.UNDECIDED
        and served_sentence(inspection)[0] == "Can’t tell yet."
    )
    fitting = read(recording, policy=replace(policy, pipeline=replace(policy.pipeline, samples=9)))
    assert fitting.default_fits and fitting.headline is Headline.UNDECIDED


def as_smollm2(model, name):
    model.name, model.revision = name, default_policy("smollm2").pipeline.revision
    return model


@pytest.mark.parametrize("name", ["smollm2", "gguf:/somewhere/SmolLM2.gguf"])
def test_the_same_weights_have_the_same_certificate_whatever_they_are_called(name):
    own, table = default_rule("smollm2"), np.tile([0.6, 0.3, 0.1], (3, 1))
    model = as_smollm2(Searched(words(3), [0.6, 0.3, 0.1], table), name)
    seen = run(usual_request(QUERY, model.capabilities), model)
    assert seen.verdict.rule == own != default_rule()
    assert seen.information_threshold == own.value
    assert seen.verdict.decision is Decision.ANSWER
    assert seen.headline is Headline.PERHAPS  # so many are wrong
    wrong = "up to {} are wrong (90% sure): “Believe it” takes 10% at most."
    assert caveat(seen).endswith(wrong.format("50%"))
    assert caveat(replace(seen, verdict=replace(seen.verdict, decision=Decision.ABSTAIN))) is None
    mine = replace(default_policy("smollm2"), threshold=own.value / 2, belief=None)
    mine = read(seen.recording, policy=replace(mine, target_error=0.124))
    assert caveat(mine).endswith(wrong.format("12.4%"))
    other = read(replace(seen.recording, revision="0123456789ab"))
    assert other.verdict.rule is None and caveat(other).startswith("Nothing is certified")


@pytest.mark.parametrize("searches", [True, False])
@pytest.mark.parametrize("similarity", ["same_answer", "token_f1", "ratio", "token_set_ratio"])
@pytest.mark.parametrize("answers", CONTRADICTING_SETS, ids=lambda answers: answers[0])
def test_a_model_that_repeats_whatever_it_is_told_is_never_believed(answers, similarity, searches):
    """Each answer is equally likely, and certain once it is told, whatever counts as the same."""
    m = len(answers)
    model = (Searched if searches else TableModel)(answers, [1 / m] * m, np.eye(m))
    certified(model)
    made = record(usual_request(QUERY, model.capabilities), model)
    for rule in (None, default_rule(), replace(NEVER, error=0.01)):
        seen = read(made, Reading(similarity), rule)
        assert seen.headline is not Headline.BELIEVE, (similarity, rule)
        assert seen.decision is not Decision.ANSWER or (rule is not None and rule.value == math.inf)


def test_a_model_without_a_certificate_is_at_most_perhaps():
    for model in (knows(5), Searched(words(3), [0.6, 0.3, 0.1], np.tile([0.6, 0.3, 0.1], (3, 1)))):
        seen = run(usual_request(QUERY, model.capabilities), model)
        assert seen.headline is Headline.PERHAPS
        assert "Label 200 answers on Calibration" in caveat(seen)
    copying = run(ask(60), copies(5, share=0.9))
    assert copying.headline is Headline.ABSTAIN and copying.certified_bound > 0.1 * math.log(5)
    moving = run(ask(200), limited(copies(5, share=0.6), Estimator.COUNTED))
    assert moving.headline is Headline.UNDECIDED


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"pipeline": None}, "unknown origin"),
        ({"score": "confidence"}, "“confidence”, which is not computed here"),
        ({"larger_is_surer": True}, "here it is a sign of doubt"),
        ({"pipeline": replace(default_policy().pipeline, answer_rule=1)}, "another rule of answ"),
    ],
)
def test_a_policy_that_can_decide_nothing_here_is_refused(embedded, change, reason):
    policy = replace(default_policy(), **change)
    assert reason in cannot_decide(policy)
    inspection = read(record(Request(KNOWN_BY_HEART), embedded), policy=policy)
    assert inspection.refused == cannot_decide(policy)
    assert (inspection.verdict.rule, inspection.decision) == (None, Decision.UNDECIDED)
    assert cannot_decide(default_policy()) is None


# ----------------------------------------------------------------------------- sampled recordings


def decided(request, model):
    """An inspection that the rule of the embedded model decides, whatever model was asked."""
    return read(record(request, model), rule=default_rule())


@sampled
def test_a_model_that_copies_abstains_and_one_that_knows_answers(estimator):
    copying = decided(ask(200), limited(copies(3, share=0.9), estimator))
    assert copying.verdict.decision is Decision.ABSTAIN
    assert "What the model is told changes what it says" in copying.verdict.reason
    knowing = decided(ask(200), limited(knows(3), estimator))
    assert knowing.verdict.decision is Decision.ANSWER
    assert knowing.verdict.answer == "answer0"
    for seen in (copying, knowing):
        assert f"M.I. is {seen.scores['mutual_information'].doubt:.3f} nats" in seen.verdict.reason
        assert seen.certified_bound is None


@sampled
def test_the_default_policy_is_certified_for_no_other_estimator(embedded, estimator):
    same = limited(embedded, estimator)
    same.name, same.revision = embedded.name, embedded.revision  # its abilities alone are others
    seen = run(Request("What is the capital of France?", 100), same)
    assert seen.verdict.rule is None and seen.headline is not Headline.BELIEVE
    assert caveat(seen).startswith("This model was certified with other settings")
    assert f"estimator = “{Estimator.EXACT.value}” there, “{estimator.value}” here" in caveat(seen)


@every
def test_a_policy_decides_only_for_the_estimator_that_it_was_calibrated_with(estimator):
    made = record(ask(100), limited(knows(3), estimator))
    # A pipeline holds the least mass, which comes from the policy.
    pipeline = replace(read(made).pipeline, least_mass=0.25)
    policy = replace(
        default_policy(), score="semantic_entropy", threshold=math.inf, pipeline=pipeline
    )
    mine = read(made, policy=policy)
    assert (mine.refused, caveat(mine)) == (None, None)
    assert mine.verdict.rule.score == "semantic_entropy"
    assert mine.verdict.rule.origin == policy.sentence
    changes = {
        f"estimator = “{other.value}” there, “{estimator.value}” here": {"estimator": other.value}
        for other in set(Estimator) - {estimator}
    }
    changes["least sampled mass = 0.0 there, 0.02 here"] = {"least_mass": 0.0}  # never enough
    for difference, change in changes.items():
        refused = read(made, policy=replace(policy, pipeline=replace(pipeline, **change)))
        assert difference in refused.refused
        assert (refused.verdict.rule, refused.decision) == (None, Decision.UNDECIDED)


def test_a_policy_for_a_score_that_is_missing_here_serves_nothing():
    made = record(ask(50), limited(knows(3), Estimator.COUNTED))
    policy = replace(
        default_policy(), score="greedy_probability", threshold=9.0, pipeline=read(made).pipeline
    )
    seen = read(made, policy=policy)
    assert seen.verdict.decision is Decision.TOO_LITTLE
    assert seen.verdict.reason == "This model does not report how probable its answers are."


@sampled
def test_clusters_hold_every_text_that_came_first_or_second(estimator):
    rows = [[0.2, 0.2, 0.6, 0.0], [0.2, 0.2, 0.0, 0.6], *[[0.25] * 4] * 2]
    table = TableModel(words(4), [0.6, 0.4, 0.0, 0.0], rows)
    seen = run(ask(150), limited(table, estimator))
    assert {cluster.text for cluster in seen.clusters} == set(words(4))
    assert sum(cluster.samples for cluster in seen.clusters) == 150
    assert sum(cluster.probability for cluster in seen.clusters) == pytest.approx(1)
    unheard = [cluster for cluster in seen.clusters if not cluster.samples]
    assert {cluster.text for cluster in unheard} == {"answer2", "answer3"}
    assert {(cluster.probability, cluster.mass) for cluster in unheard} == {(0.0, 0.0)}
    joint = seen.evidence.mutual_information.joint
    for i, j in itertools.product(range(4), repeat=2):
        assert seen.cell(i, j).joint == joint[i, j]


def test_evidence_pairs_each_sample_with_the_answer_after_it():
    made = record(ask(120), limited(copies(4, share=0.5), Estimator.CHAINED))
    rows = {text: list(row) for text, row in zip(made.texts, made.seconds, strict=True)}
    chains = []
    for first in made.samples:
        second = rows[first.text].pop(0)
        chains.append((first.text, second.text, first.log_likelihood, second.log_likelihood))
    expected = from_chains(chains, greedy="", greedy_log_likelihood=-1.0)
    evidence = read(made).evidence
    assert evidence.responses == expected.responses
    assert evidence.mutual_information.value == expected.mutual_information.value
    assert not any(rows.values())


def test_evidence_counts_first_and_second_answers():
    made = record(ask(40), limited(copies(4, share=0.5), Estimator.COUNTED))
    evidence = read(made).evidence
    number = {text: i for i, text in enumerate(evidence.responses)}
    for text, count, row in zip(made.texts, made.counts, made.seconds, strict=True):
        assert evidence.counts[number[text]] == count
        for other, times in Counter(r.text for r in row).items():
            share = np.exp(evidence.log_conditionals[number[text], number[other]])
            assert share == pytest.approx(times / 30)


def test_settings_of_a_reading_reach_the_evidence():
    table = TableModel(["London", "London, UK", "Oslo"], falling(3), np.tile(falling(3), (3, 1)))
    for estimator in SAMPLED:
        made = record(ask(100), limited(table, estimator))
        assert len(read(made).clusters) == 2
        assert len(read(made, Reading(threshold=0.9)).clusters) == 3
        assert len(read(made, Reading("ratio", 0.1)).clusters) == 1
    chained = record(ask(100), limited(table, Estimator.CHAINED))
    values = [
        read(chained, Reading(gamma_1=a, gamma_2=b)).evidence.mutual_information.plug_in
        for a, b in ((0.1, 0), (0, 0), (0, 0.1))
    ]
    assert values == sorted(values, reverse=True) and len(set(values)) == 3


def test_texts_that_were_cut_off_are_marked_first_or_second():
    """answer2 never comes first."""
    rows = [[0.4, 0.2, 0.4]] * 3
    model = TableModel(words(3), [0.5, 0.5, 0.0], rows, cut={"answer1", "answer2"})
    for estimator in SAMPLED:
        evidence = read(record(ask(100), limited(model, estimator))).evidence
        ended = dict(zip(evidence.responses, evidence.complete, strict=True))
        assert ended == {"answer0": True, "answer1": False, "answer2": False}
