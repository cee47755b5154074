"""The laboratory at a glance: a card for each claim, with what became of it."""

from __future__ import annotations

import streamlit as st

from core.charts.laboratory.cards import HEIGHT
from core.reports.laboratory.rulings import (
    BROKEN,
    CLAIMS,
    HELD,
    WEAK,
    LaboratoryClaim,
    Ruling,
    picture_of,
)
from core.studies.laboratory.shipped import results_of
from core.ui import figures
from core.ui.laboratory.choice import show


def cards() -> None:
    """Say how many claims held, and draw each with the result that comes with the program."""
    became = [(claim, claim.rule(results_of(claim.experiment)[0])) for claim in CLAIMS.values()]
    number = sum(ruling.word == HELD for _, ruling in became)
    with st.container(key="laboratory_sentence_of_all"):
        st.text(f"{number} of {len(became)} claims held where the truth is known.")
    # What failed is seen first, and in full width.
    with st.container(key="claim_cards"):
        for each in sorted(became, key=lambda each: (BROKEN, WEAK, HELD).index(each[1].word)):
            with st.container(border=True, height="stretch"):
                _card(*each)


def _card(claim: LaboratoryClaim, ruling: Ruling) -> None:
    key = f"claim_{claim.experiment}"
    with st.container(key=f"claim_words_{claim.experiment}"):
        if ruling.word == HELD:
            st.badge("Held", icon=":material/check:", color="green")
        elif ruling.word == WEAK:
            st.badge("Held weakly", icon=":material/remove:", color="gray")
        else:
            st.badge("Did not hold", icon=":material/close:", color="red")
        with st.container(key=f"claim_text_{claim.experiment}"):
            st.text(claim.text)
        with st.container(key=f"claim_number_{claim.experiment}"):
            st.text(ruling.number)
        st.text(ruling.meaning)
    figures.show(picture_of(claim, results_of(claim.experiment)[0]), key, height=HEIGHT)
    st.button(
        "Look closer",
        key=f"{key}_open",
        type="tertiary",
        icon=":material/arrow_forward:",
        icon_position="right",
        on_click=show,
        args=(claim.experiment,),
    )
