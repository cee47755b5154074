"""NQ-Open: JSON lines of a question and its answers."""

import json

import pytest

from core.data.datasets.natural_questions import read_nq_open
from core.data.datasets.questions import MalformedRowError, Question
from tests.data.datasets.outside import outside


def test_a_line_is_a_question(tmp_path):
    path = tmp_path / "dev.jsonl"
    path.write_text('{"question": "who", "answer": ["A", "B"]}\n{"question": "x"}\n')
    told = []
    assert list(read_nq_open(path, told.append)) == [
        Question("nq_open:1", "who", (("A",), ("B",)), "nq_open")
    ]
    assert told == ["Line 2: there is no right answer."]
    with pytest.raises(MalformedRowError, match="Line 2"):
        list(read_nq_open(path))


def test_the_whole_development_set():
    path = outside("nq_open/NQ-open.dev.jsonl")
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    found = list(read_nq_open(path))
    assert len(found) == len(rows) == 3610
    for number, (question, row) in enumerate(zip(found, rows, strict=True), 1):
        assert (question.id, question.query) == (f"nq_open:{number}", row["question"].strip())
        expected = tuple(dict.fromkeys(name.strip() for name in row["answer"]))
        assert question.answers == tuple((name,) for name in expected)
