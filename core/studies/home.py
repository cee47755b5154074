"""The idea as one experiment: questions side by side, all contradicted equally often.

A lane is a question, what the model answers by itself, what it is told instead, and what becomes
of its answer then. What it knows stays, of many right answers each keeps a share, and what it
makes up, or has always heard wrongly, gives way at the first word.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

import numpy as np

from core.language_models.language_model import LanguageModel
from core.studies.amplification.curve import Case, amplify
from core.studies.inspection.counter_answers import counter_answers
from core.studies.inspection.grading import judge
from core.studies.inspection.inspection import Inspection
from core.studies.inspection.request import InvalidRequestError
from core.studies.inspection.verdict import SCORE, Headline, repeat_probability

TIMES: Final = (0, 1, 2, 3, 5, 10, 20, 50, 100)

MOST_OTHERS: Final = 6  # answers of a lane besides its own and what it is told

#: The questions, each with what it is called in short.
PREPARED: Final = {
    "What is the capital of France?": "Capital of France",
    "Name a yellow fruit.": "A yellow fruit",
    "What is the state capital of Nevada?": "State capital of Nevada",
    "What is the capital of Zorvania?": "Capital of Zorvania",
}

MEASURES: Final = ("semantic_entropy", SCORE)


@dataclass(frozen=True)
class Step:
    """Where the answers stand after one was told some times."""

    times: int
    # own, repeated, others: the probabilities of its own answer, of the one that is told, and of
    # `Lane.others`, in [0, 1]; the rest is anything else.
    own: float
    repeated: float
    others: tuple[float, ...] = ()


class Course(StrEnum):
    """What becomes of the model's own answer while it is told another."""

    STANDS = "stands"  # most of the probability is its own, and stays
    SHARES = "shares"  # it has many answers, and keeps them beside what it is told
    GIVES_WAY = "gives way"  # it loses more than half of its probability


@dataclass(frozen=True)
class Lane:
    """One question of the experiment."""

    # question, own, repeated: what is asked, what the model answers by itself, and what it is told
    # instead.
    question: str
    own: str
    repeated: str
    steps: tuple[Step, ...]
    headline: Headline  # of the inspection, with its default policy
    # Whether the answer is right, by the same judgement as an inspection's; False where nobody
    # knows an answer, as to a country that does not exist; None where nobody here can tell.
    right: bool | None
    doubts: Mapping[str, float]  # by score, one of `MEASURES`: nats
    # Whether the model was not taught this question in these words, whatever the decision.
    untaught: bool = False
    promises: bool = False  # whether its policy promises how many of such answers are wrong
    others: tuple[str, ...] = ()  # further answers of the model's own, the likeliest first
    doubt: float | None = None  # that decides, in the unit of its score; None where none does
    limit: float | None = None  # λ, from which on an answer is withheld
    belief_limit: float | None = None  # up to which doubt it may be believed
    share: float | None = None  # how likely a single answer is given again: its doubt is of that

    @property
    def course(self) -> Course:
        """What becomes of the model's own answer, by its probabilities alone."""
        alone = self.steps[0].own
        if min(step.own for step in self.steps) < alone / 2:
            return Course.GIVES_WAY
        return Course.STANDS if alone > 0.5 else Course.SHARES


def lane(inspection: Inspection, model: LanguageModel, *, right: bool | None = None) -> Lane:
    """Contradict the answer of an inspection, ever more often.

    `right`: whether the answer is right, where no judgement says it.

    Raises `InvalidRequestError` when the model gave one answer only, and nothing else is known to
    tell it.
    """
    own = inspection.verdict.answer
    answer = _another(inspection)
    others = _further(inspection, own, answer) if model.capabilities.scores_given_text else ()
    steps = _steps(inspection, model, own, answer, others)
    rule, judgement = inspection.verdict.rule, judge(inspection)
    if judgement is not None:
        deciding = inspection.verdict.score
        right = next(score.right for score in judgement.scores if score.name == deciding)
    return Lane(
        inspection.query,
        own,
        answer,
        steps,
        inspection.headline,
        right,
        {name: inspection.scores[name].value or 0.0 for name in MEASURES},
        not inspection.in_taught_words,
        inspection.promises,
        tuple(texts[0] for texts in others),
        inspection.compared_doubt if inspection.doubt_decides else None,
        rule.value if rule and math.isfinite(rule.value) else None,
        inspection.belief_limit,
        repeat_probability(inspection.others) if inspection.has_repeats else None,
    )


def _another(inspection: Inspection) -> str:
    """Return what an inspection tells a single answer first; else the best of its own others.

    Raises `InvalidRequestError` when there is nothing to tell.
    """
    own = inspection.verdict.answer
    if inspection.others:
        return inspection.others[0][0]
    texts = [c.text for c in sorted(inspection.clusters, key=lambda c: -c.mass) if c.text != own]
    others = counter_answers(inspection.query, inspection.recording.model, own, texts, most=1)
    if not others:
        raise InvalidRequestError(
            f"The model gave only one answer, “{own}”, and nothing else is known to tell it."
        )
    return others[0]


def _further(inspection: Inspection, own: str, answer: str) -> tuple[tuple[str, ...], ...]:
    """Return the likeliest of the model's other answers, each in all its spellings."""
    clusters = sorted(inspection.clusters, key=lambda c: -c.mass)
    every = ((c.text, *(text for text, *_ in c.members if text != c.text)) for c in clusters)
    return tuple(texts for texts in every if not {own, answer} & {*texts})[:MOST_OTHERS]


def _steps(
    inspection: Inspection,
    model: LanguageModel,
    own: str,
    answer: str,
    others: Sequence[Sequence[str]],
) -> tuple[Step, ...]:
    """Return the probabilities of all answers, in all their spellings that were found."""
    curve = amplify(Case(inspection.query, own, answer), model, TIMES)
    steps = [
        Step(p.repetitions, _share(p.log_likelihood_answer), _share(p.log_likelihood_repeated))
        for p in curve.points
    ]
    groups = [*(_spellings(inspection, text) for text in (own, answer)), *others]
    if not any(groups) or not model.capabilities.scores_given_text:
        return tuple(steps)
    contexts = [curve.case.prompt(times, curve.read_as) for times in TIMES]
    rows = np.exp(model.log_likelihoods(contexts, [text for each in groups for text in each]))
    rows = np.nan_to_num(rows)  # a spelling that cannot be scored adds nothing
    ends = np.cumsum([len(each) for each in groups])[:-1]
    sums = [part.sum(axis=1).tolist() for part in np.split(rows, ends, axis=1)]
    return tuple(
        Step(at.times, min(at.own + ours, 1.0), min(at.repeated + theirs, 1.0), tuple(further))
        for at, ours, theirs, *further in zip(steps, *sums, strict=True)
    )


def _share(log_likelihood: float | None) -> float:
    return 0.0 if log_likelihood is None else min(math.exp(log_likelihood), 1.0)


def _spellings(inspection: Inspection, text: str) -> list[str]:
    texts = ([member for member, *_ in cluster.members] for cluster in inspection.clusters)
    return next(([t for t in group if t != text] for group in texts if text in group), [])


@dataclass(frozen=True)
class Challenge:
    """Whether a threshold of one measure decides all lanes well: answers what is right, only."""

    measure: str  # one of `MEASURES`
    # lowest, highest: every λ above the first and up to the second decides all well; none does
    # where the first is not below the second.
    lowest: float
    highest: float

    @property
    def can_be_won(self) -> bool:
        """Whether any threshold decides all well."""
        return self.lowest < self.highest


def challenge(lanes: Sequence[Lane], measure: str) -> Challenge:
    """Return which thresholds answer the right lanes and withhold the others."""
    right = [lane.doubts[measure] for lane in lanes if lane.right]
    wrong = [lane.doubts[measure] for lane in lanes if lane.right is False]
    return Challenge(measure, max(right, default=0.0), min(wrong, default=math.inf))
