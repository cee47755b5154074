"""Whose runs are whose, where they are, and how many there may be."""

import gc
import os

import pytest

from core.language_models.client.concurrency import AT_ONCE
from core.language_models.client.stack import with_layers
from core.language_models.registry import open_model
from core.language_models.trial import in_its_form
from core.language_models.usage import Budget
from core.store.results import THIS_COMPUTER
from core.studies.evaluation.resumption import QUESTIONS
from core.studies.evaluation.run import most
from core.studies.evaluation.run_folder import MANIFEST, RunError, hold
from core.studies.evaluation.saved_run import Run
from core.ui.evaluation import runs as module
from core.ui.evaluation.runs import NUMBER, Runs, complaint, runs_beside
from tests.language_models.openai_server import serving
from tests.patience import LONG
from tests.studies.evaluation.worlds import World, questions, surveyed, task


@pytest.fixture
def come(monkeypatch):
    """Return a function that says who looks at the page."""

    def come(who):
        monkeypatch.setattr(module, "owner", lambda: who)
        monkeypatch.setattr(module, "alone", lambda: who == THIS_COMPUTER)

    come(THIS_COMPUTER)
    return come


def prepared(runs, asked, how):
    folder = runs.folder_of(asked, how)
    runs.make_room(folder)
    runs.prepare(asked, how, folder)
    return folder


def begun(runs, first=0, **more):
    return prepared(runs, surveyed(questions(2, first)), task(World(), **more))


def test_the_same_request_is_the_same_run_and_any_other_is_another(come, tmp_path):
    runs = Runs(tmp_path)
    folder = begun(runs)
    assert begun(runs) == folder and runs.find(folder.name) == folder
    others = {begun(runs, 1), begun(runs, seed=1), begun(runs, temperature=0.5), begun(runs)}
    assert len(others) == 4 and set(runs.own()) == others


def test_nobody_finds_the_run_of_another_person(come, tmp_path):
    runs = Runs(tmp_path)
    mine = begun(runs)
    come("person alice")
    hers = begun(runs)
    assert hers.name != mine.name and runs.find(mine.name) is None and runs.own() == [hers]
    come("person bob")
    assert runs.find(hers.name) is None and runs.own() == []
    come("session 1")
    given = begun(runs)
    come("session 2")
    assert runs.find(given.name) == given and runs.own() == []  # its address was told


@pytest.mark.parametrize("key", ["..", "../..", "", "*", "[0-9a-f]*", "0" * 32, "é" * 32])
def test_an_address_leads_to_no_other_folder(come, tmp_path, key):
    runs = Runs(tmp_path)
    begun(runs)
    (tmp_path / MANIFEST).write_text("{}")  # where two dots lead
    assert runs.find(key) is None


def test_of_sessions_the_oldest_runs_go_but_not_one_that_is_written_to(come, monkeypatch, tmp_path):
    runs = Runs(tmp_path)
    come("session 1")
    held, gone, kept = (begun(runs, first) for first in range(3))
    for hours, folder in enumerate((kept, gone, held)):  # the clock was set back, twice
        os.utime(folder / QUESTIONS, (3600 * hours, 3600 * hours))
    monkeypatch.setattr(module, "MOST_OF_SESSIONS", 1)
    come("session 2")
    with hold(held):
        newest = begun(runs, 9)
    there = [(folder / MANIFEST).exists() for folder in (held, gone, kept, newest)]
    assert there == [True, False, True, True]


def test_runs_from_before_they_had_numbers_are_the_oldest_in_their_order(come, tmp_path):
    runs = Runs(tmp_path)
    later, earlier, newest = (begun(runs, first) for first in range(3))
    for seconds, folder in ((2e9, later), (1e9, earlier), (0, newest)):
        os.utime(folder / QUESTIONS, (seconds, seconds))
    (later / NUMBER).unlink()
    (earlier / NUMBER).write_text("²")  # no number either
    assert runs.own() == [newest, later, earlier]


def test_one_visitor_has_no_more_than_that_many(come, monkeypatch, tmp_path):
    monkeypatch.setattr(module, "MOST_RUNS", 1)
    runs = Runs(tmp_path)
    come("person alice")
    begun(runs)
    with pytest.raises(RunError, match="Delete one"):
        begun(runs, 1)
    begun(runs)  # which is there already
    come(THIS_COMPUTER)
    assert begun(runs) != begun(runs, 1)


def test_a_run_ends_at_the_tokens_that_were_stated(come, tmp_path):
    def after(reply):
        reply.setdefault("usage", {})["completion_tokens"] = 10**6
        return reply

    with serving("none", after=after) as server:
        model, _ = in_its_form(with_layers(open_model(server.name), None, Budget()))
        runs, asked, how = Runs(tmp_path), surveyed(questions(9)), task(model)
        stated, before = most(asked, how, asked.number), model.meter.usage
        job = runs.start(Run(prepared(runs, asked, how)), how)
        assert job.wait(LONG) and "were stated at most" in job.why
        used = model.meter.usage - before
    assert job.most == stated.requests and stated.response_tokens < 10**6
    assert 0 < used.requests <= AT_ONCE  # those under way


def test_a_run_that_is_written_to_is_not_deleted(come, tmp_path):
    runs = Runs(tmp_path)
    folder = begun(runs)
    with hold(folder), pytest.raises(RunError) as refused:
        runs.delete(folder)
    sentence = complaint(refused.value, folder)
    assert str(tmp_path) not in sentence and "folder" in sentence and sentence.endswith("ended.")
    runs.delete(folder)
    assert not folder.exists() and runs.find(folder.name) is None


def test_of_two_servers_one_goes_on_with_a_run(come, tmp_path):
    runs, model = Runs(tmp_path), World()
    folder = begun(runs)
    with hold(folder):  # as the other server has it
        job = runs.start(Run(folder), task(model))
        while not job.wait(1):
            pass
        assert job.why == (
            "Another process is writing to the folder of this run. Wait until it has ended."
        )
        assert not model.asked and Run(folder).finished_questions == 0
    job = runs.start(Run(folder), task(model))
    while not job.wait(1):
        pass
    assert job.error is None and Run(folder).finished_questions == len(model.asked) == 2


def test_a_temporary_folder_goes_with_its_runs(come):
    runs = runs_beside(None)
    root = runs.root
    begun(runs)
    assert root.is_dir()
    del runs
    gc.collect()
    assert not root.exists()
