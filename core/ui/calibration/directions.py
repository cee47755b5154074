"""Which columns are scores, and what a larger number means: the page asks, the person answers."""

from __future__ import annotations

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.codec import list_of, one_line
from core.data.tabular.directions import UnknownDirectionError, check_directions
from core.data.tabular.labelled import Columns, Labelled
from core.reports.calibration.words import contradiction
from core.ui.glossary import TERMS
from core.ui.messages import notice, problem
from core.ui.runs.large import SMALL, result_of

MEANS = {True: "a surer answer", False: "more doubt"}
BEFORE = (
    "Say what larger means before you see the result: the labels must not decide it, because they "
    "certify the result."
)


def directions(
    guess: Columns, numbers: list[str], key: str, place: DeltaGenerator
) -> dict[str, bool]:
    """Let the person choose the scores by what a larger number means.

    Parameters
    ----------
    numbers : list of str
        The columns that can be scores.
    key : str
        Tells the widgets of one file from those of another.
    place : DeltaGenerator
        Where the answer is repeated, or asked for.

    Returns
    -------
    dict of str to bool
        Whether larger means surer, by score in the order of the file; empty until it is said.
    """
    surer, doubtful = (_pointing(way, numbers, guess, key) for way in (True, False))
    with place:
        if both := [name for name in surer if name in doubtful]:
            problem(
                f"Both lists of scores have {_quote(both)}. Larger can mean only one of the two; "
                "keep a score in one list only."
            )
            return {}
        if not surer and not doubtful:
            _ask(guess, numbers)
        elif named := [(names, way) for names, way in ((surer, True), (doubtful, False)) if names]:
            st.text(
                "\n".join(f"Larger means {MEANS[way]}: {_quote(names)}." for names, way in named)
            )
    return {name: name in surer for name in numbers if name in surer or name in doubtful}


def _pointing(surer: bool, numbers: list[str], guess: Columns, key: str) -> list[str]:
    """Let the person choose the scores that point one way, beginning with what headings say."""
    return st.multiselect(
        f"Scores where larger means {MEANS[surer]}",
        numbers,
        [score.column for score in guess.scores if score.larger_is_surer is surer],
        key=f"{'surer' if surer else 'doubtful'}_{key}",
        persist_state="session",
        help=f"{TERMS['Score']} {BEFORE}",
    )


def _ask(guess: Columns, numbers: list[str]) -> None:
    """Ask for scores; where the file seems to have some, for the direction of those."""
    try:
        check_directions([(score.column, score.larger_is_surer) for score in guess.scores])
    except UnknownDirectionError as error:
        with st.container(border=True, key="direction"):
            st.badge("Your answer is needed", icon=":material/help:", color="orange")
            st.text(f"{error} Choose it in one of the two lists under “What the columns mean”.")
        return
    problem(
        "Choose at least one score column under “What the columns mean”. These have numbers: "
        f"{_quote(numbers)}."
        if numbers
        else "No column of this file contains numbers, so none can be a score. Upload a file "
        "with a score for every answer."
    )


def _quote(names: list[str]) -> str:
    return list_of([f"“{one_line(name)}”" for name in names])


def contradictions(data: Labelled) -> None:
    """Say so where the labels speak against the direction of a score."""
    large = len(data.kept) * len(data.doubts) > SMALL
    if against := result_of("against", data, lambda _: contradiction(data), large=large):
        notice(against)
