"""Two runs side by side: what differs, and what became of every question."""

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from core.charts import evaluation as charts
from core.codec import count_of, finite, list_of
from core.reports.evaluation import words
from core.reports.evaluation.words import measure_shown, number_shown, p_in_words, percent
from core.studies.evaluation.results import RESAMPLES, Results, affordable, read_results, stamp
from core.studies.evaluation.run_comparison import (
    HERE,
    THERE,
    Change,
    RunSide,
    SharedQuestions,
    compare_scores,
    differences,
    in_common,
    shared_questions,
)
from core.studies.evaluation.run_folder import RunError
from core.studies.evaluation.saved_run import Run
from core.studies.evaluation.score_comparison import FEWEST_OF_A_KIND
from core.ui import downloads
from core.ui.evaluation.cells import MOST_SHOWN, NATS, chosen_place, digest
from core.ui.evaluation.choice import choose
from core.ui.evaluation.label_views import note_view
from core.ui.evaluation.measures import INTERVALS
from core.ui.evaluation.row_inspection import offer
from core.ui.evaluation.rows import in_full
from core.ui.evaluation.runs import complaint
from core.ui.messages import problem
from core.ui.runs.job import Job
from core.ui.runs.widget import offer_run, run
from core.ui.session import memory_of

PLACE = "results_two_runs"
MOST_NAMED = 12  # differences in a sentence
FEW = 2 * FEWEST_OF_A_KIND  # questions: too few to be right and wrong often enough
NARROW = 84  # pixels of a column


def compare(results: Results, others: Mapping[str, Run]) -> None:
    """Let the person choose another run, and put it beside this one.

    `others`: by their titles.
    """
    if not others:
        st.text(
            "There is no other run yet. Ask the same questions of another model, or with other "
            "settings, to see what changes."
        )
        return
    runs = [results.run, *others.values()]
    try:
        versions = tuple((str(run.folder), stamp(run)) for run in runs)
        counts = memory_of("results_shared", None, partial(in_common, runs), versions)
    except RunError as error:
        _complain(error, runs)
        return
    with_this = dict(zip(others, counts[0, 1:].tolist(), strict=True))
    if max(with_this.values()) < FEW:
        _offer_most_alike(runs, list(others), counts)
    title = st.selectbox(
        "The other run",
        sorted(others, key=lambda title: -with_this[title]),
        format_func=lambda title: f"{title}: {count_of(with_this[title], 'question')} in both",
        key="results_other",
        persist_state="session",
    )
    other = others[title]
    version = str(other.folder), stamp(other), results.match, results.served
    try:
        there = memory_of(
            "results_there",
            None,
            lambda: read_results(other, (), results.match, served=results.served),
            version,
        )
        different = differences(results.run, other)
    except RunError as error:
        _complain(error, runs)
        return
    both = memory_of(
        "shared_questions", results, partial(shared_questions, results, there), version
    )
    outcome = st.container()
    with st.container(key="finding_note"):
        st.text(words.overlap(both))
        st.text(
            f"What differs: {list_of(different, most=MOST_NAMED)}."
            if different
            else "Both runs have the same model, settings and questions."
        )
    if not len(both):
        st.text("Nothing is left to compare.")
        return
    note_view(there, name="results_view_there")
    if len(both) < FEW:
        outcome.text("Too few questions are in both to compare the scores.")
    sides = () if len(both) < FEW else _scores(both)
    if sides:
        with outcome, st.container(key="finding"):
            st.text(words.which_run(sides[0]))
    _questions(both, sides)


def _complain(error: RunError, runs: Sequence[Run]) -> None:
    """Say what is wrong with one of some runs, without the names of the server's folders."""
    shown = (complaint(error, run.folder) for run in runs if str(run.folder) in str(error))
    problem(next(shown, str(error)))


def _offer_most_alike(
    runs: Sequence[Run], titles: Sequence[str], counts: NDArray[np.int64]
) -> None:
    """Offer the two runs that share most, where this one shares little with any.

    `titles`: of all runs but the first, which is this one.
    """
    pairs = np.triu(counts, 1)
    here, there = divmod(int(pairs.argmax()), len(runs))
    if here:
        few, most = (count_of(int(each.max()), "question") for each in (pairs[0], pairs))
        st.text(
            f"This run shares at most {few} with another. {titles[here - 1]} and "
            f"{titles[there - 1]} share {most}, the most of all."
        )
        if st.button("Compare these two", key="results_most_alike", type="primary"):
            choose(runs[here].folder.name)
            st.session_state.pop("results_other", None)
            st.rerun()


def _scores(both: SharedQuestions) -> tuple[RunSide, ...]:
    """Draw the scores of both runs, on the questions that they share, and return them."""
    if not both.scores:
        st.text("No score has a value in both runs.")
        return ()
    affords = affordable(len(both), 2 * len(both.scores))
    number = affords or RESAMPLES
    key = memory_of("results_sides_wanted", both, object)
    every = run(
        PLACE,
        key,
        lambda: Job(lambda job: compare_scores(both, number, job.progress)),
        on_press=not affords,
        cancelled="Cancelled.",
    )
    offer_run(INTERVALS, "results_sides_intervals", PLACE, key)
    shown_now = every or memory_of("results_sides_plain", both, lambda: compare_scores(both, 0))
    other = words.label_heading(both.here).removeprefix("right ")
    columns = {
        "score": [charts.symbol_of(each.score) for each in shown_now],
        "right here": [percent(each.right_here) for each in shown_now],
        "right there": [percent(each.right_there) for each in shown_now],
        f"{other} here": [percent(each.other_here) for each in shown_now],
        f"{other} there": [percent(each.other_there) for each in shown_now],
        "McNemar": [p_in_words(each.chance) for each in shown_now],
        "AUROC here": [number_shown(each.by.values[0]) for each in shown_now],
        "AUROC there": [number_shown(each.by.values[1]) for each in shown_now],
        "here minus there": [measure_shown(each.by.difference) for each in shown_now],
        "adjusted p": [p_in_words(each.by.adjusted) for each in shown_now],
    }
    narrow = [name for name in columns if name != "here minus there"]  # all in sight at 1200 pixels
    st.dataframe(
        columns,
        column_config=dict.fromkeys(narrow, st.column_config.Column(width=NARROW)),
        hide_index=True,
        key="results_sides",
        alt="Every score in both runs",
    )
    if every:
        st.caption(
            f"Paired bootstrap of {number:,d} resamples of the shared questions, 95% intervals, "
            "p-values of both tests of all scores adjusted together (Holm)."
        )
    return shown_now


def _files(
    both: SharedQuestions, every: tuple[RunSide, ...], places: NDArray[np.int64], score: str
) -> None:
    """Offer the scores of both runs, and the questions that are listed."""
    if every:
        downloads.csv("Scores (CSV)", partial(_numbers, every), "evaluation_two_runs")
    downloads.csv("Questions (CSV)", partial(both.table, places, score), "evaluation_questions")


def _numbers(every: tuple[RunSide, ...]) -> dict[str, list[object]]:
    return {
        "score": [each.score for each in every],
        "right here": [finite(each.right_here) for each in every],
        "right there": [finite(each.right_there) for each in every],
        "right by the other label here": [finite(each.other_here) for each in every],
        "right by the other label there": [finite(each.other_there) for each in every],
        "right only here": [each.only_here for each in every],
        "right only there": [each.only_there for each in every],
        "McNemar, Holm-adjusted p": [each.chance for each in every],
        "AUROC here": [finite(each.by.values[0]) for each in every],
        "AUROC there": [finite(each.by.values[1]) for each in every],
        "difference": [finite(each.by.difference.value) for each in every],
        "from": [finite(each.by.difference.lower) for each in every],
        "to": [finite(each.by.difference.upper) for each in every],
        "Holm-adjusted p": [finite(each.by.adjusted) for each in every],
    }


def _questions(both: SharedQuestions, every: tuple[RunSide, ...]) -> None:
    """List what became of the questions, by one score."""
    names = list(both.scores) or ["mutual_information"]
    score = st.selectbox(
        "Question by question, by",
        names,
        format_func=charts.symbol_of,
        key="results_sides_score",
        persist_state="session",
    )
    for side in every:
        if side.score == score:
            st.text(words.side(side, both.here))
    change = st.pills(
        "Which questions",
        list(Change),
        default=Change.ALL,
        required=True,
        key="results_change",
        persist_state="session",
        label_visibility="collapsed",
    )
    places = both.of(change, score)
    st.caption(f"Questions: {len(places):,d}, the largest change of doubt first.")
    downloads.menu(partial(_files, both, every, places, score))
    if not len(places):
        st.text("There is no such question.")
        return
    columns = both.table(places[:MOST_SHOWN], score)
    at = chosen_place(
        columns,
        len(places),
        key=f"results_questions_{digest(both.there.run.folder, score, places.tobytes())}",
        alt="Questions of both runs",
        column_config=dict.fromkeys((f"doubt, {of}" for of in (HERE, THERE)), NATS),
    )
    if len(places) > MOST_SHOWN:
        st.caption(f"Shown: the first {MOST_SHOWN:,d} questions.")
    if at is None:
        st.text("Choose a question to open its inspection.")
        return
    in_full(columns, at)
    with st.container(horizontal=True):
        here, there = both.at_here[places[at]], both.at_there[places[at]]
        offer(both.here.run, str(both.here.ids[here]), key="results_open_here")
        offer(both.there.run, str(both.there.ids[there]), key="results_open_there", of_other=True)
