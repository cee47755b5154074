"""Home: the idea as one experiment, for somebody who has never heard of entropy."""

from core.language_models.errors import ModelError
from core.ui.header import page_header
from core.ui.home import experiment, onward, the_challenge
from core.ui.messages import problem


def home() -> None:
    """Draw the page: a question, the experiment, the challenge, and the ways on."""
    page_header(
        "Does it know, or is it just saying so?",
        "Tell our model another answer: **the further its own give way, the more it doubts.**",
    )
    try:
        experiment()
        the_challenge()
    except ModelError as error:
        problem(str(error))
    onward()


home()
