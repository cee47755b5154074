"""The prompt family, byte for byte: everything that was ever measured depends on it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core import prompts

X = "What is the capital of the UK?"

CONSIDER = "Consider the following question:\nQ: What is the capital of the UK?\n\n"
PROVIDE = "Provide an answer to the following question:\n\nQ: What is the capital of the UK? A:"


@pytest.mark.parametrize(
    ("answers", "told"),
    [
        ((), ""),
        ([], ""),
        (("Paris",), "One answer to question Q is Paris.\n\n"),
        (
            ["Paris", "London", "Paris"],
            "One answer to question Q is Paris. Another answer to question Q is London. "
            "Another answer to question Q is Paris.\n\n",
        ),
    ],
)
def test_the_family_is_the_papers(answers, told):
    assert prompts.iterative(X, answers) == CONSIDER + told + PROVIDE
    assert prompts.iterative(X) == CONSIDER + PROVIDE


def test_the_true_false_prompt_is_the_papers():
    assert prompts.self_verification(X, "Paris") == (
        f"{CONSIDER}One answer to question Q is Paris.\n\n"
        "Is the above answer to question Q correct? Answer True or False. A:"
    )
    assert (prompts.TRUE, prompts.FALSE) == ("True", "False")


@given(query=st.text(min_size=1), answer=st.text())
def test_one_answer_told_is_one_sentence_more_and_nothing_else(query, answer):
    opening = f"Consider the following question:\nQ: {query}\n\n"
    without, told = prompts.iterative(query), prompts.iterative(query, [answer])
    assert without.startswith(opening) and told.startswith(opening)
    sentence = told[len(opening) : len(told) - len(without) + len(opening)]
    assert opening + told[len(opening) + len(sentence) :] == without
    assert sentence.startswith(f"One answer to question Q is {answer}")
    assert sentence.endswith("\n\n")


@pytest.mark.parametrize("mark", [".", "?", "!"])
def test_a_sentence_that_has_ended_gets_no_full_stop(mark):
    assert prompts.iterative(f"Go{mark}").endswith(f"\n\nQ: Go{mark} A:")
    assert f"is Go{mark}\n\nProvide" in prompts.iterative("x", [f"Go{mark}"])
    assert f"is Go{mark} Another" in prompts.iterative("x", [f"Go{mark}", "y"])
    assert f"is Go{mark}\n\nIs the above" in prompts.self_verification("x", f"Go{mark}")


@pytest.mark.parametrize("text", ["", "Name a yellow fruit", "etc…", "(U.K.)", "a:", "5", "wait,"])
def test_a_sentence_that_has_not_ended_gets_one(text):
    assert prompts.iterative(text).endswith(f"\n\nQ: {text}. A:")
    assert f"is {text}.\n\nProvide" in prompts.iterative("x", [text])
    assert f"is {text}.\n\nIs the above" in prompts.self_verification("x", text)


@given(query=st.text(), answers=st.lists(st.text(), max_size=4))
def test_every_prompt_ends_where_the_answer_begins(query, answers):
    assert prompts.iterative(query, answers).endswith(" A:")
    assert prompts.self_verification(query, "x").endswith(" A:")
