"""The outcome of a calibration: what was read, what is promised, and what that rests on."""

from __future__ import annotations

from collections.abc import Sequence

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
    if is_example(rows):
        with st.expander("This is what was read"):
            _lines(rows.reading, rows.reading_of_others)
    else:
        reading_of(rows.reading, rows.reading_of_others)


def reading_of(sentences: Sequence[str], of_others: Sequence[str] = ()) -> None:
    """Say what a table was read as, a sentence a line."""
    with st.container(border=True, key="reading"):
        st.text("This is what was read", help=WHAT_WAS_READ)
        _lines(sentences, of_others)


def _lines(sentences: Sequence[str], of_others: Sequence[str]) -> None:
    st.text("\n".join(sentences))
    if of_others:
        with st.expander("The other scores"):
            st.text("\n".join(of_others))


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
