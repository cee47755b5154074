"""What can go wrong with a database, each in one sentence that says how to mend it."""

import sqlite3
from collections.abc import Iterable

from sqlalchemy.exc import DBAPIError

BUSY_SECONDS = 3  # how long a writer waits for another one, which writes for milliseconds
LONGEST_WORDS = 200

_ELSEWHERE = "or name another place in BELIEVE_DATABASE_URL"
# The low byte of an SQLite error code is its kind; the rest are details of it.
DAMAGED = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}
_NOT_ALLOWED = {sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_CANTOPEN}
_LOCKED = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}


class StoreError(Exception):
    """Something a person can act on went wrong with the database; the message says what."""


class UnknownResultError(StoreError):
    """No result is kept under that id."""


class UnknownLookError(StoreError):
    """A saved look at labels is none that this program can read."""


def sqlite_kind(error: BaseException | None) -> int | None:
    """Return the kind of an SQLite error, such as `sqlite3.SQLITE_BUSY`; None for others."""
    code = getattr(error, "sqlite_errorcode", None)
    return None if code is None else code & 0xFF


def is_lasting(error: BaseException) -> bool:
    """Whether who waits to write as well would fail as this one did: a lock, or a full disk."""
    origin = error.orig if isinstance(error, DBAPIError) else error
    return sqlite_kind(origin) in {sqlite3.SQLITE_FULL, *_LOCKED}


def full(address: str) -> str:
    """Return the sentence about a database whose disk is full."""
    return f"The disk that holds the database {address} is full: make room and try again."


def disappearance(address: str) -> str:
    """Return the beginning of what is said of a file that went away while it was open."""
    return f"The file of the database {address} was deleted or replaced while Believe had it open."


def newer(address: str, version: int, newest: int) -> str:
    """Return the sentence about a database that a newer version wrote."""
    return (
        f"The database {address} was written by a newer Believe (schema {version}; this one "
        f"reads up to {newest}) and was left as it is. Update Believe, {_ELSEWHERE}."
    )


def sentence(error: BaseException, address: str, secrets: Iterable[str] = ()) -> str:
    """Return what went wrong with the database at `address`, in words for a person.

    The address has no password; the secrets must not show, should the driver repeat them.
    """
    origin = error.orig if isinstance(error, DBAPIError) else error
    words = " ".join(str(origin).split())
    for secret in secrets:
        words = words.replace(secret, "***")
    words = words.rstrip(".")
    if len(words) > LONGEST_WORDS:
        words = f"{words[:LONGEST_WORDS]} …"
    kind, state = sqlite_kind(origin), getattr(origin, "sqlstate", None)
    if kind == sqlite3.SQLITE_FULL or state == "53100":
        return full(address)
    if kind == sqlite3.SQLITE_IOERR:  # also where the files beside it find no room
        return (
            f"The disk of the database {address} is full, or fails ({words}): make room on it, "
            f"{_ELSEWHERE}."
        )
    if kind in _NOT_ALLOWED or state in ("42501", "25006") or isinstance(origin, OSError):
        return (
            f"The database {address} cannot be written ({words}): allow it for this user, "
            f"{_ELSEWHERE}."
        )
    if kind in _LOCKED:
        return (
            f"Another program has locked the database {address} for {BUSY_SECONDS} seconds: "
            "close that program, or try again."
        )
    if kind in DAMAGED or isinstance(origin, UnicodeError):
        return (
            f"The database {address} is damaged ({words}): close every Believe, move the file "
            "away and start again."
        )
    if kind is None and (state is None or state.startswith(("08", "57P"))):
        return (
            f"The database {address} could not be reached ({words}): check that it is running "
            "and that BELIEVE_DATABASE_URL is right."
        )
    return f"The database {address} did not complete the request ({words}): try again."
