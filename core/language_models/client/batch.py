"""Calls cut into requests as large as a service takes, and made at the same time."""

from collections.abc import Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from core.language_models.client.concurrency import at_once
from core.language_models.client.wrapper import Wrapper
from core.language_models.errors import SmallerRequestsError
from core.language_models.language_model import Response


class BatchingModel(Wrapper):
    """Cuts calls into requests as large as the service takes, and makes them at once."""

    def sample(
        self, prompt: str, count: int, *, temperature: float = 1.0, seed: int = 0, first: int = 0
    ) -> list[Response]:
        """Draw responses, by as many requests as it takes."""

        def draw(start: int, stop: int) -> list[Response]:
            try:
                return self.inner.sample(
                    prompt, stop - start, temperature=temperature, seed=seed, first=start
                )
            except SmallerRequestsError:
                smaller = self.capabilities.candidates_a_call
                if smaller >= stop - start:
                    raise
                return cut(start, stop, smaller)

        def cut(start: int, stop: int, size: int) -> list[Response]:
            parts = at_once(
                [partial(draw, i, min(i + size, stop)) for i in range(start, stop, size)]
            )
            return [response for part in parts for response in part]

        return cut(first, first + count, self.capabilities.candidates_a_call)

    def log_likelihoods(
        self, prompts: Sequence[str], answers: Sequence[str]
    ) -> NDArray[np.float64]:
        """Score answers, by as many requests as it takes."""
        if not prompts or not answers:
            return np.zeros((len(prompts), len(answers)))
        most = self.capabilities.pairs_a_call
        columns = min(len(answers), most)
        rows = max(1, most // columns)
        places = [
            (slice(i, i + rows), slice(j, j + columns))
            for i in range(0, len(prompts), rows)
            for j in range(0, len(answers), columns)
        ]
        blocks = at_once(
            [partial(self.inner.log_likelihoods, prompts[i], answers[j]) for i, j in places]
        )
        result = np.empty((len(prompts), len(answers)))
        for (i, j), block in zip(places, blocks, strict=True):
            result[i, j] = block
        return result
