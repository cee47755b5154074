"""Q̃ of a model and P̃ of the truth on the same explicit support (Definition 4.2 of the paper).

The support is a set of texts. Under every prompt the model's likelihoods are divided by what they
hold of these texts, so that Q̃(y₁, y₂) = Q(y₁|F₀) Q(y₂|F₁(y₁)) is a distribution over pairs of
them. The truth P of a fact of the embedded world is known; it is smoothed, for no divergence from
a probability of 0 is finite.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from core import prompts
from core.data.world.facts import Band, Fact
from core.data.world.normal_form import normal_form
from core.language_models.language_model import LanguageModel
from core.studies.inspection.request import InvalidRequestError
from core.studies.laboratory.settings import setting, within
from core.uncertainty.logarithms import log_normalise, log_sum_exp
from core.uncertainty.validation import Floats

LEAST_SMOOTHING, MOST_SMOOTHING = 1e-6, 0.5


def likeliest_setting() -> Any:
    """Return the field of the number of the model's likeliest answers in the support.

    They are beside the right answers and the misconception; 0 for a model without search.
    """
    return setting(12, "Number of likeliest answers", 0, 60, 1)


def smoothing_setting(**more: Any) -> Any:
    """Return the field of ε: P(y) = (1 − ε) truth(y) + ε / m, for a support of m texts."""
    limits = (LEAST_SMOOTHING, MOST_SMOOTHING, 0.01)
    return setting(0.01, "Smoothing ε of the truth", *limits, **more)


@dataclass(frozen=True, eq=False)
class PseudoJoint:
    """What a model says about a support, normalised on it."""

    texts: tuple[str, ...]  # the support, (m,), likeliest first
    log_first: Floats  # (m,): ln Q(y|F₀) over the support, nats; sums to 1
    log_rows: Floats  # (m, m): Row i: ln Q(y|F₁(yᵢ)) over the support, nats; each sums to 1
    covered: float  # what the support holds of Q(·|F₀)
    covered_rows: Floats  # (m,): what it holds of each Q(·|F₁(yᵢ))

    @property
    def log_joint(self) -> Floats:
        """ln Q̃, (m, m), nats."""
        return self.log_first[:, None] + self.log_rows

    @property
    def log_second(self) -> Floats:
        """The second answer's marginal of Q̃, (m,), nats."""
        return log_sum_exp(self.log_joint, axis=0)


def pseudo_joint(model: LanguageModel, question: str, texts: Sequence[str]) -> PseudoJoint:
    """Score every text under F₀ and under F₁ with every text."""
    query, support = model.reads(question), list(dict.fromkeys(texts))
    contexts = [prompts.iterative(query), *(prompts.iterative(query, [text]) for text in support)]
    scores = model.log_likelihoods(contexts, support)
    order = np.argsort(-scores[0], kind="stable")
    log_first, covered = log_normalise(scores[0, order])
    log_rows, covered_rows = log_normalise(scores[1 + order][:, order], axis=1)
    return PseudoJoint(
        tuple(support[i] for i in order),
        log_first,
        log_rows,
        min(1.0, float(np.exp(covered))),
        np.minimum(1.0, np.exp(covered_rows)),
    )


def support_of(model: LanguageModel, fact: Fact, likeliest: int) -> list[str]:
    """Return the texts that are right, the misconception, and the model's likeliest answers.

    Raises `ModelError`, also when `likeliest` is above 0 and the model cannot be searched.
    """
    texts = [answer.text for answer in fact.answers]
    texts += [fact.misconception] if fact.misconception else []
    if likeliest:
        prompt = prompts.iterative(model.reads(fact.question))
        texts += [r.text for r in model.likeliest(prompt, likeliest)]
    return list(dict.fromkeys(texts))


def same_answer(fact: Fact, texts: Sequence[str]) -> Floats:
    """Return which texts are which answer of a fact, each row divided by its sum, (answers + 1, m).

    A row for each right answer and one for the misconception: the texts that are one of its names,
    whatever their case and marks, share it alike. 0 where none of them is.
    """
    names = [{normal_form(name) for name in answer.names} for answer in fact.answers]
    names.append({normal_form(fact.misconception)} if fact.misconception else set())
    written = [normal_form(text) for text in texts]
    rows = np.array([[text in own for text in written] for own in names], dtype=np.float64)
    return rows / np.maximum(rows.sum(axis=1, keepdims=True), 1.0)


def truth_of(fact: Fact, texts: Sequence[str]) -> Floats:
    """Return P(y|x) of each text, (m,), before any smoothing: 0 for what is wrong."""
    shares = np.array([*(answer.probability for answer in fact.answers), 0.0])
    return _normalise(shares @ same_answer(fact, texts))


def corpus_of(fact: Fact, texts: Sequence[str]) -> tuple[Floats, Floats] | None:
    """Return what the embedded model's training documents say: first answers, (m,), and after each.

    Before any smoothing. None for a fact that no document is about. A document has one author.
    Where one answer is right, the answers in the prompt are what its author believes, and the
    author answers the same: told another than anybody believes, what authors believe. Where many
    are right, each is drawn anew. So the documents break the independence that the paper assumes of
    the truth, on purpose: a model that does not know shall repeat what it is told.
    """
    if not fact.exposures:
        return None
    groups = same_answer(fact, texts)
    share = fact.misconception_share
    shares = [*((1 - share) * answer.probability for answer in fact.answers), share]
    first = _normalise(np.array(shares) @ groups)
    rows = np.tile(first, (len(texts), 1))
    if fact.band is not Band.MANY_ANSWERS:
        for group in groups[np.array(shares) > 0]:
            rows[group > 0] = group
    return first, rows


def smooth(probabilities: Floats, smoothing: float) -> Floats:
    """Return ln of (1 − ε) p + ε / m along the last axis, nats; p sums to 1.

    Raises `InvalidRequestError` if ε is out of its range.
    """
    within("smoothing", smoothing, LEAST_SMOOTHING, MOST_SMOOTHING)
    m = probabilities.shape[-1]
    return np.asarray(np.log((1 - smoothing) * probabilities + smoothing / m))


def contributions(log_q: Floats, log_p: Floats) -> Floats:
    """Return Q ln(Q/P) entry by entry, nats; P is 0 nowhere, and 0 ln 0 is 0."""
    q = np.exp(log_q)
    return np.where(q > 0, q * (np.where(q > 0, log_q, 0.0) - log_p), 0.0)


def divergence(log_q: Floats, log_p: Floats) -> float:
    """Return D(Q, P), nats, over all entries."""
    return float(contributions(log_q, log_p).sum())


def _normalise(weights: Floats) -> Floats:
    if weights.sum() <= 0:
        raise InvalidRequestError("No right answer is in the support. Add one.")
    return weights / weights.sum()
