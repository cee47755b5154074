"""Theorem 1 where the truth is known, and what clusters, few answers and the corpus do to it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from core.data.world.facts import Fact
from core.language_models.base import LanguageModel
from core.studies.laboratory.experiment import (
    Asks,
    Experiment,
    Field,
    Outcome,
    Values,
    columns_of,
)
from core.studies.laboratory.pseudo_joint import (
    LEAST_SMOOTHING,
    LIKELIEST,
    MOST_LIKELIEST,
    MOST_SMOOTHING,
    SMOOTHING,
)
from core.studies.laboratory.theorem import (
    MOST_SAMPLES,
    MOST_TRIPLES,
    ROUNDING,
    TheoremOne,
    TheoremSettings,
    choose,
    run,
)
from core.studies.progress import Progress


@dataclass(frozen=True)
class _Asked:
    """Which questions, and how each is looked at."""

    facts: tuple[Fact, ...]
    settings: TheoremSettings


def _settings(values: Values) -> _Asked:
    named: dict[str, Any] = dict(values)
    return _Asked(choose(named.pop("questions"), named.pop("draw")), TheoremSettings(**named))


def _work(task: _Asked, model: LanguageModel, progress: Progress) -> Outcome:
    theorem = run(model, task.facts, task.settings, progress)
    return Outcome(theorem.sentence, _columns(theorem), _picture_content(theorem))


def _columns(theorem: TheoremOne) -> dict[str, Any]:
    rows = theorem.rows
    columns = {
        **columns_of(
            rows,
            question="question",
            band="band",
            exposures="exposures",
            texts="texts",
            covered="covered",
            information="I(Q̃), nats",
            divergence="D(Q̃, P̃), nats",
            first_slack="D(Q̃₁, P), nats",
            second_slack="D(Q̃₂, P), nats",
            off="identity off by, nats",
            holds="D ≥ I",
            corpus_divergence="D from the documents, nats",
            corpus_information="I of the documents, nats",
            breaks="D from the documents < I",
            clustered="I, clustered, nats",
            sampled="I, k answers, nats",
            sampled_clustered="I, k answers, clustered, nats",
        )
    }
    if any(row.triple for row in rows):
        for name in ("divergence", "lower", "upper"):
            columns[f"three answers: {name}, nats"] = [
                row.triple and getattr(row.triple, name) for row in rows
            ]
    return columns


def _picture_content(theorem: TheoremOne) -> dict[str, Any]:
    return {
        "points": {
            name: [getattr(row, name) for row in theorem.rows]
            for name in ("band", "exposures", "information", "divergence", "corpus_divergence")
        }
        # By the documents' authors the next answer depends on the one before.
        | {"depends": [(row.corpus_information or 0) > ROUNDING for row in theorem.rows]},
        "means": [
            {"band": band, **means, **_slacks(theorem, band)}
            for band, means in theorem.means.items()
        ],
        "samples": theorem.settings.samples,
        "held": sum(row.holds for row in theorem.rows),
    }


def _slacks(theorem: TheoremOne, band: str) -> dict[str, float]:
    own = [row for row in theorem.rows if row.band == band]
    return {
        name: sum(getattr(row, name) for row in own) / len(own)
        for name in ("first_slack", "second_slack")
    }


EXPERIMENT = Experiment(
    name="theorem",
    title="Theorem 1 where the truth is known",
    about=(
        "The embedded model’s world is known, so what it says, Q̃, can be compared with the truth, "
        "P̃. The theorem: their divergence D is never below the mutual information I of Q̃, which "
        "needs no truth. It assumes that right answers do not depend on each other; the documents "
        "that the model learnt from break that, and one sees it."
    ),
    paper="Theorem 4.5, Definition 4.2",
    fields=(
        Field("questions", "Questions", 200, 1, 500, 10, help="As many of each exposure band."),
        Field("samples", "Answers k of the estimate", 10, 1, MOST_SAMPLES, 1),
        Field("similarity_threshold", "Similarity threshold τ", 0.25, 0.01, 1.0, 0.05),
        Field(
            "smoothing",
            "Smoothing ε of the truth",
            SMOOTHING,
            LEAST_SMOOTHING,
            MOST_SMOOTHING,
            0.01,
            help="P = (1 − ε) truth + ε / m, for m texts: no divergence from 0 is finite.",
        ),
        Field("likeliest", "Likeliest answers looked at", LIKELIEST, 0, MOST_LIKELIEST, 1),
        Field(
            "triples",
            "Pairs drawn to look at a third answer",
            0,
            0,
            MOST_TRIPLES,
            10,
            folded=True,
            help="With 0, chains have two answers. Each pair takes another prompt.",
        ),
        Field("temperature", "Temperature of the k answers", 0.9, 0.01, 2.0, 0.1, folded=True),
        Field("draw", "Draw number of the questions", 0, 0, 9999, 1, folded=True),
        Field("seed", "Seed", 0, 0, 2**32 - 1, 1, folded=True),
    ),
    settings=_settings,
    work=_work,
    asks=Asks.EMBEDDED,
    takes="20 seconds",
)
