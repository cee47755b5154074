"""What sampled pairs of answers would seem to tell if their second answers were dealt at random.

Few of many possible pairs never look independent: whichever came, each first answer stands
beside some second answers and not beside others. So the estimate of Algorithms 1 and 2 is too
large wherever there are many answers. The remedy is to compare it with itself, on the same
answers in pairs that chance alone has made.
"""

from __future__ import annotations

import numpy as np

from core.uncertainty import checks
from core.uncertainty.checks import Floats, Integers
from core.uncertainty.logarithms import log_sum_exp

#: Estimates nearer than this are equal: likelihoods of e^-4000 have lost that much.
TIE = 1e-9
#: A share of the entropy; where chance alone shows more of it, it leaves no room to see in.
NO_ROOM = 0.9
LITTLE = 0.1  # nats: an information that can be no larger matters to nobody
IMPOSSIBLE = -1e6  # in the place of -inf, where the mean over nothing likelier is taken


def adjustment(information: float, of_second: float, dealt: Floats) -> float:
    """Return what to add to Algorithm 2's estimate, nats: 0 then means “as if by chance”.

    With I the estimate, E its mean over the dealt pairs and H₂ the entropy of the second answer,
    the adjusted estimate is I - E. It has mean 0 if a second answer, the text and its likelihood,
    does not depend on the first. Where I exceeds every dealt estimate, which chance alone does at
    most once in k, there is something to measure, and I - E, too small by what a dependent model
    would show in dealt pairs, becomes H₂ (I - E) / (H₂ - E): the form of the adjusted mutual
    information of Vinh, Epps and Bailey (2010), here in nats. That adds at most H₂ / k to the
    mean of 0. If each answer follows from the first, it is H₂. The value jumps where I passes the
    largest dealt estimate; see `can_tell` for where that is everywhere.

    Parameters
    ----------
    information : float
        I, nats.
    of_second : float
        H₂, nats; for γ = 0 no less than I.
    dealt : ndarray of float64, (k - 1,)
        As :func:`estimates` returns them. Without any, nothing can be told from chance, and the
        adjusted estimate is 0.
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
    model that copies everything shows no more than that. Parameters as for :func:`adjustment`.
    """
    if _exceeds(information, dealt) or of_second <= LITTLE:
        return True
    return bool(dealt.size) and float(dealt.mean()) <= NO_ROOM * of_second


def _exceeds(information: float, dealt: Floats) -> bool:
    return bool(dealt.size) and information > float(dealt.max()) + TIE


def estimates(
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

    Parameters
    ----------
    pairs : ndarray of int64, (k, 2)
        The texts of each first and second answer, in the order drawn.
    log_first : ndarray of float64, (v,)
        ln Q of each text as a first answer.
    log_rows : ndarray of float64, (v, v)
        ln Q of each text after each was told; -inf where that pair was not drawn.
    labels : ndarray of int64, (v,)
        The cluster of each text.
    gamma_1, gamma_2 : float, default 0
        The stabilisation parameters, at least 0.
    """
    checks.stabilisers(gamma_1, gamma_2)
    k, v, m = len(pairs), len(labels), int(labels.max()) + 1
    if k == 1:
        return np.empty(0)
    first, second = pairs.T
    ways = np.arange(1, k)[:, None]
    onwards = second[(np.arange(k) + ways) % k]

    # Each distinct pair of texts of a way once: the paper's set U.
    texts, drawn = np.unique((ways * v + first) * v + onwards, return_index=True)
    row, column = np.broadcast_to(first, onwards.shape).ravel()[drawn], onwards.ravel()[drawn]
    way = texts // (v * v) - 1
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
    # As in `compare`: ln 0 and -inf minus -inf turn up where the joint is 0, and 0 ln 0 is 0.
    with np.errstate(divide="ignore", invalid="ignore"):
        log_joint, *marginals = np.log([joint, *(_sums(way * m + at, joint) for at in (i, j))])
        log_ratio = np.logaddexp(log_joint, np.log(gamma_1)) - np.logaddexp(
            sum(marginals), np.log(gamma_2)
        )
        terms = np.where(joint > 0, joint * log_ratio, 0.0)
    return np.asarray(np.bincount(way, terms, minlength=k - 1))


def _sums(groups: Integers, values: Floats) -> Floats:
    """Return for each value the sum of all that are in its group."""
    return np.asarray(np.bincount(groups, values)[groups])


def _after_any(pairs: Integers, log_first: Floats, log_rows: Floats) -> Floats:
    """Return ln Q of each text as a second answer, the mean over what it came after, (v,)."""
    came = np.zeros(log_rows.shape, dtype=bool)
    came[tuple(pairs.T)] = True
    weights = np.where(came, np.maximum(log_first, IMPOSSIBLE)[:, None], -np.inf)
    told = log_sum_exp(weights, axis=0)
    both = log_sum_exp(np.where(came, weights + log_rows, -np.inf), axis=0)
    return np.asarray(both - np.where(np.isneginf(told), 0.0, told))
