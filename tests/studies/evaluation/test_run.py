"""A run: every question once, whatever ends the process, and each as if it were alone."""

import json
import math
import os
import resource
import shutil
import signal
import subprocess
import sys
import tracemalloc
from dataclasses import astuple, replace
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from pyarrow import parquet

from core.data.datasets.draw import draw, random_order
from core.data.datasets.world import world_questions
from core.language_models.errors import (
    BudgetError,
    CreditError,
    NeedsKeyError,
    OtherModelError,
    RefusedError,
    UnreachableError,
)
from core.language_models.usage import Usage
from core.studies.evaluation import run_folder
from core.studies.evaluation.local import TIMED, Task, ask, lasts, local
from core.studies.evaluation.rows import Row, failed_row
from core.studies.evaluation.run import (
    MOST_UNREACHABLE,
    RunError,
    RunOutcome,
    evaluate,
    most,
    pipeline_for,
    survey,
)
from core.studies.evaluation.saved_run import Run
from core.studies.evaluation.worker import row_block
from core.studies.inspection.inspection import run as inspect
from core.studies.inspection.recorder import usual_request
from core.studies.inspection.request import MAX_QUERY_CHARACTERS, Reading, Request
from core.studies.inspection.verdict import doubt_of
from core.studies.progress import Cancelled
from core.uncertainty.scores import SCORES
from tests.fakes import QUERY, knows
from tests.studies.evaluation.worlds import World, assert_same, questions, rows_of, surveyed, task


@pytest.fixture(autouse=True)
def small_parts(monkeypatch):
    monkeypatch.setattr(run_folder, "PART", 7)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """The folder of a run that nothing disturbed; only read."""
    folder = tmp_path_factory.mktemp("runs") / "whole"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(run_folder, "PART", 7)
        evaluate(surveyed(questions(30)), task(World()), folder)
    return folder


@pytest.fixture(scope="module")
def whole(undisturbed):
    return rows_of(undisturbed)


def asked_first(number):
    """The numbers of the questions that a run asks first."""
    every = random_order(lambda: questions(30), 30)
    return [int(question.id[1:]) for question in islice(every, number)]


# -------------------------------------------------------------------------- what is written


def test_every_question_is_asked_once_and_its_row_says_what_an_inspection_says(tmp_path):
    model, asked = World(), questions(20)
    outcome = evaluate(surveyed(asked), task(model), tmp_path / "run")
    assert outcome == replace(RunOutcome(20, 20, 0, 0, 0), seconds=outcome.seconds)
    assert sorted(model.asked) == list(range(20))
    rows = rows_of(tmp_path / "run")
    for question in asked:
        row = rows[question.id]
        seen = inspect(replace(task(model).request, query=question.query), World())
        mass, clusters = seen.sampled_mass, len(seen.clusters)
        least = task(model).least_mass
        assert (row["query"], row["source"], row["error"]) == (
            question.query,
            question.source,
            None,
        )
        assert row["answers"] == [list(names) for names in question.answers]
        assert row["greedy"] == seen.recording.greedy.text
        assert row["responses"] == list(seen.recording.texts)
        assert row["clusters"] == len(seen.clusters)
        assert row["sampled_mass"] == seen.sampled_mass
        assert row["entropy"] == seen.scores["semantic_entropy"].doubt
        for name, found in seen.scores.items():
            assert row[f"{name}_raw"] == found.doubt
            assert row[name] == doubt_of(seen.scores, name, mass, clusters, least, seen.others)
            assert row[f"{name}_answer"] == found.answer
            assert row[f"{name}_correct"] == (found.answer in question.names)
        assert row["requests"] is None  # nothing but time
    assert {row["mutual_information_correct"] for row in rows.values()} == {True, False}


def test_a_right_answer_in_more_words_is_right_but_not_exactly(tmp_path):
    (question,) = questions(1)
    longer = replace(question, answers=(("the Red!",), ("deep red sea",)))
    other = replace(question, id="other", answers=(("deep red sea",),))
    evaluate(surveyed([longer, other]), task(World()), tmp_path / "run")
    rows = rows_of(tmp_path / "run")
    compared = [
        (rows[id]["greedy_probability_correct"], rows[id]["greedy_probability_exact"])
        for id in (question.id, "other")
    ]
    assert compared == [(True, True), (True, False)]


def test_the_manifest_is_complete(tmp_path):
    asked = surveyed(questions(3), "three.jsonl")
    evaluate(asked, task(World(), seed=5), tmp_path / "run")
    found = json.loads((tmp_path / "run" / "run.json").read_text())
    assert (found["model"], found["revision"], found["form"]) == ("world of numbers", "1", "plain")
    assert found["seed"] == found["order"] == 5 and found["pipeline"]["samples"] == 10
    reading = found["questions"].pop("reading")
    assert found["questions"] == {
        "name": "three.jsonl",
        "number": 3,
        "malformed": 0,
        "sha256": asked.sha256,
    }
    assert reading[:2] == [
        "3 questions, 3 of them different.",
        "“What is question number 0?”, right: “red”.",
    ]
    assert found["versions"]["python"] and found["versions"]["numpy"] == np.__version__
    assert found["begun"] <= found["ended"] and found["seconds"] > 0
    assert Run(tmp_path / "run").pipeline == pipeline_for(task(World(), seed=5))
    assert sorted(path.name for path in (tmp_path / "run").iterdir()) == [
        "lock",
        "recordings-00000.parquet",
        "rows-00000.parquet",
        "run.json",
    ]


def test_what_a_service_took_is_in_each_row(tmp_path):
    model, asked = World(local=False), questions(9)
    evaluate(surveyed(asked), task(model), tmp_path / "run")
    rows = rows_of(tmp_path / "run").values()
    names = ("requests", "prompt_tokens", "response_tokens")
    assert all(row["requests"] > 3 for row in rows)
    assert Usage(*(sum(row[name] for row in rows) for name in names)) == model.meter.usage


def test_what_a_run_costs_at_most_is_that_of_its_longest_question():
    found = surveyed([*questions(2), replace(questions(1)[0], id="long", query="x" * 500)])
    assert found.longest == "x" * 500 and found.number == 3
    one, three = (most(found, task(World(local=False)), left) for left in (1, 3))
    assert three == one + one + one and one.prompt_tokens > 1000


@pytest.mark.parametrize("other", ["为什么" * 20, "为什么"])  # 120 tokens of 60 characters, and six
def test_a_run_costs_what_any_of_its_questions_may(other):
    model = World(local=False)
    model.capabilities = replace(model.capabilities, calls_a_pair=33)

    def bound(*queries):
        pairs = zip(questions(2), queries, strict=False)
        return most(surveyed([replace(one, query=q) for one, q in pairs]), task(model), 1)

    english = "Why is that so? " * 8
    for alone in (english, other):
        assert min(astuple(bound(english, other) - bound(alone))) >= 0
    assert min(astuple(bound(other, english) - bound(other))) >= 0


def test_the_fingerprint_changes_with_all_that_counts():
    (one,) = questions(1)
    other = questions(2)[1]
    changed = [
        [replace(one, **{field: getattr(other, field)})] for field in ("id", "query", "source")
    ]
    changed += [[replace(one, answers=(("red", "crimson"),))], [replace(one, source="x")]]
    changed += [[one, other], [other, one]]
    prints = [surveyed(asked).sha256 for asked in ([one], *changed)]
    assert len(set(prints)) == len(prints) - 1  # the two share their source
    assert surveyed([one], "renamed").sha256 == prints[0]


# --------------------------------------------------------------- whatever ends the process


def progress_until(number):
    def progress(stage, share):
        if share >= number / 30:
            raise Cancelled

    return progress


def stopped(folder, number, model=None):
    """Cancel a run of thirty questions when so many are finished; return what it asked."""
    asked = surveyed(questions(30))
    with pytest.raises(Cancelled):
        evaluate(asked, task(model or World()), folder, progress_until(number))
    return asked


def test_progress_moves_before_the_first_question_is_finished_and_never_back(tmp_path):
    seen = []
    evaluate(
        surveyed(questions(30)),
        task(World()),
        tmp_path / "run",
        lambda stage, share: seen.append((stage, share)),
    )
    assert [share for stage, share in seen if stage.startswith("0 of 30") and share > 0]
    shares = [share for _, share in seen]
    assert shares == sorted(shares) and shares[-1] < 1


@pytest.mark.parametrize("number", [0, 1, 7, 13, 14, 29])
def test_who_cancels_keeps_what_is_done_and_goes_on_later(tmp_path, whole, number):
    model, folder = World(), tmp_path / "run"
    asked = stopped(folder, number, model)
    assert rows_of(folder) == {id: whole[id] for id in islice(whole, number)}
    assert json.loads((folder / "run.json").read_text())["ended"] is None
    outcome = evaluate(asked, task(model), folder)
    assert (outcome.before, outcome.done) == (number, 30)
    assert rows_of(folder) == whole
    # The one under way when it was cancelled is asked again, and no other.
    assert len(model.asked) <= 31 and set(model.asked) == set(range(30))


def test_a_run_from_before_the_random_order_goes_on_in_the_order_of_its_file(tmp_path, whole):
    model, folder = World(), tmp_path / "run"
    asked = stopped(folder, 0)
    manifest = json.loads((folder / "run.json").read_text())
    del manifest["order"]
    (folder / "run.json").write_text(json.dumps(manifest))
    evaluate(asked, task(model), folder)
    assert model.asked == list(range(30)) and rows_of(folder) == whole


def test_a_run_that_is_finished_asks_nothing(undisturbed, whole):
    idle = World()
    outcome = evaluate(surveyed(questions(30)), task(idle), undisturbed)
    assert (outcome.before, outcome.done, idle.asked) == (30, 30, [])
    assert rows_of(undisturbed) == whole


KILLED = """
import os, signal, sys
from pathlib import Path
from core.studies.evaluation import run_folder
from core.studies.evaluation.run import evaluate
from tests.studies.evaluation.worlds import World, questions, surveyed, task

run_folder.PART = 7
for folder, line in zip(sys.argv[1::2], map(int, sys.argv[2::2])):
    left = line
    if (child := os.fork()) == 0:  # so that what it takes is imported once
        break
    if killed := os.WTERMSIG(os.waitpid(child, 0)[1]):
        print(-killed)
else:
    sys.exit()

def at_each_line(frame, event, argument):
    global left
    left -= event == "line"
    if left < 0:
        os.kill(os.getpid(), signal.SIGKILL)
    return at_each_line

def in_files(frame, event, argument):
    return at_each_line if frame.f_code.co_filename == run_folder.__file__ else None

sys.settrace(in_files)
evaluate(surveyed(questions(30)), task(World()), Path(folder))
sys.settrace(None)
print(left)
"""


def killed_at(lines):
    """Run in each folder until so many lines of `files` were executed; say how many were left."""
    command = [sys.executable, "-c", KILLED]
    command += [str(word) for each in lines.items() for word in each]
    root = Path(__file__).parents[3]
    ended = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)
    return [int(line) for line in ended.stdout.split()]


@pytest.mark.slow
def test_a_kill_at_any_moment_loses_and_repeats_no_finished_question(tmp_path, whole):
    most = 10**6
    (left,) = killed_at({tmp_path / "undisturbed": most})
    moments = np.linspace(0, most - left - 1, 14).astype(int).tolist()
    folders = {tmp_path / f"killed at {moment}": moment for moment in moments}
    assert killed_at(folders) == [-signal.SIGKILL] * len(folders)
    for folder in folders:
        before = rows_of(folder) if (folder / "run.json").exists() else {}
        assert before == {id: whole[id] for id in before}
        model = World()
        assert evaluate(surveyed(questions(30)), task(model), folder).before == len(before)
        assert sorted(model.asked) == sorted(set(range(30)) - {int(id[1:]) for id in before})
        assert rows_of(folder) == whole
        assert all(Run(folder).inspection(id) for id in whole)
        assert not (folder / "unfinished.jsonl").exists()


@pytest.mark.parametrize("cut", [1, 10, 400])
def test_a_line_that_a_kill_cut_off_is_asked_again(tmp_path, whole, cut):
    asked = stopped(folder := tmp_path / "run", 10)
    lines = folder / "unfinished.jsonl"
    os.truncate(lines, lines.stat().st_size - cut)
    model = World()
    assert evaluate(asked, task(model), folder).before == 9
    assert asked_first(10)[9] in model.asked and rows_of(folder) == whole


def test_lines_that_are_in_a_part_already_count_once(tmp_path, whole):
    """A kill came after the part was in its place and before its lines were gone."""
    asked = stopped(folder := tmp_path / "run", 6)
    lines = (folder / "unfinished.jsonl").read_bytes()
    stopped(folder, 7)
    (folder / "unfinished.jsonl").write_bytes(lines)
    assert len(rows_of(folder)) == 7  # to who looks on meanwhile
    assert evaluate(asked, task(World()), folder).before == 7
    assert rows_of(folder) == whole


@pytest.mark.parametrize(
    "line",
    [
        *(b"{}", b"[1]", b"null", b'{"values": 1, "recording": 2}', b"\xff"),
        b'{"values": {"id": "q1"}, "recording": null}',
        b'{"values": {"id": "q1", "error": null, "sampled_mass": "x"}, "recording": null}',
        b'{"values": {"id": "q1", "error": 5}, "recording": null}',
        b'{"values": {"id": "q1", "query": "Q?", "answers": [["A", null]], "source": "", '
        b'"error": null}, "recording": null}',
    ],
)
def test_a_line_that_is_damaged_is_asked_again(tmp_path, whole, line):
    asked = stopped(folder := tmp_path / "run", 3)
    lines = (folder / "unfinished.jsonl").read_bytes().splitlines()
    (folder / "unfinished.jsonl").write_bytes(b"\n".join([lines[0], line, lines[2], b""]))
    assert evaluate(asked, task(World()), folder).before == 2
    assert rows_of(folder) == whole


def test_a_damaged_part_is_named_and_its_questions_are_asked_again_without_it(
    tmp_path, undisturbed, whole
):
    folder, asked = tmp_path / "whole", surveyed(questions(30))
    shutil.copytree(undisturbed, folder)
    part = folder / "rows-00001.parquet"
    part.write_bytes(part.read_bytes()[:100])
    with pytest.raises(RunError, match=r"rows-00001\.parquet is damaged, or another"):
        evaluate(asked, task(World()), folder)
    part.unlink()
    model = World()
    evaluate(asked, task(model), folder)
    assert model.asked == asked_first(14)[7:] and rows_of(folder) == whole


def test_a_part_that_another_program_saved_is_read_or_refused(tmp_path, undisturbed, whole):
    folder = tmp_path / "whole"
    shutil.copytree(undisturbed, folder)
    part = folder / "rows-00001.parquet"
    rows = parquet.read_table(part).to_pandas()
    rows.to_parquet(part, index=False)
    assert rows_of(folder) == whole
    emptied = (rows.assign(**{name: None}) for name in ("answers", "mutual_information_answer"))
    for changed in (rows.assign(entropy="much"), rows.drop(columns="greedy"), *emptied):
        changed.to_parquet(part, index=False)
        with pytest.raises(RunError, match="another program changed it"):
            rows_of(folder)
    rows.to_parquet(part, index=False)
    shutil.copy(part, folder / "rows-00009.parquet")
    with pytest.raises(RunError, match="more rows than questions"):
        Run(folder).rows()


def test_two_processes_do_not_write_to_one_run(tmp_path):
    with run_folder.hold(tmp_path), pytest.raises(RunError, match="Another process is writing"):
        evaluate(surveyed(questions(3)), task(World()), tmp_path)
    evaluate(surveyed(questions(3)), task(World()), tmp_path)


def test_a_folder_that_cannot_be_written_is_said_before_anything_is_asked(tmp_path):
    (tmp_path / "file").write_text("")
    model = World()
    with pytest.raises(RunError, match="cannot be written"):
        evaluate(surveyed(questions(3)), task(model), tmp_path / "file")
    assert model.asked == []


def test_a_full_disk_ends_the_run_and_loses_nothing_that_was_written(tmp_path, whole, monkeypatch):
    """Here a file may grow to 20,000 bytes: of the line that no longer fits, a part is written."""
    monkeypatch.setattr(run_folder, "PART", 100)
    folder, asked = tmp_path / "run", surveyed(questions(30))
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, limits[1]))
    try:
        with pytest.raises(
            RunError,
            match=r"cannot be written: No space left .*\. Make room on its disk, then go on; what",
        ):
            evaluate(asked, task(World()), folder)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    written = rows_of(folder)
    assert 3 < len(written) < 30
    assert written == {id: whole[id] for id in written}
    assert evaluate(asked, task(World()), folder).before == len(written)
    assert rows_of(folder) == whole


# ------------------------------------------------------------------- the same run, or another


def test_another_run_is_refused_with_what_differs(tmp_path):
    folder, asked = tmp_path / "run", surveyed(questions(3))
    evaluate(asked, task(World(), seed=1), folder)
    reading = replace(task(World(), seed=1), reading=Reading(threshold=0.5))
    other, newer = World(), World()
    other.name, newer.revision = "another", "2"
    for changed, asks, says in (
        (task(World(), 20, seed=1), asked, "k = 10 there, 20 here"),
        (task(World(), seed=2), asked, "seed = 1 there, 2 here"),
        (reading, asked, "τ = 0.25 there, 0.5 here"),
        (task(other, seed=1), asked, "model = “world of numbers” there, “another” here"),
        (task(newer, seed=1), asked, "revision = “1” there, “2” here"),
        (task(World(), seed=1), surveyed(questions(4)), "other questions"),
    ):
        with pytest.raises(RunError, match="holds a different run: ") as refusal:
            evaluate(asks, changed, folder)
        assert says in str(refusal.value)
        assert str(refusal.value).count(". ") == 1  # what differs, and what to do
    assert len(rows_of(folder)) == 3


@pytest.mark.parametrize("left", ["rows-00000.parquet", "unfinished.jsonl", run_folder.STAGED])
def test_rows_of_nobody_knows_which_run_are_not_taken_for_another_s(tmp_path, left):
    """Whoever empties a folder by hand may leave some: questions of any file are “line 1”."""
    folder, model = tmp_path / "run", World()
    with pytest.raises(Cancelled):
        evaluate(surveyed(questions(9)), task(World()), folder, progress_until(26))  # after 8
    (folder / run_folder.STAGED).mkdir()
    for path in [*folder.iterdir()]:
        if path.name not in (left, run_folder.LOCK):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    with pytest.raises(RunError, match=r"holds rows of a run whose run\.json is gone\."):
        evaluate(surveyed(questions(9, 7)), task(model), folder)
    assert not model.asked and (folder / left).exists()


def test_what_ray_wrote_for_a_killed_process_is_not_asked_again(tmp_path):
    """A block that is in the rows, one that nobody gathered, and one that is half written."""
    model, asked = World(), surveyed(questions(30))
    evaluate(asked, task(World()), tmp_path / "whole")
    whole = rows_of(tmp_path / "whole")
    with pytest.raises(Cancelled):
        evaluate(asked, task(World()), tmp_path / "run", progress_until(8))
    there = rows_of(tmp_path / "run")
    other = [each for each in questions(30) if each.id not in there][:7]
    rows = list(
        local(iter(other), task(World({int(other[0].id[1:]): ValueError("x")})), lambda _: None)
    )
    staged = tmp_path / "run" / run_folder.STAGED
    staged.mkdir()
    gathered = local(
        iter([each for each in questions(30) if each.id in there]), task(World()), lambda _: None
    )
    for name, part in (("a", gathered), ("b", rows[:6]), ("c", rows[6:])):
        parquet.write_table(row_block(0, part, CreditError("Paid.")), staged / f"{name}.parquet")
    cut = staged / "c.parquet"
    cut.write_bytes(cut.read_bytes()[:-10])
    outcome = evaluate(asked, task(model), tmp_path / "run")
    assert (outcome.before, outcome.done) == (8 + 5, 30)  # the failed one is asked again
    assert rows_of(tmp_path / "run") == whole and not staged.exists()


def test_a_file_that_changes_before_it_is_asked_is_not_asked(tmp_path):
    """Somebody saves it while the command waits for a yes: the rows would be of others."""
    asked, model = surveyed(questions(3)), World()
    asked = replace(asked, read=lambda: iter([*questions(2), *questions(1, 7)]))
    with pytest.raises(RunError, match=r"^questions\.jsonl has changed meanwhile\."):
        evaluate(asked, task(model), tmp_path)
    assert not model.asked and not Run(tmp_path).finished_questions


@pytest.mark.parametrize(
    "content",
    ["", "{", "[]", "3", "{}", '{"format": "believe.evaluation"}', '{"format": "x", "version": 1}'],
)
def test_a_folder_with_another_run_json_is_no_run(tmp_path, content):
    (tmp_path / "run.json").write_text(content)
    with pytest.raises(RunError, match="does not describe a run"):
        evaluate(surveyed(questions(1)), task(World()), tmp_path)


def test_a_changed_pipeline_and_a_newer_run_are_said(tmp_path):
    asked = surveyed(questions(1))
    evaluate(asked, task(World()), tmp_path)
    found = json.loads((tmp_path / "run.json").read_text())
    for changed, says in (
        ({"pipeline": {}}, "run.json was changed"),
        ({"pipeline": None}, "run.json was changed"),
        ({"version": 99}, "a newer Believe"),
    ):
        (tmp_path / "run.json").write_text(json.dumps(found | changed))
        with pytest.raises(RunError, match=says):
            evaluate(asked, task(World()), tmp_path)
    for name in ("model", "revision", "form", "begun", "ended", "seconds"):
        less = {key: value for key, value in found.items() if key != name}
        for changed in (less, *([] if name == "ended" else [found | {name: None}])):
            (tmp_path / "run.json").write_text(json.dumps(changed))
            with pytest.raises(RunError, match="does not describe a run"):
                assert Run(tmp_path).manifest


# ------------------------------------------------------------------------ what goes wrong


@pytest.mark.parametrize("local", [True, False])
def test_a_question_that_fails_is_a_row_with_its_error(tmp_path, whole, local):
    broken = {
        4: RefusedError("Number 4 is blocked."),
        9: ZeroDivisionError("by 0"),
        17: ValueError("half of a \ud800 character\n" + "x" * 2000),
    }
    asked = questions(30)
    asked[20] = replace(asked[20], query="x" * (MAX_QUERY_CHARACTERS + 1))
    outcome = evaluate(surveyed(asked), task(World(broken, local=local)), tmp_path / "run")
    assert (outcome.done, outcome.failed) == (30, 4)
    rows = rows_of(tmp_path / "run")
    errors = {id: row["error"] for id, row in rows.items() if row["error"]}
    assert errors["q4"] == "Number 4 is blocked."
    assert errors["q9"] == "ZeroDivisionError: by 0"
    assert errors["q17"].startswith("ValueError: half of a \ufffd character x")
    assert len(errors["q17"]) <= 500
    assert "2,001 characters" in errors["q20"] and len(errors) == 4
    for id in errors:
        assert all(rows[id][name] is None for name in SCORES)
        assert rows[id]["greedy"] is None and rows[id]["answers"]
    if local:
        assert {id: rows[id] for id in rows if id not in errors} == {
            id: whole[id] for id in whole if id not in errors
        }


def test_those_that_failed_are_asked_again_where_that_is_wanted(tmp_path, whole):
    folder, asked = tmp_path / "run", surveyed(questions(30))
    numbers = (2, 8, 29)
    broken = {n: RefusedError("Not now.") for n in numbers}
    evaluate(asked, task(World(broken)), folder)
    idle, model = World(), World()
    assert evaluate(asked, task(idle), folder).failed == 3 and idle.asked == []
    outcome = evaluate(asked, task(model), folder, again=True)
    assert (outcome.before, outcome.done, outcome.failed) == (27, 30, 0)
    assert sorted(model.asked) == list(numbers) and rows_of(folder) == whole


def test_those_that_failed_of_an_unfinished_part_are_asked_again_too(tmp_path, whole):
    broken = World({asked_first(10)[9]: RefusedError("Not now.")})
    asked = stopped(folder := tmp_path / "run", 12, broken)
    model = World()
    assert evaluate(asked, task(model), folder, again=True).before == 11
    assert model.asked == [asked_first(30)[at] for at in (9, *range(12, 30))]
    assert rows_of(folder) == whole


@pytest.mark.parametrize("error", [BudgetError, CreditError, NeedsKeyError, OtherModelError])
def test_what_is_no_question_s_fault_ends_the_run_and_is_no_row(tmp_path, whole, error):
    folder, asked = tmp_path / "run", surveyed(questions(30))
    with pytest.raises(error, match="Enough"):
        evaluate(asked, task(World({asked_first(13)[12]: error("Enough.")})), folder)
    assert rows_of(folder) == {id: whole[id] for id in islice(whole, 12)}
    evaluate(asked, task(World()), folder)
    assert rows_of(folder) == whole


@pytest.mark.parametrize("changed", ["revision", "capabilities"])
def test_a_model_that_says_less_from_now_on_ends_the_run(tmp_path, whole, changed):
    """As a service whose log-probabilities are not used any more: its rows are made otherwise."""

    class Fickle(World):
        def sample(self, prompt, *options, **named):
            if len(self.asked) == 12:
                setattr(self, changed, later)
            return super().sample(prompt, *options, **named)

    model = Fickle()
    later = "2" if changed == "revision" else replace(model.capabilities, whole_answers=False)
    folder, asked = tmp_path / "run", surveyed(questions(30))
    with pytest.raises(OtherModelError, match="Begin another run"):
        evaluate(asked, task(model), folder)
    assert rows_of(folder) == {id: whole[id] for id in rows_of(folder)}
    assert 10 < len(rows_of(folder)) < 14


def test_a_service_that_is_gone_ends_the_run_and_a_question_that_breaks_it_does_not(tmp_path):
    folder, asked = tmp_path / "run", surveyed(questions(30))
    gone = UnreachableError("It failed 6 times in a row.")
    assert evaluate(asked, task(World(dict.fromkeys(asked_first(4)[2:], gone))), folder).failed == 2
    folder = tmp_path / "other"
    down = World(dict.fromkeys(asked_first(30)[10:], gone))
    with pytest.raises(UnreachableError, match="6 times"):
        evaluate(asked, task(down), folder)
    assert len(down.asked) == 10 + MOST_UNREACHABLE
    assert set(rows_of(folder)) == {f"q{i}" for i in asked_first(10)}  # the others: asked again
    assert evaluate(asked, task(World()), folder).failed == 0


# ------------------------------------------------------------------- batch equals single


@pytest.mark.parametrize("sampling", ["likeliest", "drawn"])
def test_a_question_does_not_depend_on_its_neighbours(tmp_path, embedded, sampling):
    """Nor on their order, nor on a run that was stopped: log-likelihoods to 1e-4."""
    asked = list(draw(world_questions(), 8, 3))
    request = usual_request("any", embedded.capabilities, sampling=sampling)
    wanted = replace(task(embedded), request=request)
    evaluate(surveyed(asked), wanted, tmp_path / "together")
    evaluate(surveyed(asked[::-1]), wanted, tmp_path / "backwards")
    with pytest.raises(Cancelled):
        evaluate(surveyed(asked), wanted, tmp_path / "resumed", progress_until(9))
    evaluate(surveyed(asked), wanted, tmp_path / "resumed")
    together = rows_of(tmp_path / "together")
    assert_same(together, rows_of(tmp_path / "backwards"))
    assert_same(together, rows_of(tmp_path / "resumed"))
    rows = [ask(wanted, question, lambda _: None) for question in asked[:6]]
    nothing = dict.fromkeys(("requests", "prompt_tokens", "response_tokens"))
    alone = {row.id: row.values | nothing for row in rows}
    for row in alone.values():
        del row["seconds"]
    assert_same({id: together[id] for id in alone}, alone)
    for id in alone:
        single = inspect(replace(request, query=together[id]["query"]), embedded).recording
        batch = Run(tmp_path / "together").inspection(id).recording
        assert batch.texts == single.texts and batch.greedy.text == single.greedy.text
        np.testing.assert_allclose(batch.log_likelihoods, single.log_likelihoods, atol=1e-4)
        np.testing.assert_allclose(batch.verification, single.verification, atol=1e-4)


# ------------------------------------------------------------------------------- memory


def test_memory_does_not_grow_with_the_number_of_questions(tmp_path, monkeypatch):
    """200,000 questions may take 200 MB; of so many rows more, a kilobyte each."""
    monkeypatch.setattr(run_folder, "PART", 500)
    (model_row,) = local(iter(questions(1)), task(World()), lambda _: None)
    (asked,) = questions(1)

    def engine(left, task, tick):
        for question in left:
            yield Row(model_row.values | {"id": question.id}, model_row.recording)

    def every(number):
        return survey("x", lambda: (replace(asked, id=f"q{i}") for i in range(number)))

    def peak(number):
        found = every(number)
        tracemalloc.start()
        evaluate(found, task(World()), tmp_path / str(number), engine=engine)
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return most

    few, many = 1000, 6000
    assert peak(many) - peak(few) < (many - few) * 1000
    assert Run(tmp_path / str(many)).rows(columns=["id"]).table.num_rows == many
    assert evaluate(every(many), task(World()), tmp_path / str(many)).before == many


def test_an_error_is_a_row_of_its_question(tmp_path):
    (question,) = questions(1)
    row = failed_row(question, "It says nothing.", Usage(3, 20, 1), 1.5)
    assert row.is_failure and row.id == "q0" and row.recording is None
    assert (row.values["requests"], row.values["seconds"]) == (3, 1.5)


def test_how_long_many_answers_take_is_estimated_from_few():
    seconds = []
    for samples in (TIMED, 300):
        model = knows(4)
        request = Request("any", samples)
        seconds.append(lasts(QUERY, Task(model, request, Reading(), 0.02)))
        assert max(count for _, count in model.sampled) == TIMED
    assert all(0 < each < math.inf for each in seconds)
