"""Amplification: what repeating an answer does to a model, and why."""

from functools import partial

import streamlit as st

from core.charts.amplification import curves as charts
from core.charts.amplification.curves import SCALES
from core.language_models.errors import ModelError
from core.studies.amplification import curve as study
from core.studies.amplification import serialise
from core.studies.amplification.curve import Amplification, Case
from core.studies.inspection.request import InvalidRequestError
from core.ui import figures, history
from core.ui.amplification import form
from core.ui.amplification.curves import curves, used
from core.ui.amplification.gallery import paper, world
from core.ui.amplification.mechanism import mechanism
from core.ui.glossary import TERMS
from core.ui.header import tools
from core.ui.messages import problem
from core.ui.model import asked
from core.ui.results import save


def page() -> None:
    """Draw the page: one curve typed by hand, two galleries, and the mechanism."""
    st.title("What does repeating an answer do?")
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(
            "Tell the model an answer over and over, then ask. **What it knows stays, however "
            "often it hears otherwise; what it half knows turns at once; of many right answers "
            "each keeps a share.** This is the effect that mutual information measures.",
            width="stretch",
        )
        tools()
    if result := history.opened("amplification"):
        kept_curves(result.payload)
        return
    curve, published, by_band, why = st.tabs(
        ["Your question", "The paper’s questions", "The embedded world", "The mechanism"],
        key="tab",
        bind="query-params",
    )
    for tab, draw in (
        (curve, your_question),
        (published, paper),
        (by_band, world),
        (why, mechanism),
    ):
        if tab.open:
            with tab:
                try:
                    draw()
                except ModelError as error:
                    problem(str(error))


# ------------------------------------------------------------------------ your question


def your_question() -> None:
    """From a typed case to its curve, beside those that were kept."""
    case = form.ask()
    left, right = st.columns([1, 3], vertical_alignment="bottom")
    with left:
        most = form.most_repetitions()
    with right:
        scale = st.segmented_control(
            "Axis of repetitions",
            SCALES,
            default="log",
            key="scale",
            required=True,
            bind="query-params",
            persist_state="session",
        )
    wanted = [*([case] if case else []), *(c for c in form.kept() if c != case)]
    if not wanted:
        return
    try:
        model = asked()
        found = curves(wanted, model, study.grid(model, most), key="own")
    except InvalidRequestError as error:
        problem(str(error))
        return
    if found is None:
        return
    for one, said in zip(wanted, found, strict=True):
        if isinstance(said, str):
            problem(f"{one.query} {said}")
    drawn = [one for one in found if isinstance(one, Amplification)]
    if not drawn:
        return
    if case and drawn[0].case == case:
        with st.container(border=True, key="verdict"):
            st.text(drawn[0].verdict)
        keep(drawn)
    used(drawn)
    pictures(drawn, scale)
    listed(drawn, case)
    prompt(drawn, most)
    details(drawn, scale)


def keep(drawn: list[Amplification]) -> None:
    """Keep curves that somebody asked for, in History."""
    paid = any(curve.used is not None for curve in drawn)
    if paid or "query" in st.query_params or "answer" in st.query_params:
        first = drawn[0]
        save(
            "amplification",
            first.case.query,
            first.model,
            serialise.all_to_json(drawn),
            outcome=first.verdict,
        )


def kept_curves(payload: str) -> None:
    """Draw curves as they were kept."""
    try:
        drawn = serialise.all_from_json(payload)
    except InvalidRequestError as error:
        problem(str(error))
        return
    with st.container(border=True, key="verdict"):
        st.text(drawn[0].verdict)
    used(drawn)
    pictures(drawn, "log")
    for i, one in enumerate(drawn):
        st.text(f"{i + 1}. {charts.described(one)}")
    prompt(drawn, drawn[0].points[-1].repetitions)
    details(drawn, "log")


def pictures(drawn: list[Amplification], scale: str) -> None:
    """Draw the normalised probability, and the raw ones on a logarithmic axis."""
    left, right = st.columns([3, 2], gap="large")
    with left:
        st.markdown(
            "**How much the answer keeps against the repeated one**",
            help=TERMS["Normalised conditional probability"],
        )
        figures.draw(
            charts.curves(drawn, scale, figures.palette()),
            key="curves",
            alt_text=charts.curves_alt(drawn),
        )
    with right:
        st.markdown(
            "**The probabilities themselves**",
            help="Of the answer and of the repeated one, each on its own, on a logarithmic axis.",
        )
        if any(one.points[0].log_likelihood_answer is not None for one in drawn):
            figures.draw(
                charts.probabilities(drawn, scale, figures.palette()),
                key="probabilities",
                alt_text=charts.probabilities_alt(drawn),
            )
        else:
            st.text("This model does not say how likely an answer is; its answers were counted.")


def listed(drawn: list[Amplification], case: Case | None) -> None:
    """Name every curve with its initial probabilities, and let it be kept or removed."""
    for i, one in enumerate(drawn):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.text(f"{i + 1}. {charts.described(one)}", width="stretch")
            if one.case == case:
                st.button(
                    "Keep this curve",
                    key="keep",
                    icon=":material/push_pin:",
                    on_click=form.keep,
                    args=(one.case,),
                    disabled=one.case in form.kept() or len(form.kept()) >= form.MOST_KEPT,
                    help="It stays beside the ones that you ask for next.",
                )
            else:
                st.button(
                    "Remove",
                    key=f"remove_{i}",
                    icon=":material/close:",
                    on_click=form.remove,
                    args=(one.case,),
                )


def prompt(drawn: list[Amplification], most: int) -> None:
    """Show the exact prompt of a curve at any number of repetitions."""
    names = [f"{i + 1}. {one.case.query}" for i, one in enumerate(drawn)]
    with st.popover("The exact prompt", icon=":material/article:"):
        chosen = names[0]
        if len(names) > 1:
            chosen = st.selectbox("Curve", names, key="prompt_of")
        case = drawn[names.index(chosen)].case
        st.text(case.query)
        times = st.number_input("At how many repetitions", 0, most, min(2, most), key="prompt_at")
        st.code(case.prompt(times), language=None, wrap_lines=True, height=320)


def details(drawn: list[Amplification], scale: str) -> None:
    """Offer every number as a table, and files to take along."""
    with st.expander("Every point as a table"):
        st.dataframe(serialise.to_table(drawn), hide_index=True, key="points")
    with st.container(horizontal=True):
        st.download_button(
            "Curves (CSV)",
            lambda: serialise.to_csv_bytes(drawn),
            file_name="amplification.csv",
            mime="text/csv",
            key="curves_csv",
            on_click="ignore",
        )
        st.download_button(
            "Curves (JSON)",
            lambda: serialise.all_to_json(drawn),
            file_name="amplification.json",
            mime="application/json",
            key="curves_json",
            on_click="ignore",
        )
    with st.expander("Figures as PNG and SVG"):
        palette, query = figures.palette(), drawn[0].case.query
        figures.downloads(
            "curves",
            "What an answer keeps as another is repeated",
            query,
            partial(charts.curves, drawn, scale, palette),
        )
        if any(one.points[0].log_likelihood_answer is not None for one in drawn):
            figures.downloads(
                "probabilities",
                "Probabilities of both answers",
                query,
                partial(charts.probabilities, drawn, scale, palette),
            )


page()
