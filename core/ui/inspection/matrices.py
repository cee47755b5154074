"""The arithmetic behind the score: joint, product and contribution, cell by cell."""

from __future__ import annotations

import streamlit as st

from core.charts import inspection as charts
from core.studies.inspection.inspection import Inspection
from core.ui import downloads
from core.ui.components import matrices as component


def matrices(inspection: Inspection) -> None:
    """Draw the matrices side by side, with the chosen cell in full, and list their entries."""
    st.markdown(
        "Rows are the answer **in the prompt**, columns the model’s **next** answer. Where the "
        "joint differs from the product, the second answer depends on the first; what all "
        "differences contribute adds up to the mutual information. Choose a cell to see the prompt "
        "behind it."
    )
    if note := charts.matrix_note(inspection):
        st.text(note)
    component.matrices(inspection, key="matrices")
    names = [charts.shown(c.text) for c in inspection.clusters]
    information, m = inspection.evidence.mutual_information, len(names)
    columns: dict[str, list[str] | list[float]] = {
        "answer in the prompt": [name for name in names for _ in range(m)],
        "next answer": names * m,
        "joint": information.joint.ravel().tolist(),
        "product": information.product.ravel().tolist(),
        "contribution (nats)": information.contributions.ravel().tolist(),
    }
    st.dataframe(
        columns,
        column_config={
            name: st.column_config.NumberColumn(format="%.5f")
            for name in ("joint", "product", "contribution (nats)")
        },
        hide_index=True,
        key="matrix_table",
        alt="Every pair of answers with its joint, its product and its contribution",
    )
    downloads.table(columns, "matrix")
