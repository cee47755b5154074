"""What a model was asked and what it said: everything an inspection costs, and no more.

A `Recording` is made once, by asking the model. Everything a person can move afterwards
(similarity, τ, γ, the threshold λ) is applied to the recording and asks nothing; where the
model itself is to compare answers, the request says so, and that is recorded too. Samples
carry an index, so a recording can be extended, and its first k samples are exactly the
recording that k samples would have made.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from core import prompts
from core.language_models.language_model import Capabilities, Response
from core.language_models.usage import Usage
from core.studies.inspection.counter_answers import alike, counter_answers
from core.studies.inspection.pairs import compare
from core.studies.inspection.request import Request, Sampling

UNLIKELY = "too unlikely"  # as `Recording.gaps` counts it


class Estimator(StrEnum):
    """The rung of the ladder: how a score is made from what a back end can do."""

    EXACT = "Algorithm 3 (exact likelihoods)"
    PREFIX = "Algorithm 3 (likelihoods of answers without their end)"
    CHAINED = "Algorithms 1 and 2 (sampled pairs, adjusted for chance)"
    COUNTED = "counts of sampled answers (adjusted for chance)"


# These score every answer under every prompt.
EXACT = (Estimator.EXACT, Estimator.PREFIX)


def estimator_of(capabilities: Capabilities) -> Estimator:
    """Return the highest rung that a back end reaches."""
    if capabilities.scores_given_text:
        return Estimator.EXACT if capabilities.whole_answers else Estimator.PREFIX
    return Estimator.CHAINED if capabilities.own_log_likelihoods else Estimator.COUNTED


# Of the likeliest answer's probability: less than this is held, all together, by those of the k
# likeliest that are left out. They are mostly misspelt, and cost as much to compare as any other.
# A share of the whole would leave a diffuse model one answer, whose M.I. is 0 whatever it knows.
LEFT_OUT = 0.1


def likely(answers: Sequence[Response], most: int) -> tuple[Response, ...]:
    """Return those of the `most` likeliest answers that are likely enough to be compared.

    The first always is. A smaller `most` returns fewer of the same.
    """
    first = answers[0].log_likelihood or 0.0 if answers else 0.0
    least = first + math.log(LEFT_OUT / most)
    return tuple(
        response for response in answers[:most] if (response.log_likelihood or 0.0) >= least
    )


@dataclass(frozen=True)
class Call:
    """One call to the model: what for, how many texts it drew or scored, how long it took."""

    purpose: str
    sequences: int
    seconds: float


@dataclass(frozen=True)
class Recording:
    """A model's samples for one query, and its likelihoods of every one under every prompt."""

    request: Request
    # model, revision: which model answered, and exactly which weights.
    model: str
    revision: str
    # The k responses in the order of their indices; or the likeliest, in that order.
    samples: tuple[Response, ...]
    greedy: Response  # the response at temperature 0
    # ln Q(greedy | F_0), nats; None where the model does not say it.
    greedy_log_likelihood: float | None
    # (r,): the distinct samples, first seen first. An empty one is no answer, and not among them;
    # nor is one that the service could not score. `gaps` counts both.
    texts: tuple[str, ...]
    # (r + 1, r): Nats. Row 0 is ln Q(text | F_0); row 1 + i is ln Q(text | F_1 with text i told).
    # Of shape (0, 0) where the model cannot score given texts.
    log_likelihoods: NDArray[np.float64]
    # (r, 2): ln Q("True") and ln Q("False") under the True/False prompt about each text: as the
    # model says, or estimated from samples.
    verification: NDArray[np.float64]
    calls: tuple[Call, ...] = field(default=(), compare=False)
    estimator: Estimator = Estimator.EXACT  # how scores are made from it
    # (r,): where the model cannot score given texts: what it answered after each text was told.
    seconds: tuple[tuple[Response, ...], ...] = ()
    # (n, n): where that was requested: how sure the model is that two of `judged_texts` mean the
    # same, symmetric, in [0, 1], 1 on the diagonal. Two texts that only ever came second are
    # compared by rule, and so are two about which the model did not say. Else of shape (0, 0).
    judged: NDArray[np.float64] = field(default_factory=lambda: np.empty((0, 0)))
    # Where all samples are alike: other answers that the model was told, the likeliest first, and
    # its probability then to give one of `texts`, in [0, 1]; of sampled second answers, the share
    # that is like them.
    others: tuple[tuple[str, float], ...] = field(default=(), compare=False)
    # What it really took of a service; None where calls cost nothing but time.
    used: Usage | None = field(default=None, compare=False)
    # What had to be known of the model's answers when it was asked, in sentences.
    notes: tuple[str, ...] = field(default=(), compare=False)
    # The question as it stood in the prompts, where the model reads it otherwise than it was typed.
    read_as: str | None = None
    # Samples that are not among `texts`, because they have no weight; see `gaps.weightless`.
    unlikely: tuple[str, ...] = ()
    # Whether the system prompt was a message of its own; None where a file does not say.
    system_turn: bool | None = field(default=None, compare=False)

    @property
    def front(self) -> str:
        """What stood in front of every prompt; a system prompt unless it was its own message."""
        return prompts.front("" if self.system_turn else self.request.system, self.request.context)

    @property
    def question(self) -> str:
        """The question as it stood in the prompts."""
        return self.read_as or self.request.query

    @property
    def judged_texts(self) -> tuple[str, ...]:
        """What `judged` compares: every distinct text, first answers first; none if unjudged."""
        return self.distinct_texts if self.request.judged else ()

    @property
    def distinct_texts(self) -> tuple[str, ...]:
        """Every distinct text, the first answers first, then those that only came second."""
        seconds = (response.text for row in self.seconds for response in row)
        return tuple(dict.fromkeys([*self.texts, *seconds]))

    @property
    def independent(self) -> bool:
        """Whether the samples are so many independent draws of the model itself.

        They are at temperature 1, and came in one call: nobody looked at some of them to choose
        how many there should be.
        """
        counts = [call.sequences for call in self.calls if call.purpose == "sample"]
        if self.gaps.keys() - {"nothing at all"}:  # those that are left are chosen
            return False
        return self.request.temperature == 1 and counts == [len(self.samples)]

    @property
    def counts(self) -> NDArray[np.int64]:
        """How often each distinct text was sampled, of shape (r,)."""
        texts = [sample.text for sample in self.samples]
        return np.array([texts.count(text) for text in self.texts])

    @property
    def gaps(self) -> dict[str, int]:
        """How many of the samples are no answers that can be used, by why, the most first."""
        texts = set(self.texts)
        reasons = [
            f"withheld: {sample.refusal}"
            if sample.refusal
            else UNLIKELY
            if sample.text in self.unlikely
            else "could not be scored"
            if sample.text
            else "nothing at all"
            for sample in self.samples
            if sample.text not in texts
        ]
        return dict(Counter(reasons).most_common())

    @property
    def complete(self) -> NDArray[np.bool_]:
        """Whether each distinct text ended by itself, of shape (r,)."""
        cut = {sample.text for sample in self.samples if not sample.complete}
        return np.array([text not in cut for text in self.texts])

    @property
    def pairs(self) -> list[tuple[str, str, float]]:
        """Every pair of `judged_texts` with a first answer in it, and how alike the two are."""
        texts = self.judged_texts
        return [
            (texts[i], texts[j], float(self.judged[i, j]))
            for i in range(min(len(self.texts), len(texts)))
            for j in range(i + 1, len(texts))
        ]

    def first(self, samples: int) -> Recording:
        """Return the recording that the first `samples` samples alone would have made."""
        searched = self.request.sampling is Sampling.LIKELIEST
        if samples >= self.request.samples:
            return self
        leading = likely(self.samples, samples) if searched else self.samples[:samples]
        counts = Counter(sample.text for sample in leading if sample.text in self.texts)
        r = len(counts)
        seconds = self.seconds[:r]
        if self.estimator is Estimator.CHAINED:  # one second answer for each sample
            seconds = tuple(
                row[: counts[text]] for text, row in zip(self.texts, seconds, strict=False)
            )
        fewer = replace(
            self,
            request=replace(self.request, samples=samples),
            samples=leading,
            texts=self.texts[:r],
            log_likelihoods=self.log_likelihoods[: r + 1, :r],
            verification=self.verification[:r],
            seconds=seconds,
            others=self.others or self._own_others(r),
            unlikely=tuple(t for t in self.unlikely if t in {sample.text for sample in leading}),
        )
        if not self.request.judged:
            return fewer
        judged = (self.judged_texts, len(self.texts), self.judged)
        return replace(fewer, judged=compare(fewer.distinct_texts, r, *judged)[0])

    def _own_others(self, r: int) -> tuple[tuple[str, float], ...]:
        """Return what `others` of the first `r` texts are among the rest of them, if any."""
        if not self.log_likelihoods.size or len(alike(self.texts[0], self.texts[:r])) < r:
            return ()
        rest = self.texts[r:]
        others = counter_answers(self.request.query, self.model, self.texts[0], rest)
        shares = dict(
            zip(self.texts, np.exp(self.log_likelihoods[1:, :r]).sum(axis=1), strict=True)
        )
        return tuple((text, min(float(shares[text]), 1.0)) for text in others if text in rest)

    def without_judgement(self) -> Recording:
        """Return the recording that the same request makes where nothing is to be compared."""
        if not self.request.judged:
            return self
        return replace(self, request=replace(self.request, judged=False), judged=np.empty((0, 0)))
