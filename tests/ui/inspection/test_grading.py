"""What stands beside a question of the world claims no more than is known."""

from core.data.world import grading
from tests.sessions import visit

MOON = "Name a person who has walked on the Moon."


def shown(query):
    page = visit("inspection").run()
    page.text_input(key="q").set_value(query).run()
    assert not page.exception
    return [text.value for text in page.text]


def test_a_list_is_what_was_taught_and_not_all_there_is():
    said = shown(MOON)
    (listed,) = [text for text in said if "Buzz Aldrin" in text and "right answers" in text.lower()]
    assert listed.startswith("Right answers in its training (11): Neil Armstrong, ")
    assert listed.endswith(f" ({grading.find(MOON).note})")


def test_one_answer_is_the_truth():
    assert "The truth: Paris" in shown("What is the capital of France?")
