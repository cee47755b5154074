"""The outcome of a calibration: what was read, what is promised, and what that rests on."""

from __future__ import annotations

import streamlit as st

from core.abstention.thresholds import Uncertifiable
from core.data.tabular.labelled import Labelled
from core.reports.calibration import words
from core.studies.calibration.calibration import Calibration
from core.ui.calibration.ledger import is_example

WHAT_WAS_READ = (
    "Check it before you look at the result. “What the columns mean” changes each part of it."
)


def reading(rows: Labelled) -> None:
    """Say what the table was read as, above any number; of the example, who wants to know."""
    box = (
        st.expander("This is what was read")
        if is_example(rows)
        else st.container(border=True, key="reading")
    )
    with box:
        if not is_example(rows):
            st.text("This is what was read", help=WHAT_WAS_READ)
        st.text("\n".join(rows.reading))
        if others := rows.reading_of_others:
            with st.expander("The other scores"):
                st.text("\n".join(others))


def outcome(calibration: Calibration) -> None:
    """Say what is promised, or why nothing can be."""
    policy = calibration.policy
    with st.container(border=True, key="outcome"):
        if policy is None:
            st.badge("Cannot be certified", icon=":material/block:", color="red")
            if isinstance(calibration.outcome, Uncertifiable):
                st.text(calibration.outcome.reason)
        else:
            with st.container(horizontal=True):
                if policy.has_guarantee:
                    st.badge("Guaranteed", icon=":material/verified:", color="green")
                else:
                    st.badge("No guarantee", icon=":material/warning:", color="orange")
                if is_example(calibration.data):
                    st.badge("Of the bundled example", icon=":material/dataset:", color="gray")
            with st.container(key="promised"):
                st.text(policy.promise)
        for sentence in filter(None, [*calibration.data.decided, words.choice(calibration)]):
            st.text(sentence)
        more = [words.counts(policy), policy.payment.strip()] if policy else []
        if more := [
            *filter(None, [*more, words.upper_limit(calibration)]),
            *words.looks(calibration),
        ]:
            with st.expander("What this rests on"):
                for sentence in more:
                    st.text(sentence)
