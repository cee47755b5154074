"""The call cache: what a service has once answered is never asked, or paid for, again.

It stands around the layer whose calls are single requests, so that every answer is stored
before anybody uses it, and a killed process has lost none that it paid for. Where nothing can be
stored, nothing is asked; what was under way is held in memory for who asks again.
"""

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import groupby
from operator import itemgetter

import numpy as np
from numpy.typing import NDArray

from core.language_models.client.wrapper import Wrapper
from core.language_models.errors import NotSavedError
from core.language_models.language_model import (
    MAX_RESPONSE_TOKENS,
    SAMPLING_RULE,
    LanguageModel,
    Response,
    prompt_seed,
)
from core.language_models.stopping import Stop
from core.store.calls import CallKey, Calls
from core.store.errors import StoreError

# Part of every key: another number where the same request would be answered otherwise, as
# when the rule changes by which responses end.
FORMAT = 1


class CachingModel(Wrapper):
    """Looks every call up, asks for what is missing, and stores it before handing it on.

    Who wants what another thread is asking for already waits for that answer.

    `stop`: what ends such a wait.
    """

    def __init__(self, inner: LanguageModel, calls: Calls, stop: Stop | None = None) -> None:
        super().__init__(inner)
        self.calls = calls
        self._stop = stop or Stop()

    def sample(
        self, prompt: str, count: int, *, temperature: float = 1.0, seed: int = 0, first: int = 0
    ) -> list[Response]:
        """Draw responses, only those that were never drawn."""
        # Under another rule, the same seed stands for other answers.
        by_seed = temperature > 0 and self.capabilities.seeded
        kind = f"sample by rule {SAMPLING_RULE}" if by_seed else "sample"
        limit = self.answer_tokens
        key = self._keys(kind if limit == MAX_RESPONSE_TOKENS else f"{kind} of {limit} tokens")
        own_seed = prompt_seed(seed, prompt) if by_seed else seed
        keys = {
            i: key(prompt, temperature=temperature, seed=own_seed, index=i)
            for i in range(first, first + count)
        }
        with self._lookup(list(keys.values())) as entries:
            for run in _runs([i for i, key in keys.items() if key not in entries]):
                self.calls.check()
                responses = self.inner.sample(
                    prompt, len(run), temperature=temperature, seed=seed, first=run[0]
                )
                payloads = [json.dumps(_fields(r)) for r in responses]
                entries |= self.calls.put_many(
                    {keys[i]: payload for i, payload in zip(run, payloads, strict=True)}
                )
        response = partial(Response, limit=limit)
        return [response(*json.loads(entries[key])) for key in keys.values()]

    def log_likelihoods(
        self, prompts: Sequence[str], answers: Sequence[str]
    ) -> NDArray[np.float64]:
        """Score answers, only the pairs that were never scored."""
        key = self._keys("score")
        keys = [[key(prompt, answer=answer) for answer in answers] for prompt in prompts]
        with self._lookup([key for row in keys for key in row]) as entries:
            missing = [
                (i, tuple(j for j, key in enumerate(row) if key not in entries))
                for i, row in enumerate(keys)
            ]
            # Prompts that lack the same answers go out in one request.
            for columns, group in groupby(sorted(missing, key=itemgetter(1)), key=itemgetter(1)):
                rows = [i for i, _ in group]
                if columns:
                    self.calls.check()
                    scored = self.inner.log_likelihoods(
                        [prompts[i] for i in rows], [answers[j] for j in columns]
                    )
                    entries |= self.calls.put_many(
                        {
                            keys[i][j]: json.dumps(_to_json(float(scored[a, b])))
                            for a, i in enumerate(rows)
                            for b, j in enumerate(columns)
                        }
                    )
        values = [[_from_json(json.loads(entries[key])) for key in row] for row in keys]
        return np.array(values, float).reshape(len(prompts), len(answers))

    def next_token(self, prompt: str) -> dict[str, float]:
        """Return the likeliest next tokens, asked for once."""
        key = self._keys("next token")(prompt)
        with self._lookup([key]) as entries:
            if key not in entries:
                self.calls.check()
                entries |= self.calls.put_many({key: json.dumps(self.inner.next_token(prompt))})
        tokens: dict[str, float] = json.loads(entries[key])
        return tokens

    @contextmanager
    def _lookup(self, keys: Sequence[CallKey]) -> Iterator[dict[CallKey, str]]:
        """Look calls up; until the end of the block nobody else asks for those not found."""
        try:
            entries = self.calls.get_many(keys)
            missing = [key for key in keys if key not in entries]
            with self.calls.claim(missing, self._stop.check):
                # They may have come while we waited for whoever was asking.
                yield entries | (self.calls.get_many(missing) if missing else {})
        except StoreError as error:
            raise NotSavedError(
                f"{error} Until then no further call is made, since its answer could not be "
                "saved. Answers already received are reused when you ask again."
            ) from error

    def _keys(self, kind: str) -> Callable[..., CallKey]:
        """Return what makes keys of calls to this model, of the other fields of `CallKey`.

        The revision is asked for once: where that takes a question to the service, all layers
        between are gone through each time.
        """
        if self.system:
            kind += f" behind system {hashlib.sha256(self.system.encode()).hexdigest()}"
        return partial(CallKey, f"{kind}/{FORMAT}", self.canonical_name, self.revision)


def _runs(indices: Sequence[int]) -> Iterator[list[int]]:
    """Cut rising indices into runs without a gap."""
    run: list[int] = []
    for i in indices:
        if run and i != run[-1] + 1:
            yield run
            run = []
        run.append(i)
    if run:
        yield run


def _fields(response: Response) -> list[object]:
    """Return what a response is made of; an answer has no refusal."""
    fields = [response.text, response.complete, response.log_likelihood]
    return [*fields, response.refusal] if response.refusal else fields


def _to_json(value: float) -> float | None:
    """Return a log-likelihood as JSON knows it; the logarithm of 0 has no number there."""
    return None if value == -np.inf else value


def _from_json(value: float | None) -> float:
    return -np.inf if value is None else value
