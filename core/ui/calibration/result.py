"""The outcome of a calibration: what was read, what is promised, by group too, and on what."""

from collections.abc import Callable, Sequence

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.abstention.policy import Policy
from core.data.tabular.labelled_rows import LabelledRows
from core.data.world.facts import Band
from core.reports.calibration import words
from core.reports.calibration.document import by_group
from core.studies.calibration.calibration import Calibration
from core.studies.calibration.first_calibration import (
    errors_of_belief,
    first_calibration,
    other_rows_for,
)
from core.studies.calibration.result import CalibrationResult
from core.ui import figures
from core.ui.calibration.ledger import is_example, limit_of_count
from core.ui.glossary import TERMS
from core.ui.policy_badge import belief_of

WHAT_WAS_READ = (
    "Check it before you look at the result. “What the columns mean” changes each part of it."
)
ON_OTHERS = (
    "The others certified nothing; the settings were chosen on them, such as the least sampled "
    f"mass. {TERMS['Nearness']} No share here counts such questions."
)


def promise(result: CalibrationResult) -> None:
    """Say what comes of it, and for what it does not hold, before all else."""
    policy = result.calibration.policy
    st.text(words.in_short(result.calibration), help=TERMS["Threshold λ"])
    if policy is not None and words.caution(result.groups):
        is_first = belief_of(policy) is not None and result is first_calibration()
        with st.container(key="caution"):
            st.text(words.proportion(result.groups, errors_of_belief if is_first else None))


def reading_of(sentences: Sequence[str], of_others: Sequence[str] = ()) -> None:
    """Say what a table was read as, a sentence a line."""
    with st.container(border=True, key="reading"):
        st.header("This is what was read", anchor=False, help=WHAT_WAS_READ)
        _lines(sentences, of_others)


def reading_of_example(data: LabelledRows, head: DeltaGenerator) -> None:
    """Say in the head of the data that this is the example, and folded, what was read."""
    number = len(data.kept)
    head.badge(f"Example: {number:,d} questions", icon=":material/dataset:", color="gray")
    with st.expander("Columns and first rows", key="grounds_read"):
        _lines(data.reading, data.reading_of_others)


def _lines(sentences: Sequence[str], of_others: Sequence[str]) -> None:
    st.text("\n".join(sentences))
    if of_others:
        with st.expander("The other scores"):
            st.text("\n".join(of_others))


def outcome(result: CalibrationResult, offers: Callable[[], None]) -> None:
    """Say what is promised and where it is not, or why nothing can be.

    `offers`: draws what can be done with it.
    """
    calibration = result.calibration
    policy = calibration.policy
    with st.container(horizontal=True, vertical_alignment="center"):
        st.header("3 Limit", anchor=False, width="content")
        _badges(result)
    if policy is None:
        if reason := words.why_not(calibration):
            st.text(reason)
        offers()
        return
    belief, others = belief_of(policy), other_rows_for(calibration)
    if shares := words.by_headline(calibration, belief, others):
        st.text(words.rows_counted(calibration, others), help=ON_OTHERS if others else None)
        _headlines(shares)
    else:
        st.text(words.counts(policy))
    offers()
    weaker = policy.promise.removeprefix(policy.of_error)
    if not is_example(calibration.data):  # of which it is said beneath
        weaker += policy.agreement
    for sentence in filter(None, [weaker.strip(), limit_of_count(calibration.data)]):
        st.text(sentence)


def _badges(result: CalibrationResult) -> None:
    policy = result.calibration.policy
    if policy is None:
        st.badge("Cannot be promised", icon=":material/block:", color="red")
        return
    if policy.has_guarantee and words.caution(result.groups):
        st.badge("Promised overall, not in each group", icon=":material/rule:", color="orange")
    elif policy.has_guarantee:
        st.badge("Promised", icon=":material/verified:", color="green")
    else:
        st.badge("No promise", icon=":material/warning:", color="orange")


def _headlines(shares: Sequence[words.HeadlineShare]) -> None:
    """Draw which words the labelled answers get on Inspection."""
    with st.container(key="headlines"):
        for column, each in zip(st.columns(len(shares), gap="xsmall"), shares, strict=True):
            with column, st.container(key=f"stamp_{each.stamp.style}_here", gap="xxsmall"):
                st.text(f"{each.stamp.label}{each.share}")
            with column:
                st.text(each.counted)
                st.text(each.rule)


def grounds(calibration: Calibration, by_hand: Policy | None) -> None:
    """Say what an outcome rests on, and a λ that was moved."""
    policy, rows = calibration.policy, calibration.data
    for sentence in filter(None, [*rows.decided, words.choice(calibration)]):
        st.text(sentence)
    more = []
    if policy:
        belief = belief_of(policy)
        counts = words.counts(policy) if words.by_headline(calibration, belief) else ""  # or above
        more = [policy.of_error, counts, policy.payment.strip()]
        more += [words.believes(policy, belief), policy.agreement.strip() * is_example(rows)]
    more = [*filter(None, [*more, words.upper_limit(calibration)]), *words.looks(calibration)]
    if by_hand:
        more += [words.counts(by_hand), by_hand.sentence]
    if not more:
        return
    with st.expander("What this rests on", key="grounds"):
        for sentence in more:
            st.text(sentence)


MOST_DRAWN = 12  # groups: the promise stands beside them, not below


def groups(result: CalibrationResult) -> None:
    """Draw the error of every group, and say in which groups no promise holds."""
    calibration, every = result.calibration, result.groups
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
