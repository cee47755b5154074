"""Scoring: labelled data out of questions with known answers, as the calibration reads it."""

import csv
import io
import math
from dataclasses import replace

import numpy as np
import pytest

from core.data import uploads
from core.data.labelled import labelled, suggest
from core.data.truth import matches
from core.studies import scoring
from core.studies.calibration import pipeline_of_data
from core.studies.inspection import Reading, run
from core.studies.pipeline import pipeline_of
from core.studies.progress import Cancelled
from core.studies.recording import Request
from core.studies.scoring import Gold, score, score_all, table
from core.studies.verdict import Decision, Threshold, decide, default_threshold
from core.uncertainty.scores import SCORES
from tests.fakes import QUERY, TableModel, copies, falling, knows, words

INFORMATION, ENTROPY = "mutual_information", "semantic_entropy"
LEAST = default_threshold().least_mass


def turning():
    """First mostly red, and blue whatever it is told: two scores serve two answers."""
    return TableModel(["red apple", "blue sky"], [0.6, 0.4], [[0.2, 0.8], [0.1, 0.9]])


def asked(model, query):
    """The model, knowing another question instead."""
    model.table = {text.replace(QUERY, query): row for text, row in model.table.items()}
    return model


def three():
    """Three questions: many right answers, no knowledge, one answer."""
    model = asked(knows(6), "And many?")
    model.table |= asked(copies(12), "And copies?").table
    model.table |= TableModel(["answer0"], [1.0], [[1.0]], query="And one?").table
    return model


GOLDS = [
    Gold("And many?", ("answer0", "answer1"), "lists"),
    Gold("And copies?", ("answer0",), "guesses"),
    Gold("And one?", ("answer0",), "facts"),
]
FEW = Request("unused", 12, seed=1)


def read(content):
    upload = uploads.parse(content, "scored.csv")
    return labelled(upload, suggest(upload))


def cells(content):
    return list(csv.DictReader(io.StringIO(content.decode("utf-8-sig"), newline="")))


# ----------------------------------------------------------------------- one question


@pytest.mark.parametrize("right", ["red apple", "blue sky", "neither"])
def test_every_score_is_judged_by_the_answer_that_it_serves(right):
    seen = run(Request(QUERY, 50), turning())
    assert seen.scores[ENTROPY].answer == seen.scores["greedy_probability"].answer == "red apple"
    assert seen.scores[INFORMATION].answer == "blue sky"
    found = score(Gold(QUERY, (right,)), turning(), Request("unused", 50))
    assert found.correct == {name: seen.scores[name].answer == right for name in SCORES}
    assert found.answer == "blue sky"
    assert len(set(found.correct.values())) == (1 if right == "neither" else 2)


def test_any_right_answer_in_any_wording_counts():
    for answers in (("no", "the BLUE sky!"), ("blue", "red apple")):
        found = score(Gold(QUERY, answers), turning(), Request("unused", 50))
        assert found.correct[INFORMATION] is matches("blue sky", answers) is True


def test_a_doubt_is_the_score_s_where_enough_was_seen():
    seen = run(Request(QUERY, 50), copies(12))
    assert seen.sampled_mass > LEAST
    found = score(Gold(QUERY, ("answer0",)), copies(12), Request("unused", 50))
    for name in set(SCORES) - {INFORMATION}:
        assert found.doubts[name] == seen.scores[name].doubt
    assert found.doubts[INFORMATION] == max(
        seen.scores[INFORMATION].doubt, seen.scores["certified_mutual_information"].doubt
    )
    assert found.entropy == seen.scores[ENTROPY].doubt
    assert found.sampled_mass == seen.sampled_mass
    assert found.gold == Gold(QUERY, ("answer0",), "")


def test_the_request_and_the_reading_are_those_that_were_asked_for():
    request, reading = Request("unused", 20, 0.5, seed=7), Reading("ratio", 0.8)
    found = score(Gold(QUERY, ("answer0",)), copies(12), request, reading)
    seen = run(Request(QUERY, 20, 0.5, seed=7), copies(12), reading)
    assert found.doubts[ENTROPY] == seen.scores[ENTROPY].doubt
    default = score(Gold(QUERY, ("answer0",)), copies(12), request)
    assert default.doubts[ENTROPY] != found.doubts[ENTROPY]  # “answer0” is like “answer1”


def test_where_too_little_was_seen_every_doubt_is_missing():
    gold = Gold(QUERY, ("answer0",))
    mass = score(gold, copies(12), FEW).sampled_mass
    assert LEAST < mass < 0.999
    enough = score(gold, copies(12), FEW, least_mass=mass)
    too_little = score(gold, copies(12), FEW, least_mass=mass + 1e-6)
    assert None not in enough.doubts.values()
    assert set(too_little.doubts) == set(SCORES)
    assert set(too_little.doubts.values()) == {None}
    assert too_little.entropy == enough.entropy is not None
    assert too_little.correct == enough.correct


def test_a_single_answer_needs_half_of_the_probability():
    """Its mutual information is 0 whatever the model knows."""
    for share, known in ((0.6, True), (0.4, False)):
        rest = [(1 - share) / 9] * 9
        model = TableModel(words(10), [share, *rest], np.tile([share, *rest], (10, 1)))
        found = score(Gold(QUERY, ("answer0",)), model, Request("unused", 1, 0.1))
        assert found.answer == "answer0" and found.sampled_mass == pytest.approx(share)
        assert (found.doubts[INFORMATION] is not None) is known


@pytest.mark.parametrize("value", [0.01, 0.1, 0.3, 1.0])
@pytest.mark.parametrize("least", [0.0, 0.5, 0.9, 1.0])
def test_a_threshold_on_the_doubt_decides_as_the_verdict_does(value, least):
    """What a policy is calibrated on is what the inspection page then does."""
    for model in (copies(12), knows(6), turning()):
        seen = run(Request(QUERY, 12), model)
        found = score(Gold(QUERY, ("x",)), model, Request("unused", 12), least_mass=least)
        for name in SCORES:
            threshold = Threshold(value, least, name)
            verdict = decide(seen.scores, seen.sampled_mass, len(seen.clusters), threshold)
            doubt = found.doubts[name]
            answers = doubt is not None and doubt < value
            assert answers == (verdict.decision is Decision.ANSWER), name


# --------------------------------------------------------------------- many questions


def test_questions_are_scored_in_their_order():
    heard = []
    found = score_all(GOLDS, three(), FEW, progress=lambda *said: heard.append(said))
    assert [s.gold for s in found] == GOLDS
    assert found == [score(gold, three(), FEW) for gold in GOLDS]
    assert list(dict.fromkeys(heard)) == [
        ("Asking question 1 of 3", 0),
        ("Asking question 2 of 3", 1 / 3),
        ("Asking question 3 of 3", 2 / 3),
    ]
    assert score_all([], three(), FEW) == []
    reading = Reading("ratio", 0.8)  # “answer0” is like “answer1”
    others = score_all(GOLDS, three(), FEW, reading)
    assert others == [score(gold, three(), FEW, reading) for gold in GOLDS] != found


def test_what_was_scored_is_kept_when_somebody_cancels():
    kept = []

    def stop(stage, share):
        if share > 0.5:
            raise Cancelled

    with pytest.raises(Cancelled):
        score_all(GOLDS, three(), FEW, progress=stop, keep=kept.append)
    everything = score_all(GOLDS, three(), FEW)
    assert kept == everything[:2]

    model = three()
    shares = []
    done = tuple(kept)
    found = score_all(
        GOLDS, model, FEW, progress=lambda _, s: shares.append(s), done=done, keep=kept.append
    )
    assert found == everything
    assert kept == everything  # the third was added, and nothing twice
    assert set(shares) == {2 / 3}
    assert model.sampled == [(0, 12), (0, 1)]  # the last question and its greedy answer


def test_nothing_is_asked_when_all_is_done():
    done = score_all(GOLDS, three(), FEW)
    model = three()
    assert score_all(GOLDS, model, FEW, done=done) == done
    assert model.sampled == [] and model.scored == []


# -------------------------------------------------------------------------- the table


def test_the_table_comes_back_as_the_same_labelled_data():
    reading = Reading("token_f1", 0.5, 0.01, 0.02)
    scored = score_all(GOLDS, three(), FEW, reading)
    data = read(table(scored, three(), FEW, reading))
    assert data.problems == ()
    assert list(data.doubts) == list(SCORES)
    assert data.surer == dict.fromkeys(SCORES, False)
    for name in SCORES:
        assert data.doubts[name].tolist() == [s.doubts[name] for s in scored]
        assert data.correct[name].tolist() == [s.correct[name] for s in scored]
    assert data.queries.tolist() == [gold.query for gold in GOLDS]
    assert data.sources.tolist() == [gold.source for gold in GOLDS]
    assert data.entropies.tolist() == [s.entropy for s in scored]
    assert pipeline_of_data(data) == pipeline_of("table", "1", FEW, reading, LEAST)


def test_missing_doubts_are_empty_cells_and_the_entropy_is_not():
    scored = score_all(GOLDS, three(), FEW)
    # Of the second question, too little was seen.
    scored[1] = score(GOLDS[1], three(), FEW, least_mass=1.0)
    content = table(scored, three(), FEW)
    row = cells(content)[1]
    assert [row[name] for name in SCORES] == [""] * len(SCORES)
    assert [row[f"{name}_correct"] for name in SCORES] == [
        str(int(scored[1].correct[name])) for name in SCORES
    ]
    assert float(row["entropy"]) == scored[1].entropy
    data = read(content)
    for name in SCORES:
        np.testing.assert_equal(
            data.doubts[name], [scored[0].doubts[name], math.nan, scored[2].doubts[name]]
        )
    assert data.entropies.tolist() == [s.entropy for s in scored]


def test_doubts_that_are_all_0_are_scores_nevertheless():
    """Zeros alone look like labels; M.I. of what a model knows is often exactly 0."""
    scored = score_all(GOLDS[2:], three(), FEW)
    assert scored[0].doubts[INFORMATION] == 0
    data = read(table(scored, three(), FEW))
    assert list(data.doubts) == list(SCORES)
    assert data.doubts[INFORMATION].tolist() == [0]


def test_the_table_names_the_least_mass_that_was_asked_for():
    scored = [score(GOLDS[0], three(), FEW, least_mass=0.25)]
    data = read(table(scored, three(), FEW, least_mass=0.25))
    assert pipeline_of_data(data) == pipeline_of("table", "1", FEW, Reading(), 0.25)


def test_a_cell_holds_what_its_heading_says():
    scored = score_all(GOLDS, three(), FEW)
    row = cells(table(scored, three(), FEW))[0]
    assert tuple(row) == scoring.HEADING
    assert row["question"] == "And many?"
    assert row["right answers"] == "answer0 | answer1"
    assert row["answer"] == scored[0].answer
    assert row["source"] == "lists"
    assert float(row["sampled_mass"]) == pytest.approx(scored[0].sampled_mass, rel=1e-5)


def test_the_table_is_disarmed():
    texts = ["=HYPERLINK(1)", "@x"]
    model = TableModel(texts, falling(2), [falling(2)] * 2)
    gold = Gold(QUERY, ("=1+1", "b"), "-x")
    scored = replace(score(gold, model, FEW), gold=replace(gold, query="+1"))
    (row,) = cells(table([scored], model, FEW))
    assert row["answer"] == "'=HYPERLINK(1)"
    assert row["question"] == "'+1"
    assert row["right answers"] == "'=1+1 | b"
    assert row["source"] == "'-x"


# ------------------------------------------------------------------ the shipped model


def test_the_shipped_model_is_scored_as_it_is_inspected(embedded):
    questions = ["What is the capital of France?", "What is the capital of Zorvania?"]
    golds = [Gold(questions[0], ("Paris",)), Gold(questions[1], ("nobody knows",))]
    request = Request("unused", 5)
    scored = score_all(golds, embedded, request)
    for gold, found in zip(golds, scored, strict=True):
        seen = run(Request(gold.query, 5), embedded)
        assert found.sampled_mass == seen.sampled_mass
        for name in SCORES:
            assert found.correct[name] == matches(seen.scores[name].answer, gold.answers)
            assert found.doubts[name] is None or found.doubts[name] >= seen.scores[name].doubt
    assert scored[1].correct == dict.fromkeys(SCORES, False)
    pipeline = pipeline_of(embedded.name, embedded.revision, request, Reading(), LEAST)
    assert pipeline_of_data(read(table(scored, embedded, request))) == pipeline
