"""What can I ask? The embedded model's world, to search, to click, to be surprised by."""

from dataclasses import fields

import streamlit as st

from core.studies.questions import BANDS, Entry, search, subject_areas, surprise
from core.ui import downloads, frame
from core.ui.glossary import TERMS
from core.ui.header import page_header

EVERYTHING = "everything"
COLUMNS = [field.name for field in fields(Entry)]


def questions() -> None:
    """Draw the page: surprises first, then the whole list."""
    page_header(
        "What can I ask?",
        "Anything. But the embedded model learnt only the questions below. Their right answers "
        "are known, so you can check each decision.",
    )
    surprises()
    catalogue()


def surprises() -> None:
    """One button a band, each to a question drawn at random."""
    st.header("Surprise me", anchor=False, help=TERMS["Band"])
    with st.container(horizontal=True):
        for band, about in BANDS.items():
            if st.button(band, key=f"surprise_{band}", help=about):
                frame.inspect(surprise(band).question)


def catalogue() -> None:
    """Search by words, subject and band; a click on a question inspects it."""
    st.header("Search", anchor=False)
    words, area, band = st.columns([3, 2, 2])
    text = words.text_input(
        "Words",
        key="words",
        placeholder="capital, Shakespeare, bird …",
        bind="query-params",
        persist_state="session",
        help="Searches the questions and their right answers.",
    )
    chosen_area = area.selectbox(
        "Subject",
        [EVERYTHING, *subject_areas()],
        key="subject",
        bind="query-params",
        persist_state="session",
    )
    chosen_band = band.selectbox(
        "Band",
        [EVERYTHING, *BANDS],
        key="band",
        bind="query-params",
        persist_state="session",
        help=TERMS["Band"],
    )
    facts = search(
        text or "",
        None if chosen_area == EVERYTHING else chosen_area,
        None if chosen_band == EVERYTHING else chosen_band,
    )
    if not facts:
        st.text("Nothing matches. Use fewer words, or choose “everything”.")
        return
    number = "1 question." if len(facts) == 1 else f"{len(facts):,d} questions."
    st.caption(f"{number} Click one to inspect it.")
    columns = {name: [getattr(entry, name) for entry in facts] for name in COLUMNS}
    clicked = st.dataframe(
        columns,
        column_config={
            "question": st.column_config.TextColumn("question", width="large"),
            "subject_area": "subject",
            "band": "band",
            "exposures": st.column_config.NumberColumn("times seen in training", format="%d"),
            "answers": st.column_config.NumberColumn("right answers listed", format="%d"),
        },
        # Not the question first: a click on a heading selects the first cell below it too.
        column_order=("band", "question", "subject_area", "exposures", "answers"),
        hide_index=True,
        height=520,
        on_select="rerun",
        selection_mode="single-cell",
        key="catalogue",
        alt="The questions of the embedded model’s world, with subject and band",
    )
    downloads.table(columns, "questions")
    for row, column in clicked.selection.cells:
        if column == "question":
            frame.inspect(facts[row].question)


questions()
