"""What draws miss: of known laws, of a model that copies, and of a language model's answers."""

from dataclasses import replace

import numpy as np
import pytest

from core.language_models.base import Response, series
from core.language_models.errors import ModelError
from core.studies.inspection.request import InvalidRequestError
from core.studies.laboratory.missing_mass import (
    MOST_KINDS,
    Law,
    PairSettings,
    Searching,
    Settings,
    curves,
    data_dependent,
    probabilities_of,
    theorem,
)
from core.studies.progress import Cancelled
from core.uncertainty.missing_mass import expected_missing_mass, lower_deviation, theorem_bound
from tests.fakes import QUERY, Limited, TableModel, falling, knows, words

# ------------------------------------------------------------------------ a known distribution


@pytest.mark.parametrize("law", Law)
def test_simulation_and_theory_agree_and_limits_hold(law):
    """2,000 samples at five k. Five standard errors are exceeded once in a million means.

    A limit that just keeps its 10% shows more than 14% once in a billion.
    """
    own = (0.4, 0.3, 0.1) if law is Law.OWN else ()
    settings = Settings(law, 50, own=own, draws=(1, 5, 20, 100, 500), samples=2000)
    found = curves(settings)
    assert found.rest == pytest.approx(0.2 if own else 0, abs=1e-9)
    np.testing.assert_allclose(
        found.expected, expected_missing_mass(settings.probabilities, settings.draws)
    )
    error = found.missing.std(axis=0) / np.sqrt(2000)
    assert (np.abs(found.missing.mean(axis=0) - found.expected) <= 5 * error + 1e-12).all()
    assert max(found.too_high.max(), found.too_low.max()) <= 0.14
    assert (np.diff(found.missing, axis=1) <= 1e-12).all()  # a sample goes on
    if own:
        assert np.isnan(found.finite_support).all() and np.isnan(found.entropy).all()
        assert "nobody has found" in found.sentence
    else:
        assert (found.expected <= np.minimum(found.finite_support, found.entropy) + 1e-12).all()
    assert (found.zipf is not None) == (law is Law.ZIPF)
    assert (found.low <= found.expected).all() and (found.expected <= found.high).all()


def test_good_turing_is_too_large_by_what_came_once_over_k():
    found = curves(Settings(kinds=30, draws=(20,), samples=4000))
    p = found.probabilities
    once = float((p**2 * (1 - p) ** 19).sum())  # E U_k⁽¹⁾ / k
    off = (found.good_turing - found.missing)[:, 0]
    assert off.mean() == pytest.approx(once, abs=5 * off.std() / np.sqrt(4000))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1, 1, 2", (0.25, 0.25, 0.5)),
        ("3", (1.0,)),
        ("\n 0.5;0.5\t0 \n", (0.5, 0.5, 0.0)),
        ("1e-300 1e-300", (0.5, 0.5)),
        ("1e308 1e308", (0.5, 0.5)),
    ],
)
def test_probabilities_are_read_as_they_are_typed(text, expected):
    assert probabilities_of(text) == pytest.approx(expected)


@pytest.mark.parametrize(
    "text", ["", "half", "1 -1", "0 0", "nan", "inf 1", "1," * (MOST_KINDS + 5)]
)
def test_what_is_no_distribution_is_refused(text):
    with pytest.raises(InvalidRequestError):
        probabilities_of(text)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"law": Law.OWN}, "number of kinds is 0"),
        ({"law": Law.OWN, "own": (0.9, 0.9)}, "sum to at most 1"),
        ({"draws": ()}, "smallest k is 0"),
        ({"exponent": 1.0}, "exponent is 1"),
        ({"kinds": 10_000, "samples": 10_000}, "size of the simulation"),
        ({"confidence": 0.0}, "confidence is 0"),
    ],
)
def test_bad_settings_say_how_to_mend_them(settings, sentence):
    with pytest.raises(InvalidRequestError, match=sentence):
        Settings(**settings)


# ---------------------------------------------------------------------- the paper's theorem


def test_a_million_draws_tell_the_theorem_nothing_about_200_answers():
    """Zipf's law over 200, repeated with a probability of .7: 2.35 nats."""
    found = theorem(PairSettings(draws=(100, 1_000_000, 100_000_000), samples=1))
    assert found.exact == pytest.approx(2.353, abs=1e-3)
    assert found.bound[1] < 0 < found.bound[2] < found.exact
    assert found.least == 100_000_000
    assert found.certified[0] > 0.3 * found.exact
    assert (found.certified <= found.exact + 1e-9).all()
    assert "nothing below k = 100,000,000" in found.sentence


def test_the_theorems_bound_is_made_of_what_is_reported():
    settings = PairSettings(12, copying=0.5, draws=(30, 3000), samples=2)
    found = theorem(settings)
    assert (found.bound < found.exact).all()
    for at, k in enumerate(settings.draws):
        again = theorem_bound(
            found.estimate[at],
            k,
            expected_missing=found.expected_missing[at],
            support=found.support[at],
            outside=found.outside[at],
            confidence=settings.confidence,
        )
        assert again == pytest.approx(found.bound[at])
        assert found.gamma_1[at] == pytest.approx(1 / (k * found.support[at]))
        assert found.gamma_2[at] >= found.gamma_1[at]


def test_more_supports_to_choose_from_never_lower_it():
    one, many = (
        theorem(PairSettings(20, draws=(50, 500), samples=2, outside=outside))
        for outside in ((0.0,), (0.0, 0.01, 0.1))
    )
    assert (many.bound >= one.bound - 1e-12).all()
    np.testing.assert_array_equal(one.support, 400)
    np.testing.assert_array_equal(one.outside, 0)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"answers": 1}, "answers is 1"),
        ({"copying": 1.0}, "copying is 1"),
        ({"outside": (0.9,)}, "δ_supp is 0.9"),
        ({"outside": ()}, "smallest δ_supp"),
    ],
)
def test_bad_settings_of_pairs_say_how_to_mend_them(settings, sentence):
    with pytest.raises(InvalidRequestError, match=sentence):
        PairSettings(**settings)


# -------------------------------------------------------------- answers of a language model


def test_what_is_found_is_what_the_model_says():
    model = knows(6)
    found = data_dependent(model, [QUERY], Searching(draws=40)).questions[0]
    p = dict(zip(words(6), falling(6).tolist(), strict=True))
    assert found.probabilities == pytest.approx([p[text] for text in found.answers])
    assert list(found.probabilities) == sorted(found.probabilities, reverse=True)
    assert found.mass >= 0.95 and found.responses <= 1000
    assert found.high == pytest.approx(found.missing + 1 - found.mass)
    t = np.sqrt(np.log(10) / 40)
    assert found.printed_bound == pytest.approx(min(1, found.high + t))
    assert found.bound == pytest.approx(min(1, found.high + t / np.sqrt(7.6821)))


def test_the_search_stops_at_the_response_that_is_enough():
    """As if responses had been drawn one at a time, whatever the size of a call."""
    p = falling(30)
    model = TableModel(words(30), p, np.tile(p, (30, 1)))
    stop = Searching(enough=0.5, draws=10, temperature=1.0, seed=3)
    found = data_dependent(model, [QUERY], stop).questions[0]
    prompt = next(iter(model.table))
    seen = [r.text for r in model.sample(prompt, found.responses, temperature=1.0, seed=3)]
    assert {*seen} == {*found.answers}
    assert sum(p[words(30).index(text)] for text in {*seen}) >= 0.5
    assert sum(p[words(30).index(text)] for text in {*seen[:-1]}) < 0.5


def test_it_ends_where_there_is_never_enough():
    found = data_dependent(knows(50), [QUERY], Searching(most=25, draws=10)).questions[0]
    assert found.responses == 25
    assert found.mass < 0.95


def test_cut_off_answers_are_none():
    p = falling(4)
    model = TableModel(words(4), p, np.tile(p, (4, 1)), cut=words(4)[:1])
    found = data_dependent(model, [QUERY], Searching(most=200, draws=10)).questions[0]
    assert words(4)[0] not in found.answers
    assert found.mass == pytest.approx(1 - p[0])


class Quick(TableModel):
    """Draws all answers of a call at once; a longer series does not extend a shorter one."""

    def sample(self, prompt, count, *, temperature=1.0, seed=0, first=0):
        row = self.table[prompt]
        rng = np.random.default_rng([series(seed, prompt), first])
        p = np.array(list(row.values())) ** (1 / temperature)
        return [Response(str(text), True) for text in rng.choice(list(row), count, p=p / p.sum())]


def test_the_bound_holds_in_simulation():
    """2,000 seeds of a small model. Six standard deviations are exceeded once in a billion."""
    p = falling(12)
    model = Quick(words(12), p, np.tile(p, (12, 1)))
    expected = expected_missing_mass(p, 20)
    questions = [
        data_dependent(model, [QUERY], Searching(draws=20, most=30, seed=seed)).questions[0]
        for seed in range(0, 4000, 2)
    ]
    assert all(q.bound == min(1, q.high + lower_deviation(20, 0.9)) for q in questions)
    high = np.array([q.high for q in questions])
    for confidence in (0.1, 0.5, 0.9):
        broken = (high + lower_deviation(20, confidence) < expected).mean()
        promised = 1 - confidence
        assert broken <= promised + 6 * np.sqrt(promised * confidence / 2000)


def test_many_questions_in_their_order_with_one_sentence():
    first, second = "Which one?", "Which other?"
    p = falling(5)
    model = TableModel(words(5), p, np.tile(p, (5, 1)), query=first)
    model.table |= TableModel(words(5), p[::-1], np.tile(p, (5, 1)), query=second).table
    shares = []
    found = data_dependent(
        model, [first, second], Searching(draws=20), lambda stage, share: shares.append(share)
    )
    assert [q.question for q in found.questions] == [first, second]
    assert found.values["mass"].shape == (2,)
    assert found.sentence.startswith("Of 2 questions")
    assert shares[0] == 0 and shares[-1] == 1


def test_it_can_be_stopped():
    def stop(stage, share):
        raise Cancelled

    for run in (
        lambda: curves(progress=stop),
        lambda: theorem(progress=stop),
        lambda: data_dependent(knows(3), [QUERY], progress=stop),
    ):
        with pytest.raises(Cancelled):
            run()


def beginnings():
    """A model whose likelihoods are of answers and whatever goes on from them."""
    model = knows(3)
    model.capabilities = replace(model.capabilities, whole_answers=False)
    return model


@pytest.mark.parametrize(
    ("model", "questions", "error", "sentence"),
    [
        (knows(3), [], InvalidRequestError, "no question"),
        (Limited(knows(3), scores_given_text=False), [QUERY], ModelError, "does not score"),
        (beginnings(), [QUERY], ModelError, "does not score"),
    ],
)
def test_what_cannot_be_estimated_is_refused(model, questions, error, sentence):
    with pytest.raises(error, match=sentence):
        data_dependent(model, questions)
