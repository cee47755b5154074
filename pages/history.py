"""History: every inspection, curve and policy that was kept, to be opened again exactly."""

from core.ui.header import page_header
from core.ui.history import bring, choice, compare, list_results


def history() -> None:
    """Draw the page: a search, the list, and what can be done with the chosen one."""
    page_header(
        "History",
        "Earlier questions and calculations, newest first. Opening one calls no model: it "
        "appears exactly as it was saved.",
    )
    bring()
    results = list_results()
    if len(results) == 1:
        choice(results[0])
    elif results:
        compare(results)


history()
