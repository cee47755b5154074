"""Why a model gives way: the paper's Section 3.1 on every head of a real network."""

import math
from dataclasses import astuple
from typing import Any

from core.abstention.intervals import Interval
from core.codec import count_of, with_interval
from core.studies.laboratory.experiment import AskedModel, Experiment, Outcome, columns_of
from core.studies.laboratory.yielding import MEASURES, YieldingFacts, YieldingSettings, run

_SIZES = ((0.5, "a strong"), (0.3, "a moderate"), (0.0, "a weak"))


def outcome(yielding: YieldingFacts) -> Outcome:
    """Return a measurement as it is shown."""
    return Outcome(sentence(yielding), columns(yielding), chart_data(yielding))


def columns(yielding: YieldingFacts) -> dict[str, list[Any]]:
    """Return the table: a row for each fact."""
    headings = {"question": "question", "relation": "relation", "band": "band"}
    headings |= {name: words for name, words in MEASURES.items() if name in yielding.correlations}
    return columns_of(yielding.rows, repetitions="repetitions that turn it", **headings)


def chart_data(yielding: YieldingFacts) -> dict[str, Any]:
    """Return what the pictures are drawn from: measures, repetitions, correlations, heads."""
    measures = list(yielding.correlations)
    intervals = {MEASURES[name]: one for name, one in yielding.correlations.items()}
    intervals["overlap, within relations"] = yielding.within
    intervals |= {
        f"overlap, {band} ({facts:,})": one for band, (facts, one) in yielding.by_band.items()
    }
    return {
        "most": yielding.settings.most,
        "question": [row.question for row in yielding.rows],
        "band": [row.band for row in yielding.rows],
        "turns": [row.repetitions for row in yielding.rows],
        "measures": {name: yielding.of(name) for name in measures},
        "intervals": {words: astuple(one) for words, one in intervals.items()},
        "heads": yielding.heads,
    }


def sentence(yielding: YieldingFacts) -> str:
    """Say what it shows, in some sentences, whatever it is."""
    turned = sum(row.repetitions is not None for row in yielding.rows)
    first = sum(row.repetitions == 0 for row in yielding.rows)
    correlations = yielding.correlations
    overlap, within, odds = (
        with_interval(astuple(of), "+.2f")
        for of in (correlations["overlap"], yielding.within, correlations["odds"])
    )
    return (
        f"Of {count_of(len(yielding.rows), 'fact')}, {turned} turn within "
        f"{count_of(yielding.settings.most, 'repetition')}, {first} of them before any. The "
        "overlap of the question with the large principal components goes with the repetitions by "
        "a rank correlation of "
        f"{overlap}: {_verdict(correlations['overlap'])} "
        f"Within relations it is {within}. The model’s own odds before "
        f"any repetition reach {odds}."
    )


def _verdict(interval: Interval) -> str:
    """Say what a correlation means for Section 3.1."""
    if math.isnan(interval.lower):
        return "these facts are too alike to say what it is a sign of."
    if interval.lower <= 0 <= interval.upper:
        return "no sign of what Section 3.1 describes."
    if interval.upper < 0:
        return "the opposite of what Section 3.1 describes."
    size = next(word for least, word in _SIZES if interval.value >= least)
    return f"{size} sign of what Section 3.1 describes."


EXPERIMENT = Experiment(
    name="yielding",
    title="Why it gives way",
    about=(
        "Section 3.1 argues that a question seen often lies in the span of the large principal "
        "components of the key–query product, and so keeps the attention, whatever is repeated. "
        "Here this overlap is measured in every head, and held against the repetitions that it "
        "takes until the model gives the repeated answer."
    ),
    paper="Section 3.1",
    settings=YieldingSettings,
    work=lambda settings, model, progress: outcome(run(model, settings, progress)),
    asks=AskedModel.CHOSEN,
    takes="some minutes with the embedded model, and hours with a larger one",
)
