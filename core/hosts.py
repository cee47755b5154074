"""Whose requests a server of ours answers: by the names in `Host` and `Origin`, asking nobody."""

from collections.abc import Sequence
from typing import Final
from urllib.parse import urlsplit

LOCAL: Final = ("localhost", "127.0.0.1", "::1")


def is_name(entry: str) -> bool:
    """Say whether `is_host_allowed` can ever find a server under this name: no address, no port."""
    name = entry.removeprefix("*.")
    return entry == "*" or (
        len(entry.split()) == 1 and is_host_allowed(f"[{name}]" if ":" in name else name, [name])
    )


def is_host_allowed(host: str | None, names: Sequence[str]) -> bool:
    """Say whether a server of these names is meant; all are where there are none.

    `*.example.com` stands for every name below it, `*` for any.
    """
    if not names:
        return True
    try:
        parts = urlsplit(f"//{host or ''}")
        name, _ = parts.hostname, parts.port  # a port that is no number raises
    except ValueError:
        return False
    if not name or "@" in parts.netloc or parts.path or parts.query or parts.fragment:
        return False
    name = name.rstrip(".")
    patterns = [entry.strip().lower().rstrip(".") for entry in names]
    return any(
        pattern in ("*", name) or (pattern.startswith("*.") and name.endswith(pattern[1:]))
        for pattern in patterns
    )


def is_origin_allowed(origin: str, host: str | None, names: Sequence[str]) -> bool:
    """Say whether a page of this origin may speak to a server of these names.

    Its name must be one of them. Where only a wildcard there fits it, or there are none, it must
    be the name by which the page asks, too: a wildcard says under which names this server is
    reached, not that all their pages are trusted.
    """
    try:
        parts = urlsplit(origin)
        name, port = parts.hostname, parts.port
    except ValueError:
        return False
    plain = f"{parts.scheme}://{parts.netloc}"
    if parts.scheme not in {"http", "https"} or not name or port == 0 or origin != plain:
        return False
    if not is_host_allowed(parts.netloc, names):
        return False
    literal = {entry.strip().lower().rstrip(".") for entry in names}
    return name.rstrip(".") in literal or name == urlsplit(f"//{host}").hostname
