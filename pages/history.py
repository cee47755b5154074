"""History: every inspection, curve and policy that was kept, to be opened again."""

from core.ui.header import page_header
from core.ui.history import bring, list_results


def history() -> None:
    """Draw the page: a search, the list, and what can be done with the chosen one."""
    page_header(
        "What was asked before?",
        "**Saved results, as they were then.** Opening one calls no model.",
    )
    list_results()
    bring()


history()
