"""Theorem 1 on models whose truth is known: where it holds, what is lost, what breaks it."""

import numpy as np
import pytest

from core.data.world.facts import Band
from core.language_models.errors import ModelError
from core.reports.laboratory.theorem import sentence
from core.studies.inspection import inspection
from core.studies.inspection.request import InvalidRequestError, Reading, Request
from core.studies.laboratory.pseudo_joint import corpus_of, truth_of
from core.studies.laboratory.theorem import TheoremSettings, choose, run
from core.uncertainty.joint import from_table
from tests.fakes import Limited, falling
from tests.studies.laboratory.worlds import believer, many_right, one_right, smooth

TEXTS = ("Ralph Fiennes", "Judi Dench", "Daniel Craig", "Sean Bean")
COLOURS = ("red", "blue", "green", "black", "a red")


def copier(share=0.8):
    p = falling(4)
    return believer(one_right(), TEXTS, p, share * np.eye(4) + (1 - share) * p)


def one(model, fact, **settings):
    return run(model, [fact], TheoremSettings(**settings)).rows[0]


def test_everything_of_a_small_model_is_exact():
    model = copier()
    row = one(model, one_right())
    assert row.information == pytest.approx(model.mutual_information)
    assert (row.texts, row.covered) == (4, pytest.approx(1))
    joint = model.first[:, None] * model.rows
    p = 0.99 * np.array([1, 0, 0, 0]) + 0.01 / 4
    d = (joint * np.log(joint / np.outer(p, p))).sum()
    assert row.divergence == pytest.approx(d)
    assert row.first_slack == pytest.approx((model.first * np.log(model.first / p)).sum())
    assert row.off < 1e-9 and row.holds
    assert row.band == one_right().band.value and row.exposures == one_right().exposures


def test_a_model_that_says_the_truth_has_nothing_to_find():
    fact = many_right()
    p = truth_of(fact, COLOURS)
    row = one(believer(fact, COLOURS, smooth(p), smooth(np.tile(p, (5, 1)))), fact)
    assert row.information == pytest.approx(0, abs=1e-12)
    assert 0 < row.divergence < 0.05
    assert row.corpus_information == pytest.approx(0, abs=1e-12)
    assert row.corpus_divergence == pytest.approx(row.divergence) and not row.breaks


def test_a_model_that_says_what_its_documents_say_breaks_the_theorem():
    """Their authors share a belief between the prompt and the answer: no independent truth."""
    fact = one_right(0.4)
    corpus = corpus_of(fact, TEXTS)
    row = one(believer(fact, TEXTS, smooth(corpus[0]), smooth(corpus[1])), fact)
    belief = -(0.4 * np.log(0.4) + 0.6 * np.log(0.6))
    assert row.information == pytest.approx(belief, abs=0.01)
    assert row.corpus_information == pytest.approx(belief, abs=0.05)
    assert row.corpus_divergence < 0.05
    assert row.breaks and row.holds  # against the world's truth, it holds all the same
    said = sentence(
        run(believer(fact, TEXTS, smooth(corpus[0]), smooth(corpus[1])), [fact], TheoremSettings())
    )
    assert "on 1 of the 1 whose answers there depend on each other" in said


def test_what_ten_answers_and_clusters_lose_is_what_the_inspection_shows():
    """The M.I. of the page, for the same draws and the same τ."""
    fact = many_right()
    p = falling(5)
    model = believer(fact, COLOURS, p, 0.6 * np.eye(5) + 0.4 * p)
    row = one(model, fact, samples=5, seed=3)
    request = Request(fact.question, 5, 0.9, 3)
    for threshold, value in ((0.25, row.sampled_clustered), (1.0, row.sampled)):
        shown = inspection.run(request, model, Reading(threshold=threshold))
        assert value == pytest.approx(shown.scores["mutual_information"].value, abs=1e-9)
    assert row.sampled < row.information
    # “a red” is “red”.
    table = model.first[:, None] * model.rows
    order = [0, 4, 1, 2, 3]
    lumped = np.add.reduceat(table[np.ix_(order, order)], [0, 2, 3, 4], 0)
    lumped = np.add.reduceat(lumped, [0, 2, 3, 4], 1)
    assert row.clustered == pytest.approx(from_table(np.log(lumped)).value)
    assert row.clustered < row.information


def test_a_third_answer():
    """It follows from the second alone, as the second from the first: a chain."""
    model = copier(share=0.5)
    row = one(model, one_right(), triples=1000)
    joint = model.first[:, None, None] * model.rows[:, :, None] * model.rows[None]
    exact = from_table(np.log(joint)).value
    p = 0.99 * np.array([1, 0, 0, 0]) + 0.01 / 4
    d = (joint * np.log(joint / (p[:, None, None] * p[:, None] * p))).sum()
    assert row.triple.lower <= row.triple.upper
    # Means over 1,000 draws; ten seeds were within .06.
    assert row.triple.lower == pytest.approx(exact, abs=0.1)
    assert row.triple.upper == pytest.approx(exact, abs=0.1)
    assert row.triple.divergence == pytest.approx(d, abs=0.5)
    assert row.triple.divergence >= row.triple.lower
    assert one(model, one_right()).triple is None


def test_a_third_answer_that_depends_on_nothing_adds_nothing():
    p = falling(4)
    row = one(believer(one_right(), TEXTS, p, np.tile(p, (4, 1))), one_right(), triples=5)
    assert (row.triple.lower, row.triple.upper) == pytest.approx((0, 0), abs=1e-12)
    assert row.triple.divergence == pytest.approx(1.5 * row.divergence)


def test_questions_are_of_all_bands_alike_and_the_same_for_one_seed():
    found = choose(12, seed=1)
    bands = [fact.band for fact in found]
    assert {band: bands.count(band) for band in Band}.keys() == set(bands)
    assert max(map(bands.count, Band)) - min(map(bands.count, Band)) == 1
    assert found == choose(12, seed=1) != choose(12, seed=2)
    assert len({fact.question for fact in found}) == 12
    for count in (0, 100_000):
        with pytest.raises(InvalidRequestError, match="number of questions"):
            choose(count)


def test_the_embedded_model_keeps_the_identity(embedded):
    """On real likelihoods; of its values nothing is relied on."""
    shares = []
    found = run(
        embedded, choose(5), TheoremSettings(triples=4), lambda _, share: shares.append(share)
    )
    for row in found.rows:
        assert row.off < 1e-9 and row.holds
        assert 0 < row.covered <= 1 + 1e-9
        assert row.clustered <= row.information + 1e-9
        assert row.triple.divergence >= row.triple.lower - 1e-9
        assert row.triple.lower <= row.triple.upper + 1e-9
        if row.corpus_information is not None and row.corpus_information < 1e-9:
            assert not row.breaks  # independent documents are a truth as the theorem wants it
    assert {row.band for row in found.rows} == {band.value for band in Band} == {*found.means}
    assert sentence(found).startswith("D(Q̃, P̃) is at least I(Q̃) on 5 of 5 questions")
    assert "Of three answers, I is" in sentence(found)
    assert shares[0] == 0 and shares[-1] == 1


def test_what_cannot_be_compared_is_refused():
    limited = Limited(copier(), scores_given_text=False)
    with pytest.raises(ModelError, match="does not score"):
        run(limited, [one_right()], TheoremSettings())
