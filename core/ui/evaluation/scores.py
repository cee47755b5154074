"""Every score of a run: a table with intervals, the paper's Figure 5, and comparisons."""

from __future__ import annotations

import math
from functools import partial

import streamlit as st

from core.abstention.metrics import MEASURES
from core.charts import evaluation as charts
from core.codec import finite
from core.reports.evaluation import words
from core.reports.evaluation.document import precision_recall, report
from core.reports.report import Picture
from core.studies.evaluation.comparison import ScoreComparison, compare
from core.studies.evaluation.results import CONFIDENCE, Results, RunMeasures, share_right
from core.ui import downloads, figures
from core.ui.evaluation.measures import measures
from core.ui.glossary import TERMS
from core.ui.session import memory_of
from core.uncertainty.scores import SCORES


def scores(results: Results) -> None:
    """Draw what every score is worth, and which is better than which."""
    measured, is_waiting = measures(results)
    _table(measured)
    for sentence in (
        *words.labels(results),
        *words.missing_scores(results),
        *words.right_half(results),
    ):
        st.text(sentence)
    picture: Picture | None = None
    comparisons: tuple[ScoreComparison, ...] = ()
    if results.scores:
        st.subheader("Precision by recall")
        picture = _curves(results, measured)
        st.subheader("Which score is better")
        if is_waiting:
            st.text("The comparisons come with the intervals.")
        else:
            comparisons = _comparisons(results, measured)
    downloads.menu(partial(_files, measured, picture, comparisons))


def _files(
    measured: RunMeasures, picture: Picture | None, comparisons: tuple[ScoreComparison, ...]
) -> None:
    downloads.report(partial(report, measured), "evaluation")
    downloads.download(
        "Scores (CSV)", lambda: downloads.as_csv(numbers(measured)), "evaluation_scores.csv"
    )
    if comparisons:
        downloads.download(
            "Comparisons (CSV)",
            lambda: downloads.as_csv(_as_numbers(comparisons)),
            "evaluation_comparisons.csv",
        )
    if picture:
        figures.as_files("precision_recall", picture)


def _table(measured: RunMeasures) -> None:
    columns = words.score_columns(measured)
    st.dataframe(
        columns,
        column_config={
            name: st.column_config.TextColumn(help=TERMS[name])
            for name in ("AUROC", "AURC", "AUGRC", "PRR")
        },
        hide_index=True,
        key="results_scores",
        alt="Every score with its measures",
    )
    st.text(words.intervals(measured))


def numbers(measured: RunMeasures) -> dict[str, list[object]]:
    """Return the table as numbers, to be computed with: no value where there is none."""
    columns: dict[str, list[object]] = {
        "score": list(SCORES),
        "rows": [len(measured.results)] * len(SCORES),
        "right": [finite(measured.results.right(name)) for name in SCORES],
    }
    for match in ("same_answer", "f1"):
        right = measured.results.correct_by(match)
        columns[f"right by {match}"] = [finite(share_right(right[name])) for name in SCORES]
    for measure in MEASURES:
        intervals = [measured.interval(name, measure) for name in SCORES]
        columns[measure] = [finite(each.value) for each in intervals]
        columns[f"{measure} from"] = [finite(each.lower) for each in intervals]
        columns[f"{measure} to"] = [finite(each.upper) for each in intervals]
    return columns


def _curves(results: Results, measured: RunMeasures) -> Picture | None:
    """Draw precision by recall of the scores that a person chooses; return the picture."""
    chosen = st.multiselect(
        "Scores drawn",
        list(results.scores),
        [name for name in charts.PAPERS if name in results.scores],
        format_func=charts.symbol_of,
        key="results_drawn",
        persist_state="session",
    )
    chosen = [name for name in chosen if name in results.scores]
    if not chosen:
        st.text("Choose a score to draw.")
        return None
    bands = {name: measured.bands[name] for name in SCORES if name in chosen}
    picture = precision_recall(bands)
    figures.show(picture, "results_precision_recall")
    for sentence in words.curve_ends(results):
        st.text(sentence)
    shaded = (
        f"Shaded: the {CONFIDENCE:.0%} interval at each point by itself. "
        if measured.number
        else ""
    )
    st.caption(
        "The paper’s Figure 5. Recall is the share of questions answered, precision the share of "
        f"right answers among them. {shaded}A curve begins at its smallest block of equal doubts, "
        "which no threshold parts: mutual information and entropy are often exactly 0."
    )
    return picture


def _comparisons(results: Results, measured: RunMeasures) -> tuple[ScoreComparison, ...]:
    """Compare a score with every other by a measure; return the comparisons."""
    if len(results.scores) < 2:
        st.text("Two scores with a value are needed to compare them.")
        return ()
    left, right = st.columns(2)
    score = left.selectbox(
        "Score",
        list(results.scores),
        format_func=charts.symbol_of,
        key="results_reference",
        persist_state="session",
    )
    measure = right.selectbox(
        "Measure", list(MEASURES), format_func=str.upper, key="results_measure"
    )
    every = memory_of(
        "results_compared", measured, lambda: compare(measured, score, measure), (score, measure)
    )
    if all(math.isnan(each.difference.value) for each in every):
        st.text(
            f"{charts.symbol_of(score)} and the others cannot be compared by {measure.upper()}."
        )
    else:
        for each in every:
            st.text(words.comparison(each))
    st.caption(
        "Where two scores serve the same answers, their AUROCs are compared by DeLong’s test; "
        "else the same resamples of the questions are drawn for both. Holm’s method adjusts the "
        "p-values for the number of comparisons above; choosing another score or measure after "
        "looking is not accounted for."
    )
    return every


def _as_numbers(every: tuple[ScoreComparison, ...]) -> dict[str, list[object]]:
    return {
        "score": [each.score for each in every],
        "other": [each.other for each in every],
        "measure": [each.measure for each in every],
        "value": [finite(each.values[0]) for each in every],
        "other's value": [finite(each.values[1]) for each in every],
        "difference": [finite(each.difference.value) for each in every],
        "from": [finite(each.difference.lower) for each in every],
        "to": [finite(each.difference.upper) for each in every],
        "test": [each.test for each in every],
        "p": [finite(each.p_value) for each in every],
        "Holm-adjusted p": [finite(each.adjusted) for each in every],
    }
