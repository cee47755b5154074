"""What a small doubt does not speak for: the answers that are there are not all, or no answers."""

import math
from dataclasses import replace

import numpy as np
import pytest

from core import prompts
from core.language_models.client.wrapper import Wrapper
from core.language_models.language_model import Response
from core.studies.inspection.certificates import default_policy
from core.studies.inspection.inspection import read, run
from core.studies.inspection.recorder import record
from core.studies.inspection.recording import Estimator
from core.studies.inspection.request import Reading, Request
from core.studies.inspection.verdict import LEAST_KEPT, Decision, DecisionRule, Headline
from tests.fakes import QUERY, TableModel, copies
from tests.studies.inspection.rungs import every, limited, sampled

NO, YES = Decision.UNDECIDED, Decision.ANSWER


def verdict(model, samples=100, **reading):
    return run(Request(QUERY, samples), model, Reading(**reading)).verdict


def steady(answers, first, **options):
    """Says the same, whatever it is told."""
    return TableModel(answers, first, [first] * len(answers), **options)


class Silent(Wrapper):
    """Says nothing, or is kept from it, wherever it is told an answer; but for every `nth` time."""

    def __init__(self, inner, nth, refusal):
        super().__init__(inner)
        self.nth, self.refusal = nth, refusal

    def sample(self, prompt, count, *, first=0, **options):
        drawn = super().sample(prompt, count, first=first, **options)
        if prompt == prompts.iterative(QUERY) or prompts.VERIFICATION in prompt:
            return drawn
        none = Response("", not self.refusal, None if self.refusal else -1.0, self.refusal)
        return [none if (first + i) % self.nth else a for i, a in enumerate(drawn)]


@sampled
@pytest.mark.parametrize("refusal", ["its safety filter", ""])
def test_second_answers_that_are_missing_are_not_left_out_unsaid(estimator, refusal):
    model = limited(steady(["Paris", "Lyon"], [0.6, 0.4]), estimator)
    assert verdict(model).decision is YES
    told = verdict(Silent(model, 8, refusal))
    assert told.decision is NO and "second answers are missing" in told.why
    assert (refusal or "nothing at all") in told.why
    doubts = run(
        Request(QUERY, 100), Silent(model, 8, refusal)
    ).doubts  # that certify what is served
    assert {*doubts.values()} == {None}
    assert run(Request(QUERY, 100), model).doubts["mutual_information"] is not None


@sampled
def test_what_came_second_alone_is_not_served(estimator):
    """Told any answer, it says the same; alone, it never did."""
    texts, told = ["Paris", "Lyon", "That is not correct"], [0.0, 0.0, 1.0]
    model = TableModel(texts, [0.6, 0.4, 0.0], [told] * 3)
    assert verdict(limited(model, estimator)).why == (
        "“That is not correct” mostly came after other answers."
    )


@every
@pytest.mark.parametrize(("alone", "decision"), [(0.1, NO), (0.45, YES)])
def test_an_answer_that_is_rare_until_any_is_told_is_not_served(estimator, alone, decision):
    """Told nothing, it mostly says Paris; told whatever, Lyon: M.I. is 0."""
    model = TableModel(["Paris", "Lyon"], [1 - alone, alone], [[0.1, 0.9]] * 2)
    assert verdict(limited(model, estimator)).decision is decision


def test_rows_over_a_sliver_are_no_comparison():
    told = verdict(TableModel(["Paris", "Lyon"], [0.6, 0.4], [[0.006, 0.004], [0.006, 0.004]]))
    assert told.decision is NO and "99.0% of what it says was not" in told.why


@every
def test_of_what_says_that_it_has_no_answer_the_rest_is_not_served(estimator):
    for none in ("I don't know", QUERY):
        told = verdict(limited(steady(["Paris", "Lyon", none], [0.4, 0.3, 0.3]), estimator))
        assert told.decision is NO and f"are “{none}”, which is none" in told.why
        few = limited(steady(["Paris", "Lyon", none], [0.6, 0.37, 0.03]), estimator)
        assert verdict(few).decision is YES


@every
@pytest.mark.parametrize(
    "sides",
    [
        ("Yes", "No"),
        ("False.", "True"),
        ("No, never", "Yes"),
        ("guilty", "not guilty"),
        ("Да", "Нет"),
    ],
)
def test_of_yes_and_no_one_is_wrong_however_steadily_both_are_said(estimator, sides):
    told = verdict(limited(steady(sides, [0.7, 0.3]), estimator))
    assert told.decision is NO and "exclude each other" in told.why
    assert verdict(limited(steady(["Yes", "Oslo"], [0.7, 0.3]), estimator)).decision is YES


def test_a_limit_that_promises_nothing_makes_no_word_stronger():
    """Chosen by hand, as high as one likes, λ knows of no answer how often such ones are wrong."""
    recording = record(Request(QUERY, 10), steady(["Yes", "No"], [0.7, 0.3]))
    without = read(recording)
    for error in (None, 0.2):
        told = read(recording, rule=DecisionRule(math.inf, 0.0, error=error)).headline
        assert told is (without.headline if error is None else Headline.PERHAPS)


@pytest.mark.parametrize("confidence", [0.9, 0.6])
def test_all_that_a_promise_was_tested_on_is_served(confidence):
    """Else it would be of other answers than those that are served."""
    recording = record(Request(QUERY, 10), steady(["Yes", "No"], [0.7, 0.3]))
    about = {"pipeline": read(recording).pipeline, "belief": None, "threshold": math.inf}
    policy = replace(default_policy(), confidence=confidence, **about)
    assert read(recording, policy=policy).decision is YES
    assert read(recording, policy=replace(policy, method="by hand", confidence=None)).decision is NO


@every
def test_a_cut_answer_may_go_on_in_several_ways(estimator):
    cut = steady(["The capital of", "Lyon"], [0.7, 0.3], cut=["The capital of"])
    told = verdict(limited(cut, estimator))
    assert (told.decision, "may go on" in told.why) == (NO, True)


@every
@pytest.mark.parametrize("back", [0.02, 0.98])
def test_rare_answers_that_are_followed_make_a_small_doubt(estimator, back):
    """M.I. is below a tenth of ln 2 either way; it could not be larger."""
    rows = np.array([[0.99, 0.01], [back, 1 - back]])
    told = verdict(limited(TableModel(["Paris", "Lyon"], [0.99, 0.01], rows), estimator))
    assert told.decision is (YES if back > 0.5 else NO)
    assert ("hardly changes" in told.why) == (back > 0.5)


def test_second_answers_in_many_wordings_do_not_raise_what_stands():
    """A tenth of ln 30 is nearly all that M.I. can be here."""
    odd = [f"As was said it is number {i}" for i in range(40)]
    first, sure = np.eye(42)[0] * 0.9 + np.eye(42)[1] * 0.1, np.eye(42)[0]
    after = np.array([0.0, 0.1, *[0.0225] * 40])
    model = TableModel(["Paris", "Lyon", *odd], first, [sure, *[after] * 41])
    told = verdict(limited(model, Estimator.COUNTED), 30)
    assert told.decision is NO and "changes what it says" in told.why


@pytest.mark.parametrize("share", [0.4, 0.8])
@pytest.mark.parametrize("gammas", [(0.0, 0.0), (1.0, 0.0), (0.2, 0.2), (1.0, 1.0)])
def test_no_gamma_makes_a_model_that_copies_stand(share, gammas):
    model = limited(copies(3, share), Estimator.CHAINED)
    told = verdict(model, gamma_1=gammas[0], gamma_2=gammas[1])
    assert told.decision is NO
    is_small = any(gammas) and share < LEAST_KEPT  # M.I., by γ alone
    assert ("Without γ, M.I. is 0.144 nats" in told.why) is is_small


def test_what_stands_stands_whatever_gamma_is():
    model = steady(["Paris", "Lyon"], [0.6, 0.4])
    assert verdict(model, gamma_1=0.5, gamma_2=0.5).decision is YES


def test_many_rare_answers_are_no_more_one_than_two_likely_ones():
    """Each holds less than 5%, all together nearly everything."""
    texts = [*(f"{number} years" for number in range(1, 31)), "Never"]
    told = verdict(steady(texts, np.array([0.032] * 30 + [0.04])), similarity="token_f1")
    assert told.decision is NO and "count as one answer here" in told.why


@sampled
def test_a_stray_second_answer_makes_no_single_one_stand(estimator):
    """It was told no other: there is nothing that it could have kept to."""
    rows = [[0.95, 0.05], [0.95, 0.05]]
    model = limited(TableModel(["Paris", "Right as stated above"], [1.0, 0.0], rows), estimator)
    told = verdict(model)
    assert told.decision is NO and "was told no other" in told.why


@every
def test_beside_what_says_nothing_a_single_answer_is_still_one(estimator):
    """That it keeps to it, told “I don't know”, shows nothing."""
    told = verdict(limited(steady(["Paris", "I don't know"], [0.96, 0.04]), estimator))
    assert told.decision is NO and "was told no other" in told.why


@every
def test_beside_what_says_nothing_a_single_answer_is_told_others(estimator):
    table = TableModel(
        ["Paris", "I don't know", "Lyon"], [0.95, 0.04, 0.01], [[0.95, 0.04, 0.01]] * 3
    )
    seen = (run(Request(QUERY, 100, seed=seed), limited(table, estimator)) for seed in range(99))
    single = next(one for one in seen if len(one.clusters) == 2 and one.recording.others)
    assert [text for text, _ in single.recording.others] == ["Lyon"]
    assert single.verdict.decision is YES
