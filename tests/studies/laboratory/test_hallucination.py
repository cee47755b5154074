"""Mass where the truth has none, by hand."""

from dataclasses import replace

import numpy as np
import pytest

from core.language_models.errors import ModelError
from core.reports.laboratory.hallucination import sentence
from core.studies.laboratory.hallucination import HallucinationSettings, run
from tests.fakes import Limited
from tests.studies.laboratory.worlds import believer, many_right, one_right, smooth

TEXTS = ("Ralph Fiennes", "Judi Dench", "Sean Bean")


def copier():
    first = np.array([0.5, 0.3, 0.2])
    return believer(one_right(), TEXTS, first, 0.7 * np.eye(3) + 0.3 * first)


def test_by_hand():
    model = copier()
    found = run(model, one_right(), HallucinationSettings(likeliest=3, smoothing=0.03))
    assert found.texts == TEXTS
    np.testing.assert_array_equal(found.right, [True, False, False])
    np.testing.assert_allclose(found.q, model.first[:, None] * model.rows)
    p = np.array([0.98, 0.01, 0.01])
    np.testing.assert_allclose(found.p, np.outer(p, p))
    np.testing.assert_allclose(found.excess, np.maximum(found.q - found.p, 0))
    assert found.misplaced_mass == pytest.approx(np.abs(found.q - found.p).sum() / 2)
    # It repeats what it is told, and answers by itself as it did first.
    assert found.wrong == pytest.approx((0.5, 0.5))
    terms = found.q * np.log(found.q / found.p)
    np.testing.assert_allclose(found.contributions, terms)
    assert found.divergence == pytest.approx(terms.sum())
    assert found.information == pytest.approx(model.mutual_information)
    assert "the first answer is wrong with a probability of 50%" in sentence(found)
    sure = replace(found, q=np.diag([0.999, 0.001, 0.0]))
    assert "wrong with a probability of less than 1%, the second" in sentence(sure)
    assert all(text not in sentence(found) for text in TEXTS)  # text of a model is hostile


def test_the_truth_has_no_hallucination():
    fact, p = many_right(), [0.4, 0.3, 0.2, 0.1]
    model = believer(fact, ["red", "blue", "green", "black"], smooth(p), smooth(np.tile(p, (4, 1))))
    found = run(model, fact, HallucinationSettings(likeliest=4))
    assert found.misplaced_mass < 0.02
    assert found.wrong == (0, 0)
    assert found.information == pytest.approx(0, abs=1e-12)


def test_what_cannot_be_compared_is_refused():
    with pytest.raises(ModelError, match="does not score"):
        run(Limited(copier(), scores_given_text=False), one_right(), HallucinationSettings())
