"""The rows behind a threshold: which answered ones are wrong, and each of them to be inspected."""

import streamlit as st

from core.charts.calibration import number
from core.codec import count_of
from core.studies.calibration import served as study
from core.studies.calibration.calibration import Calibration
from core.studies.calibration.served import ServedPart
from core.ui import downloads, frame
from core.ui.evaluation.cells import display
from core.ui.session import memory_of

MOST_SHOWN = 1000  # rows


def answers(
    calibration: Calibration, threshold: float, between: tuple[float, float] | None, key: str
) -> None:
    """Show the rows that a λ serves and withholds, by whether they are right.

    Parameters
    ----------
    threshold : float
        λ, in the unit of the doubt.
    between : tuple of float, optional
        Only rows whose score lies in this range.
    key : str
        What tells these data and this score from others.
    """
    served = memory_of(
        "served", calibration, lambda: study.serve(calibration, threshold), threshold
    )
    st.markdown("**Rows behind the threshold**")
    part = st.pills(
        "Rows",
        [
            each
            for each in ServedPart
            if each is not ServedPart.LABELS_DIFFER or calibration.score in calibration.data.others
        ],
        default=ServedPart.ALL,
        required=True,
        format_func=lambda each: f"{each.value} ({served.number(each):,})",
        key="part",
        persist_state="session",
        label_visibility="collapsed",
    )
    places = served.of(part, between)
    columns = study.table(served, places[:MOST_SHOWN])
    if between:
        low, high = between
        st.text(
            f"Only scores from {number(low)} to {number(high)}, as selected in the histogram: "
            f"{len(places):,} {'row' if len(places) == 1 else 'rows'}. Click there to see all."
        )
    if not len(places):
        st.text(
            "No such row lies in the selected range. Click in the histogram to see all."
            if between
            else "There is no such row."
        )
        return
    picked = st.dataframe(
        {name: [display(cell) for cell in cells] for name, cells in columns.items()},
        hide_index=True,
        on_select="rerun",
        selection_mode="single-row",
        # Another table for other rows: in the same one, another row would be the chosen one.
        key=f"rows_{key}_{threshold:.9g}_{part.name}_{between}",
        alt=f"{count_of(len(places), 'row')}, the least doubtful first",
    )
    if len(places) > MOST_SHOWN:
        st.caption(f"Shown: the first {MOST_SHOWN:,d} rows, the least doubtful first.")
    chosen = picked.selection.rows
    with st.container(horizontal=True, vertical_alignment="center"):
        downloads.table(lambda: study.table(served, places), "rows")
        if not chosen or chosen[0] >= len(places):
            st.text("Choose a row to inspect its question.")
            return
        question = study.question(served.data, int(places[chosen[0]]))
        if question is None:
            st.text("This row has no question to inspect.")
        elif st.button(
            "Inspect this question", key="inspect_row", type="primary", icon=":material/search:"
        ):
            frame.inspect(question)
    _in_full(columns, chosen[0])


def _in_full(columns: study.Table, at: int) -> None:
    """Show the texts of one row whole, which its cells may have cut."""
    for name in ("question", "answer", "right answer"):
        if name in columns:
            st.text(f"{name.capitalize()}: {columns[name][at]}")
