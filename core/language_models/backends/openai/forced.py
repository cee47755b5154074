"""How likely given answers are, by servers of llama.cpp: they are made to say them.

A grammar permits the tokens of one answer, one after the other, and then an end. The server lists
how likely each of them was before the grammar had its say, so one request scores one answer
exactly. The prompt is read once and kept by the server.

The end is any token that ends an answer: one without a text of its own, or with a line break. All
of those among the `TOP` likeliest are added up, as for the models that run on this machine.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from core.language_models.backends.openai.http import Reply, Service, log_probability
from core.language_models.errors import RefusedError

TOP = 200  # likeliest tokens in each place, the ends among them
BEFORE = "A:"  # what stands in front of an answer: some vocabularies read its space with it


def tokens(service: Service, text: str) -> list[int]:
    """Return the tokens of a text, as the server reads it.

    Raises
    ------
    ModelError
    """
    listed = service.post("/tokenize", {"content": text}, beside=True, free=True).get("tokens")
    if not isinstance(listed, list) or not all(type(token) is int for token in listed):
        raise service.reply_error("a text without its tokens")
    return listed


def tokens_behind(service: Service, before: str, text: str) -> list[int]:
    """Return the tokens of a text behind another one.

    Raises
    ------
    ModelError
        Also when a token stands across the border, or nothing is behind it.
    """
    first, both = tokens(service, before), tokens(service, before + text)
    if both[: len(first)] != first or len(both) == len(first):
        raise _changed_tokens(service)
    return both[len(first) :]


def request(body: Reply, forced: Sequence[int], top: int = TOP) -> Reply:
    """Return a request for an answer as one that has tokens said, and an end behind them."""
    rest = {name: value for name, value in body.items() if name != "stop"}
    return rest | {
        "grammar": "root ::= " + (" ".join(f"<[{token}]>" for token in forced) or '""'),
        "max_tokens": len(forced) + 1,
        "logprobs": top,
    }


def token_log_probabilities(service: Service, reply: Reply, forced: Sequence[int]) -> list[float]:
    """Return the log-probability of each token in a reply, and of the end; nats.

    Raises
    ------
    ModelError
        When the server has said something else.
    """
    *entries, last = token_entries(service.choices(reply, 1)[0]) or [{}]
    if [entry.get("id") for entry in entries] != list(forced):
        raise _changed_tokens(service)
    values = [log_probability(entry.get("logprob")) for entry in entries]
    likeliest = last.get("top_logprobs")
    ends = [e for e in likeliest if _is_end(e)] if isinstance(likeliest, list) else []
    if last.get("id") not in [entry.get("id") for entry in ends]:
        ends.append(last)
    values.append(_add([log_probability(entry.get("logprob")) for entry in ends]))
    present = [value for value in values if value is not None]
    if len(present) < len(values):
        raise service.reply_error("a reply without its log-probabilities")
    return present


def token_entries(choice: Reply) -> list[dict[str, Any]]:
    """Return what a choice says of each of its tokens; [] where it does not."""
    about = choice.get("logprobs")
    content = about.get("content") if isinstance(about, dict) else None
    entries = content if isinstance(content, list) else []
    return entries if all(isinstance(entry, dict) for entry in entries) else []


def _is_end(entry: Any) -> bool:
    """Whether a token ends an answer; one that is a part of a character has no text, but bytes."""
    return isinstance(entry, dict) and (
        "\n" in str(entry.get("token")) or not (entry.get("token") or entry.get("bytes"))
    )


def _add(values: Sequence[float | None]) -> float | None:
    """Return the logarithm of the sum of probabilities; None where one is missing."""
    present = [value for value in values if value is not None]
    if len(present) < len(values):
        return None
    return min(float(np.logaddexp.reduce(present)), 0.0)


def _changed_tokens(service: Service) -> RefusedError:
    return RefusedError(
        f"{service.host} cannot be made to say this answer token by token, so it cannot be "
        "scored. Rephrase the question, or choose another server for exact scores."
    )
