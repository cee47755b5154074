"""The ladder's benchmark: which questions it asks, what it counts, how it sums up."""

import json
import math

import numpy as np
import pytest

from benchmarks import ladder, model_card
from benchmarks.shared.measuring import Question, Wording, questions
from benchmarks.shared.measuring import Row as CardRow
from core.data.world.facts import Band
from core.language_models.backends.openai.abilities import CANDIDATES_A_CALL
from core.language_models.backends.openai.model import PAIRS_A_CALL
from core.language_models.client.batch import BatchingModel
from core.studies.inspection.estimators import (
    MANY_ANSWERS,
    MIXTURE,
    NEXT_TOKENS,
    SAMPLED_VERIFICATION,
    SAMPLES,
    SINGLE_LABEL,
    TITLES,
    measures_from,
    table,
)
from core.studies.inspection.recorder import record
from core.studies.inspection.recording import Estimator
from core.studies.inspection.request import MAX_SAMPLES, Request
from core.uncertainty.scores import SCORES
from tests.fakes import QUERY, Limited, TableModel, copies, falling, words
from tests.studies.inspection.rungs import ABILITIES, every

# --------------------------------------------------------------------------- the questions


def test_they_are_the_first_of_the_model_cards_mixture(monkeypatch):
    asked = questions(Wording.TRAINING)
    entropies = np.random.default_rng(5).uniform(0, 1.4, len(asked))

    def measured(some):
        return [
            CardRow(q.band, {}, {}, {}, 1.0, 0.0, 1, 2, float(entropies[q.seed]), 0.0, 0.0)
            for q in some
        ]

    monkeypatch.setattr(ladder, "measure", measured)
    mixed = model_card.mixture(measured(asked))
    half = len(mixed) // 2
    found = ladder.chosen(asked)
    assert [q.seed for q in found] == [*mixed[:100], *mixed[half : half + 100]]
    assert all(q.band != Band.MANY_ANSWERS for q in found[:100])
    assert all(entropies[q.seed] > model_card.SPREAD for q in found[100:])


# ------------------------------------------------------------------------- what it cost


@every
@pytest.mark.parametrize(("candidates", "pairs"), [(1, 1), (8, 32), (3, 7), (1000, 2000)])
@pytest.mark.parametrize("means", [NEXT_TOKENS, SAMPLES])
def test_requests_are_as_many_as_a_service_is_really_asked(estimator, candidates, pairs, means):
    model = Limited(
        copies(12, share=0.4),
        next_token=means == NEXT_TOKENS,
        candidates_a_call=candidates,
        pairs_a_call=pairs,
        **ABILITIES[estimator],
    )
    samples = 100 if estimator is Estimator.CHAINED else 10
    made = record(Request(QUERY, samples), BatchingModel(model))
    assert made.estimator is estimator and len(made.texts) > 3
    assert ladder.requests(made, candidates, pairs, means) == model.meter.requests


@pytest.mark.parametrize(("pairs", "expected"), [(1, 16), (2, 14), (2000, 5)])
def test_a_greedy_answer_that_was_not_sampled_is_scored_by_itself(pairs, expected):
    """Three answers sampled at once: 12 pairs under four prompts, and three verified twice."""
    first = falling(4)
    model = TableModel(words(4), first, np.tile(first, (4, 1)))
    seed = next(
        seed
        for seed in range(1000)
        if {r.text for r in model.sample(next(iter(model.table)), 3, seed=seed)} == {*words(4)[1:]}
    )
    limited = Limited(model, scores_given_text=True, pairs_a_call=pairs)
    made = record(Request(QUERY, 3, 1.0, seed), BatchingModel(limited))
    assert made.greedy.text not in made.texts
    assert ladder.requests(made, 1000, pairs) == limited.meter.requests
    assert limited.meter.requests == 2 + {1: 12 + 6 + 1, 2: 8 + 3 + 1, 2000: 3}[pairs]


@every
def test_tokens_are_those_of_what_a_service_is_asked(estimator, embedded):
    model = Limited(
        embedded,
        next_token=True,
        candidates_a_call=CANDIDATES_A_CALL,
        pairs_a_call=PAIRS_A_CALL,
        **ABILITIES[estimator],
    )
    samples = 100 if estimator is Estimator.CHAINED else 10
    made = record(Request("Name a city in the United Kingdom.", samples), BatchingModel(model))
    said = [*made.samples, made.greedy, *(r for row in made.seconds for r in row)]
    written = [f" {response.text}" for response in said]
    read = [*(asked.prompt for asked in model.asked), *model.continued]
    for some, answers in model.scored:
        read += [prompt for prompt in some for _ in answers]
        written += [f" {answer}" for _ in some for answer in answers]
    # Whatever is written ends with a token of its own; one is written for each next token.
    tokens = sum(len(embedded.encode(text)) for text in [*read, *written])
    assert ladder.tokens(made, embedded) == tokens + len(written) + len(model.continued)


# ------------------------------------------------------------------------------ all of them


def row(information=0.1, right=True, *, greedy=0.5, **changes):
    """A question on a rung; every score but T0 has the same doubt."""
    doubt = dict.fromkeys((*SCORES, SAMPLED_VERIFICATION), information)
    cost = {"singly": 10, "together": 4, "tokens": 300}
    given = {
        "doubt": doubt | {"greedy_probability": greedy},
        "correct": dict.fromkeys((*SCORES, SAMPLED_VERIFICATION), right),
        "information": information,
        "seen": True,
        "costs": {NEXT_TOKENS: cost, SAMPLES: {k: 2 * v for k, v in cost.items()}},
    }
    return ladder.Row(**given | changes)


def test_a_ranking_counts_wrong_answers_with_larger_doubts():
    """Of the four pairs of a wrong and a right answer three are in order, one is tied."""
    some = [row(0.9, False), row(0.1, True), row(0.4, False), row(0.4, True, greedy=math.nan)]
    found = ladder.ranking(some, "pair_covariance", np.arange(4))
    assert found == {"available": 1.0, "wrong": 0.5, "auroc": pytest.approx(3.5 / 4)}
    assert ladder.ranking(some, "greedy_probability", np.arange(4))["available"] == 0.75
    unknown = [row(greedy=math.nan), row(greedy=math.nan, right=False)]
    found = ladder.ranking(unknown, "greedy_probability", np.arange(2))
    assert found == {"available": 0.0}


@pytest.mark.slow
def test_an_interval_holds_the_value_and_narrows_with_the_questions():
    rng = np.random.default_rng(2)
    some = [row(float(rng.normal(0.5 * wrong)), not wrong) for wrong in (0, 1, 1, 0) * 100]
    widths = []
    for count in (40, 400):
        at = np.arange(count)
        found = ladder.ranking(some, "mutual_information", at)
        assert found["low"] < found["auroc"] < found["high"]
        assert found == ladder.ranking(some, "mutual_information", at)  # seeded
        widths.append(found["high"] - found["low"])
    assert widths[1] < 0.5 * widths[0]


def test_errors_are_mean_and_root_mean_square():
    some = [row(0.3), row(0.1), row(5.0)]
    true = [row(0.2), row(0.4), row(0.0)]
    found = ladder.error(some, true, np.array([0, 1]))
    assert found == {"bias": pytest.approx(-0.1), "rmse": pytest.approx(math.sqrt(0.05))}


def test_what_is_written_is_what_is_shown():
    answered = [(0.9, False), (0.1, True), (0.2, True), (0.8, False), (0.3, True), (0.5, True)]
    facts = {q.band == Band.MANY_ANSWERS: q.fact for q in questions(Wording.TRAINING)}
    asked = [Question(f"Question {i}", facts[i >= 3], i) for i in range(6)]
    found = [
        {
            "EXACT": row(doubt, right),
            "CHAINED": row(doubt + 0.1, right),
            "COUNTED": row(1 - doubt, right, greedy=math.nan, seen=right),
            ladder.LONG: row(doubt - 0.05, right),
        }
        for doubt, right in answered
    ]
    stored = json.loads(ladder.written(ladder.summary(asked, found)))
    assert stored["questions"] == 6 and len(stored["each"]) == 6
    numbers = {"EXACT": 0.3, "CHAINED": 0.4, "COUNTED": 0.7, "long": 0.25}
    assert stored["each"][4] == {"question": "Question 4", "seed": 4} | numbers
    off = stored["rungs"]["COUNTED"]["errors"]["10"][MANY_ANSWERS]
    assert off["bias"] == pytest.approx(np.mean([0.2 - 0.8, 0.7 - 0.3, 0.0]))
    read = measures_from(stored)
    assert [rung.estimator for rung in read.rungs] == list(TITLES)
    exact, chained, counted = read.rungs
    assert read.wrong == pytest.approx(1 / 3)
    assert exact.rankings[MIXTURE]["mutual_information"].auroc == 1
    assert counted.rankings[MIXTURE]["mutual_information"].auroc == 0
    assert "greedy_probability" not in counted.rankings[SINGLE_LABEL]
    assert (exact.seen, counted.seen) == (1, pytest.approx(2 / 3))
    assert (chained.singly, chained.together, chained.tokens) == (10, 4, 300)
    assert (counted.singly, counted.together, counted.tokens) == (20, 8, 600)
    assert exact.errors[10] == (0, 0)
    assert exact.errors[MAX_SAMPLES] == pytest.approx((0.05, 0.05))
    assert chained.errors[10] == pytest.approx((0.1, 0.1))
    shown = table(read)
    assert shown["AUROC of T0"][2] == "–"
    assert shown["AUROC of M.I."][0] == "1.00 (0.12 to 1.00)"
    assert shown["requests, one answer or pair each"] == ["10", "10", "20"]
    off = shown["M.I. less exact M.I. of 10 samples, nats: mean (root mean square)"]
    assert off[:2] == ["–", "+0.10 (0.10)"]
