"""What a person wants from a calibration: score, error, confidence, method; and how often."""

from __future__ import annotations

import streamlit as st

from core.charts.calibration import name_of
from core.data.tabular.labelled import Labelled
from core.studies.calibration.calibration import (
    BEST,
    METHODS,
    Calibration,
    Target,
    calibrate,
    preferred,
)
from core.ui.addresses import number
from core.ui.glossary import TERMS
from core.ui.session import remembered

Setting = tuple[Target, frozenset[tuple[str, bool]]]


def target(data: Labelled) -> Target:
    """Ask for the target; everything stands in the address but the score of this data."""
    method = st.selectbox(
        "Method",
        list(METHODS),
        key="method",
        format_func=METHODS.__getitem__,
        bind="query-params",
        persist_state="session",
        help=TERMS["Learn-then-Test"],
    )
    scores = list(data.doubts)
    options = [BEST, *scores] if method == "ltt" and len(scores) > 1 else scores
    score = st.selectbox(
        "Score",
        options,
        options.index(preferred(data, method=method)),
        key=f"score_{data.sha256[:16]}",
        persist_state="session",
        format_func=lambda name: name if name == BEST else name_of(name),
        help="Choose one score in advance, or let the best be picked with δ divided by the number "
        "of scores (Bonferroni).",
    )
    left, right = st.columns(2)
    with left:
        error = number("alpha", 0.001, 0.5, 0.05, 0.01, format="%.3f")
    with right:
        confidence = number(
            "confidence", 0.5, 0.999, 0.9, 0.05, format="%.3f", disabled=method != "ltt"
        )
    return Target(error, confidence, method, score)


def calibrated(data: Labelled, wanted: Target) -> Calibration:
    """Calibrate, once for every data and target, and count how many settings were tried.

    A score that is turned around is another setting.
    """
    settings = _tried(data)
    turned = data.surer if wanted.score == BEST else {wanted.score: data.surer[wanted.score]}
    settings.add((wanted, frozenset(turned.items())))
    return remembered(
        "calibration", data, lambda: calibrate(data, wanted, settings_tried=len(settings)), wanted
    )


def looked_at_all(data: Labelled, rows: Labelled) -> int:
    """Return how many settings were tried on all the data before some rows were held back."""
    return 0 if rows is data else len(_tried(data))


def _tried(data: Labelled) -> set[Setting]:
    """Return the targets that this session has tried on these labels, and with which directions."""
    counted = st.session_state.setdefault("calibration_targets_tried", {})
    found: set[Setting] = counted.setdefault((data.sha256, len(data.kept)), set())
    return found
