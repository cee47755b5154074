"""Answers without a score: left out of an inspection, and counted."""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from core.language_models.errors import ModelError, RefusedError
from core.language_models.language_model import LanguageModel, Response
from core.studies.inspection.recording import Estimator, Recording, estimator_of

# Of a likelier answer's probability: a drawn one that has less is shown as 0.0%, and would cost as
# many calls as any other. Of searched answers a larger share is left out: see `recording.LEFT_OUT`.
NO_WEIGHT = 0.001
UNSTATED = "its likelihood"
MOST_UNSTATED = 0.1  # of sampled pairs; a single answer that is kept so would be refused for ever
MOST_TOGETHER = 0.1  # nats: above, what a service states of different answers are no probabilities


def texts_to_score(samples: Sequence[Response], previous: Recording | None) -> tuple[str, ...]:
    """Return the different texts to score, first seen first; those that could not be once not."""
    before = previous.samples if previous else ()
    tried = {sample.text for sample in before} - set(previous.texts if previous else ())
    texts = [sample.text for sample in samples if sample.text not in tried]
    return tuple(dict.fromkeys(filter(None, texts)))


def weightless(weight: NDArray[np.float64], greedy: float) -> NDArray[np.bool_]:
    """Return which of the drawn answers have no weight, of shape (r,).

    Each is compared with the greedy answer and those before it, so that more draws change nothing
    of it; the first always has weight. One without a score is none of them: see `without_gaps`.
    Weights are ln Q(text | F_0), nats, in the order in which they were drawn; the greedy answer's
    is NaN where it has no score.
    """
    best = np.fmax.accumulate(np.r_[greedy, weight])[:-1]
    light: NDArray[np.bool_] = weight < best + math.log(NO_WEIGHT)
    light[:1] = False
    return light


def with_weight(
    weigh: Callable[[Sequence[str]], NDArray[np.float64]],
    texts: tuple[str, ...],
    greedy: str,
    previous: Recording | None,
) -> tuple[tuple[str, ...], tuple[str, ...], NDArray[np.float64], float]:
    """Leave out the answers of no weight, before anything is asked about them.

    `weigh`: given new texts, ln Q(text | F_0), nats. Returns the texts to compare, those left out,
    of the previous recording too, the weight of each that stays, and that of the greedy answer.
    """
    before, unlikely = (previous.texts, previous.unlikely) if previous else ((), ())
    new = list(texts[len(before) :])
    if not previous and greedy not in new:
        new.append(greedy)
    weight = weigh(new) if new else np.empty(0)
    if previous:
        weight = np.concatenate([previous.log_likelihoods[0], weight])
        of_greedy = float(previous.greedy_log_likelihood or 0.0)
    else:
        of_greedy = float(weight[new.index(greedy)])
        weight = weight[: len(texts)]
    light = weightless(weight, of_greedy)
    light[: len(before)] = False
    others = tuple(text for text, out in zip(texts, light, strict=True) if out)
    texts = tuple(text for text, out in zip(texts, light, strict=True) if not out)
    return texts, (*unlikely, *others), weight[~light], of_greedy


def without_gaps(
    model: LanguageModel,
    texts: tuple[str, ...],
    matrix: NDArray[np.float64],
    verification: NDArray[np.float64],
) -> tuple[tuple[str, ...], NDArray[np.float64], NDArray[np.float64]]:
    """Leave out the texts that the service cannot score, or score nothing behind.

    Raises `ModelError` when none is left, or the probabilities of what is left are none.
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
        check_sum(model, float(np.logaddexp.reduce(matrix, axis=1).max()))
    return tuple(texts[i] for i in np.flatnonzero(whole)), matrix, verification[whole]


def with_likelihoods(
    model: LanguageModel, rows: Sequence[Sequence[Response]]
) -> list[tuple[Response, ...]]:
    """Return responses; one that does not say how likely it is counts as none.

    Raises `ModelError` when they are more than `MOST_UNSTATED`.
    """
    lacking = [r for row in rows for r in row if r.text and r.log_likelihood is None]
    if len(lacking) > MOST_UNSTATED * sum(map(len, rows)):
        raise ModelError(
            f"{model.name} no longer reports how likely its own answers are. Choose another model."
        )
    none = Response("", False, refusal=UNSTATED)
    return [
        tuple(
            replace(none, limit=r.limit) if r.text and r.log_likelihood is None else r for r in row
        )
        for row in rows
    ]


def check_sum(model: LanguageModel, together: float) -> None:
    """Raise `ModelError` where different answers are likelier together, a logarithm, than 1."""
    if together > MOST_TOGETHER:
        raise ModelError(
            f"The probabilities that {model.name} states of different answers to one "
            f"prompt add up to {math.exp(together):.2f}, so they are none. Choose another "
            "model or server."
        )


def sum_of(responses: Sequence[Response]) -> float:
    """Return ln of what the different answers to one prompt are likely together, nats.

    Of several log-likelihoods of a text the largest counts; none does of a text that goes on with
    another's, whose end may be left out.
    """
    largest: dict[str, float] = {}
    for response in responses:
        value = response.log_likelihood
        if response.text and value is not None:
            largest[response.text] = max(value, largest.get(response.text, -math.inf))
    parts = [
        value
        for text, value in largest.items()
        if not any(text.startswith(begun) for begun in largest if begun != text)
    ]
    return float(np.logaddexp.reduce(parts)) if parts else -math.inf


def no_answers(model: LanguageModel, responses: Sequence[Response], when: str) -> ModelError:
    """Return the error where none, or too few, of some responses are answers."""
    if refusals := Counter(response.refusal for response in responses if response.refusal):
        reason, count = refusals.most_common(1)[0]
        return RefusedError(
            f"{model.name} withheld {count:,} of {len(responses):,} answers when {when}: {reason}. "
            "Rephrase the question, or choose another model."
        )
    return ModelError(
        f"{model.name} says nothing at all when {when}. Ask it in another form, such as behind "
        "examples, or choose another model."
    )
