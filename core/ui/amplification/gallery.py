"""Two galleries of curves: the embedded world band by band, and the paper's twelve queries."""

from collections.abc import Mapping, Sequence
from functools import partial
from types import MappingProxyType

import streamlit as st

from core.charts.amplification.curves import Line, initial
from core.language_models.language_model import LanguageModel
from core.reports.amplification import document
from core.reports.amplification.words import RULE, medians, verdict
from core.studies.amplification import bundled, serialise
from core.studies.amplification.curve import (
    DEFAULT_REPETITIONS,
    FREQUENCY_REPETITIONS,
    Amplification,
    Case,
)
from core.studies.amplification.fate import quartiles
from core.studies.amplification.gallery import AT_FIRST, PAPER, PaperQuery, by_band
from core.studies.questions import BANDS
from core.ui import figures, frame
from core.ui.addresses import number
from core.ui.amplification.curves import CurveOrReason, curves, draw_usage
from core.ui.messages import problem
from core.ui.model import embedded_model, study_model

ACROSS = 4
Others = Mapping[Case, CurveOrReason]


# ------------------------------------------------------------------------- the world by band


def world() -> None:
    """Draw questions of the embedded world by how often the model has seen them."""
    picture = st.container()
    left, right, _ = st.columns([1, 1, 2], vertical_alignment="bottom")
    with left:
        count = number("each", 3, 50, AT_FIRST)
    with right:
        seed = number("draw", 0, 9999, 0)
    groups = by_band(count, seed)
    cases = [case for group in groups.values() for case in group]
    with picture:
        so_far = partial(_bands, groups)
        results = curves(cases, embedded_model(), DEFAULT_REPETITIONS, key="world", so_far=so_far)
        if results is None:
            return
        bands = so_far([one for one in results if isinstance(one, Amplification)])
    table(bands)


def _bands(
    groups: Mapping[str, Sequence[Case]], series: Sequence[Amplification]
) -> dict[str, list[Amplification]]:
    """Draw the medians of all bands in one picture, then every band by itself."""
    by_case = {one.case: one for one in series}
    by_band = {
        name: several
        for name, group in groups.items()
        if (several := [by_case[case] for case in group if case in by_case])
    }
    if not by_band:
        return by_band
    st.markdown(
        "**Share of the right answer while the prompt repeats another: the median, by how often "
        "training showed the question**"
    )
    figures.show(document.bands(by_band), "bands")
    st.text(
        "Below, each thin line is one question. The colours at the right edge, from the top: it "
        "stands, both are alive, it gives way."
    )
    columns = iter(st.columns(len(groups)))
    for name, several in by_band.items():
        with next(columns), st.container(border=True, height="stretch"):
            st.text(name.capitalize(), help=BANDS[name])
            figures.show(document.band(name, several), f"band_{name}")
    return by_band


def table(by_band: Mapping[str, Sequence[Amplification]]) -> None:
    """Give the medians as numbers, and the single questions behind them."""
    with st.expander("The medians as a table"):
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
                for name, several in by_band.items()
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
                "band": [name for name, several in by_band.items() for _ in several],
                "question": [a.case.query for several in by_band.values() for a in several],
                "answer": [a.case.answer for several in by_band.values() for a in several],
                "repeated": [a.case.repeated for several in by_band.values() for a in several],
                "outcome": [verdict(a) for several in by_band.values() for a in several],
            },
            hide_index=True,
            key="world_cases",
        )


# --------------------------------------------------------------------------- the paper's


def paper() -> None:
    """Draw the twelve queries of the paper's Figures 1 to 3, as the model here answers them."""
    st.markdown(
        "The questions of the paper’s Figures 1, 2 and 3, asked of the model in use here. "
        "Below each are its own initial probabilities and those of the paper’s large model: "
        "**a model with other knowledge flips on other questions.**"
    )
    every = [published.case for group in PAPER.values() for published in group]
    model = study_model()
    times = DEFAULT_REPETITIONS if model.capabilities.scores_given_text else FREQUENCY_REPETITIONS
    results = curves(
        every,
        model,
        times,
        key="paper",
        so_far=lambda amplifications: _figures({a.case: a for a in amplifications}),
    )
    if results is None:
        return
    draw_usage(results)
    beside = _beside(every, model, times)
    if beside:
        names = [f"{line.capitalize()}: {of}." for line, (of, _) in beside.items()]
        st.text(" ".join([f"Solid: {model.name}.", *names]))
    st.text(RULE)
    others = {line: curves for line, (_, curves) in beside.items()}
    _figures(dict(zip(every, results, strict=True)), others)
    with st.expander("Every point as a table"):
        amplifications = [one for one in results if isinstance(one, Amplification)]
        st.dataframe(serialise.to_table(amplifications), hide_index=True, key="paper_points")


def _beside(
    every: Sequence[Case], model: LanguageModel, times: tuple[int, ...]
) -> dict[Line, tuple[str, Others]]:
    """Return what stands beside the model's curves: whose they are, in words, and the curves."""
    lines: dict[Line, tuple[str, Others]] = {}
    if model is not embedded_model():
        ours = curves(every, embedded_model(), times, key="paper_embedded", so_far=lambda _: None)
        lines["dashed"] = "the embedded model", dict(zip(every, ours or (), strict=False))
    larger = bundled.recording()
    if larger and (of := larger.provenance).revision != model.revision:
        lines["dotted"] = f"{of.title}, recorded {of.when}", larger.curves
    return lines


def _figures(results: Others, beside: Mapping[Line, Others] = MappingProxyType({})) -> None:
    for title, group in PAPER.items():
        st.header(title, anchor=False)
        several = [one for p in group if isinstance(one := results.get(p.case), Amplification)]
        if len(several) == len(group):
            st.text(". ".join(medians(several)))
        for column, published in zip(st.columns(ACROSS), group, strict=True):
            key = f"paper_card_{published.case.query}"
            with column, st.container(border=True, height="stretch", key=key):
                st.text(published.case.query)
                if (one := results.get(published.case)) is not None:
                    others = {line: each.get(published.case) for line, each in beside.items()}
                    _publish(published, one, others)


def _publish(
    published: PaperQuery, result: CurveOrReason, beside: Mapping[Line, CurveOrReason | None]
) -> None:
    case = published.case
    if isinstance(result, str):
        problem(result)
        return
    others = {line: one for line, one in beside.items() if isinstance(one, Amplification)}
    figures.show(document.small(result, others), f"paper_{case.query}")
    first = result.points[0]
    before = (
        f"{case.answer} {initial(first.log_likelihood_answer)}, repeated: "
        f"{case.repeated} {initial(first.log_likelihood_repeated)} "
        f"(in the paper {published.answer} and {published.repeated})"
    )
    st.text(before.replace(" × ", "\u00a0×\u00a0"))  # a number stays in one line
    if st.button("Look closer", key=f"closer_{case.query}", icon=":material/zoom_in:"):
        frame.amplify(case.query, case.answer, case.repeated)
