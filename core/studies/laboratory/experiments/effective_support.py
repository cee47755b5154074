"""What a language model's draws miss, on questions: the paper's Figure 7."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from core.language_models.base import LanguageModel
from core.studies.laboratory.effective_support import (
    EffectiveSupports,
    EffectiveSupportSettings,
    run,
)
from core.studies.laboratory.experiment import (
    Asks,
    Experiment,
    Field,
    Outcome,
    Values,
    columns_of,
)
from core.studies.laboratory.theorem import choose
from core.studies.progress import Progress
from core.uncertainty.confidence import CONFIDENCE


@dataclass(frozen=True)
class _Asked:
    """Which questions, and how their answers are found."""

    questions: tuple[str, ...]
    settings: EffectiveSupportSettings


def _settings(values: Values) -> _Asked:
    named: dict[str, Any] = dict(values)
    facts = choose(named.pop("questions"), named.pop("draw"))
    return _Asked(tuple(fact.question for fact in facts), EffectiveSupportSettings(**named))


def _work(task: _Asked, model: LanguageModel, progress: Progress) -> Outcome:
    supports = run(model, task.questions, task.settings, progress)
    return Outcome(supports.sentence, _columns(supports), _picture_content(supports))


def _columns(supports: EffectiveSupports) -> dict[str, Any]:
    return {
        **columns_of(supports.questions, question="question"),
        "answers found": [len(one.answers) for one in supports.questions],
        **columns_of(
            supports.questions,
            responses="responses drawn",
            mass="P(X̃)",
            missing="Ũ",
            high="U, at most",
            bound="E U, at most",
            printed_bound="E U, at most, by the paper’s tail",
        ),
    }


def _picture_content(supports: EffectiveSupports) -> dict[str, Any]:
    return {
        **{name: supports.values[name] for name in ("mass", "missing", "high", "bound")},
        "answers": [len(one.answers) for one in supports.questions],
        "draws": supports.settings.draws,
    }


EXPERIMENT = Experiment(
    name="effective_support",
    title="What a model’s draws miss",
    about=(
        "Nobody knows all that a language model can answer. Responses are drawn until their "
        "distinct texts hold enough of the probability: the effective support X̃. What k other "
        "draws miss of it, and what is outside, bounds what they miss of everything."
    ),
    paper="Appendix E.4, Figure 7",
    fields=(
        Field("questions", "Questions", 30, 1, 200, 10, help="As many of each exposure band."),
        Field("draws", "Draws k", 300, 1, 10_000, 10),
        Field("enough", "Probability that is enough", 0.95, 0.01, 1.0, 0.01),
        Field("most", "Responses at most", 1000, 1, 10_000, 100),
        Field("temperature", "Temperature of these responses", 0.9, 0.01, 2.0, 0.1, folded=True),
        Field("draw", "Draw number of the questions", 0, 0, 9999, 1, folded=True),
        Field("seed", "Seed", 0, 0, 2**32 - 2, 1, folded=True),
        Field("confidence", "Confidence", CONFIDENCE, 0.01, 0.999, 0.01, folded=True),
    ),
    settings=_settings,
    work=_work,
    asks=Asks.CHOSEN,
    takes="half a minute with the embedded model, ten minutes or more with a larger one",
    also={"smollm2": {"questions": 10, "draws": 100, "most": 150}},
)
