"""Semantic entropy against mutual information: choose a point, open its inspection."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from core.charts import evaluation as charts
from core.codec import count_of
from core.reports.evaluation import document, words
from core.studies.evaluation.listing import QuestionPoints, scatter_points
from core.studies.evaluation.results import Results
from core.ui import downloads, figures
from core.ui.evaluation.cells import digest
from core.ui.evaluation.rows import chosen_row
from core.ui.session import memory_of

KEY = "results_scatter"


def scatter(results: Results) -> None:
    """Draw every question; show those at the point that a person chooses."""
    plotted = memory_of(
        "results_plotted", results, lambda: scatter_points(results, charts.MOST_POINTS)
    )
    if not len(plotted.rows):
        st.text("No row has both a semantic entropy and a mutual information to draw.")
        return
    points = charts.Points(
        plotted.entropy, plotted.information, plotted.right, results.sources[plotted.rows]
    )
    # Another chart for other rows: a choice survives in the same one.
    key = f"{KEY}_{digest(results.run.folder, plotted.rows.tobytes())}"
    picture = document.scatter(points)
    with st.container(key="finding"):
        st.text(words.above(plotted))
    figures.show(picture, key, selects=charts.CHOSEN)
    for sentence in words.scatter(plotted):
        st.text(sentence)
    st.caption(
        "Doubts as a policy compares them, right or wrong by the answer of mutual information. "
        "Below on the right: many right answers, which only entropy doubts."
    )
    downloads.menu(partial(figures.as_files, "entropy_and_information", picture))
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
