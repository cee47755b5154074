"""The paper's Figure 6 on the rows of a run: one threshold for questions of two kinds.

The kinds are told apart by source: questions with one right answer, and questions with many. By
default the right answers that the sources name decide, else the entropy of the model's answers.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from core.abstention.mixtures import Bar, Mixture, Pool, mixtures
from core.codec import count_of, list_of, one_line
from core.data.tabular.columns import text_numbers
from core.studies.evaluation.reading import DIVERSE
from core.studies.evaluation.results import Results
from core.uncertainty.scores import SCORES

PAPERS: Final = 500  # questions of either kind in each half
REPETITIONS: Final = 10
PAPER, GUARANTEED = "empirical", "ltt"
#: The two scores that the paper's Figure 6 compares.
COMPARED: Final = ("mutual_information", "semantic_entropy")
#: Of either kind in each half, without which the finding is not announced: an error of 5 % is
#: one question of the twenty that calibrate.
FEWEST: Final = 10
HARDLY: Final = 0.01  # answered, below which that share and its error are chance
RULES: Final = {PAPER: "the paper’s rule", GUARANTEED: "guaranteed"}


@dataclass(frozen=True)
class QuestionSource:
    """The questions of one source.

    Attributes
    ----------
    name : str
    questions : int
    answers : float
        The median of how many different right answers a question has.
    entropy : float
        The median of the semantic entropies, nats; NaN without any.
    """

    name: str
    questions: int
    answers: float
    entropy: float


@dataclass(frozen=True)
class Kinds:
    """Which sources have one right answer to a question, and which many.

    Attributes
    ----------
    single, many : tuple of str
    how : str
        How they were told apart, in a sentence.
    """

    single: tuple[str, ...]
    many: tuple[str, ...]
    how: str


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
    if by_answers:
        how = (
            f"{_names(by_answers)}: the median question has two right answers or more, so "
            f"{'they count' if len(many) > 1 else 'it counts'} as having many."
        )
    elif by_entropy:
        how = (
            "No source names several right answers to its median question. "
            f"{_names(by_entropy)}: the median entropy of the model’s answers is above "
            f"{DIVERSE} nats, so {'they count' if len(many) > 1 else 'it counts'} as having many."
        )
    else:
        how = (
            "No source names several right answers to its median question, and none has a median "
            f"entropy above {DIVERSE} nats."
        )
    return Kinds(tuple(single), tuple(many), how)


def _names(names: Sequence[str]) -> str:
    return list_of([f"“{one_line(name)}”" if name else "questions of no source" for name in names])


@dataclass(frozen=True)
class Mixed:
    """The mixtures, and what they were made of.

    Attributes
    ----------
    found : tuple of Mixture
        Every score by both rules; empty where a kind has fewer than two questions.
    target_error, confidence : float
    single, many : int
        How many questions there are of either kind.
    each : int
        How many of either kind are in each half.
    sentences : tuple of str
        First what they were made of, then what came out.
    """

    found: tuple[Mixture, ...]
    target_error: float
    confidence: float
    single: int
    many: int
    each: int
    sentences: tuple[str, ...]


def mix(
    results: Results,
    single: Collection[str],
    many: Collection[str],
    *,
    target_error: float = 0.05,
    confidence: float = 0.9,
    diverse_only: bool = True,
    scores: Sequence[str] = COMPARED,
) -> Mixed:
    """Calibrate on half of the questions of both kinds and test on the other, ten times.

    Parameters
    ----------
    single, many : collection of str
        Sources. One that is in both counts as one of many right answers.
    diverse_only : bool
        Whether of those with many right answers only questions count whose entropy is above
        `DIVERSE`, as in the paper.
    scores : sequence of str
        Those without any value are left out.
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
    sentences = [_composition(sizes, int(is_many.sum() - diverse.sum()), diverse_only, each)]
    if not names:
        sentences.append("None of the chosen scores has a value in these rows.")
    sentences += [_came_out(outcomes, rule, target_error, confidence) for rule in RULES if outcomes]
    return Mixed(outcomes, target_error, confidence, sizes[0], sizes[1], each, tuple(sentences))


def finding(results: Results) -> str:
    """Say what one threshold does to both kinds by the paper's rule, where that is worth a box.

    "" where the sources are not of two kinds, where there are few questions, or where the run lacks
    one of the two scores.
    """
    by_kind = kinds(sources(results))
    mixed = mix(results, by_kind.single, by_kind.many)
    if mixed.each < FEWEST or {mixture.score for mixture in mixed.found} != {*COMPARED}:
        return ""
    if any(each.rule == PAPER and each.bars[-1].recall >= HARDLY for each in mixed.found):
        return (
            f"Tried on as many questions with one right answer as with many. {mixed.sentences[1]}"
        )
    wrong = 1 - min(results.right(name) for name in COMPARED)
    return (
        f"{wrong:.0%} of the answers are wrong. For a target loss of {mixed.target_error:.0%}, the "
        f"paper’s rule leaves fewer than {HARDLY:.0%} of the questions answered by M.I. or S.E."
    )


def _pool(results: Results, chosen: np.ndarray, names: Sequence[str]) -> Pool:
    return Pool(
        results.questions[chosen],
        {name: results.doubts[name][chosen] for name in names},
        {name: results.correct[name][chosen] for name in names},
        results.entropies[chosen],
    )


def _composition(sizes: Sequence[int], dropped: int, diverse_only: bool, each: int) -> str:
    one, many = (count_of(size, "question") for size in sizes)
    sentence = f"There are {one} with one right answer and {many} with many"
    if diverse_only:
        sentence += f" and an entropy above {DIVERSE} nats ({dropped:,} with less are left out)"
    if not each:
        return f"{sentence}. Figure 6 takes at least two of either kind: one calibrates, one tests."
    fewer = "as in the paper" if each == PAPERS else f"the paper has {PAPERS}"
    return (
        f"{sentence}. Each half has {each:,} of either kind ({fewer}), drawn anew {REPETITIONS} "
        "times from the same questions: the bars’ two standard deviations show what the draw "
        "changes."
    )


def _came_out(
    mixtures: Sequence[Mixture], rule: str, target_error: float, confidence: float
) -> str:
    """Say what every score answers by one rule, of all questions and where the entropy is high."""
    with_it = f", with {100 * confidence:.6g}% confidence" if rule == GUARANTEED else ""
    head = f"At a target loss of {100 * target_error:.6g}%{with_it}, by {_RULE_IN_WORDS[rule]}: "
    return head + "; ".join(in_words(each) for each in mixtures if each.rule == rule) + "."


_RULE_IN_WORDS: Final = {
    PAPER: "the paper’s rule",
    GUARANTEED: "the guaranteed threshold (Learn-then-Test)",
}


def in_words(mixture: Mixture) -> str:
    """Say what one score answers by one rule."""
    symbol = SCORES[mixture.score].symbol
    none = sum(value is None for value in mixture.values)
    if none == len(mixture.values):
        return f"{symbol} finds no threshold in any of {none} repetitions"
    *bins, every = mixture.bars
    sentence = f"{symbol} answers {_shares(every)}"
    if bins:
        sentence += f", and {_shares(bins[-1])} at an entropy of {bins[-1].name} nats"
    if none:
        sentence += f" (no threshold in {none} of {len(mixture.values)} repetitions)"
    return sentence


def _shares(bar: Bar) -> str:
    if 0 < bar.recall < HARDLY:
        return f"fewer than {HARDLY:.0%}"
    wrong = "" if math.isnan(bar.error) else f" with {bar.error:.1%} wrong"
    return f"{bar.recall:.0%}{wrong}"
