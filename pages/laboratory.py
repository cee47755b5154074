"""Laboratory: the paper's claims tried where the truth is known."""

from core.ui.header import page_header
from core.ui.laboratory.bench import bench
from core.ui.laboratory.cards import cards
from core.ui.laboratory.choice import choice


def page() -> None:
    """Draw the page: the claims, or the experiment that tries the chosen one."""
    page_header("Do the claims hold?", decides=False)
    if (experiment := choice()) is None:
        cards()
    else:
        bench(experiment.name)


page()
