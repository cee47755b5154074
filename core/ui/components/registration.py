"""How a component of our own is made known to Streamlit.

A component is a script and a style sheet of its name in this folder, each behind what all of them
have in common and what some of them share. All text is data, which the scripts set as text. Where a
component cannot load, what native Streamlit shows beside it says the same.
"""

from collections.abc import Callable, Container
from pathlib import Path
from typing import Any

import streamlit as st

_HERE = Path(__file__).parent


def register(name: str, *shared: str) -> Callable[..., Any]:
    """Return a component, which is drawn by calling it with `data` and a `key`.

    `*shared`: names of the files that it shares with others.
    """

    def source(ending: str) -> str:
        files = (_HERE / f"{part}.{ending}" for part in ("common", *shared, name))
        return "\n".join(file.read_text(encoding="utf-8") for file in files)

    component = st.components.v2.component(
        f"believe_{name}", html='<div class="root"></div>', css=source("css"), js=source("js")
    )

    def draw(*, data: dict[str, Any], **rest: Any) -> Any:
        # In a list: Streamlit looks for tables in every entry of a dictionary, and loads pandas
        # and Arrow for that, before Home is there.
        return component(data=[data], **rest)

    return draw


def script(name: str) -> Callable[..., Any]:
    """Return a component that is a script alone, and draws nothing."""
    text = (_HERE / f"{name}.js").read_text(encoding="utf-8")
    component: Callable[..., Any] = st.components.v2.component(f"believe_{name}", js=text)
    return component


def one_of(value: Any, numbers: Container[int]) -> int | None:
    """Return what a component sends if it is one of these: a stranger's browser sends anything."""
    return value if type(value) is int and value in numbers else None


def nothing() -> None:
    """Do nothing: Streamlit wants a callback for every name that a component may send."""
