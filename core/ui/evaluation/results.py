"""What came of a run: every score, the paper's figures, the rows, another run beside it."""

from collections.abc import Mapping
from functools import partial
from typing import Final

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.codec import count_of
from core.studies.evaluation.files import RunError
from core.studies.evaluation.mixing import sources
from core.studies.evaluation.reading import Filter, Run
from core.studies.evaluation.results import Results, read_results, stamp
from core.studies.evaluation.rows import RIGHT, RIGHT_BY, Match
from core.ui.evaluation.bundled import is_bundled, rows_of
from core.ui.evaluation.cells import digest, source_name
from core.ui.evaluation.compare import compare
from core.ui.evaluation.decisions import decisions
from core.ui.evaluation.mixtures import mixtures
from core.ui.evaluation.rows import rows
from core.ui.evaluation.runs import complaint
from core.ui.evaluation.scatter import scatter
from core.ui.evaluation.scores import scores
from core.ui.evaluation.views import note_view
from core.ui.messages import problem
from core.ui.session import memory_of
from core.uncertainty.scores import SCORES

ONLY: Final[Mapping[str, str]] = {"short": "short answers", "diverse": "entropy above 0.7 nats"}
TABS: Final = (
    "Which doubt",
    "Many right answers",
    "Where entropy errs",
    "Rows",
    "Compare runs",
    "Policy",
)
OWN: Final = "each score’s own"
APART: Final = "asked apart from Calibration’s example"  # of a run that comes with the program
WHY: Final = (
    "As in the paper: the greedy answer and another one have fewer than 20 characters; the "
    "semantic entropy is above 0.7 nats."
)


def results(run: Run, others: Mapping[str, Run], buttons: DeltaGenerator) -> None:
    """Draw what came of a run.

    `others`: runs that can be put beside it, by their titles.
    `buttons`: a place with room for one more.
    """
    try:
        every = _every(run)
        if not len(every):
            st.text("No row counts yet: no question is finished, or all of them failed.")
            return
        counting = _that_count(run, every, buttons)
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
        partial(mixtures, results),
        partial(scatter, results),
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


def _that_count(run: Run, every: Results, buttons: DeltaGenerator) -> Results:
    """Let the person choose which rows count, and when an answer is right; return them."""
    names = [source.name for source in sources(every)]
    with buttons.popover("Choose rows and labels", icon=":material/tune:"):
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
    apart = f", {APART}" if is_bundled(run) else ""
    buttons.text(f"{count_of(len(counting), 'row')}{apart}. Right means: {RIGHT_BY[match]}.{of}")
    with buttons:
        note_view(counting)
    return counting
