"""A lower limit of a model's mutual information from independent first answers, at a confidence.

K first answers a_i are drawn independently from the model at temperature 1. R_i = Q(·|F₁(x, a_i))
is what it says after each, and M the mean of all R_i. With confidence 1 - δ,

    I(Q̃) >= L - h(1/K) √(K ln(1/δ) / 2),   L = H(M) - mean H(R_i),   h(p) = H(p, 1 - p).

L is the information between a number J, 1 to K with equal chances, and an answer Y from R_J.

*Why.* (1) E L <= I: no distribution is nearer to the rows than their mean, so L = mean
D(R_i‖M) <= mean D(R_i‖S), where S is the model's second answer by itself; and E D(R_i‖S) = I.
(2) One draw moves L by at most h(1/K): let E say whether J = i. It is a function of J, so
L = I(E; Y) + (1 - 1/K) I(J; Y|E = 0). The latter does not depend on a_i, and the former lies
between 0 and H(E) = h(1/K). (3) So McDiarmid's inequality bounds how far L exceeds its mean.

What is computed here is never more than L, whichever texts were scored and for whatever reason.
All second answers of a cluster, and all that were not scored, count as one: that can only lose
information (data processing). If only some of the draws have rows, a share s of them, then L is
at least s times the information of these, by (2) with E saying whether J is among them; it is no
more if all other rows are as their mean.
"""

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import entr  # type: ignore[import-untyped, unused-ignore]

from core.uncertainty import validation
from core.uncertainty.certified_bound import complete
from core.uncertainty.joint import from_rows

CONFIDENCE = 0.9  # 1 - δ: one in ten such limits may be too high


def lower_confidence_limit(
    counts: ArrayLike,
    log_rows: ArrayLike,
    *,
    draws: int | None = None,
    confidence: float = CONFIDENCE,
) -> float:
    """Return a lower limit of the model's mutual information, nats, in [0, ln K].

    It holds with a confidence of 1 - δ, between 0 and 1. The draws must be independent, at
    temperature 1, and their number chosen before any was seen. Which of them are scored, and which
    texts make the columns, may depend on what was drawn.

    Raises `ValueError` if the confidence is out of its range, or :func:`empirical_information`,
    which has the other parameters, refuses them.
    """
    if not 0 < confidence < 1:
        raise ValueError(f"The confidence is {confidence}, but must lie between 0 and 1.")
    information = empirical_information(counts, log_rows, draws=draws)
    k = int(np.sum(counts)) if draws is None else draws
    return max(0.0, information - allowance(k, confidence))


def empirical_information(
    counts: ArrayLike, log_rows: ArrayLike, *, draws: int | None = None
) -> float:
    """Return the information between a draw and an answer after it, nats, in [0, ln K].

    It is at most L of the module.

    Raises `ValueError` if shapes do not fit; if a count is no whole number of at least 0, or all
    are 0; if there were fewer draws than are counted; if there is NaN, or a row adds up to more
    than 1.

    `counts`, (r,): how often each of r texts was drawn as a first answer; 0 for one that was only
    scored.
    `log_rows`, (r, c): row i: ln Q of c distinct outcomes after text i was told, in nats; rows sum
    to at most 1.
    `draws`: K, all first answers that were drawn; by default, all of them are among the texts.
    """
    rows = validation.log_probabilities(log_rows, "log_rows", dimensions=2)
    draws_of = validation.counts(counts, "counts", dimensions=1)
    validation.shape(draws_of, (len(rows),), "counts")
    scored = draws_of.sum()
    if scored == 0:
        raise ValueError("counts are all 0: draw at least one first answer.")
    if draws is not None and draws < scored:
        raise ValueError(f"There are {scored:.0f} first answers of {draws} draws: count all draws.")
    with np.errstate(divide="ignore"):
        log_first = np.log(draws_of / scored)
    share = 1.0 if draws is None else float(scored) / draws
    return share * from_rows(log_first, complete(rows), 0.0).value


def allowance(draws: int, confidence: float) -> float:
    """Return what chance may add to L at a confidence: h(1/K) √(K ln(1/δ) / 2), nats."""
    of_one = float(entr(1 / draws) + entr(1 - 1 / draws))  # h(1/K)
    return of_one * float(np.sqrt(-draws * np.log1p(-confidence) / 2))
