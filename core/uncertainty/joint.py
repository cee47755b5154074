"""The mutual information of a joint distribution, and everything a page can show of it."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from core.uncertainty import validation
from core.uncertainty.logarithms import log_normalise, log_sum_exp, without_rounding
from core.uncertainty.validation import Floats


@dataclass(frozen=True, eq=False)
class MutualInformation:
    """An estimate of mutual information, with what it was computed from."""

    # The estimate, in nats. At least 0 for γ = 0 and no correction, else possibly negative; exactly
    # 0 where it differs from 0 by rounding only.
    value: float
    # The normalised joint distribution μ̂: one entry for each distinct tuple, (u,), or a matrix,
    # (m, c), of first answer (row) and second answer (column). Sums to 1.
    joint: Floats
    product: Floats  # the product μ̂⊗ of the joint's marginals, entry by entry
    # What each entry adds, μ̂ ln((μ̂ + γ₁) / (μ̂⊗ + γ₂)), in nats: their sum is `plug_in`.
    contributions: Floats
    log_mass: float  # the logarithm of what was normalised by: of the sampled mass Z, or of a count
    # What was added for bias, in nats: ``value = plug_in + correction``; 0 without one.
    correction: float = 0.0

    @property
    def plug_in(self) -> float:
        """The sum of the contributions, in nats: the estimate before any correction."""
        return float(self.contributions.sum())


def compare(
    log_joint: Floats,
    log_product: Floats,
    log_mass: float,
    *,
    gamma_1: float = 0.0,
    gamma_2: float = 0.0,
    correction: float = 0.0,
) -> MutualInformation:
    """Compare a joint distribution with the product of its marginals (Algorithms 1-3, last step).

    `log_joint, log_product`, of one shape: normalised, in nats.
    `log_mass`: the logarithm of what they were normalised by.
    `gamma_1, gamma_2`: the paper's stabilisation parameters, at least 0.
    `correction`: added to the sum of the contributions, in nats.
    """
    validation.stabilisers(gamma_1, gamma_2)
    joint, product = np.exp(log_joint), np.exp(log_product)
    terms = contributions(joint, log_joint, log_product, gamma_1, gamma_2)
    for array in (joint, product, terms):
        array.setflags(write=False)
    return MutualInformation(
        value=without_rounding(float(terms.sum()) + correction),
        joint=joint,
        product=product,
        contributions=terms,
        log_mass=float(log_mass),
        correction=correction,
    )


def contributions(
    joint: Floats, log_joint: Floats, log_product: Floats, gamma_1: float, gamma_2: float
) -> Floats:
    """Return μ̂ ln((μ̂ + γ₁) / (μ̂⊗ + γ₂)) entry by entry, nats: the summands of Algorithms 1-3."""
    # ln 0 and -inf minus -inf turn up where the joint is 0; by convention 0 ln 0 is 0.
    with np.errstate(divide="ignore", invalid="ignore"):
        log_ratio = np.logaddexp(log_joint, np.log(gamma_1)) - np.logaddexp(
            log_product, np.log(gamma_2)
        )
        return np.where(joint > 0, joint * log_ratio, 0.0)


def from_rows(
    log_first: Floats,
    log_rows: Floats,
    log_mass: float,
    *,
    gamma_1: float = 0.0,
    gamma_2: float = 0.0,
    correction: float = 0.0,
) -> MutualInformation:
    """Return the information of first answer i, (m,), and second answer t given i, (m, c).

    Both are normalised, in nats; the other parameters are those of :func:`compare`.
    """
    log_joint = log_first[:, None] + log_rows
    log_second = log_sum_exp(log_joint, axis=0)
    return compare(
        log_joint,
        log_first[:, None] + log_second[None, :],
        log_mass,
        gamma_1=gamma_1,
        gamma_2=gamma_2,
        correction=correction,
    )


def from_table(
    log_joint: ArrayLike, *, gamma_1: float = 0.0, gamma_2: float = 0.0
) -> MutualInformation:
    """Return the mutual information of a whole table; for n > 2, D(joint, product of marginals).

    Its arrays have the shape of `log_joint`: ln of the probability of every outcome, in nats, -inf
    of one that never comes; divided by its sum before anything else. γ are the paper's, at least 0.

    Raises `ValueError` if the table has fewer than two dimensions, NaN, or no mass, or a γ is
    negative.
    """
    table = validation.numbers(log_joint, "log_joint")
    if table.ndim < 2:
        raise ValueError("log_joint must have two or more dimensions: one for each answer.")
    validation.normalisable(table, "log_joint")

    log_p, log_mass = log_normalise(table)
    axes = range(log_p.ndim)
    log_product = np.zeros_like(log_p)
    for own in axes:
        others = tuple(axis for axis in axes if axis != own)
        log_product = log_product + log_sum_exp(log_p, others, keepdims=True)
    return compare(log_p, log_product, float(log_mass), gamma_1=gamma_1, gamma_2=gamma_2)
