"""Answers of other tools scored on the command line: lists, lists of lists, one answer a row."""

import csv
import io
import json

import numpy as np
import pytest
from click.testing import CliRunner

from core.cli import main

FRENCH = ["Paris", "Paris", "Lyon", "Paris"]
LOGS = [float(p) for p in np.log([0.6, 0.6, 0.2, 0.6])]
ENTROPY = -(0.75 * np.log(0.75) + 0.25 * np.log(0.25))

#: As each tool writes them, one question.
SHAPES = {
    "uqlm.jsonl": {"prompt": "Capital?", "response": "Paris", "sampled_responses": FRENCH},
    "lm_polygraph.jsonl": {
        "question": "Capital?",
        "greedy_texts": "Paris",
        "sample_texts": FRENCH,
        "sample_log_probs": LOGS,
    },
    "harness_of_one_request.jsonl": {"question": "Capital?", "resps": [FRENCH]},
    "harness_of_several.jsonl": {"question": "Capital?", "resps": [[text] for text in FRENCH]},
    "tokens.jsonl": {
        "question": "Capital?",
        "responses": FRENCH,
        "logprobs": [[p / 2] * 2 for p in LOGS],
    },
}


def believe(*words):
    return CliRunner().invoke(main, ["score", *map(str, words)])


@pytest.mark.parametrize("name", SHAPES)
def test_lists_of_answers_are_read_as_each_tool_writes_them(tmp_path, name):
    (tmp_path / name).write_text("\n".join(json.dumps(SHAPES[name]) for _ in range(2)))
    done = believe(tmp_path / name, "--json")
    assert done.exit_code == 0, done.output
    rows = json.loads(done.stdout)["rows"]
    assert [row["question"] for row in rows] == ["Capital?"] * 2
    for row in rows:
        assert row["answers"][0]["text"] == "Paris"
        assert row["scores"]["semantic_entropy"]["value"] == pytest.approx(ENTROPY)
    greedy = rows[0]["scores"]["greedy_probability"]["value"]
    assert greedy == (pytest.approx(0.6) if "greedy_texts" in SHAPES[name] else None)
    assert "M.I., missing of 2 of 2: There are no second answers." in done.stderr


def test_one_answer_a_row_is_put_together_by_its_question(tmp_path):
    rows = [f"Capital?,{text}" for text in FRENCH] + ["=Fruit?,Lemon", "=Fruit?,"]
    (tmp_path / "traces.csv").write_text("\n".join(["input,output", *rows]))
    done = believe(tmp_path / "traces.csv", "--question", "input")
    capital, fruit = csv.DictReader(io.StringIO(done.stdout.removeprefix("\ufeff")))
    assert (capital["question"], capital["answer"]) == ("Capital?", "Paris")
    assert float(capital["semantic_entropy"]) == pytest.approx(ENTROPY)
    assert fruit["answer"] == "Lemon" and float(fruit["semantic_entropy"]) == 0
    assert not fruit["question"].startswith("=") and capital["mutual_information"] == ""


def test_second_answers_bring_mutual_information(tmp_path):
    row = {"question": "Fruit?", "responses": ["Lemon", "Banana"] * 5}
    row["second"] = [[text] * 10 for text in row["responses"]]
    (tmp_path / "own.jsonl").write_text(json.dumps(row))
    scores = json.loads(believe(tmp_path / "own.jsonl", "--json").stdout)["rows"][0]["scores"]
    assert scores["mutual_information"]["value"] == pytest.approx(np.log(2), abs=0.05)


def test_a_question_that_is_no_evidence_leaves_the_others(tmp_path):
    rows = [
        {"question": "a", "responses": FRENCH, "log_probs": LOGS},
        {"question": "b", "responses": FRENCH, "log_probs": [-0.1] * 4},
    ]
    (tmp_path / "mixed.jsonl").write_text("\n".join(map(json.dumps, rows)))
    done = believe(tmp_path / "mixed.jsonl", "--json")
    first, second = json.loads(done.stdout)["rows"]
    assert first["scores"] and "add up to 1.81" in second["error"] and not second["scores"]
    assert "1 of 2 questions have no scores" in done.stderr


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("question,colour\nWho?,red\n", "No column holds answers"),
        ("response,colour\nA,red\n", "to which question"),
        ('question,responses,logprobs\nWho?,"[""A""]","[""x""]"\n', "“x” is no log-probability"),
        ('question,responses\nWho?,"[]"\n', "No question could be scored"),
    ],
)
def test_what_cannot_be_scored_is_a_sentence(tmp_path, text, sentence):
    (tmp_path / "bad.csv").write_text(text)
    done = believe(tmp_path / "bad.csv")
    assert done.exit_code == 1 and sentence in done.stderr
