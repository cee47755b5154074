"""The paper's Figures 5 and 6 with their words, for the screens and reports that have them."""

import math
from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from core.abstention.intervals import ConfidenceBand
from core.abstention.mixtures import Mixture
from core.charts import paper_figures as charts
from core.charts.calibration import name_of
from core.reports.report import Picture
from core.reports.text import by_other
from core.studies.evaluation.mixing import RULES

FIGURE_5: Final = (
    "The paper’s Figure 5. Recall is the share of questions answered, precision the share of right "
    "answers among them. A curve begins at its smallest block of equal doubts, which no threshold "
    "parts: mutual information and entropy are often exactly 0."
)


def precision_recall(bands: Mapping[str, ConfidenceBand]) -> Picture:
    """Return the paper's Figure 5 of some scores; the first is emphasised."""
    ends = "; ".join(_ends(name, band) for name, band in bands.items() if len(band.recalls))
    alt = f"Precision by recall: {ends}." if ends else "No score has a value."
    return Picture("Precision by recall", alt, charts.precision_recall, (bands,), caption=FIGURE_5)


def _ends(name: str, band: ConfidenceBand) -> str:
    ends = (
        f"{name_of(name)} from {band.precision[0]:.0%} right of {band.recalls[0]:.0%} "
        f"answered to {band.precision[-1]:.0%} of {band.recalls[-1]:.0%}"
    )
    if band.recalls[0] < 0.5 < band.recalls[-1]:
        ends += f", {np.interp(0.5, band.recalls, band.precision):.0%} of half"
    return ends


def mixture(mixtures: Sequence[Mixture], measure: str) -> Picture:
    """Return a half of the paper's Figure 6: every score in every bin, by each rule if several."""
    by_score, rules = [], {each.rule for each in mixtures}
    for each in mixtures:
        shares = [(bar, charts.bar_value(bar, measure)) for bar in each.bars]
        bars = [
            f"{bar.name} {share:.0%}{by_other(bar, 0) if measure == charts.ERROR else ''}"
            for bar, share in shares
            if not math.isnan(share)
        ]
        rule = f", {RULES[each.rule]}" if len(rules) > 1 else ""
        by_score.append(
            f"{name_of(each.score)}{rule}: {', '.join(bars) or 'hardly anything answered'}"
        )
    alt = f"{charts.TITLES[measure].capitalize()}, by entropy in nats: {'; '.join(by_score)}."
    title, data = charts.MIXTURE_TITLES[measure], (mixtures, measure)
    return Picture(title, alt, charts.mixture_bars, data, half=True)
