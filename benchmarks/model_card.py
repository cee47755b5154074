"""The embedded model measured: ``python -m benchmarks.model_card [--folder F --out FILE]``.

Everything that the model card says of one set of weights, as JSON (and, without ``--out``,
on the screen): per exposure band and wording what is answered rightly, how sure the model
is, how much of what it says is garbled; how well each score ranks wrong answers; how the
certified bound grows with the samples; what repeating an answer does; how often questions
that nobody can answer are answered. `benchmarks.model_card_tables` turns the files of
several seeds into ``docs/measured/model_card.md``.
"""

import argparse
import functools
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.default_policy import choose
from benchmarks.shared.measuring import (
    CERTIFIED,
    SCORE,
    UNANSWERABLE,
    Question,
    Row,
    Wording,
    in_parallel,
    measure,
    opened,
    questions,
    unanswerable,
)
from core import outputs, prompts
from core.abstention.metrics import auroc
from core.data.world import facts as world
from core.data.world import grading
from core.data.world.facts import Band, Fact
from core.language_models.backends.embedded import FOLDER
from core.studies.amplification.curve import amplify
from core.studies.amplification.gallery import of_fact
from core.studies.inspection.inspection import evidence_of
from core.studies.inspection.recorder import record
from core.studies.inspection.request import Reading, Request, Sampling
from core.uncertainty.scores import SCORES

REPETITIONS = (0, 1, 2, 5, 10, 20, 50, 100)
GROWTH = (10, 30, 100, 300)
REPEATED_A_BAND, GROWN_A_BAND = 60, 16  # facts, drawn with a fixed seed
MIXTURE, SPREAD = 500, 0.7  # the paper's mixture: half many-answer, above this entropy (nats)
FEW_SAMPLES, MANY_SAMPLES = 10, 100
LIKELIEST = "the likeliest answers"
UNANSWERABLE_QUESTIONS = 200
BINS = 10
MASS = "sampled_mass"  # the control beside the scores


# ------------------------------------------------------------------- bands and wordings


def of_band(rows: Sequence[Row]) -> dict[str, float]:
    mean = {name: float(np.mean([r.doubt[name] for r in rows])) for name in (SCORE, CERTIFIED)}
    return {
        "questions": len(rows),
        "greedy_accuracy": float(np.mean([r.correct["greedy_probability"] for r in rows])),
        "accuracy": float(np.mean([r.correct[SCORE] for r in rows])),
        **mean,
        "semantic_entropy": float(np.mean([r.entropy for r in rows])),
        MASS: float(np.mean([r.mass for r in rows])),
        "garbled": float(np.mean([r.garbled for r in rows])),
    }


def by_band(rows: Sequence[Row]) -> dict[str, dict[str, float]]:
    """Summarise every band, and all single-label questions together."""
    single = [r for r in rows if r.band != Band.MANY_ANSWERS]
    bands = {band.value: of_band([r for r in rows if r.band == band]) for band in Band}
    return bands | {"single-label": of_band(single)}


def calibration(rows: Sequence[Row]) -> dict[str, Any]:
    """Compare the greedy answer's probability with how often it is right, single-label only."""
    single = sorted((r for r in rows if r.band != Band.MANY_ANSWERS), key=lambda r: r.greedy)
    bins = [
        {
            "questions": len(part),
            "probability": float(np.mean([single[i].greedy for i in part])),
            "accuracy": float(np.mean([single[i].correct["greedy_probability"] for i in part])),
        }
        for part in np.array_split(np.arange(len(single)), BINS)
    ]
    error = sum(b["questions"] * abs(b["probability"] - b["accuracy"]) for b in bins) / len(single)
    return {"bins": bins, "expected_calibration_error": error}


# What may stand around and in a question without changing it.
DRESSED: dict[str, Callable[[str], str]] = {
    "plain": str,
    "capitals": str.upper,
    "quotes": "“{}”".format,
    "emoji": "🙂 {} 🙏".format,
    "full-width letters": lambda text: text.translate({c: c + 0xFEE0 for c in range(33, 127)}),
    "markup": "**<b>{}</b>**".format,
}


def _right_dressed(item: tuple[int, Fact], *, folder: Path) -> list[bool]:
    model, right = opened(folder), []
    for dress in DRESSED.values():
        prompt = prompts.iterative(model.reads(dress(item[1].question)))
        said = model.sample(prompt, 1, temperature=0)[0].text
        right.append(grading.is_right(said, item[1]))
    return right


def dressed(folder: Path) -> dict[str, float]:
    """Return the share of facts known by heart that are, by how the question is dressed up."""
    facts = drawn(Band.BY_HEART, len(world.facts()))
    right = in_parallel(functools.partial(_right_dressed, folder=folder), facts)
    return dict(zip(DRESSED, np.mean(right, axis=0).tolist(), strict=True))


# ----------------------------------------------------------------------------- the promise


def promised(rows: Sequence[Row], threshold: float, least: float) -> dict[str, dict[str, int]]:
    """Count what the default threshold answers, wrongly and withholds, lists apart."""
    counts = {}
    for name, many in (("single-label", False), ("lists", True)):
        of = [r for r in rows if (r.band == Band.MANY_ANSWERS) == many]
        answered = [r for r in of if r.answered(threshold, least)]
        counts[name] = {
            "questions": len(of),
            "answered": len(answered),
            "wrong": sum(not r.correct[SCORE] for r in answered),
        }
    return counts


# ------------------------------------------------------------------------------ rankings


def ranking(rows: Sequence[Row]) -> dict[str, dict[str, float]]:
    """Return how often each score's answer is wrong, and how well it ranks the errors."""
    result = {}
    for name in SCORES:
        wrong = np.array([not r.correct[name] for r in rows])
        doubt = np.array([r.doubt[name] for r in rows])
        result[name] = {"wrong": float(wrong.mean()), "auroc": auroc(doubt, ~wrong)}
    wrong = np.array([not r.correct[SCORE] for r in rows])
    mass = np.array([-r.mass for r in rows])
    return result | {MASS: {"wrong": float(wrong.mean()), "auroc": auroc(mass, ~wrong)}}


def mixture(rows: Sequence[Row], seed: int = 0) -> NDArray[np.int64]:
    """Draw the paper's mixture: as many single-label as spread many-answer questions."""
    rng = np.random.default_rng(seed)
    single = [i for i, r in enumerate(rows) if r.band != Band.MANY_ANSWERS]
    many = [i for i, r in enumerate(rows) if r.band == Band.MANY_ANSWERS and r.entropy > SPREAD]
    half = min(MIXTURE // 2, len(many), len(single))
    return np.concatenate([rng.permutation(part)[:half] for part in (single, many)])


def as_in_the_paper(
    asked: Sequence[Question], folder: Path, samples: int = FEW_SAMPLES
) -> list[Row]:
    """Inspect questions with drawn answers: every seed's card is of these."""
    return measure(asked, folder, samples=samples, sampling=Sampling.DRAWN, temperature=0.9)


def with_the_likeliest(rows: Sequence[Row], drawn: Sequence[Row]) -> dict[str, Any]:
    """Rank the questions as they are asked by default, and say how many pairs either way takes."""
    mixed = mixture(drawn)
    return {
        "pairs": float(np.mean([r.pairs for r in rows])),
        "pairs of drawn": float(np.mean([r.pairs for r in drawn])),
        **{
            way: {
                "single-label": ranking([r for r in of if r.band != Band.MANY_ANSWERS]),
                "mixture": ranking([of[i] for i in mixed]),
            }
            for way, of in (("drawn", drawn), ("likeliest", rows))
        },
    }


def with_many_samples(
    asked: Sequence[Question], rows: Sequence[Row], folder: Path
) -> dict[str, dict[str, dict[str, float]]]:
    """Rank the mixture, and as many single-label questions, on a hundred samples each."""
    mixed = mixture(rows)
    single = [i for i, r in enumerate(rows) if r.band != Band.MANY_ANSWERS]
    alone = np.random.default_rng(1).permutation(single)[:MIXTURE]
    needed = sorted({*mixed.tolist(), *alone.tolist()})
    measured = dict(
        zip(needed, as_in_the_paper([asked[i] for i in needed], folder, MANY_SAMPLES), strict=True)
    )
    return {
        "single-label": ranking([measured[i] for i in alone.tolist()]),
        "mixture": ranking([measured[i] for i in mixed.tolist()]),
    }


# ------------------------------------------------------- the certified bound, repetition


def drawn(band: Band, count: int) -> list[tuple[int, Fact]]:
    """Draw facts of a band, with their index in the world."""
    facts = [(i, f) for i, f in enumerate(world.facts()) if f.band is band]
    return [facts[i] for i in np.random.default_rng(2).permutation(len(facts))[:count]]


def _growth(item: tuple[int, Fact], *, folder: Path) -> list[tuple[float, float, float]]:
    """Return (M.I., certified bound, sampled mass) of one question at every size."""
    request = Request(item[1].question, samples=max(GROWTH), seed=item[0])
    recording = record(request, opened(folder))
    grown = []
    for k in GROWTH:
        evidence = evidence_of(recording.first(k), Reading())
        both = [SCORES[name].function(evidence).value or 0.0 for name in (SCORE, CERTIFIED)]
        grown.append((both[0], both[1], evidence.sampled_mass))
    return grown


def growth(folder: Path) -> dict[str, dict[str, dict[str, float]]]:
    """Return mean M.I., certified bound and sampled mass by band and number of samples."""
    result = {}
    for band in Band:
        of = in_parallel(functools.partial(_growth, folder=folder), drawn(band, GROWN_A_BAND))
        means = np.mean(of, axis=0)
        result[band.value] = {
            str(k): dict(zip((SCORE, CERTIFIED, MASS), map(float, row), strict=True))
            for k, row in zip(GROWTH, means, strict=True)
        }
    return result


def _repeated(item: tuple[int, Fact], *, folder: Path) -> list[float]:
    points = amplify(of_fact(item[1]), opened(folder), REPETITIONS).points
    return [point.normalised_probability or 0.0 for point in points]


def repetition(folder: Path) -> dict[str, list[float]]:
    """Return the median of P(right) / (P(right) + P(repeated)) by the repetitions."""
    return {
        band.value: np.median(
            in_parallel(functools.partial(_repeated, folder=folder), drawn(band, REPEATED_A_BAND)),
            axis=0,
        ).tolist()
        for band in Band
    }


# ------------------------------------------------------------------------------ the card


def card(folder: Path = FOLDER) -> dict[str, Any]:
    """Measure one set of weights; some minutes on two cores."""
    config = json.loads((folder / "config.json").read_text())
    model = opened(folder)
    asked = {wording: questions(wording) for wording in Wording}
    rows = {wording: as_in_the_paper(asked[wording], folder) for wording in Wording}
    # The verdict is of the likeliest answers, and so are λ and what it promises.
    likeliest = {wording: measure(asked[wording], folder) for wording in Wording}
    nobody_can = measure(unanswerable(UNANSWERABLE_QUESTIONS), folder)
    threshold, least, _ = choose(likeliest[Wording.TRAINING], nobody_can)
    answered = sum(r.answered(threshold, least) for r in nobody_can)
    too_little = sum(not r.says_something(least) for r in nobody_can)
    return {
        "seed": config["seed"],
        "revision": model.revision,
        "training": json.loads((folder / "training.json").read_text()),
        "wordings": {
            wording.value: {
                "bands": by_band(r),
                "calibration": calibration(r),
                "single-label": ranking([x for x in r if x.band != Band.MANY_ANSWERS]),
                "mixture": ranking([r[i] for i in mixture(r)]),
            }
            for wording, r in rows.items()
        },
        LIKELIEST: with_the_likeliest(likeliest[Wording.TRAINING], rows[Wording.TRAINING]),
        "dressed": dressed(folder),
        "promised": {
            wording.value: promised(r, threshold, least) for wording, r in likeliest.items()
        },
        f"at {MANY_SAMPLES} samples": with_many_samples(
            asked[Wording.TRAINING], rows[Wording.TRAINING], folder
        ),
        "growth": growth(folder),
        "repetition": {"times": list(REPETITIONS), "medians": repetition(folder)},
        UNANSWERABLE: {
            "questions": len(nobody_can),
            "threshold": threshold,
            "least_mass": least,
            "answered": answered,
            "too_little": too_little,
            "abstained": len(nobody_can) - answered - too_little,
            **of_band(nobody_can),
        },
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=FOLDER, help="of the weights")
    parser.add_argument("--out", type=Path, help="write the JSON here")
    options = parser.parse_args()
    measured = json.dumps(card(options.folder), indent=1) + "\n"
    if options.out:
        options.out.parent.mkdir(parents=True, exist_ok=True)
        outputs.write(options.out, measured)
    else:
        sys.stdout.write(measured)


if __name__ == "__main__":
    main()
