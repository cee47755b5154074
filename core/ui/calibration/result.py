"""The outcome of a calibration: the promise in words, its price in numbers, and the curve."""

from __future__ import annotations

import streamlit as st

from core.abstention.thresholds import Uncertifiable
from core.charts import calibration as charts
from core.codec import list_of
from core.reports.calibration import words
from core.studies.calibration.calibration import BEST, Calibration
from core.studies.calibration.looks import looks_before
from core.ui.calibration.ledger import is_example

MOST_LISTED = 5  # earlier looks


def _level(calibration: Calibration) -> float:
    """Return the confidence of the bound: a look's part of δ, shared by its targets and scores."""
    scores = len(calibration.data.doubts) if calibration.target.score == BEST else 1
    return 1 - (1 - calibration.target.test_confidence) / scores


def outcome(calibration: Calibration) -> None:
    """Say what is promised and what it costs, or why nothing can be."""
    with st.container(border=True, key="outcome"):
        if isinstance(calibration.outcome, Uncertifiable) or calibration.policy is None:
            st.badge("Cannot be certified", icon=":material/block:", color="red")
            if isinstance(calibration.outcome, Uncertifiable):
                st.text(calibration.outcome.reason)
        else:
            if calibration.policy.has_guarantee:
                st.badge("Guaranteed", icon=":material/verified:", color="green")
            else:
                st.badge("No guarantee", icon=":material/warning:", color="orange")
            if is_example(calibration.data):
                st.text("Of the bundled example:")
            with st.container(key="promised"):
                st.text(calibration.policy.sentence)
            st.text(words.counts(calibration.policy))
            if calibration.policy.method == "ltt":
                st.caption(
                    "These rows by themselves suggest at most "
                    f"{calibration.outcome.upper_bound:.1%} (Clopper–Pearson, "
                    f"{_level(calibration):.1%}). That is a description and no promise, because λ "
                    "was chosen on the same rows."
                )
        for decision in calibration.data.decided:
            st.text(decision)
        if calibration.target.score == BEST:
            st.text(
                f"Best of {len(calibration.data.doubts)} scores, each tested at δ divided by "
                f"{len(calibration.data.doubts)}: {charts.name_of(calibration.score)}."
            )
        if calibration.look is not None and calibration.target.method == "ltt":
            before = looks_before(calibration.look, calibration.looks or ())
            if calibration.policy is None:  # whose sentence says it
                delta = 1 - calibration.target.confidence
                st.text(
                    f"Look {calibration.look.place:d} at these labels: it may spend "
                    f"{calibration.target.delta:.4f} of δ = {delta:.3f}."
                )
            st.caption("More rows, another score or another target is another look.")
            if before:
                st.text(f"Looks before it: {list_of(before, most=MOST_LISTED)}.")
