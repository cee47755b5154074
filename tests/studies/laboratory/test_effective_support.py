"""What a model's draws miss: found, bounded, and promised."""

from dataclasses import replace

import numpy as np
import pytest

from core.language_models.errors import ModelError
from core.language_models.language_model import Response, prompt_seed
from core.reports.laboratory.effective_support import sentence
from core.studies.evaluation.bundled import REAL, folders
from core.studies.evaluation.saved_run import Run
from core.studies.laboratory.effective_support import EffectiveSupportSettings, questions_of, run
from core.uncertainty.missing_mass import expected_missing_mass, upper_deviation
from tests.fakes import QUERY, Limited, TableModel, falling, knows, words


def test_what_is_found_is_what_the_model_says():
    found = run(knows(6), [QUERY], EffectiveSupportSettings(draws=40)).questions[0]
    p = dict(zip(words(6), falling(6).tolist(), strict=True))
    assert found.probabilities == pytest.approx([p[text] for text in found.answers])
    assert list(found.probabilities) == sorted(found.probabilities, reverse=True)
    assert found.mass >= 0.95 and found.responses <= 1000
    assert found.high == pytest.approx(found.missing + 1 - found.mass)
    t = np.sqrt(np.log(10) / 40)
    assert found.printed_bound == pytest.approx(min(1, found.high + t))
    q = np.array(found.probabilities)
    assert found.bound == pytest.approx((q * (1 - q) ** 40).sum() + 1 - q.sum())


def test_the_search_stops_at_the_response_that_is_enough():
    """As if responses had been drawn one at a time, whatever the size of a call."""
    p = falling(30)
    model = TableModel(words(30), p, np.tile(p, (30, 1)))
    stop = EffectiveSupportSettings(enough=0.5, draws=10, temperature=1.0, seed=3)
    found = run(model, [QUERY], stop).questions[0]
    prompt = next(iter(model.table))
    seen = [r.text for r in model.sample(prompt, found.responses, temperature=1.0, seed=3)]
    assert {*seen} == {*found.answers}
    assert sum(p[words(30).index(text)] for text in {*seen}) >= 0.5
    assert sum(p[words(30).index(text)] for text in {*seen[:-1]}) < 0.5


def test_it_ends_where_there_is_never_enough():
    found = run(knows(50), [QUERY], EffectiveSupportSettings(most=25, draws=10)).questions[0]
    assert found.responses == 25
    assert found.mass < 0.95


def test_cut_off_answers_are_none():
    p = falling(4)
    model = TableModel(words(4), p, np.tile(p, (4, 1)), cut=words(4)[:1])
    found = run(model, [QUERY], EffectiveSupportSettings(most=200, draws=10)).questions[0]
    assert words(4)[0] not in found.answers
    assert found.mass == pytest.approx(1 - p[0])


class Quick(TableModel):
    """Draws all answers of a call at once; a longer series does not extend a shorter one."""

    def sample(self, prompt, count, *, temperature=1.0, seed=0, first=0):
        row = self.table[prompt]
        rng = np.random.default_rng([prompt_seed(seed, prompt), first])
        p = np.array(list(row.values())) ** (1 / temperature)
        return [Response(str(text), True) for text in rng.choice(list(row), count, p=p / p.sum())]


@pytest.mark.slow
@pytest.mark.parametrize("alike", [False, True])
def test_the_bounds_hold_in_simulation(alike):
    """2,000 seeds of small models. Six standard deviations are exceeded once in a billion."""
    p = np.full(12, 1 / 12) if alike else falling(12)
    model = Quick(words(12), p, np.tile(p, (12, 1)))
    expected = expected_missing_mass(p, 20)
    questions = [
        run(model, [QUERY], EffectiveSupportSettings(draws=20, most=30, seed=seed)).questions[0]
        for seed in range(0, 4000, 2)
    ]
    assert all(q.bound >= expected - 1e-12 for q in questions)  # for sure
    assert all(q.printed_bound == min(1, q.high + upper_deviation(20, 0.9)) for q in questions)
    high = np.array([q.high for q in questions])
    for confidence in (0.1, 0.5, 0.9):
        broken = (high + upper_deviation(20, confidence) < expected).mean()
        promised = 1 - confidence
        assert broken <= promised + 6 * np.sqrt(promised * confidence / 2000)


def test_many_questions_in_their_order_with_one_sentence():
    first, second = "Which one?", "Which other?"
    p = falling(5)
    model = TableModel(words(5), p, np.tile(p, (5, 1)), query=first)
    model.table |= TableModel(words(5), p[::-1], np.tile(p, (5, 1)), query=second).table
    shares = []
    found = run(
        model,
        [first, second],
        EffectiveSupportSettings(draws=20),
        lambda stage, share: shares.append(share),
    )
    assert [q.question for q in found.questions] == [first, second]
    assert found.values["mass"].shape == (2,)
    assert sentence(found).startswith("Of 2 questions")
    assert shares[0] == 0 and shares[-1] == 1


@pytest.mark.parametrize("excess", [1.005, 1.2])
def test_a_little_more_than_everything_is_rounding_and_more_is_refused(excess):
    p = falling(3)
    model = Quick(words(3), p, np.tile(p, (3, 1)))
    prompt = next(iter(model.table))
    settings = EffectiveSupportSettings(enough=1.0, most=100, draws=10)
    whole = run(model, [QUERY], settings).questions[0]
    for text in model.table[prompt]:
        model.table[prompt][text] *= excess
    model.sample = Quick(words(3), p, np.tile(p, (3, 1))).sample
    if excess < 1.01:
        found = run(model, [QUERY], settings).questions[0]
        assert found.probabilities == pytest.approx(whole.probabilities)
        assert found.mass == pytest.approx(1)
    else:
        with pytest.raises(ModelError, match="more than 1"):
            run(model, [QUERY], settings)


def beginnings():
    """A model whose likelihoods are of answers and whatever goes on from them."""
    model = knows(3)
    model.capabilities = replace(model.capabilities, whole_answers=False)
    return model


@pytest.mark.parametrize("model", [Limited(knows(3), scores_given_text=False), beginnings()])
def test_what_cannot_be_estimated_is_refused(model):
    with pytest.raises(ModelError, match="does not score"):
        run(model, [QUERY], EffectiveSupportSettings())


@pytest.mark.parametrize(("source", "first"), [("TriviaQA", "triviaqa"), ("AmbigQA", "ambigqa")])
def test_real_questions_are_those_of_the_bundled_run(source, first):
    asked = questions_of(EffectiveSupportSettings(source=source, questions=200))
    rows = Run(folders()[REAL]).rows(columns=["source", "query"]).table.to_pylist()
    there = {row["query"] for row in rows if row["source"].startswith(first)}
    assert len({*asked}) == 200 and {*asked} <= there
    some = EffectiveSupportSettings(source=source, questions=5)
    assert questions_of(some) == asked[:5] != questions_of(replace(some, draw=1))
