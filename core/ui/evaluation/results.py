"""What came of a run: every score, the paper's figures, the rows, another run beside it."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final

import numpy as np
import streamlit as st
from numpy.typing import NDArray
from streamlit.delta_generator import DeltaGenerator

from core.abstention.policy import Policy, PolicyError
from core.charts import evaluation as charts
from core.codec import count_of
from core.reports.calibration.document import by_group
from core.reports.evaluation import document, words
from core.reports.report import Picture
from core.studies.evaluation.decisions import PolicyDecisions, decide, decisions_csv
from core.studies.evaluation.mixing import sources
from core.studies.evaluation.results import Results, read_results, stamp
from core.studies.evaluation.row_table import QuestionPoints, scatter_points
from core.studies.evaluation.rows import RIGHT, RIGHT_BY, Match
from core.studies.evaluation.run_folder import RunError
from core.studies.evaluation.saved_run import Filter, Run
from core.studies.inspection.certificates import certified_model, default_policy
from core.ui import downloads, figures
from core.ui.calibration import policy as policies
from core.ui.evaluation.cells import digest, source_name
from core.ui.evaluation.label_views import note_view
from core.ui.evaluation.measures import is_bundled, rows_of
from core.ui.evaluation.mixtures import mixtures
from core.ui.evaluation.rows import chosen_row, rows
from core.ui.evaluation.run_comparison import compare
from core.ui.evaluation.runs import complaint
from core.ui.evaluation.scores import scores
from core.ui.folds import fold
from core.ui.messages import problem
from core.ui.session import memory_of
from core.uncertainty.scores import SCORES

ONLY: Final[Mapping[str, str]] = {"short": "short answers", "diverse": "entropy above 0.7 nats"}
TABS: Final = ("Which doubt", "Many answers", "Rows", "Compare", "Policy")
FIGURE_6: Final = "results_figure_6"
OWN: Final = "each score’s own"
WHY: Final = (
    "As in the paper: the greedy answer and another one have fewer than 20 characters; the "
    "semantic entropy is above 0.7 nats."
)


def results(
    run: Run, others: Mapping[str, Run], head: DeltaGenerator, buttons: DeltaGenerator
) -> None:
    """Draw what came of a run.

    `others`: runs that can be put beside it, by their titles.
    `head, buttons`: places with room for one more, above and below.
    """
    try:
        every = _every(run)
        if not len(every):
            st.text("No row counts yet: no question is finished, or all of them failed.")
            return
        counting = _that_count(run, every, head, buttons)
        for sentence in counting.dropped:
            st.text(sentence)
        if not len(counting):
            st.text("No row is left to show. Choose fewer filters, or other sources.")
            return
        _parts(counting, others)
    except RunError as error:
        problem(complaint(error, run.folder))


def _parts(results: Results, others: Mapping[str, Run]) -> None:
    parts = (
        partial(scores, results),
        partial(many_right_answers, results),
        partial(rows, results),
        partial(compare, results, others),
        partial(decisions, results),
    )
    tabs = st.tabs(TABS, key="results", bind="query-params")
    for tab, draw in zip(tabs, parts, strict=True):
        if tab.open:
            with tab:
                draw()


def _every(run: Run) -> Results:
    """Return all rows of a run that count."""
    if is_bundled(run):
        return rows_of(run.folder)
    return memory_of(
        "results_every", None, partial(read_results, run), (str(run.folder), stamp(run))
    )


def _that_count(run: Run, every: Results, head: DeltaGenerator, buttons: DeltaGenerator) -> Results:
    """Let the person choose which rows count, and when an answer is right; return them."""
    names = [source.name for source in sources(every)]
    with head.popover("Choose rows and labels", icon=":material/tune:"):
        match: Match = st.selectbox(
            "An answer is right",
            list(RIGHT),
            format_func=RIGHT_BY.__getitem__,
            key="results_match",
            persist_state="session",
            help="Whether the answer that a score serves agrees with an accepted one.",
        )
        only = st.multiselect(
            "Only",
            list(ONLY),
            format_func=ONLY.__getitem__,
            key="results_only",
            placeholder="all answers",
            persist_state="session",
            help=WHY,
        )
        chosen: list[str] = []
        if len(names) > 1:
            chosen = st.multiselect(
                "Sources",
                names,
                format_func=source_name,
                key=f"results_sources_{digest(run.folder)}",
                placeholder="all sources",
                persist_state="session",
            )
        served = st.selectbox(
            "Answer that is judged",
            [OWN, *every.scores],
            format_func=lambda name: name if name == OWN else f"{SCORES[name].symbol}’s for all",
            key="results_served",
            persist_state="session",
            help="Judged by its own answers, a score may be ahead because it serves better ones. "
            "If all are judged by one score’s answers, only their doubts differ.",
        )
    judged = None if served == OWN else served
    if not only and not chosen and not judged and match == every.match:
        counting = every
    else:
        counting = memory_of(
            "results_that_count",
            every,
            lambda: read_results(
                run, [Filter(name) for name in only], match, sources=chosen, served=judged
            ),
            (match, judged, *only, "of", *chosen),
        )
    of = f" Judged: {SCORES[judged].symbol}’s answer." if judged else ""
    size = f"{words.size(counting)}, {words.answers_of(run.pipeline)} answers to each"
    apart = words.apart_from_example(every) if is_bundled(run) else ""
    buttons.text(f"{size}. Right means: {words.RIGHT_MEANS[match]}.{of} {apart}".rstrip())
    with buttons:
        note_view(counting)
    return counting


KEY = "results_scatter"


def many_right_answers(results: Results) -> None:
    """Draw every question by entropy and by M.I., and fold what one threshold does to each kind."""
    pictures: dict[str, Picture] = {}
    scatter(results, pictures)
    draw = partial(mixtures, results, pictures)
    label = "One threshold for one and for many right answers"
    fold(label, draw, key=FIGURE_6, icon=":material/bar_chart:")
    if pictures:
        downloads.menu(partial(_picture_files, pictures, words.beneath(results)))


def _picture_files(pictures: Mapping[str, Picture], beneath: str) -> None:
    for name, picture in pictures.items():
        figures.as_files(name, picture, beneath)


def scatter(results: Results, pictures: dict[str, Picture]) -> None:
    """Draw every question, and show those at the point that a person chooses.

    The picture is added to those of the page.
    """
    plotted = memory_of(
        "results_plotted", results, lambda: scatter_points(results, charts.MOST_POINTS)
    )
    if not len(plotted.rows):
        st.text("No row has both a semantic entropy and a mutual information to draw.")
        return
    # Another chart for other rows: a choice survives in the same one.
    key = f"{KEY}_{digest(results.run.folder, plotted.rows.tobytes())}"
    picture = pictures["entropy_and_information"] = document.scatter(plotted)
    with st.container(key="finding"):
        st.text(words.above(plotted))
    figures.show(picture, key, selects=charts.CHOSEN)
    for sentence in words.scatter(plotted):
        st.text(sentence)
    st.caption(
        "Doubts as a policy compares them, right or wrong by the answer of mutual information. "
        "Below on the right: many right answers, which only entropy doubts."
    )
    at = at_points(plotted, selection(st.session_state.get(key)))
    if not len(at):
        st.text("Choose a point to see its questions.")
        return
    st.text(f"At this point: {count_of(len(at), 'question')}.")
    chosen_row(results, "mutual_information", at, key="results_point")


def selection(state: Any) -> Sequence[Any]:
    """Return the points that a person chose, as the browser names them."""
    selection = getattr(state, "selection", None) or {}
    chosen = selection.get(charts.CHOSEN) or []
    return chosen if isinstance(chosen, list) else []


def at_points(points: QuestionPoints, chosen: Sequence[Any]) -> NDArray[np.int64]:
    """Return the rows at the chosen points; a point that is not drawn has none."""
    is_near = np.zeros(len(points.rows), bool)
    for point in chosen:
        try:
            entropy, information = (float(point[name]) for name in charts.FIELDS)
        except (KeyError, TypeError, ValueError):  # it comes from a browser
            continue
        near = np.isclose(points.entropy, entropy, rtol=0, atol=1e-9)
        is_near |= near & np.isclose(points.information, information, rtol=0, atol=1e-9)
    return points.rows[is_near]


MOST_DRAWN = 12  # sources
IN_USE, DEFAULT = "the policy in use", "the model’s default policy"


def decisions(results: Results) -> None:
    """Let the person choose a policy, or bring one, and show what it decides."""
    outcome = st.container()
    policies.bring()
    with outcome:
        _decisions(results)


def _decisions(results: Results) -> None:
    offered = _offers(results)
    if not offered:
        st.text(
            "No policy is in use. Make one on Calibration, or upload one here; Calibration takes "
            "the rows of a run."
        )
        return
    which = st.selectbox("Policy", list(offered), key="results_policy", persist_state="session")
    policy = offered[which]
    try:
        decided = memory_of("results_decided", results, partial(decide, results, policy), policy)
    except PolicyError as error:
        for sentence in (policy.sentence, str(error)):
            st.text(sentence)
        st.text(
            "On this page: calibrate a policy on these rows, or start a run with the settings of "
            "the policy."
        )
        return
    outcome, *others = words.decisions(decided)
    with st.container(key="finding"):
        st.text(outcome)
    for sentence in others[:-1]:
        st.text(sentence)
    picture = None
    if decided.by_source:
        parts = decided.by_source[:MOST_DRAWN]
        st.markdown("**Wrong among the answered, by source**")
        picture = by_group(parts, policy.target_error, words.other_label(results.match))
        figures.show(picture, "results_groups")
        st.text(picture.caption)
    with st.container(key="finding_note"):
        for sentence in (*others[-1:], policy.sentence):
            st.text(sentence)
    downloads.menu(partial(_decision_files, decided, picture, words.beneath(results)))


def _decision_files(decided: PolicyDecisions, picture: Picture | None, beneath: str) -> None:
    downloads.download(
        "Decisions (CSV)", lambda: decisions_csv(decided), "evaluation_decisions.csv"
    )
    if picture:
        figures.as_files("wrong_by_source", picture, beneath)


def _offers(results: Results) -> dict[str, Policy]:
    """Return the policies that there are, by what they are called."""
    offered = {}
    if (in_use := policies.in_use()) is not None:
        offered[IN_USE] = in_use
    if (model := certified_model(results.run.pipeline.revision)) is not None:
        offered[DEFAULT] = default_policy(model)
    return offered
