"""What a person wants from a calibration: score, error, confidence, method; and how often."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import Any

import streamlit as st

from core.charts.calibration import name_of
from core.data.tabular.labelled import Labelled
from core.studies.calibration.calibration import (
    BEST,
    METHODS,
    Calibration,
    CalibrationError,
    Target,
    preference,
)
from core.studies.calibration.price_list import TARGETS, list_entry
from core.studies.calibration.whole import Whole, whole
from core.ui.addresses import number
from core.ui.glossary import TERMS
from core.ui.runs.large import SMALL, result_of
from core.ui.session import memory_of

Rows = tuple[str, int]  # the hash of a file, and how many of its rows
Setting = tuple[Target, frozenset[tuple[str, bool]]]
BEFORE = (
    "Set the target before you load the data: one that was chosen after a look at the results has "
    "to be paid for."
)


def target(data: Labelled | None) -> Target:
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
    score = BEST if data is None else _score(data, method)
    left, right = st.columns(2)
    with left:
        error = number("alpha", 0.001, 0.5, 0.05, 0.01, format="%.3f")
    with right:
        confidence = number(
            "confidence", 0.5, 0.999, 0.9, 0.05, format="%.3f", disabled=method != "ltt"
        )
    if data is None:
        st.text(BEFORE)
        return Target(error, confidence)
    typed = Target(error, confidence, method, score)
    return list_entry(typed, error) if _is_from_the_list(data, typed) else typed


def _score(data: Labelled, method: str) -> str:
    scores = list(data.doubts)
    options = [BEST, *scores] if method == "ltt" and len(scores) > 1 else scores
    chosen: str = st.selectbox(
        "Score",
        options,
        options.index(preference(data, method=method)),
        key=f"score_{data.sha256[:16]}",
        persist_state="session",
        format_func=lambda name: name if name == BEST else name_of(name),
        help="Choose one score in advance, or let the best be picked with δ divided by the number "
        "of scores (Bonferroni).",
    )
    return chosen


def _is_from_the_list(data: Labelled, target: Target) -> bool:
    """Say whether a target was chosen from the list of prices, after a look at these rows."""
    return target.method == "ltt" and target.error != _first(data, target.error) and _is_on(target)


def _is_on(target: Target) -> bool:
    return any(math.isclose(target.error, each) for each in TARGETS)


def _first(data: Labelled, error: float) -> float:
    """Return the target that was set when these labels were first looked at."""
    return _first_targets().setdefault(_rows_of(data), error)


def calibration_for(data: Labelled, target: Target) -> Whole | None:
    """Calibrate, once for every data and target, and count how many settings were tried.

    A score that is turned around is another setting. None while it is on its way.

    Raises
    ------
    CalibrationError
        As of `calibrate`.
    """
    settings = _tries(data)
    turned = data.surer if target.score == BEST else {target.score: data.surer[target.score]}
    settings.add((target, frozenset(turned.items())))
    tried = _number(settings, target, _first(data, target.error))
    earlier: dict[Any, Any] = memory_of("calibration_earlier", data, dict)
    return result_of(
        "calibration",
        data,
        lambda progress: whole(data, target, progress, settings_tried=tried, earlier=earlier),
        target,
        large=len(data.kept) * len(data.doubts) > SMALL,
        refuses=CalibrationError,
    )


def _number(settings: set[Setting], target: Target, first: float) -> int:
    """Return how many settings count against a wanted one.

    All targets of the list are one, for it is tested as one. What the list promises holds at
    once: that somebody first looked at another target of the same score makes none of it weaker.
    """
    tries = set()
    for each, turned in settings:
        is_seen_before = target.targets_tried > 1 and each.method == "ltt" and each.error == first
        if each.targets_tried > 1 or is_seen_before:
            each = list_entry(each, TARGETS[0])
        tries.add((each, turned))
    return len(tries)


def why(calibration: Calibration) -> str:
    """Say what the choice of the target costs: nothing, or a part of δ."""
    target = calibration.target
    if target.method != "ltt":
        return "Learn-then-Test alone can pay for a choice among targets."
    share = f"{100 * target.error:.6g}%"
    if target.targets_tried > 1:
        return (
            f"{share} was chosen from the list, after a look at these rows. The {len(TARGETS)} "
            "targets of the list share δ, so that all that it promises holds at once."
        )
    if target.error == _first(calibration.data, target.error):
        return (
            f"{share} was set before these rows were looked at, and uses all of δ. In the list "
            f"each target uses one part in {len(TARGETS)} of δ, and answers less: that pays for "
            "choosing one after seeing all."
        )
    return (
        f"{share} is not on the list: it has all of δ. If you chose it after a look at these "
        "rows, nothing has paid for that choice."
    )


def looks_at_all(data: Labelled, rows: Labelled) -> int:
    """Return how many settings were tried on all the data before some rows were held back."""
    return 0 if rows is data else len(_tries(data))


def _tries(data: Labelled) -> set[Setting]:
    """Return the targets that this session has tried on these labels, and with which directions."""
    return _all_tries().setdefault(_rows_of(data), set())


def _rows_of(data: Labelled) -> Rows:
    return data.sha256, len(data.kept)


def _first_targets() -> dict[Rows, float]:
    targets: dict[Rows, float] = st.session_state.setdefault("calibration_first_targets", {})
    return targets


def _all_tries() -> dict[Rows, set[Setting]]:
    tried: dict[Rows, set[Setting]]
    tried = st.session_state.setdefault("calibration_targets_tried", {})
    return tried


def looks() -> list[dict[str, Any]]:
    """Return what was looked at in this session, as JSON knows it."""
    return [
        {
            "rows": list(rows),
            "first": first,
            "tried": sorted(
                ([asdict(each), sorted(turned)] for each, turned in _all_tries().get(rows, ())),
                key=str,
            ),
        }
        for rows, first in _first_targets().items()
    ]


def look_again(looks: list[dict[str, Any]]) -> None:
    """Take up what was looked at in a session before, as `looks` returned it."""
    for each in looks:
        sha256, number = each["rows"]
        _first_targets()[sha256, number] = each["first"]
        _all_tries()[sha256, number] = {
            (Target(**target), frozenset((name, way) for name, way in turned))
            for target, turned in each["tried"]
        }
