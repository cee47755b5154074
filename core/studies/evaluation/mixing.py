"""The paper's Figure 6 on the rows of a run: one threshold for questions of two kinds.

The kinds are told apart by source: questions with one right answer, and questions with many. By
default the right answers that the sources name decide, else the entropy of the model's answers.
"""

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from core.abstention.mixtures import Mixture, Pool, mixtures
from core.data.tabular.columns import text_numbers
from core.studies.evaluation.results import Results
from core.studies.evaluation.rows import Match
from core.studies.evaluation.saved_run import DIVERSE

PAPERS: Final = 500  # questions of either kind in each half
REPETITIONS: Final = 10
PAPER, GUARANTEED = "empirical", "ltt"
#: The two scores that the paper's Figure 6 compares.
COMPARED: Final = ("mutual_information", "semantic_entropy")
#: Of either kind in each half, without which the finding is not announced: an error of 5 % is
#: one question of the twenty that calibrate.
FEWEST: Final = 10
#: What divides the sources: the right answers that they name, or how much the model’s vary.
BY_ANSWERS, BY_ENTROPY = "answers", "entropy"
HARDLY: Final = 0.01  # answered, below which that share and its error are chance
RULES: Final = {PAPER: "the paper’s rule", GUARANTEED: "promised"}


@dataclass(frozen=True)
class QuestionSource:
    """The questions of one source."""

    name: str
    questions: int
    answers: float  # the median of how many different right answers a question has
    entropy: float  # the median of the semantic entropies, nats; NaN without any


@dataclass(frozen=True)
class Kinds:
    """Which sources have one right answer to a question, and which many."""

    single: tuple[str, ...]
    many: tuple[str, ...]
    by: str  # `BY_ANSWERS`, `BY_ENTROPY`, or "" where no source has many


def sources(results: Results) -> tuple[QuestionSource, ...]:
    """Return the sources of the rows that count, by name."""
    at = text_numbers(results.sources)
    names = results.sources[np.unique(at, return_index=True)[1]]
    kinds_of = []
    for place, name in enumerate(names):
        here = at == place
        entropies = results.entropies[here]
        measurable = entropies[~np.isnan(entropies)]
        kinds_of.append(
            QuestionSource(
                str(name),
                int(np.count_nonzero(here)),
                float(np.median(results.right_answers[here])),
                float(np.median(measurable)) if len(measurable) else math.nan,
            )
        )
    return tuple(kinds_of)


def kinds(every: Sequence[QuestionSource]) -> Kinds:
    """Tell sources of single right answers from those of many."""
    by_answers = [each.name for each in every if each.answers >= 2]
    by_entropy = [each.name for each in every if each.entropy > DIVERSE]
    many = by_answers or by_entropy
    single = [each.name for each in every if each.name not in many]
    by = BY_ANSWERS if by_answers else BY_ENTROPY if by_entropy else ""
    return Kinds(tuple(single), tuple(many), by)


@dataclass(frozen=True)
class MixtureResult:
    """The mixtures, and what they were made of."""

    # Every score by both rules; empty where a kind has fewer than two questions.
    mixtures: tuple[Mixture, ...]
    target_error: float
    confidence: float
    # single, many: how many questions there are of either kind.
    single: int
    many: int
    each: int  # how many of either kind are in each half
    dropped: int  # rows of many right answers whose entropy is too low, or not known
    diverse_only: bool
    scores: tuple[str, ...]  # those chosen that have a value
    match: Match  # by which answers are right


def mix(
    results: Results,
    single: Collection[str],
    many: Collection[str],
    *,
    target_error: float = 0.05,
    confidence: float = 0.9,
    diverse_only: bool = True,
    scores: Sequence[str] = COMPARED,
) -> MixtureResult:
    """Calibrate on half of the questions of both kinds and test on the other, ten times.

    `single` and `many` are sources; one that is in both counts as one of many right answers. Of
    these, with `diverse_only`, only questions count whose entropy is above `DIVERSE`, as in the
    paper. Scores without any value are left out.
    """
    names = [name for name in scores if name in results.scores]
    is_many = np.isin(results.sources, list(many))
    is_single = np.isin(results.sources, list(single)) & ~is_many
    diverse = is_many & (results.entropies > DIVERSE) if diverse_only else is_many
    pools = [_pool(results, chosen, names) for chosen in (is_single, diverse)]
    sizes = [len(set(pool.queries)) for pool in pools]
    each = min(PAPERS, min(sizes) // 2)
    outcomes: tuple[Mixture, ...] = ()
    if each and names:
        outcomes = tuple(
            mixtures(
                *pools,
                target_error=target_error,
                confidence=confidence,
                each=each,
                repetitions=REPETITIONS,
            )
        )
    dropped = int(is_many.sum() - diverse.sum())
    return MixtureResult(
        *(outcomes, target_error, confidence, sizes[0], sizes[1], each),
        *(dropped, diverse_only, tuple(names), results.match),
    )


def _pool(results: Results, chosen: np.ndarray, names: Sequence[str]) -> Pool:
    return Pool(
        results.questions[chosen],
        {name: results.doubts[name][chosen] for name in names},
        {name: results.correct[name][chosen] for name in names},
        results.entropies[chosen],
        {name: results.by_other_label.correct[name][chosen] for name in names},
    )
