"""A model as similarity: whether it says that two answers to a question mean the same.

For longer answers, of which words in common say little. Asking costs calls, so it is done
when answers are recorded, once for each pair; the clustering gets a matrix.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from core import prompts
from core.language_models.base import LanguageModel
from core.language_models.opinions import from_next_token, says
from core.prompts import FALSE, TRUE

NEITHER = (-np.inf, -np.inf)


def question(query: str, one: str, other: str) -> str:
    """Return what is asked about a pair of answers: the same, whichever of them came first."""
    return prompts.same_meaning(query, *sorted((one, other)))


def sameness(model: LanguageModel, asked: Sequence[str]) -> NDArray[np.float64]:
    """Return how sure a model is that two answers mean the same, question by question.

    Exact where the model scores given text, all questions in one call; else of its next
    tokens; else its one greedy answer, 1 or 0: ten samples a pair would cost ten times as much.

    Parameters
    ----------
    asked : sequence of str, (n,)
        Made by `question`.

    Returns
    -------
    ndarray of float64, (n,)
        p("True") / (p("True") + p("False")), in [0, 1]; NaN where the model says neither.

    Raises
    ------
    ModelError
        With a sentence for the person.
    """
    if model.capabilities.scores_given_text:
        opinions = model.log_likelihoods(asked, [TRUE, FALSE])
    elif model.capabilities.next_token:
        opinions = np.array([_listed(model.next_token(prompt)) for prompt in asked])
    else:
        opinions = np.array(
            [_said(model.sample(prompt, 1, temperature=0.0)[0].text) for prompt in asked]
        )
    log_true, log_false = opinions.reshape(-1, 2).T
    either = np.logaddexp(log_true, log_false)
    neither = np.isneginf(either)
    return np.where(neither, np.nan, np.exp(log_true - np.where(neither, 0.0, either)))


def _listed(tokens: dict[str, float]) -> Sequence[float]:
    """Return ln p of the words among next tokens; where neither is listed, nothing is known."""
    if not any(says(token, word) for token in tokens for word in (TRUE, FALSE)):
        return NEITHER
    return from_next_token(tokens).tolist()


def _said(answer: str) -> Sequence[float]:
    """Return the logarithms of 1 and 0 by an answer's first word; “True, both are …” is True."""
    first = (answer.split() or [""])[0]
    found = [0.0 if says(first, word) else -np.inf for word in (TRUE, FALSE)]
    return found
