"""Questions as JSON lines: what is written comes back, and what is wrong is named by its line."""

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.data.datasets import questions as module
from core.data.datasets.questions import (
    MAX_ID,
    MAX_NAMES,
    MAX_TEXT,
    MalformedRowError,
    Question,
    question_of,
    read_questions,
    write_questions,
)
from core.data.datasets.tables import uploaded_questions
from core.data.tabular.rows import UploadError
from core.data.tabular.uploads import parse
from tests.hostile import ANY_TEXTS, HALF

PARIS = Question("1", "What is the capital of France?", (("Paris", "Paris, France"),), "capitals")


def written(folder, *rows):
    path = folder / "questions.jsonl"
    path.write_text("".join(f"{row}\n" for row in rows), encoding="utf-8")
    return path


def row(**parts):
    whole = {"id": "1", "query": "Name a mammal.", "answers": ["dog"]} | parts
    return json.dumps({key: value for key, value in whole.items() if value is not None})


def only(folder, text):
    (question,) = read_questions(written(folder, text))
    return question


# ------------------------------------------------------------------- there and back again

texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=MAX_ID).filter(
    lambda text: text == text.strip()
)
answers = st.lists(st.lists(texts, min_size=1, unique=True).map(tuple), min_size=1, unique=True)


@given(
    st.lists(
        st.builds(Question, texts, texts, answers.map(tuple), texts | st.just("")),
        min_size=1,
        unique_by=lambda question: question.id,
    )
)
def test_what_is_written_is_read(tmp_path_factory, questions):
    path = tmp_path_factory.mktemp("questions") / "questions.jsonl"
    assert write_questions(iter(questions), path) == len(questions)
    assert list(read_questions(path)) == questions


def test_the_last_line_says_how_many_rows_were_malformed(tmp_path):
    path, again = tmp_path / "questions.jsonl", tmp_path / "again.jsonl"
    write_questions([PARIS, replace(PARIS, id="2")], path, lambda: 3)
    assert [each.malformed_before for each in read_questions(path)] == [0, 3]
    table = parse(path.read_bytes(), path.name)
    assert [each.malformed_before for each in uploaded_questions(table)] == [0, 3]
    write_questions(read_questions(path), again, lambda: 1)
    assert [each.malformed_before for each in read_questions(again)] == [0, 4]


def test_hostile_texts_stay_what_they_are(tmp_path):
    hostile = [text.strip() for text in ANY_TEXTS if text.strip()]
    questions = [Question(f"id {n}", text, ((text,),), text[:9]) for n, text in enumerate(hostile)]
    write_questions(questions, tmp_path / "q.jsonl")
    read = list(read_questions(tmp_path / "q.jsonl"))
    assert [(q.query, q.answers) for q in read] == [(text, ((text,),)) for text in hostile]


def test_the_file_is_as_documented(tmp_path):
    write_questions([PARIS], tmp_path / "q.jsonl")
    assert (tmp_path / "q.jsonl").read_bytes() == (
        b'{"id": "1", "query": "What is the capital of France?", '
        b'"answers": [["Paris", "Paris, France"]], "source": "capitals"}\n'
    )


def test_an_error_leaves_what_was_there(tmp_path):
    path = tmp_path / "q.jsonl"
    write_questions([PARIS], path)

    def broken():
        yield PARIS
        raise UploadError("Broken.")

    with pytest.raises(UploadError):
        write_questions(broken(), path)
    assert list(read_questions(path)) == [PARIS]
    assert [file.name for file in tmp_path.iterdir()] == ["q.jsonl"]


# ------------------------------------------------------------------------ rows of others


def test_answers_may_be_flat_or_one_text(tmp_path):
    assert only(tmp_path, row(answers=["dog", "cat"])).answers == (("dog",), ("cat",))
    assert only(tmp_path, row(answers="dog")).answers == (("dog",),)
    assert only(tmp_path, row(answers=[["dog", "hound"], "cat"])).answers == (
        ("dog", "hound"),
        ("cat",),
    )


def test_headings_are_recognised_as_in_an_upload(tmp_path):
    text = json.dumps({"Question": "q", "golden_answers": ["a"], "answer": "b", "question_id": 7})
    assert only(tmp_path, text) == Question("7", "q", (("a",),))
    text = json.dumps({"prompt": "q", "answer": ["a"], "relation": "r"})
    assert only(tmp_path, text) == Question("line 1", "q", (("a",),), "r")


def test_texts_are_tidied(tmp_path):
    found = only(tmp_path, row(query=" q\n", answers=[[" a ", "a", "", None], [], [1950], ["a"]]))
    assert (found.query, found.answers) == ("q", (("a",), ("1950",)))


def test_blank_lines_count_and_a_byte_order_mark_does_not(tmp_path):
    path = tmp_path / "q.jsonl"
    first, second = row(id=None), row(id=None)
    path.write_bytes(b"\xef\xbb\xbf" + f"{first}\r\n\r\n  \n{second}".encode())
    assert [q.id for q in read_questions(path)] == ["line 1", "line 4"]


# ---------------------------------------------------------------------- malformed rows

MALFORMED = {
    "not JSON": "Line 2 is not one JSON object",
    row(query=None): "Line 2: there is no question.",
    row(query="  "): "Line 2: there is no question.",
    row(query=["q"]): "Line 2: the question is no text.",
    row(answers=None): "Line 2: there is no right answer.",
    row(answers=[[], [" "]]): "Line 2: there is no right answer.",
    row(answers={"a": 1}): "Line 2: the name of an answer is no text.",
    row(answers=[[["a"]]]): "Line 2: the name of an answer is no text.",
    row(answers=["a" * (MAX_TEXT + 1)]): "Line 2: the name of an answer has more than",
    row(answers=["a"] * (MAX_NAMES + 1)): "Line 2: the answers have more than",
    row(query=HALF): "Line 2: the question contains half of a character",
    row(id=""): "Line 2: the id is empty.",
    row(id="i" * (MAX_ID + 1)): "Line 2: the id has more than",
    row(id="good"): "Line 2: the id “good” appears more than once.",
    row(query="q" * 1_000_001): "Line 2: the row here has more than 1,000,000 characters",
    row(query="q" * 4_000_001): "Line 2: the row here has more than 1,000,000 characters",
    # Beyond the first piece that is read of a line, and the next line is read all the same.
    row(query="q" * 9_000_000): "Line 2: the row here has more than 1,000,000 characters",
}


@pytest.mark.parametrize("bad", MALFORMED, ids=range(len(MALFORMED)))
def test_a_malformed_row_is_refused_or_skipped_by_its_line(tmp_path, bad):
    path = written(tmp_path, row(id="good"), bad, row(id="last"))
    with pytest.raises(MalformedRowError) as caught:
        list(read_questions(path))
    assert str(caught.value).startswith(MALFORMED[bad])
    told = []
    assert [q.id for q in read_questions(path, told.append)] == ["good", "last"]
    assert told == [str(caught.value)] and told[0].endswith(".")


def test_a_line_in_another_encoding_is_malformed(tmp_path):
    path = tmp_path / "q.jsonl"
    path.write_bytes(row().encode() + b"\n" + '{"query": "é"}\n'.encode("latin-1"))
    with pytest.raises(MalformedRowError, match=r"^Line 2: the line is not UTF-8\.$"):
        list(read_questions(path))


def test_rows_before_a_malformed_one_are_given(tmp_path):
    found = read_questions(written(tmp_path, row(), "broken"))
    assert next(found).query == "Name a mammal."
    with pytest.raises(MalformedRowError):
        next(found)


@pytest.mark.parametrize("tell", [None, print])
def test_a_file_without_questions_is_refused(tmp_path, tell):
    with pytest.raises(UploadError, match="no question with a right answer"):
        list(read_questions(written(tmp_path), tell))
    with pytest.raises(UploadError):
        list(read_questions(written(tmp_path, "broken"), tell))


def test_a_file_that_cannot_be_read_is_said_so(tmp_path):
    with pytest.raises(UploadError, match="cannot be read: No such file"):
        list(read_questions(tmp_path / "none.jsonl"))


def test_too_many_questions_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "MAX_QUESTIONS", 2)
    rows = [row(id=str(number)) for number in range(3)]
    assert len(list(read_questions(written(tmp_path, *rows[:2])))) == 2
    with pytest.raises(UploadError, match="more than 2 questions"):
        list(read_questions(written(tmp_path, *rows), print))


def test_a_question_needs_an_id():
    with pytest.raises(ValueError, match="the id is empty"):
        question_of(id=None, query="q", answers=[["a"]])
