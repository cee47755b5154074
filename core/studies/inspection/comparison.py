"""Two inspections side by side: what was set differently, and what came of it.

“Here” is the first of the two, “there” the second.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Final

import numpy as np

from core.studies.inspection.inspection import Inspection
from core.uncertainty.scores import SCORES
from core.uncertainty.similarity import USUAL_THRESHOLD, pairwise

Setting = str | float | int | bool | None


@dataclass(frozen=True)
class Difference:
    """A setting that is not the same in both."""

    name: str
    here: Setting
    there: Setting


@dataclass(frozen=True)
class InspectionSide:
    """A score of both; the difference is here minus there, None where one has no value."""

    name: str
    here: float | None
    there: float | None

    @property
    def difference(self) -> float | None:
        """Here minus there."""
        return _difference(self.here, self.there)


@dataclass(frozen=True)
class MatchedAnswer:
    """An answer of both, or of one: its texts, None where it was not found, and its shares."""

    # here, there: the centre of the cluster.
    here: str | None
    there: str | None
    # mass_here, mass_there: its share of the model's whole probability; None where it was not
    # found.
    mass_here: float | None
    mass_there: float | None

    @property
    def difference(self) -> float | None:
        """Here minus there."""
        return _difference(self.mass_here, self.mass_there)


def _difference(here: float | None, there: float | None) -> float | None:
    return None if here is None or there is None else here - there


@dataclass(frozen=True)
class InspectionComparison:
    """What differs between two inspections."""

    # Of what was asked, of whom, and how it was read and decided.
    differences: tuple[Difference, ...]
    scores: tuple[InspectionSide, ...]  # in the order of `SCORES`
    answers: tuple[MatchedAnswer, ...]  # the likeliest in either first


def compare(here: Inspection, there: Inspection) -> InspectionComparison:
    """Put two inspections side by side."""
    of_here, of_there = settings(here), settings(there)
    return InspectionComparison(
        tuple(
            Difference(name, of_here.get(name), of_there.get(name))
            for name in {**of_here, **of_there}
            if of_here.get(name) != of_there.get(name)
        ),
        tuple(
            InspectionSide(name, here.scores[name].value, there.scores[name].value)
            for name in SCORES
        ),
        match(here, there),
    )


_READING: Final[Mapping[str, str]] = {
    "similarity": "similarity of two answers",
    "threshold": "similarity threshold τ",
    "gamma_1": "stabilisation γ₁",
    "gamma_2": "stabilisation γ₂",
}


def settings(inspection: Inspection) -> dict[str, Setting]:
    """Return what an inspection's numbers depend on, by names that both can have.

    What was not drawn has no temperature and no seed.
    """
    recording, rule = inspection.recording, inspection.verdict.rule
    request = recording.request
    draws = request.draws
    return {
        "question": request.query,
        "question as it was asked": recording.question,
        "system prompt": request.system or None,
        "context": request.context or None,
        "model": recording.model,
        "weights and form": recording.revision,
        "estimator": recording.estimator.value,
        "answers": request.sampling.value,
        "number of answers k": request.samples,
        "tokens an answer": request.answer_tokens,
        "temperature": request.temperature if draws else None,
        "seed": request.seed if draws else None,
        **{_READING[name]: value for name, value in asdict(inspection.reading).items()},
        "deciding score": SCORES[inspection.verdict.score].title,
        "threshold λ": rule.value if rule else None,
        "least sampled mass": rule.least_mass if rule else None,
        "policy": inspection.refused or inspection.origin or None,
    }


def match(here: Inspection, there: Inspection) -> tuple[MatchedAnswer, ...]:
    """Pair the answers of both: the most alike first, each at most once.

    Two count as one by `same_answer`, whatever the two inspections compared them by: the models
    need not be here to say it.
    """
    ours, theirs = here.clusters, there.clusters
    alike = pairwise([cluster.text for cluster in (*ours, *theirs)])[: len(ours), len(ours) :]
    pairs: list[MatchedAnswer] = []
    left, right = set(range(len(ours))), set(range(len(theirs)))
    order = np.argsort(-alike, axis=None, kind="stable")
    for i, j in zip(*np.unravel_index(order, alike.shape), strict=True):
        if alike[i, j] < USUAL_THRESHOLD:
            break
        if i in left and j in right:
            left.remove(i)
            right.remove(j)
            a, b = ours[i], theirs[j]
            pairs.append(MatchedAnswer(a.text, b.text, a.mass, b.mass))
    pairs += [MatchedAnswer(ours[i].text, None, ours[i].mass, None) for i in left]
    pairs += [MatchedAnswer(None, theirs[j].text, None, theirs[j].mass) for j in right]
    return tuple(sorted(pairs, key=lambda one: -max(one.mass_here or 0.0, one.mass_there or 0.0)))
