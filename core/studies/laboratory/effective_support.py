"""What a language model's draws miss, on questions (Appendix E.4 of the paper, its Figure 7).

Nobody knows all that a language model can answer. So its answers are approximated by an effective
support X̃: what it says often enough to be found.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
from pyarrow import compute

from core import prompts
from core.language_models.errors import ModelError
from core.language_models.language_model import LanguageModel
from core.studies.evaluation.bundled import REAL, folders
from core.studies.evaluation.saved_run import Run
from core.studies.laboratory.asking import Seldom, must_score, of_each
from core.studies.laboratory.settings import (
    ExperimentSettings,
    confidence_setting,
    draw_of_questions,
    seed_setting,
    setting,
)
from core.studies.laboratory.theorem import choose
from core.studies.progress import Progress, silent
from core.uncertainty import missing_mass as mass
from core.uncertainty.certified_bound import ROUNDING
from core.uncertainty.validation import Floats

#: Whose questions are asked: the world's, or those of the bundled run of real ones.
WORLD: Final = "world"
SOURCES: Final = dict.fromkeys((WORLD, "TriviaQA", "AmbigQA"), "")


@dataclass(frozen=True)
class EffectiveSupportSettings(ExperimentSettings):
    """Which questions are asked, and how the appendix's estimate is made for each.

    The `draws` of U_k are other draws than the responses that make X̃, at temperature 1, for U_k is
    about draws from Q itself. (In the paper the responses are also those that miss nothing of X̃.)
    For the responses any temperature will do, for any X̃ will.
    """

    source: str = setting(WORLD, "Questions of", options=SOURCES)
    questions: int = setting(30, "Questions", 1, 200, 10, help="As many of each exposure band.")
    draws: int = setting(300, "Draws k", 1, 10_000, 10)
    enough: float = setting(0.95, "Probability that is enough", 0.01, 1, 0.01)  # the paper's
    most: int = setting(1000, "Responses at most", 1, 10_000, 100)  # the paper's
    # The paper's, too.
    temperature: float = setting(0.9, "Temperature of these responses", 0.01, 2, 0.1, folded=True)
    draw: int = draw_of_questions()
    seed: int = seed_setting(most=2**32 - 2)
    confidence: float = confidence_setting()


@dataclass(frozen=True)
class SupportSearch:
    """What was found of one question's answers."""

    question: str
    answers: tuple[str, ...]  # X̃: the distinct texts, the likeliest first
    probabilities: tuple[float, ...]  # Q of each
    responses: int  # how many were drawn to find them
    missing: float  # Ũ_k: what k other draws missed of X̃
    high: float  # what U_k is at most, Ũ_k + 1 − P(X̃): with k draws, for sure
    bound: float  # what E U_k is at most, for sure: Σ Q(x) (1 − Q(x))^k over X̃, and 1 − P(X̃)
    # What E U_k is at most, with the confidence, by Appendix E.4: `high` and a deviation.
    printed_bound: float

    @property
    def mass(self) -> float:
        """P(X̃), in [0, 1]."""
        return min(1.0, sum(self.probabilities))


@dataclass(frozen=True)
class EffectiveSupports:
    """The paper's Figure 7: a distribution over questions of each quantity."""

    settings: EffectiveSupportSettings
    model: str
    questions: tuple[SupportSearch, ...]

    @cached_property
    def values(self) -> dict[str, Floats]:
        """Each quantity of all questions, by the names in :class:`SupportSearch`, (questions,)."""
        names = ("mass", "missing", "high", "bound", "printed_bound")
        return {name: np.array([getattr(q, name) for q in self.questions]) for name in names}


def questions_of(settings: EffectiveSupportSettings) -> list[str]:
    """Return the questions that are asked: different ones, drawn by the draw number."""
    if settings.source == WORLD:
        return [fact.question for fact in choose(settings.questions, settings.draw)]
    rows = Run(folders()[REAL]).rows(columns=["source", "query"]).table
    of_source = compute.starts_with(rows["source"], settings.source.lower())
    queries = sorted(set(rows.filter(of_source)["query"].to_pylist()))
    order = np.random.default_rng(settings.draw).permutation(len(queries))
    return [queries[place] for place in order[: settings.questions]]


def run(
    model: LanguageModel,
    questions: Sequence[str],
    settings: EffectiveSupportSettings,
    progress: Progress = silent,
) -> EffectiveSupports:
    """Estimate what a model's draws miss, question by question (Appendix E.4).

    The appendix bounds E U_k <= U_k + t <= Ũ_k + 1 − P(X̃) + t, with a confidence for the first
    step. The known likelihoods of X̃ bound E U_k <= E Ũ_k + 1 − P(X̃) without draws, and for sure.

    Raises `InvalidRequestError` when there is no question; `ModelError`, also when the model does
    not score given, whole answers, or scores them above 1.
    """
    must_score(model)
    supports = of_each(
        model,
        questions,
        lambda question, go_on: _search(model, question, settings, go_on),
        progress,
    )
    return EffectiveSupports(settings, model.name, tuple(supports))


def _search(
    model: LanguageModel, question: str, settings: EffectiveSupportSettings, go_on: Seldom
) -> SupportSearch:
    prompt = prompts.iterative(model.reads(question))
    p, responses = _effective_support(model, prompt, settings, go_on)
    go_on()
    # By another seed, for what made X̃ misses nothing of it.
    again = model.sample(prompt, settings.draws, temperature=1.0, seed=settings.seed + 1)
    came = {response.text for response in again if response.complete}
    total = sum(p.values())
    if total > 1 + ROUNDING:
        raise ModelError(
            f"The likelihoods of distinct answers add up to {total:.4g}, which is more than 1: "
            f"{model.name} does not score whole answers."
        )
    p = {text: q / max(1.0, total) for text, q in p.items()}  # what is above 1 is rounding
    covered = min(1.0, total)
    missing = sum(q for text, q in p.items() if text not in came)
    high = min(1.0, missing + 1 - covered)
    order = sorted(p, key=lambda text: -p[text])
    return SupportSearch(
        question,
        tuple(order),
        tuple(p[text] for text in order),
        responses,
        missing,
        high,
        min(1.0, float(mass.expected_missing_mass(list(p.values()), settings.draws)) + 1 - covered),
        min(1.0, high + float(mass.upper_deviation(settings.draws, settings.confidence))),
    )


def _effective_support(
    model: LanguageModel, prompt: str, settings: EffectiveSupportSettings, go_on: Seldom
) -> tuple[dict[str, float], int]:
    """Return Q of each text of X̃, and how many responses it took; cut-off ones are no answers."""
    p: dict[str, float] = {}
    seen = 0
    while True:
        go_on()
        more = min(max(10, seen), settings.most - seen)
        samples = model.sample(
            prompt, more, temperature=settings.temperature, seed=settings.seed, first=seen
        )
        texts = [r.text if r.complete else None for r in samples]
        new = list(dict.fromkeys(text for text in texts if text and text not in p))
        scores = np.exp(model.log_likelihoods([prompt], new)[0]) if new else np.empty(0)
        if np.isnan(scores).any():
            raise ModelError(f"{model.name} cannot score some of its answers. Ask another model.")
        score = dict(zip(new, scores.tolist(), strict=True))
        for text in texts:  # as if they had been drawn one by one
            seen += 1
            if text in score:
                p[text] = score.pop(text)
            if seen == settings.most or sum(p.values()) >= settings.enough:
                return p, seen
