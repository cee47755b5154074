"""The files of a command: tried before anything is asked, and never half written."""

import os
import subprocess
import sys
from pathlib import Path

import click
import pytest

from core import cli
from core.commands.files import FilesFirst, Folder, Input, Output
from core.language_models import opening
from core.studies.calibration.example import EXAMPLE
from tests.command_line import believe
from tests.commands.test_calibrate import write
from tests.patience import LONG

ROOT = Path(__file__).resolve().parents[2]
QUESTION = '{"query": "Name a bird.", "answers": ["a robin"]}\n'


def commands(group=cli.main):
    for command in group.commands.values():
        if isinstance(command, click.Group):
            yield from commands(command)
        else:
            yield command


@pytest.fixture
def nobody(monkeypatch):
    """Let no model be opened."""

    def refuse(*_):
        raise AssertionError("a model was opened")

    monkeypatch.setattr(opening, "open_model", refuse)


@pytest.fixture
def questions(tmp_path):
    path = tmp_path / "questions.jsonl"
    path.write_text(QUESTION)
    return path


def refused(result, says):
    assert result.exit_code in (1, 2) and result.stdout == ""
    assert says in " ".join(result.stderr.split()) and isinstance(result.exception, SystemExit)
    assert result.stderr.rstrip().endswith(".")


def test_every_command_tries_its_files_first():
    all_commands = list(commands())
    assert len(all_commands) > 10
    for command in all_commands:
        kinds = [p.type for p in command.params if isinstance(p.type, click.Path | click.File)]
        if any(not isinstance(kind, Input | Output | Folder) for kind in kinds):
            assert command.name == "wordnet"  # which reads a folder
        assert isinstance(command, FilesFirst), command.name


def writers(questions, folder):
    """Return every command that asks a model and writes, and what it writes."""
    out = folder / "run"
    amplify = ("amplify", "Q", "--answer", "a", "--repeated", "b")
    return [
        (("inspect", "Name a bird."), "--report"),
        (amplify, "--report"),
        (("evaluate", questions, "--out", out), "--labelled"),
        (("laboratory", "yielding", "--out", folder / "x.json"), "--out"),
    ]


@pytest.mark.parametrize("number", range(4))
def test_no_model_is_asked_for_what_cannot_be_written(number, nobody, questions, tmp_path):
    words, option = writers(questions, tmp_path)[number]
    there = sorted(tmp_path.iterdir())
    refused(believe(*words, option, tmp_path / "no" / "x.html"), "cannot be written: No such file")
    os.mkfifo(tmp_path / "pipe.html")
    refused(believe(*words, option, tmp_path / "pipe.html"), "It is a pipe or a device, no file")
    refused(believe(*words, option, tmp_path), "is a directory")
    refused(believe(*words, option, "-"), "“-” is no file. The command prints its result")
    (tmp_path / "pipe.html").unlink()
    assert sorted(tmp_path.iterdir()) == there
    good = believe(*words, option, tmp_path / "x.html")
    assert str(good.exception) == "a model was opened"


def test_no_model_is_asked_for_a_folder_whose_name_is_no_text(nobody, questions, tmp_path):
    folder = tmp_path / os.fsdecode(b"caf\xe9")
    refused(believe("evaluate", questions, "--out", folder), "not UTF-8. Choose another")


def test_no_model_is_asked_for_folders_that_cannot_be_made(nobody, questions, tmp_path):
    file = tmp_path / "file"
    file.touch()
    for folder in (file / "run", file / "run" / "deep"):
        refused(believe("evaluate", questions, "--out", folder), "cannot be made: Not a directory")
    figures = ("--figures", file / "figures")
    refused(believe("evaluate", questions, "--out", tmp_path / "run", *figures), "cannot be made")
    assert not (tmp_path / "run").exists()


def test_a_file_goes_into_the_folder_that_the_command_makes(questions, tmp_path):
    out = tmp_path / "run"
    result = believe("evaluate", questions, "--out", out, "--labelled", out / "rows.csv")
    assert result.exit_code == 0, result.stderr
    assert (out / "rows.csv").exists() and not list(out.glob(".*"))


def test_what_is_read_is_not_written_to(nobody, questions, tmp_path):
    link, report = tmp_path / "link", tmp_path / "report.html"
    link.symlink_to(questions)
    for name in (questions, link, tmp_path / "." / questions.name):
        words = ("dataset", "file", questions, "--overwrite", "--out", name)
        refused(believe(*words), "this command reads it")
        refused(
            believe("inspect", "Q", "--model", f"gguf:{questions}", "--report", name), "reads it"
        )
    refused(believe("calibrate", EXAMPLE, "--out", report, "--report", report), "something else")
    assert questions.read_text() == QUESTION and not report.exists()


def started(*words, cwd, stdout=subprocess.PIPE, timeout=None):
    """Run Python with these words in a process of its own, which keeps nothing."""
    return subprocess.run(
        [sys.executable, *map(str, words)],
        cwd=cwd,
        env=os.environ | {"BELIEVE_DATABASE_URL": "sqlite://", "PYTHONPATH": str(ROOT)},
        stdout=stdout,
        stderr=subprocess.PIPE,
        text=True,
        timeout=timeout,
    )


def test_a_pipe_is_refused_and_never_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    ended = started("-m", "core", "inspect", "--from", "pipe", cwd=tmp_path, timeout=LONG)
    assert ended.returncode == 2 and "pipe is a pipe or a device" in " ".join(ended.stderr.split())


def full(*words, cwd):
    """Run a command that can write files of 200 bytes: a disk that is nearly full."""
    code = (
        "import resource, runpy, signal, sys; signal.signal(signal.SIGXFSZ, signal.SIG_IGN); "
        "resource.setrlimit(resource.RLIMIT_FSIZE, (200, resource.RLIM_INFINITY)); "
        "runpy.run_module('core', run_name='__main__')"
    )
    return started("-c", code, *words, cwd=cwd)


def test_a_full_disk_leaves_the_file_that_was_to_be_replaced(tmp_path):
    file = tmp_path / "old.html"
    file.write_text("old")
    ended = full("inspect", "Name a bird.", "--no-keep", "--report", file, cwd=tmp_path)
    assert ended.returncode == 1, ended.stderr
    assert ended.stderr.rstrip().endswith(
        f"{file} cannot be written: File too large. Make room on its disk, or name a file on "
        "another one. What stood there before is untouched."
    )
    assert file.read_text() == "old" and list(tmp_path.iterdir()) == [file]
    assert ended.stdout  # what was asked for is printed all the same


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no device that is full")
@pytest.mark.parametrize(
    ("where", "status", "says"),
    [
        ("> /dev/full", 1, "Error: Standard output cannot be written: No space left on device."),
        ("--json > out", 1, "Error: Standard output cannot be written: File too large."),
        (">&-", 0, ""),
    ],
)
def test_where_not_all_can_be_printed_a_sentence_says_so(where, status, says, tmp_path):
    """At most 512 bytes go into a file; and Python's own streams, unbuffered, would say nothing."""
    environment = os.environ | {"BELIEVE_DATABASE_URL": "sqlite://", "PYTHONPATH": str(ROOT)}
    environment["PYTHONUNBUFFERED"] = "1"
    command = f'ulimit -f 1; "$0" -m core score rows.csv {where}'
    (tmp_path / "rows.csv").write_text('question,responses\nWho?,"[""I"", ""You""]"\n')
    ended = subprocess.run(
        ["sh", "-c", command, sys.executable],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert ended.returncode == status and "Traceback" not in ended.stderr, ended.stderr
    assert says in ended.stderr.splitlines()[-1]


def test_what_is_printed_to_a_file_is_not_replaced_by_another(tmp_path):
    out, rows = tmp_path / "printed.html", write(tmp_path / "rows.csv", 0, 3)
    words = ("calibrate", rows, "--target-error", 0.2, "--no-keep", "--report")
    for name in (out, "/dev/stdout"):
        with out.open("w") as file:
            ended = started("-m", "core", *words, name, cwd=tmp_path, stdout=file)
        assert ended.returncode == 1 and "standard output goes there" in ended.stderr
