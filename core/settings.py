"""What the environment says: who uses this server, whose keys it lends, how much may be asked.

Everything is read when it is needed, never on import. What cannot be read ends in a sentence,
never in a wider permission. No sentence repeats what a variable holds: it may be a key.

Streamlit makes environment variables of what stands alone in ``.streamlit/secrets.toml``, so
all this holds for keys in that file, too.
"""

import os
import re
from enum import StrEnum
from typing import Final

PUBLIC: Final = "BELIEVE_PUBLIC"
BUDGET: Final = "BELIEVE_BUDGET"
PUBLIC_KEYS: Final = "BELIEVE_PUBLIC_KEYS"
PUBLIC_BUDGET: Final = "BELIEVE_PUBLIC_BUDGET"
ALLOWED_HOSTS: Final = "BELIEVE_ALLOWED_HOSTS"
DATABASE: Final = "BELIEVE_DATABASE_URL"
END_TEXT: Final = "BELIEVE_END_TEXT"
HISTORY: Final = "BELIEVE_HISTORY"
MEMORY: Final = "BELIEVE_MEMORY"

HUB_TOKEN: Final = "HF_TOKEN"  # read by the hub's own library

USUAL_BUDGET: Final = 2000  # calls
LEAST_MEMORY: Final = 200  # megabytes: the largest file, while it is read
_HOST: Final = re.compile(r"(([a-z0-9._-]+|\[[0-9a-f:.]+\])(:\d+)?)?")

_is_shared = False  # until `share` says so: a command is its user's own


class Sharing(StrEnum):
    """Who sees the results in the database, as ``BELIEVE_HISTORY`` says."""

    EVERYONE = "everyone"  # who opens a session sees all
    OWN = "own"  # each sees what is theirs
    BY_ADDRESS = ""  # `EVERYONE` where only this computer reaches the server, else `OWN`


class SettingError(Exception):
    """A variable says what cannot be read; the message says which, and how to mend it."""


def is_public() -> bool:
    """Whether strangers use this server, as ``BELIEVE_PUBLIC`` says."""
    return _text(PUBLIC).lower() not in {"", "0", "false", "no"}


def share(shared: bool) -> None:
    """Say whether others than this computer reach this process; its pages know."""
    global _is_shared
    _is_shared = shared


def is_shared() -> bool:
    """Whether somebody who did not set the environment may use this process."""
    return _is_shared or is_public()


def allowed_hosts() -> list[str]:
    """Return the only servers of models that may be asked; empty where any may."""
    text = _text(ALLOWED_HOSTS).lower()
    return [entry.strip() for entry in text.split(",")] if text else []


def database() -> str:
    """Return the address of the database; "" for the usual file."""
    return _text(DATABASE)


def sharing() -> Sharing:
    """Return who sees the results in the database.

    Raises `SettingError` when ``BELIEVE_HISTORY`` says anything else than that.
    """
    try:
        return Sharing(_text(HISTORY).lower())
    except ValueError as error:
        raise SettingError(
            f"{HISTORY} is neither “{Sharing.OWN}” nor “{Sharing.EVERYONE}”. If you run this "
            "server, set it to one of them, or unset it."
        ) from error


def end_text() -> str:
    """Return with what a server of models ends an answer; "" to find it out."""
    return os.environ.get(END_TEXT, "")


def without_keys() -> dict[str, str]:
    """Return what a process needs of the environment to start on a stranger's file or template."""
    names = (
        *("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "TEMP", "TMP", "SYSTEMROOT"),
        *("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV"),
    )
    return {name: os.environ[name] for name in names if name in os.environ}


def budget() -> int:
    """Return how many calls a session may make unless the person says otherwise.

    Raises `SettingError` when that is no whole number, as does `public_budget`.
    """
    return _count(BUDGET)


def public_budget() -> int:
    """Return how many calls all visitors together may make with the keys that are lent."""
    return _count(PUBLIC_BUDGET)


def memory() -> int | None:
    """Return how many megabytes the files and results of all sessions may take; None if unsaid.

    Raises `SettingError` when ``BELIEVE_MEMORY`` is no whole number, or too small for one file.
    """
    text = _text(MEMORY)
    if not text:
        return None
    if not (text.isascii() and text.isdigit() and len(text) < 10 and int(text) >= LEAST_MEMORY):
        raise SettingError(
            f"{MEMORY} is not a whole number of megabytes, {LEAST_MEMORY} or more. If you run this "
            f"server, write it in digits only, such as {MEMORY}=1000, or unset it for a quarter of "
            "the memory."
        )
    return int(text)


def public_keys() -> set[str]:
    """Return what ``BELIEVE_PUBLIC_KEYS`` names: the keys that are lent, if they are keys."""
    return set(_entries(PUBLIC_KEYS))


def key(variable: str) -> str | None:
    """Return a key of the environment, whoever may use it."""
    return _text(variable) or None


def check() -> None:
    """Read what can be wrong here, the names of keys apart; raise `SettingError` if it is."""
    budget()
    memory()
    sharing()
    if not all(map(_HOST.fullmatch, allowed_hosts())):
        raise SettingError(
            f"{ALLOWED_HOSTS} names something that is no host. If you run this server, write hosts "
            f"with or without a port, between commas, such as {ALLOWED_HOSTS}=model.example,"
            "localhost:8000, or unset it to allow all."
        )
    if is_public():
        public_budget()


def _text(name: str) -> str:
    return os.environ.get(name, "").strip()


def _entries(name: str) -> list[str]:
    return [entry.strip() for entry in _text(name).split(",") if entry.strip()]


def _count(name: str) -> int:
    text = _text(name)
    if not text:
        return USUAL_BUDGET
    if not (text.isascii() and text.isdigit()):
        raise SettingError(
            f"{name} is not a whole number of calls. If you run this server, write it in "
            f"digits only, such as {name}=500, or unset it for {USUAL_BUDGET:,}."
        )
    return int(text)
