"""A model with abilities switched off, for studies of the ladder of estimators.

What it says stays true: the inner model scores given texts, and the log-likelihoods of its own
answers and of its next tokens are taken from there. So one model can be asked as each kind of
service could be, and the answers compared.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from core import prompts as words
from core.language_models.errors import ModelError, SmallerRequestsError
from core.language_models.language_model import Capabilities, LanguageModel, Response


class Limited(LanguageModel):
    """Passes on what another model says, as far as the abilities that are left allow it.

    `inner` is seeded, and able to score given texts; of all else see `Capabilities`.
    """

    name = "limited"

    def __init__(
        self,
        inner: LanguageModel,
        *,
        scores_given_text: bool = False,
        own_log_likelihoods: bool = False,
        next_token: bool = False,
        local: bool = True,
        candidates_a_call: int = 1000,
        pairs_a_call: int = 2000,
    ) -> None:
        self.inner = inner
        self.revision = inner.revision
        self.capabilities = Capabilities(
            scores_given_text=scores_given_text,
            own_log_likelihoods=own_log_likelihoods,
            next_token=next_token,
            local=local,
            candidates_a_call=candidates_a_call,
            pairs_a_call=pairs_a_call,
        )

    def reads(self, question: str) -> str:
        """Return a question as the model inside is asked it."""
        return self.inner.reads(question)

    def sample(
        self, prompt: str, count: int, *, temperature: float = 1.0, seed: int = 0, first: int = 0
    ) -> list[Response]:
        """Draw responses by one request; see `LanguageModel.sample`.

        Raises `SmallerRequestsError` when one request cannot return as many.
        """
        if count > self.capabilities.candidates_a_call:
            most = self.capabilities.candidates_a_call
            raise SmallerRequestsError(f"At most {most} answers come at once; ask for fewer.")
        self.meter.add(requests=1)
        drawn = self.inner.sample(prompt, count, temperature=temperature, seed=seed, first=first)
        if not self.capabilities.own_log_likelihoods:
            return drawn
        texts = list(dict.fromkeys(response.text for response in drawn))
        said = dict(zip(texts, self.inner.log_likelihoods([prompt], texts)[0], strict=True))
        return [replace(r, log_likelihood=float(said[r.text])) for r in drawn]

    def log_likelihoods(
        self, prompts: Sequence[str], answers: Sequence[str]
    ) -> NDArray[np.float64]:
        """Score answers by one request; see `LanguageModel.log_likelihoods`.

        Raises `ModelError` when that ability is switched off; `SmallerRequestsError` when one
        request cannot score as many.
        """
        if not self.capabilities.scores_given_text:
            raise ModelError("This model does not say how likely a given answer is.")
        if len(prompts) * len(answers) > self.capabilities.pairs_a_call:
            most = self.capabilities.pairs_a_call
            raise SmallerRequestsError(f"At most {most} pairs are scored at once; ask for fewer.")
        self.meter.add(requests=1)
        return self.inner.log_likelihoods(prompts, answers)

    def next_token(self, prompt: str) -> dict[str, float]:
        """Say how likely “True” and “False” are next; see `LanguageModel.next_token`.

        Other next tokens are not listed: nothing here asks for them.

        Raises `ModelError` when that ability is switched off.
        """
        if not self.capabilities.next_token:
            return super().next_token(prompt)
        self.meter.add(requests=1)
        listed = (words.TRUE, words.FALSE)
        said = self.inner.log_likelihoods([prompt], listed)[0]
        return {f" {word}": float(p) for word, p in zip(listed, said, strict=True)}
