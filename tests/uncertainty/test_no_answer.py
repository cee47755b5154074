"""What a model says where it has no answer, and answers that only look so."""

from core.uncertainty.no_answer import is_no_answer
from tests.uncertainty.tables import rows_of


def test_a_text_without_an_answer_is_none_and_one_that_looks_so_is_one():
    texts = rows_of("no_answers.csv")
    wrong = [each for each in texts if is_no_answer(each["text"]) is not (each["none"] == "yes")]
    assert texts and wrong == []
