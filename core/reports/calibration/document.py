"""The report of a calibration: what is promised, what it costs, and on which rows it rests."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Final

import numpy as np

from core.abstention.intervals import ConfidenceBand
from core.abstention.metrics import Bin, Curve
from core.abstention.mixtures import Bar, Mixture
from core.abstention.policy import Policy
from core.abstention.thresholds import Uncertifiable
from core.charts import calibration as charts
from core.charts.paper_figures import papers
from core.codec import one_line, percent
from core.reports import paper_figures as figures
from core.reports.calibration import words
from core.reports.report import Cell, Part, Picture, Report, Table
from core.reports.text import brackets, curve_ends
from core.studies.calibration import diagnostics
from core.studies.calibration.calibration import BEST, METHODS, Calibration, Target
from core.studies.calibration.diagnostics import BinDecisions
from core.studies.calibration.groups import ByGroup
from core.studies.calibration.groups import by_group as guarantee_by_group
from core.studies.calibration.price_list import TargetPrice
from core.studies.evaluation.mixing import GUARANTEED

MOST_GROUPS: Final = 20
MOST_POINTS: Final = 200  # of a curve
READING: Final = (
    "A threshold λ decides which questions are answered: those whose doubt lies below it. It was "
    "found on labelled rows, whose answers are known to be right or wrong.",
    "The curve shows, for every threshold, the share of wrong answers among those answered, "
    "against the share answered. The band is the interval at each point by itself, the dashed "
    "line the target, the diamond the threshold, and a circle one chosen by hand.",
)
OF_PROMISE: Final = (
    "The promise is about new questions that are drawn like these rows and scored by the same "
    "pipeline. It holds with the stated confidence: on average, so many calibrations keep it. "
    "It says nothing about other questions, nor about a single one.",
    "Every look at the same labels spends a part of δ, so that all looks at a label together keep "
    "the promise; the report says which one this was. Other labels have a δ of their own: of "
    "batches brought until one passes, each may pass by chance.",
    "A price list, if there is one, tests seven targets as one family, so that a promise of it "
    "holds even if it is chosen after looking.",
)


def report(
    calibration: Calibration, moved: Policy | None = None, prices: Sequence[TargetPrice] = ()
) -> Report:
    """Return the report of a calibration.

    `prices` are those that were paid for, as the list is another look at the labels; `moved` has a
    λ chosen by hand, to be shown beside what was found.
    """
    policy, outcome = calibration.policy, calibration.outcome
    if policy is not None:
        finding = policy.sentence
    else:
        finding = outcome.reason if isinstance(outcome, Uncertifiable) else "There is no policy."
    every = guarantee_by_group(calibration)
    return Report(
        kind="Calibration of a threshold",
        title=f"{charts.name_of(calibration.score)} on {calibration.data.name}",
        finding=finding,
        texts=[
            *filter(None, [words.caution(every)]),
            *([words.counts(policy)] if policy else []),
            *filter(None, [words.upper_limit(calibration)]),
            *words.earlier_looks(calibration),
            *calibration.data.decided,
            *filter(None, [words.repeated_questions(calibration.repeated)]),
            *filter(None, [words.contradiction(diagnostics.contradictions(calibration.data))]),
        ],
        parts=[
            *_reading(calibration),
            _risk(calibration, moved),
            *([_prices(calibration, prices)] if prices else []),
            *_groups(calibration, every),
        ],
        settings=_settings(calibration),
        reading=(*READING, *(OF_PROMISE if calibration.target.method == "ltt" else ())),
    )


def _reading(calibration: Calibration) -> list[Part]:
    """Say what the table was read as: a wrong reading promises the wrong thing."""
    book = calibration.data.codebooks.get(calibration.score)
    return [Part("What was read", [*book.notes, *book.sentences])] if book else []


def _risk(calibration: Calibration, moved: Policy | None) -> Part:
    curves = diagnostics.curves(calibration.data)
    curve = curves[calibration.score]
    by_hand = [f"λ by hand. {words.counts(moved)} {moved.sentence}"] if moved else []
    if not len(curve.doubts):
        return Part("Error against share answered", [words.NO_SCORE, *by_hand])
    shown = papers(curves, calibration.score, 4)
    pictures = [
        risk_coverage(calibration, curve, moved),
        precision_recall({name: curves[name] for name in shown}),
    ]
    ends = curve_ends(calibration.data.doubts, words.NO_VALUE)
    return Part("Error against share answered", [*by_hand, *ends], pictures)


def risk_coverage(calibration: Calibration, curve: Curve, moved: Policy | None) -> Picture:
    """Return the error among the answered against the share answered."""
    policy, target = calibration.policy, calibration.target
    data = (curve, policy, moved, target.error, target.confidence, calibration.larger_is_surer)
    alt_text = charts.risk_coverage_alt(curve, policy, moved)
    return Picture("Wrong among the answered", alt_text, charts.risk_coverage, data)


def precision_recall(curves: Mapping[str, Curve]) -> Picture:
    """Return the paper's Figure 5 of some scores; the first is emphasised."""
    bands = {}
    for name, whole in curves.items():
        of = whole.outline(MOST_POINTS)
        none = np.full(len(of.doubts), math.nan)
        bands[name] = ConfidenceBand(of.coverage, of.precision, none, none)
    return figures.precision_recall(bands)


def by_entropy(binned: Sequence[BinDecisions], measure: str) -> Picture:
    """Return a half of the paper's Figure 6: each score at its own threshold."""
    mixtures = [
        Mixture(each.score, GUARANTEED, (each.threshold,), tuple(map(_bar, each.bins)))
        for each in binned
    ]
    return figures.mixture(mixtures, measure)


def _bar(of: Bin) -> Bar:
    """Return a bin as a bar, which has no spread: nothing was drawn anew."""
    other = math.nan
    if of.other_errors is not None and of.answered:
        other = of.other_errors / of.answered
    return Bar(of.name, of.queries, of.recall, math.nan, of.error, math.nan, other)


def by_group(groups: Sequence[Bin], target: float, other: str = "") -> Picture:
    """Return the error of every group beside the target.

    `other`: by what answers are judged whose numbers stand in brackets; "" without one.
    """
    title, caption = "Wrong among the answered, by group", brackets(other)
    alt_text = ". ".join(filter(None, (charts.groups_alt(groups), caption)))
    return Picture(title, alt_text, charts.groups, (groups, target), caption=caption)


def _prices(calibration: Calibration, listed: Sequence[TargetPrice]) -> Part:
    columns: dict[str, Sequence[Cell]] = dict(price_columns(calibration, listed))
    return Part("What each target costs", tables=[Table("Price list", columns)])


def price_columns(calibration: Calibration, listed: Sequence[TargetPrice]) -> dict[str, list[str]]:
    """Return the list of prices as a table, by its headings."""
    columns = {
        "at most wrong": [f"{100 * price.error:.0f}%" for price in listed],
        "answered": [share_answered(price) for price in listed],
        "answer when": [
            charts.rule_of(price.score, price.threshold.value, calibration.data.surer[price.score])
            if price.threshold and price.score
            else "–"
            for price in listed
        ],
    }
    if calibration.target.score == BEST:
        columns["score"] = [charts.name_of(price.score) if price.score else "–" for price in listed]
    return columns


def share_answered(price: TargetPrice) -> str:
    """Return the share that a target answers, or that it cannot be promised."""
    return f"{price.threshold.coverage:.1%}" if price.threshold else "no promise"


def _groups(calibration: Calibration, every: ByGroup) -> list[Part]:
    if not every.groups:
        return []
    groups = every.groups[:MOST_GROUPS]
    other = words.other_label(calibration.data, calibration.score)
    picture = by_group(groups, calibration.target.error, other)
    columns: dict[str, Sequence[Cell]] = {
        "group": [one_line(group.name) or "(none)" for group in every.groups],
        "questions": [group.queries for group in every.groups],
        "answered": [group.answered for group in every.groups],
        "wrong": [group.errors for group in every.groups],
    }
    if other:
        columns[f"wrong {other}"] = [group.other_errors for group in every.groups]
    text, table = words.by_group(every), Table("Groups", columns)
    return [Part("The promise by group", [text], [picture], [table])]


def _choice(target: Target) -> str:
    if target.score == BEST:
        return "yes"
    if target.scores_tried > 1:
        return f"yes, named once {target.scores_tried} had been shown"
    return "no, named in advance"


def _settings(calibration: Calibration) -> dict[str, Cell]:
    data, target, policy = calibration.data, calibration.target, calibration.policy
    of = "1 − δ" if target.method == "ltt" else "of the band"
    settings: dict[str, Cell] = {
        "File": data.name,
        "SHA-256 of the file": data.sha256,
        "Questions that count": len(data.kept),
        "Score": calibration.score,
        "Chosen among the scores": _choice(target),
        "Scores in the file": ", ".join(data.doubts),
        "Method": METHODS[target.method],
        "Target error α": percent(target.error),
        f"Confidence {of}": percent(target.confidence),
        "Targets tried": target.targets_tried,
        "Look at these labels": calibration.look.place if calibration.look else "not counted",
    }
    if policy is not None:
        settings |= {"Rows left out for want of a label": policy.left_out}
        settings |= {"Threshold λ, of the doubt": repr(policy.threshold)}
        if policy.pipeline is None:
            settings["Pipeline of the scores"] = "unknown"
        else:
            settings |= {
                f"Pipeline: {name}": value for name, value in asdict(policy.pipeline).items()
            }
    return settings
