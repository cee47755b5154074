"""Moving λ by hand, and taking the policy along: use it, download it, decide with it."""

import math
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from core.abstention import metrics
from core.abstention.policy import Policy, own_direction, to_json
from core.charts import calibration as charts
from core.codec import one_line
from core.reports.calibration import document as reports
from core.reports.calibration import words
from core.reports.inspection.words import BELIEF
from core.studies.calibration import calibration as study
from core.studies.calibration import new_rows, rows_by_doubt
from core.studies.calibration.calibration import Calibration
from core.studies.calibration.first_calibration import (
    belief_by_bin,
    first_calibration,
    other_rows_for,
)
from core.studies.calibration.result import CalibrationResult
from core.ui import downloads, frame
from core.ui.addresses import number_in_address
from core.ui.calibration.answers import answers
from core.ui.calibration.data import ask_model, has_questions
from core.ui.calibration.policy import in_use, use
from core.ui.calibration.result import grounds, outcome
from core.ui.components import threshold as component
from core.ui.components.threshold import BESIDE, NeighbouringRows, ShownRow, ThresholdPlaces
from core.ui.folds import fold
from core.ui.policy_badge import belief_of, is_default
from core.ui.session import memory_of
from core.uncertainty.scores import SCORES

STEPS = 200
WIDEST = 1e300  # what a browser's slider can span
LONGEST_CELL = 100  # characters
_ADDRESS = "threshold"  # where λ by hand stands
_DRAWN = "calibration_lambda"  # the name in the session of the λ that was drawn last


@st.fragment
def threshold(result: CalibrationResult) -> None:
    """Draw the scores with λ, let it be moved, and show what follows from where it stands.

    The browser moves λ by itself. Once it rests, this part of the page runs, and nothing else.
    """
    calibration = result.calibration
    box = st.container(border=True, key="outcome")
    key = f"{calibration.data.sha256[:12]}_{len(calibration.data.kept)}_{calibration.score}"
    span = _span(calibration, key)
    policy, between = _scores_under_lambda(result, span, f"threshold_{key}")
    by_hand = policy is not None and policy != calibration.policy
    if policy is not None and not by_hand:
        policy = replace(policy, caution=words.caution(result.groups))
    with box:
        outcome(result, partial(_offers, result, policy, by_hand=by_hand))
        grounds(calibration, policy if by_hand else None)
    λ = policy.threshold if policy else -math.inf
    if between:
        answers(calibration, λ, between, key)
    else:
        rows = partial(answers, calibration, λ, None, key)
        fold("All rows", rows, key="all_rows", icon=":material/table_rows:")


@dataclass(frozen=True)
class _Span:
    """Where λ can be moved, in the score's own direction, and where it stands first."""

    low: float
    high: float
    start: float
    everything: float  # the end at which even the most doubtful is answered
    key: str


def _span(calibration: Calibration, key: str) -> _Span | None:
    """Return where λ can be moved by hand; say it where it cannot."""
    values, surer = (
        calibration.numbers[np.isfinite(calibration.numbers)],
        calibration.larger_is_surer,
    )
    if not len(values) or values.min() == values.max():
        st.text("All scores are equal: λ can only answer everything or nothing.")
        return None
    low, high = float(values.min()), float(values.max())
    step = high / STEPS - low / STEPS  # the difference itself can be infinite
    nothing = high if surer else low
    # One step further, to answer the most doubtful as well; at the surest, nothing is answered.
    everything = low - step if surer else high + step
    low, high = min(low, everything), max(high, everything)
    if low + step == low or high - step == high or high - low > WIDEST:
        st.text("The scores are too close together, or too far apart, to move λ by hand.")
        return None
    certified = (
        own_direction(calibration.policy.threshold, surer) if calibration.policy else nothing
    )
    start = min(max(certified, low), high)
    return _Span(low, high, start, everything, f"lambda_{key}_{start:.9g}")


def _doubt(value: float, span: _Span, surer: bool) -> float:
    """Return where λ stands as a doubt; endless at the end that answers everything."""
    is_everything = value <= span.everything if surer else value >= span.everything
    return math.inf if is_everything else own_direction(value, surer)


def _now(span: _Span, places: ThresholdPlaces) -> float:
    """Return the place where λ stands; in a new session, where the address says."""
    if span.key not in st.session_state:
        is_new = _DRAWN not in st.session_state
        named = number_in_address(_ADDRESS, span.low, span.high) if is_new else None
        st.session_state[span.key] = span.start if named is None else named
    st.session_state[_DRAWN] = span.key
    value = places.nearest(st.session_state[span.key])
    if value != span.start:
        st.query_params[_ADDRESS] = f"{value:.12g}"
    else:
        st.query_params.pop(_ADDRESS, None)
    return value


def _set(key: str, value: float) -> None:
    st.session_state[key] = value


def _scores_under_lambda(
    result: CalibrationResult, span: _Span | None, key: str
) -> tuple[Policy | None, tuple[float, float] | None]:
    """Draw the scores under λ; return the policy there, and which scores a person selected."""
    calibration, policy = result.calibration, result.calibration.policy
    places = memory_of("places", result, partial(_places, result, span))
    now = None if span is None else _now(span, places)
    at = policy.threshold if policy else -math.inf
    if span is not None and now is not None and now != span.start:
        at = _doubt(now, span, calibration.larger_is_surer)
        policy = study.move_threshold(calibration, at)
    own = (
        None
        if calibration.policy is None
        else own_direction(calibration.policy.threshold, calibration.larger_is_surer)
    )
    kind = "confidence" if calibration.larger_is_surer else "doubt"
    name, ours = charts.name_of(calibration.score), SCORES.get(calibration.score)
    unit = f" in {ours.doubt_unit}" if ours and ours.doubt_unit and kind == "doubt" else ""
    shares, most = result.shares, None
    belief = belief_of(calibration.policy) if calibration.policy else None
    if result is first_calibration() and calibration.policy and belief:
        shares = {**shares, **belief_by_bin()}
        _, most = words.belief_limits(calibration.policy, belief)
    selected, opened = component.threshold(
        places.values[places.start] if now is None else now,
        places,
        shares,
        memory_of("curve", result, partial(_curve, result, places)),
        memory_of("beside", result, partial(_beside, calibration, places)),
        {
            "title": (kind if name.casefold() == kind else f"{kind}: {name}") + unit,
            "alt": charts.histogram_alt(result.shares, calibration.score, own),
            "curve": charts.risk_coverage_alt(result.curves[calibration.score], calibration.policy),
            "belief": f"{BELIEF}, at most {charts.number(most or 0.0, 2)}",
            **words.promise(calibration),
            **words.number_labels(calibration.data, calibration.score, other_rows_for(calibration)),
        },
        belief_limit=most,
        on_moved=partial(_set, span.key) if span else _set_nothing,
        key=key,
    )
    if opened is not None and (question := rows_by_doubt.question(calibration.data, opened)):
        frame.inspect(question)
    return policy, selected


def _set_nothing(value: float) -> None:
    """λ stays where it is: it cannot be moved."""


def _places(result: CalibrationResult, span: _Span | None) -> ThresholdPlaces:
    """Return where λ can be put, and what it does there."""
    calibration, surer = result.calibration, result.calibration.larger_is_surer
    policy = calibration.policy
    certificate = policy.threshold if policy else -math.inf
    if span is None:
        own = own_direction(certificate, surer)
        values = np.array([own if math.isfinite(own) else 0.0])
        doubts, start = np.array([certificate]), 0
    else:
        # Evenly, so that the control stands over the line that it moves; its start is one of them.
        values = np.linspace(span.low, span.high, STEPS + 2)
        start = int(abs(values / 2 - span.start / 2).argmin())
        if 0 < start < STEPS + 1:
            values[start] = span.start
        elif values[start] != span.start:
            values = np.unique(np.append(values, span.start))
            start = int(np.searchsorted(values, span.start))
        doubts = np.array([_doubt(float(value), span, surer) for value in values])
        if policy:
            doubts[start] = certificate
    answered, errors = result.curves[calibration.score].below(doubts)
    promised = np.zeros(len(doubts), bool)
    if policy and policy.has_guarantee:
        promised = answered == policy.answered
    texts = [charts.number(own_direction(float(each), surer)) for each in doubts]
    certified = start if policy else None
    shares, wrong = _shares(answered, len(calibration.doubts)), _shares(errors, answered)
    if others := other_rows_for(calibration):
        seen, mistakes = metrics.curve(others.doubts, others.correct).below(doubts)
        shares = _with(shares, _shares(seen, len(others.doubts)))
        wrong = _with(wrong, _shares(mistakes, seen))
    elif by_other := calibration.data.others.get(calibration.score):
        mistakes = metrics.curve(calibration.doubts, by_other.right).below(doubts)[1]
        wrong = _with(_shares(mistakes, answered), wrong)
    return ThresholdPlaces(
        *(values, start, certified, texts, answered, errors, promised, shares, wrong),
        movable=span is not None,
    )


def _shares(part: NDArray[np.int64], whole: NDArray[np.int64] | int) -> list[str]:
    every = np.broadcast_to(whole, part.shape)
    return [f"{one / of:.1%}" if of else "–" for one, of in zip(part, every, strict=True)]


def _with(others: list[str], first: list[str]) -> list[str]:
    """Return shares with others in brackets behind them."""
    return [f"{one} ({other})" for one, other in zip(first, others, strict=True)]


def _curve(result: CalibrationResult, places: ThresholdPlaces) -> dict[str, Any] | None:
    target, some = result.calibration.target, places.answered > 0
    if not some.any():
        return None
    at = metrics.Curve(places.values, places.answered, places.errors, 1)
    lower, upper = at.band(target.confidence)
    most = max(
        float((places.errors / np.maximum(places.answered, 1)).max()) * 1.25, 2 * target.error
    )
    return {"lower": lower, "upper": upper, "target": target.error, "most": min(1.0, most)}


def _beside(calibration: Calibration, places: ThresholdPlaces) -> NeighbouringRows:
    """Return the rows on both sides of every place."""
    everything = rows_by_doubt.by_doubt(calibration, math.inf)
    ranks = rows_by_doubt.ranks_near(everything, places.answered, BESIDE)
    chosen: NDArray[np.int64] = everything.order[ranks]
    columns = rows_by_doubt.table(everything, chosen)
    score = "score" if calibration.larger_is_surer else "doubt"
    names = [name for name in ("question", "answer", "right answer") if name in columns]
    # One digit more than λ has: the rows beside it differ from it by little.
    numbers = ["–" if x is None else charts.number(float(str(x)), 4) for x in columns[score]]
    rows = [
        ShownRow(
            (
                *(one_line(str(columns[name][i]), LONGEST_CELL) for name in names),
                *(str(columns["right or wrong"][i]), text),
            ),
            bool(everything.right[ranks[i]]),
            int(chosen[i]),
            rows_by_doubt.question(calibration.data, int(chosen[i])) is not None,
        )
        for i, text in enumerate(numbers)
    ]
    before = np.searchsorted(ranks, places.answered)
    return NeighbouringRows((*names, "right or wrong", score), rows, before)


def _offers(result: CalibrationResult, policy: Policy | None, *, by_hand: bool) -> None:
    """Offer the policy to decide here, and its files; say the next step where it cannot decide."""
    reason = None if policy is None else words.no_use(policy)
    limit = own_direction(policy.threshold, policy.larger_is_surer) if policy else math.nan
    key = "moved" if by_hand else "offers"
    with st.container(horizontal=True, vertical_alignment="center", key=key):
        if by_hand and policy:
            if not policy.has_guarantee:
                st.badge("No promise", icon=":material/warning:", color="orange")
            st.text(words.by_hand(policy))
        if policy is not None and (in_use() == policy or is_default(policy)):
            if st.button(
                f"Inspect with limit {limit:.3g}",
                key="to_inspection",
                type="primary",
                icon=":material/search:",
            ):
                st.switch_page(frame.inspection(), query_params={})
            if is_default(policy):
                st.badge("In use by default", icon=":material/check:", color="blue")
        elif (
            policy is not None
            and reason is None
            and st.button(
                f"Use limit {limit:.3g}",
                key="use_policy",
                type="primary" if policy.has_guarantee and not policy.caution else "secondary",
                icon=":material/policy:",
                help="Verdicts on Inspection follow it from now on, in this session.",
            )
        ):
            use(policy)
            st.rerun()  # all of the page: its top says what is in use
        if (
            reason is not None
            and result.calibration.data.truths is not None  # an answer that was judged is none
            and has_questions()
            and st.button("Ask the model in use here", key="ask_here", icon=":material/forum:")
        ):
            ask_model()
            st.rerun()
        downloads.menu(partial(_files, result, policy, by_hand=by_hand))
    if reason is not None:
        st.text(reason)


def _files(result: CalibrationResult, policy: Policy | None, *, by_hand: bool) -> None:
    calibration, moved = result.calibration, policy if by_hand else None
    downloads.report(partial(reports.report, calibration, moved, result.prices), "calibration")
    if policy is None:
        return
    downloads.download("Policy (JSON)", lambda: to_json(policy), "policy.json")
    downloads.download(
        "Decisions (CSV)", lambda: new_rows.decisions(calibration.data, policy), "decisions.csv"
    )
    st.text(words.rule(policy))
