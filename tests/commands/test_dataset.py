"""The command `dataset`: files of others in, one kind of file out, and what was left out said."""

import csv
import json
from functools import partial

import pytest

from core.data.datasets.questions import read_questions
from core.data.world.facts import facts, untaught_lists
from core.data.world.grading import find
from tests import command_line
from tests.command_line import refused
from tests.data.datasets.test_wordnet import write_wordnet

dataset = partial(command_line.believe, "dataset")


@pytest.fixture
def out(tmp_path):
    return tmp_path / "questions.jsonl"


@pytest.fixture
def nq(tmp_path):
    path = tmp_path / "nq.jsonl"
    rows = [{"question": f"question {n}", "answer": [f"answer {n}"]} for n in range(50)]
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return path


def test_a_dataset_is_written(nq, out):
    result = dataset("nq_open", nq, "--out", out)
    assert result.exit_code == 0 and result.stderr.splitlines() == [
        "50 questions, 50 of them different.",
        *(f"“question {n}”, right: “answer {n}”." for n in range(3)),
    ]
    assert result.stdout == f"50 questions written to {out}.\n"
    found = list(read_questions(out))
    assert [q.query for q in found] == [f"question {n}" for n in range(50)]
    assert {q.source for q in found} == {"nq_open"}


def test_nothing_is_overwritten_unless_asked(nq, out):
    out.write_text("mine")
    refused(dataset("nq_open", nq, "--out", out), "exists; --overwrite replaces it.")
    assert out.read_text() == "mine"
    assert dataset("nq_open", nq, "--out", out, "--overwrite").exit_code == 0
    assert len(list(read_questions(out))) == 50


def test_a_malformed_row_is_refused_or_left_out(nq, out):
    nq.write_text(nq.read_text() + '{"question": "q"}\n' * 30)
    refused(dataset("nq_open", nq, "--out", out), "Line 51: there is no right answer. --on-m")
    assert not out.exists()
    result = dataset("nq_open", nq, "--on-malformed", "skip", "--out", out)
    assert result.exit_code == 0 and len(list(read_questions(out))) == 50
    told = result.stderr.splitlines()
    assert told[0] == "Left out: Line 51: there is no right answer."
    assert told[19] == "Left out: Line 70: there is no right answer."
    assert told[24:] == ["30 malformed rows left out."]


def test_a_sample_is_drawn_by_its_seed(nq, out, tmp_path):
    drawn = []
    for seed in (1, 1, 2):
        path = tmp_path / f"{len(drawn)}.jsonl"
        result = dataset("nq_open", nq, "--sample", 10, "--seed", seed, "--out", path)
        assert result.stdout == f"10 questions written to {path}.\n"
        drawn.append([q.id for q in read_questions(path)])
    assert drawn[0] == drawn[1] != drawn[2]
    result = dataset("nq_open", nq, "--sample", 60, "--out", out)
    assert result.stdout.startswith("50 questions") and "fewer questions" in result.stderr


def test_progress_goes_to_standard_error(nq, out, monkeypatch):
    monkeypatch.setattr("core.commands.dataset.PROGRESS", 20)
    result = dataset("nq_open", nq, "--out", out)
    assert result.stderr.startswith("20 questions read\n40 questions read\n50 questions, ")


def test_improper_rows_are_left_out_or_kept(tmp_path, out):
    path = tmp_path / "TQ.json"
    row = {"question": "Q?", "golden_answer": "A", "improper": False}
    path.write_text(json.dumps([row, row | {"question": "P?", "improper": True}]))
    result = dataset("triviaqa", path, "--out", out)
    assert "1 row marked improper left out; --improper keep keeps them.\n" in result.stderr
    assert [q.query for q in read_questions(out)] == ["Q?"]
    result = dataset("triviaqa", path, "--improper", "keep", "--out", out, "--overwrite")
    assert "left out" not in result.stderr
    assert [q.source for q in read_questions(out)] == ["triviaqa", "triviaqa improper"]


def test_ambigqa(tmp_path, out):
    path = tmp_path / "dev_light.json"
    annotations = [{"type": "singleAnswer", "answer": ["A"]}]
    path.write_text(json.dumps([{"annotations": annotations, "id": "1", "question": "Q?"}]))
    assert dataset("ambigqa", path, "--out", out).exit_code == 0
    assert [q.source for q in read_questions(out)] == ["ambigqa single"]


def test_any_file(tmp_path, out):
    path = tmp_path / "q.csv"
    with path.open("w", newline="") as file:
        csv.writer(file, delimiter=";").writerows([["question", "answers"], ["Q?", "A|B"]])
    result = dataset("file", path, "--out", out)
    assert result.exit_code == 0 and result.stderr.splitlines() == [
        "The columns are separated by “;”.",
        "Question: “question”; right: “answers”.",
        "“|” separates right answers.",
        "Columns not used: none.",
        "1 question.",
        "“Q?”, right: “A” or “B”.",
    ]
    assert [q.answers for q in read_questions(out)] == [(("A",), ("B",))]
    options = ("--question", "answers", "--answers", "question", "--separator", "", "--overwrite")
    assert dataset("file", path, "--out", out, *options).exit_code == 0
    assert [(q.query, q.answers) for q in read_questions(out)] == [("A|B", (("Q?",),))]
    refusal = dataset("file", path, "--out", out, "--answers", "gold", "--overwrite")
    refused(refusal, "There is no column “gold” in this file")
    path.write_text("question,score\nQ?,1\n")
    refused(dataset("file", path, "--out", out, "--overwrite"), "no column of questions")


def test_the_world(out):
    options = ("--band", "by-heart", "--band", "rarely-seen", "--wording", "held-out")
    assert dataset("world", *options, "--out", out).exit_code == 0
    found = list(read_questions(out))
    wanted = [fact for fact in facts() if fact.band in ("by heart", "rarely seen")]
    assert [find(q.query).question for q in found] == [fact.question for fact in wanted]
    assert {q.source for q in found} == {"world by heart", "world rarely seen"}
    assert find(found[0].query, taught=True) is None
    assert dataset("world", "--out", out, "--overwrite").exit_code == 0
    everything = [fact.question for fact in (*facts(), *untaught_lists())]
    assert [q.query for q in read_questions(out)] == everything


def test_wordnet(tmp_path, out):
    folder = tmp_path / "wordnet"
    folder.mkdir()
    write_wordnet(folder)
    assert dataset("wordnet", folder, "--out", out).exit_code == 0
    assert "Name a type of animal." in [q.query for q in read_questions(out)]
    (folder / "data.noun").unlink()
    result = dataset("wordnet", folder, "--out", out, "--overwrite")
    refused(result, "it lacks the file data.noun")


def test_what_cannot_be_written_is_said(nq, tmp_path):
    refused(dataset("nq_open", nq, "--out", tmp_path / "none" / "q.jsonl"), "cannot be written")


@pytest.mark.parametrize(
    "arguments",
    [("nq_open",), ("nq_open", "none.jsonl"), ("world", "--band", "x"), ("world", "--sample", 0)],
)
def test_wrong_usage_has_a_status_of_its_own(arguments, out):
    assert dataset(*arguments, "--out", out).exit_code == 2
    assert not out.exists()
