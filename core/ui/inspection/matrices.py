"""The arithmetic of the score: clusters, joint, product and contribution, cell by cell."""

from typing import Final

import streamlit as st

from core.charts import matrices as charts
from core.studies.inspection.inspection import Inspection
from core.ui.components import matrices as component
from core.ui.glossary import TERMS

MOST_IN_SIGHT: Final = 8  # clusters, with cells large enough for a finger


def matrices(inspection: Inspection) -> None:
    """Draw the likeliest clusters beside the matrices; nothing where there is one answer."""
    if len(inspection.clusters) == 1:
        return
    value = inspection.evidence.mutual_information.value
    st.header(
        f"Mutual information (M.I.): {value:z.3f} nats",
        anchor=False,
        help=TERMS["Mutual information"],
    )
    st.caption(
        "Row: what it was told; column: what it says next, “anything else” left out. Where joint "
        "and product differ, it followed. Sums are of exact cells. Choose a cell for its prompt."
    )
    component.matrices(inspection, MOST_IN_SIGHT, key="matrices")
    if note := charts.matrix_note(inspection, MOST_IN_SIGHT):
        st.text(note)


def columns(inspection: Inspection) -> dict[str, list[str] | list[float]]:
    """Return every pair of answers with its entries in the matrices, by heading."""
    names = [charts.shown(c.text) for c in inspection.clusters]
    information, m = inspection.evidence.mutual_information, len(names)
    return {
        "answer in the prompt": [name for name in names for _ in range(m)],
        "next answer": names * m,
        "joint": information.joint.ravel().tolist(),
        "product": information.product.ravel().tolist(),
        "contribution (nats)": information.contributions.ravel().tolist(),
    }


def pairs(inspection: Inspection) -> None:
    """List every pair of answers; draw them here if not all are drawn above."""
    if not 1 < len(inspection.clusters) <= MOST_IN_SIGHT:
        component.matrices(inspection, charts.MOST_CLUSTERS, small=True, key="all_matrices")
        if note := charts.matrix_note(inspection):
            st.text(note)
    st.dataframe(
        columns(inspection),
        column_config={
            name: st.column_config.NumberColumn(format="%.5f")
            for name in ("joint", "product", "contribution (nats)")
        },
        hide_index=True,
        key="matrix_table",
        alt="Every pair of answers with its joint, its product and its contribution",
    )
