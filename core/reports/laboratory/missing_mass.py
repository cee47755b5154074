"""What k draws miss of a known distribution: exactly, in simulation, and by every bound."""

from dataclasses import replace

import numpy as np

from core import prompts
from core.codec import at_most, count_of, percent
from core.language_models.language_model import LanguageModel
from core.studies.inspection.request import InvalidRequestError
from core.studies.laboratory.experiment import AskedModel, Experiment, Outcome
from core.studies.laboratory.missing_mass import (
    ANSWERS,
    Law,
    MissingMassCurves,
    MissingMassSettings,
    run,
)
from core.studies.laboratory.settings import Values
from core.studies.progress import Progress


def _work(settings: MissingMassSettings, model: LanguageModel, progress: Progress) -> Outcome:
    if settings.law is Law.MODEL:
        progress("Search for answers", 0.0)
        prompt = prompts.iterative(model.reads(settings.question))
        texts = [answer.text for answer in model.likeliest(prompt, ANSWERS)]
        if not texts:
            raise InvalidRequestError("The model gives no answer to this question. Ask another.")
        p = np.exp(model.log_likelihoods([prompt], texts)[0])
        settings = replace(settings, law=Law.OWN, own=tuple((p / max(1.0, p.sum())).tolist()))
    curves = run(settings, progress)
    columns = {
        "k": settings.draws,
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
    if curves.zipf is not None:
        columns["Zipf’s rate"] = curves.zipf
    chart_data = {
        "k": settings.draws,
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
    return Outcome(sentence(curves), columns, chart_data)


def _asks(values: Values) -> AskedModel:
    return AskedModel.EMBEDDED if values["law"] == Law.MODEL else AskedModel.NOTHING


def sentence(curves: MissingMassCurves) -> str:
    """Say what it shows, in a sentence or two."""
    k, expected = curves.settings.draws[-1], float(curves.expected[-1])
    text = f"After {count_of(k, 'draw')} {expected:.2%} of the probability is missing on average"
    if curves.rest > 1e-6:
        text += f", and at most {at_most(curves.rest)} besides that nobody has found"
    else:
        text += (
            f"; the number of kinds allows {min(curves.finite_support[-1], 1):.2%}, the entropy "
            f"{min(curves.entropy[-1], 1):.2%}"
        )
    off = float(np.abs(curves.good_turing - curves.missing)[:, -1].mean())
    outside = max(float(curves.too_high.max()), float(curves.too_low.max()))
    return (
        f"{text}. Good–Turing is off by {off:.2%} on average. At no k was U_k beyond "
        f"either limit in more than {percent(outside)} of the samples; "
        f"{percent(1 - curves.settings.confidence)} is allowed."
    )


EXPERIMENT = Experiment(
    name="missing_mass",
    title="What k draws miss",
    about=(
        "So many draws from a known distribution leave some of it unseen: the missing mass U. "
        "Here it is computed exactly, simulated, estimated by Good and Turing, and bounded."
    ),
    paper="Section 4.1; Appendix E.1",
    settings=MissingMassSettings,
    work=_work,
    asks_by=_asks,
    quick=True,
)
