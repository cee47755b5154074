"""The faults of Google's API, each as a sentence without the key."""

import re
import warnings
from dataclasses import dataclass, field
from typing import Any

import requests

from core.codec import one_line
from core.language_models import errors
from core.language_models.backends.gemini import refusals
from core.language_models.backends.gemini.description import KEY_VARIABLE

with warnings.catch_warnings():  # as beside the model
    warnings.simplefilter("ignore", FutureWarning)
    from google.api_core.exceptions import GoogleAPICallError
    from google.auth.exceptions import GoogleAuthError

NO_QUOTA = re.compile(r"\blimit: 0\b(?![.,]\d)")
WORDS = 200  # characters of the service's own words in a message


class NoFieldError(errors.RefusedError):
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
class FaultReporter:
    """Says what went wrong with one model."""

    name: str
    host: str
    key: str = field(repr=False)
    typed: bool  # whether a person typed the key
    timeout: float  # Seconds without a sign of life

    def another_model(self, name: str, before: str) -> errors.OtherModelError:
        """Return the error for a reply of another model than the one that was opened."""
        now, own = (f"“{each}”" if each else "no name" for each in (name, before))
        return errors.OtherModelError(
            f"{self.name} gives {now} as its model now, and gave {own} before. Pin one "
            "model by its full name, or open it anew."
        )

    def sentence(self, error: Exception, several: bool) -> errors.ModelError:
        """Return what to say of a fault; `several` answers were asked for at once."""
        match error:
            case GoogleAPICallError():
                return self._refusal(error, several)
            case GoogleAuthError():
                return self._bad_key()
            case requests.Timeout():
                return errors.SilentError(
                    f"{self.name} did not answer within {self.timeout:g} seconds. "
                    "Try again in a moment."
                )
            case requests.ConnectionError() if refusals.no_way(error):
                return errors.UnreachableError(
                    f"{self.host} cannot be reached ({type(error).__name__}). Check the "
                    "connection of this computer."
                )
            case requests.RequestException():
                return errors.TemporaryError(
                    f"The connection to {self.host} broke off. Try again in a moment."
                )
        return errors.TemporaryError(
            f"{self.host} sent a reply that cannot be read. Try again in a moment."
        )

    def _refusal(self, error: GoogleAPICallError, several: bool) -> errors.ModelError:
        """Translate a reply whose status is an error."""
        words = self._words(error)
        says = f" It says: “{one_line(words, WORDS)}”" if words else ""
        code = int(error.code or 0)
        reasons = [str(info.get("reason", "")) for info in refusals.details(error, "ErrorInfo")]
        if code in (401, 403) or any(reason.startswith("API_KEY") for reason in reasons):
            return self._bad_key(says)
        if code == 404:
            return errors.UnknownModelError(
                f"Google has no model for {self.name}, or not for this key. Check the name, for "
                f"example gemini:gemini-2.5-flash.{says}"
            )
        if code == 429 and any("PerDay" in quota for quota in refusals.quotas(error)):
            return errors.CreditError(
                f"The day’s quota for {self.name} is used up. Continue tomorrow, or choose "
                f"another model or key.{says}"
            )
        if code == 429 and NO_QUOTA.search(words):
            return errors.CreditError(
                f"This key has no quota for {self.name}: its limit is 0. Choose another model, or "
                f"a key with billing.{says}"
            )
        if code == 429:
            return errors.TemporaryError(
                f"{self.name} received too many requests at once. Try again in a moment.{says}",
                refusals.retry_after(error, words),
            )
        if code >= 500 or code == 408:
            return errors.TemporaryError(
                f"{self.name} has a fault (status {code}). Try again in a moment.{says}",
                refusals.retry_after(error, words),
            )
        if several and "candidate" in words.lower():
            return errors.SmallerRequestsError(words)
        if code == 413 or refusals.too_much(words):
            return errors.PromptTooLongError(
                f"The prompt is too long for {self.name}. Shorten the question or repeat fewer "
                f"answers.{says}"
            )
        sentence = f"{self.name} did not accept the request (status {code}).{says}"
        for name, pattern in OPTIONAL.items():
            if code == 400 and pattern.search(words):
                return NoFieldError(sentence, name)
        return errors.RefusedError(sentence)

    def _bad_key(self, says: str = "") -> errors.NeedsKeyError:
        error = errors.refused_key(self.name, KEY_VARIABLE, typed=self.typed)
        return errors.NeedsKeyError(f"{error}{says}")

    def _words(self, error: GoogleAPICallError) -> str:
        """Return what the service says, without the key; nothing where it is a page of HTML."""
        sent: Any = getattr(error.response, "request", None)
        opening = f"{sent.method} {sent.url}: " if sent else ""
        words = str(error.message).removeprefix(opening).replace(self.key, "[key]")
        return "" if words.lstrip().startswith("<") else " ".join(words.split())
