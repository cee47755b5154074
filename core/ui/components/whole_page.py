"""What every page does in the browser and does not show: each of `SCRIPTS` says why.

Streamlit has no setting for any of it.
"""

from pathlib import Path
from typing import Final

import streamlit as st

SCRIPTS: Final = ("browser_history", "connection", "toolbars", "colours")  # `NAME.js` beside this
_mounted = {
    name: st.components.v2.component(
        f"believe_{name}", js=Path(__file__).with_name(f"{name}.js").read_text(encoding="utf-8")
    )
    for name in SCRIPTS
}


def run() -> None:
    """Run the scripts; those that run already go on."""
    for name, mount in _mounted.items():
        mount(key=name, on_changed_change=_nothing)


def _nothing() -> None:
    """Streamlit wants a callback for every name that a component may send."""
