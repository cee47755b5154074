"""The idea in three steps, on live results: what the home page shows.

The model answers; somebody says otherwise, and what it knows stays while what it half knows
turns; many right answers spread without turning, which only entropy takes for doubt.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from core.language_models.base import LanguageModel
from core.studies.amplification.curve import Case, amplify
from core.studies.inspection.inspection import Inspection
from core.studies.inspection.verdict import default_thresholds

EXAMPLES: Final = {
    "Known": "What is the capital of France?",
    "Half known": "Which actor became M in the Bond film Skyfall?",
    "Unknown": "What is the capital of Zorvania?",
    "Many answers": "Name a yellow fruit.",
    "Nonsense": "asdf qwer zxcv",
}

# What the home page calls them: words that do not give away what the model knows.
SHORT: Final = {
    "Known": "Capital of France",
    "Half known": "M in Skyfall",
    "Unknown": "Capital of Zorvania",
    "Many answers": "A yellow fruit",
}

# Of the first two examples: the right answer, and what somebody says instead.
CONTRADICTED: Final = {"Known": ("Paris", "Lyon"), "Half known": ("Ralph Fiennes", "Judi Dench")}
TIMES: Final = (0, 1, 2, 5, 10, 20, 50, 100)

MEASURES: Final = {"Entropy": "semantic_entropy", "Mutual information": "mutual_information"}


@dataclass(frozen=True)
class Turned:
    """What is left of a right answer after a wrong one was told.

    Attributes
    ----------
    example : str
        A key of `CONTRADICTED`.
    right, told : str
        The two answers.
    share : float
        P(right) / (P(right) + P(told)), in [0, 1].
    """

    example: str
    right: str
    told: str
    share: float


def contradict(times: int, model: LanguageModel) -> tuple[Turned, ...]:
    """Tell the model the wrong answer `times` times, for each of `CONTRADICTED`."""
    result = []
    for example, (right, told) in CONTRADICTED.items():
        (point,) = amplify(Case(EXAMPLES[example], right, told), model, [times]).points
        result.append(Turned(example, right, told, point.normalised_probability or 0.0))
    return tuple(result)


@dataclass(frozen=True)
class Doubted:
    """One example's doubt by one measure, and what the measure would do about it.

    Attributes
    ----------
    example : str
        A key of `EXAMPLES`.
    value : float
        Nats.
    threshold : float
        The measure's default threshold, nats: it answers below.
    right : bool
        Whether the model has a right answer to give.
    """

    example: str
    value: float
    threshold: float
    right: bool

    @property
    def answers(self) -> bool:
        """Whether the measure would let the answer pass."""
        return self.value < self.threshold

    @property
    def well_decided(self) -> bool:
        """Whether it lets a right answer pass, or withholds a wrong one."""
        return self.answers == self.right


def doubts(measure: str, inspections: dict[str, Inspection]) -> tuple[Doubted, ...]:
    """Return the doubt of each inspected example by a value of `MEASURES`."""
    return tuple(
        Doubted(
            example,
            inspections[example].scores[measure].value or 0.0,
            default_thresholds()[measure],
            example in ("Known", "Many answers"),
        )
        for example in SHORT
    )


def widest(inspections: dict[str, Inspection]) -> float:
    """Return the largest doubt by any of `MEASURES`, nats: one scale for all of them."""
    return max(
        inspections[example].scores[measure].value or 0.0
        for example in SHORT
        for measure in MEASURES.values()
    )
