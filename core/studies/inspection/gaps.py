"""Answers without a score: left out of an inspection, and counted."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from core.language_models.base import LanguageModel, Response
from core.language_models.errors import ModelError
from core.studies.inspection.recording import Estimator, Recording, estimator_of

MOST_TOGETHER = 0.1  # nats: above, what a service states of different answers are no probabilities


def texts_to_score(samples: Sequence[Response], previous: Recording | None) -> tuple[str, ...]:
    """Return the different texts to score, first seen first; those that could not be once not."""
    before = previous.samples if previous else ()
    tried = {sample.text for sample in before} - set(previous.texts if previous else ())
    texts = [sample.text for sample in samples if sample.text not in tried]
    return tuple(dict.fromkeys(filter(None, texts)))


def without_gaps(
    model: LanguageModel,
    texts: tuple[str, ...],
    matrix: NDArray[np.float64],
    verification: NDArray[np.float64],
) -> tuple[tuple[str, ...], NDArray[np.float64], NDArray[np.float64]]:
    """Leave out the texts that the service cannot score, or score nothing behind.

    Raises
    ------
    ModelError
        When none is left, or the probabilities of what is left are none.
    """
    missing = np.isnan(matrix)
    whole = np.logical_not(missing[1:].all(axis=1) | np.isnan(verification).any(axis=1))
    whole = whole & np.logical_not(missing[np.r_[True, whole]].any(axis=0))
    if not whole.any():
        raise ModelError(
            f"{model.name} can score none of its answers to this question. Rephrase it, or "
            "choose another model."
        )
    rows = np.r_[True, whole]
    matrix = matrix[rows][:, whole]
    if estimator_of(model.capabilities) is Estimator.EXACT:
        sums = np.logaddexp.reduce(matrix, axis=1)
        if (sums > MOST_TOGETHER).any():
            raise ModelError(
                f"The probabilities that {model.name} states of different answers to one "
                f"prompt add up to {np.exp(sums.max()):.2f}, so they are none. Choose another "
                "model or server."
            )
    return tuple(texts[i] for i in np.flatnonzero(whole)), matrix, verification[whole]
