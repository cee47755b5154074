"""The related scores on known models: thresholds, second-order calibration, and their words."""

import functools
from dataclasses import replace

import numpy as np
import pytest

from core.abstention.intervals import Interval
from core.abstention.resampled_measures import compare
from core.data.world.facts import Band, RightAnswer
from core.reports.laboratory.related import sentence
from core.studies.amplification.gallery import draw
from core.studies.inspection.inspection import read
from core.studies.inspection.recorder import record
from core.studies.inspection.request import Request, Sampling
from core.studies.laboratory import related
from core.studies.laboratory.related import (
    COMPARED,
    THRESHOLDS,
    RelatedAnswers,
    RelatedScores,
    of_inspection,
    run,
)
from core.uncertainty.related import Candidates
from tests.fakes import QUERY, Searched
from tests.studies.laboratory.worlds import SOME

LIKELIEST = Request("?", 4, sampling=Sampling.LIKELIEST)


@pytest.fixture(autouse=True)
def few_resamples(monkeypatch):
    """No value here depends on how many are drawn, and no interval is near what is said of it."""
    monkeypatch.setattr(related, "compare", functools.partial(compare, number=100))


def many(rules):
    """A model of several questions: of each, a first distribution and one after every answer."""
    names = list(rules)
    models = [
        Searched([f"{n}{i}" for i in range(len(f))], f, rows, query=n)
        for n, (f, rows) in rules.items()
    ]
    models[0].table = {key: row for m in models for key, row in m.table.items()}
    return models[0], names


def known(query, right, *more):
    total = 1 + len(more)
    answers = tuple(RightAnswer((text,), 1 / total) for text in (right, *more))
    return replace(SOME, templates=(query,), answers=answers)


# ------------------------------------------------------------- second-order calibration

COPIES = (np.array([0.5, 0.5]), np.eye(2))
KNOWS_BOTH = (np.array([0.5, 0.5]), np.full((2, 2), 0.5))
SURE = (np.array([1 - 1e-9, 1e-9]), np.tile([1 - 1e-9, 1e-9], (2, 1)))


def test_a_model_that_cannot_tell_two_questions_apart_and_says_so_is_calibrated():
    model, _ = many({"One": COPIES, "Two": COPIES})
    found = run([known("One", "One0"), known("Two", "Two1")], model, LIKELIEST)
    assert found.overall.promised == pytest.approx(0.25)
    assert found.overall.error.value == pytest.approx(0.25)
    assert found.excess.value == pytest.approx(0) and found.beyond == 0
    assert "too alike to say more of its second-order calibration" in sentence(found)


@pytest.mark.parametrize(
    ("low", "high", "says"),
    [
        (-0.1, 0.1, "compatible with second-order calibration"),
        (0.1, 0.2, "not second-order calibrated, it errs more than it says"),
        (-0.2, -0.1, "not second-order calibrated, it errs less than it says"),
    ],
)
def test_the_sentence_says_no_more_than_the_interval(low, high, says):
    model, _ = many({"One": COPIES})
    found = run([known("One", "One0")], model, LIKELIEST)
    vars(found)["excess"] = Interval((low + high) / 2, low, high)
    assert says in sentence(found)


def test_a_model_that_knows_all_right_answers_errs_by_nothing_and_says_so():
    model, _ = many({"Q": KNOWS_BOTH})
    found = run([known("Q", "Q0", "Q1")], model, LIKELIEST)
    assert found.overall.promised == pytest.approx(0, abs=1e-12)
    assert found.overall.error.value == pytest.approx(0, abs=1e-12)


def test_a_model_that_is_sure_of_something_wrong_is_not_calibrated():
    model, names = many({f"Q{i}": SURE for i in range(30)})
    found = run([known(name, "elsewhere") for name in names], model, LIKELIEST)
    assert found.overall.promised == pytest.approx(0, abs=1e-6)
    assert found.overall.error.value == pytest.approx(
        1, abs=1e-6
    )  # of the one answer likely enough
    assert found.beyond == 1 and found.excess.value == pytest.approx(1, abs=1e-6)


def test_a_right_answer_that_was_not_found_is_an_error_too():
    """Two wrong answers, each copied: by these alone, the model errs by what it says, 1/4 each."""
    model, names = many({f"Q{i}": COPIES for i in range(30)})
    found = run([known(name, "elsewhere") for name in names], model, LIKELIEST)
    asked = found.questions[0]
    assert asked.predicted == pytest.approx((0.5, 0.5, 0)) and asked.truth == (0, 0, 1)
    assert found.overall.promised == pytest.approx((0.25 + 0.25) / 3)
    assert found.overall.error.value == pytest.approx((0.25 + 0.25 + 1) / 3)
    assert found.excess.value == pytest.approx(1 / 3)


def test_spellings_of_one_right_answer_are_one():
    rows = np.array([[0.6, 0.3, 0.1]] * 3)
    model = Searched(["Rome", "Roma", "Milan"], rows[0], rows, query=QUERY)
    inspection = read(record(Request(QUERY, 3, sampling=Sampling.LIKELIEST), model))
    found = of_inspection(
        inspection, (RightAnswer(("Rome", "Roma"), 0.9), RightAnswer(("Turin",), 0.1))
    )
    assert found.answers == ("Rome", "Milan", "Turin")  # the last was not found
    assert found.predicted == pytest.approx((0.9, 0.1, 0))
    assert found.repeated == pytest.approx((0.9, 0.1, 0))
    assert found.truth == pytest.approx((0.9, 0.0, 0.1))
    assert found.correct["covariance"] and found.doubts["covariance"] == pytest.approx(0)


def made(predicted, repeated, truth, candidate=((0.9, 0.05), (0.1, 0.2)), right=True):
    probabilities, entropies = np.transpose(candidate)
    doubts = dict.fromkeys([name for name in COMPARED if name != "two_stage"], 0.5)
    return RelatedAnswers(
        "q", doubts, dict.fromkeys(doubts, right), tuple("abcdefgh"[: len(truth)]),
        tuple(predicted), tuple(repeated), tuple(truth), Candidates(probabilities, entropies),
    )  # fmt: skip


def test_bins_rise_and_hold_all_answers():
    rng = np.random.default_rng(0)
    rows = []
    for _ in range(80):
        p, q = rng.dirichlet([1, 1, 1]), rng.dirichlet([1, 1, 1])
        # Either of two questions: what the model says of both is their mean.
        mean = (p + q) / 2
        twice = (p**2 + q**2) / 2
        rows += [made(mean, twice / mean, one) for one in (p, q)]
    found = RelatedScores("m", "1", tuple(rows))
    bins = found.calibration(5)
    assert sum(one.answers for one in bins) == 480
    assert [one.promised for one in bins] == sorted(one.promised for one in bins)
    for one in bins:
        assert one.error.lower <= one.error.value <= one.error.upper
        assert one.error.value == pytest.approx(one.promised, abs=1e-9)  # pairs share their V̂
    assert found.excess.value == pytest.approx(0, abs=1e-12)
    assert found.beyond <= 0.1


# --------------------------------------------------------------------- the two stages


def questions(seed=0, sure=40, unsure=40):
    """Sure ones are right and look copied; unsure ones are wrong, and copy."""
    rng = np.random.default_rng(seed)
    found = []
    for right in [True] * sure + [False] * unsure:
        low = rng.uniform(0, 0.3)
        p = 0.97 if right else 0.6
        rows = ((p, low), (1 - p - 0.01, low + 0.4))
        found.append(made([0.5], [0.5], [0.5], rows, right))
    return found


def test_a_threshold_finds_what_the_least_entropy_alone_does_not():
    found = RelatedScores("m", "1", tuple(questions()))
    curve = dict(found.by_threshold())
    assert curve[0.0] == pytest.approx(0.5, abs=0.15)
    assert curve[0.1] == 1.0
    literal = dict(found.by_threshold(fewest=1))
    assert literal[0.1] < 0.7  # a single candidate, tested like several, still looks copied
    assert [*curve] == [*THRESHOLDS]


def test_the_threshold_of_a_half_is_tuned_on_the_other():
    found = RelatedScores("m", "1", tuple(questions()))
    best, doubts = found.tuned_thresholds
    rows = {least: found.two_stage(least) for least in THRESHOLDS}
    half = np.random.default_rng(0).permutation(80) < 40
    np.testing.assert_array_equal(doubts[~half], rows[best[0]][~half])
    np.testing.assert_array_equal(doubts[half], rows[best[1]][half])
    assert found.comparison.values["two_stage"].value == 1.0
    assert found.comparison.values["mutual_information"].value == 0.5  # all doubts are equal here
    assert "M.I. 0.50" in sentence(found) and "0.05 and 0.05" in sentence(found)


# ------------------------------------------------------------------------- who is asked


def test_the_embedded_model_is_asked(embedded):
    found = run([fact for band in Band for fact in draw(band, 2)], embedded)
    assert len(found.questions) == 10
    for asked in found.questions:
        assert sum(asked.predicted) <= 1 + 1e-6
        assert all(-0.25 <= p * (q - p) <= 0.25 + 1e-9
                   for p, q in zip(asked.predicted, asked.repeated, strict=True))  # fmt: skip
        assert {*asked.doubts} == {*COMPARED} - {"two_stage"}
    assert sentence(found).startswith("AUROC for wrong answers on 10 questions: M.I.")
