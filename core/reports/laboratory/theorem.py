"""Theorem 4.5 where the truth is known, and what clusters, few answers and the corpus do to it."""

from typing import Any

import numpy as np

from core.codec import count_of
from core.language_models.language_model import LanguageModel
from core.studies.laboratory.experiment import AskedModel, Experiment, Outcome, columns_of
from core.studies.laboratory.theorem import ROUNDING, TheoremOne, TheoremSettings, choose, run
from core.studies.progress import Progress


def _work(settings: TheoremSettings, model: LanguageModel, progress: Progress) -> Outcome:
    theorem = run(model, choose(settings.questions, settings.draw), settings, progress)
    return Outcome(sentence(theorem), _columns(theorem), _chart_data(theorem))


def _columns(theorem: TheoremOne) -> dict[str, Any]:
    rows = theorem.rows
    columns = columns_of(
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
    if any(row.triple for row in rows):
        for name in ("divergence", "lower", "upper"):
            columns[f"three answers: {name}, nats"] = [
                row.triple and getattr(row.triple, name) for row in rows
            ]
    return columns


def _chart_data(theorem: TheoremOne) -> dict[str, Any]:
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


def sentence(theorem: TheoremOne) -> str:
    """Say what it shows, in some sentences."""
    rows = theorem.rows
    held, off = sum(row.holds for row in rows), max(row.off for row in rows)
    text = (
        f"D(Q̃, P̃) is at least I(Q̃) on {held} of {count_of(len(rows), 'question')}; their "
        f"difference is the divergences of the two marginals, to {max(off, 1e-16):.0e} nats."
    )
    taught = [row for row in rows if row.corpus_information is not None]
    shared = [row for row in taught if (row.corpus_information or 0) > ROUNDING]
    alone = [row for row in taught if row not in shared]
    if shared:
        text += (
            f" Against the training documents it is below on {sum(r.breaks for r in shared)} "
            f"of the {len(shared)} whose answers there depend on each other, where the theorem "
            f"assumes that they do not, and on {sum(r.breaks for r in alone)} of the other "
            f"{len(alone)}."
        )
    triples = [row.triple for row in rows if row.triple]
    if triples:
        low, high, d = np.mean([(t.lower, t.upper, t.divergence) for t in triples], axis=0)
        text += (
            f" Of three answers, I is {low:.3f} to {high:.3f} nats on average, and D "
            f"{d:.3f} (from {theorem.settings.triples:,} pairs a question)."
        )
    return text


EXPERIMENT = Experiment(
    name="theorem",
    title="The bound where the truth is known",
    about=(
        "The embedded model’s world is known, so what it says, Q̃, can be compared with the truth, "
        "P̃. The theorem: their divergence D is never below the mutual information I of Q̃, which "
        "needs no truth. It assumes that right answers do not depend on each other; the documents "
        "that the model learnt from break that, and one sees it."
    ),
    paper="Theorem 4.5, Definition 4.2",
    settings=TheoremSettings,
    work=_work,
    asks=AskedModel.EMBEDDED,
    takes="20 seconds",
)
