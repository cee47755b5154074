"""The rows behind a threshold: which answered ones are wrong, and each of them to be inspected."""

import streamlit as st

from core.charts.calibration import number
from core.codec import count_of
from core.studies.calibration import rows_by_doubt as study
from core.studies.calibration.calibration import Calibration
from core.studies.calibration.rows_by_doubt import RowSelection
from core.ui import downloads, frame
from core.ui.evaluation.cells import MOST_SHOWN, chosen_place
from core.ui.session import memory_of


def answers(
    calibration: Calibration, threshold: float, between: tuple[float, float] | None, key: str
) -> None:
    """Show the rows that a λ serves and withholds, by whether they are right.

    `threshold`: λ, in the unit of the doubt. `between`: the range of the scores that are shown.
    `key`: what tells these data and this score from others.
    """
    rows = memory_of(
        "rows_by_doubt", calibration, lambda: study.by_doubt(calibration, threshold), threshold
    )
    st.markdown("**Every row, by the limit**")
    parts = list(RowSelection)
    if calibration.score not in calibration.data.others:
        parts.remove(RowSelection.LABELS_DIFFER)
    part = st.pills(
        "Rows",
        parts,
        default=RowSelection.ALL,
        required=True,
        format_func=lambda each: f"{each.value} ({rows.number(each):,})",
        key="part",
        persist_state="session",
        label_visibility="collapsed",
    )
    places = rows.of(part, between)
    columns = study.table(rows, places[:MOST_SHOWN])
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
    chosen = chosen_place(
        columns,
        len(places),
        key=f"rows_{key}_{threshold:.9g}_{part.name}_{between}",
        alt=f"{count_of(len(places), 'row')}, the least doubtful first",
    )
    if len(places) > MOST_SHOWN:
        st.caption(f"Shown: the first {MOST_SHOWN:,d} rows, the least doubtful first.")
    with st.container(horizontal=True, vertical_alignment="center"):
        downloads.table(lambda: study.table(rows, places), "rows")
        if chosen is None:
            st.text("Choose a row to inspect its question.")
            return
        question = study.question(rows.data, int(places[chosen]))
        if question is None:
            st.text("This row has no question to inspect.")
        elif st.button(
            "Inspect this question", key="inspect_row", type="primary", icon=":material/search:"
        ):
            frame.inspect(question)
    _in_full(columns, chosen)


def _in_full(columns: study.Table, at: int) -> None:
    """Show the texts of one row whole, which its cells may have cut."""
    for name in ("question", "answer", "right answer"):
        if name in columns:
            st.text(f"{name.capitalize()}: {columns[name][at]}")
