"""The entropy of a distribution of which only counts are known: how often each kind came.

Estimators that are common in the field, to compare with; kinds are on the last axis, so that
many samples can be estimated at once.
"""

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import digamma, xlogy  # type: ignore[import-untyped, unused-ignore]

from core.uncertainty import validation
from core.uncertainty.validation import Floats

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(128)


def plug_in(counts: ArrayLike) -> Floats:
    """Return the entropy of the shares counted, nats, (...): too small on average.

    `counts`, (..., c), say how often each kind came; kinds that never came make no difference.
    Raises `ValueError` if one is no whole number of at least 0, or nothing was counted.
    """
    return _of_shares(_count(counts))


def miller_madow(counts: ArrayLike) -> Floats:
    """Return :func:`plug_in` with its first-order bias added back, (kinds seen − 1) / 2k, nats.

    Miller (1955). Parameters, result and errors as there.
    """
    came = _count(counts)
    return np.asarray(_of_shares(came) + ((came > 0).sum(axis=-1) - 1) / (2 * came.sum(axis=-1)))


def chao_wang_jost(counts: ArrayLike) -> Floats:
    """Return the entropy that counts tell of kinds seen and not seen, nats.

    Chao, Wang and Jost (2013), equation 7. Parameters, result and errors as for :func:`plug_in`.
    """
    came = _count(counts)
    n = came.sum(axis=-1)
    once, twice = (came == 1).sum(axis=-1), (came == 2).sum(axis=-1)
    digammas = digamma(np.maximum(came, 1))
    seen = (came * (digamma(n)[..., None] - digammas)).sum(axis=-1) / n
    many = np.where(twice > 0, (n - 1) * once + 2 * twice, (n - 1) * (once - 1) + 2)
    # Where nothing came once, what follows is multiplied by 0: any A from 0 to 1 does.
    a = np.where(once > 0, np.where(twice > 0, 2 * twice, 2) / np.maximum(many, 2), 1.0)
    return np.asarray(seen + once / n * _rest(a, n))


def _of_shares(came: Floats) -> Floats:
    total = came.sum(axis=-1)
    return np.asarray(np.log(total) - xlogy(came, came).sum(axis=-1) / total)


def _rest(a: Floats, n: Floats) -> Floats:
    """Return q^(1 − n) (−ln A − Σ_{r < n} q^r / r), q = 1 − A.

    That is a difference of two near numbers times a huge one, and equal to
    ∫ ((1 − e^(−s)) / q)^(n − 1) ds from 0 to −ln A, a smooth function. (It is SciPy's
    hyp2f1, too, which returns NaN for many draws.)
    """
    q, power = (1 - a)[..., None], (n - 1)[..., None]
    # Below `start` the integrand is less than e^-40.
    start = -np.log1p(-q * np.exp(-40 / np.maximum(power, 1e-3)))
    length = -np.log(a)[..., None] - start
    s = start + length * (_NODES + 1) / 2
    log_ratio = np.log(-np.expm1(-np.maximum(s, 1e-300))) - np.log(np.maximum(q, 1e-300))
    area = np.exp(power * np.minimum(log_ratio, 0.0)) @ _WEIGHTS * length[..., 0] / 2
    return np.where(q[..., 0] > 0, area, 0.0)


def _count(counts: ArrayLike) -> Floats:
    came = validation.counts(counts, "counts")
    if (came.sum(axis=-1) == 0).any():
        raise ValueError("counts are all 0: count at least one draw.")
    return came
