"""Turn labelled scores into a threshold λ: answer when the doubt is below it.

Three ways, which promise different things:

- `learn_then_test`: with a stated confidence, at most a stated share of the *answered*
  queries is wrong. The default.
- `conformal_risk_control`: on average over calibrations, at most a stated share of *all*
  queries is answered and wrong.
- `empirical`: the paper's rule (Section 6). It promises nothing.

References
----------
.. [1] A. Angelopoulos, S. Bates, E. Candès, M. Jordan, L. Lei: Learn then Test:
   Calibrating Predictive Algorithms to Achieve Risk Control, 2021, arXiv 2110.01052.
.. [2] A. Angelopoulos, S. Bates, A. Fisch, L. Lei, T. Schuster: Conformal Risk Control,
   2022, arXiv 2208.02814.
.. [3] Y. Abbasi Yadkori, I. Kuzborskij, A. György, C. Szepesvári: To Believe or Not to
   Believe Your LLM, 2024, arXiv 2406.02543, Sections 5 and 6.
"""

import functools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from core.abstention.blocks import Blocks, blocks
from core.codec import count_of, percent

USUAL_CONFIDENCE = 0.9  # of the bound on new rows, where a policy names none
POWER = 0.8  # with which a certificate should be found if the true error is half the target
# Shares of the queries with a score: where the first walk begins at the latest, and the second.
EARLIEST_SHARE, SECOND_SHARE = 0.2, 0.5
FIRST_PART = 0.75  # of δ: what the first walk may spend before the second begins
A_FEW = 64  # tests that a walk makes at once, before it makes more
MOST_ERRORS = 2_000  # among the answered: beyond, "more labels" is no advice
MOST_LABELS = 10**12  # beyond it, too; and whole numbers must hold what is doubled on the way


@dataclass(frozen=True)
class Threshold:
    """A threshold and what it did on the labelled queries."""

    # λ: answer when the doubt is below it. Infinity answers every finite doubt.
    value: float
    # answered, errors: labelled queries answered, and those of them that are wrong.
    answered: int
    errors: int
    queries: int  # all labelled queries
    # A description of these rows; what is promised is the target. Learn-then-Test: the
    # Clopper–Pearson bound of the error among answered queries, at the stated confidence for a λ
    # chosen beforehand. This λ was chosen on the same rows, so that the bound may fail more often.
    # Conformal risk control: (errors + 1) / (queries + 1). NaN where the method has none.
    upper_bound: float

    @property
    def coverage(self) -> float:
        """The share of the labelled queries that is answered."""
        return self.answered / self.queries

    @property
    def selective_error(self) -> float:
        """The share of wrong ones among the answered; NaN when nothing is answered."""
        return self.errors / self.answered if self.answered else float("nan")


@dataclass(frozen=True)
class Uncertifiable:
    """No threshold can be certified on these labels; a result, not an error."""

    reason: str  # one sentence, with what to do about it
    # About how many labels more would certify a threshold in four of five cases, if no larger share
    # of them is wrong; None where nobody can say.
    labels_needed: int | None

    @property
    def value(self) -> None:
        """There is no λ."""
        return None


def learn_then_test(
    scores: ArrayLike, correct: ArrayLike, *, target_error: float, confidence: float
) -> Threshold | Uncertifiable:
    """Certify the error among answered queries, by fixed-sequence testing [1]_ in two walks.

    A walk goes from strict to loose, one distinct doubt after the other (tied ones as one
    block). It tests "more than α of the answered are wrong" with the exact binomial tail, and
    stops at the first doubt at which this cannot be rejected. Whatever follows is never looked
    at, so that the tests need no correction for their number.

    The first walk begins among the surest answers, where little is needed, and tests at 3/4 of
    δ. If it gets to the middle, half of the queries with a score, it goes on from there at δ.
    Else a second walk begins in the middle at the rest, 1/4 of δ: where the error is the same
    everywhere, the most answers prove the most. The proof that both together are wrong with
    probability δ at most is in ``docs/calibration.md``.

    Raises `ValueError` when shapes, labels, α or the confidence are not as below.

    `scores`, (n,): doubts, larger meaning "doubt more"; NaN is missing and, like an infinite doubt,
    never answered.
    `correct`, (n,): whether the answer that the score serves is right, 0 or 1.
    `target_error`: α, in (0, 1): the share of wrong ones among answered queries.
    `confidence`: 1 − δ, in (0, 1): over draws of the labelled queries.
    """
    _check(target_error, confidence)
    ranks = blocks(scores, correct)
    if ranks.finite < fewest_labels(target_error, confidence):
        return _too_few(ranks, target_error, confidence)
    loosest = _loosest(ranks, target_error, confidence)
    return _too_wrong(ranks, target_error, confidence) if loosest is None else loosest


def for_each_target(
    scores: ArrayLike, correct: ArrayLike, *, target_errors: Sequence[float], confidence: float
) -> tuple[Threshold | None, ...]:
    """Return what `learn_then_test` certifies for each of several targets; None for nothing.

    Each is tested at the one confidence: whoever chooses among them has to divide δ before.
    The rows are sorted once. Parameters as in `learn_then_test`.
    """
    for target_error in target_errors:
        _check(target_error, confidence)
    ranks = blocks(scores, correct)
    return tuple(_loosest(ranks, target_error, confidence) for target_error in target_errors)


def _loosest(ranks: Blocks, target_error: float, confidence: float) -> Threshold | None:
    sooner, later = _certified_ranks(ranks, target_error, confidence)
    if not (sooner or later):
        return None
    block = later[-1] if later else sooner[-1]
    bound = clopper_pearson(ranks.errors[block], ranks.answered[block], confidence)
    return _threshold(ranks, block, bound)


def certifies(
    scores: ArrayLike, correct: ArrayLike, value: float, *, target_error: float, confidence: float
) -> bool:
    """Return whether `learn_then_test` certifies a λ on these queries, however it was chosen.

    All that its walks certify holds together, at the one confidence: so λ may come from other
    queries, or from these and more. Where it answers none of these, nothing is certified.
    Parameters as in `learn_then_test`.
    """
    _check(target_error, confidence)
    ranks = blocks(scores, correct)
    block = int(np.count_nonzero(ranks.doubts < value)) - 1
    return any(block in walk for walk in _certified_ranks(ranks, target_error, confidence))


def _certified_ranks(ranks: Blocks, target_error: float, confidence: float) -> tuple[range, range]:
    """Return the blocks that are certified before the second start, and from there on."""
    first, second = _starts(ranks, target_error, confidence)
    delta = 1 - confidence
    stopped = _walk(ranks, first, second, target_error, FIRST_PART * delta)
    left = delta if stopped == second else (1 - FIRST_PART) * delta
    further = _walk(ranks, second, len(ranks.answered), target_error, left)
    return range(first, stopped), range(second, further)


def _starts(ranks: Blocks, target_error: float, confidence: float) -> tuple[int, int]:
    """Return the blocks at which the walks begin; twice the same where one walk does for both.

    They depend on the doubts and not on the labels, which the tests still need.
    """
    first = _start(ranks, target_error, _with(FIRST_PART, confidence))
    fewest = fewest_labels(target_error, _with(1 - FIRST_PART, confidence))
    second = int(np.searchsorted(ranks.answered, max(fewest, SECOND_SHARE * ranks.finite)))
    if first < second < len(ranks.answered):
        return first, second
    only = _start(ranks, target_error, confidence)
    return only, only


def _start(ranks: Blocks, target_error: float, confidence: float) -> int:
    """Return the first block that can be certified, and has the power or a fifth of the scores."""
    fewest = fewest_labels(target_error, confidence)
    least = max(fewest, min(_powerful(target_error, confidence), EARLIEST_SHARE * ranks.finite))
    return int(np.searchsorted(ranks.answered, least))


def _with(part: float, confidence: float) -> float:
    """Return the confidence of tests that may spend a part of δ."""
    return 1 - part * (1 - confidence)


def _walk(ranks: Blocks, start: int, end: int, target_error: float, level: float) -> int:
    """Return the block at which a walk from a start stops: `end`, if every test rejects."""
    answered, errors = ranks.answered[start:end], ranks.errors[start:end]
    # Further answers that are right only lower p: the walk can stop at new errors alone.
    risen = np.flatnonzero(np.diff(errors, prepend=-1))
    first, number = 0, A_FEW
    while first < len(risen):  # most walks stop soon, and each test costs a microsecond
        these = risen[first : first + number]
        failed = these[p_values(answered[these], errors[these], target_error) > level]
        if len(failed):
            return start + int(failed[0])
        first, number = first + number, 2 * number
    return end


def conformal_risk_control(
    scores: ArrayLike, correct: ArrayLike, *, target_error: float
) -> Threshold | Uncertifiable:
    """Bound the share of *all* queries that are answered and wrong, on average [2]_.

    The largest λ with (errors + 1) / (n + 1) ≤ α. It says nothing about the error among
    the answered, which may be far higher when few are answered, and holds on average over
    calibrations, without a confidence. Parameters as in `learn_then_test`.
    """
    _check(target_error)
    ranks = blocks(scores, correct)
    if not ranks.finite:
        return _no_scores()
    bound = (ranks.errors + 1) / (ranks.queries + 1)
    allowed = np.flatnonzero(bound <= target_error)
    if len(allowed):
        return _threshold(ranks, int(allowed[-1]), float(bound[allowed[-1]]))
    if 1 / (ranks.queries + 1) > target_error:
        needed = math.ceil(1 / target_error - 1) - ranks.queries
        return Uncertifiable(
            f"{count_of(ranks.queries, 'label')} cannot bound a share of "
            f"{percent(target_error)}: even without an error it takes "
            f"{needed + ranks.queries:,}. About {needed:,} more are needed.",
            needed,
        )
    return Uncertifiable(
        "Even the surest answers are too often wrong for this target. Raise the target error, "
        "or use another score.",
        None,
    )


def empirical(
    scores: ArrayLike, correct: ArrayLike, *, target_error: float
) -> Threshold | Uncertifiable:
    """Return the largest λ whose observed error is at most α: the paper's rule [3]_.

    It **promises nothing**: λ is chosen and judged on the same rows. Parameters as in
    `learn_then_test`.
    """
    _check(target_error)
    ranks = blocks(scores, correct)
    if not ranks.finite:
        return _no_scores()
    # Divided, not multiplied: 0.29 * 100 is a hair below 29.
    allowed = np.flatnonzero(ranks.errors / ranks.answered <= target_error)
    if len(allowed):
        return _threshold(ranks, int(allowed[-1]), float("nan"))
    return Uncertifiable(
        "At no threshold is the observed error at most the target. Raise the target error, or "
        "use another score.",
        None,
    )


def best_of(
    scores: Mapping[str, ArrayLike],
    correct: Mapping[str, ArrayLike],
    *,
    target_error: float,
    confidence: float,
) -> tuple[str, Threshold | Uncertifiable]:
    """Certify several scores, each at δ divided by their number; keep the one that answers most.

    Choosing a score after looking costs confidence, and the division (Bonferroni) pays it; the
    `upper_bound` of the threshold is at the divided δ.
    """
    if not scores:
        raise ValueError("Name at least one score.")
    divided = 1 - (1 - confidence) / len(scores)
    thresholds = {
        name: learn_then_test(
            scores[name], correct[name], target_error=target_error, confidence=divided
        )
        for name in scores
    }

    def merit(name: str) -> tuple[float, float]:
        outcome = thresholds[name]
        if isinstance(outcome, Threshold):
            return (float(outcome.answered), 0.0)
        return (-1.0, -float(outcome.labels_needed or math.inf))

    best = max(thresholds, key=merit)
    return best, thresholds[best]


def at_threshold(scores: ArrayLike, correct: ArrayLike, value: float) -> Threshold:
    """Return what a λ chosen by hand does on labelled queries; it bounds nothing."""
    ranks = blocks(scores, correct)
    below = int(np.count_nonzero(ranks.doubts < value)) - 1
    if below < 0:
        return Threshold(value, 0, 0, ranks.queries, float("nan"))
    return replace(_threshold(ranks, below, float("nan")), value=value)


def p_values(answered: ArrayLike, errors: ArrayLike, target_error: float) -> NDArray[np.float64]:
    """Return P(Bin(answered, α) ≤ errors): small where the true error must be below α."""
    k, m = np.asarray(errors, float), np.asarray(answered, float)
    # SciPy's own binomial tail, bdtr, is quicker, but off by 1e-9 at a million answers.
    tail = special.betaincc(k + 1, np.maximum(m - k, 1), target_error)
    return np.asarray(np.where(k < m, tail, 1.0))


def clopper_pearson(errors: ArrayLike, answered: ArrayLike, confidence: float) -> float:
    """Return the exact one-sided upper bound of an error rate; 1 when nothing was answered."""
    k, m = np.asarray(errors, float), np.asarray(answered, float)
    bound = special.betaincinv(k + 1, np.maximum(m - k, 1e-300), confidence)
    return float(np.where(k >= m, 1.0, bound))


def fewest_labels(target_error: float, confidence: float) -> int:
    """Return how many answered queries it takes, all of them right: ⌈ln δ / ln(1 − α)⌉.

    At most `MOST_LABELS` + 1.
    """
    fewest = math.log1p(-confidence) / math.log1p(-target_error)
    return math.ceil(min(fewest, MOST_LABELS + 1))


def labels_for_power(error: float, target_error: float, confidence: float) -> int | None:
    """Return the fewest answered queries that certify α with 80% power at a true error.

    For every number of errors k there is a smallest m at which k errors still certify;
    within one k, more labels only add risk. So it is the first k whose m has the power.
    None where the error is not below α, or so near to it, or α to 0, that it is out of reach.
    """
    if error >= target_error or fewest_labels(target_error, confidence) > MOST_LABELS:
        return None
    most = 16
    while most <= MOST_ERRORS:
        fewest = _fewest_that_certify(most, target_error, confidence)
        enough = np.flatnonzero(special.bdtr(np.arange(most + 1), fewest, error) >= POWER)
        if len(enough):
            return int(fewest[enough[0]])
        most *= 8
    return None


@functools.lru_cache(maxsize=64)
def _fewest_that_certify(most: int, target_error: float, confidence: float) -> NDArray[np.int64]:
    """Return the smallest m with P(Bin(m, α) ≤ k) ≤ δ for k = 0, 1, …, most, by bisection."""
    errors = np.arange(most + 1)

    def certifies(answered: NDArray[np.int64]) -> NDArray[np.bool_]:
        return p_values(answered, errors, target_error) <= 1 - confidence

    low, high = errors.copy(), 2 * errors + 1  # low never certifies: all of it is wrong
    while not (enough := certifies(high)).all():
        high = np.where(enough, high, 2 * high)
    while (high - low > 1).any():
        middle = (low + high) // 2
        enough = certifies(middle)
        low, high = np.where(enough, low, middle), np.where(enough, middle, high)
    return high


@functools.lru_cache(maxsize=1024)
def _powerful(target_error: float, confidence: float) -> float:
    """Return m80: where an error of half the target is certified four times in five."""
    return labels_for_power(target_error / 2, target_error, confidence) or math.inf


def _threshold(ranks: Blocks, block: int, upper_bound: float) -> Threshold:
    return Threshold(
        value=ranks.threshold_after(block),
        answered=int(ranks.answered[block]),
        errors=int(ranks.errors[block]),
        queries=ranks.queries,
        upper_bound=upper_bound,
    )


def _count(labels: int) -> str:
    return f"more than {MOST_LABELS:,}" if labels > MOST_LABELS else f"{labels:,}"


def _no_scores() -> Uncertifiable:
    return Uncertifiable("No row has a score, so there is nothing to certify.", None)


def _too_few(ranks: Blocks, target_error: float, confidence: float) -> Uncertifiable:
    if not ranks.finite:
        return _no_scores()
    opening = (
        f"Too few labelled answers have a score: {ranks.finite}. Even if all of them are "
        f"right, this target and confidence need {_count(fewest_labels(target_error, confidence))}."
    )
    needed = _more_if_half_as_wrong(ranks, target_error, confidence)
    if needed is not None:
        return _scarce(opening, needed)
    surest = _at_share(ranks, EARLIEST_SHARE)
    return Uncertifiable(
        f"{opening} Wrong among the {ranks.answered[surest]} surest: {ranks.errors[surest]}. More "
        "labels of this kind would not help. Raise the target error, or use another score.",
        None,
    )


def _too_wrong(ranks: Blocks, target_error: float, confidence: float) -> Uncertifiable:
    """Advise by the walk that needs the fewest labels more; none where neither can be helped."""
    first, _ = _starts(ranks, target_error, confidence)
    middle = max(first, _at_share(ranks, SECOND_SHARE))
    is_scarce = _at_share(ranks, EARLIEST_SHARE) < first
    by_first = _more_if_half_as_wrong if is_scarce else _more_by_first
    sooner = by_first(ranks, target_error, confidence)
    later = _more_by_second(ranks, middle, target_error, confidence)
    needed = min((each for each in (sooner, later) if each is not None), default=None)
    target = percent(target_error)
    if needed is None:
        return _too_close(ranks, [first, middle], target_error)
    if is_scarce and needed == sooner:
        too_many = f"{_observation(ranks, first)}, too many for a target of {target}."
        return _scarce(f"{too_many} Fewer answers would prove nothing.", needed)
    observed = _observation(ranks, first if needed == sooner else middle)
    return Uncertifiable(
        f"{observed}: below the target of {target}, but too few to be {percent(confidence)} "
        f"confident. About {needed:,} more labels would suffice if no larger share of them is "
        "wrong. Or raise the target error, or lower the confidence.",
        needed,
    )


def _scarce(opening: str, needed: int) -> Uncertifiable:
    return Uncertifiable(
        f"{opening} About {needed:,} more labels would suffice if half as many of the surest "
        "answers are wrong as the target allows.",
        needed,
    )


def _too_close(ranks: Blocks, begun: list[int], target_error: float) -> Uncertifiable:
    block = min(begun, key=lambda at: ranks.errors[at] / ranks.answered[at])
    observed, target = _observation(ranks, block), percent(target_error)
    if ranks.errors[block] >= target_error * ranks.answered[block]:
        return Uncertifiable(
            f"{observed}, and the target is {target}: more labels of this kind would not help. "
            "Raise the target error, or use another score.",
            None,
        )
    return Uncertifiable(
        f"{observed}: below the target of {target}, but so close to it that more labels of this "
        "kind may not certify it either. Raise the target error, or use another score.",
        None,
    )


def _observation(ranks: Blocks, block: int) -> str:
    answered, errors = int(ranks.answered[block]), int(ranks.errors[block])
    return f"Wrong among the {answered} surest answers: {errors} ({errors / answered:.1%})"


def _more_by_first(ranks: Blocks, target_error: float, confidence: float) -> int | None:
    """Return how many labels more the first walk needs to certify its start."""
    first, _ = _starts(ranks, target_error, confidence)
    part = _with(FIRST_PART, confidence)
    enough = labels_for_power(_expected_error(ranks, first), target_error, part)
    if enough is None:
        return None
    needed = _more(ranks, first, enough)
    stricter = int(ranks.answered[first - 1]) if first else 0
    # With so many labels the walk would begin at a stricter doubt, and at no larger m.
    if enough > _powerful(target_error, part) <= stricter * (1 + needed / ranks.queries):
        return None
    return needed


def _more_by_second(
    ranks: Blocks, judged: int, target_error: float, confidence: float
) -> int | None:
    """Return how many labels more the second walk needs, by the error up to a block."""
    part = _with(1 - FIRST_PART, confidence)
    enough = labels_for_power(_expected_error(ranks, judged), target_error, part)
    return None if enough is None else _more(ranks, _at_share(ranks, SECOND_SHARE), enough)


def _more_if_half_as_wrong(ranks: Blocks, target_error: float, confidence: float) -> int | None:
    """Return how many labels more it takes for the first walk to begin at the surest answers.

    Too few of these are known to plan with their error, so half the target is assumed; None
    where it is hardly credible, or out of reach.
    """
    surest = _at_share(ranks, EARLIEST_SHARE)
    answered, errors = int(ranks.answered[surest]), int(ranks.errors[surest])
    credible = special.betainc(max(errors, 0.5), answered - errors + 1, target_error)
    enough = _powerful(target_error, _with(FIRST_PART, confidence))
    if (errors and credible <= 1 - confidence) or math.isinf(enough):
        return None
    return _more(ranks, surest, enough)


def _expected_error(ranks: Blocks, block: int) -> float:
    """Return the error to plan with: half an error more than was seen.

    Few errors are seen by luck as well, and a plan by these alone would often fail.
    """
    return float((ranks.errors[block] + 0.5) / ranks.answered[block])


def _more(ranks: Blocks, block: int, enough: float) -> int:
    """Return how many labels more it takes until enough are answered up to a block.

    As large a share of the rows will be as sure; "about", for shares and errors are estimates.
    """
    in_all = math.ceil(enough * ranks.queries / int(ranks.answered[block]))
    return max(1, in_all - ranks.queries)


def _at_share(ranks: Blocks, share: float) -> int:
    """Return the first block with at least a share of the queries that have a score."""
    return int(np.searchsorted(ranks.answered, share * ranks.finite))


def _check(target_error: float, confidence: float = 0.5) -> None:
    if not 0 < target_error < 1:
        raise ValueError(f"The target error is {target_error}; choose one between 0 and 1.")
    if not 0 < confidence < 1:
        raise ValueError(f"The confidence is {confidence}; choose one between 0 and 1.")
