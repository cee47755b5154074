"""The laboratory at a glance: a card for each claim, with what became of it."""

from typing import Any, Final

import streamlit as st

from core.reports.laboratory.catalogue import QUESTION_OF
from core.reports.laboratory.rulings import BROKEN, CLAIMS, HELD, WEAK, Ruling, picture_of
from core.studies.laboratory.bundled import results_of
from core.ui import figures
from core.ui.laboratory.choice import show

#: Each word with its icon and its colour, the worst first.
LOOKS: Final[dict[str, tuple[str, str, Any]]] = {
    BROKEN: (BROKEN, ":material/close:", "red"),
    WEAK: (WEAK, ":material/remove:", "gray"),
    HELD: (HELD, ":material/check:", "blue"),
}


def cards() -> None:
    """Say how many claims held, and draw each with the result that comes with the program."""
    rulings = {name: claim.rule(results_of(name)[0]) for name, claim in CLAIMS.items()}
    words = [ruling.word for ruling in rulings.values()]
    held, weak, broken = map(words.count, (HELD, WEAK, BROKEN))
    with st.container(key="laboratory_sentence_of_all"):
        st.header(
            f"{len(words):d} claims, tried where the truth is known: yes for {held:d}, in part for "
            f"{weak:d}, no for {broken:d}.",
            anchor=False,
        )
    # What failed is seen first, and in full width.
    with st.container(key="claim_cards"):
        for name in sorted(CLAIMS, key=lambda each: [*LOOKS].index(rulings[each].word)):
            with st.container(border=True, height="stretch"):
                _card(name, rulings[name])


def _card(name: str, ruling: Ruling) -> None:
    with st.container(key=f"claim_words_{name}"):
        with st.container(key=f"claim_text_{name}"):
            st.subheader(QUESTION_OF[name], anchor=False)
        with st.container(key=f"claim_number_{name}", horizontal=True, vertical_alignment="center"):
            word, icon, color = LOOKS[ruling.word]
            st.badge(word, icon=icon, color=color)
            st.text(ruling.number)
        st.text(ruling.meaning)
    picture = picture_of(results_of(name)[0])
    figures.show(picture, f"claim_{name}", height=CLAIMS[name].height)
    with st.container(key=f"claim_end_{name}"):
        st.text(ruling.follows)
        st.button(
            "Look closer",
            key=f"claim_{name}_open",
            type="tertiary",
            icon=":material/arrow_forward:",
            icon_position="right",
            on_click=show,
            args=(name,),
        )
