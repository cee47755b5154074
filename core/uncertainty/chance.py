"""What an estimate would seem to tell by chance alone, and how it is adjusted for that.

Counted answers: few draws look less diverse than what they are drawn from, and those of one row,
after one answer was told, are fewer than those of all rows. So rows seem to differ from their
mixture by chance alone. The remedy is to compare like with like: n draws of a row with n draws
of the mixture.

Sampled pairs: few of many possible pairs never look independent: whichever came, each first
answer stands beside some second answers and not beside others. So the estimate of Algorithms 1
and 2 is too large wherever there are many answers. The remedy is to compare it with itself, on
the same answers, dealt to the pairs at random.
"""

import numpy as np
from scipy.special import gammaln, xlogy  # type: ignore[import-untyped, unused-ignore]

from core.uncertainty import validation
from core.uncertainty.joint import contributions
from core.uncertainty.logarithms import log_sum_exp
from core.uncertainty.validation import Floats, Integers

MOST_DRAWS = 50  # that are compared: the work grows with their third power
#: Estimates nearer than this are equal: likelihoods of e^-4000 have lost that much.
TIE = 1e-9
#: A share of the entropy; where chance alone shows more of it, it leaves no room to see in.
NO_ROOM = 0.9
LITTLE = 0.1  # nats: an information that can be no larger matters to nobody
IMPOSSIBLE = -1e6  # in the place of -inf, where the mean over nothing likelier is taken


def adjustment_of_counts(weights: Floats, counts: Floats) -> float:
    """Return what to add to the plug-in information, nats: 0 then means “as if by chance”.

    With H₂ the entropy of the second answer as counted, M the expected entropy of n draws from
    the mixture and R that of n draws after one told answer, both without replacement from what
    was counted, the adjusted information is H₂ (M - R) / M. M - R has mean 0, exactly, if
    second answers do not depend on the first, whatever the weights and the sizes of the rows; the
    scaling of what is above 0 then adds a little. If each follows from the first, R is 0, and H₂
    remains. The form is that of the adjusted mutual information of Vinh, Epps and Bailey (2010),
    here in nats. In between it is too low where n draws see few of the mixture's answers. A value
    below 0 is M - R itself.

    `weights`, (m,), of the first answers, sum to 1. `counts`, (m, c), are whole numbers, at least
    one in each row. n is the smallest row's sum, at most `MOST_DRAWS`; with n = 1 nothing can be
    told from chance, and the adjusted value is 0.
    """
    counts = counts[:, counts.any(axis=0)]
    draws = counts.sum(axis=1)
    rows = counts / draws[:, None]
    of_second = _entropy(weights @ rows)
    information = of_second - weights @ _entropy(rows)
    n = int(min(draws.min(), MOST_DRAWS))
    of_draws = expected_entropy_of_mixture(weights, counts, n)
    difference = of_draws - weights @ expected_entropy_of_rows(counts, n)
    scale = of_second / of_draws if difference > 0 else 1.0
    return float(difference * scale - information)


def expected_entropy_of_rows(counts: Floats, n: int) -> Floats:
    """Return the expected entropy of n draws without replacement from each row, (m,), nats."""
    draws = counts.sum(axis=1)
    seen = np.arange(n + 1)
    shares = _without_replacement(draws[:, None, None], counts[:, :, None], n, seen)
    return np.asarray((shares @ _surprise(seen, n)).sum(axis=1))


def expected_entropy_of_mixture(weights: Floats, counts: Floats, n: int) -> float:
    """Return the expected entropy of n draws from the mixture of the rows, nats.

    Each draw is of row i with probability w_i, and without replacement in its row, so that n
    draws of the mixture are n different ones of those that were made: their expectation over
    what was counted is that of n independent draws of the true mixture.

    How many of them are of one kind is found with a generating function: the number of draws
    from row i is Poisson with mean n w_i, given that they are n in all.
    """
    columns, times = np.unique(counts, axis=1, return_counts=True)  # most kinds came once
    draws = counts.sum(axis=1)
    number = np.arange(n + 1)
    roots = np.exp(2j * np.pi * np.outer(number, number) / (n + 1))
    # (kinds, draws so far, z): Σ_x z^x p(so many draws, x of them of this kind), z a root of 1.
    state = np.zeros((len(times), n + 1, n + 1), dtype=complex)
    state[:, 0] = 1
    elsewhere = np.ones(len(times))  # the weight of the rows in which a kind never came
    for weight, row, size in zip(weights, columns, draws, strict=True):
        kinds = np.flatnonzero(row)
        of_kind = _without_replacement(size, row[kinds, None, None], number[:, None], number)
        step = _poisson(number, n * weight)[:, None] * (of_kind @ roots)
        before, after = state[kinds], np.zeros_like(state[kinds])
        for dealt in number:
            after[:, dealt:] += before[:, : n + 1 - dealt] * step[:, dealt, None]
        state[kinds] = after
        elsewhere[kinds] -= weight
    others = _poisson(n - number, n * np.maximum(elsewhere, 0.0)[:, None])
    generated = np.einsum("ka,kaz->kz", others, state) / _poisson(n, n)
    shares = np.fft.fft(generated, axis=1).real / (n + 1)
    return float(times @ (shares @ _surprise(number, n)))


def _without_replacement(size: Floats, of_kind: Floats, n: Integers | int, x: Integers) -> Floats:
    """Return the chance that of n draws from a row x are of a kind (hypergeometric)."""
    rest = size - of_kind
    possible = (x <= of_kind) & (x <= n) & (n - x <= rest)
    x = np.where(possible, x, 0)  # any x that the logarithms bear
    y = np.where(possible, n - x, 0)
    log_ways = _log_choose(of_kind, x) + _log_choose(rest, y) - _log_choose(size, n)
    return np.where(possible, np.exp(log_ways), 0.0)


def _poisson(number: Integers | int, mean: Floats | float) -> Floats:
    """Return the chance of so many; SciPy's own takes seconds to load."""
    return np.asarray(np.exp(xlogy(number, mean) - mean - gammaln(np.add(number, 1.0))))


def _log_choose(of: Floats, some: Integers | int) -> Floats:
    return np.asarray(gammaln(of + 1.0) - gammaln(np.add(some, 1.0)) - gammaln(of - some + 1.0))


def _surprise(count: Integers, n: int) -> Floats:
    """Return -p ln p of p = count / n."""
    return np.asarray(-xlogy(count / n, count / n))


def _entropy(shares: Floats) -> Floats:
    """Return the entropies of shares along the last axis, nats."""
    return np.asarray(-xlogy(shares, shares).sum(axis=-1))


def adjustment_of_pairs(information: float, of_second: float, dealt: Floats) -> float:
    """Return what to add to Algorithm 2's estimate, nats: 0 then means “as if by chance”.

    With I the estimate, E its mean over the dealt pairs and H₂ the entropy of the second answer,
    the adjusted estimate is I - E. It has mean 0 if a second answer, the text and its likelihood,
    does not depend on the first. Where I exceeds every dealt estimate, which chance alone does at
    most once in k, there is something to measure, and I - E, too small by what a dependent model
    would show in dealt pairs, becomes H₂ (I - E) / (H₂ - E): the form of the adjusted mutual
    information of Vinh, Epps and Bailey (2010), here in nats. That adds at most H₂ / k to the
    mean of 0. If each answer follows from the first, it is H₂. The value jumps where I passes the
    largest dealt estimate; see `can_tell` for where that is everywhere. For γ = 0, H₂ is no less
    than I. Without `dealt`, as :func:`dealt_estimates` returns them, nothing can be told from
    chance, and the adjusted estimate is 0.
    """
    if not dealt.size:
        return -information
    by_chance = float(dealt.mean())
    difference = information - by_chance
    if _exceeds(information, dealt) and by_chance > 0 and information <= of_second + TIE:
        # What is no more than rounding above H₂ must not be blown up by a tiny H₂ - E.
        difference = min(information, of_second) - by_chance
        difference *= of_second / (of_second - by_chance)
    return difference - information


def can_tell(information: float, of_second: float, dealt: Floats) -> bool:
    """Say whether an estimate that is no larger than by chance means that there is nothing.

    Where hardly an answer comes twice, every way to deal shows nearly the whole entropy, and a
    model that copies everything shows no more than that. Parameters as for
    :func:`adjustment_of_pairs`.
    """
    if _exceeds(information, dealt) or of_second <= LITTLE:
        return True
    return bool(dealt.size) and float(dealt.mean()) <= NO_ROOM * of_second


def _exceeds(information: float, dealt: Floats) -> bool:
    return bool(dealt.size) and information > float(dealt.max()) + TIE


def dealt_estimates(
    pairs: Integers,
    log_first: Floats,
    log_rows: Floats,
    labels: Integers,
    *,
    gamma_1: float = 0.0,
    gamma_2: float = 0.0,
) -> Floats:
    """Return Algorithm 2's estimate for every way to deal the second answers on, (k - 1,), nats.

    The s-th way gives each first answer the second answer of the pair s places on. If second
    answers do not depend on the first, all k ways, that of the sample included, are equally
    likely, and a second answer is as likely after any first answer as after those that it came
    after, whose mean it is taken to be. The clusters must not depend on which pairs there are.
    No random numbers are needed.

    `pairs`, (k, 2): the texts of each first and second answer, in the order drawn.
    `log_first`, (v,): ln Q of each text as a first answer.
    `log_rows`, (v, v): ln Q of each text after each was told; -inf where that pair was not drawn.
    `labels`, (v,): the cluster of each text.
    `gamma_1, gamma_2`: the stabilisation parameters, at least 0.
    """
    validation.stabilisers(gamma_1, gamma_2)
    k, v, m = len(pairs), len(labels), int(labels.max()) + 1
    if k == 1:
        return np.empty(0)
    first, second = pairs.T
    ways = np.arange(1, k)[:, None]
    onwards = second[(np.arange(k) + ways) % k]

    # Each distinct pair of texts of a way once: the paper's set U.
    texts = np.sort((ways * v + first) * v + onwards, axis=1)
    texts = texts[np.diff(texts, axis=1, prepend=-1) > 0]
    way, row, column = texts // (v * v) - 1, texts // v % v, texts % v
    log_p = log_first[row] + _after_any(pairs, log_first, log_rows)[column]
    peaks = np.full(k - 1, -np.inf)
    np.maximum.at(peaks, way, log_p)
    # A way on which no pair is likely at all has no peak, and says nothing: any finite one does.
    p = np.exp(log_p - np.where(np.isneginf(peaks), 0.0, peaks)[way])

    # And those of clusters that fall together as one.
    cells, cell = np.unique((way * m + labels[row]) * m + labels[column], return_inverse=True)
    way, i, j = cells // (m * m), cells // m % m, cells % m
    joint = np.asarray(np.bincount(cell, p), dtype=np.float64)
    joint /= np.maximum(_sums(way, joint), np.finfo(float).tiny)
    with np.errstate(divide="ignore"):
        log_joint, *marginals = np.log([joint, *(_sums(way * m + at, joint) for at in (i, j))])
    terms = contributions(joint, log_joint, marginals[0] + marginals[1], gamma_1, gamma_2)
    return np.asarray(np.bincount(way, terms, minlength=k - 1))


def _sums(groups: Integers, values: Floats) -> Floats:
    return np.asarray(np.bincount(groups, values)[groups])


def _after_any(pairs: Integers, log_first: Floats, log_rows: Floats) -> Floats:
    """Return ln Q of each text as a second answer, the mean over what it came after, (v,)."""
    came = np.zeros(log_rows.shape, dtype=bool)
    came[tuple(pairs.T)] = True
    weights = np.where(came, np.maximum(log_first, IMPOSSIBLE)[:, None], -np.inf)
    rows = log_sum_exp(weights, axis=0)
    both = log_sum_exp(np.where(came, weights + log_rows, -np.inf), axis=0)
    return np.asarray(both - np.where(np.isneginf(rows), 0.0, rows))
