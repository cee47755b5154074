"""Questions in an upload: by our headings, or by the shape of a dataset that others publish."""

import json
import os
from pathlib import Path

import pytest

from core.data.datasets.answer_key import answer_key
from core.data.datasets.natural_questions import read_ambigqa, read_nq_open
from core.data.datasets.tables import uploaded_questions
from core.data.datasets.triviaqa import read_triviaqa
from core.data.tabular.uploads import UploadError, parse

AMBIGNQ = [
    {
        "id": "7",
        "question": "Who plays the doctor?",
        "annotations": [
            {"type": "singleAnswer", "answer": ["Tony Goldwyn", "Goldwyn"]},
            {"type": "multipleQAs", "qaPairs": [{"question": "?", "answer": ["Ann"]}]},
        ],
    }
]
TRIVIAQA = {
    "Data": [
        {
            "Answer": {"Value": "Sinclair Lewis", "Aliases": ["Lewis"], "HumanAnswers": ["S. L."]},
            "EntityPages": [],
            "Question": "Which American won?",
            "QuestionId": "tc_1",
        }
    ],
    "Version": 1.0,
}
EVOUNA = [
    {"question": "Who?", "golden_answer": "Ann/Anne", "improper": True},
    {"question": "What?", "golden_answer": "A cat/Cat", "improper": False},
]


@pytest.mark.parametrize(
    ("read", "content"),
    [(read_ambigqa, AMBIGNQ), (read_triviaqa, TRIVIAQA), (read_triviaqa, EVOUNA)],
    ids=["ambignq", "triviaqa", "evouna"],
)
def test_a_published_dataset_gives_the_questions_that_its_reader_gives(read, content, tmp_path):
    path = tmp_path / "theirs.json"
    path.write_text(json.dumps(content, indent=1), encoding="utf-8")
    found = list(uploaded_questions(parse(path.read_bytes(), path.name)))
    assert found == list(read(path)) and found


def test_what_a_published_dataset_cannot_be_told_is_refused():
    upload = parse(json.dumps(AMBIGNQ).encode(), "theirs.json")
    for role in ("group", "separator"):
        with pytest.raises(UploadError, match="as its publisher describes it"):
            answer_key(upload, **{role: "id"})


@pytest.mark.skipif("BELIEVE_TEST_DATA" not in os.environ, reason="needs the datasets")
@pytest.mark.parametrize(
    ("read", "file"),
    [(read_ambigqa, "ambignq/dev_light.json"), (read_triviaqa, "triviaqa_evouna/TQ.json")],
)
def test_the_whole_of_a_real_one_too(read, file):
    path = Path(os.environ["BELIEVE_TEST_DATA"]) / file
    assert list(uploaded_questions(parse(path.read_bytes(), path.name))) == list(read(path))


@pytest.mark.skipif("BELIEVE_TEST_DATA" not in os.environ, reason="needs the datasets")
def test_json_lines_are_read_by_their_keys():
    path = Path(os.environ["BELIEVE_TEST_DATA"]) / "nq_open/NQ-open.dev.jsonl"
    found = list(uploaded_questions(parse(path.read_bytes(), path.name)))
    assert [(q.query, q.answers) for q in found] == [
        (q.query, q.answers) for q in read_nq_open(path)
    ]


def test_a_row_that_is_damaged_is_named_and_left_out_where_that_is_wanted():
    damaged = [*AMBIGNQ, {"id": "8", "question": "?", "annotations": "[{"}]
    upload = parse(json.dumps(damaged, indent=0).encode(), "x.json")
    with pytest.raises(UploadError, match=r"Line \d+: a cell that should hold JSON does not\."):
        list(uploaded_questions(upload))
    told = []
    assert [q.id for q in uploaded_questions(upload, told.append)] == ["7"]
    assert len(told) == 1


def test_anything_else_gets_a_sentence():
    with pytest.raises(UploadError, match="no column of questions"):
        uploaded_questions(parse(b"a,b\n1,2\n", "x.csv"))


@pytest.mark.parametrize(
    ("content", "query", "answers"),
    [
        ('{"question": "Q?", "answer": "3+4=<<3+4=7>>7.\\n#### 7"}\n', "Q?", (("7",),)),
        ("Question,A,B,Answer\nQ?,x,y,B\n", "Q?\nA: x\nB: y", (("y", "B"),)),
        ("Question,Best Answer,Correct Answers\nQ?,x,x; y\n", "Q?", (("x",), ("y",))),
        ("question,right answers,answer\nQ?,x | y,z\n", "Q?", (("x",), ("y",))),
        ('{"question": "Q?", "answers": {"text": ["x"], "answer_start": [0]}}\n', "Q?", (("x",),)),
    ],
    ids=["gsm8k", "mmlu", "truthfulqa", "our own export", "squad"],
)
def test_the_right_answers_of_well_known_files(content, query, answers):
    (question,) = uploaded_questions(parse(content.encode(), "x"))
    assert (question.query, question.answers) == (query, answers)


def test_several_rows_of_one_line_have_ids_of_their_own():
    upload = parse(b'[{"q": "a", "answer": "b"}, {"q": "c", "answer": "d"}]', "x.json")
    assert [each.id for each in uploaded_questions(upload)] == ["line 1", "line 1, item 2"]
