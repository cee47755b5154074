"""Recordings: what is asked on every rung, that nothing is asked twice, and that they grow."""

import hashlib
import itertools
import threading
from dataclasses import replace

import numpy as np
import pytest

from core import prompts
from core.data.world.normal_form import normal_form
from core.language_models.client.wrapper import Wrapper
from core.language_models.errors import ModelError, RefusedError
from core.language_models.language_model import Response
from core.language_models.true_false import OPINIONS, question
from core.studies.inspection import recorder
from core.studies.inspection.inspection import read, run
from core.studies.inspection.recorder import FEWEST_CHAINS, SLOW_PAIRS_A_CALL, record, usual_request
from core.studies.inspection.recording import Estimator, estimator_of
from core.studies.inspection.request import InvalidRequestError, Request, Sampling
from core.studies.inspection.serialise import from_json, to_json
from core.studies.inspection.verdict import Decision
from core.studies.progress import Cancelled
from tests.fakes import QUERY, Limited, Searched, TableModel, copies, falling, knows, words
from tests.patience import LONG
from tests.studies.inspection.rules import default_rule
from tests.studies.inspection.rungs import every, limited, sampled

FIRST_PROMPT = prompts.iterative(QUERY)
FRUIT = "Name a yellow fruit."


def ask(samples=100, *, seed=0, temperature=0.9):
    return Request(QUERY, samples, temperature, seed)


def opinionated(count):
    """Copies, and thinks otherwise of every answer."""
    model = copies(count)
    for i, answer in enumerate(model.answers, start=1):
        true = i / (count + 1)
        model.table[verifying(answer)] = {prompts.TRUE: true, prompts.FALSE: 1 - true}
    return model


def after(text):
    return prompts.iterative(QUERY, [text])


def verifying(text):
    return prompts.self_verification(QUERY, text)


def same(one, other, *, tolerance=0.0):
    """Say whether two recordings agree in every field but the list of calls."""
    for name in ("request", "model", "revision", "estimator", "texts", "samples", "seconds"):
        assert getattr(one, name) == getattr(other, name), name
    assert one.greedy == other.greedy
    assert one.greedy_log_likelihood == pytest.approx(other.greedy_log_likelihood, abs=tolerance)
    np.testing.assert_allclose(one.log_likelihoods, other.log_likelihoods, rtol=0, atol=tolerance)
    np.testing.assert_allclose(one.verification, other.verification, rtol=0, atol=tolerance)
    assert one.counts.tolist() == other.counts.tolist()
    assert one.complete.tolist() == other.complete.tolist()
    return True


def forget(model):
    """Whatever the model was asked before does not count."""
    for asked in (model.asked, model.scored, model.continued):
        asked.clear()


@pytest.fixture
def any_number(monkeypatch):
    """Chains may be few here: what a study refuses, its parts can do."""
    monkeypatch.setattr(recorder, "FEWEST_CHAINS", 1)


# ------------------------------------------------------------------------------------- which rung


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


# ---------------------------------------------------------------------------------- what is asked


def test_a_recording_holds_what_the_model_says():
    model = copies(6, share=0.5)
    made = record(ask(40), model)
    drawn = [sample.text for sample in made.samples]
    assert len(drawn) == 40
    assert made.texts == tuple(dict.fromkeys(drawn))
    assert made.counts.tolist() == [drawn.count(text) for text in made.texts]
    assert made.complete.all()
    index = [model.answers.index(text) for text in made.texts]
    np.testing.assert_array_equal(made.log_likelihoods[0], np.log(model.first[index]))
    np.testing.assert_array_equal(
        made.log_likelihoods[1:], np.log(model.rows[np.ix_(index, index)])
    )
    np.testing.assert_allclose(np.exp(made.verification), [[0.75, 0.25]] * len(index))
    assert made.greedy.text == model.answers[0]
    assert made.greedy_log_likelihood == np.log(model.first[0])
    assert (made.model, made.revision) == ("table", "1")


@every
def test_the_model_is_asked_the_question_as_it_reads_it(estimator):
    """In every prompt: this one knows nothing about the question as it was typed."""
    typed, read_as = "WHICH of them?? 🤔", normal_form(QUERY)

    def asked(query):
        rows = 0.5 * np.eye(4) + 0.5 * falling(4)
        inner = TableModel(words(4), falling(4), rows, query=read_as)
        for one, other in itertools.combinations(inner.answers, 2):
            inner.table[question(read_as, one, other)] = {prompts.TRUE: 0.1, prompts.FALSE: 0.9}
        inner.reads = normal_form
        return record(Request(query, 100, 0.9, judged=True), limited(inner, estimator))

    careless, careful = asked(typed), asked(read_as)
    assert (careless.request.query, careless.read_as, careless.question) == (
        typed,
        read_as,
        read_as,
    )
    assert (careful.read_as, careful.question) == (None, read_as)
    assert same(careless, replace(careful, request=careless.request))
    np.testing.assert_array_equal(careless.judged, careful.judged)
    shown = read(careless).cell(0, 0)
    assert shown.prompt == prompts.iterative(read_as, [shown.first])


@pytest.mark.parametrize(("temperature", "seed"), [(0.3, 0), (0.9, 5), (2.0, 1)])
def test_samples_are_drawn_as_the_request_says(temperature, seed):
    model = knows(20)
    made = record(ask(15, seed=seed, temperature=temperature), model)
    prompt = prompts.iterative(QUERY)
    assert list(made.samples) == model.sample(prompt, 15, temperature=temperature, seed=seed)
    assert [made.greedy] == model.sample(prompt, 1, temperature=0.0)


def test_ten_samples_are_scored_in_one_call_and_verified_in_another():
    model = knows(20)
    made = record(ask(10), model)
    r = len(made.texts)
    first, *rest = model.scored[0][0]
    assert first == prompts.iterative(QUERY)
    assert rest == [prompts.iterative(QUERY, [text]) for text in made.texts]
    assert model.scored[0][1] == made.texts
    assert model.scored[1] == (
        tuple(prompts.self_verification(QUERY, text) for text in made.texts),
        (prompts.TRUE, prompts.FALSE),
    )
    assert [(call.purpose, call.sequences) for call in made.calls][:4] == [
        ("greedy", 1),
        ("sample", 10),
        ("score", (r + 1) * r),
        ("verify", 2 * r),
    ]


def test_a_slow_model_is_asked_in_small_calls_and_answers_the_same():
    once, often = knows(20), knows(20)
    often.capabilities = replace(often.capabilities, quick=False)
    whole, parts = record(ask(30), once), record(ask(30), often)
    r = len(whole.texts)
    assert len(once.scored) == 2
    sizes = [len(prompts) * len(answers) for prompts, answers in often.scored]
    assert max(sizes) <= SLOW_PAIRS_A_CALL < (r + 1) * r and len(sizes) > 2
    assert np.array_equal(parts.log_likelihoods, whole.log_likelihoods)


def test_the_greedy_answer_is_scored_for_itself_only_when_it_was_not_sampled():
    rare = TableModel(words(3), [0.34, 0.33, 0.33], np.full((3, 3), 1 / 3))
    seeds = range(20)
    for seed in seeds:
        rare.scored.clear()
        made = record(ask(1, seed=seed, temperature=1.0), rare)
        extra = [asked for asked in rare.scored if asked[1] == (made.greedy.text,)]
        alone = [asked for asked in extra if asked[0] == (prompts.iterative(QUERY),)]
        assert len(alone) == (made.greedy.text not in made.texts)
        assert made.greedy_log_likelihood == np.log(0.34)
    assert {record(ask(1, seed=seed), rare).texts for seed in seeds} >= {("answer0",), ("answer1",)}


def test_texts_that_were_cut_off_are_marked():
    model = TableModel(words(4), falling(4), np.tile(falling(4), (4, 1)), cut={"answer1"})
    made = record(ask(60), model)
    assert set(made.texts) == set(model.answers)
    assert {t for t, ended in zip(made.texts, made.complete, strict=True) if not ended} == {
        "answer1"
    }


def test_large_recordings_are_scored_in_several_calls_with_the_same_result(monkeypatch):
    whole = record(ask(60), copies(30))
    monkeypatch.setattr(recorder, "PAIRS_A_CALL", 50)
    model, cancelled = copies(30), copies(30)
    assert same(record(ask(60), model), whole)
    assert max(len(p) * len(a) for p, a in model.scored) <= 60
    assert len(model.scored) > 5

    def cancel(stage, share):
        if share > 0.5:
            raise Cancelled

    with pytest.raises(Cancelled):
        record(ask(60), cancelled, cancel)
    assert 1 <= len(cancelled.scored) < len(model.scored)


@sampled
def test_every_distinct_sample_is_told_and_answered_thirty_times_or_as_often_as_it_came(estimator):
    model = limited(copies(6, share=0.5), estimator)
    made = record(ask(150, temperature=0.9, seed=3), model)
    greedy, first, *rest = model.asked
    assert (first.prompt, first.count, first.temperature) == (FIRST_PROMPT, 150, 0.9)
    assert (first.seed, first.first) == (3, 0)
    assert (greedy.prompt, greedy.count, greedy.temperature) == (FIRST_PROMPT, 1, 0)
    assert [a.prompt for a in rest] == [after(text) for text in made.texts]
    chained = estimator is Estimator.CHAINED
    times = made.counts.tolist() if chained else [30] * len(made.texts)
    assert [a.count for a in rest] == [len(row) for row in made.seconds] == times
    assert {(a.temperature, a.first) for a in rest} == {(0.9, 0)}
    assert model.continued == [verifying(text) for text in made.texts]


@sampled
def test_a_sampled_recording_holds_what_the_model_says(estimator):
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


def test_calls_say_what_for_how_many_and_how_long():
    model = limited(copies(3), Estimator.COUNTED)
    made = record(ask(20), model)
    r = len(made.texts)
    expected = [("greedy", 1), ("sample", 20)] + [("sample again", 30)] * r + [("verify", 2)] * r
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


# ------------------------------------------------------------------------------------------ seeds


@sampled
def test_second_answers_have_seeds_of_their_own(estimator):
    """With the seed of the first answer, a second one would come of the same random numbers."""

    def seeds(seed):
        model = limited(knows(12), estimator)
        record(ask(200, seed=seed), model)
        return {a.prompt: a.seed for a in model.asked if a.prompt != FIRST_PROMPT}

    found = seeds(5)
    assert len({5, *found.values()}) == 1 + len(found) == 13
    assert all(0 <= seed < 2**32 for seed in found.values())
    assert seeds(5) == found
    assert set(seeds(6).values()).isdisjoint(found.values())


def test_seeds_are_the_same_for_ever():
    """With others, a recording that was kept could not grow: its series would break off."""
    model = limited(TableModel(["Zürich"], [1.0], [[1.0]]), Estimator.COUNTED)
    record(ask(1, seed=7), model)
    digest = hashlib.sha256("7\0Zürich".encode()).hexdigest()
    (told,) = (asked for asked in model.asked if asked.prompt == after("Zürich"))
    assert told.seed == int(digest[:8], 16) == 0xE3A6F8CB


# ---------------------------------------------------------------------------------------- growing


@every
@pytest.mark.parametrize("next_token", [True, False])
def test_extending_makes_the_recording_that_asking_at_once_makes(estimator, next_token):
    def made(samples, previous=None):
        model = limited(opinionated(40), estimator, next_token=next_token)
        return record(ask(samples, seed=4), model, previous=previous)

    whole, smaller = made(160), made(100)
    assert len(whole.texts) > len(smaller.texts)
    assert same(made(160, smaller), whole)
    assert same(made(160, made(130, smaller)), whole)


def test_extending_asks_for_missing_cells_only():
    model = copies(40)
    ten = record(ask(10, seed=1), model)
    assert model.sampled == [(0, 1), (0, 10)]  # the greedy answer, the samples
    asked = set(model.pairs)
    assert len(asked) == len(model.pairs)
    model.scored.clear()
    model.sampled.clear()
    thirty = record(ask(30, seed=1), model, previous=ten)
    r, more = len(ten.texts), len(thirty.texts)
    assert more > r
    assert model.sampled == [(10, 20)]
    assert len(model.pairs) == (more + 1) * more - (r + 1) * r + 2 * (more - r)
    assert len(set(model.pairs)) == len(model.pairs)
    assert asked.isdisjoint(model.pairs)
    assert thirty.calls[: len(ten.calls)] == ten.calls
    assert sum(c.sequences for c in thirty.calls if c.purpose == "sample") == 30


@sampled
def test_extending_asks_only_for_what_is_missing(estimator):
    model = limited(copies(40), estimator, next_token=False)
    before = record(ask(100), model)
    had = len(before.texts)
    model.asked.clear()
    grown = record(ask(130), model, previous=before)
    new = grown.texts[had:]
    assert new
    first, *rest = model.asked
    assert (first.prompt, first.first, first.count) == (FIRST_PROMPT, 100, 30)
    again = [a for a in rest if a.prompt in map(after, grown.texts)]
    opinions = [a for a in rest if a not in again]
    assert [a.prompt for a in opinions] == [verifying(text) for text in new]
    asked = {(after(text), 0, 30) for text in new}
    if estimator is Estimator.CHAINED:
        counts = [before.counts.tolist() + [0] * len(new), grown.counts.tolist()]
        asked = {
            (after(text), there, wanted - there)
            for text, there, wanted in zip(grown.texts, *counts, strict=True)
            if wanted > there
        }
        assert any(there for _, there, _ in asked)
    assert {(a.prompt, a.first, a.count) for a in again} == asked
    assert len(again) == len(asked)
    assert grown.calls[: len(before.calls)] == before.calls


@every
def test_nothing_is_told_again_when_nothing_new_is_said(estimator, any_number):
    model = limited(TableModel(["yes"], [1.0], [[1.0]]), estimator)
    one = record(ask(1), model)
    forget(model)
    five = record(ask(5), model, previous=one)
    more = [(1, 4), (1, 4)] if estimator is Estimator.CHAINED else [(1, 4)]
    assert [(a.first, a.count) for a in model.asked] == more
    assert not (model.continued or model.scored)
    assert same(five, record(ask(5), model))


@pytest.mark.parametrize("k", [1, 5, 59, 60])
@every
def test_the_first_k_samples_are_the_recording_of_k_samples_and_ask_nothing(
    k, estimator, any_number
):
    sixty = record(ask(60), limited(opinionated(40), estimator))
    alone, model = (limited(opinionated(40), estimator) for _ in range(2))
    alone = record(ask(k), alone)
    assert same(sixty.first(k), alone) and same(record(ask(k), model, previous=sixty), alone)
    assert read(sixty.first(k)).scores == read(alone).scores
    assert not (model.asked or model.continued or model.scored)


def test_a_cut_text_is_marked_only_if_it_was_among_the_first_samples():
    made = record(ask(4), TableModel(["yes"], [1.0], [[1.0]]))
    cut = tuple(replace(sample, complete=i < 2) for i, sample in enumerate(made.samples))
    made = replace(made, samples=cut)
    assert [made.first(k).complete.tolist() for k in (2, 3, 4)] == [[True], [False], [False]]


@pytest.mark.parametrize(
    "change",
    [{"query": "Another one?"}, {"temperature": 0.5}, {"seed": 1}],
    ids=lambda c: next(iter(c)),
)
def test_only_the_same_series_can_grow(change):
    ten = record(ask(10), copies(20))
    with pytest.raises(ValueError, match="same query, temperature and seed"):
        record(replace(ask(30), **change), copies(20), previous=ten)


@pytest.mark.parametrize("name", ["name", "revision"])
def test_another_models_recording_cannot_grow(name):
    ten, other = record(ask(10), copies(20)), copies(20)
    setattr(other, name, "other")
    with pytest.raises(ValueError, match="same model"):
        record(ask(30), other, previous=ten)


def test_the_shipped_model_grows_too(embedded):
    twelve, six = (record(Request("Name a yellow fruit.", k), embedded) for k in (12, 6))
    assert same(record(twelve.request, embedded, previous=six), twelve, tolerance=1e-4)
    assert same(twelve.first(6), six, tolerance=1e-4)


# ------------------------------------------------------------------------------ self-verification


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


def test_next_tokens_verify():
    """What they say is read by `true_false`, whose own tests have every spelling."""
    table = TableModel(words(2), [0.5, 0.5], np.full((2, 2), 0.5), true=0.8)
    made = record(ask(5), Limited(table, next_token=True))
    np.testing.assert_allclose(np.exp(made.verification), [[0.8, 0.2]] * len(made.texts))
    assert read(made).scores["self_verification"].value == pytest.approx(0.8)


# ----------------------------------------------------------------------------------------- faults


@pytest.mark.parametrize("of", ["a first answer", "a second answer"])
@pytest.mark.parametrize("every", [2, 25])
def test_a_missing_likelihood_is_no_answer_and_many_are_said(of, every):
    """It is kept: were it refused, it would be for ever, and all else be paid for in vain."""

    class Forgetful(Limited):
        """Leaves out how likely some of its answers are."""

        drawn = 0

        def sample(self, prompt, count, **options):
            answers = super().sample(prompt, count, **options)
            concerned = (prompt == FIRST_PROMPT) == (of == "a first answer")
            for place in range(len(answers)) if concerned and options["temperature"] else ():
                self.drawn += 1
                if self.drawn % every == 0:
                    answers[place] = replace(answers[place], log_likelihood=None)
            return answers

    model = Forgetful(copies(3), own_log_likelihoods=True, next_token=True)
    if every < 10:
        with pytest.raises(ModelError, match="limited no longer reports how likely") as caught:
            record(ask(100), model)
        assert str(caught.value).endswith(".")
        return
    seen = run(ask(100), model)
    gaps = {"withheld: its likelihood": 4} if of == "a first answer" else {}
    assert seen.recording.gaps == gaps
    assert sum(second.refusal != "" for row in seen.recording.seconds for second in row) == (
        0 if gaps else 4
    )
    assert seen.scores["mutual_information"].doubt is not None
    same(from_json(to_json(seen)).recording, seen.recording)


def test_a_missing_likelihood_of_the_greedy_answer_costs_its_score_alone():
    class Forgetful(Limited):
        def sample(self, prompt, count, *, temperature=1.0, **options):
            drawn = super().sample(prompt, count, temperature=temperature, **options)
            return [replace(r, log_likelihood=None) for r in drawn] if not temperature else drawn

    seen = run(ask(100), Forgetful(copies(3), own_log_likelihoods=True, next_token=True))
    unavailable = [name for name, score in seen.scores.items() if score.value is None]
    exact = ["certified_mutual_information", "weighted_doubt"]  # never of this estimator
    assert unavailable == ["greedy_probability", *exact]


@pytest.mark.parametrize("at", ["first", "second", "verify"])
@pytest.mark.parametrize("local", [True, False])
def test_errors_of_the_model_come_through(at, local):
    class Failing(Limited):
        def sample(self, prompt, count, **options):
            if (at == "first") == (prompt == FIRST_PROMPT) and at != "verify":
                raise ModelError("It rains.")
            return super().sample(prompt, count, **options)

        def next_token(self, prompt):
            raise ModelError("It rains.")

    with pytest.raises(ModelError, match="It rains"):
        record(ask(10), Failing(copies(3), next_token=True, local=local))


# ---------------------------------------------------------------------------- progress and cancel


@every
@pytest.mark.parametrize("local", [True, False])
def test_progress_says_two_stages_and_a_share(estimator, local):
    seen = []
    model = limited(copies(10), estimator, local=local)
    record(ask(100), model, lambda stage, share: seen.append((stage, share)))
    stages = list(dict.fromkeys(stage for stage, _ in seen))
    assert len(stages) == 2 and stages[0] == recorder.SAMPLING
    for stage in stages:
        shares = [share for name, share in seen if name == stage]
        assert shares == sorted(shares)
        assert shares[0] >= 0 and shares[-1] < 1


@every
@pytest.mark.parametrize("calls", [0, 1, 2])
def test_cancelling_stops_before_the_next_call(estimator, calls):
    model = limited(copies(20), estimator)
    looks = itertools.count(1)

    def cancel(stage, share):
        if next(looks) > calls:
            raise Cancelled

    with pytest.raises(Cancelled):
        record(ask(100), model, cancel)
    assert len(model.asked) + len(model.continued) + len(model.scored) == calls


def test_cancelling_begins_no_more_calls_to_a_service():
    released, begun = threading.Event(), threading.Semaphore(0)

    class Slow(Limited):
        """Answers second questions only once released."""

        def sample(self, prompt, count, **options):
            drawn = super().sample(prompt, count, **options)
            if prompt != FIRST_PROMPT:
                begun.release()
                assert released.wait(LONG)
            return drawn

    model = Slow(knows(20), next_token=True, local=False)

    def cancel(stage, share):
        if stage == recorder.TELLING:
            assert all(begun.acquire(timeout=LONG) for _ in range(8))  # as many as go out at once
            raise Cancelled

    try:
        with pytest.raises(Cancelled):
            record(ask(100), model, cancel)
    finally:
        released.set()
    for thread in threading.enumerate():
        if thread.name.startswith("ThreadPoolExecutor"):
            thread.join(LONG)
    assert len(model.asked) == 2 + 8
    assert not model.continued


# -------------------------------------------------------------------------------------- a service


@pytest.mark.parametrize("pairs", [20, 50, 2000])
def test_a_service_is_asked_for_the_same_in_pieces(monkeypatch, pairs):
    def service():
        return limited(copies(30), Estimator.EXACT, local=False)

    monkeypatch.setattr(recorder, "PAIRS_A_CALL", pairs)
    model = service()
    made, whole = record(ask(60), model), record(ask(60), copies(30))
    assert made.seconds == ()
    assert same(replace(made, model="table"), whole)
    scored = [(p, a) for some, answers in model.scored for p in some for a in answers]
    assert len(scored) == len({*scored})
    grown = record(ask(60), service(), previous=record(ask(10), service()))
    assert same(replace(grown, model="table"), whole)


@pytest.mark.parametrize(
    ("abilities", "samples"),
    [({"scores_given_text": True}, 10), ({"own_log_likelihoods": True}, FEWEST_CHAINS), ({}, 10)],
)
def test_the_usual_number_of_samples_is_one_that_the_estimator_takes(abilities, samples):
    capabilities = Limited(copies(3), **abilities).capabilities
    usual = usual_request(QUERY, capabilities)
    assert (usual.samples, usual.sampling) == (samples, Sampling.DRAWN)
    recorder.check_samples(usual, capabilities)


@sampled
@pytest.mark.parametrize("local", [True, False])
def test_a_service_is_asked_by_other_threads_and_answers_stand_where_they_belong(estimator, local):
    threads = set()

    class Noting(Limited):
        def sample(self, prompt, count, **options):
            threads.add(threading.get_ident())
            return super().sample(prompt, count, **options)

    abilities = {"own_log_likelihoods": estimator is Estimator.CHAINED, "next_token": True}
    made = record(ask(100), Noting(opinionated(4), local=local, **abilities))
    calm = record(ask(100), limited(opinionated(4), estimator))
    assert same(made, calm)
    assert [call.purpose for call in made.calls] == [call.purpose for call in calm.calls]
    assert (threads == {threading.get_ident()}) == (threading.get_ident() in threads) == local


# ------------------------------------------------- the likeliest answers, and what else is told


def searched(query=QUERY, samples=8, **wanted):
    return Request(query, samples, sampling=Sampling.LIKELIEST, **wanted)


def test_the_likeliest_answers_are_compared_and_those_that_hardly_count_left_out():
    """The least is 0.1 / 8 of the likeliest, and not of the whole: 0.00625."""
    first = [0.5, 0.3, 0.1, 0.05, 0.038, 0.006, 0.006]
    made = record(searched(), Searched(words(7), first, np.tile(first, (7, 1))))
    assert made.texts == tuple(words(5))
    assert made.counts.tolist() == [1] * 5
    np.testing.assert_allclose(np.exp(made.log_likelihoods[0]), first[:5])


def test_a_seed_and_a_temperature_say_nothing_where_nothing_is_drawn():
    assert searched(temperature=0.3, seed=9) == searched()


def test_a_diffuse_model_keeps_more_than_its_likeliest_answer():
    """Measured against the whole, all but one would be left out, and M.I. would be 0 for that."""
    first = np.array([0.025, *[0.011] * 7, *[0.898 / 900] * 900])
    made = record(searched(), Searched(words(908), first, np.tile(first, (908, 1))))
    assert made.texts == tuple(words(8))


@pytest.mark.parametrize("samples", [1, 3, 8, 20, 40])
def test_fewer_of_the_likeliest_are_the_recording_that_fewer_make(samples):
    model = Searched(words(40), falling(40), copies(40).rows)
    whole = record(searched(samples=40), model)
    assert same(whole.first(samples), record(searched(samples=samples), model))
    grown = record(searched(samples=40), model, previous=record(searched(samples=samples), model))
    assert same(grown, whole)


def test_a_model_that_cannot_be_searched_says_so():
    with pytest.raises(InvalidRequestError, match=r"cannot be searched.*Choose drawn answers\.$"):
        record(searched(), copies(3))


def holds_to(share):
    """A model that always says the first answer; told another, with this probability only."""
    rows = [[1.0, 0, 0], [share, 1 - share, 0], [share, 0, 1 - share]]
    return [words(3), [0.999, 0.0006, 0.0004], rows]


@pytest.mark.parametrize("share", [0.1, 0.9])
def test_a_model_with_one_answer_is_told_the_likeliest_others(share):
    made = record(searched(), Searched(*holds_to(share)))
    assert [text for text, _ in made.others] == words(3)[1:]
    assert [kept for _, kept in made.others] == pytest.approx([share] * 2)
    seen = read(made, rule=default_rule())
    assert (seen.verdict.decision is Decision.ABSTAIN) == (share < 0.5)
    assert "“answer1” or “answer2”" in seen.verdict.reason


@pytest.mark.parametrize("share", [0.1, 0.9])
def test_wordings_that_no_rule_joins_may_be_one_answer_and_are_told_others(share):
    """Else a second wording would stand as another answer, which the first hardly changes."""
    texts = ["Everest", "Everest indeed", "Annapurna", "Lhotse"]
    own = np.array([0.6, 0.398, 0.001, 0.001])
    gives_way = [share * own + [0, 0, *((1 - share) * np.eye(2)[i])] for i in range(2)]
    made = record(searched(), Searched(texts, own, [own, own, *gives_way]))
    assert made.texts == tuple(texts[:2]) and [text for text, _ in made.others] == texts[2:]
    for rule in (default_rule(), None):
        seen = read(made, rule=rule)
        assert len(seen.clusters) == 2
        assert (seen.verdict.decision is Decision.ANSWER) == seen.stands == (share > 0.5)


def test_where_the_likeliest_are_spellings_of_one_answer_others_are_looked_for_further_down():
    others = ["Rome", "Oslo", "Bern"]
    texts = [*(f"Paris{'!' * i}" for i in range(8)), *others]
    first = [0.9, *[0.0128] * 7, 0.0045, 0.0035, 0.0024]
    order = sorted(zip(first, texts, strict=True), reverse=True)
    texts, first = [text for _, text in order], [p for p, _ in order]
    made = record(searched(samples=1), Searched(texts, first, np.tile(first, (11, 1))))
    assert made.texts == ("Paris",)
    assert {text for text, _ in made.others} == {*others}


def test_garbage_is_no_counter_answer_though_it_is_likelier():
    """All of this was told to models that gave a single answer, and quoted as answers."""
    garbage = ["Leonardo2", "Leonardoa", "Leonard", "them", "1503"]
    texts = ["Leonardo", *garbage, "Raphael", "Titian"]
    first = [0.9, *[0.008] * 5, 0.005, 0.004]
    made = record(searched(), Searched(texts, first, np.tile(first, (8, 1))))
    assert made.texts == ("Leonardo",)
    assert [text for text, _ in made.others] == ["Raphael", "Titian"]
    assert made.first(1).others == made.others


@every
def test_where_answers_are_drawn_others_are_drawn_more_freely(estimator):
    table = TableModel(words(3), [0.98, 0.01, 0.01], holds_to(0.2)[2])
    every = (record(ask(seed=i, temperature=0.7), limited(table, estimator)) for i in range(99))
    made = next(made for made in every if made.others)
    assert made.texts == ("answer0",)
    for text, kept in made.others:
        assert text in words(3)[1:]
        assert kept == pytest.approx(0.2, abs=1e-9 if estimator is Estimator.EXACT else 0.2)


@sampled
def test_a_service_that_takes_no_such_temperature_is_asked_at_a_lower_one(estimator):
    """Else an inspection that was paid for would be lost, each time anew."""

    class Cold(Wrapper):
        def sample(self, prompt, count, *, temperature=1.0, **options):
            if temperature > 1:
                raise RefusedError("temperature: 0 to 1")
            return super().sample(prompt, count, temperature=temperature, **options)

    table = TableModel(words(3), [0.98, 0.01, 0.01], holds_to(0.2)[2])
    cold = (Cold(limited(table, estimator)) for _ in range(99))
    assert any(record(ask(seed=i), model).others for i, model in enumerate(cold))


def test_a_model_that_says_nothing_else_is_told_nothing_else():
    made = record(ask(10), TableModel(["answer0"], [1.0], [[1.0]]))
    assert made.others == ()
    assert "was told no other" in read(made).verdict.reason


def test_others_may_stand_among_the_rest_of_a_larger_recording():
    one = record(searched(samples=40), Searched(words(40), falling(40), copies(40).rows)).first(1)
    assert [text for text, _ in one.others] == words(4)[1:]
    np.testing.assert_allclose([kept for _, kept in one.others], copies(40).rows[1:4, 0])


# -------------------------------------------------------------------------- nothing at all


@every
def test_nothing_at_all_is_no_answer(estimator):
    model = TableModel(["", "Paris", "Rome"], [0.5, 0.3, 0.2], [[0.5, 0.3, 0.2]] * 3)
    made = record(ask(100), limited(model, estimator))
    assert len(made.samples) == 100 and set(made.texts) == {"Paris", "Rome"}
    assert made.greedy.text == "Paris"  # the greedy one is empty
    inspection = read(made)
    assert {cluster.text for cluster in inspection.clusters} == {"Paris", "Rome"}
    assert read(made.first(100)).recording == made
    silent = TableModel(["", "Paris"], [1.0, 0.0], [[1.0, 0.0]] * 2)
    with pytest.raises(ModelError, match="says nothing at all when it is asked"):
        record(ask(100), limited(silent, estimator))


@sampled
def test_a_model_that_is_silent_when_it_is_told_an_answer_says_so(estimator):
    model = TableModel(["Paris", ""], [0.99, 0.01], [[0.0, 1.0]] * 2)
    with pytest.raises(ModelError, match="when it is told an answer"):
        record(ask(100), limited(model, estimator))


@sampled
def test_a_rare_answer_after_which_nothing_is_said_is_left_out(estimator):
    def model(share):
        return TableModel(
            ["Paris", "Rome", ""],
            [1 - share, share, 0.0],
            [[0.9, 0.1, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]],
        )

    with pytest.raises(ModelError, match="when it is told an answer"):
        record(ask(100), limited(model(0.4), estimator))
    made = record(ask(100), limited(model(0.06), estimator))
    assert "Rome" in made.texts
    inspection = read(made)
    assert inspection.clusters[0].text == "Paris"
    assert inspection.scores["mutual_information"].doubt is not None
    assert from_json(to_json(inspection)).verdict == inspection.verdict


class Gappy(Wrapper):
    """Withholds answers by their index, and cannot score some texts."""

    def __init__(self, inner, withheld=(), unscorable=()):
        super().__init__(inner)
        self.withheld, self.unscorable = withheld, unscorable

    def sample(self, prompt, count, *, first=0, **options):
        answers = super().sample(prompt, count, first=first, **options)
        gap = Response("", False, refusal="its safety filter")
        withheld = self.withheld if prompt == FIRST_PROMPT and options["temperature"] else ()
        return [gap if first + i in withheld else a for i, a in enumerate(answers)]

    def log_likelihoods(self, prompts, answers):
        table = super().log_likelihoods(prompts, answers)
        table[:, [answer in self.unscorable for answer in answers]] = np.nan
        return table


@every
def test_withheld_answers_are_counted_and_the_others_used(estimator):
    model = Gappy(limited(copies(3), estimator), withheld={1, 5, 7})
    inspection = run(ask(100), model)
    assert inspection.recording.gaps == {"withheld: its safety filter": 3}
    assert sum(cluster.samples for cluster in inspection.clusters) == 97
    assert from_json(to_json(inspection)).recording.gaps == inspection.recording.gaps
    with pytest.raises(ModelError, match=r"withheld 100 of 100 answers .*: its safety filter"):
        record(ask(100), Gappy(limited(copies(3), estimator), withheld=range(100)))


def test_an_answer_that_cannot_be_scored_is_left_out_and_counted():
    model = Gappy(copies(3), unscorable={"answer0"})
    first = record(ask(20), model)
    assert set(first.texts) == {"answer1", "answer2"} and first.log_likelihoods.shape == (3, 2)
    assert first.greedy.text != "answer0" and np.isfinite(first.greedy_log_likelihood)
    assert first.gaps == {"could not be scored": sum(s.text == "answer0" for s in first.samples)}
    larger = record(ask(40), model, previous=first)
    same(larger, record(ask(40), model))
    same(from_json(to_json(read(larger))).recording, larger)
    with pytest.raises(ModelError, match="can score none of its answers"):
        record(ask(20), Gappy(copies(3), unscorable=set(words(3))))


def test_of_a_service_answers_of_no_weight_are_not_told():
    """What a person does not pay for moves nothing: each costs two calls an answer."""
    first = np.array([0.6, 0.3, 0.096, *[0.0002] * 20])
    table = TableModel(words(23), first, 0.5 * np.eye(23) + 0.5 * first)
    free = limited(table, Estimator.EXACT)
    paid, anew = (limited(table, Estimator.EXACT, local=False) for _ in range(2))
    request = ask(30, temperature=2.0)
    whole, made = record(request, free), record(request, paid)
    rare = set(whole.texts) - set(words(3))
    assert len(rare) > 1 and set(made.unlikely) == rare
    assert made.texts == tuple(text for text in whole.texts if text not in rare)
    told = {prompt for prompts, _ in paid.scored for prompt in prompts}
    assert not told & ({after(text) for text in rare} | {verifying(text) for text in rare})
    pairs = sum(len(prompts) * len(answers) for prompts, answers in paid.scored)
    assert pairs == len(whole.texts) + 9 + 6  # of the question alone, then of three answers
    values = [read(one).evidence.mutual_information.value for one in (whole, made)]
    assert values[1] == pytest.approx(values[0], abs=0.005)
    assert made.gaps == {"too unlikely": sum(s.text in rare for s in made.samples)}
    assert not read(made).verdict.reason.count("missing")

    forget(paid)
    larger = record(ask(60, temperature=2.0), paid, previous=made)
    asked = [
        pair for prompts, answers in paid.scored for pair in itertools.product(prompts, answers)
    ]
    assert len(set(asked)) == len(asked) and not {text for _, text in asked} & set(whole.texts)
    same(larger, record(ask(60, temperature=2.0), anew))
    same(larger.first(30), made)
    assert larger.first(30).gaps == made.gaps
    assert from_json(to_json(read(larger))).recording.gaps == larger.gaps


@every
def test_with_many_answers_missing_none_of_the_others_is_served(estimator):
    """Less evidence never gives a stronger word: the others alone would stand."""
    sure = TableModel(words(2), [0.99, 0.01], [[0.99, 0.01]] * 2)
    whole = run(ask(100), limited(sure, estimator))
    gappy = run(ask(100), Gappy(limited(sure, estimator), withheld=range(20)))
    assert whole.decision is Decision.ANSWER
    assert gappy.decision is Decision.UNDECIDED
    assert "20 of 100 answers are missing: withheld: its safety filter" in gappy.verdict.reason


def test_probabilities_that_add_up_to_more_than_one_are_none():
    class Sure(Wrapper):
        def log_likelihoods(self, prompts, answers):
            return np.full((len(prompts), len(answers)), -0.01)

    with pytest.raises(ModelError, match=r"add up to 2\.97"):
        record(ask(50), Sure(copies(3)))


# ------------------------------------------------------- models that break what they promise


@sampled
@pytest.mark.parametrize("share", [0.0, 0.1, 1.1])
def test_another_number_of_second_answers_is_refused(estimator, share):
    """One of thirty shows nothing that what is told changes, whatever the model does then."""

    class Hasty(Wrapper):
        def sample(self, prompt, count, **options):
            answers = super().sample(prompt, count + 10, **options)
            return answers if count == 1 else answers[: count if prompt == FIRST_PROMPT else few]

    few = int(share * recorder.SECONDS)
    with pytest.raises(ModelError, match=r"asked for \d+ answers? and gave"):
        record(ask(100), Hasty(limited(copies(3), estimator)))


@pytest.mark.parametrize("local", [True, False])
@pytest.mark.parametrize(
    "table",
    [
        lambda scores: scores[0],
        lambda scores: scores[:1],
        lambda scores: scores[:, :1],
        lambda scores: scores[0, 0],
        lambda scores: scores.T,
    ],
)
def test_a_table_of_another_shape_is_refused(table, local):
    """A single row would be taken for all, and nothing would depend on what is told."""

    class Narrow(Wrapper):
        def log_likelihoods(self, prompts, answers):
            return table(super().log_likelihoods(prompts, answers))

    with pytest.raises(ModelError, match=r"was to score .*log_likelihoods"):
        record(ask(20), Narrow(limited(copies(3), Estimator.EXACT, local=local)))


@pytest.mark.parametrize("told", [False, True])
def test_samples_that_are_likelier_together_than_anything_are_refused(told):
    class Boastful(Wrapper):
        def sample(self, prompt, count, **options):
            answers = super().sample(prompt, count, **options)
            value = {"log_likelihood": -0.1} if told is (prompt != FIRST_PROMPT) else {}
            return [replace(answer, **value) for answer in answers]

    model = TableModel(words(2), [0.5, 0.5], [[0.5, 0.5]] * 2)
    with pytest.raises(ModelError, match=r"add up to 1\.81, so they are none"):
        record(ask(100), Boastful(limited(model, Estimator.CHAINED)))
    begun = TableModel(["Paris", "Paris in Texas"], [0.9, 0.1], [[0.9, 0.1]] * 2)
    assert record(ask(100), Boastful(limited(begun, Estimator.CHAINED))).texts == tuple(
        begun.answers
    )
