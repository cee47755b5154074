"""Files of others, a few invented rows each in the shape of a published one: nothing is asked."""

import pytest

from benchmarks.published_files import FILES, lines
from core.data.datasets.answer_key import answer_key
from core.data.datasets.questions import MalformedRowError
from core.data.datasets.tables import uploaded_questions
from core.data.tabular.uploads import UploadError, parse


@pytest.mark.parametrize("name", FILES)
def test_a_published_shape_is_read_without_a_question(name):
    content, asked = FILES[name]
    upload = parse(content, "x")
    assert [(q.query, q.answers) for q in uploaded_questions(upload)] == asked


def test_what_means_what_is_put_into_words():
    upload = parse(FILES["Inspect with choices"][0], "x")
    assert answer_key(upload).sentences == (
        "Question: “input”; right: “target”.",
        "The choices in “choices” belong to the question.",
        "Columns not used: none.",
    )
    upload = parse(FILES["SQuAD 2"][0], "x")
    assert answer_key(upload).sentences[1] == "“is_impossible” says where no answer is right."


def test_an_answer_that_is_judged_beside_it_is_no_right_one_unless_somebody_says_so():
    row = {"question": "Q?", "answer": "a"}
    upload = parse(lines(*({**row, "correct": word} for word in ("yes", "no"))), "x")
    assert answer_key(upload) is None
    assert answer_key(upload, answers="answer").answers == ("answer",)


@pytest.mark.parametrize(("numbers", "begins"), [((0, 1), 0), ((1, 2), 1), ((0, 2), 0)])
def test_numbers_of_choices_count_from_0_or_1_and_it_is_said(numbers, begins):
    rows = [{"question": f"Q{n}?", "answer": n, "choices": ["x", "y"]} for n in numbers]
    upload = parse(lines(*rows), "x")
    assert (
        f"A right answer may be a choice’s number; the first is {begins}."
        in answer_key(upload).sentences
    )
    if numbers == (0, 2):  # neither way of counting fits both
        with pytest.raises(MalformedRowError, match="“2” is none of the choices"):
            list(uploaded_questions(upload))
    else:
        assert [question.answers[0][0] for question in uploaded_questions(upload)] == ["x", "y"]


def test_a_context_is_read_where_somebody_names_it_and_may_not_be_missing():
    rows = ({"question": "Q?", "answer": "a", "context": " C. "}, {"question": "R?", "answer": "b"})
    upload = parse(lines(*rows), "x")
    assert next(uploaded_questions(upload)).context == ""
    key = answer_key(upload, context="context")
    assert key.sentences[1:] == (
        "“context” stands in front of each question.",
        "Columns not used: none.",
    )
    problems = []
    (question,) = uploaded_questions(upload, problems.append, key=key)
    assert question.context == "C." and "there is nothing in “context”" in problems[0]
    with pytest.raises(UploadError, match="no column “passage”"):
        answer_key(upload, context="passage")


def test_a_right_answer_that_is_no_choice_is_malformed():
    upload = parse(lines({"input": "Q?", "target": "C", "choices": ["x", "y"]}), "x")
    with pytest.raises(MalformedRowError, match="the right answer “C” is none of the choices"):
        list(uploaded_questions(upload))


def test_texts_of_json_are_not_divided():
    upload = parse(lines({"question": "Q?", "answer": "Art. 5; para 2"}), "x")
    assert next(uploaded_questions(upload)).answers == (("Art. 5; para 2",),)


def right_of(*rows):
    """The first name of each right answer, and why rows are left out."""
    problems = []
    questions = uploaded_questions(parse(lines(*rows), "x"), problems.append)
    return [question.answers[0][0] for question in questions], problems


def choices(number, of, question="Which?"):
    return {"question": question, "choices": of.split(","), "answer": number}


def test_a_choice_is_named_by_its_number_whatever_the_texts_of_others_are():
    assert right_of(choices(1, "1,2,3,4"), choices(2, "x,y,z"))[0] == ["2", "z"]  # MMLU
    assert right_of(choices("A", "B,A"), choices("B", "x,y"))[0] == ["B", "y"]
    right, problems = right_of(choices("1", "1,0,2"), choices("0", "0,1"))  # texts, or numbers?
    assert right == ["0"] and "“1” is the text of one choice, and the letter or" in problems[0]


@pytest.mark.parametrize(
    "row",
    [
        choices(1, "vitamin B,vitamin C", "Which vitamin?"),  # “vitamin B” names choice B
        choices(1, "Hepatitis C,Hepatitis A"),  # “A” is short for the right one
        choices(0, "a ring R,R"),
        choices(0, "1/2,0.5"),
    ],
)
def test_a_wrong_choice_that_would_be_judged_right_leaves_no_row(row):
    right, problems = right_of(row, choices(0, "Crew 4,Crew 9"), choices(1, "all,none of these"))
    assert right == ["Crew 4", "none of these"]
    assert "cannot be told from the right answer" in problems[0]


@pytest.mark.parametrize("heading", ["unanswerable", "answerable"])
def test_that_no_answer_is_right_is_said_in_many_words(heading):
    for words in (("yes", "no"), ("True", "FALSE"), ("1.0", "0.0"), ("1", "0"), ("y", "n")):
        none, some = words if heading == "unanswerable" else words[::-1]
        rows = ({"question": f"{said}?", "answer": "a", heading: said} for said in (none, some, ""))
        questions = list(uploaded_questions(parse(lines(*rows), "x")))
        assert [question.answers for question in questions] == [(), (("a",),), (("a",),)]
    rows = ({"question": f"{said}?", "answer": "a", heading: said} for said in ("perhaps", some))
    assert "says neither yes nor no" in right_of(*rows)[1][0]


def test_of_what_is_expected_only_what_names_an_answer_is_one():
    expected = {
        "equals: Paris": "Paris",
        "icontains: Rome": "Rome",
        "Bern: the city": "Bern: the city",
        "not-contains: Paris": None,
        "llm-rubric: names a capital": None,
        "contains-all: Paris, Rome": None,
        "python: len(output) > 2": None,
    }
    rows = [{"question": f"Q{n}?", "expected": cell} for n, cell in enumerate(expected)]
    asked = uploaded_questions(parse(lines(*rows), "x"), tell=print)
    assert [q.answers[0][0] for q in asked] == [text for text in expected.values() if text]


@pytest.mark.parametrize(("key", "says"), [("is_correct", True), ("isRight", 1), ("wrong", False)])
def test_an_answer_that_says_that_it_is_wrong_is_none_that_is_right(key, says):
    answers = [{"text": "a", key: not says}, {"text": "b", key: says}]
    right, problems = right_of(
        {"question": "1?", "answers": answers}, {"question": "2?", "answers": answers[:1]}
    )
    assert right == ["b"] and problems == ["Line 2: there is no right answer."]


@pytest.mark.parametrize(
    "answer", [["3", 0.5], [1, "4"], {"text": "3", "score": 0.0}, {"answer": "3", "useful": False}]
)
def test_what_a_number_beside_a_right_answer_means_nobody_guesses(answer):
    rows = {"question": "1?", "answers": [["7", "seven"]]}, {"question": "2?", "answers": [answer]}
    right, problems = right_of(*rows)
    assert right == ["7"] and "Write the right answers alone." in problems[0]
    fine = [{"text": "3", "answer_start": 5}, {"text": ["3"], "type": "span"}]
    assert right_of({"question": "3?", "answers": fine})[0] == ["3"]
