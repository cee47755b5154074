"""Every prompt Believe ever sends: the paper's family F_t and its True/False question.

The paper is "To Believe or Not to Believe Your LLM" (arXiv 2406.02543); the family
F_t stands in its Section 2, the self-verification prompt in Section 6 (baseline S.V.).

All prompts end in ``A:`` without a space behind it. An answer is therefore scored and
sampled with a space in front, so that no token straddles the boundary between the two.
"""

from collections.abc import Sequence

QUESTION = "Consider the following question:\nQ: "
FIRST_ANSWER = "One answer to question Q is "
FURTHER_ANSWER = "Another answer to question Q is "
REQUEST = "Provide an answer to the following question:\n\nQ: "
SAME = "Do these two answers to question Q mean the same? Answer True or False."
VERIFICATION = "Is the above answer to question Q correct? Answer True or False."
ANSWER = "A:"
NOT = "It is not true that: "
CONTEXT = "Context:\n"
STATEMENT = "Is this statement true? Answer True or False."

TRUE, FALSE = "True", "False"


def front(system: str = "", context: str = "") -> str:
    """Return what stands in front of every prompt; not the paper's.

    A system prompt, and a context: passages that an answer is to be drawn from.
    """
    return "".join(f"{part}\n\n" for part in (system, context and f"{CONTEXT}{context}") if part)


def full_stop(text: str) -> str:
    """Close a sentence: add a full stop unless the text already ends in one of ``. ? !``."""
    return text if text.endswith((".", "?", "!")) else f"{text}."


def answer_sentences(answers: Sequence[str]) -> str:
    """Return "One answer to question Q is Y1. Another answer to question Q is Y2. …"."""
    openings = [FIRST_ANSWER] + [FURTHER_ANSWER] * (len(answers) - 1)
    return " ".join(full_stop(o + a) for o, a in zip(openings, answers, strict=False))


def iterative(query: str, answers: Sequence[str] = ()) -> str:
    """Return the prompt F_t(x, Y_1, …, Y_t) of the paper's Section 2.

    x is the question as the person typed it; the t answers are those that the prompt tells the
    model about. F_0 keeps both mentions of the question, so that F_0 and F_1 differ by the answer
    sentence alone and by nothing else the model could react to.
    """
    condition = f"{answer_sentences(answers)}\n\n" if answers else ""
    return f"{QUESTION}{query}\n\n{condition}{REQUEST}{full_stop(query)} {ANSWER}"


def self_verification(query: str, answer: str) -> str:
    """Return the True/False prompt of the baseline S.V. (Section 6 of the paper)."""
    return f"{QUESTION}{query}\n\n{answer_sentences([answer])}\n\n{VERIFICATION} {ANSWER}"


def truth(claim: str, question: str = "") -> str:
    """Return the question whether a statement is true, maybe one that answers a question.

    It is the x of `iterative`; not the paper's.
    """
    of = f" It was said in answer to: {full_stop(question)}" if question else ""
    return f"{STATEMENT}{of} Statement: {full_stop(claim)}"


def same_meaning(query: str, first: str, second: str) -> str:
    """Return the True/False prompt that asks whether two answers mean the same; not the paper's."""
    return f"{QUESTION}{query}\n\n{answer_sentences([first, second])}\n\n{SAME} {ANSWER}"
