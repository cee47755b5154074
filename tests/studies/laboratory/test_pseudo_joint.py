"""Q̃ and P̃ on one support: normalised, in order, and what the world's tables say."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.data.world.facts import Band, facts
from core.studies.inspection.request import InvalidRequestError
from core.studies.laboratory.pseudo_joint import (
    corpus_of,
    divergence,
    pseudo_joint,
    same_answer,
    smooth,
    support_of,
    truth_of,
)
from core.uncertainty.joint import from_table
from core.uncertainty.logarithms import log_normalise, log_sum_exp
from tests.fakes import QUERY, Searched, TableModel
from tests.studies.laboratory.worlds import believer, many_right, one_right

TEXTS = ("fiennes", "Ralph Fiennes", "Judi Dench", "Daniel Craig")


@given(st.integers(0, 2**32 - 1), st.integers(2, 7))
def test_divergence_is_information_and_the_marginals_divergences(seed, m):
    """The identity behind Theorem 1, for any Q̃ and any independent truth that is 0 nowhere."""
    rng = np.random.default_rng(seed)
    spread = rng.choice([0.05, 1, 5])
    log_q = np.log(rng.dirichlet(np.full(m * m, spread)).clip(1e-300)).reshape(m, m)
    log_q = log_normalise(log_q)[0]
    log_p = smooth(rng.dirichlet(np.full(m, spread)), 0.01)
    whole = divergence(log_q, log_p[:, None] + log_p)
    first = divergence(log_sum_exp(log_q, axis=1), log_p)
    second = divergence(log_sum_exp(log_q, axis=0), log_p)
    information = from_table(log_q).value
    assert whole == pytest.approx(information + first + second, abs=1e-9)
    assert whole >= information - 1e-9


def test_q_is_normalised_on_the_support_and_says_what_that_holds():
    first = [0.1, 0.5, 0.2, 0.2]
    rows = [[0.4, 0.3, 0.2, 0.1], [0.05, 0.8, 0.1, 0.05], [0.1, 0.2, 0.6, 0.1], [0.25] * 4]
    q = pseudo_joint(TableModel(["a", "b", "c", "d"], first, rows), QUERY, ["a", "c", "b", "a"])
    assert q.texts == ("b", "c", "a")
    assert q.covered == pytest.approx(0.8)
    np.testing.assert_allclose(np.exp(q.log_first), np.array([0.5, 0.2, 0.1]) / 0.8)
    np.testing.assert_allclose(q.covered_rows, [0.95, 0.9, 0.9])
    np.testing.assert_allclose(np.exp(q.log_rows[2]), np.array([0.3, 0.2, 0.4]) / 0.9)
    joint = np.exp(q.log_joint)
    assert joint.sum() == pytest.approx(1)
    np.testing.assert_allclose(np.exp(q.log_second), joint.sum(axis=0))


def test_the_support_is_what_is_right_the_misconception_and_what_is_likely():
    fact = one_right()
    model = Searched(["x", "Ralph Fiennes", "y"], [0.5, 0.3, 0.2], np.full((3, 3), 1 / 3))
    model.table = {p.replace(QUERY, fact.question): row for p, row in model.table.items()}
    assert support_of(model, fact, 2) == ["Ralph Fiennes", "Judi Dench", "x"]
    assert support_of(model, fact, 0) == ["Ralph Fiennes", "Judi Dench"]


def test_names_of_one_answer_share_its_probability():
    np.testing.assert_allclose(same_answer(one_right(), TEXTS), [[0.5, 0.5, 0, 0], [0, 0, 1, 0]])
    np.testing.assert_allclose(truth_of(one_right(), TEXTS), [0.5, 0.5, 0, 0])
    # One right answer is not in the support: the rest share what is left.
    np.testing.assert_allclose(
        truth_of(many_right(), ["black", "pink", "RED"]), [0.2, 0, 0.8], atol=1e-12
    )
    with pytest.raises(InvalidRequestError, match="No right answer"):
        truth_of(many_right(), ["pink"])


def test_authors_of_one_right_answer_repeat_themselves():
    corpus = corpus_of(one_right(0.4), TEXTS)
    assert corpus is not None
    first, rows = corpus
    np.testing.assert_allclose(first, [0.3, 0.3, 0.4, 0])
    np.testing.assert_allclose(rows[:2], [[0.5, 0.5, 0, 0]] * 2)
    np.testing.assert_allclose(rows[2], [0, 0, 1, 0])
    np.testing.assert_allclose(rows[3], first)  # told what no author believes


def test_what_nobody_believes_is_no_belief():
    corpus = corpus_of(one_right(0.0), TEXTS)
    assert corpus is not None
    np.testing.assert_allclose(corpus[0], [0.5, 0.5, 0, 0])
    np.testing.assert_allclose(corpus[1], np.tile(corpus[0], (4, 1)))


def test_many_right_answers_are_drawn_anew():
    texts = ["red", "blue", "green", "black", "pink"]
    corpus = corpus_of(many_right(), texts)
    assert corpus is not None
    np.testing.assert_allclose(corpus[0], [0.4, 0.3, 0.2, 0.1, 0])
    np.testing.assert_allclose(corpus[1], np.tile(corpus[0], (5, 1)))


def test_no_document_is_about_what_was_never_seen():
    fact = next(fact for fact in facts() if fact.band is Band.NEVER_SEEN)
    assert corpus_of(fact, [fact.answers[0].text]) is None


def test_every_fact_of_the_world_has_a_truth():
    for fact in facts()[::7]:
        truth = truth_of(fact, support_of(believer(fact, ["x"], [1.0], [[1.0]]), fact, 0))
        assert truth.sum() == pytest.approx(1)
        assert (truth > 0).sum() == len(fact.answers)


@pytest.mark.parametrize("smoothing", [0, 0.9, np.nan])
def test_smoothing_has_limits(smoothing):
    with pytest.raises(InvalidRequestError, match="smoothing"):
        smooth(np.ones(1), smoothing)


def test_smoothing_mixes_with_all_texts_alike():
    np.testing.assert_allclose(np.exp(smooth(np.array([1.0, 0.0]), 0.1)), [0.95, 0.05])
