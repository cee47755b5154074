"""What one threshold does to questions with one right answer and with many, in sentences."""

import math
from typing import Final

from core import codec
from core.abstention.mixtures import Bar, Mixture
from core.codec import count_of, list_of, one_line
from core.reports.evaluation.words import other_label
from core.reports.text import brackets, by_other
from core.studies.evaluation import mixing
from core.studies.evaluation.mixing import COMPARED, HARDLY, Kinds, MixtureResult
from core.studies.evaluation.results import Results
from core.studies.evaluation.saved_run import DIVERSE
from core.uncertainty.scores import SCORES

_RULES: Final = {
    mixing.PAPER: "the paper’s rule",
    mixing.GUARANTEED: "the promised threshold (Learn-then-Test)",
}


def two_kinds(of: Kinds) -> str:
    """Return how the sources were divided."""
    begins = "No source names several right answers to its median question"
    if not of.many:
        return f"{begins}, and none has a median entropy above {DIVERSE} nats."
    names = list_of(
        [f"“{one_line(name)}”" if name else "questions of no source" for name in of.many]
    )
    so = f"so {'they count' if len(of.many) > 1 else 'it counts'} as having many."
    if of.by == mixing.BY_ANSWERS:
        return f"{names}: the median question has two right answers or more, {so}"
    return (
        f"{begins}. {names}: the median entropy of the model’s answers is above {DIVERSE} nats, "
        f"{so}"
    )


def mixtures(mixed: MixtureResult) -> list[str]:
    """Return what the mixtures were made of, then what every score answers by each rule."""
    sentences = [_composition(mixed)]
    if not mixed.scores:
        sentences.append("None of the chosen scores has a value in these rows.")
    if not mixed.mixtures:
        return sentences
    outcomes = [_outcome(mixed, rule) for rule in mixing.RULES]
    return [*sentences, *outcomes, brackets(other_label(mixed.match))]


def at_high_entropy(mixed: MixtureResult) -> str:
    """Return what every score answers where entropy is highest, by the paper's rule.

    "" where one finds no threshold, or has no question there.
    """
    of = [each for each in mixed.mixtures if each.rule == mixing.PAPER]
    if not of or any(len(each.bars) < 2 or math.isnan(each.bars[-2].recall) for each in of):
        return ""
    shares = [f"{SCORES[each.score].title} answers {each.bars[-2].recall:.0%}" for each in of]
    return (
        f"At an entropy of {of[0].bars[-2].name} nats, {list_of(shares, most=len(shares))} of the "
        f"questions, on average of {mixing.REPETITIONS} draws."
    )


def finding(results: Results) -> str:
    """Return what one threshold does to both kinds by the paper's rule, where that is worth a box.

    "" where the sources are not of two kinds, where there are few questions, or where the run lacks
    one of the two scores.
    """
    by_kind = mixing.kinds(mixing.sources(results))
    mixed = mixing.mix(results, by_kind.single, by_kind.many)
    if mixed.each < mixing.FEWEST or {mixture.score for mixture in mixed.mixtures} != {*COMPARED}:
        return ""
    if any(each.rule == mixing.PAPER and each.bars[-1].recall >= HARDLY for each in mixed.mixtures):
        return (
            "Tried on as many questions with one right answer as with many. "
            f"{_outcome(mixed, mixing.PAPER)} {brackets(other_label(results.match))}"
        )
    both = results, results.by_other_label
    wrong, by_other = (1 - min(map(each.right, COMPARED)) for each in both)
    return (
        f"{wrong:.0%} of the answers are wrong ({by_other:.0%} {other_label(results.match)}). "
        f"For a target loss of {mixed.target_error:.0%}, the "
        f"paper’s rule leaves fewer than {HARDLY:.0%} of the questions answered by M.I. or S.E."
    )


def _composition(mixed: MixtureResult) -> str:
    one, many = (count_of(size, "question") for size in (mixed.single, mixed.many))
    sentence = f"There are {one} with one right answer and {many} with many"
    if mixed.diverse_only:
        sentence += (
            f" and an entropy above {DIVERSE} nats "
            f"({count_of(mixed.dropped, 'row')} without it left out)"
        )
    if not mixed.each:
        return f"{sentence}. Figure 6 takes at least two of either kind: one calibrates, one tests."
    fewer = "as in the paper" if mixed.each == mixing.PAPERS else f"the paper has {mixing.PAPERS}"
    return (
        f"{sentence}. Each half has {mixed.each:,} of either kind ({fewer}), drawn anew "
        f"{mixing.REPETITIONS} times from the same questions: the bars’ two standard deviations "
        "show what the draw changes."
    )


def _outcome(mixed: MixtureResult, rule: str) -> str:
    """Return what every score answers by one rule, of all questions and at high entropies."""
    sure = (
        f", with {codec.percent(mixed.confidence)} confidence" if rule == mixing.GUARANTEED else ""
    )
    head = f"At a target loss of {codec.percent(mixed.target_error)}{sure}, by {_RULES[rule]}: "
    return f"{head}{'; '.join(mixture(each) for each in mixed.mixtures if each.rule == rule)}."


def mixture(of: Mixture) -> str:
    """Return what one score answers by one rule."""
    symbol = SCORES[of.score].symbol
    none = sum(value is None for value in of.values)
    if none == len(of.values):
        return f"{symbol} finds no threshold in any of {none} repetitions"
    *bins, every = of.bars
    sentence = f"{symbol} answers {_shares(every)}"
    if bins:
        sentence += f", and {_shares(bins[-1])} at an entropy of {bins[-1].name} nats"
    if none:
        sentence += f" (no threshold in {none} of {len(of.values)} repetitions)"
    return sentence


def _shares(bar: Bar) -> str:
    if 0 < bar.recall < HARDLY:
        return f"fewer than {HARDLY:.0%}"
    if math.isnan(bar.error):
        return f"{bar.recall:.0%}"
    return f"{bar.recall:.0%} with {bar.error:.1%}{by_other(bar)} wrong"
