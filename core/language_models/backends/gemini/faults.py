"""The faults of Google's API, finish and block reasons included, as sentences without the key."""

import re
import warnings
from dataclasses import dataclass, field
from typing import Any

import requests
from urllib3.exceptions import NewConnectionError

from core.codec import one_line
from core.language_models import errors
from core.language_models.backends.gemini.description import KEY_VARIABLE

with warnings.catch_warnings():  # as beside the model
    warnings.simplefilter("ignore", FutureWarning)
    from google.api_core.exceptions import GoogleAPICallError
    from google.auth.exceptions import GoogleAuthError

LONGEST_REASON = 60  # characters
# What went wrong, by the service's name for it (finish reasons and block reasons).
REASONS = {
    "SAFETY": "its safety filter",
    "RECITATION": "recitation of a protected text",
    "LANGUAGE": "unsupported language",
    "BLOCKLIST": "a blocked word",
    "PROHIBITED_CONTENT": "prohibited content",
    "SPII": "personal data",
    "IMAGE_SAFETY": "its safety filter",
    "MALFORMED_FUNCTION_CALL": "a call of a tool that it does not have",
    "UNEXPECTED_TOOL_CALL": "a call of a tool that it does not have",
    "TOO_MANY_TOOL_CALLS": "a call of a tool that it does not have",
}
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
            case requests.ConnectionError() if no_way(error):
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
        reasons = [str(info.get("reason", "")) for info in details(error, "ErrorInfo")]
        if code in (401, 403) or any(reason.startswith("API_KEY") for reason in reasons):
            return self._bad_key(says)
        if code == 404:
            return errors.UnknownModelError(
                f"Google has no model for {self.name}, or not for this key. Check the name, for "
                f"example gemini:gemini-2.5-flash.{says}"
            )
        if code == 429 and any("PerDay" in quota for quota in quotas(error)):
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
                retry_after(error, words),
            )
        if code >= 500 or code == 408:
            return errors.TemporaryError(
                f"{self.name} has a fault (status {code}). Try again in a moment.{says}",
                retry_after(error, words),
            )
        if several and "candidate" in words.lower():
            return errors.SmallerRequestsError(words)
        if code == 413 or too_much(words):
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


def too_much(words: str) -> bool:
    """Whether the service says that the prompt is too long; in one pass, whatever it says."""
    measured = re.search(r"token count|payload size", words)
    return measured is not None and " exceeds" in words[measured.end() :]


def name_of(names: Any, value: object) -> str:
    """Return the name of a reason; the service writes it, or the number that the SDK has for it."""
    try:
        return names(value).name if type(value) is int else one_line(f"{value}", LONGEST_REASON)
    except ValueError:  # newer than the SDK
        return f"{value}"


def reason_for(names: Any, value: object) -> str:
    """Return a reason in words; `names` is the SDK’s enumeration of them."""
    name = name_of(names, value)
    return REASONS.get(name, f"“{name}”")


def no_way(error: requests.ConnectionError) -> bool:
    """Whether there was no connection at all, rather than one that broke off."""
    if isinstance(error, requests.exceptions.SSLError | requests.exceptions.ProxyError):
        return True
    reason = getattr(error.args[0] if error.args else None, "reason", None)
    return isinstance(reason, NewConnectionError)


def details(error: Any, kind: str) -> list[dict[str, Any]]:
    """Return what an error of the SDK holds of one kind, as Google’s interfaces name it."""
    parts = [d for d in error.details if isinstance(d, dict)]
    return [d for d in parts if str(d.get("@type", "")).endswith(f"google.rpc.{kind}")]


def quotas(error: Any) -> list[str]:
    """Return the names of the quotas that are used up."""
    failures = details(error, "QuotaFailure")
    listed = [failure.get("violations") for failure in failures]
    violations = [v for one in listed if isinstance(one, list) for v in one]
    return [str(v.get("quotaId", "")) for v in violations if isinstance(v, dict)]


def retry_after(error: Any, words: str) -> float | None:
    """Return the seconds to wait: from the details, the words or the header."""
    delays = [str(d.get("retryDelay", "")) for d in details(error, "RetryInfo")]
    delays += re.findall(r"retry in ([\d.]+s)", words)
    headers = getattr(error.response, "headers", {})
    delays += [f"{headers.get('Retry-After', '')}s"]
    for delay in delays:
        if re.fullmatch(r"\d+(\.\d+)?s", delay):
            return float(delay[:-1])
    return None
