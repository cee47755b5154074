"""Home: the idea in three steps, live, for somebody who has never heard of entropy."""

from core.language_models.errors import ModelError
from core.ui.header import page_header
from core.ui.home import answers, contradiction, many_answers, onward
from core.ui.messages import problem


def home() -> None:
    """Draw the page: a claim, three steps, and the way on."""
    page_header(
        "Can I believe what a language model tells me?",
        "It sounds just as sure when it makes things up. **Believe finds out whether it "
        "knows**, with a simple trick: give it an answer, and see whether it keeps its own. "
        "Three steps, live, on a small model that runs on this machine.",
    )
    try:
        answers()
        contradiction()
        many_answers()
    except ModelError as error:
        problem(str(error))
    onward()


home()
