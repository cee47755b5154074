"""Which answers to repeat: the model's own, the paper's twelve, and the world's by band."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np

from core.data.world import facts as world
from core.data.world import grading
from core.data.world.facts import Band, Fact
from core.data.world.grading import matches
from core.studies.amplification.curve import Case
from core.studies.inspection.inspection import Inspection
from core.studies.inspection.request import InvalidRequestError
from core.studies.inspection.taught_questions import WORLD_OF
from core.studies.questions import BANDS

AT_FIRST: Final = 12  # questions of a band that a person meets first, of the draw 0
MOST_AT_FIRST: Final = 100  # repetitions
MOST_DRAWS: Final = 32  # remembered: nearly everybody looks at the first

# What a person meets first: one case of each regime.
EXAMPLES: Final[dict[str, Case]] = {
    "Known": Case("What is the capital of France?", "Paris", "Lyon"),
    "Half known": Case("What is the capital of New Zealand?", "Auckland", "Wellington"),
    "Many answers": Case("Name a yellow fruit.", "Banana", "Lemon"),
}


@dataclass(frozen=True)
class PaperQuery:
    """A query of the paper's Figures 1 to 3, with the two probabilities of its caption."""

    case: Case
    answer: str
    repeated: str


# As the figures spell them: query, answer, repeated answer, and their initial probabilities.
PAPER: Final[dict[str, tuple[PaperQuery, ...]]] = {
    "Known: one right answer, which the model knows (Figure 1)": (
        PaperQuery(
            Case("What is the capital of the UK?", "London", "Paris"), "≈ 1.0", "1.29 × 10⁻¹⁰"
        ),
        PaperQuery(
            Case("Who was the first US president?", "George Washington", "Abraham Lincoln"),
            "0.999",
            "3.1 × 10⁻⁶",
        ),
        PaperQuery(
            Case("Who is the author of The Grapes of Wrath?", "John Steinbeck", "Ernest Hemingway"),
            "≈ 1.0",
            "1.34 × 10⁻¹⁰",
        ),
        PaperQuery(
            Case("What is the largest country in the world?", "Russia", "United Kingdom"),
            "0.999",
            "9.02 × 10⁻⁶",
        ),
    ),
    "Doubtful: one right answer, and the model is not sure (Figure 2)": (
        PaperQuery(
            Case("What is the national instrument of Ireland?", "The harp", "Uilleann pipes"),
            "0.936",
            "0.063",
        ),
        PaperQuery(
            Case("Which actor became M in the Bond film Skyfall?", "Ralph Fiennes", "Judi Dench"),
            "0.651",
            "0.348",
        ),
        PaperQuery(
            Case("Which can last longer with out water a camel or a rat?", "A rat", "A camel"),
            "0.538",
            "0.461",
        ),
        PaperQuery(
            Case(
                "If Monday's child is fair of face what is Saturday's child?",
                "Work hard for a living",
                "Full of grace",
            ),
            "0.093",
            "0.906",
        ),
    ),
    "Many right answers, both of these among them (Figure 3)": (
        PaperQuery(Case("Name a city in the UK", "London", "Manchester"), "0.958", "0.041"),
        PaperQuery(Case("Name a yellow fruit", "Banana", "Lemon"), "0.715", "0.284"),
        PaperQuery(Case("Name an alcoholic drink", "Wine", "Beer"), "0.685", "0.314"),
        PaperQuery(
            Case("Name a ball game that is played by more than 5 players", "Volleyball", "Soccer"),
            "0.542",
            "0.457",
        ),
    ),
}


def propose(inspection: Inspection) -> tuple[str, str]:
    """Return the model's own answer and one to repeat: the likeliest two, where no truth is known.

    Of a question of the embedded world, what is repeated is the truth where the model's own answer
    is wrong, else its likeliest wrong one. Where many are right, both are.

    Raises `InvalidRequestError` when the model gave no two answers, and the world does not know
    another.
    """
    texts = [c.text for c in sorted(inspection.clusters, key=lambda c: -c.mass)]
    fact = grading.find(inspection.query) if inspection.recording.model == WORLD_OF else None
    if fact is not None:
        return _from_world(texts, fact)
    if len(texts) < 2:
        raise InvalidRequestError(
            f"The model gave only one answer, “{texts[0]}”. Type the two yourself."
        )
    return texts[0], texts[1]


def _from_world(texts: Sequence[str], fact: Fact) -> tuple[str, str]:
    """Return the model's own answer and the truth or a wrong one; of many, two right ones."""

    def names(text: str) -> int | None:
        """Return which of the right answers a text names."""
        meant = (i for i, right in enumerate(fact.answers) if matches(text, right.names))
        return next(meant, None)

    right = next((text for text in texts if names(text) is not None), fact.answers[0].text)
    if fact.band is Band.MANY_ANSWERS:
        ours = names(right)
        others = [text for text in texts if names(text) not in (None, ours)]
        others += [a.text for i, a in enumerate(fact.answers) if i != ours]
        return right, others[0]
    if names(texts[0]) is None:
        return texts[0], right
    return texts[0], next((text for text in texts if names(text) is None), rival(fact))


def rival(fact: Fact) -> str:
    """Return the answer to repeat: the misconception, or another right one of many."""
    return fact.answers[1].text if fact.band is Band.MANY_ANSWERS else str(fact.misconception)


def of_fact(fact: Fact) -> Case:
    """Return a fact's case: its right answer, against `rival`."""
    return Case(fact.question, fact.answers[0].text, rival(fact))


def draw(band: Band, count: int, seed: int = 0) -> list[Fact]:
    """Draw facts of a band, without replacement; as many as there are when `count` is larger."""
    facts = [fact for fact in world.facts() if fact.band is band]
    return [facts[i] for i in np.random.default_rng(seed).permutation(len(facts))[:count]]


@lru_cache(maxsize=MOST_DRAWS)
def by_band(count: int, seed: int = 0) -> Mapping[str, list[Case]]:
    """Draw `count` cases of every exposure band of the embedded world."""
    return {name: [of_fact(fact) for fact in draw(Band(name), count, seed)] for name in BANDS}
