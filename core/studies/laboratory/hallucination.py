"""A hallucination, drawn: Q̃ puts mass where the truth P̃ has none (the paper's Figure 4)."""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from core.data.world.facts import Fact, facts
from core.data.world.normal_form import normal_form as unmarked
from core.language_models.language_model import LanguageModel
from core.once import once
from core.studies.inspection.request import InvalidRequestError
from core.studies.laboratory.asking import must_score
from core.studies.laboratory.pseudo_joint import (
    contributions,
    likeliest_setting,
    pseudo_joint,
    smooth,
    smoothing_setting,
    support_of,
    truth_of,
)
from core.studies.laboratory.settings import ExperimentSettings, setting
from core.studies.progress import Progress, silent
from core.uncertainty.joint import from_table
from core.uncertainty.validation import Floats

#: Of the guesses at facts never seen in training that the bundled labelled example withholds, asked
#: as the catalogue words them, the one in the middle by doubt.
QUESTION: Final = "On which continent is Eritrea?"


@once
def _facts() -> dict[str, Fact]:
    return {unmarked(fact.question): fact for fact in facts()}


def fact_of(question: str) -> Fact:
    """Return what is true about a question of the world, whatever its case and marks.

    Raises `InvalidRequestError` where the world has no such question.
    """
    try:
        return _facts()[unmarked(question)]
    except KeyError:
        raise InvalidRequestError(
            "What is true about this question is not known here. Choose one of “What can I ask?”, "
            "worded as it is there."
        ) from None


@dataclass(frozen=True)
class HallucinationSettings(ExperimentSettings):
    """Which question is asked, how many answers are looked at, and how the truth is smoothed."""

    question: Fact = setting(QUESTION, "Question of the embedded world", read=fact_of)
    likeliest: int = likeliest_setting()
    smoothing: float = smoothing_setting(folded=True)


@dataclass(frozen=True, eq=False)
class Hallucination:
    """Q̃ and P̃ of one question over the same pairs of texts."""

    question: str
    model: str
    texts: tuple[str, ...]  # the support, (m,), likeliest first
    right: NDArray[np.bool_]  # (m,)
    # q, p: (m, m): Q̃ and P̃, rows the first answer; each sums to 1. P̃ is smoothed.
    q: Floats
    p: Floats
    excess: Floats  # (m, m): Q̃ − P̃ where it is above 0: mass that should not be there
    contributions: Floats  # (m, m): Q̃ ln(Q̃ / P̃), nats: they sum to `divergence`
    # divergence, information: D(Q̃, P̃) and I(Q̃), nats.
    divergence: float
    information: float
    # Of P̃. The less it is, the larger `divergence`, without a limit.
    smoothing: float

    @property
    def misplaced_mass(self) -> float:
        """The mass that should be elsewhere, in [0, 1]: the total variation of Q̃ and P̃."""
        return float(self.excess.sum())

    @property
    def wrong(self) -> tuple[float, float]:
        """The probability that the first answer is wrong, and that the second is."""
        first, second = self.q.sum(axis=1), self.q.sum(axis=0)
        return float(first[~self.right].sum()), float(second[~self.right].sum())


def run(
    model: LanguageModel, fact: Fact, settings: HallucinationSettings, progress: Progress = silent
) -> Hallucination:
    """Compare what a model says to a question with what is true.

    Raises `ModelError`, also when the model does not score given, whole answers.
    """
    must_score(model)
    progress("Search for answers", 0.0)
    texts = support_of(model, fact, settings.likeliest)
    progress("Score answers", 0.5)
    joint = pseudo_joint(model, fact.question, texts)
    progress("Score answers", 1.0)
    truth = truth_of(fact, joint.texts)
    log_truth = smooth(truth, settings.smoothing)
    log_p = log_truth[:, None] + log_truth
    q, p = np.exp(joint.log_joint), np.exp(log_p)
    terms = contributions(joint.log_joint, log_p)
    return Hallucination(
        question=fact.question,
        model=model.name,
        texts=joint.texts,
        right=truth > 0,
        q=q,
        p=p,
        excess=np.maximum(q - p, 0.0),
        contributions=terms,
        divergence=float(terms.sum()),
        information=from_table(joint.log_joint).value,
        smoothing=settings.smoothing,
    )
