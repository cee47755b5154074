"""Curves on the page: the pictures, the list, the prompt behind them, and files to take along."""

from functools import partial

import streamlit as st

from core.codec import isolate
from core.reports.amplification import document
from core.reports.amplification.words import (
    PROBABILITIES,
    RULE,
    SHARES,
    course,
    meaning,
    remarks,
    to_json,
    truth,
    verdict,
)
from core.reports.inspection.truth import AFTERWARDS
from core.store.results import Result
from core.studies.amplification import serialise
from core.studies.amplification.curve import Amplification, Case
from core.studies.amplification.fate import last_fate
from core.ui import downloads, figures, frame
from core.ui.amplification import form
from core.ui.folds import fold
from core.ui.glossary import TERMS
from core.ui.model import name_in_use

HEADINGS = ("question", "answer to test", "repeated answer")


def answer(curve: Amplification) -> None:
    """Say what repeating did, and first what that means for the model."""
    with st.container(border=True, key="verdict"):
        if words := meaning(curve):
            with st.container(key="finding"):
                st.text(words)
        st.text(verdict(curve))
        if words := truth(curve):
            with st.container(key="truth", gap="xsmall"):
                st.text(AFTERWARDS)
                st.text(words)


def title() -> None:
    """Say what the curves are of."""
    st.markdown(f"**{SHARES}**", help=f"{TERMS['Normalised conditional probability']} {RULE}")


def pictures(amplifications: list[Amplification], scale: str) -> None:
    """Draw the curves."""
    figures.show(document.pictures(amplifications, scale)[0], "curves")
    for remark in remarks(amplifications):
        st.text(remark)


def list_curves(
    amplifications: list[Amplification], case: Case | None = None, *, saved: bool = False
) -> None:
    """Name every curve in a row: its question, its answer and the repeated one.

    `saved`: of a saved result, of which nothing is kept or removed.
    """
    with st.container(key="curve_rows", gap=None):
        with st.container(key="curve_head"):
            for heading in HEADINGS:
                st.caption(heading)
            st.caption(f"0 → {max(one.points[-1].repetitions for one in amplifications):d} ×")
        for i, one in enumerate(amplifications):
            look = last_fate(one).name.lower()
            with st.container(key=f"curve_row_{i}_{look}"):
                st.text(f"{i + 1}. {one.case.query}")
                st.text(isolate(one.case.answer))
                st.text(isolate(one.case.repeated))
                st.text(course(one))
                if not saved:
                    _change(i, one, case)


def _change(i: int, one: Amplification, case: Case | None) -> None:
    """Let the typed curve be kept, or another one removed."""
    beside = form.cases_beside(case)
    if one.case == case:
        st.button(
            "Keep this curve",
            key="keep",
            type="tertiary",
            icon=":material/push_pin:",
            on_click=form.keep,
            args=(one.case,),
            disabled=one.case in beside or len(beside) >= form.MOST_KEPT,
            help="It stays beside the next curves.",
        )
    else:
        st.button(
            "Remove",
            key=f"remove_{i}",
            type="tertiary",
            icon=":material/close:",
            on_click=form.remove,
            args=(one.case,),
        )


def _behind(amplifications: list[Amplification], most: int) -> None:
    """Show the exact prompt of a curve at any number of repetitions, and every point."""
    names = [f"{i + 1}. {one.case.query}" for i, one in enumerate(amplifications)]
    left, right = st.columns([3, 1])
    chosen = left.selectbox("Curve", names, key="prompt_of") if len(names) > 1 else names[0]
    one = amplifications[names.index(chosen)]
    times = right.number_input("At how many repetitions", 0, most, min(2, most), key="prompt_at")
    st.code(one.case.prompt(times, one.read_as), language=None, wrap_lines=True, height=320)
    st.dataframe(serialise.to_table(amplifications), hide_index=True, key="points")


def details(
    amplifications: list[Amplification], scale: str, most: int, result: Result | None = None
) -> None:
    """Fold up both probabilities of the first, the prompts and all numbers; and offer files."""
    for picture in document.pictures(amplifications, scale)[1:]:  # one, where they are known
        show = partial(figures.show, picture, "probabilities")
        fold(PROBABILITIES, show, key="both_probabilities", icon=":material/show_chart:")
    behind = "Everything behind it: prompt, points"
    fold(behind, partial(_behind, amplifications, most), key="behind", icon=":material/list:")
    with st.container(horizontal=True):
        if amplifications[0].model == name_in_use() and st.button(
            "Can I believe its answer?", key="inspect", icon=":material/search:"
        ):
            frame.inspect(amplifications[0].case.query)
        downloads.menu(partial(_files, amplifications, scale, result))


def _files(amplifications: list[Amplification], scale: str, result: Result | None) -> None:
    downloads.report(partial(document.report, amplifications, scale), "amplification", result)
    downloads.download(
        "Curves (CSV)", lambda: serialise.to_csv_bytes(amplifications), "amplification.csv"
    )
    downloads.download("Curves (JSON)", lambda: to_json(amplifications), "amplification.json")
    for i, picture in enumerate(document.pictures(amplifications, scale)):
        figures.as_files(f"curve_{i + 1}", picture, amplifications[0].case.query)
