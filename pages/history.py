"""History: every inspection, curve and policy that was kept, to be opened again exactly."""

from core.ui.header import page_header
from core.ui.history import bring, chosen, compared, listed


def history() -> None:
    """Draw the page: a search, the list, and what can be done with the chosen one."""
    page_header(
        "History",
        "Earlier questions and calculations, newest first. Opening one calls no model: it "
        "appears exactly as it was saved.",
    )
    bring()
    results = listed()
    if len(results) == 1:
        chosen(results[0])
    elif results:
        compared(results)


history()
