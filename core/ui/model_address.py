"""The model in the address of a question, so that the same address shows the same verdict.

A model that comes with the program stands there by its name, and is opened for who follows the
address. Of another only the kind stands there: a link must not make somebody's key, or somebody's
server, answer a stranger. Who follows it is told that another model answered.
"""

from typing import Final

import streamlit as st

from core.language_models.registry import BACK_ENDS
from core.ui import model_opening
from core.ui.model import EMBEDDED, is_chosen, name_in_use
from core.ui.saved_result import SAVED
from core.ui.session import PAGE

MODEL: Final = "model"  # in the address
_LAST: Final = "model_in_address"  # in the session: what stood there when the page was drawn last
_PAGES: Final = ("inspection", "amplification")  # where the model in use answers what is typed


def follow() -> None:
    """Let the model answer that the address names, once for every address that a person opens."""
    name = st.query_params.get(MODEL)
    if name is None or name == st.session_state.get(_LAST):
        return
    st.session_state[_LAST] = name
    kind = BACK_ENDS.get(name)
    if kind is None or not kind.is_bundled or name == _kind(_answering()):
        return
    if name == EMBEDDED:
        model_opening.use_embedded()
    else:
        model_opening.use(name, None, None)


def write() -> None:
    """Name the model that answers, or is being opened, in the address of what it answers."""
    if st.session_state.get(PAGE) not in _PAGES or SAVED in st.query_params:
        return
    name, present = _kind(_answering()), st.query_params.get(MODEL)
    if name == (present or EMBEDDED):
        return
    if present in BACK_ENDS and not BACK_ENDS[present].is_bundled and not is_chosen():
        with st.container(border=True, horizontal=True, vertical_alignment="center"):
            st.text(
                "This address is of a question to a model that was connected: "
                f"{BACK_ENDS[present].title}. Here the embedded model answers. Choose the other "
                "one under “Model” to see what it says.",
                width="stretch",
            )
            st.button(
                "Use the embedded model",
                key="address_embedded",
                on_click=model_opening.use_embedded,
            )
        return
    # Only where it changes: writing sends the whole address as this run knows it.
    st.session_state[_LAST] = name
    if name == EMBEDDED:
        del st.query_params[MODEL]
    else:
        st.query_params[MODEL] = name


def _answering() -> str:
    return model_opening.name_to_open() or name_in_use()


def _kind(name: str) -> str:
    return name.partition(":")[0]
