"""What can go wrong with a model, each in one sentence that says how to mend it."""

from __future__ import annotations

import logging

_LOG = logging.getLogger("believe")


class ModelError(Exception):
    """Something a person can act on went wrong with a model; the message says what."""


class UnknownModelError(ModelError):
    """The name does not name a back end."""


class PromptTooLongError(ModelError):
    """The prompt does not fit into the model's context."""


class BrokenModelError(ModelError):
    """The model's own files are missing or not the ones that were shipped."""


def check_unchanged(name: str, before: object, after: object) -> None:
    """Check what was known of files before they were read: else a hash may be of other files.

    Raises `BrokenModelError`.
    """
    if before != after:
        raise BrokenModelError(f"“{name}” changed while it was read. Open it again once it stays.")


class NeedsKeyError(ModelError):
    """The service wants a key: there is none, or it was not accepted."""


def refused_key(whose: str, variable: str, *, typed: bool) -> NeedsKeyError:
    """Return the error for a key, typed or of the variable, that a service did not accept."""
    if typed:
        which, mend = "that was typed", "Type another one under “Model”."
    else:
        which = f"in {variable}"
        mend = "Put another one there and start again; the dashboard takes one under “Model”, too."
    return NeedsKeyError(
        f"{whose} did not accept the key {which}: it is wrong, or no longer valid. {mend}"
    )


class RefusedError(ModelError):
    """The service answered, and will not answer this: blocked, or not allowed."""


class UnscorableError(RefusedError):
    """One answer cannot be scored behind this prompt; others may be."""


class OtherModelError(RefusedError):
    """Another model answers under this name than before, or another server: so it will go on."""


class UnreachableError(ModelError):
    """The service could not be reached, or went on failing."""


class BudgetError(ModelError):
    """The calls that the person allowed are used up."""


class CreditError(BudgetError):
    """The service gives nothing more until somebody pays, or its quota begins anew."""


class NotSavedError(ModelError):
    """An answer could not be saved, so that nothing more is asked, or paid for."""


class StoppedError(BudgetError):
    """A person stopped the run. What was under way is left; the service may charge for it."""


class SmallerRequestsError(ModelError):
    """One request was asked for too much; the model's `capabilities` now say how much it takes."""


class TemporaryError(ModelError):
    """Worth another try: too many requests, a fault of the server, a dropped connection.

    `retry_after`: seconds that the service asked to wait, if it did.
    """

    def __init__(self, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class SilentError(TemporaryError):
    """Nothing came within the time that a reply may take; another try takes as long."""


class CrowdedError(TemporaryError):
    """Nothing came in time, and fewer requests are made at once from now on."""


class LoadingError(TemporaryError):
    """The server is there, and its model not yet: worth a longer wait than a fault."""


def fault_of(name: str, error: Exception) -> str:
    """Say in a sentence that the code of somebody's own model failed, and in the log where.

    The text of the error stays out of the sentence: it may hold an address with a key.
    """
    _LOG.error("%s failed.", name, exc_info=error)
    return f"{name} failed with {type(error).__name__}; the log “believe” says where."
