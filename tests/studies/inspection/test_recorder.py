"""Recordings: what is asked, that nothing is asked twice, and that they grow."""

from dataclasses import replace

import numpy as np
import pytest

from core import prompts
from core.language_models.base import LanguageModel
from core.studies.inspection import recorder
from core.studies.inspection.recorder import FEWEST_CHAINS, record, usual_samples
from core.studies.inspection.recording import Estimator, estimator_of
from core.studies.inspection.request import MAX_QUERY_CHARACTERS, InvalidRequestError, Request
from core.studies.progress import Cancelled
from tests.fakes import QUERY, Limited, TableModel, copies, falling, knows, words


def ask(samples, *, seed=0, temperature=0.9):
    return Request(QUERY, samples, temperature, seed)


def same(one, other, *, tolerance=0.0):
    """Say whether two recordings agree in every field but the list of calls."""
    assert one.request == other.request
    assert (one.model, one.revision) == (other.model, other.revision)
    assert one.samples == other.samples
    assert one.greedy == other.greedy
    assert one.greedy_log_likelihood == pytest.approx(other.greedy_log_likelihood, abs=tolerance)
    assert one.texts == other.texts
    np.testing.assert_allclose(one.log_likelihoods, other.log_likelihoods, rtol=0, atol=tolerance)
    np.testing.assert_allclose(one.verification, other.verification, rtol=0, atol=tolerance)
    assert one.counts.tolist() == other.counts.tolist()
    assert one.complete.tolist() == other.complete.tolist()
    return True


# ------------------------------------------------------------------------ what is asked


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
        ("sample", 10),
        ("greedy", 1),
        ("score", (r + 1) * r),
        ("verify", 2 * r),
    ]


def test_the_greedy_answer_is_scored_for_itself_only_when_it_was_not_sampled():
    rare = TableModel(words(3), [0.34, 0.33, 0.33], np.full((3, 3), 1 / 3))
    seeds = range(20)
    for seed in seeds:
        rare.scored.clear()
        made = record(ask(1, seed=seed, temperature=1.0), rare)
        extra = [asked for asked in rare.scored if asked[1] == (made.greedy.text,)]
        alone = [asked for asked in extra if len(asked[0]) == 1]
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
    model = copies(30)
    assert same(record(ask(60), model), whole)
    assert max(len(p) * len(a) for p, a in model.scored) <= 60
    assert len(model.scored) > 5


# ------------------------------------------------------------------------------ growing


@pytest.mark.parametrize("maker", [knows, copies])
@pytest.mark.parametrize("seed", [0, 7])
def test_extending_makes_the_recording_that_asking_at_once_makes(maker, seed):
    whole = record(ask(30, seed=seed), maker(40))
    ten = record(ask(10, seed=seed), maker(40))
    twenty = record(ask(20, seed=seed), maker(40), previous=ten)
    assert same(record(ask(30, seed=seed), maker(40), previous=ten), whole)
    assert same(record(ask(30, seed=seed), maker(40), previous=twenty), whole)


def test_extending_asks_for_missing_cells_only():
    model = copies(40)
    ten = record(ask(10), model)
    assert model.sampled == [(0, 10), (0, 1)]  # the samples, the greedy answer
    asked = set(model.pairs)
    assert len(asked) == len(model.pairs)
    model.scored.clear()
    model.sampled.clear()
    thirty = record(ask(30), model, previous=ten)
    r, more = len(ten.texts), len(thirty.texts)
    assert more > r
    assert model.sampled == [(10, 20)]
    assert len(model.pairs) == (more + 1) * more - (r + 1) * r + 2 * (more - r)
    assert len(set(model.pairs)) == len(model.pairs)
    assert asked.isdisjoint(model.pairs)


def test_nothing_is_scored_when_nothing_new_is_said():
    model = TableModel(["yes"], [1.0], [[1.0]])
    one = record(ask(1), model)
    model.scored.clear()
    five = record(ask(5), model, previous=one)
    assert model.scored == []
    assert same(five, record(ask(5), model))


@pytest.mark.parametrize("k", [1, 5, 10, 29, 30])
def test_the_first_k_samples_are_the_recording_of_k_samples(k):
    thirty = record(ask(30), copies(40))
    assert same(thirty.first(k), record(ask(k), copies(40)))


def test_a_cut_text_is_marked_only_if_it_was_among_the_first_samples():
    class Wavering(TableModel):
        """Says the same text each time, cut off from the third sample on."""

        def sample(self, prompt, count, *, temperature=1.0, seed=0, first=0):
            drawn = super().sample(prompt, count, temperature=temperature, seed=seed, first=first)
            return [replace(r, complete=first + i < 2) for i, r in enumerate(drawn)]

    made = record(ask(4), Wavering(["yes"], [1.0], [[1.0]]))
    assert made.complete.tolist() == [False]
    assert made.first(2).complete.tolist() == [True]
    assert made.first(3).complete.tolist() == [False]


def test_fewer_samples_of_a_previous_recording_ask_nothing():
    model = copies(20)
    ten = record(ask(10), model)
    model.scored.clear()
    model.sampled.clear()
    assert same(record(ask(4), model, previous=ten), record(ask(4), copies(20)))
    assert same(record(ask(10), model, previous=ten), ten)
    assert (model.sampled, model.scored) == ([], [])


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


def test_calls_add_up_over_extensions():
    model = copies(20)
    ten = record(ask(10), model)
    thirty = record(ask(30), model, previous=ten)
    assert thirty.calls[: len(ten.calls)] == ten.calls
    assert sum(c.sequences for c in thirty.calls if c.purpose == "sample") == 30
    assert all(call.seconds >= 0 for call in thirty.calls)


# -------------------------------------------------------------------- progress and cancel


def test_progress_says_a_stage_and_a_share():
    seen = []
    record(ask(20), copies(20), lambda stage, share: seen.append((stage, share)))
    assert len({stage for stage, _ in seen}) == 2
    assert all(stage and 0 <= share <= 1 for stage, share in seen)


@pytest.mark.parametrize("after", [0, 1, 2, 3])
def test_cancelling_stops_before_the_next_call(after):
    model = copies(20)
    calls = 0

    def cancel(stage, share):
        nonlocal calls
        calls += 1
        if calls > after:
            raise Cancelled

    with pytest.raises(Cancelled):
        record(ask(10), model, cancel)
    assert len(model.sampled) == min(after, 2)
    assert len(model.scored) == max(after - 2, 0)


def test_a_large_recording_can_be_cancelled_between_its_calls(monkeypatch):
    monkeypatch.setattr(recorder, "PAIRS_A_CALL", 50)
    model = copies(30)

    def cancel(stage, share):
        if share > 0.5:
            raise Cancelled

    with pytest.raises(Cancelled):
        record(ask(60), model, cancel)
    assert 1 <= len(model.scored) < 20


# ------------------------------------------------------------------------------ a service


def service(inner, **abilities):
    """A model that scores given texts, elsewhere: its calls are made at the same time."""
    return Limited(inner, scores_given_text=True, local=False, **abilities)


def test_an_exact_recording_has_no_second_answers():
    made = record(ask(30), copies(8))
    assert made.estimator is Estimator.EXACT
    assert made.seconds == ()
    assert made.first(10).estimator is Estimator.EXACT


@pytest.mark.parametrize("pairs", [20, 50, 2000])
def test_a_service_is_asked_for_the_same_in_pieces(monkeypatch, pairs):
    monkeypatch.setattr(recorder, "PAIRS_A_CALL", pairs)
    model = service(copies(30))
    made = record(ask(60), model)
    whole = record(ask(60), copies(30))
    assert same(replace(made, model="table"), whole)
    scored = [(p, a) for some, answers in model.scored for p in some for a in answers]
    assert len(scored) == len({*scored})
    ten = record(ask(10), service(copies(30)))
    assert same(replace(record(ask(60), model, previous=ten), model="table"), whole)


def test_a_service_is_asked_for_nothing_more_after_a_cancel():
    model = service(copies(30))

    def cancel(stage, share):
        raise Cancelled

    with pytest.raises(Cancelled):
        record(ask(10), model, cancel)
    assert len(model.asked) <= 2  # what had begun: the samples, and the greedy answer
    assert not model.scored


@pytest.mark.parametrize(
    ("abilities", "samples"),
    [
        ({"scores_given_text": True}, 10),
        ({"own_log_likelihoods": True}, FEWEST_CHAINS),
        ({}, 10),
    ],
)
def test_the_usual_number_of_samples_is_one_that_the_estimator_takes(abilities, samples):
    capabilities = Limited(copies(3), **abilities).capabilities
    assert usual_samples(capabilities) == samples
    recorder.check_samples(ask(samples), estimator_of(capabilities))


# --------------------------------------------------------------------------------- limits


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"query": ""}, "no question"),
        ({"query": " \n\t"}, "no question"),
        ({"query": "x" * (MAX_QUERY_CHARACTERS + 1)}, "2,001 characters"),
        ({"query": "\ud800"}, "characters that"),
        ({"samples": 0}, "from 1 to 300"),
        ({"samples": -3}, "from 1 to 300"),
        ({"samples": 301}, "from 1 to 300"),
        ({"temperature": 0.0}, "from 0.01 to 2"),
        ({"temperature": -1.0}, "from 0.01 to 2"),
        ({"temperature": 2.01}, "from 0.01 to 2"),
        ({"temperature": float("nan")}, "temperature"),
        ({"temperature": float("inf")}, "temperature"),
        ({"seed": -1}, "seed"),
        ({"seed": 2**32}, "seed"),
    ],
)
def test_limits_are_refused_with_a_sentence(change, says):
    with pytest.raises(InvalidRequestError, match=says) as caught:
        replace(ask(10), **change)
    message = str(caught.value)
    assert message[0].isupper() and message.endswith(".")


@pytest.mark.parametrize(
    "change",
    [
        {"query": "x" * MAX_QUERY_CHARACTERS},
        {"query": "?"},
        {"samples": 1},
        {"samples": 300},
        {"temperature": 2.0},
        {"temperature": 0.05},
        {"seed": 0},
        {"seed": 2**32 - 1},
    ],
)
def test_the_limits_themselves_are_allowed(change):
    assert replace(ask(10), **change)


# --------------------------------------------------------------------- the shipped model


def test_the_shipped_model_grows_too(embedded: LanguageModel):
    question = "Name a yellow fruit."
    twelve = record(Request(question, 12), embedded)
    six = record(Request(question, 6), embedded)
    assert same(record(Request(question, 12), embedded, previous=six), twelve, tolerance=1e-4)
    assert same(twelve.first(6), six, tolerance=1e-4)
