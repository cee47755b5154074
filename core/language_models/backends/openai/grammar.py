"""How likely given answers are, by llama.cpp: a grammar makes it say them.

A grammar permits the tokens of one answer, one after the other, and then an end. The server lists
how likely each of them was before the grammar had its say, so one request scores one answer
exactly. The prompt is read once and kept by the server.

A token that is only a part of a character no grammar lets through (llama.cpp answers with status
500), and none is listed alone. An answer with such tokens is read off place by place: the prompt
ends in its tokens so far, and the next one is looked up among the `WIDE` likeliest. That takes a
request a token.

The end is any token that ends an answer: one without a text of its own, or with a line break. All
of those among the likeliest are added up, as for the models that run on this machine.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from core.language_models.backends.openai.http import Service
from core.language_models.backends.openai.replies import Reply, log_probability
from core.language_models.errors import UnscorableError

TOP = 200  # likeliest tokens in each place, the ends among them
WIDE = 2000  # of them, where a token is looked up
CERTAIN = 1000  # what is added to the logit of a token that is to be drawn
BEFORE = "A:"  # what stands in front of an answer: some vocabularies read its space with it


def tokens(service: Service, text: str) -> list[int]:
    """Return the tokens of a text, as the server reads it."""
    listed = service.post("/tokenize", {"content": text}, beside=True, free=True).get("tokens")
    if not isinstance(listed, list) or not all(type(token) is int for token in listed):
        raise service.reply_error("a text without its tokens")
    return listed


def tokens_behind(service: Service, before: str, text: str) -> list[int]:
    """Return the tokens of a text behind another one.

    Raises `ModelError`, also when a token stands across the border, or nothing is behind it.
    """
    first, both = tokens(service, before), tokens(service, before + text)
    if both[: len(first)] != first or len(both) == len(first):
        raise _changed_tokens(service)
    return both[len(first) :]


def is_parted(service: Service, tokens: Sequence[int], text: str) -> bool:
    """Whether one of the tokens of a text is only a part of a character."""
    if text.isascii():
        return False
    body = {"content": text, "with_pieces": True}
    listed = service.post("/tokenize", body, beside=True, free=True).get("tokens")
    pieces = [e.get("piece") for e in listed or [] if isinstance(e, dict) and e.get("id") in tokens]
    return any(isinstance(piece, list) for piece in pieces)  # bytes that are no text


def request_at(body: Reply, before: Sequence[int], other: int) -> Reply:
    """Return a request for the likeliest tokens behind a prompt and some tokens of an answer.

    `other`: the token that is drawn there, whose text is whole: else nothing would be listed.
    """
    rest = {name: value for name, value in body.items() if name != "stop"}
    prompt = [body["prompt"], *before] if before else body["prompt"]
    return rest | {"prompt": prompt, "logprobs": WIDE, "logit_bias": [[other, CERTAIN]]}


def log_probability_at(service: Service, reply: Reply, token: int | None) -> float:
    """Return the log-probability of a token in one place; of the end of an answer, where None.

    Raises `UnscorableError` when it is not among the likeliest; `ModelError` when none are listed.
    """
    entries = token_entries(service.choices(reply, 1)[0])
    likeliest = entries[0].get("top_logprobs") if len(entries) == 1 else None
    if not (isinstance(likeliest, list) and all(isinstance(e, dict) for e in likeliest)):
        raise service.reply_error("a reply without its log-probabilities")
    ends = token is None
    meant = [e for e in likeliest if (_is_end(e) if ends else e.get("id") == token)]
    value = _add([log_probability(e.get("logprob")) for e in meant]) if meant else None
    if value is None:
        raise _changed_tokens(service)
    return value


def request(body: Reply, forced: Sequence[int], top: int = TOP) -> Reply:
    """Return a request for an answer as one that has tokens said, and an end behind them."""
    rest = {name: value for name, value in body.items() if name != "stop"}
    return rest | {
        "grammar": "root ::= " + (" ".join(f"<[{token}]>" for token in forced) or '""'),
        "max_tokens": len(forced) + 1,
        "logprobs": top,
    }


def token_log_probabilities(
    service: Service, reply: Reply, forced: Sequence[int], top: int = TOP
) -> list[float]:
    """Return the log-probability of each token in a reply, and of the end; nats.

    Where only one token was asked for (`top`), that of the end is of the one end that was drawn.

    Raises `UnscorableError` when no end is among the likeliest: the one that was drawn is any of
    hundreds; `ModelError` when the server has said something else.
    """
    *entries, last = token_entries(service.choices(reply, 1)[0]) or [{}]
    if [entry.get("id") for entry in entries] != list(forced):
        raise _changed_tokens(service)
    values = [log_probability(entry.get("logprob")) for entry in entries]
    likeliest = last.get("top_logprobs")
    ends = [e for e in likeliest if _is_end(e)] if isinstance(likeliest, list) else []
    if not ends and top > 1 and isinstance(likeliest, list):
        raise UnscorableError(
            f"{service.host} lists no end of this answer among its {top} likeliest tokens, so it "
            "cannot be scored. Rephrase the question, or choose another server for exact scores."
        )
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


def _changed_tokens(service: Service) -> UnscorableError:
    return UnscorableError(
        f"{service.host} cannot be made to say this answer token by token, so it cannot be "
        "scored. Rephrase the question, or choose another server for exact scores."
    )
