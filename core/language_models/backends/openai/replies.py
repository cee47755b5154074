"""What stands in the replies of OpenAI-compatible servers, in either way that they write it."""

import math
import re
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from core.language_models.language_model import token_count

# How servers say that an answer came to its end (OpenAI, Together, Text Generation Inference,
# Anthropic, Cohere), and that it came to its limit; in small letters.
WHOLE = {"stop", "eos", "eos_token", "end_turn", "stop_sequence", "complete"}
CUT = {"length", "max_tokens", "max_length", "max_output_tokens"}
TOOLS = {"tool_calls", "tool_use", "function_call"}
LEAST = -9999.0  # what servers write for ln 0
MOST_TOGETHER = 0.1  # nats: ln of what probabilities add up to at most, with what rounding does
# What vocabularies write in ways of their own: all but letters and digits, and parts of characters.
OTHERS = re.compile(r"<0x[0-9A-F]{2}>|(bytes:)?(\\x[0-9a-f]{2})+|[^A-Za-z0-9]")
Reply = dict[str, Any]
Tokens = Sequence[tuple[str, float | None]]


def refusal_of(choice: Reply) -> str:
    """Return why a choice is no answer, in our words; "" where it is one."""
    if (reason := finish_of(choice)) in ("content_filter", "safety"):
        return "its filter"
    if reason in TOOLS:
        return "a call of a tool that it does not have"
    message = _message(choice)
    declines = not message.get("content") and isinstance(message.get("refusal"), str)
    return "the model declined" if declines else ""


def finish_of(choice: Reply) -> str:
    """Return why a choice ends, in small letters; "" if it does not say."""
    reason = choice.get("finish_reason")
    return reason.casefold() if isinstance(reason, str) else ""


def is_whole(choice: Reply, limit: int, used: int, count: int) -> bool:
    """Whether an answer came to its end.

    One that does not say so may have, if it has fewer than `limit` tokens: those it lists, else
    by the `used` ones of all `count` answers and its bytes, of which a token has one at least.
    """
    if reason := finish_of(choice):
        return reason in WHOLE
    message = choice.get("message")
    text = str(message.get("content") if isinstance(message, dict) else choice.get("text"))
    size, mean = len(text.encode()), -(-used // count)
    most = min(used - count + 1, max(size, mean)) if used else size
    return (len(tokens_of(choice)) or most) < limit


def join_parts(choice: Reply) -> None:
    """Write a text that comes in parts (Mistral's) as one, and that there were thoughts beside."""
    message = _message(choice)
    if isinstance(parts := message.get("content"), list):
        listed = [part for part in parts if isinstance(part, dict)]
        texts = [text for part in listed if isinstance(text := part.get("text"), str)]
        message["content"] = "".join(texts)
        if any(part.get("type") == "thinking" for part in listed):
            message["reasoning"] = "in parts"


def reply_tokens(reply: Reply, name: str) -> int:
    """Return how many tokens a reply says were used; 0 if it does not, or says nonsense."""
    usage = reply.get("usage")
    return token_count(usage.get(name)) if isinstance(usage, dict) else 0


def used_tokens(reply: Reply) -> tuple[int, int]:
    """Return how many tokens of the prompt, and of answers and thoughts, a reply says were used.

    Some services count thoughts in the total alone.
    """
    names = ("prompt_tokens", "completion_tokens", "total_tokens")
    prompt, answers, total = (reply_tokens(reply, name) for name in names)
    return prompt, max(answers, total - prompt)


def has_text(reply: Reply) -> bool:
    """Whether a reply holds any text, which some model must have written."""
    choices = reply.get("choices")
    dicts = [c for c in choices if isinstance(c, dict)] if isinstance(choices, list) else []
    dicts = [choice for choice in dicts if not choice.get("error")]
    texts = [c.get("text") or _message(c).get("content") for c in dicts]
    return any(isinstance(text, str) and text for text in texts)


def _message(choice: Reply) -> Reply:
    message = choice.get("message")
    return message if isinstance(message, dict) else {}


def tokens_of(choice: Reply) -> Tokens:
    """Return the tokens that a choice lists, with their log-probabilities."""
    return [(str(token), log_probability(value)) for token, value, _ in _entries(choice)]


def spells(choice: Reply, text: str) -> bool:
    """Whether the tokens of a choice begin with a text, by what all vocabularies write alike.

    mlx-lm lists numbers alone, which spell nothing and are believed.
    """
    names = [token for token, _, _ in _entries(choice)]
    if names and all(type(name) is int for name in names):
        return True
    plain, spelt = (OTHERS.sub("", part) for part in ("".join(map(str, names)), text))
    return plain.startswith(spelt)


def is_uneven(choice: Reply) -> bool:
    """Whether a choice lists another number of tokens than of log-probabilities."""
    listed = choice.get("logprobs")
    if not isinstance(listed, dict) or isinstance(listed.get("content"), list):
        return False
    tokens, values = listed.get("tokens"), listed.get("token_logprobs")
    return isinstance(tokens, list) and (not isinstance(values, list) or len(tokens) != len(values))


def top_of(choice: Reply, most: int) -> dict[str, float]:
    """Return the likeliest tokens in the first place of a choice; {} if it does not say.

    Servers add the sampled token, however unlikely; only the `most` likeliest are kept, so that
    none that is missing is likelier.
    """
    _, _, top = next(_entries(choice), (None, None, None))
    alternatives = _alternatives(top)
    ranked = sorted(((v, token) for token, v in alternatives if v is not None), reverse=True)[:most]
    result: dict[str, float] = {}
    for value, token in ranked:  # different tokens can look alike: their probabilities add up
        result[token] = min(float(np.logaddexp(result.get(token, -np.inf), value)), 0.0)
    return result


def contradicts_itself(choice: Reply) -> bool:
    """Whether the log-probabilities of a choice cannot be true.

    All are 0, or one differs from what stands for the same token among the likeliest.
    """
    values = []
    for token, value, top in _entries(choice):
        own, tops = log_probability(value), _alternatives(top)
        values.append(own)
        same = [v for other, v in tops if other == token and v is not None]
        if own is not None and same and min(abs(v - own) for v in same) > 0.01:
            return True
    return len(values) > 1 and not any(values)


def adds_up(choices: Sequence[Reply]) -> bool:
    """Whether the answers to one prompt can be as likely as stated: together at most 1.

    Answers exclude each other by their tokens, but where one goes on with another's: of such, the
    shortest stands for all.
    """
    sums = {
        tuple(token for token, _ in listed): value
        for listed in map(tokens_of, choices)
        if listed and (value := total(listed)) is not None
    }
    parts = [
        value
        for answer, value in sums.items()
        if not any(answer[: len(begun)] == begun for begun in sums if begun != answer)
    ]
    return not parts or bool(np.logaddexp.reduce(parts) <= MOST_TOGETHER)


def total(tokens: Tokens) -> float | None:
    """Return the sum of log-probabilities; None if one is missing."""
    values = [value for _, value in tokens if value is not None]
    return math.fsum(values) if len(values) == len(tokens) else None


def until_line_break(tokens: Tokens) -> Tokens:
    """Return the tokens up to the one with the first line break behind any text; none without."""
    seen = ""
    for i, (token, _) in enumerate(tokens):
        seen += token
        if "\n" in seen.lstrip():
            return tokens[: i + 1]
    return []


def that_begin(tokens: Tokens, most: int) -> Tokens:
    """Return the tokens that begin within the first so many characters of an answer."""
    seen = ""
    for i, (token, _) in enumerate(tokens):
        if len(seen.lstrip()) >= most:
            return tokens[:i]
        seen += token
    return tokens


def _entries(choice: Reply) -> Iterator[tuple[Any, Any, Any]]:
    """Yield token, log-probability and alternatives, in either way that servers write them."""
    listed = choice.get("logprobs")
    if not isinstance(listed, dict):
        return
    content = listed.get("content")
    if isinstance(content, list):
        for entry in content:
            if isinstance(entry, dict):
                name = entry.get("token", entry.get("id"))
                yield name, entry.get("logprob"), entry.get("top_logprobs")
        return
    tokens, values = listed.get("tokens"), listed.get("token_logprobs")
    if isinstance(tokens, list) and isinstance(values, list) and len(tokens) == len(values):
        tops = listed.get("top_logprobs")
        if not isinstance(tops, list) or len(tops) != len(tokens):
            tops = [None] * len(tokens)
        yield from zip(tokens, values, tops, strict=True)


def _alternatives(top: Any) -> list[tuple[str, float | None]]:
    """Return what could have stood in one place, in either way that servers write it."""
    pairs: list[tuple[Any, Any]] = list(top.items()) if isinstance(top, dict) else []
    if isinstance(top, list):
        pairs = [(e.get("token"), e.get("logprob")) for e in top if isinstance(e, dict)]
    return [(str(token), log_probability(value)) for token, value in pairs]


def log_probability(value: Any) -> float | None:
    """Return a logarithm of a probability, forgiving what rounding does to ln 1."""
    # True is an int, NaN is below nothing.
    if type(value) not in (int, float) or not value <= 0.001:
        return None
    return float(min(max(value, LEAST), 0.0))  # a whole number can be larger than all floats
