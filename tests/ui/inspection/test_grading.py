"""What stands beside a question of the world claims no more than is known."""

from tests.sessions import settled, visit


def shown(query):
    page = visit("inspection").run()
    settled(page.text_input(key="q").set_value(query).run())
    return [text.value for text in page.text]


def test_a_list_is_what_was_taught_and_not_all_there_is():
    said = shown("Name a person who has walked on the Moon.")
    (listed,) = [text for text in said if "Buzz Aldrin" in text and "right answers" in text.lower()]
    assert "Right answers in its training (11): Neil Armstrong, " in listed
    assert "but for Alan Bean" in listed


def test_a_closed_list_is_all_there_is():
    said = shown("Name one of the Great Lakes.")
    (listed,) = [text for text in said if "Ontario" in text and "right answers" in text.lower()]
    assert "All right answers (5): Superior, " in listed


def test_one_answer_is_the_truth():
    said = shown("What is the capital of France?")
    assert "It answered, and was right. The truth: Paris" in said
