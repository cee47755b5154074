"""Options that say which column of a file of questions means what."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

import click

COLUMNS: Final[Mapping[str, str]] = {
    "question": "The column of questions.",
    "answers": "The column of right answers.",
    "group": "The column of groups, such as source or topic; empty for none.",
    "separator": "What separates several right answers in a cell; empty for nothing.",
}


def columns(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options; what none of them says, headings and cells do."""
    for name, about in reversed([*COLUMNS.items()]):
        command = click.option(f"--{name}", help=about, metavar="TEXT")(command)
    return command
