"""What every page does in the browser and does not show: each of `SCRIPTS` says why.

Streamlit has no setting for any of it.
"""

from typing import Final

from core.ui.components.registration import nothing, script

SCRIPTS: Final = ("browser_history", "connection", "toolbars", "colours")  # `NAME.js` beside this
_mounted = {name: script(name) for name in SCRIPTS}


def run() -> None:
    """Run the scripts; those that run already go on."""
    for name, mount in _mounted.items():
        mount(key=name, on_changed_change=nothing)
