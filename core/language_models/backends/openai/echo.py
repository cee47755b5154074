"""How likely given texts are, by servers that repeat a text with its log-probabilities."""

from collections.abc import Sequence

from core.language_models.backends.openai.http import Service
from core.language_models.backends.openai.replies import (
    Reply,
    Tokens,
    is_uneven,
    reply_tokens,
    tokens_of,
    total,
)
from core.language_models.errors import RefusedError, UnscorableError

MOST_SPLIT = 2


def request(model: str, texts: Sequence[str]) -> Reply:
    """Return a request that has texts repeated.

    One token is generated behind each, and left out: some servers refuse to generate none, and
    some (llama-cpp-python) take 0 for as many as they like.
    """
    return {
        "model": model,
        "prompt": list(texts),
        "echo": True,
        "logprobs": 1,
        "max_tokens": 1,
        "temperature": 1.0,
    }


def tokens(service: Service, reply: Reply, texts: Sequence[str]) -> list[Tokens]:
    """Return the tokens of texts as the server reads them, without what it generated.

    Raises `ModelError` when the reply does not hold them.
    """
    choices = service.choices(reply, len(texts))
    if any(map(is_uneven, choices)):
        raise service.reply_error("a wrong number of log-probabilities")
    listed = [tokens_of(choice) for choice in choices]
    own = [_without_generated(*pair) for pair in zip(listed, texts, strict=True)]
    # Tokens that are parts of characters spell no text: then how many there are must tell.
    unclear = [i for i, tokens in enumerate(own) if tokens is None]
    stated = reply_tokens(reply, "prompt_tokens") - sum(len(tokens) for tokens in own if tokens)
    behind = sum(len(listed[i]) for i in unclear) - stated
    if behind not in (0, len(unclear)) and reply_tokens(reply, "prompt_tokens"):
        raise changed_texts(service)
    for i in unclear:  # some do not list a generated token that ends the text
        own[i] = listed[i][:-1] if behind else listed[i]
    return [tokens or [] for tokens in own]


def _without_generated(listed: Tokens, text: str) -> Tokens | None:
    """Return those that spell a text, behind a mark of its beginning; None if that is unclear."""
    spelt = "".join(token for token, _ in listed)
    if spelt.endswith(text):
        return listed
    return listed[:-1] if listed and spelt.removesuffix(listed[-1][0]).endswith(text) else None


def behind(
    service: Service, prompt: Tokens, text: Tokens, end: str, most_split: int = MOST_SPLIT
) -> float:
    """Return the log-probability of what stands behind the prompt in a text.

    Where a token straddles the border of prompt and answer, so that up to `most_split` of the
    prompt's last tokens are other ones in the whole, the value is that of the whole text minus
    that of the prompt.

    Raises `UnscorableError` where more differs, or that is no logarithm of a probability: nothing
    exact can be said about such a text; `RefusedError` when the text does not end with the one
    token `end`: no text would.
    """
    if end and (not text or text[-1][0] != end):
        raise RefusedError(
            f"{service.host} does not read “{end}” as one token. Name its own end token, or none."
        )
    border = 0
    while border < min(len(prompt), len(text)) and prompt[border][0] == text[border][0]:
        border += 1
    # A server that cuts texts off shares no beginning with them, or nothing is behind it.
    if border < max(1, len(prompt) - most_split) or border == len(text):
        raise changed_texts(service)
    both, before = total(text[border:]), total(prompt[border:])
    if both is None or before is None or both > before:
        raise changed_texts(service)
    return both - before


def changed_texts(service: Service) -> UnscorableError:
    """Return the error for texts that come back as others."""
    return UnscorableError(
        f"{service.host} does not echo the text unchanged, token by token, so it cannot be "
        "scored. Rephrase the question, or choose another server for exact scores."
    )
