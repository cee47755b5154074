"""The paper's Figure 6: one threshold for questions with one right answer and with many."""

import streamlit as st

from core.charts import evaluation as charts
from core.charts.paper_figures import MIXTURE_TITLES
from core.reports.evaluation import mixtures as words
from core.reports.evaluation.words import right_half
from core.reports.paper_figures import mixture
from core.reports.report import Picture
from core.studies.evaluation.mixing import (
    COMPARED,
    FEWEST,
    HARDLY,
    Kinds,
    MixtureResult,
    kinds,
    mix,
    sources,
)
from core.studies.evaluation.results import Results
from core.studies.evaluation.saved_run import DIVERSE
from core.ui import figures
from core.ui.addresses import percent
from core.ui.evaluation.cells import digest, source_name
from core.ui.evaluation.label_views import note_view
from core.ui.session import memory_of
from core.uncertainty.scores import SCORES


def mixtures(results: Results, pictures: dict[str, Picture]) -> None:
    """Draw what one threshold does; let the person tell the kinds apart and set the target.

    The pictures are added to those of the page.
    """
    outcome = st.container()
    with st.expander("What is mixed, and the target", icon=":material/tune:"):
        mixed, by_kind = _choice(results)
    composition, *outcomes = words.mixtures(mixed)
    with outcome:
        if any(each.bars[-1].recall >= HARDLY for each in mixed.mixtures):
            if mixed.each >= FEWEST and (high := words.at_high_entropy(mixed)):
                st.text(high)
            _draw(mixed, pictures)
        elif mixed.mixtures:
            st.text(f"For this target, none of these scores answers {HARDLY:.0%} of the questions.")
        for sentence in outcomes:
            st.text(sentence)
    for sentence in (words.two_kinds(by_kind), composition, *right_half(results)):
        st.text(sentence)


def _choice(results: Results) -> tuple[MixtureResult, Kinds]:
    """Let the person choose what is mixed, for which target; return that, and the usual kinds."""
    every = sources(results)
    by_kind = kinds(every)
    names = [each.name for each in every]
    key = digest(*names)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        single = st.multiselect(
            "One right answer",
            names,
            list(by_kind.single),
            format_func=source_name,
            key=f"results_single_{key}",
            persist_state="session",
        )
        many = st.multiselect(
            "Many right answers",
            names,
            list(by_kind.many),
            format_func=source_name,
            key=f"results_many_{key}",
            persist_state="session",
        )
        scores = st.multiselect(
            "Scores",
            list(results.scores),
            [name for name in COMPARED if name in results.scores],
            format_func=charts.symbol_of,
            key="results_mixed",
            persist_state="session",
        )
    with st.container(horizontal=True, vertical_alignment="bottom"):
        target = percent("wrong", "alpha", 0.1, 50.0, 5.0, 1.0)
        confidence = percent("sure", "confidence", 50.0, 99.9, 90.0, 5.0)
    diverse = st.toggle(
        f"Of many right answers, only questions with an entropy above {DIVERSE:.1f} nats, as in "
        "the paper",
        value=True,
        key="results_diverse",
        persist_state="session",
    )
    at = target, confidence
    if at != memory_of("results_first_target", results, lambda: at):
        note_view(results, at, "results_view_of_target")
    scores = [name for name in SCORES if name in scores and name in results.scores]
    mixed = memory_of(
        "results_mixture",
        results,
        lambda: mix(
            results,
            single,
            many,
            target_error=target,
            confidence=confidence,
            diverse_only=diverse,
            scores=scores,
        ),
        (*single, None, *many, None, target, confidence, diverse, *scores),
    )
    return mixed, by_kind


def _draw(mixed: MixtureResult, pictures: dict[str, Picture]) -> None:
    for column, measure in zip(st.columns(2), MIXTURE_TITLES, strict=True):
        picture = pictures[f"mixture_{measure}"] = mixture(mixed.mixtures, measure)
        with column:
            figures.show(picture, f"results_mixture_{measure}")
    st.caption(
        "The paper’s Figure 6: half of the questions of both kinds calibrate a threshold for each "
        "score, the other half tests it. Lines: two standard deviations over the repetitions. A "
        "bar of 0% is a line on the axis. A missing bar of errors: on average, less than one "
        "question is answered there."
    )
