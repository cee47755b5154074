"""Likelihoods of texts without their end: that of “Santiago” holds “Santiago de Chile”, too."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from core.uncertainty import validation
from core.uncertainty.logarithms import log_sum_exp
from core.uncertainty.validation import Floats

#: What is left of a text at least, as a share: it was sampled, so it does end sometimes.
LEAST = 1e-6


def without_continuations(texts: Sequence[str], log_likelihoods: ArrayLike) -> Floats:
    """Take from each text's likelihood those of the texts that go on from it, nats.

    What remains are likelihoods of events of which no two can happen at once, so that they may
    be added up: “Santiago”, and then anything but “ de Chile”. The r texts are distinct;
    `log_likelihoods`, (..., r), are ln Q of each as the beginning of an answer.

    Raises `ValueError` if the likelihoods do not fit the texts, or are none.
    """
    whole = validation.log_probabilities(log_likelihoods, "log_likelihoods")
    if whole.shape[-1] != len(texts):
        raise ValueError("log_likelihoods must have one entry for each text.")
    left = whole.copy()
    for i, next_ones in enumerate(_next(texts)):
        if next_ones:
            own = whole[..., i]
            taken = log_sum_exp(whole[..., next_ones], axis=-1)
            with np.errstate(invalid="ignore"):
                share = -np.expm1(np.minimum(taken - own, 0.0))
            left[..., i] = own + np.log(np.maximum(np.nan_to_num(share), LEAST))
    return left


def _next(texts: Sequence[str]) -> list[list[int]]:
    """Return for each text those that go on from it with a new word, and from no longer one."""
    order = sorted(range(len(texts)), key=lambda i: len(texts[i]), reverse=True)
    children: list[list[int]] = [[] for _ in texts]
    for i in range(len(texts)):
        before = (j for j in order if j != i and _goes_on(texts[i], texts[j]))
        longest = next(before, None)
        if longest is not None:
            children[longest].append(i)
    return children


def _goes_on(text: str, beginning: str) -> bool:
    """Say whether a text begins with another and then a new word: inside one, tokens differ."""
    rest = text[len(beginning) :]
    return text.startswith(beginning) and bool(rest) and not rest[0].isalnum()
