"""The laboratory at a glance: a card for each claim, with what became of it."""

from __future__ import annotations

from typing import Final

import streamlit as st

from core.reports.laboratory import document as reports
from core.reports.laboratory.rulings import CLAIMS, HELD, WEAK, LaboratoryClaim
from core.studies.laboratory.shipped import results_of
from core.ui import figures
from core.ui.laboratory.choice import show

ROWS: Final = (3, 2, 2)  # cards
HEIGHT: Final = 320  # pixels of a picture: the cards of a row are alike


def cards() -> None:
    """Draw every claim with the result that comes with the program."""
    left = iter(CLAIMS.items())
    for number in ROWS:
        for column in st.columns(number):
            with column.container(border=True, height="stretch"):
                _card(*next(left))


def _card(question: str, claim: LaboratoryClaim) -> None:
    finding = results_of(claim.experiment)[0]
    ruling = claim.rule(finding)
    key = f"claim_{claim.experiment}"
    with st.container(horizontal=True, vertical_alignment="center"):
        with st.container(key=f"claim_question_{claim.experiment}"):
            st.text(question)
        if ruling.word == HELD:
            st.badge("Held", icon=":material/check:", color="green")
        elif ruling.word == WEAK:
            st.badge("Held weakly", icon=":material/remove:", color="gray")
        else:
            st.badge("Did not hold", icon=":material/close:", color="red")
    st.text(claim.text)
    with st.container(key=f"claim_number_{claim.experiment}"):
        st.text(ruling.number)
    st.text(ruling.meaning)
    figures.show(reports.pictures(finding)[claim.picture], key, height=HEIGHT)
    st.button("Look closer", key=f"{key}_open", on_click=show, args=(claim.experiment,))
