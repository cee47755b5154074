"""AmbigQA: every answer that anybody gave, names of one answer together."""

import json

import pytest

from core.data.datasets.natural_questions import MULTIPLE, SINGLE, read_ambigqa
from core.data.datasets.questions import MalformedRowError, Question
from tests.data.datasets.outside import outside


def single(*names):
    return {"type": "singleAnswer", "answer": list(names)}


def multiple(*answers):
    pairs = [{"question": f"Reading {n}?", "answer": a} for n, a in enumerate(answers)]
    return {"type": "multipleQAs", "qaPairs": pairs}


def read(folder, *annotations, tell=None, **parts):
    row = {"annotations": list(annotations), "id": "-8", "question": "Q?"} | parts
    good = {"annotations": [single("A")], "id": "good", "question": "G?"}
    path = folder / "dev_light.json"
    path.write_text(json.dumps([good, row]), encoding="utf-8")
    return list(read_ambigqa(path, tell))[1:]


@pytest.mark.parametrize(
    ("annotations", "answers", "source"),
    [
        ([single("A", "a b")], [("A", "a b")], SINGLE),
        ([single("1950"), single("1950")], [("1950",)], SINGLE),
        ([single("A"), single("B")], [("A",), ("B",)], SINGLE),
        ([single("A"), single("B", "a ")], [("A", "B", "a")], SINGLE),
        ([multiple(["A", "AA"], ["B"])], [("A", "AA"), ("B",)], MULTIPLE),
        ([single("B"), multiple(["A"], ["B", "BB"])], [("B", "BB"), ("A",)], MULTIPLE),
        # The third list joins the first two, and the fourth joins them.
        ([multiple(["A"], ["B"], ["B", "A"], ["b", "C"])], [("B", "A", "b", "C")], MULTIPLE),
        ([multiple(["A"], ["B", "C", "D"], ["A", "D"])], [("B", "C", "D", "A")], MULTIPLE),
        ([multiple(["A"], []), single()], [("A",)], MULTIPLE),
    ],
)
def test_every_alternative_is_accepted(tmp_path, annotations, answers, source):
    assert read(tmp_path, *annotations) == [Question("-8", "Q?", tuple(answers), source)]


@pytest.mark.parametrize(
    ("annotations", "parts", "says"),
    [
        ([], {}, "there is no right answer."),
        ([single()], {}, "there is no right answer."),
        ([single("A")], {"question": None}, "there is no question."),
        ([single("A")], {"id": None}, "the id is empty."),
        ([single("A")], {"id": "good"}, "the id “good” appears more than once."),
        ([], {"annotations": {}}, "“annotations” is no list of objects."),
        (["A"], {}, "“annotations” is no list of objects."),
        ([{"type": "noAnswer"}], {}, "an annotation is neither “singleAnswer” nor “multipleQAs”."),
        ([{"answer": ["A"]}], {}, "an annotation is neither “singleAnswer” nor “multipleQAs”."),
        ([{"type": "singleAnswer", "answer": "A"}], {}, "“answer” is no list of texts."),
        ([{"type": "singleAnswer", "answer": [7]}], {}, "“answer” is no list of texts."),
        ([{"type": "multipleQAs"}], {}, "“qaPairs” is no list of objects."),
        ([multiple([["A"]])], {}, "“answer” is no list of texts."),
    ],
)
def test_malformed_rows(tmp_path, annotations, parts, says):
    with pytest.raises(MalformedRowError) as caught:
        read(tmp_path, *annotations, **parts)
    assert str(caught.value) == f"Line 1: {says}"
    assert read(tmp_path, *annotations, tell=print, **parts) == []


def test_all_of_the_light_development_set():
    path = outside("ambignq/dev_light.json")
    rows = json.loads(path.read_text(encoding="utf-8"))
    found = list(read_ambigqa(path))
    assert len(found) == len(rows) == 2002
    for question, row in zip(found, rows, strict=True):
        assert (question.id, question.query) == (row["id"], row["question"].strip())
        given, kinds = set(), set()
        for annotation in row["annotations"]:
            kinds.add(annotation["type"])
            for part in annotation.get("qaPairs", [annotation]):
                given |= {name.strip() for name in part["answer"]}
        names = [name for answer in question.answers for name in answer]
        assert set(names) == given and len(names) == len(given)
        assert question.source == (MULTIPLE if "multipleQAs" in kinds else SINGLE)
    assert sum(question.source == MULTIPLE for question in found) == 642 + 356 + 102 + 68 + 4
