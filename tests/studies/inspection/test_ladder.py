"""The ladder: what is asked of a model that scores no given text, and what becomes of it."""

import hashlib
import itertools
import math
import threading
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from core import prompts
from core.language_models.errors import ModelError
from core.language_models.true_false import OPINIONS
from core.studies.inspection import recorder
from core.studies.inspection.inspection import read, run
from core.studies.inspection.recorder import FEWEST_CHAINS, SECONDS, record
from core.studies.inspection.recording import Estimator, estimator_of
from core.studies.inspection.request import InvalidRequestError, Reading, Request
from core.studies.inspection.stopping import growth, is_settled
from core.studies.inspection.verdict import Decision, default_policy, default_threshold
from core.studies.progress import Cancelled
from core.uncertainty.sampled_evidence import from_chains
from tests.fakes import QUERY, Limited, TableModel, copies, falling, knows, words

FIRST_PROMPT = prompts.iterative(QUERY)
SAMPLED = [Estimator.CHAINED, Estimator.COUNTED]
sampled = pytest.mark.parametrize("estimator", SAMPLED, ids=["chained", "counted"])
FRUIT = "Name a yellow fruit."


def ask(samples=100, *, seed=0, temperature=1.0):
    return Request(QUERY, samples, temperature, seed)


def limited(inner, estimator, *, next_token=True, **options):
    chained = estimator is Estimator.CHAINED
    return Limited(inner, own_log_likelihoods=chained, next_token=next_token, **options)


def opinionated(count):
    """Copies, and thinks otherwise of every answer."""
    model = copies(count)
    for i, answer in enumerate(model.answers, start=1):
        true = i / (count + 1)
        model.table[verifying(answer)] = {prompts.TRUE: true, prompts.FALSE: 1 - true}
    return model


def told(text):
    return prompts.iterative(QUERY, [text])


def verifying(text):
    return prompts.self_verification(QUERY, text)


def same(one, other):
    """Say whether two recordings agree in every field but the list of calls."""
    for name in ("request", "model", "revision", "estimator", "texts", "samples", "seconds"):
        assert getattr(one, name) == getattr(other, name), name
    assert (one.greedy, one.greedy_log_likelihood) == (other.greedy, other.greedy_log_likelihood)
    np.testing.assert_array_equal(one.verification, other.verification)
    assert one.log_likelihoods.shape == other.log_likelihoods.shape == (0, 0)
    return True


@pytest.fixture
def any_number(monkeypatch):
    """Chains may be few here: what a study refuses, its parts can do."""
    monkeypatch.setattr(recorder, "FEWEST_CHAINS", 1)


# -------------------------------------------------------------------------- which rung


@pytest.mark.parametrize(
    ("scores", "own", "estimator"),
    [
        (True, True, Estimator.EXACT),
        (True, False, Estimator.EXACT),
        (False, True, Estimator.CHAINED),
        (False, False, Estimator.COUNTED),
    ],
)
@pytest.mark.parametrize("next_token", [True, False])
def test_a_model_stands_on_the_highest_rung_that_it_reaches(scores, own, estimator, next_token):
    model = Limited(
        copies(4), scores_given_text=scores, own_log_likelihoods=own, next_token=next_token
    )
    assert estimator_of(model.capabilities) is estimator
    made = record(ask(), model)
    assert made.estimator is estimator
    assert bool(model.scored) == (estimator is Estimator.EXACT)
    assert bool(model.continued) == (next_token and estimator is not Estimator.EXACT)
    assert read(made).pipeline.estimator == estimator.value


def test_rungs_agree_about_a_model_with_few_answers():
    """0.43 nats exactly; sampled, within 0.08 here."""
    table = TableModel(words(3), [0.5, 0.3, 0.2], 0.7 * np.eye(3) + 0.1)
    exact = run(ask(300), table)
    assert exact.scores["mutual_information"].value == pytest.approx(table.mutual_information)
    for estimator in SAMPLED:
        seen = run(ask(300), limited(table, estimator))
        for name, near in (("mutual_information", 0.08), ("semantic_entropy", 0.08)):
            value = exact.scores[name].value
            assert seen.scores[name].value == pytest.approx(value, abs=near), (estimator, name)
        assert seen.verdict.decision is exact.verdict.decision is Decision.ABSTAIN


# ----------------------------------------------------------------------- what is asked


def test_chained_every_sample_is_told_and_answered_once():
    model = limited(copies(6, share=0.5), Estimator.CHAINED)
    made = record(ask(150, temperature=0.9, seed=3), model)
    first, greedy, *rest = model.asked
    assert (first.prompt, first.count, first.temperature) == (FIRST_PROMPT, 150, 0.9)
    assert (first.seed, first.first) == (3, 0)
    assert (greedy.prompt, greedy.count, greedy.temperature) == (FIRST_PROMPT, 1, 0)
    assert [a.prompt for a in rest] == [told(text) for text in made.texts]
    assert [a.count for a in rest] == made.counts.tolist()
    assert {(a.temperature, a.first) for a in rest} == {(0.9, 0)}
    assert model.continued == [verifying(text) for text in made.texts]
    assert [len(row) for row in made.seconds] == made.counts.tolist()


def test_counted_every_distinct_sample_is_told_and_answered_thirty_times():
    model = limited(copies(6, share=0.5), Estimator.COUNTED)
    made = record(ask(25, temperature=0.9, seed=3), model)
    first, greedy, *rest = model.asked
    assert (first.count, first.seed, greedy.count) == (25, 3, 1)
    assert [a.prompt for a in rest] == [told(text) for text in made.texts]
    assert {a.count for a in rest} == {SECONDS} == {30}
    assert {(a.temperature, a.first) for a in rest} == {(0.9, 0)}
    assert model.continued == [verifying(text) for text in made.texts]
    assert [len(row) for row in made.seconds] == [30] * len(made.texts)


@sampled
def test_a_recording_holds_what_the_model_says(estimator):
    table = copies(5, share=0.5)
    made = record(ask(120, seed=1), limited(table, estimator))
    drawn = [sample.text for sample in made.samples]
    assert made.texts == tuple(dict.fromkeys(drawn))
    assert made.counts.tolist() == [drawn.count(text) for text in made.texts]
    assert made.greedy.text == "answer0"
    assert (made.model, made.revision) == ("limited", "1")
    said = made.greedy_log_likelihood
    assert said == (np.log(table.first[0]) if estimator is Estimator.CHAINED else None)
    if estimator is Estimator.CHAINED:
        index = {text: i for i, text in enumerate(table.answers)}
        assert all(s.log_likelihood == np.log(table.first[index[s.text]]) for s in made.samples)
        for text, row in zip(made.texts, made.seconds, strict=True):
            expected = np.log(table.rows[index[text]])
            assert all(r.log_likelihood == expected[index[r.text]] for r in row)


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
    texts = ["London", "London, UK", "Oslo"]
    table = TableModel(texts, falling(3), np.tile(falling(3), (3, 1)))
    for estimator in SAMPLED:
        made = record(ask(), limited(table, estimator))
        assert len(read(made).clusters) == 2
        assert len(read(made, Reading(threshold=0.9)).clusters) == 3
        assert len(read(made, Reading("ratio", 0.1)).clusters) == 1
    chained = record(ask(), limited(table, Estimator.CHAINED))
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
        evidence = read(record(ask(), limited(model, estimator))).evidence
        ended = dict(zip(evidence.responses, evidence.complete, strict=True))
        assert ended == {"answer0": True, "answer1": False, "answer2": False}


def test_calls_say_what_for_how_many_and_how_long():
    model = limited(copies(3), Estimator.COUNTED)
    made = record(ask(20), model)
    r = len(made.texts)
    expected = [("sample", 20), ("greedy", 1)] + [("sample again", 30)] * r + [("verify", 2)] * r
    assert [(call.purpose, call.sequences) for call in made.calls] == expected
    assert all(call.seconds >= 0 for call in made.calls)

    model = limited(copies(3), Estimator.CHAINED, next_token=False)
    made = record(ask(100), model)
    again = [call.sequences for call in made.calls if call.purpose == "sample again"]
    assert again == made.counts.tolist()
    opinions = [call.sequences for call in made.calls if call.purpose == "verify"]
    assert opinions == [OPINIONS] * len(made.texts) == [10] * len(made.texts)


def test_fewer_than_a_hundred_chains_are_refused_and_nothing_is_asked():
    model = limited(copies(3), Estimator.CHAINED)
    with pytest.raises(InvalidRequestError, match="at least 100 samples") as caught:
        record(ask(FEWEST_CHAINS - 1), model)
    assert str(caught.value).endswith(".")
    assert not model.asked
    assert record(ask(FEWEST_CHAINS), model).request.samples == 100
    for scores in (True, False):  # the other rungs take any number
        assert record(ask(1), Limited(copies(3), scores_given_text=scores))


# ------------------------------------------------------------------------------- seeds


def second_seeds(model):
    return {a.prompt: a.seed for a in model.asked if a.prompt != FIRST_PROMPT}


@sampled
def test_second_answers_have_seeds_of_their_own(estimator):
    model = limited(knows(12), estimator)
    record(ask(200, seed=5), model)
    seeds = second_seeds(model)
    assert len(seeds) == 12
    assert len({5, *seeds.values()}) == 13
    assert all(0 <= seed < 2**32 for seed in seeds.values())
    again = limited(knows(12), estimator)
    record(ask(200, seed=5), again)
    assert second_seeds(again) == seeds
    other = limited(knows(12), estimator)
    record(ask(200, seed=6), other)
    assert set(second_seeds(other).values()).isdisjoint(seeds.values())


def test_seeds_are_the_same_for_ever():
    """With others, a recording that was kept could not grow: its series would break off."""
    model = limited(TableModel(["Zürich"], [1.0], [[1.0]]), Estimator.COUNTED)
    record(ask(1, seed=7), model)
    digest = hashlib.sha256("7\0Zürich".encode()).hexdigest()
    assert model.asked[-1].seed == int(digest[:8], 16) == 0xE3A6F8CB


def test_a_second_answer_does_not_repeat_the_first_draw(embedded):
    """The shipped model hardly depends on what it was told here: 0.03 nats of 2 and more.

    Sampled, 0.05 to 0.11 nats at 200 samples, of which chance alone makes as much. Where a
    second answer shares seed and index with the first, it comes from the same random numbers
    and is the same answer: 1.2 nats.
    """
    exact = run(Request(FRUIT, 100, 1.0), embedded).scores["mutual_information"].value
    model = Limited(embedded, own_log_likelihoods=True, next_token=True)
    seen = run(Request(FRUIT, 200, 1.0), model)
    information = seen.evidence.mutual_information
    assert exact - 0.01 < information.plug_in < exact + 0.15
    assert abs(information.value - exact) < 0.05

    samples = seen.recording.samples[:60]
    after = [prompts.iterative(FRUIT, [sample.text]) for sample in samples]
    seconds = [
        embedded.sample(prompt, 1, temperature=1.0, seed=0, first=i)[0].text
        for i, prompt in enumerate(after)
    ]
    assert sum(s.text == text for s, text in zip(samples, seconds, strict=True)) > 30
    scored = np.diag(embedded.log_likelihoods(after, seconds))
    chains = [
        (sample.text, text, sample.log_likelihood, float(p))
        for sample, text, p in zip(samples, seconds, scored, strict=True)
    ]
    trapped = from_chains(chains, greedy="", greedy_log_likelihood=-1.0)
    assert trapped.mutual_information.value > exact + 0.5


def test_likelihoods_of_own_samples_are_those_of_exact_scoring(embedded):
    model = Limited(embedded, own_log_likelihoods=True, next_token=True)
    made = record(Request(FRUIT, 100), model)
    said = {sample.text: sample.log_likelihood for sample in made.samples}
    scored = embedded.log_likelihoods([prompts.iterative(FRUIT)], list(said))[0]
    np.testing.assert_allclose(list(said.values()), scored, atol=1e-4)


# ----------------------------------------------------------------------------- growing


@sampled
@pytest.mark.parametrize("next_token", [True, False])
def test_extending_makes_the_recording_that_asking_at_once_makes(estimator, next_token):
    def made(samples, previous=None):
        model = limited(opinionated(40), estimator, next_token=next_token)
        return record(ask(samples, seed=4), model, previous=previous)

    whole, smaller = made(160), made(100)
    assert len(whole.texts) > len(smaller.texts)
    assert same(made(160, smaller), whole)
    assert same(made(160, made(130, smaller)), whole)


@sampled
def test_extending_asks_only_for_what_is_missing(estimator):
    model = limited(copies(40), estimator, next_token=False)
    before = record(ask(100), model)
    had = len(before.texts)
    model.asked.clear()
    grown = record(ask(150), model, previous=before)
    new = grown.texts[had:]
    assert new
    first, *rest = model.asked
    assert (first.prompt, first.first, first.count) == (FIRST_PROMPT, 100, 50)
    again = [a for a in rest if a.prompt in map(told, grown.texts)]
    opinions = [a for a in rest if a not in again]
    assert [a.prompt for a in opinions] == [verifying(text) for text in new]
    asked = {(told(text), 0, 30) for text in new}
    if estimator is Estimator.CHAINED:
        counts = [before.counts.tolist() + [0] * len(new), grown.counts.tolist()]
        asked = {
            (told(text), there, wanted - there)
            for text, there, wanted in zip(grown.texts, *counts, strict=True)
            if wanted > there
        }
        assert any(there for _, there, _ in asked)
    assert {(a.prompt, a.first, a.count) for a in again} == asked
    assert len(again) == len(asked)
    assert grown.calls[: len(before.calls)] == before.calls


@sampled
def test_nothing_is_told_again_when_nothing_new_is_said(estimator, any_number):
    model = limited(TableModel(["yes"], [1.0], [[1.0]]), estimator)
    one = record(ask(1), model)
    model.asked.clear()
    model.continued.clear()
    five = record(ask(5), model, previous=one)
    more = [(1, 4), (1, 4)] if estimator is Estimator.CHAINED else [(1, 4)]
    assert [(a.first, a.count) for a in model.asked] == more
    assert not model.continued
    assert same(five, record(ask(5), model))


@pytest.mark.parametrize("k", [1, 5, 59, 60])
@sampled
def test_the_first_k_samples_are_the_recording_of_k_samples(k, estimator, any_number):
    sixty = record(ask(60), limited(opinionated(40), estimator))
    alone = record(ask(k), limited(opinionated(40), estimator))
    assert same(sixty.first(k), alone)
    assert read(sixty.first(k)).scores == read(alone).scores


def test_fewer_samples_of_a_previous_recording_ask_nothing():
    for estimator in SAMPLED:
        model = limited(copies(20), estimator)
        larger = record(ask(150), model)
        model.asked.clear()
        model.continued.clear()
        smaller = record(ask(120), model, previous=larger)
        assert same(smaller, record(ask(120), limited(copies(20), estimator)))
        assert (model.asked, model.continued) == ([], [])


@sampled
def test_growth_is_told_without_a_certificate(estimator):
    made = record(ask(100), limited(copies(10), estimator))
    points = growth(made)
    assert [point.certified for point in points] == [None] * len(points)
    assert points[-1].sampled_mass == read(made).sampled_mass
    assert all(0 <= point.sampled_mass <= 1 for point in points)


# ------------------------------------------------------------------------ self-verification


class Says(Limited):
    """Lists the next tokens that it is given."""

    def __init__(self, tokens):
        super().__init__(copies(2), next_token=True)
        self.tokens = tokens

    def next_token(self, prompt):
        return {token: math.log(p) for token, p in self.tokens.items()}


@pytest.mark.parametrize(
    ("tokens", "true", "false"),
    [
        ({" True": 0.7, " False": 0.2}, 0.7, 0.2),
        ({"True": 0.3, " True": 0.2, "true": 0.1, " FALSE": 0.1, "False.": 0.05}, 0.6, 0.15),
        ({" True": 0.5, "True,": 0.1, '"True"': 0.05, "(True)": 0.05, "False": 0.3}, 0.7, 0.3),
        ({" True": 0.5, " Trueish": 0.2, " not True": 0.1, "": 0.1, " False": 0.1}, 0.5, 0.1),
        # What is not listed is at most as likely as the least that is: a bound.
        ({" True": 0.9, " Yes": 0.05, " The": 0.01}, 0.9, 0.01),
        ({" No": 0.6, " False": 0.3, " Yes": 0.02}, 0.02, 0.3),
        ({" Maybe": 0.6, " Yes": 0.1}, 0.1, 0.1),
    ],
)
def test_next_tokens_verify(tokens, true, false):
    made = record(ask(5), Says(tokens))
    np.testing.assert_allclose(np.exp(made.verification), [[true, false]] * len(made.texts))
    score = read(made).scores["self_verification"]
    assert score.value == pytest.approx(true / (true + false))


def test_without_next_tokens_ten_samples_verify():
    table = TableModel(words(2), [0.5, 0.5], np.full((2, 2), 0.5), true=0.8)
    model = Limited(table)
    made = record(ask(20, seed=9), model)
    opinions = [a for a in model.asked if a.prompt in map(verifying, made.texts)]
    assert [a.prompt for a in opinions] == [verifying(text) for text in made.texts]
    assert {(a.count, a.temperature) for a in opinions} == {(10, 1.0)}
    for opinion, row in zip(opinions, made.verification, strict=True):
        said = table.sample(opinion.prompt, 10, seed=opinion.seed)
        trues = sum(response.text == "True" for response in said)
        np.testing.assert_allclose(np.exp(row), [(trues + 0.5) / 11, (10.5 - trues) / 11])
    assert 0.5 < read(made).scores["self_verification"].value < 1


def test_opinions_that_are_neither_prove_nothing():
    class Unsure(TableModel):
        def sample(self, prompt, count, **options):
            drawn = super().sample(prompt, count, **options)
            about = prompt in map(verifying, self.answers)
            return [replace(r, text="I do not know") for r in drawn] if about else drawn

    made = record(ask(5), Limited(Unsure(words(2), [0.5, 0.5], np.full((2, 2), 0.5))))
    np.testing.assert_allclose(np.exp(made.verification), 0.5)


@pytest.mark.parametrize("said", [" true.", "TRUE", "“True”", "True"])
def test_an_opinion_is_read_whatever_its_case_and_stops(said):
    class Loud(TableModel):
        def sample(self, prompt, count, **options):
            drawn = super().sample(prompt, count, **options)
            about = prompt in map(verifying, self.answers)
            return [replace(r, text=said.strip()) for r in drawn] if about else drawn

    made = record(ask(3), Limited(Loud(words(1), [1.0], [[1.0]])))
    expected = 0.5 if "“" in said else 10.5 / 11  # typographic quotes are not known
    assert np.exp(made.verification[0, 0]) == pytest.approx(expected)


# ------------------------------------------------------------------------------ faults


@pytest.mark.parametrize("of", ["a first answer", "a second answer"])
def test_a_missing_likelihood_is_said_and_not_replaced(of):
    class Forgetful(Limited):
        """Leaves out how likely one of its answers is."""

        def sample(self, prompt, count, **options):
            drawn = super().sample(prompt, count, **options)
            if (prompt == FIRST_PROMPT) == (of == "a first answer") and len(drawn) > 1:
                drawn[-1] = replace(drawn[-1], log_likelihood=None)
            return drawn

    with pytest.raises(ModelError, match="limited left out how likely") as caught:
        record(ask(100), Forgetful(copies(3), own_log_likelihoods=True, next_token=True))
    assert str(caught.value).endswith(".")


def test_a_missing_likelihood_of_the_greedy_answer_costs_its_score_alone():
    class Forgetful(Limited):
        def sample(self, prompt, count, *, temperature=1.0, **options):
            drawn = super().sample(prompt, count, temperature=temperature, **options)
            return [replace(r, log_likelihood=None) for r in drawn] if not temperature else drawn

    seen = run(ask(100), Forgetful(copies(3), own_log_likelihoods=True, next_token=True))
    unavailable = [name for name, score in seen.scores.items() if not score.available]
    assert unavailable == ["greedy_probability", "certified_mutual_information"]


@pytest.mark.parametrize("at", ["first", "second", "verify"])
def test_errors_of_the_model_come_through(at):
    class Failing(Limited):
        def sample(self, prompt, count, **options):
            if (at == "first") == (prompt == FIRST_PROMPT) and at != "verify":
                raise ModelError("It rains.")
            return super().sample(prompt, count, **options)

        def next_token(self, prompt):
            raise ModelError("It rains.")

    for local in (True, False):
        with pytest.raises(ModelError, match="It rains"):
            record(ask(10), Failing(copies(3), next_token=True, local=local))


# -------------------------------------------------------------------- progress and cancel


@sampled
@pytest.mark.parametrize("local", [True, False])
def test_progress_says_two_stages_and_a_share(estimator, local):
    seen = []
    model = limited(copies(10), estimator, local=local)
    record(ask(100), model, lambda stage, share: seen.append((stage, share)))
    assert list(dict.fromkeys(stage for stage, _ in seen)) == [recorder.SAMPLING, recorder.TELLING]
    for stage in (recorder.SAMPLING, recorder.TELLING):
        shares = [share for name, share in seen if name == stage]
        assert shares == sorted(shares)
        assert shares[0] >= 0 and shares[-1] < 1


@pytest.mark.parametrize("after", [0, 1, 2, 3, 6])
def test_cancelling_stops_before_the_next_call(after):
    model = limited(copies(5), Estimator.COUNTED)
    calls = itertools.count(1)

    def cancel(stage, share):
        if next(calls) > after:
            raise Cancelled

    with pytest.raises(Cancelled):
        record(ask(60), model, cancel)
    assert len(model.asked) + len(model.continued) == after


def pools():
    return [t for t in threading.enumerate() if t.name.startswith("ThreadPoolExecutor")]


def test_cancelling_begins_no_more_calls_to_a_service():
    released, begun = threading.Event(), threading.Semaphore(0)

    class Slow(Limited):
        """Answers second questions only once released."""

        def sample(self, prompt, count, **options):
            drawn = super().sample(prompt, count, **options)
            if prompt != FIRST_PROMPT:
                begun.release()
                assert released.wait(30)
            return drawn

    model = Slow(knows(20), next_token=True, local=False)

    def cancel(stage, share):
        if stage == recorder.TELLING:
            assert all(begun.acquire(timeout=30) for _ in range(8))  # as many as go out at once
            raise Cancelled

    try:
        with pytest.raises(Cancelled):
            record(ask(100), model, cancel)
    finally:
        released.set()
    for thread in pools():
        thread.join(30)
    assert len(model.asked) == 2 + 8
    assert not model.continued


# ---------------------------------------------------------------------------- at once


class Backwards(Limited):
    """Answers the calls of each stage only when all have come, the last one first."""

    def __init__(self, *arguments, stages, **options):
        super().__init__(*arguments, local=False, **options)
        self.stages = stages  # the calls of each, as (prompt, whether it is the greedy one)
        self.changed = threading.Condition()
        self.begun, self.ended, self.threads = [], [], set()

    def _wait(self, call, answer):
        stage = next(stage for stage in self.stages if call in stage)
        later = stage[stage.index(call) + 1 :]
        with self.changed:
            self.threads.add(threading.get_ident())
            self.begun.append(call)
            self.changed.notify_all()
            assert self.changed.wait_for(
                lambda: {*stage} <= {*self.begun} and {*later} <= {*self.ended}, timeout=30
            )
            self.ended.append(call)
            self.changed.notify_all()
        return answer

    def sample(self, prompt, count, *, temperature=1.0, **options):
        drawn = super().sample(prompt, count, temperature=temperature, **options)
        return self._wait((prompt, temperature == 0), drawn)

    def next_token(self, prompt):
        return self._wait((prompt, False), super().next_token(prompt))


@sampled
def test_answers_of_a_service_stand_in_order_whichever_comes_first(estimator):
    calm = record(ask(100), limited(opinionated(4), estimator))
    assert len(calm.texts) == 4  # eight calls in the second stage: all go out at once
    first = [(FIRST_PROMPT, False), (FIRST_PROMPT, True)]
    second = [(asked, False) for asked in (*map(told, calm.texts), *map(verifying, calm.texts))]
    chained = estimator is Estimator.CHAINED
    model = Backwards(
        opinionated(4), own_log_likelihoods=chained, next_token=True, stages=[first, second]
    )
    made = record(ask(100), model)
    assert same(made, calm)
    assert model.ended == first[::-1] + second[::-1]
    assert len(model.threads) > 1 and threading.get_ident() not in model.threads
    assert [call.purpose for call in made.calls] == [call.purpose for call in calm.calls]


def test_a_local_model_is_asked_in_the_callers_own_thread():
    threads = set()

    class Here(Limited):
        def sample(self, prompt, count, **options):
            threads.add(threading.get_ident())
            return super().sample(prompt, count, **options)

    record(ask(20), Here(copies(4)))
    assert threads == {threading.get_ident()}


# --------------------------------------------------------------- verdicts and policies


@sampled
def test_a_model_that_copies_abstains_and_one_that_knows_answers(estimator):
    copying = run(ask(200), limited(copies(3, share=0.9), estimator))
    assert copying.verdict.decision is Decision.ABSTAIN
    assert "told one answer, it changes the next" in copying.verdict.reason
    knowing = run(ask(200), limited(knows(3), estimator))
    assert knowing.verdict.decision is Decision.ANSWER
    assert knowing.verdict.answer == "answer0"
    for seen in (copying, knowing):
        assert f"M.I. is {seen.scores['mutual_information'].doubt:.3f} nats" in seen.verdict.reason
        assert seen.certified is None
        assert seen.doubt.total == pytest.approx(seen.doubt.epistemic + seen.doubt.remaining)


def test_single_answers_counted_once_each_are_too_little():
    """Ten samples, ten answers: Good and Turing have seen nothing that will come again."""
    texts = words(500)
    table = TableModel(texts, np.full(500, 1 / 500), np.full((500, 500), 1 / 500))
    seen = run(ask(10, seed=2), Limited(table, next_token=True))
    assert len(seen.recording.texts) == 10
    assert seen.sampled_mass == 0
    assert seen.verdict.decision is Decision.TOO_LITTLE
    assert "only 0.0% of the probability" in seen.verdict.reason


@sampled
def test_the_default_policy_says_that_it_was_certified_for_another_model(estimator):
    seen = run(ask(100), limited(knows(3), estimator))
    assert seen.verdict.threshold == default_threshold()
    assert "certified for embedded, not for this model" in seen.caveat


@sampled
def test_the_default_policy_says_that_it_was_certified_for_another_estimator(embedded, estimator):
    same = limited(embedded, estimator)
    same.name = embedded.name  # and no more than its abilities is another
    seen = run(Request("What is the capital of France?", 100), same)
    assert seen.verdict.threshold == default_threshold()
    assert "λ was certified for other settings" in seen.caveat
    assert f"estimator “{estimator.value}” instead of “{Estimator.EXACT.value}”" in seen.caveat


@sampled
def test_a_policy_decides_only_for_the_estimator_that_it_was_calibrated_with(estimator):
    made = record(ask(100), limited(knows(3), estimator))
    # A pipeline holds the least mass, which comes from the policy.
    pipeline = replace(read(made).pipeline, least_mass=0.25)
    policy = replace(
        default_policy(), score="semantic_entropy", threshold=math.inf, pipeline=pipeline
    )
    mine = read(made, policy=policy)
    assert (mine.refused, mine.caveat) == (None, None)
    assert mine.verdict.threshold.score == "semantic_entropy"
    for other in Estimator:
        if other is not estimator:
            changed = replace(policy, pipeline=replace(pipeline, estimator=other.value))
            refused = read(made, policy=changed)
            assert f"estimator “{estimator.value}” instead of “{other.value}”" in refused.refused
            assert refused.refused in refused.caveat
            assert refused.verdict.threshold == default_threshold()


def test_a_policy_for_a_score_that_is_missing_here_serves_nothing():
    made = record(ask(50), limited(knows(3), Estimator.COUNTED))
    policy = replace(
        default_policy(), score="greedy_probability", threshold=9.0, pipeline=read(made).pipeline
    )
    seen = read(made, policy=policy)
    assert seen.verdict.decision is Decision.TOO_LITTLE
    assert seen.verdict.reason == "This model does not say how probable its answers are."


@sampled
def test_nothing_can_be_certified_so_there_is_nothing_to_go_on_for(estimator):
    for table in (knows(3), copies(30)):
        why = is_settled(record(ask(100), limited(table, estimator)))
        assert why.startswith("Nothing can be certified here") and why.endswith(".")
        assert "exact likelihoods of given texts" in why


@sampled
def test_a_reading_asks_nothing(estimator):
    model = limited(copies(6), estimator)
    made = record(ask(100), model)
    asked = len(model.asked), len(model.continued)
    for reading in (Reading(), Reading("ratio", 0.4), Reading(threshold=1.0, gamma_1=0.1)):
        seen = read(made, reading)
        assert seen.clusters and seen.cell(0, 0).prompt == told(seen.clusters[0].text)
    is_settled(made)
    growth(made)
    assert (len(model.asked), len(model.continued)) == asked


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
