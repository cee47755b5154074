"""TriviaQA: the official format, and EVOUNA's."""

import json

import pytest

from core.data.datasets.questions import MalformedRowError, Question
from core.data.datasets.triviaqa import IMPROPER, read_triviaqa
from core.data.tabular.rows import UploadError
from tests.data.datasets.outside import outside


def official(**parts):
    whole = {
        "Answer": {
            "Aliases": ["Sunset Blvd", "Sunset Boulevard"],
            "HumanAnswers": ["the Boulevard"],
            "NormalizedAliases": ["sunset blvd"],
            "Value": "Sunset Boulevard",
        },
        "EntityPages": [{"Title": "Andrew Lloyd Webber"}],
        "Question": "Which Lloyd Webber musical premiered in 1993?",
        "QuestionId": "tc_33",
    }
    return whole | parts


def judged(**parts):
    return {"question": "Q?", "golden_answer": "A/B", "answer_fid": "C", "improper": False} | parts


def file(folder, found):
    path = folder / "triviaqa.json"
    path.write_text(json.dumps(found, indent=1), encoding="utf-8")
    return path


def test_the_official_format(tmp_path):
    path = file(tmp_path, {"Data": [official(), official(QuestionId="tc_34")], "Domain": "Web"})
    first, second = read_triviaqa(path)
    names = ("Sunset Boulevard", "Sunset Blvd", "the Boulevard")
    query = "Which Lloyd Webber musical premiered in 1993?"
    assert first == Question("tc_33", query, (names,), "triviaqa")
    assert second.id == "tc_34"


def test_only_a_value_will_do(tmp_path):
    (found,) = read_triviaqa(file(tmp_path, {"Data": [official(Answer={"Value": "A"})]}))
    assert found.answers == (("A",),)


@pytest.mark.parametrize(
    ("parts", "says"),
    [
        ({"Answer": None}, "there is no right answer: “Answer” is missing."),  # of a test set
        ({"Answer": {"Value": "A", "Aliases": "B"}}, "“Aliases” is no list."),
        ({"Answer": {"Value": {}}}, "the name of an answer is no text."),
        ({"Question": ""}, "there is no question."),
        ({"QuestionId": None}, "the id is empty."),
        ({"QuestionId": "tc_33"}, "the id “tc_33” appears more than once."),
    ],
)
def test_malformed_rows_of_the_official_format(tmp_path, parts, says):
    bad = official(**{"QuestionId": "bad"} | parts)
    path = file(tmp_path, {"Data": [official(), bad, official(QuestionId="last")]})
    line = path.read_text(encoding="utf-8").split("\n").index("  {", 3) + 1
    with pytest.raises(MalformedRowError) as caught:
        list(read_triviaqa(path))
    assert str(caught.value) == f"Line {line}: {says}"
    told = []
    assert [q.id for q in read_triviaqa(path, told.append)] == ["tc_33", "last"]
    assert told == [str(caught.value)]


def test_the_rows_that_evouna_judged(tmp_path):
    path = file(tmp_path, [judged(), judged(question="P?", improper=True), judged(question="R?")])
    dropped = []
    kept = list(read_triviaqa(path, dropped=lambda: dropped.append(1)))
    assert kept == [
        Question("triviaqa:1", "Q?", (("A", "B"),), "triviaqa"),
        Question("triviaqa:3", "R?", (("A", "B"),), "triviaqa"),
    ]
    assert len(dropped) == 1
    every = list(read_triviaqa(path, improper="keep"))
    assert [q.source for q in every] == ["triviaqa", IMPROPER, "triviaqa"]
    assert [every[0], every[2]] == kept


def test_malformed_rows_of_evouna(tmp_path):
    path = file(tmp_path, [judged(), judged(golden_answer=["A"])])
    with pytest.raises(MalformedRowError, match=r"^Line 8: “golden_answer” is no text\.$"):
        list(read_triviaqa(path))
    assert [q.id for q in read_triviaqa(path, print)] == ["triviaqa:1"]


def test_an_object_without_data_is_refused(tmp_path):
    with pytest.raises(UploadError, match="no array “Data”"):
        list(read_triviaqa(file(tmp_path, {"Rows": []})))


def test_the_official_sample():
    (found,) = read_triviaqa(outside("triviaqa_sample/triviaqa_sample.json"))
    assert found.id == "tc_33" and found.answers[0][0] == "Sunset Boulevard"
    assert len(found.answers) == 1 and set(found.answers[0]) == {
        *("Sunset Blvd", "West Sunset Boulevard", "Sunset Boulevard", "Sunset Bulevard"),
        "Sunset Blvd.",
    }


def test_all_of_evouna():
    path = outside("triviaqa_evouna/TQ.json")
    rows = json.loads(path.read_text(encoding="utf-8"))
    every = list(read_triviaqa(path, improper="keep"))
    assert len(every) == len(rows) == 2000
    assert [q.query for q in every] == [row["question"].strip() for row in rows]
    improper = [q for q, row in zip(every, rows, strict=True) if row["improper"]]
    assert len(improper) == 62 and {q.source for q in improper} == {IMPROPER}
    assert list(read_triviaqa(path)) == [q for q in every if q not in improper]
