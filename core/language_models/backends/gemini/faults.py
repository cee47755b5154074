"""The faults of Google's API, each as a sentence without the key."""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass, field
from typing import Any

import requests

from core.codec import one_line
from core.language_models.backends.gemini.description import KEY_VARIABLE
from core.language_models.backends.gemini.refusals import (
    details,
    no_way,
    quotas,
    retry_after,
    too_much,
)
from core.language_models.errors import (
    ModelError,
    NeedsKeyError,
    PromptTooLongError,
    RefusedError,
    SilentError,
    SmallerRequestsError,
    TemporaryError,
    UnknownModelError,
    UnreachableError,
    refused_key,
)

with warnings.catch_warnings():  # as beside the model
    warnings.simplefilter("ignore", FutureWarning)
    from google.api_core.exceptions import GoogleAPICallError
    from google.auth.exceptions import GoogleAuthError

NO_QUOTA = re.compile(r"\blimit: 0\b(?![.,]\d)")
WORDS = 200  # characters of the service's own words in a message


class NoFieldError(RefusedError):
    """The model takes no field of this name, as in `OPTIONAL`, in a request."""

    def __init__(self, message: str, name: str) -> None:
        super().__init__(message)
        self.name = name


# How refusals speak of what a request can do without.
OPTIONAL = {
    "logprobs": re.compile(r"logprob", re.IGNORECASE),
    "thinkingConfig": re.compile(r"think|budget", re.IGNORECASE),
    "stopSequences": re.compile(r"stop.?sequence", re.IGNORECASE),
    "seed": re.compile(r"\bseed\b", re.IGNORECASE),
}


@dataclass(frozen=True)
class Faults:
    """Says what went wrong with one model."""

    name: str
    host: str
    key: str = field(repr=False)
    typed: bool  # whether a person typed the key
    timeout: float  # Seconds without a sign of life

    def another_model(self, name: str, before: str) -> RefusedError:
        """Return the error for a reply of another model than the one that was opened."""
        return RefusedError(
            f"{self.name} gives “{name}” as its model now, and gave “{before}” before. Pin one "
            "model by its full name, or open it anew."
        )

    def sentence(self, error: Exception, several: bool) -> ModelError:
        """Return what to say of a fault; `several` answers were asked for at once."""
        match error:
            case GoogleAPICallError():
                return self._refusal(error, several)
            case GoogleAuthError():
                return self._bad_key()
            case requests.Timeout():
                return SilentError(
                    f"{self.name} did not answer within {self.timeout:g} seconds. "
                    "Try again in a moment."
                )
            case requests.ConnectionError() if no_way(error):
                return UnreachableError(
                    f"{self.host} cannot be reached ({type(error).__name__}). Check the "
                    "connection of this computer."
                )
            case requests.RequestException():
                return TemporaryError(
                    f"The connection to {self.host} broke off. Try again in a moment."
                )
        return TemporaryError(
            f"{self.host} sent a reply that cannot be read. Try again in a moment."
        )

    def _refusal(self, error: GoogleAPICallError, several: bool) -> ModelError:
        """Translate a reply whose status is an error."""
        words = self._words(error)
        says = f" It says: “{one_line(words, WORDS)}”" if words else ""
        code = int(error.code or 0)
        reasons = [str(info.get("reason", "")) for info in details(error, "ErrorInfo")]
        if code in (401, 403) or any(reason.startswith("API_KEY") for reason in reasons):
            return self._bad_key(says)
        if code == 404:
            return UnknownModelError(
                f"Google has no model for {self.name}, or not for this key. Check the name, for "
                f"example gemini:gemini-2.5-flash.{says}"
            )
        if code == 429 and any("PerDay" in quota for quota in quotas(error)):
            return RefusedError(
                f"The day’s quota for {self.name} is used up. Continue tomorrow, or choose "
                f"another model or key.{says}"
            )
        if code == 429 and NO_QUOTA.search(words):
            return RefusedError(
                f"This key has no quota for {self.name}: its limit is 0. Choose another model, or "
                f"a key with billing.{says}"
            )
        if code == 429:
            return TemporaryError(
                f"{self.name} received too many requests at once. Try again in a moment.{says}",
                retry_after(error, words),
            )
        if code >= 500 or code == 408:
            return TemporaryError(
                f"{self.name} has a fault (status {code}). Try again in a moment.{says}",
                retry_after(error, words),
            )
        if several and "candidate" in words.lower():
            return SmallerRequestsError(words)
        if code == 413 or too_much(words):
            return PromptTooLongError(
                f"The prompt is too long for {self.name}. Shorten the question or repeat fewer "
                f"answers.{says}"
            )
        sentence = f"{self.name} did not accept the request (status {code}).{says}"
        for name, pattern in OPTIONAL.items():
            if code == 400 and pattern.search(words):
                return NoFieldError(sentence, name)
        return RefusedError(sentence)

    def _bad_key(self, says: str = "") -> NeedsKeyError:
        error = refused_key(self.name, KEY_VARIABLE, typed=self.typed)
        return NeedsKeyError(f"{error}{says}")

    def _words(self, error: GoogleAPICallError) -> str:
        """Return what the service says, without the key; nothing where it is a page of HTML."""
        sent: Any = getattr(error.response, "request", None)
        opening = f"{sent.method} {sent.url}: " if sent else ""
        words = str(error.message).removeprefix(opening).replace(self.key, "[key]")
        return "" if words.lstrip().startswith("<") else " ".join(words.split())
