"""Two saved inspections side by side: differences, verdicts, scores, answers, matrices."""

from collections.abc import Mapping
from typing import Final

import streamlit as st

from core.charts import inspection as charts
from core.language_models.errors import ModelError
from core.reports.inspection import document as reports
from core.reports.inspection.score_table import value_shown
from core.reports.inspection.words import beneath
from core.store.errors import StoreError
from core.store.results import Result
from core.studies.inspection.comparison import InspectionComparison, Setting, compare
from core.studies.inspection.inspection import Inspection
from core.studies.inspection.request import InvalidRequestError
from core.ui import downloads, figures
from core.ui.inspection.saving import id_in_history
from core.ui.inspection.verdict import quotes, reveal, serve
from core.ui.messages import problem
from core.ui.saved_result import BESIDE, SAVED, inspection_of, otherwise, why_unverified
from core.ui.storage import open_saved, storage
from core.uncertainty.scores import SCORES

MOST_OFFERED: Final = 100
WHICH: Final[Mapping[str, str]] = {
    "contribution": "Contribution",
    "joint": "Joint",
    "product": "Product",
}


def comparison(here: Inspection) -> bool:
    """Draw an inspection beside the one that the address names, and say whether it names one."""
    id = st.query_params.get(BESIDE)
    if not id:
        return False
    try:
        result = open_saved(id)
        if result.kind != "inspection":
            raise StoreError("Only two inspections can be compared. Choose another result.")
        there = inspection_of(result)
    except (StoreError, InvalidRequestError, ModelError) as error:
        problem(str(error))
        st.button("Close", key="close_beside", on_click=_leave)
        return False
    _both(here, there, result)
    return True


def offer_comparison(inspection: Inspection, id: str | None) -> None:
    """Let the person choose another saved inspection, to be put beside this one.

    `id`: of the saved one; one that was not saved is, once it is compared.
    """
    try:
        results = storage().results.search("", "inspection", limit=MOST_OFFERED).results
    except StoreError as error:
        problem(str(error))
        return
    others = {one.id: one for one in results if one.id != id}
    with st.popover("Compare with…", icon=":material/compare_arrows:"):
        if not others:
            st.text("No other inspection is saved yet.")
            return
        chosen = st.selectbox(
            "Another saved inspection",
            list(others),
            format_func=lambda one: (
                f"{others[one].title} · {others[one].model} · "
                f"{others[one].created_at:%Y-%m-%d %H:%M}"
            ),
            key=f"beside_which_{id}",  # another list for each
            width=460,  # the time tells one question from itself
        )
        of = inspection, id, chosen
        st.button("Compare", key="beside_open", type="primary", on_click=_compare, args=of)


def _compare(inspection: Inspection, id: str | None, there: str) -> None:
    if here := id or id_in_history(inspection):
        _open(here, there)


def _open(here: str, there: str) -> None:
    st.query_params[SAVED], st.query_params[BESIDE] = here, there


def _leave() -> None:
    st.query_params.pop(BESIDE, None)


def _both(here: Inspection, there: Inspection, result: Result) -> None:
    comparison = compare(here, there)
    with st.container(border=True, horizontal=True, vertical_alignment="center"):
        st.badge("Beside it", icon=":material/compare_arrows:", color="blue")
        st.text(f"{result.title}, {result.model}, {result.created_at:%Y-%m-%d %H:%M} UTC")
        st.button(
            "Swap sides",
            key="beside_swap",
            on_click=_open,
            args=(result.id, st.query_params[SAVED]),
        )
        st.button("Close the comparison", key="beside_close", on_click=_leave)
    for sentence in filter(None, [why_unverified(result), otherwise(result, there)]):
        st.text(f"On the right: {sentence}")
    _differences(comparison)
    _verdicts(here, there)
    _scores(here, there, comparison)
    for one in (here, there):
        if not quotes(one):
            reveal(one)
            return
    _answers(comparison)
    _matrices(here, there)


def _differences(comparison: InspectionComparison) -> None:
    st.header("What was set differently", anchor=False)
    if not comparison.differences:
        st.text("Nothing: both have the same question, model and settings.")
        return
    st.dataframe(
        {
            "setting": [each.name for each in comparison.differences],
            "here (left)": [_setting(each.here) for each in comparison.differences],
            "there (right)": [_setting(each.there) for each in comparison.differences],
        },
        hide_index=True,
        height="content",
        key="beside_differences",
        alt="Every setting that is not the same in both",
    )


def _setting(value: Setting) -> str:
    if value is None:
        return "–"
    return f"{value:.10g}" if isinstance(value, float) else str(value)


def _verdicts(here: Inspection, there: Inspection) -> None:
    st.header("What came of it", anchor=False)
    sides = zip(("_here", "_there"), st.columns(2, gap="large"), (here, there), strict=True)
    for side, column, one in sides:
        with column, st.container(border=True):
            st.text(f"{one.recording.model}: {one.query}")
            serve(one, side)
            for sentence in beneath(one, untaught=quotes(one)):
                st.text(sentence)


def _scores(here: Inspection, there: Inspection, comparison: InspectionComparison) -> None:
    st.header("Scores", anchor=False)
    st.dataframe(
        {
            "score": [SCORES[each.name].title for each in comparison.scores],
            "here (left)": [value_shown(here, each.name) for each in comparison.scores],
            "there (right)": [value_shown(there, each.name) for each in comparison.scores],
            "here minus there": [
                "–" if each.difference is None else f"{each.difference:+z.3f}".replace("-", "−")
                for each in comparison.scores
            ],
        },
        hide_index=True,
        height="content",
        key="beside_scores",
        alt="Every score of both, and the difference",
    )


def _answers(comparison: InspectionComparison) -> None:
    st.header("Answers", anchor=False)
    st.caption(
        "Answers that are the same stand in one row. The shares are of each model’s whole "
        "probability."
    )
    columns: dict[str, list[str] | list[float | None]] = {
        "here (left)": [_text(each.here) for each in comparison.answers],
        "there (right)": [_text(each.there) for each in comparison.answers],
        "share here": [each.mass_here for each in comparison.answers],
        "share there": [each.mass_there for each in comparison.answers],
        "here minus there": [_round(each.difference) for each in comparison.answers],
    }
    st.dataframe(
        columns,
        column_config=dict.fromkeys(
            ("share here", "share there", "here minus there"),
            st.column_config.NumberColumn(format="%.4f"),
        ),
        hide_index=True,
        placeholder="–",
        key="beside_answers",
        alt="The answers of both, the same ones in one row",
    )
    downloads.table(columns, "two_inspections")


def _round(value: float | None) -> float | None:
    """Return a number without the minus of one that is shown as 0."""
    return None if value is None else round(value, 6) + 0.0


def _text(answer: str | None) -> str:
    return "(not found)" if answer is None else charts.shown(answer)


def _matrices(here: Inspection, there: Inspection) -> None:
    st.header("The arithmetic", anchor=False)
    which = st.segmented_control(
        "Matrix",
        list(WHICH),
        format_func=WHICH.__getitem__,
        default="contribution",
        required=True,
        key="beside_matrix",
        label_visibility="collapsed",
    )
    for side, column, one in zip(
        ("here", "there"), st.columns(2, gap="large"), (here, there), strict=True
    ):
        with column:
            figures.show(reports.matrix(one, which), f"beside_matrix_{side}")
    st.caption("Each side has a colour scale of its own: compare the numbers, not the shades.")
