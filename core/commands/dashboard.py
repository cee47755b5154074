"""The command that starts the dashboard where the library is installed."""

import os
import sys
from importlib.util import find_spec
from pathlib import Path

import click

from core.commands.files import FilesFirst

APP = Path(__file__).parents[2] / "app.py"


@click.command(
    cls=FilesFirst,
    context_settings={"ignore_unknown_options": True},
    help="Start the dashboard and open it in the browser. OPTIONS are those of streamlit run.",
)
@click.argument("options", nargs=-1, type=click.UNPROCESSED)
def dashboard(options: tuple[str, ...]) -> None:
    """Become Streamlit's server; it listens on localhost, as its settings beside the app say."""
    if find_spec("streamlit") is None:  # a missing package is answered with what to install
        raise ModuleNotFoundError(name="streamlit")
    os.execv(sys.executable, [sys.executable, "-m", "streamlit", "run", str(APP), *options])
