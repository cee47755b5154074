"""Behind a calibration: all scores together, by entropy, with intervals."""

import math

import streamlit as st

from core.abstention.intervals import Comparison, Interval
from core.abstention.thresholds import Threshold
from core.charts import calibration as charts
from core.charts.paper_figures import ERROR, RECALL, papers
from core.codec import finite
from core.reports.calibration import words
from core.reports.calibration.document import by_entropy, precision_recall
from core.reports.calibration.words import NO_SCORE, NO_VALUE
from core.reports.paper_figures import FIGURE_5
from core.reports.text import brackets, curve_ends
from core.studies.calibration import diagnostics
from core.studies.calibration.calibration import Calibration
from core.studies.calibration.diagnostics import AurocComparison
from core.studies.calibration.result import CalibrationResult
from core.ui import downloads, figures
from core.ui.calibration.ledger import is_example
from core.ui.glossary import TERMS
from core.ui.runs.job import Job
from core.ui.runs.widget import offer_run, run
from core.ui.session import memory_of

SMALL_COMPARISON = 20_000  # rows × scores: more are compared when somebody asks
PLACE = "comparison"


def comparison(result: CalibrationResult) -> None:
    """Draw what is behind the threshold, in three tabs."""
    scores, entropy, intervals = st.tabs(["All scores", "By entropy", "Comparison with intervals"])
    with scores:
        _curves(result)
    with entropy:
        _entropy(result)
    with intervals:
        _intervals(result.calibration)


def _curves(result: CalibrationResult) -> None:
    curves = {n: c for n, c in result.curves.items() if len(c.doubts)}
    if not curves:
        st.text(NO_SCORE)
        return
    score, data = result.calibration.score, result.calibration.data
    names = st.multiselect(
        "Scores drawn",
        list(curves),
        papers(curves, score, 2),
        format_func=charts.name_of,
        key=f"curves_drawn_{data.sha256[:16]}_{score}",
        persist_state="session",
    )
    if not names:
        st.text("Choose a score to draw.")
        return
    figures.show(precision_recall({name: curves[name] for name in names}), "precision_recall")
    for sentence in curve_ends(data.doubts, NO_VALUE):
        st.text(sentence)
    st.caption(FIGURE_5)


def _entropy(result: CalibrationResult) -> None:
    calibration = result.calibration
    if calibration.data.entropies is None:
        st.text(
            "There is no column with the semantic entropy. Name one under “What the columns mean”."
        )
        return
    binned = result.by_entropy
    if not binned:
        st.text("There is no threshold to show.")
        return
    for column, measure in zip(st.columns(2), (RECALL, ERROR), strict=True):
        with column:
            figures.show(by_entropy(binned, measure), f"entropy_{measure}")
    st.caption(
        "Each score at its own threshold for the same target. A score that mistakes many right "
        "answers for doubt answers few questions of high entropy. A bar of 0% is a line; a missing "
        "bar of errors: nothing is answered there."
    )
    if other := words.other_label(calibration.data, calibration.score):
        st.text(brackets(other))


def _intervals(calibration: Calibration) -> None:
    """Compare by the paired bootstrap, in a job: thousands of resamples take a moment."""
    # Other data are other data even where they are equal: to compare them would take longer.
    key = memory_of("compared_scores", calibration.data, object), calibration.target
    resampled: dict[str, Comparison] = memory_of("resampled", calibration.data, dict)
    small = len(calibration.data.kept) * len(calibration.data.doubts) <= SMALL_COMPARISON
    small = small and not is_example(calibration.data)  # with which the page opens at once
    compared = run(
        PLACE,
        key,
        lambda: Job(
            lambda job: diagnostics.compare(calibration, job.progress, resampled=resampled)
        ),
        on_press=not small,
        quick=0.3,
        cancelled="Cancelled.",
    )
    if compared:
        _table(compared)
    else:
        offer_run("Compare with intervals", "compare", PLACE, key)


def _table(compared: tuple[AurocComparison, ...]) -> None:
    columns = {
        "score": [charts.name_of(c.score) for c in compared],
        "AUROC for wrong answers": [c.auroc.value for c in compared],
        "95% interval": [_interval(c.auroc, ".3f") for c in compared],
        "chosen score minus this": [_value(c.difference) for c in compared],
        "95% interval of that": [_interval(c.difference, "+.3f") for c in compared],
        "AURC (lower is better)": [c.aurc for c in compared],
        "answered at the target": [
            f"{c.outcome.coverage:.1%}" if isinstance(c.outcome, Threshold) else "not certified"
            for c in compared
        ],
    }
    st.dataframe(
        columns,
        column_config={
            "AUROC for wrong answers": st.column_config.NumberColumn(
                format="%.3f", help=TERMS["AUROC"]
            ),
            "AURC (lower is better)": st.column_config.NumberColumn(
                format="%.3f", help=TERMS["AURC"]
            ),
        },
        hide_index=True,
        key="comparison",
    )
    st.caption(
        "Paired bootstrap, 2,000 resamples of the questions, the same for every score. Each "
        "interval is by itself: of several, some exclude 0 by chance. 95% is Evaluation’s level, "
        "however sure the promise is."
    )
    downloads.table(_numbers(compared), "comparison")


def _numbers(compared: tuple[AurocComparison, ...]) -> dict[str, list[object]]:
    """Return the table as numbers, to be computed with: no value where there is none."""

    def ends(of: list[Interval | None], what: str) -> dict[str, list[object]]:
        headings = {what: "value", f"{what} from": "lower", f"{what} to": "upper"}
        return {
            heading: [finite(getattr(each, end, math.nan)) for each in of]
            for heading, end in headings.items()
        }

    return {
        "score": [charts.name_of(c.score) for c in compared],
        **ends([c.auroc for c in compared], "AUROC"),
        **ends([c.difference for c in compared], "chosen score minus this"),
        "AURC": [finite(c.aurc) for c in compared],
        "answered": [
            c.outcome.coverage if isinstance(c.outcome, Threshold) else None for c in compared
        ],
    }


def _value(difference: Interval | None) -> str:
    is_finite = difference is not None and math.isfinite(difference.value)
    return f"{difference.value:+.3f}" if difference and is_finite else "–"


def _interval(of: Interval | None, form: str) -> str:
    """Return an interval in words; there is none where all answers are right, or all wrong."""
    if of is None or not (math.isfinite(of.lower) and math.isfinite(of.upper)):
        return "–"
    return f"{of.lower:{form}} to {of.upper:{form}}"
