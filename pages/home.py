"""Home: the idea in three steps, live, for somebody who has never heard of entropy."""

from core.ui.header import header
from core.ui.home import answers, contradiction, many_answers, onward


def home() -> None:
    """Draw the page: a claim, three steps, and the way on."""
    header(
        "Can I believe what a language model tells me?",
        "It sounds just as sure when it makes things up. **Believe finds out whether it "
        "knows**, by a simple trick: tell it an answer, and see whether it sticks to its own. "
        "Three steps, live, on a small model that runs right here.",
    )
    answers()
    contradiction()
    many_answers()
    onward()


home()
