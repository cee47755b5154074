"""Options that say which column of a file of questions means what."""

from collections.abc import Mapping
from typing import Final

import click

from core.commands.files import with_options

COLUMNS: Final[Mapping[str, str]] = {
    "question": "The column of questions.",
    "answers": "The column of right answers.",
    "group": "The column of groups, such as source or topic; empty for none.",
    "separator": "What separates several right answers in a cell; empty for nothing.",
}


#: The options; what none of them says, headings and cells do.
columns = with_options(
    *(click.option(f"--{name}", help=about, metavar="TEXT") for name, about in COLUMNS.items())
)
skips = click.option(
    "--on-malformed",
    "skips",
    type=click.Choice(["refuse", "skip"]),
    default="refuse",
    callback=lambda _context, _option, value: value == "skip",
    show_default=True,
    help="Stop at a row that cannot be used, or leave it out. Either names its line.",
)
