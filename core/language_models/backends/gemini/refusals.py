"""What Google says about a request that it did not answer."""

import re
from typing import Any

import requests
from urllib3.exceptions import NewConnectionError

from core.codec import one_line

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
