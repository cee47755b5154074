"""Which doubt finds the wrong answers: a sentence, its picture, and the numbers folded."""

import math
from collections.abc import Mapping
from functools import partial
from typing import Final

import streamlit as st

from core.abstention.metrics import MEASURES
from core.charts import evaluation as charts
from core.charts.calibration import name_of
from core.charts.paper_figures import PAPERS
from core.codec import finite
from core.reports.evaluation import words
from core.reports.evaluation.document import aurocs, differences, report
from core.reports.paper_figures import FIGURE_5, precision_recall
from core.reports.report import Picture
from core.studies.evaluation.results import CONFIDENCE, Results, RunMeasures, share_right
from core.studies.evaluation.score_comparison import ScoreComparison, compare
from core.ui import downloads, figures
from core.ui.evaluation.form import FOLD
from core.ui.evaluation.measures import is_bundled, measures
from core.ui.folds import fold
from core.ui.glossary import TERMS
from core.ui.session import memory_of
from core.uncertainty.scores import SCORES

CURVES: Final = "results_curves"
BETTER: Final = "results_better"
NUMBERS: Final = "results_numbers"
REFERENCE, MEASURE = "results_reference", "results_measure"
WIDENED: Final = (
    " The sentence above the picture allows for choosing the best of all scores after looking."
)


def scores(results: Results) -> None:
    """Say which doubt finds the wrong answers, draw what shows it, and fold the numbers."""
    measured, is_waiting = measures(results)
    pictures: dict[str, Picture] = {}
    answer = words.answer(measured)
    if answer:
        if not is_waiting:  # whoever leads by chance may not lead once the intervals are known
            with st.container(key="finding"):
                st.text(answer[0])
        left_out = words.exclusions(results)  # which stand with the numbers
        about = [] if is_waiting else [each for each in answer[1:] if each not in left_out]
        pictures["which_doubt"] = _aurocs(measured, " ".join(about))
    for sentence in (*words.missing_scores(results), *words.right_half(results)):
        st.text(sentence)
    if answer:
        draw = partial(_curves, results, measured, pictures)
        fold("Precision by recall", draw, key=CURVES, icon=":material/show_chart:")
    else:
        unfold = partial(st.session_state.update, {FOLD: True})
        st.button("Start another run", key="another_run", on_click=unfold, type="primary")
    can_compare = len(results.scores) > 1 and bool(answer) and not is_waiting
    if can_compare:
        draw = partial(_comparisons, results, measured, pictures)
        fold("Which score is better than which", draw, key=BETTER, icon=":material/compare_arrows:")
    fold(
        "Every measure in numbers", partial(_table, measured), key=NUMBERS, icon=":material/table:"
    )
    if is_bundled(results.run):
        label = "Recorded verdicts of Qwen2.5-Coder 1.5B, a real model: how many are wrong"
        fold(label, _recorded_verdicts, key="recorded_verdicts", icon=":material/fact_check:")
    downloads.menu(partial(_files, measured, pictures, can_compare=can_compare))


def _recorded_verdicts() -> None:
    # Markdown, so the program's own words alone; a frame would be cut on a phone.
    st.table(words.recorded_verdicts(), border="horizontal", hide_index=True)
    st.text(words.why_not_believed())


def _aurocs(measured: RunMeasures, about: str) -> Picture:
    """Draw the scores, and beneath, in words, `about` the first of them and what limits it."""
    picture = aurocs(measured)
    figures.show(picture, "results_which_doubt")
    note = words.never_taught(measured) if measured.number else words.intervals(measured)
    with st.container(key="finding_note"):
        for sentence in filter(None, (about, note)):
            st.text(sentence)
    return picture


def _files(measured: RunMeasures, pictures: Mapping[str, Picture], *, can_compare: bool) -> None:
    downloads.report(partial(report, measured), "evaluation")
    downloads.csv("Scores (CSV)", partial(numbers, measured), "evaluation_scores")
    if can_compare:
        downloads.csv(
            "Comparisons (CSV)",
            lambda: _as_numbers(_comparisons_of(measured, *_choice(measured.results))),
            "evaluation_comparisons",
        )
    for name, picture in pictures.items():
        figures.as_files(name, picture, words.beneath(measured.results))


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
    notes = words.exclusions(measured.results)
    if measured.number:
        notes.append(f"{words.intervals(measured)}{WIDENED}")
    for sentence in notes:
        st.text(sentence)


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
    columns["some of these rows chose its weights"] = [
        name in measured.results.unfit_scores for name in SCORES
    ]
    return columns


def _curves(results: Results, measured: RunMeasures, pictures: dict[str, Picture]) -> None:
    """Draw precision by recall of chosen scores; add the picture to those of the page."""
    chosen = st.multiselect(
        "Scores drawn",
        list(results.scores),
        [name for name in PAPERS if name in results.scores],
        format_func=name_of,
        key="results_drawn",
        persist_state="session",
    )
    chosen = [name for name in chosen if name in results.scores]
    if not chosen:
        st.text("Choose a score to draw.")
        return
    bands = {name: measured.bands[name] for name in SCORES if name in chosen}
    pictures["precision_recall"] = precision_recall(bands)
    figures.show(pictures["precision_recall"], "results_precision_recall")
    for sentence in (*words.labels(results), *words.curve_ends(results)):
        st.text(sentence)
    shaded = f" Shaded: the {CONFIDENCE:.0%} interval of the first, at each point by itself."
    st.caption(f"{FIGURE_5}{shaded if measured.number else ''}")


def _comparisons(results: Results, measured: RunMeasures, pictures: dict[str, Picture]) -> None:
    """Compare a score with every other by a measure; add the picture to those of the page."""
    left, right = st.columns(2)
    score = left.selectbox(
        "Score",
        list(results.scores),
        format_func=charts.symbol_of,
        key=REFERENCE,
        persist_state="session",
    )
    measure = right.selectbox("Measure", list(MEASURES), format_func=str.upper, key=MEASURE)
    every = _comparisons_of(measured, score, measure)
    for sentence in words.exclusions(results):
        st.text(sentence)
    if all(math.isnan(each.difference.value) for each in every):
        st.text(
            f"{charts.symbol_of(score)} and the others cannot be compared by {measure.upper()}."
        )
        return
    st.text(words.better_and_worse(every))
    pictures["differences"] = differences(every)
    figures.show(pictures["differences"], "results_differences")
    st.caption(
        "Where two scores serve the same answers, their AUROCs are "
        "compared by DeLong’s test; else the same resamples of the questions are drawn for both. "
        "The p-values allow for so many comparisons; of the lines, only the leading score’s do: of "
        "others, a ring’s may end before 0. Choosing a score or measure after looking is not "
        "accounted for."
    )


def _choice(results: Results) -> tuple[str, str]:
    score = st.session_state.get(REFERENCE)
    usual = score if score in results.scores else results.scores[0]
    return usual, st.session_state.get(MEASURE) or next(iter(MEASURES))


def _comparisons_of(measured: RunMeasures, score: str, measure: str) -> tuple[ScoreComparison, ...]:
    return memory_of(
        "results_compared", measured, lambda: compare(measured, score, measure), (score, measure)
    )


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
        "adjusted p": [finite(each.adjusted) for each in every],
    }
