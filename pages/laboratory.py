"""Laboratory: the paper's claims tried where the truth is known."""

from core.ui.header import page_header
from core.ui.laboratory.bench import bench
from core.ui.laboratory.choice import choice


def page() -> None:
    """Draw the page: the questions, and the experiment that answers the chosen one."""
    page_header(
        "Is the number right?",
        "Every claim of the paper, tried where the truth is known: **on distributions whose mutual "
        "information can be computed, and on a model whose world we made.**",
    )
    bench(choice().name)


page()
