"""How well each estimator ranks wrong answers, and what it costs, as it was measured.

The estimators form a ladder: the more a back end can do, the higher its rung.
`benchmarks/ladder.py` asks the embedded model the same questions on every rung, and writes what it
found; the page Inspection and docs/measured/ladder.md show it as the same table.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from core.once import once
from core.studies.inspection.recording import Estimator
from core.uncertainty.scores import SCORES

MEASURED = Path(__file__).parent / "estimators.json"

MIXTURE, SINGLE_LABEL, MANY_ANSWERS = "mixture", "single-label", "many answers"
VERIFICATION, SAMPLED_VERIFICATION = "self_verification", "self_verification_by_samples"
NEXT_TOKENS, SAMPLES = "next tokens", "samples"  # what self-verification is made from

TITLES: Final = {
    Estimator.EXACT: "exact likelihoods, 10 samples",
    Estimator.CHAINED: "its own likelihoods, 100 pairs",
    Estimator.COUNTED: "counts, 10 samples and 30 after each",
}


@dataclass(frozen=True)
class Ranking:
    """How well a score ranks wrong answers."""

    # The chance that a wrong answer has the larger doubt, ties counting half, in [0, 1].
    auroc: float
    # low, high: the interval of 95%, where there is one.
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Rung:
    """What was measured of one estimator; all numbers are means over the questions."""

    estimator: Estimator
    # By `MIXTURE` and `SINGLE_LABEL`, then by the keys of `SCORES` and `SAMPLED_VERIFICATION`. A
    # score that has no value on this rung is left out.
    rankings: Mapping[str, Mapping[str, Ranking]]
    seen: float  # the share of the questions of which enough was sampled for a verdict, in [0, 1]
    # singly, together: requests to a service: an answer or a pair at a time, and as many as a
    # server takes.
    singly: float
    together: float
    tokens: float  # Read and written, where as many go together
    # By how many samples the exact likelihoods are of: mean and root mean square of M.I. less
    # theirs, nats.
    errors: Mapping[int, tuple[float, float]]


@dataclass(frozen=True)
class EstimatorMeasures:
    """What the benchmark found."""

    revision: str  # of the embedded model that was asked
    questions: int
    # answers, pairs: that go together in one request.
    answers: int
    pairs: int
    # The share of the questions that the exact rung's M.I. would answer wrongly.
    wrong: float
    rungs: tuple[Rung, ...]  # from the highest


@once
def measures() -> EstimatorMeasures:
    """Return what the benchmark wrote."""
    return measures_from(json.loads(MEASURED.read_text(encoding="utf-8")))


def measures_from(content: dict[str, Any]) -> EstimatorMeasures:
    """Read what the benchmark writes."""
    rungs = content["rungs"]
    return EstimatorMeasures(
        revision=content["revision"],
        questions=content["questions"],
        answers=content["together"]["answers"],
        pairs=content["together"]["pairs"],
        wrong=rungs[Estimator.EXACT.name]["rankings"][MIXTURE]["mutual_information"]["wrong"],
        rungs=tuple(_rung(estimator, rungs[estimator.name]) for estimator in TITLES),
    )


def _rung(estimator: Estimator, content: dict[str, Any]) -> Rung:
    # A service may say nothing of next tokens; what gives its own likelihoods gives theirs too.
    cost = content["costs"][SAMPLES if estimator is Estimator.COUNTED else NEXT_TOKENS]
    return Rung(
        estimator=estimator,
        rankings={
            part: {
                name: Ranking(one["auroc"], one.get("low"), one.get("high"))
                for name, one in by_score.items()
                if one["available"]
            }
            for part, by_score in content["rankings"].items()
        },
        seen=content["seen"],
        singly=cost["singly"],
        together=cost["together"],
        tokens=cost["tokens"],
        errors={
            int(samples): (of[MIXTURE]["bias"], of[MIXTURE]["rmse"])
            for samples, of in content["errors"].items()
        },
    )


def table(measured: EstimatorMeasures) -> dict[str, list[str]]:
    """Return the measured numbers in words: a name, and a cell for each of `TITLES`."""
    rungs = measured.rungs
    rows: dict[str, list[str]] = {}
    for name, info in SCORES.items():
        ways = {name: ""}
        if name == VERIFICATION:
            ways = {name: ", by probabilities", SAMPLED_VERIFICATION: ", by ten samples"}
        for key, way in ways.items():
            rows[f"AUROC of {info.symbol}{way}"] = [_ranking(rung, key) for rung in rungs]
    for name in ("mutual_information", "semantic_entropy"):
        symbol = SCORES[name].symbol
        rows[f"AUROC of {symbol}, one right answer only"] = [
            _ranking(r, name, SINGLE_LABEL) for r in rungs
        ]
    rows["enough found for a verdict"] = [f"{r.seen:.0%}" for r in rungs]
    rows["requests, one answer or pair each"] = [f"{r.singly:.0f}" for r in rungs]
    rows[f"requests, up to {measured.answers} answers or {measured.pairs} pairs each"] = [
        f"{r.together:.0f}" for r in rungs
    ]
    rows["tokens read and written by the latter"] = [f"{r.tokens:,.0f}" for r in rungs]
    for samples in rungs[0].errors:
        rows[f"M.I. less exact M.I. of {samples} samples, nats: mean (root mean square)"] = [
            _off(*r.errors[samples]) for r in rungs
        ]
    return rows


def _ranking(rung: Rung, name: str, part: str = MIXTURE) -> str:
    ranks = rung.rankings[part].get(name)
    if ranks is None:
        return "–"
    shown = f"{ranks.auroc:.2f}"
    return shown if ranks.low is None else f"{shown} ({ranks.low:.2f} to {ranks.high:.2f})"


def _off(bias: float, root_mean_square: float) -> str:
    """Return a mean difference and its size; nothing for an estimator compared with itself."""
    return f"{bias:+.2f} ({root_mean_square:.2f})" if root_mean_square else "–"
