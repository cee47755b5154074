"""The promise and what becomes of it in each group of the labelled rows."""

import streamlit as st

from core.data.world.facts import Band
from core.reports.calibration import words
from core.reports.calibration.document import by_group
from core.studies.calibration.whole import CalibrationResult
from core.ui import figures
from core.ui.calibration.ledger import is_example
from core.ui.glossary import TERMS

MOST_DRAWN = 12  # groups: the promise stands beside them, not below


def groups(whole: CalibrationResult) -> None:
    """Draw the error of every group, and say in which groups no promise holds."""
    calibration, every = whole.calibration, whole.groups
    if calibration.policy is None:
        return
    if not every.groups:
        st.caption(
            "All questions count as one group. If they are of several kinds, name a column that "
            "tells them apart under “What the columns mean”: the promise may not hold for each."
        )
        return
    st.markdown("**Wrong among the answered, by group**", help=TERMS["Group"])
    st.text(words.own_rule(calibration.policy))
    st.text(words.by_group(every))
    if is_example(calibration.data) and Band.NEVER_SEEN in {each.name for each in every.groups}:
        st.text(words.NEVER_SEEN)
    first = every.groups[:MOST_DRAWN]
    other = words.other_label(calibration.data, calibration.score)
    picture = by_group(first, calibration.target.error, other)
    figures.show(picture, "groups")
    if picture.caption:
        st.text(picture.caption)
    if len(first) < len(every.groups):
        st.caption(f"Drawn are the {len(first):d} largest groups.")
