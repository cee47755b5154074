"""Why a model gives way: the paper's Section 3.1 on every head of a real network."""

from __future__ import annotations

from dataclasses import astuple
from typing import Any, Final

from core.studies.laboratory.experiment import Asks, Experiment, Outcome, columns_of
from core.studies.laboratory.yielding import Yielding, YieldingSettings, run

#: What a measure is called at an axis.
AXES: Final = {
    "overlap": "overlap with the large components",
    "every_token": "overlap, all tokens of the question",
    "logit": "logit through the large components",
    "gap": "attention gap, nats",
    "exposures": "times that training showed it",
    "odds": "log-odds before any repetition, nats",
}


def outcome(yielding: Yielding) -> Outcome:
    """Return a measurement as it is shown."""
    return Outcome(yielding.sentence, columns(yielding), chart_data(yielding))


def columns(yielding: Yielding) -> dict[str, list[Any]]:
    """Return the table: a row for each fact."""
    headings = {"question": "question", "relation": "relation", "band": "band"}
    headings |= {name: words for name, words in AXES.items() if name in yielding.correlations}
    return columns_of(yielding.rows, repetitions="repetitions that turn it", **headings)


def chart_data(yielding: Yielding) -> dict[str, Any]:
    """Return what the pictures are drawn from: measures, repetitions, correlations, heads."""
    measures = list(yielding.correlations)
    intervals = {AXES[name]: one for name, one in yielding.correlations.items()}
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
    asks=Asks.CHOSEN,
    takes="some minutes with the embedded model, and hours with a larger one",
)
