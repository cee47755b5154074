"""Home: the idea in three steps, live, for somebody who has never heard of entropy."""

from core.ui.header import page_header
from core.ui.home import answers, contradiction, many_answers, onward


def home() -> None:
    """Draw the page: a claim, three steps, and the way on."""
    page_header(
        "Can I believe what a language model tells me?",
        "It sounds just as sure when it makes things up. **Believe finds out whether it "
        "knows**, with a simple trick: give it an answer, and see whether it keeps its own. "
        "Three steps, live, on a small model that runs on this machine.",
    )
    answers()
    contradiction()
    many_answers()
    onward()


home()
