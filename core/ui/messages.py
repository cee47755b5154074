"""Messages whose text may come from a model, an upload or a back end.

Streamlit's coloured boxes read Markdown, in which ``$5 and $6`` becomes mathematics and an
image is fetched from wherever it points. Only constants go into the box; the rest is plain.
"""

from collections import OrderedDict
from typing import Final

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

_LATER: Final = "problem_later"  # in the state of a session
#: What is said to sessions by others than their pages, and to how many at once: some never return.
_NEWS: Final[OrderedDict[str, str]] = OrderedDict()
_MOST: Final = 1_000


def problem(text: str) -> None:
    """Say what went wrong, in plain text."""
    with st.container(border=True, horizontal=True):
        st.badge("Problem", icon=":material/error:", color="red")
        st.text(text)


def later(text: str) -> None:
    """Say what went wrong when the page is drawn next: what is called before that cannot."""
    st.session_state[_LATER] = text


def tell(session: str, text: str) -> None:
    """Say to a session what went wrong, in any thread; its page says it when it is drawn next."""
    _NEWS[session] = text
    while len(_NEWS) > _MOST:
        _NEWS.popitem(last=False)


def say_later() -> None:
    """Say what is waiting to be said."""
    context = get_script_run_ctx(suppress_warning=True)
    news = _NEWS.pop(context.session_id, None) if context else None
    for text in (st.session_state.pop(_LATER, None), news):
        if text:
            problem(text)
