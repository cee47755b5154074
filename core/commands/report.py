"""The option that writes a report beside what a command prints."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from core.commands.files import Output
from core.commands.files import write as write_file

if TYPE_CHECKING:
    from core.reports.report import Report


report_option = click.option(
    "--report",
    type=Output(),
    help="Write a report too: one HTML file with pictures, settings and versions.",
)


def write(path: Path, report: Report, *, from_file: bool = False) -> None:
    """Write a report; raise `ClickException` when the file cannot be written."""
    from core.reports.report import to_html  # Altair takes long to load
    from core.reports.result_files import FROM_FILE

    write_file(path, to_html(report, warning=FROM_FILE if from_file else ""))
