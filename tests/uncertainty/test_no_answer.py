"""What a model says where it has no answer, and answers that only look so."""

import pytest

from core.uncertainty.no_answer import is_no_answer


@pytest.mark.parametrize(
    "text",
    [
        "I don't know",
        "I don’t know.",
        "**I do not know**",
        "I really don't know, maybe Paris",
        "I'm not sure",
        "I am unable to answer that.",
        "I'm sorry, I can't help with that.",
        "I'm sorry, but as an AI language model I cannot answer",
        "Sorry, I couldn't find it",
        "As an AI, I have no opinions",
        "I have no information about this person.",
        "There is no answer to that",
        "No idea",
        "Not sure.",
        "Unknown",
        "N/A",
        "idk",
        "Error: You exceeded your current quota.",
        "HTTP 429: slow down",
        "Rate limit reached for requests",
        "Das weiß ich leider nicht",
        "Keine Ahnung",
        "Je ne sais pas",
        "No lo sé",
        "Unfortunately, I don't actually know.",
        "I apologize, but I cannot fulfill this request.",
        "I'm afraid I must decline.",
        "As a helpful assistant, I won't discuss it",
        "Nobody knows.",
        "There is not enough information to tell.",
        "It cannot be determined.",
        "The text does not say.",
        "Not mentioned in the passage",
        "Which Springfield do you mean?",
        "500 Internal Server Error",
        "Error 429",
        '{"error": "rate limit"}',
        "[content filtered]",
        "Traceback (most recent call last):",
        "<think>",
        "The answer is",
        "…",
        "Ich kann das leider nicht beantworten.",
        "Désolé, je ne peux pas.",
        "Nie wiem",
        "Не знаю",
        "我不知道",
        "分かりません",
    ],
)
def test_a_text_without_an_answer_is_none(text):
    assert is_no_answer(text)


@pytest.mark.parametrize(
    "text",
    [
        "Paris",
        "Nobody",
        "None",  # such as: which moons has Venus?
        "Na",  # sodium
        "No",
        "I Can't Get No Satisfaction",
        "Sorry",  # a song
        "I'm Sorry",
        "I'm Not There",
        "Sorry! is a board game",
        "Error correction",
        "The Unknown Soldier",
        "As an airport",
        "As You Like It",
        "Well, Paris.",
        "Well of Souls",
        "404 BC",
        "500",
        "We shall overcome",
        "I Know Why the Caged Bird Sings",
        "Not Fade Away",
        "Content",
        "",
    ],
)
def test_an_answer_that_looks_so_is_one(text):
    assert not is_no_answer(text)
