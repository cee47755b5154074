"""Which columns are scores, and what a larger number means: the page asks, the person answers."""

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.codec import one_line, quotes
from core.data.tabular.directions import UnknownDirectionError, check_directions
from core.data.tabular.labelled_rows import Columns, LabelledRows
from core.data.tabular.missing_columns import why_no_score
from core.data.tabular.uploads import Upload
from core.reports.calibration.words import contradiction
from core.studies.calibration import diagnostics
from core.ui.calibration.open_questions import turned_key
from core.ui.glossary import TERMS
from core.ui.messages import problem
from core.ui.runs.large import SMALL, result_of
from core.ui.session import memory_of

MEANS = {True: "a surer answer", False: "more doubt"}
BEFORE = (
    "Say what larger means before you see the result: the labels must not decide it, because they "
    "certify the result."
)
MOST_BUTTONS = 3  # scores that have their two buttons; of more, the two lists have room


def directions(
    upload: Upload, guess: Columns, numbers: list[str], key: str, place: DeltaGenerator
) -> dict[str, bool]:
    """Let the person choose the scores by what a larger number means.

    Return whether larger means surer, by score in the order of the file; empty until it is said.
    The columns of `numbers` can be scores; at `place` the answer is repeated, or asked for; `key`
    tells the widgets of one file from those of another.
    """
    surer, doubtful = (_pointing(way, numbers, guess, key) for way in (True, False))
    with place:
        if both := [name for name in surer if name in doubtful]:
            problem(
                f"Both lists of scores have {quotes(both)}. Larger can mean only one of the two; "
                "keep a score in one list only."
            )
            return {}
        if not surer and not doubtful:
            _ask(upload, guess, numbers, key)
        elif named := [(names, way) for names, way in ((surer, True), (doubtful, False)) if names]:
            st.text(
                "\n".join(f"Larger means {MEANS[way]}: {quotes(names)}." for names, way in named)
            )
    return {name: name in surer for name in numbers if name in surer or name in doubtful}


def _pointing(surer: bool, numbers: list[str], guess: Columns, key: str) -> list[str]:
    """Let the person choose the scores that point one way, beginning with what headings say."""
    return st.multiselect(
        f"Scores where larger means {MEANS[surer]}",
        numbers,
        [score.column for score in guess.scores if score.larger_is_surer is surer],
        key=_list_key(surer, key),
        persist_state="session",
        help=f"{TERMS['Score']} {BEFORE}",
    )


def _list_key(surer: bool, key: str) -> str:
    return f"{'surer' if surer else 'doubtful'}_{key}"


def _ask(upload: Upload, guess: Columns, numbers: list[str], key: str) -> None:
    """Ask for scores; where the file seems to have some, for the direction of those."""
    try:
        check_directions([(score.column, score.larger_is_surer) for score in guess.scores])
    except UnknownDirectionError as error:
        with st.container(border=True, key="direction"):
            st.badge("Your answer is needed", icon=":material/help:", color="orange")
            names = [score.column for score in guess.scores if score.column in numbers]
            st.text(str(error))
            for number, name in enumerate(names[:MOST_BUTTONS]):
                _two_readings(name, number, key, alone=len(names) == 1)
            if len(names) > 1:
                st.text("To use several, choose them in the lists under “What the columns mean”.")
        return
    mend = (
        "Choose at least one score column under “What the columns mean”. These have numbers: "
        f"{quotes(numbers)}."
        if numbers
        else "No column of this file contains numbers, so none can be a score. Upload a file "
        "with a score for every answer."
    )
    if guess.scores:
        why = f"{quotes([score.column for score in guess.scores])} may be scores; no list has any."
    else:
        why = memory_of("no_score", upload, lambda: why_no_score(upload))
    problem(f"{why} {mend}")


def _two_readings(name: str, number: int, key: str, *, alone: bool) -> None:
    """Let the person say with one click which way a score points; its name is hostile text."""
    with st.container(horizontal=True, vertical_alignment="center"):
        if not alone:
            st.text(f"“{one_line(name)}”:")
        for surer in (True, False):
            st.button(
                f"Larger means {MEANS[surer]}",
                key=f"direction_{number}_{surer}",
                on_click=_point,
                args=(name, surer, key),
            )


def _point(name: str, surer: bool, key: str) -> None:
    """Put a score into one list, and out of the other."""
    for way in (True, False):
        names = st.session_state.get(_list_key(way, key), [])
        others = [each for each in names if each != name]
        st.session_state[_list_key(way, key)] = [*others, name] if way is surer else others


def contradictions(data: LabelledRows) -> None:
    """Say so where the labels speak against the direction of a score, and offer both readings.

    The labels come first: they are what was read, and a direction turned after a look at them has
    no promise on these rows.
    """
    large = len(data.kept) * len(data.doubts) > SMALL
    against = result_of("against", data, lambda _: diagnostics.contradictions(data), large=large)
    if not against:
        return
    key = data.sha256[:16]
    with st.container(border=True, key="contradiction"):
        st.text(contradiction(against))
        labels = {data.codebooks[name].label for name in against if name in data.codebooks}
        turned = turned_key(key, labels.pop()) if len(labels) == 1 else ""
        with st.container(horizontal=True):
            if turned in st.session_state:
                st.button(
                    "The labels are the other way around",
                    key="turn_labels",
                    type="primary",
                    on_click=st.session_state.update,
                    args=({turned: not st.session_state[turned]},),
                )
            if _list_key(True, key) in st.session_state:
                st.button(
                    "A larger score means the opposite",
                    key="turn_direction",
                    on_click=_turn_directions,
                    args=({name: not data.surer[name] for name in against}, key),
                )


def _turn_directions(ways: dict[str, bool], key: str) -> None:
    for name, surer in ways.items():
        _point(name, surer, key)
