"""The probability of everything a sample did not show, and what it costs an estimate of M.I.

Section 4.1 and Appendix E of the paper. With U_k the probability of all that none of k independent
draws showed, E U_k decides how near the estimate of Algorithm 1 is to the exact value.

The paper's misprints are corrected here, and named where they were: its n is k in the bounds for
finite support and entropy; the tails of U_k are e^(−c k t²), not e^(−c t k²), and c of the
lower one is 1.92, not 7.68.
"""

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import digamma, gamma, zeta  # type: ignore[import-untyped, unused-ignore]

from core.uncertainty import validation
from core.uncertainty.validation import Floats

#: The constant of the lower tail: 1 / (2 max x (1 − x) ln(1/x)) = inf 2 / (x (1 − x) ln(1/x)) / 4.
LOWER_TAIL = 1.9205


def missing_mass(probabilities: ArrayLike, counts: ArrayLike) -> Floats:
    """Return U_k, the probability of all that did not come, in [0, 1], (...) (Section 4.1).

    `probabilities`, (s,), of each kind, sum to at most 1; `counts`, (..., s), say how often it
    came.
    """
    p = _probabilities(probabilities)
    return np.asarray((np.asarray(counts) == 0) @ p)


def expected_missing_mass(probabilities: ArrayLike, draws: ArrayLike) -> Floats:
    """Return E U_k = Σ μ(x) (1 − μ(x))^k of each k, exactly (Appendix E.1).

    If the probabilities, (s,), sum to less than 1, this is the missing mass within these kinds, the
    paper's Ũ_k; that of everything is larger by what they lack of 1, at most.
    """
    p = _probabilities(probabilities)
    k = _draws(draws, 0)
    some = p[p < 1]  # what always comes is missing only where nothing was drawn
    return np.asarray(_missing(some, k) + np.where(k == 0, p[p >= 1].sum(), 0.0))


def finite_support_bound(support: int, draws: ArrayLike) -> Floats:
    """Return a bound of E U_k for any distribution over N kinds (Berend and Kontorovich, 2012).

    e^(−k/N) for k <= N, and N / (e k) beyond. Appendix E.1 prints n for k. For tuples, N is
    |X|ⁿ. N and k are at least 1.
    """
    if support < 1:
        raise ValueError(f"The support has {support} kinds, but must have one at least.")
    k = _draws(draws, 1)
    return np.where(k <= support, np.exp(-k / support), support / (np.e * k))


def entropy_bound(entropy: float, draws: ArrayLike) -> Floats:
    """Return a bound of E U_k for any distribution of an entropy h, nats: h / Σ_{i <= k} 1/i.

    Theorem E.2 (Berend and Kontorovich, 2017), which prints n for k; Section 4.1 gives the
    weaker h / ln k. k is at least 1.
    """
    if not (np.isfinite(entropy) and entropy >= 0):
        raise ValueError(f"The entropy is {entropy}, but must be a finite number of at least 0.")
    return np.asarray(entropy / (digamma(_draws(draws, 1) + 1.0) + np.euler_gamma))


def zipf_rate(alpha: float, draws: ArrayLike) -> Floats:
    """Return what E U_k tends to under Zipf's law over all numbers, ∝ i^(−α), α > 1.

    Γ(1 − 1/α) / α · ζ(α)^(−1/α) · k^(−(α − 1)/α), k >= 1: the paper’s Corollary E.3, with
    its constant. The corollary has the rate only, k^(−((α − 1)/α − β)) for any β > 0. It states it
    for N kinds, and takes N to infinity first: with N kinds, E U_k leaves this line at
    k ≈ N^α and falls exponentially. Its proof bounds the accrual function from below where
    the upper bound needs it from above, and estimates a sum by an integral on the wrong side; the
    rate is right all the same, for the accrual function is of the order v^((α − 1)/α) both ways.
    """
    if not (np.isfinite(alpha) and alpha > 1):
        raise ValueError(f"The exponent is {alpha}, but must be above 1.")
    constant = gamma(1 - 1 / alpha) / alpha * zeta(alpha) ** (-1 / alpha)
    return np.asarray(constant * _draws(draws, 1) ** (-(alpha - 1) / alpha))


def upper_deviation(draws: ArrayLike, confidence: float) -> Floats:
    """Return t such that U_k <= E U_k + t with a confidence 1 − δ, k >= 1: √(ln(1/δ) / k).

    The upper tail of Theorem E.1 (Berend and Kontorovich, 2013), P(U_k > E U_k + t) <= e^(−k t²);
    the paper prints e^(−t k²), and uses what stands here.
    """
    return np.sqrt(_log_of_chance(confidence) / _draws(draws, 1))


def lower_deviation(draws: ArrayLike, confidence: float) -> Floats:
    """Return t such that U_k >= E U_k − t with a confidence: √(ln(1/δ) / (1.92 k)).

    P(U_k < E U_k − t) <= e^(−1.92 k t²). Theorem E.1 prints e^(−7.6821 t k²). With k and t in their
    right places that is still false: of 10 kinds alike, 19 draws break it in 17.3% where 10% is
    allowed. Proof of 1.92: U_k is a sum of p_j B_j, negatively associated, with E B_j = q_j and
    p_j <= ln(1/q_j) / k. A Bernoulli variable of mean q <= 1/2 has, for s < 0, a cumulant function
    of at most q (1 − q) s²/2 (above 1/2, that of Kearns and Saul is smaller than what follows). So
    that of U_k is at most s² max x (1 − x) ln(1/x) / (2k) = .2603 s² / (2k); optimise s.
    Appendix E.4 takes the t of the other tail, which holds and is 1.39 times as wide.
    Parameters as for :func:`upper_deviation`.
    """
    return np.asarray(upper_deviation(draws, confidence) / np.sqrt(LOWER_TAIL))


def stabilisers(
    draws: int, support: float, n: int, sampled_mass: ArrayLike
) -> tuple[float, Floats]:
    """Return γ₁ = 1 / (k |X̃|) and γ₂ = γ₁ + n (1 − Z) of Theorem 4.6, k >= 1.

    |X̃| is the number of tuples in the effective support; |X|ⁿ in the first of the two bounds. Z is
    the probability of all tuples of n answers that were sampled.
    """
    gamma_1 = 1 / (draws * support)
    return gamma_1, gamma_1 + n * np.maximum(0.0, 1 - np.asarray(sampled_mass, dtype=np.float64))


def theorem_bound(
    estimate: ArrayLike,
    draws: int,
    *,
    expected_missing: float,
    support: float,
    outside: float = 0.0,
    confidence: float,
) -> Floats:
    """Return the lower bound of I(μ) that the estimate gives with a confidence (Theorem 4.6), nats.

    Where it is below 0, it says nothing.

    (1 − ε) Î_k − (1/k + (1 + ln(1 + k |X̃|)) (δ_supp + ε)), ε = E U_k + √(ln(1/δ) / k). With all
    of Xⁿ for X̃ it is the first of the theorem's bounds and Corollary E.5, which have
    n ln(1 + k |X|) in the place of ln(1 + k |X|ⁿ): a little more than the proof needs. (The
    example below the theorem, “n T ln(1 + k ln 10⁴)”, should be n ln(1 + k 10^(4T)).)

    Where δ_supp > 0, the proof in Appendix E.3 takes Σ μ ln(μ/μ⊗) over X̃ for D(μ, μ⊗). It can be
    larger by δ_supp ln(1/δ_supp), for what was left out may be negative. So the logarithm here is
    the larger of the printed one and ln(1/δ_supp); they differ where δ_supp < 1 / (e (1 + k|X̃|)).
    (All of (i) in that proof is at most D + |X̃| γ₁ + δ_supp ln(1/δ_supp), if δ_supp <= 1/e: split
    what was left out by whether μ is above μ⊗. So ln(1/δ_supp) alone would do.)

    `estimate`, (...): Î_k(γ₁, γ₂) with the γ of :func:`stabilisers`, nats.
    `draws`: k, at least 1.
    `expected_missing`: E U_k, or a bound of it.
    `support, outside`: |X̃|, and δ_supp, the probability outside of it.
    `confidence`: 1 − δ, between 0 and 1.
    """
    missing = np.minimum(1.0, expected_missing + upper_deviation(draws, confidence))
    price = 1 + np.log1p(draws * support)
    tail = outside * max(price, -np.log(outside)) if outside > 0 else 0.0
    value = np.asarray(estimate, dtype=np.float64)
    return np.asarray((1 - missing) * value - (1 / draws + price * missing + tail))


def _missing(p: Floats, draws: Floats) -> Floats:
    """Return Σ p (1 − p)^k for each k; few k at a time, for there may be many kinds."""
    return np.reshape([float(p @ np.exp(k * np.log1p(-p))) for k in draws.ravel()], draws.shape)


def _probabilities(values: ArrayLike) -> Floats:
    p = validation.numbers(values, "probabilities", dimensions=1)
    if p.min() < 0 or p.sum() > 1 + validation.TOLERANCE:
        raise ValueError("probabilities must be at least 0 and sum to at most 1.")
    return p


def _draws(values: ArrayLike, least: int) -> Floats:
    k = np.asarray(values, dtype=np.float64)
    if not (np.isfinite(k).all() and (k >= least).all()):
        raise ValueError(f"The number of draws must be at least {least}.")
    return k


def _log_of_chance(confidence: float) -> float:
    if not 0 < confidence < 1:
        raise ValueError(f"The confidence is {confidence}, but must lie between 0 and 1.")
    return float(-np.log1p(-confidence))
