"""Rows that a calibration has not seen: a half held back, and new scores without labels."""

from dataclasses import replace
from functools import partial

import streamlit as st

from core.abstention.policy import Policy, PolicyError
from core.codec import quotes
from core.data.tabular.labelled_rows import LabelledRows
from core.data.tabular.uploads import UploadError
from core.reports.calibration import words
from core.studies.calibration import holdout, new_rows
from core.studies.calibration.calibration import Calibration, CalibrationError
from core.studies.calibration.holdout import Confirmation
from core.ui import downloads
from core.ui.calibration.ledger import limit_of_count, take
from core.ui.messages import problem
from core.ui.runs.large import SMALL, result_of
from core.ui.session import memory_of
from core.ui.uploads import table_field


def holding_back() -> bool:
    """Let half of the rows be held back: best before there are data, and results on all rows."""
    return st.toggle(
        "Hold back half of the rows for confirmation",
        key="hold",
        persist_state="session",
        help="Try settings on one half as often as you like, then confirm your choice once on the "
        "other. Switch this on before you upload the data: a choice made on all rows cannot be "
        "confirmed on half of them.",
    )


def holdout_split(data: LabelledRows) -> tuple[LabelledRows, LabelledRows] | None:
    """Split the rows; return those to try settings on, and those held back."""
    split = result_of("halves", data, lambda _: holdout.halves(data), large=_is_large(data))
    if split is None:
        return None
    first, second = split
    st.text(f"Rows to try settings on: {len(first.kept):,}; held back: {len(second.kept):,}.")
    return first, second


def confirmation(calibration: Calibration, untouched: LabelledRows | None) -> None:
    """Test the chosen setting on the half that was held back: a look at its labels."""
    policy = calibration.policy
    if untouched is None or policy is None:
        return
    st.markdown("**Confirm on the other half**")
    st.text(words.own_rule(policy))
    # The same threshold again, after a look at others, is no other threshold.
    policy = replace(policy, settings_tried=1, looks=0)
    confirmed: dict[Policy, Confirmation | str] = memory_of("confirmed", untouched, dict)
    st.button(
        "Confirm this threshold",
        key="confirm",
        disabled=policy in confirmed,
        on_click=_confirm,
        args=(policy, untouched, confirmed),
    )
    checked = confirmed.get(policy)
    if isinstance(checked, str):
        problem(checked)
    elif checked is not None:
        with st.container(border=True, key="confirmation"):
            if checked.keeps_target:
                st.badge("Confirmed", icon=":material/verified:", color="green")
            else:
                st.badge("Not confirmed", icon=":material/warning:", color="orange")
            limits = *words.limits_of_test(checked), limit_of_count(untouched)
            for sentence in filter(None, (words.confirmation(checked), *limits)):
                st.text(sentence)


def _confirm(
    policy: Policy, untouched: LabelledRows, confirmed: dict[Policy, Confirmation | str]
) -> None:
    try:
        test = partial(holdout.confirm_half, policy, untouched)
        confirmed[policy] = take(test, lambda checked: checked.look, untouched)
    except CalibrationError as error:
        confirmed[policy] = str(error)


def new_scores(calibration: Calibration) -> None:
    """Take scores without labels, compare them with the calibration's, and decide on them."""
    policy = calibration.policy
    if policy is None:
        return
    with st.expander("New questions: are they like these?", icon=":material/difference:"):
        columns = [calibration.score, *(["pipeline"] if policy.pipeline else [])]
        st.text(
            f"Upload new rows with {quotes(columns)}, without labels. Their scores are compared "
            f"with the calibration’s, and each is decided. {words.own_rule(policy)}"
        )
        upload = table_field("New scores", key="new_scores")
        if upload is None:
            return
        try:
            fresh = new_rows.new_scores(upload, policy)
            compared = result_of(
                "drift",
                calibration,
                lambda _: new_rows.drift_from(calibration, fresh),
                upload.sha256,
                large=_is_large(calibration.data) or len(fresh.doubts) > SMALL,
                refuses=CalibrationError,
            )
        except (UploadError, CalibrationError, PolicyError) as error:
            problem(str(error))
            return
        if compared is None:
            return
        if compared.drifted:
            st.badge("Different", icon=":material/warning:", color="orange")
        elif compared.too_few:
            st.badge("Too few to say", icon=":material/help:", color="gray")
        else:
            st.badge("No difference visible", icon=":material/check:", color="blue")
        st.text(compared.sentence)
        st.text(words.decisions_in_words(fresh))
        if fresh.others or fresh.shows_nothing or not fresh.is_answered_as_often:
            st.text(words.promise_for(fresh))
        downloads.download(
            "Decisions (CSV)", lambda: new_rows.new_decisions(fresh), "new_decisions.csv"
        )


def _is_large(data: LabelledRows) -> bool:
    return len(data.kept) * len(data.doubts) > SMALL
