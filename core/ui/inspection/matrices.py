"""The three matrices side by side, and whatever cell of them a person chooses."""

from __future__ import annotations

import streamlit as st

from core.charts import inspection as charts
from core.studies.inspection.inspection import Inspection
from core.ui import downloads, figures
from core.ui.glossary import TERMS

_NAMES = "inspection_cluster_names"


def matrices(inspection: Inspection) -> None:
    """Joint, product and contribution side by side, and the chosen cell in full."""
    st.subheader("Joint, product, and contribution of each pair", help=TERMS["Joint distribution"])
    st.markdown(
        "Rows are the answer **in the prompt**, columns the model’s **next** answer. Where the "
        "joint differs from the product, the second answer depends on the first. Choose a cell "
        "to see the prompt behind it."
    )
    names = [charts.shown(c.text) for c in inspection.clusters]
    if note := charts.matrix_note(inspection):
        st.text(note)
    for column, which in zip(st.columns(3), charts.MATRICES, strict=True):
        with column:
            figures.draw(
                charts.matrix,
                inspection,
                which,
                key=f"matrix_{which}",
                alt_text=charts.matrix_alt(inspection, which),
                on_select=_choose_cell,
            )
    _cell(inspection, names)
    with st.expander("The same as a table"):
        information = inspection.evidence.mutual_information
        m = len(names)
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
        )
        downloads.table(columns, "matrix")


def _choose_cell() -> None:
    """Take over the cell that was clicked last, in whichever of the three matrices."""
    for which in charts.MATRICES:
        chosen = st.session_state[f"matrix_{which}"].selection.cell
        if chosen and chosen != st.session_state.get(f"seen_{which}"):
            st.session_state[f"seen_{which}"] = chosen
            names = st.session_state[_NAMES]
            st.session_state["first"] = names[int(chosen[0]["row"])]
            st.session_state["second"] = names[int(chosen[0]["column"])]


def _cell(inspection: Inspection, names: list[str]) -> None:
    """Show one entry: both probabilities, its term, the exact prompt, the likelihoods."""
    # A choice outlives the clusters it was made in; where nobody chose, the likeliest is shown.
    untouched = st.session_state.get(_NAMES, names)[0]
    st.session_state[_NAMES] = names
    for key in ("first", "second"):
        if st.session_state.get(key, untouched) == untouched or st.session_state[key] not in names:
            st.session_state[key] = names[0]
    with st.container(border=True, key="cell"):
        left, right = st.columns(2)
        first = left.selectbox("First answer, in the prompt", names, key="first")
        second = right.selectbox("Second answer", names, key="second")
        cell = inspection.cell(names.index(first), names.index(second))
        with st.container(horizontal=True):
            st.metric("Joint", f"{cell.joint:.4f}", help="μ̂(first, second), a probability")
            st.metric("Product", f"{cell.product:.4f}", help="μ̂⊗(first, second), a probability")
            st.metric(
                "Contribution",
                f"{cell.contribution:+.4f} nats",
                help="joint · ln((joint + γ₁) / (product + γ₂)); the sum over all cells is M.I., "
                "before any adjustment for chance",
            )
        st.caption("The exact prompt of this row")
        st.code(cell.prompt, language=None, wrap_lines=True)
        st.caption("Under this prompt, the texts in this column")
        st.dataframe(
            {
                "text": [charts.shown(text) for text, _ in cell.log_likelihoods],
                inspection.likelihoods_are: [value for _, value in cell.log_likelihoods],
            },
            hide_index=True,
            key="cell_table",
        )
