"""What k draws miss of a known distribution: exactly, in simulation, and by every bound."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from core import prompts
from core.language_models.base import LanguageModel
from core.studies.examples import EXAMPLES
from core.studies.inspection.request import InvalidRequestError, Request
from core.studies.laboratory.experiment import Asks, Experiment, Field, Outcome, Values
from core.studies.laboratory.missing_mass import (
    MOST_DRAWS,
    MOST_KINDS,
    Law,
    MissingMassCurves,
    MissingMassSettings,
    probabilities_of,
    run,
)
from core.studies.laboratory.sizes import by_powers, limits
from core.studies.progress import Progress
from core.uncertainty.confidence import CONFIDENCE

MODEL: Final = "model"
LAWS: Final = {
    Law.UNIFORM.value: "All kinds are alike.",
    Law.ZIPF.value: "Kind i has a weight of i^−α.",
    Law.GEOMETRIC.value: "Each kind has a fixed ratio to the one before.",
    Law.OWN.value: "Numbers that you type or paste; they are divided by their sum.",
    MODEL: "What the embedded model answers to a question, found by a search.",
}
ANSWERS: Final = 200  # of a model, found by a search


@dataclass(frozen=True)
class _Asked:
    """What is drawn from, and of which question's answers, if of any's."""

    settings: MissingMassSettings
    question: str = ""


def _of(*laws: str) -> Any:
    return lambda values: values["law"] in laws


def _settings(values: Values) -> _Asked:
    named: dict[str, Any] = dict(values)
    least, most, number = (named.pop(name) for name in ("smallest", "largest", "sizes"))
    own, question = named.pop("own"), named.pop("question")
    named["draws"] = by_powers(least, most, number)
    if named["law"] == MODEL:
        Request(question, 1)  # refuses what is no question
        # What the answers weigh is known once they are found; so many are simulated at most.
        flat = (1 / ANSWERS,) * ANSWERS
        return _Asked(MissingMassSettings(**named | {"law": Law.OWN, "own": flat}), question)
    if named["law"] == Law.OWN:
        named["own"] = probabilities_of(own)
    return _Asked(MissingMassSettings(**named))


def _work(task: _Asked, model: LanguageModel, progress: Progress) -> Outcome:
    settings = task.settings
    if task.question:
        progress("Search for answers", 0.0)
        prompt = prompts.iterative(model.reads(task.question))
        texts = [curves.text for curves in model.likeliest(prompt, ANSWERS)]
        if not texts:
            raise InvalidRequestError("The model gives no answer to this question. Ask another.")
        p = np.exp(model.log_likelihoods([prompt], texts)[0])
        settings = replace(settings, own=tuple((p / max(1.0, p.sum())).tolist()))
    curves = run(settings, progress)
    return Outcome(curves.sentence, _columns(curves), _picture_content(curves))


def _columns(curves: MissingMassCurves) -> dict[str, Any]:
    columns = {
        "k": curves.settings.draws,
        "E U, exactly": curves.expected,
        "U, mean of the samples": curves.missing.mean(axis=0),
        "U, 5%": np.quantile(curves.missing, 0.05, axis=0),
        "U, 95%": np.quantile(curves.missing, 0.95, axis=0),
        "Good–Turing, mean": curves.good_turing.mean(axis=0),
        "Good–Turing, off by": np.abs(curves.good_turing - curves.missing).mean(axis=0),
        "bound by the number of kinds": curves.finite_support,
        "bound by the entropy": curves.entropy,
        "U, at least": curves.low,
        "U, at most": curves.high,
        "share of samples above": curves.too_high,
        "share of samples below": curves.too_low,
    }
    return columns if curves.zipf is None else columns | {"Zipf’s rate": curves.zipf}


def _picture_content(curves: MissingMassCurves) -> dict[str, Any]:
    return {
        "k": curves.settings.draws,
        "expected": curves.expected,
        "missing": np.quantile(curves.missing, [0.05, 0.5, 0.95], axis=0),
        "good_turing": curves.good_turing.mean(axis=0),
        "finite_support": curves.finite_support,
        "entropy": curves.entropy,
        "zipf": curves.zipf,
        "limits": [curves.low, curves.high],
        "probabilities": np.sort(curves.probabilities)[::-1][:ANSWERS],
        "rest": curves.rest,
    }


def _asks(values: Values) -> Asks:
    return Asks.EMBEDDED if values["law"] == MODEL else Asks.NOTHING


EXPERIMENT = Experiment(
    name="missing_mass",
    title="What k draws miss",
    about=(
        "So many draws from a known distribution leave some of it unseen: the missing mass U. "
        "Here it is computed exactly, simulated, estimated by Good and Turing, and bounded."
    ),
    paper="Section 4.1; Appendix E.1",
    fields=(
        Field("law", "Distribution", Law.ZIPF.value, options=LAWS),
        Field(
            "own",
            "Your probabilities",
            "0.5, 0.3, 0.1, 0.05, 0.05",
            applies=_of(Law.OWN),
            check=probabilities_of,
            help="Numbers of at least 0, between them commas, semicolons or white space.",
        ),
        Field("question", "Question", EXAMPLES["Many answers"], applies=_of(MODEL)),
        Field(
            "kinds",
            "Number of kinds",
            200,
            1,
            MOST_KINDS,
            10,
            applies=_of(Law.UNIFORM, Law.ZIPF, Law.GEOMETRIC),
        ),
        Field("exponent", "Exponent α", 1.5, 1.01, 10.0, 0.1, applies=_of(Law.ZIPF)),
        Field("ratio", "Ratio", 0.95, 0.001, 0.999, 0.01, applies=_of(Law.GEOMETRIC)),
        *limits(1, 10_000, 41, MOST_DRAWS, 100),
        Field("samples", "Samples", 200, 1, 10_000, 50, help="Simulated ones, at every k."),
        Field("seed", "Seed", 0, 0, 2**32 - 1, 1, folded=True),
        Field(
            "confidence",
            "Confidence of each limit",
            CONFIDENCE,
            0.01,
            0.999,
            0.01,
            folded=True,
        ),
    ),
    settings=_settings,
    work=_work,
    asks_by=_asks,
    quick=True,
)
