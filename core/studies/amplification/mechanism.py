"""Where a model looks from the prompt's end: at the question, or at what it is told.

The paper's Section 3.1 explains on one idealised head why repeating turns a model that does
not know (`core.uncertainty.attention`). Here are the real heads of a model that runs
here, out of the same forward pass that serves it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core import prompts
from core.language_models.backends.llama.model import LlamaModel
from core.language_models.language_model import LanguageModel
from core.studies.amplification.curve import Case


@dataclass(frozen=True)
class PromptAttention:
    """How the prompt's last position attends, by layer and head."""

    repetitions: int
    # on_question, on_answer: (layers, heads): the share of the attention on the tokens of the
    # question (both mentions), and on the sentences that repeat the answer. The rest goes to the
    # fixed words between.
    on_question: NDArray[np.float64]
    on_answer: NDArray[np.float64]


def shows_attention(model: LanguageModel) -> bool:
    """Return whether a model can say where its heads look."""
    return isinstance(model, LlamaModel)


def looking(
    case: Case, model: LanguageModel, repetitions: Sequence[int]
) -> tuple[PromptAttention, ...]:
    """Return where every head looks, for every number of repetitions.

    Raises `TypeError` when the model does not show its attention.
    """
    if not isinstance(model, LlamaModel):
        raise TypeError(f"{model.name} does not expose its attention.")
    return tuple(_looking(case, model, t) for t in repetitions)


def _looking(case: Case, model: LlamaModel, repetitions: int) -> PromptAttention:
    spans, weights = model.attention(case.prompt(repetitions, model.reads(case.query)))
    at = places(case, model, repetitions, spans)
    return PromptAttention(
        repetitions,
        weights[:, :, at.first | at.again].sum(axis=-1).astype(float),
        weights[:, :, at.repetitions].sum(axis=-1).astype(float),
    )


@dataclass(frozen=True)
class TokenPlaces:
    """Which tokens of a prompt are what, each of shape (tokens,)."""

    # first, again: the question, at its first mention and in the request.
    first: NDArray[np.bool_]
    again: NDArray[np.bool_]
    repetitions: NDArray[np.bool_]  # the sentences that repeat the answer


def places(
    case: Case, model: LanguageModel, repetitions: int, spans: Sequence[tuple[int, int]]
) -> TokenPlaces:
    """Return which tokens of F_t are what, from where each begins and ends in it.

    Counted, not searched: a question may quote any part of the prompt.
    """
    query = model.reads(case.query)
    begin = len(prompts.QUESTION)
    answer_from = begin + len(query)
    sentences = prompts.answer_sentences([case.repeated] * repetitions) if repetitions else ""
    answer_to = answer_from + 2 + (len(sentences) + 2 if repetitions else 0)
    again = answer_to + len(prompts.REQUEST)
    starts, ends = np.array(spans).T
    # A token belongs where its last character does: words carry the space before them.
    last = np.maximum(ends - 1, starts)
    return TokenPlaces(
        first=(last >= begin) & (last < answer_from),
        again=(last >= again) & (last < again + len(query)),
        repetitions=(last >= answer_from + 2) & (last < answer_to - 2) & (repetitions > 0),
    )
