"""Scorings: shared by all who upload the same file, stopped and gone on with, and not for ever."""

import threading
from dataclasses import replace

import pytest

from core.data.tabular.gold_questions import GoldQuestions
from core.language_models.errors import ModelError
from core.studies.calibration import scoring
from core.studies.costs import plan
from core.studies.inspection.request import Request
from core.ui.calibration.scoring import KEPT, Scorings
from tests.fakes import QUERY, TableModel

MODEL = TableModel(["right", "other"], [0.9, 0.1], [[0.9, 0.1], [0.9, 0.1]])
SERVICE = TableModel(["right", "other"], [0.9, 0.1], [[0.9, 0.1], [0.9, 0.1]])
SERVICE.capabilities = replace(MODEL.capabilities, local=False)
LONG = 60  # seconds: what never happens unless something hangs


@pytest.fixture
def gold():
    """Three times one question, which `MODEL` answers with “right”."""
    answers = (("right",), ("wrong",), ("wrong", "right"))
    return GoldQuestions("g.csv", "f" * 64, (QUERY,) * 3, answers, ("", "b", ""), ())


def finished(job):
    assert job.wait(LONG)
    return job


def test_scores_with_the_labels_of_the_file(gold):
    found = finished(Scorings().start(gold, MODEL)).result
    assert [scored.correct["mutual_information"] for scored in found] == [True, False, True]
    assert [scored.gold.source for scored in found] == ["", "b", ""]


def test_the_same_file_is_scored_once(gold, monkeypatch):
    every = Scorings()
    first = finished(every.start(gold, MODEL))
    monkeypatch.setattr(scoring, "score", None)  # nothing is asked any more
    assert every.start(gold, MODEL) is first
    assert list(every.so_far(gold, MODEL).values()) == first.result


def test_what_is_scored_can_be_seen_on_the_way_and_is_gone_on_with(gold, monkeypatch):
    every, score = Scorings(), scoring.score
    asked = []

    def failing(question, *args, **kwargs):
        asked.append(question.source)
        if len(asked) == 2:
            raise ValueError("broken")
        return score(question, *args, **kwargs)

    monkeypatch.setattr(scoring, "score", failing)
    assert str(finished(every.start(gold, MODEL)).error) == "broken"
    assert len(every.so_far(gold, MODEL)) == 1
    assert finished(every.start(gold, MODEL)).error is None
    assert asked == ["", "b", "b", ""] and len(every.so_far(gold, MODEL)) == 3


def test_of_a_service_what_comes_later_in_the_file_is_kept_too_and_in_its_order(gold, monkeypatch):
    every, score = Scorings(), scoring.score
    others, asked = threading.Semaphore(0), []

    def failing(question, *args, **kwargs):
        asked.append(question.source)
        if question.source == "first" and len(asked) <= 3:
            assert others.acquire(timeout=LONG) and others.acquire(timeout=LONG)
            raise ModelError("broken")
        found = score(question, *args, **kwargs)
        others.release()
        return found

    monkeypatch.setattr(scoring, "score", failing)
    gold = replace(gold, sources=("first", "b", ""))
    job = finished(every.start(gold, SERVICE))
    assert str(job.error) == "broken"
    assert list(every.so_far(gold, SERVICE)) == [1, 2]
    most = plan(Request(QUERY), SERVICE.capabilities).requests
    assert job.most == 3 * most
    again = finished(every.start(gold, SERVICE))
    assert again.most == most  # of the one that was left
    assert sorted(asked) == ["", "b", "first", "first"]
    assert list(every.so_far(gold, SERVICE)) == [0, 1, 2]  # though it came last
    assert list(every.so_far(gold, SERVICE).values()) == again.result
    assert every.start(gold, SERVICE).most == most  # the same job, announced before


def test_nothing_is_announced_where_calls_cost_only_time(gold):
    assert finished(Scorings().start(gold, MODEL)).most is None


def test_only_the_files_used_last_are_kept(gold):
    every = Scorings()
    files = [replace(gold, sha256=f"{number:064d}") for number in range(KEPT + 1)]
    for file in files[:-1]:
        every._file(file, MODEL).done[0] = "scored"
    every.so_far(files[0], MODEL)  # used again
    every.so_far(files[-1], MODEL)  # one too many
    assert every.so_far(files[0], MODEL) == {0: "scored"}
    assert every.so_far(files[1], MODEL) == {}


def forgotten(every, gold):
    """Use so many other files that this one is forgotten."""
    for number in range(KEPT):
        every.so_far(replace(gold, sha256=f"{number:064d}"), MODEL)


def test_a_file_that_was_forgotten_is_scored_again(gold):
    every = Scorings()
    first = finished(every.start(gold, MODEL))
    forgotten(every, gold)
    assert every.so_far(gold, MODEL) == {}
    second = finished(every.start(gold, MODEL))
    assert second is not first
    assert list(every.so_far(gold, MODEL).values()) == second.result == first.result


def test_no_file_is_forgotten_while_it_is_scored(gold, monkeypatch):
    every, gate, score = Scorings(), threading.Event(), scoring.score

    def held(*args, **kwargs):
        assert gate.wait(LONG)
        return score(*args, **kwargs)

    monkeypatch.setattr(scoring, "score", held)
    job = every.start(gold, MODEL)
    forgotten(every, gold)
    gate.set()
    finished(job)
    assert list(every.so_far(gold, MODEL).values()) == job.result
