"""Anybody's file: whatever its kind, the same questions come out."""

import json
from itertools import chain

import pandas as pd
import pytest

from core.data.datasets import tables
from core.data.datasets.questions import MalformedRowError, Question, write_questions
from core.data.datasets.tables import QuestionFile, holds_questions, uploaded_questions
from core.data.tabular.rows import UploadError
from core.data.tabular.uploads import parse
from tests.data.datasets.outside import outside

QUESTIONS = [
    Question("a", "Name a mammal.", (("dog", "hound"), ("cat",)), "animals"),
    Question("b", "What is the capital of France?", (("Paris",),), "capitals"),
]
ROWS = [
    {"id": q.id, "question": q.query, "answers": [list(a) for a in q.answers], "group": q.source}
    for q in QUESTIONS
]


@pytest.fixture(autouse=True)
def read_here(monkeypatch):
    """Read files in this process, which is faster."""
    monkeypatch.setattr(tables, "parse_isolated", parse)


def read_file(path, *how):
    return QuestionFile(path).questions(*how)


def file(folder, name, content):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def upload_of(table):
    return parse(table.to_csv(index=False).encode(), "q.csv")


def as_csv(rows, **options):
    cells = [row | {"answers": json.dumps(row["answers"])} for row in rows]
    return pd.DataFrame(cells).to_csv(index=False, **options)


def test_every_kind_of_file_gives_the_same_questions(tmp_path):
    write_questions(QUESTIONS, tmp_path / "own.jsonl")
    frame = pd.DataFrame(ROWS)
    frame.to_parquet(tmp_path / "q.parquet")
    pd.DataFrame([row | {"answers": json.dumps(row["answers"])} for row in ROWS]).to_excel(
        tmp_path / "q.xlsx", index=False
    )
    paths = [
        tmp_path / "own.jsonl",
        file(tmp_path, "q.jsonl", "\n".join(map(json.dumps, ROWS))),
        file(tmp_path, "q.json", json.dumps(ROWS, indent=2)),
        file(tmp_path, "q.csv", as_csv(ROWS)),
        file(tmp_path, "q.tsv", as_csv(ROWS, sep="\t")),
        tmp_path / "q.parquet",
        tmp_path / "q.xlsx",
    ]
    assert {path.name: list(read_file(path)) for path in paths} == {
        path.name: QUESTIONS for path in paths
    }


def test_a_file_that_begins_like_ours_is_read_whole(tmp_path):
    row = {"id": "1", "query": "Q?", "answers": [["x"]], "source": "s", "is_impossible": True}
    ours = QuestionFile(file(tmp_path, "own.jsonl", json.dumps(dict([*row.items()][:4]))))
    assert not ours.meaning and [q.answers for q in ours.questions()] == [(("x",),)]
    other = QuestionFile(file(tmp_path, "other.jsonl", json.dumps(row)))
    assert "“is_impossible” says where no answer is right." in other.meaning
    assert [q.answers for q in other.questions()] == [()]


@pytest.mark.parametrize(
    ("cells", "answers"),
    [
        (["a|b; c", "d;e"], [("a", "b; c"), ("d;e",)]),
        (["a; b", "c, d"], [("a", "b"), ("c, d",)]),
        (["a, b", "c"], [("a, b",), ("c",)]),
        (['["a|b", "c"]', "d;e"], [("a|b", "c"), ("d", "e")]),
        (["['it', \"isn't\"]", "['it\\'s' 'b']"], [("it", "isn't"), ("it's", "b")]),
        (['[["a", "b"], "c", ["b"]]', "d"], [("a", "b", "c", "b"), ("d",)]),
        (["None", "007"], [("None",), ("007",)]),
        (['["None", null, 7, 1.5, true]', "na"], [("None", "7", "1.5", "true"), ("na",)]),
        (["a|a| |", "b"], [("a",), ("b",)]),
        (["[a", "[1, 2"], [("[a",), ("[1, 2",)]),
        ([r'["\ud83c\udf89"]', r'["\ud800"]'], [("🎉",), (r"\ud800",)]),  # half a character
    ],
)
def test_how_answers_are_separated(cells, answers):
    table = pd.DataFrame({"question": "Q?", "gold answers": cells})
    questions = uploaded_questions(upload_of(table))
    assert [tuple(chain(*q.answers)) for q in questions] == answers


@pytest.mark.parametrize(
    "heading",
    [
        *("answer", "Answers", "gold", "gold_answers", "golden_answers", "golden answer"),
        *("aliases", "reference", "Gold-Aliases"),
    ],
)
def test_names_of_right_answers(heading):
    upload = upload_of(pd.DataFrame({"query": ["Q?"], heading: ["A"]}))
    assert holds_questions(upload)
    assert [(q.query, q.answers) for q in uploaded_questions(upload)] == [("Q?", (("A",),))]


def test_an_answer_beside_gold_answers_is_a_models(tmp_path):
    path = file(tmp_path, "q.csv", "question,answer,score,gold_aliases\nQ?,wrong,0.5,right\n")
    assert [q.answers for q in read_file(path)] == [(("right",),)]


def test_malformed_rows_are_named_by_their_lines(tmp_path):
    text = 'id,question,answers\n1,"two\nlines",A\n2,,B\n3,Q?,\n1,R?,C\n5,S?,D\n'
    path = file(tmp_path, "q.csv", text)
    with pytest.raises(MalformedRowError, match=r"^Line 4: there is no question\.$"):
        list(read_file(path))
    told = []
    assert [q.id for q in read_file(path, told.append)] == ["1", "5"]
    assert told == [
        "Line 4: there is no question.",
        "Line 5: there is no right answer.",
        "Line 6: the id “1” appears more than once.",
    ]


def test_rows_of_parquet_are_named_by_their_numbers(tmp_path):
    frame = pd.DataFrame({"question": ["Q?", ""], "answer": [["A"], ["B"]]})
    frame.to_parquet(tmp_path / "q.parquet")
    told = []
    assert [q.id for q in read_file(tmp_path / "q.parquet", told.append)] == ["row 1"]
    assert told == ["Row 2: there is no question."]


def test_malformed_objects_of_an_array_are_named_by_their_lines(tmp_path):
    path = file(tmp_path, "q.json", json.dumps([ROWS[0], {"question": "Q?"}], indent=0))
    told = []
    assert [q.id for q in read_file(path, told.append)] == ["a"]
    assert [sentence.partition(": ")[2] for sentence in told] == ["there is no right answer."]
    line = path.read_text().split("\n").index('"question": "Q?"')  # the line before it, from 1
    assert told[0].startswith(f"Line {line}:")


def test_what_a_file_left_open_is_noted(tmp_path):
    path = file(tmp_path, "q.csv", "question;answers;note\nQ?;A;x\n")
    assert QuestionFile(path).meaning == (
        "The columns are separated by “;”.",
        "Question: “question”; right: “answers”.",
        "Columns not used: “note”.",
    )


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("question,score\nQ?,0.5\n", "no column of questions with one of right answers"),
        ("text,answers\nQ?,A\n", "no column of questions with one of right answers"),
        ("", "The file is empty"),
        (b"\x89PNG\r\n\x1a\n", "a PNG picture"),
    ],
)
def test_a_file_that_holds_no_questions_is_refused(tmp_path, content, says):
    with pytest.raises(UploadError, match=says):
        list(read_file(file(tmp_path, "q.csv", content)))


def test_gold_answers_of_outside_scores():
    path = outside("calibration/tq_agreement.csv")
    frame = pd.read_csv(path, dtype=str, keep_default_na=False)
    found = list(read_file(path))
    assert [q.id for q in found] == frame["id"].tolist()
    assert all(q.answers for q in found) and len(found) == 1938
