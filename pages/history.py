"""History: every inspection, curve and policy that was kept, to be opened again exactly."""

from core.ui.header import header
from core.ui.history import chosen, listed


def history() -> None:
    """Draw the page: a search, the list, and what can be done with the chosen one."""
    header(
        "History",
        "What was asked and calculated before, newest first. Opening one asks no model: it "
        "is shown exactly as it was kept.",
    )
    found = listed()
    if found is not None:
        chosen(found)


history()
