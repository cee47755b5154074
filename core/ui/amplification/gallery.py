"""Two galleries of curves: the paper's twelve queries, and the embedded world band by band."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from core.charts.amplification import curves as charts
from core.language_models.base import LanguageModel
from core.studies.amplification.curve import (
    DEFAULT_REPETITIONS,
    FREQUENCY_REPETITIONS,
    Amplification,
    percent,
)
from core.studies.amplification.gallery import PAPER, Published, by_band, quartiles
from core.studies.questions import BANDS
from core.ui import figures, frame
from core.ui.addresses import number
from core.ui.amplification.curves import Found, curves, used
from core.ui.messages import problem
from core.ui.model import asked, embedded

ACROSS = 4


def paper() -> None:
    """Draw the twelve queries of the paper's Figures 1 to 3, as the model here answers them."""
    st.markdown(
        "The questions of the paper’s Figures 1, 2 and 3, asked of the model in use here. "
        "Below each are its own initial probabilities and those of the paper’s large model: "
        "**a model with other knowledge flips on other questions.**"
    )
    every = [published for group in PAPER.values() for published in group]
    model = asked()
    times = DEFAULT_REPETITIONS if model.capabilities.scores_given_text else FREQUENCY_REPETITIONS
    found = curves([published.case for published in every], model, times, key="paper")
    if found is None:
        return
    used(found)
    answered = dict(zip(every, found, strict=True))
    beside = _embedded_beside(every, model, times)
    if beside:
        st.text(f"Solid: {model.name}. Dashed: the embedded model.")
    for title, group in PAPER.items():
        st.subheader(title, anchor=False)
        for column, published in zip(st.columns(ACROSS), group, strict=True):
            with column:
                _published(published, answered[published], beside.get(published))


def _embedded_beside(
    every: Sequence[Published], model: LanguageModel, times: tuple[int, ...]
) -> dict[Published, Found]:
    """Return the embedded model's curves, to compare with those of another model."""
    if model is embedded():
        return {}
    found = curves([one.case for one in every], embedded(), times, key="paper_embedded")
    return dict(zip(every, found or (), strict=False))


def _published(published: Published, found: Found, beside: Found | None) -> None:
    case = published.case
    with st.container(border=True, height="stretch"):
        st.text(case.query)
        if isinstance(found, str):
            problem(found)
            return
        figures.draw(
            charts.small,
            found,
            beside if isinstance(beside, Amplification) else None,
            key=f"paper_{case.query}",
            alt_text=charts.curves_alt([found]),
        )
        first = found.points[0]
        st.text(
            f"{case.answer} {charts.initial(first.log_likelihood_answer)}, repeated: "
            f"{case.repeated} {charts.initial(first.log_likelihood_repeated)} "
            f"(in the paper {published.answer} and {published.repeated})"
        )
        st.text(found.verdict)
        if st.button("Look closer", key=f"closer_{case.query}", icon=":material/zoom_in:"):
            st.session_state.pop("tab", None)
            frame.amplify(case.query, case.answer, case.repeated)


def world() -> None:
    """Draw questions of the embedded world by how often the model has seen them."""
    st.markdown(
        "Questions drawn from the embedded world, by how often training showed them. Each thin "
        "line is one question, the thick line is the median, and the shading shows the "
        "quartiles."
    )
    left, right, _ = st.columns([1, 1, 2], vertical_alignment="bottom")
    with left:
        count = number("each", 3, 50, 12)
    with right:
        seed = number("draw", 0, 9999, 0)
    groups = by_band(count, seed)
    cases = [case for group in groups.values() for case in group]
    found = curves(cases, embedded(), DEFAULT_REPETITIONS, key="world")
    if found is None:
        return
    by_case = dict(zip(cases, found, strict=True))
    drawn = {
        name: [one for case in group if isinstance(one := by_case[case], Amplification)]
        for name, group in groups.items()
    }
    for column, (name, several) in zip(st.columns(len(drawn)), drawn.items(), strict=True):
        with column, st.container(border=True):
            st.text(name.capitalize(), help=BANDS[name])
            if not several:
                continue
            figures.draw(
                charts.band, several, key=f"band_{name}", alt_text=charts.band_alt(name, several)
            )
            _, median, _ = quartiles(several)
            st.text(f"Median {percent(median[0])} → {percent(median[-1])}")
    table(drawn)


def table(drawn: dict[str, list[Amplification]]) -> None:
    """Give the medians as numbers, and the single questions behind them."""
    st.subheader("Median share of the answer, by repetitions", anchor=False)
    st.dataframe(
        [
            {
                "band": name,
                **{
                    str(t): share
                    for t, share in zip(
                        DEFAULT_REPETITIONS, quartiles(several)[1].tolist(), strict=True
                    )
                },
            }
            for name, several in drawn.items()
            if several
        ],
        column_config={
            str(t): st.column_config.NumberColumn(format="percent") for t in DEFAULT_REPETITIONS
        },
        hide_index=True,
        key="medians",
        alt="Median share of the answer by band and repetitions",
    )
    with st.expander("The questions"):
        st.dataframe(
            {
                "band": [name for name, several in drawn.items() for _ in several],
                "question": [a.case.query for several in drawn.values() for a in several],
                "answer": [a.case.answer for several in drawn.values() for a in several],
                "repeated": [a.case.repeated for several in drawn.values() for a in several],
                "outcome": [a.verdict for several in drawn.values() for a in several],
            },
            hide_index=True,
            key="world_cases",
        )
