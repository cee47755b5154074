"""Requests for answers by our own HTTP, where the SDK has no fields for what is asked or told.

The body is that of the SDK's `GenerateContentRequest`; a seed and a limit of thinking, which it
does not know, stand beside its fields. A refusal is raised as what the SDK raises.
"""

import json
import math
import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import requests

from core.codec import one_line
from core.language_models.connections import WatchedAdapter, exceeds
from core.language_models.errors import RefusedError
from core.language_models.usage import CHARACTERS_A_TOKEN

with warnings.catch_warnings():  # as beside the model
    warnings.simplefilter("ignore", FutureWarning)
    from google.api_core.exceptions import from_http_response

CONNECTING = 5.0  # seconds
ALIKE = 0.05  # nats that a token may differ by from one temperature to another
LONGEST_NAME = 100  # characters

Reply = dict[str, Any]


class Answers:
    """Where one model answers, for one key; used by many threads at once."""

    def __init__(self, url: str, key: str) -> None:
        self._url, self._key = url, key

    def post(self, body: Mapping[str, Any], timeout: float) -> Reply:
        """Send a request and return the JSON of its reply.

        Raises `GoogleAPICallError` for a status that is none of success;
        `requests.RequestException` when no reply came, or not all of it; `RefusedError` when the
        reply is larger than any of a language model; `ValueError` when it is no JSON object.
        """
        with requests.Session() as session:
            session.auth = self._sign  # being there, it keeps requests from a .netrc
            for scheme in ("http://", "https://"):
                session.mount(scheme, WatchedAdapter())
            with session.post(
                self._url,
                data=json.dumps(body, allow_nan=False).encode(),
                headers={"Content-Type": "application/json"},
                timeout=(CONNECTING, timeout),
                allow_redirects=False,
                stream=True,
            ) as reply:
                data = b""
                for piece in reply.iter_content(65536):
                    data += piece
                    if excess := exceeds(data):
                        raise RefusedError(f"Google sent {excess}. Choose another model.")
                if not 200 <= reply.status_code < 300:
                    reply._content = data  # what the SDK reads the reason from
                    raise from_http_response(reply)
        parsed = json.loads(data)
        if not isinstance(parsed, dict):
            raise ValueError("no object")
        return parsed

    def _sign(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        request.headers["x-goog-api-key"] = self._key
        return request


def entries(value: object) -> list[Reply]:
    """Return the objects of a list; [] where it is none."""
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def entry(value: object) -> Reply:
    """Return an object; {} where it is none."""
    return value if isinstance(value, dict) else {}


def text_of(candidate: Reply) -> str:
    """Return what a candidate says, without its thoughts."""
    parts = entries(entry(candidate.get("content")).get("parts"))
    texts = [part.get("text") for part in parts if part.get("thought") is not True]
    return "".join(text for text in texts if isinstance(text, str))


def model_of(reply: Reply) -> str:
    """Return the model that a reply names, "" if it names none."""
    stated = reply.get("modelVersion")
    return one_line(stated, LONGEST_NAME) if isinstance(stated, str) else ""


def shorten(line: str, limit: int) -> str:
    """Cut a line between two words where it is longer than `limit` tokens would be."""
    most = CHARACTERS_A_TOKEN * limit
    if len(line) <= most:
        return line
    words = line[: most + 1].rsplit(maxsplit=1)
    return words[0] if len(words) > 1 else line[:most]


def tokens(listed: Any) -> Iterator[tuple[str, float]]:
    """Yield tokens with their log-probabilities; rounding may bring one above 0."""
    for one in listed:
        token, value = one.get("token"), one.get("logProbability", 0.0)
        if isinstance(token, str) and type(value) in (int, float):
            yield token, min(float(value), 0.0)


def spells(tokens: Sequence[tuple[str, float]], text: str) -> bool:
    """Whether tokens are those of an answer, all with log-probabilities that are numbers."""
    spelt = "".join(token for token, _ in tokens).strip()
    return spelt.startswith(text.strip()) and all(math.isfinite(value) for _, value in tokens)


def total(tokens: Sequence[tuple[str, float]], length: int) -> float:
    """Return ln of the probability of an answer: of its first line, of so many characters.

    The token that ends it counts where it is listed.
    """
    seen, values = "", []
    for token, value in tokens:
        if len(seen.rstrip()) > length:  # behind an answer that was cut
            break
        seen = (seen + token).lstrip()
        values.append(value)
        if "\n" in seen:
            break
    return math.fsum(values)


def same(at_one: Mapping[str, float], at_half: Mapping[str, float]) -> bool:
    """Whether tokens are as likely at temperature 0.5: else they were divided by it."""
    both = [(at_one[token], at_half[token]) for token in at_one if token in at_half]
    apart = max(one for one, _ in both) - min(one for one, _ in both) if both else 0.0
    return apart > 2 * ALIKE and all(abs(one - half) <= ALIKE for one, half in both)
