"""What a request to the local server asks for, in the words of the call cache.

The call cache knows a call by all that its answer depends on. Reading the same off the requests
that came in shows what was asked twice, and whether what was answered was kept.
"""

from collections import Counter
from collections.abc import Iterable

from core.language_models.backends.openai import input_logprobs
from core.language_models.backends.openai.probe import PROBES
from core.language_models.language_model import SAMPLING_RULE, LanguageModel
from core.store.calls import CallKey
from tests.language_models.openai_server import END, Exchange

INDEX = 2**20  # a seed that is sent is a series times this, plus an index; see `openai_server`


def calls_of(exchange: Exchange, model: LanguageModel) -> list[CallKey]:
    """Return every sample, likelihood or next token that one request of `model` asks for.

    A probe asks for none of them. Nor does the prompt that is echoed alone beside its answers:
    it only says where they begin.
    """
    body = exchange.body

    def key(kind: str, prompt: str, **more: object) -> CallKey:
        return CallKey(f"{kind}/1", model.canonical_name, model.revision, prompt, **more)

    if body.get("echo"):
        return [
            key("score", prompt, answer=text.removeprefix(f"{prompt} ").removesuffix(END))
            for text in body["prompt"]
            for prompt in body["prompt"]
            if text.startswith(f"{prompt} ") and prompt not in PROBES
        ]
    if exchange.path == input_logprobs.PATH:  # a probe's: this server knows no such address
        return []
    prompt = body["messages"][0]["content"] if "messages" in body else body["prompt"]
    if prompt in PROBES:
        return []
    if "stop" not in body:
        return [key("next token", prompt)]
    heat = body["temperature"]
    if heat == 0:
        return [key("sample", prompt, temperature=heat)]
    series, first = divmod(body["seed"], INDEX)
    return [
        key(
            f"sample by rule {SAMPLING_RULE}",
            prompt,
            temperature=heat,
            seed=series,
            index=first + i,
        )
        for i in range(body.get("n", 1))
    ]


def all_calls(exchanges: Iterable[Exchange], model: LanguageModel) -> list[CallKey]:
    """Return what all of them ask for, as often as it was asked for."""
    return [key for exchange in exchanges for key in calls_of(exchange, model)]


def twice(keys: Iterable[CallKey]) -> list[CallKey]:
    """Return those that occur more than once."""
    return [key for key, times in Counter(keys).items() if times > 1]
