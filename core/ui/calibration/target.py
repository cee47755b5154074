"""What a person wants from a calibration, score, error, confidence, method, and what it costs."""

import math
from typing import Any, Final

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core import codec
from core.abstention.ledger import Look
from core.charts.calibration import name_of
from core.data.tabular.labelled_rows import LabelledRows
from core.reports.calibration.document import price_columns, share_answered
from core.studies.calibration.calibration import (
    BEST,
    METHODS,
    Calibration,
    CalibrationError,
    Target,
    usual_score,
)
from core.studies.calibration.first_calibration import FIRST, first_calibration
from core.studies.calibration.price_list import TARGETS, TargetPrice, list_entry, smallest
from core.studies.calibration.result import CalibrationResult, calibration_result
from core.ui.addresses import percent
from core.ui.calibration.ledger import all_looks, check_ledger, is_example, note
from core.ui.glossary import TERMS
from core.ui.runs.large import SMALL, result_of
from core.ui.session import memory_of

SHARED: Final = "The targets of the list share what it may spend, so each may answer less."
Rows = tuple[str, int]  # the hash of a file, and how many of its rows


def target(data: LabelledRows | None, fields: DeltaGenerator, settings: DeltaGenerator) -> Target:
    """Ask for the target; everything stands in the address but the score of this data."""
    with settings:
        method = st.selectbox(
            "Method",
            list(METHODS),
            key="method",
            format_func=METHODS.__getitem__,
            bind="query-params",
            persist_state="session",
            help=TERMS["Learn-then-Test"],
        )
        score = BEST if data is None else _score(data, method)
    left, right = fields.columns(2)
    with left:
        error = percent("wrong", "alpha", 0.1, 50.0, 5.0, 1.0)
    with right:
        confidence = percent("sure", "confidence", 50.0, 99.9, 90.0, 5.0, disabled=method != "ltt")
    if data is None:
        return Target(error, confidence)
    typed = Target(error, confidence, method, score)
    return list_entry(typed, error) if _is_from_the_list(data, typed) else typed


def _score(data: LabelledRows, method: str) -> str:
    scores = list(data.doubts)
    options = [BEST, *scores] if method == "ltt" and len(scores) > 1 else scores
    key = f"score_{data.sha256[:16]}"
    if st.session_state.get(key, options[0]) not in options:  # “best” is none of every method
        del st.session_state[key]
    chosen: str = st.selectbox(
        "Score",
        options,
        options.index(usual_score(data, method=method)),
        key=key,
        persist_state="session",
        format_func=lambda name: name if name == BEST else name_of(name),
        help="Choose one score in advance, or let the best be picked with δ divided by the number "
        "of scores (Bonferroni). Where did it come from? A score that was fitted, tuned or chosen "
        "on these rows needs other rows.",
    )
    return chosen


def _is_from_the_list(data: LabelledRows, target: Target) -> bool:
    """Say whether a target was chosen from the list of prices, after a look at these rows."""
    is_on = any(math.isclose(target.error, each) for each in TARGETS)
    return target.method == "ltt" and target.error != _first(data, target.error) and is_on


def _first(data: LabelledRows, error: float) -> float:
    """Return the target that was set when these labels were first looked at."""
    if is_example(data):
        return FIRST.error
    return _first_targets().setdefault((data.sha256, len(data.kept)), error)


def calibration_for(data: LabelledRows, target: Target) -> CalibrationResult | None:
    """Calibrate, once for every data and target, as the next look at these labels.

    None while it is on its way.

    Raises `CalibrationError` as of `calibrate`.
    """
    _first(data, target.error)
    if data is first_calibration().calibration.data and target == FIRST and not _price_lists(data):
        return first_calibration()
    check_ledger(data)
    cache: dict[Any, Any] = memory_of("calibration_cache", data, dict)
    times = cache.setdefault("counted anew", 0)
    looks = memory_of("calibration_looks_before", data, lambda: all_looks(data), (target, times))
    listing = _price_lists(data).get((target.confidence, target.score))
    result = result_of(
        "calibration",
        data,
        lambda progress: calibration_result(
            data, target, progress, looks=looks, listing=listing, cache=cache
        ),
        (target, listing, looks),
        large=len(data.kept) * len(data.doubts) > SMALL,
        refuses=CalibrationError,
    )
    if result is None or note(result.looks, (*looks, *(listing or ())), data):
        return result
    cache["counted anew"] += 1  # another page has looked meanwhile
    if listing is not None:
        look = cache[target.confidence, target.score][1]
        if look.setting not in {each.setting for each in all_looks(data)}:
            del cache[target.confidence, target.score]
            want_prices(data, target)
    return calibration_for(data, target)


def want_prices(data: LabelledRows, target: Target) -> None:
    """Have the list of prices for this confidence and score from now on: it is another look."""
    _price_lists(data)[target.confidence, target.score] = all_looks(data)


def _price_lists(data: LabelledRows) -> dict[tuple[float, str], tuple[Look, ...]]:
    return memory_of("calibration_price_lists", data, dict)


def why(calibration: Calibration) -> str:
    """Say what the choice of the target costs: nothing, or a part of δ."""
    target = calibration.target
    if target.method != "ltt":
        return "Learn-then-Test alone can pay for a choice among targets."
    share = codec.percent(target.error)
    if target.targets_tried > 1:
        return (
            f"{share} was chosen from the list, after a look at these rows. The {len(TARGETS)} "
            "targets of the list share what it may spend, so that all that it promises holds at "
            "once."
        )
    if target.looks <= 1 and target.error == _first(calibration.data, target.error):
        return f"{share} was set before these rows were looked at."
    return f"{share} is look {target.looks} at these labels, and is paid for."


def _first_targets() -> dict[Rows, float]:
    targets: dict[Rows, float] = st.session_state.setdefault("calibration_first_targets", {})
    return targets


def firsts() -> list[tuple[Rows, float]]:
    """Return which target was set first of which rows, as JSON knows it."""
    return list(_first_targets().items())


def set_first(firsts: list[tuple[Rows, float]]) -> None:
    """Take up what `firsts` returned in a session before."""
    for (sha256, rows), error in firsts:
        _first_targets()[sha256, rows] = error


def prices(result: CalibrationResult, data: LabelledRows) -> None:
    """Show how much is answered for each target, and offer the smallest that can be promised.

    The list is a look at the labels, so it is there once somebody asks for it.
    """
    calibration, listed = result.calibration, result.prices
    if not listed:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.button(
                "What each target costs",
                key="show_prices",
                icon=":material/price_change:",
                on_click=want_prices,
                args=(data, calibration.target),
                help=f"{TERMS['Price list']} The list is another look at these labels.",
            )
            if not is_example(data):
                st.text(
                    f"{why(calibration)} The list is another look at these labels.", width="stretch"
                )
        return
    st.markdown("**What each target costs**", help=TERMS["Price list"])
    best = smallest(listed)
    with st.container(horizontal=True, vertical_alignment="center"):
        if best is None:
            st.text("None of these targets can be promised on these labels.")
        elif not _is_promised(calibration, best.error):
            st.button(
                f"Promise at most {100 * best.error:.0f}%",
                key="promise",
                type="secondary" if calibration.policy else "primary",
                icon=":material/verified:",
                on_click=st.session_state.update,
                args=({"wrong": round(100 * best.error, 7), "method": "ltt"},),
            )
        apart = "" if calibration.target.targets_tried > 1 else f" {SHARED}"
        st.text(f"{why(calibration)}{apart}", width="stretch")
    st.dataframe(
        price_columns(calibration, listed), hide_index=True, key="prices", alt=_words(listed)
    )


def _is_promised(calibration: Calibration, error: float) -> bool:
    is_promised = calibration.policy is not None and calibration.policy.method == "ltt"
    return is_promised and calibration.target.error <= error


def _words(listed: tuple[TargetPrice, ...]) -> str:
    return "; ".join(f"at most {100 * each.error:.0f}%: {share_answered(each)}" for each in listed)
