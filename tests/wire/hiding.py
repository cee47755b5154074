"""Ways in which a service succeeds or fails, and every place where its key must not be."""

import json
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.language_models.openai_server import Server, serving

KEY = "sk-wire-secret-9f8e7d6c5b4a3210"
NOWHERE = "http://no-such-host.invalid/v1"


def says(status: int, message: str, **headers: str):
    """Reply to everything with an error in the service's own words."""
    body = json.dumps({"error": {"message": message, "key": KEY}}).encode()
    return lambda path, asked: (status, headers, body)


def drops(path: str, asked: dict):
    """Close the connection without a word."""
    raise ConnectionAbortedError


REPEATED = f"Key {KEY} (Authorization: Bearer {KEY}) may not do this"
FAILURES = {
    "401": says(401, REPEATED),
    "403": says(403, REPEATED),
    "400": says(400, REPEATED),
    "404": says(404, f"no model for {KEY}"),
    "quota": says(429, f"insufficient_quota of {KEY}"),
    "busy": says(429, REPEATED),
    "broken": says(500, REPEATED),
    "error in a good reply": says(200, REPEATED),
    "page": lambda *_: (400, {}, f"<p>{'x' * 190} {KEY}</p>".encode()),
    "redirect": says(302, REPEATED, Location=f"http://127.0.0.1:9/{KEY}"),
    "dropped": drops,
}


@contextmanager
def failing(way: str, after: int = 0) -> Iterator[Server]:
    """Run a server that fails in one of `FAILURES` after so many good replies; or is nowhere."""
    with serving(
        "none", key=KEY, before=lambda *asked: FAILURES[way](*asked) if begun() else None
    ) as server:

        def begun() -> bool:
            return len(server.exchanges) > after

        yield server


def hidden(*places: object) -> None:
    """Assert that the key is in none of some texts, which are not empty."""
    for place in places:
        text = str(place)
        assert text and KEY not in text, text


def hidden_in(folder: Path) -> None:
    """Assert that the key is in no file: a database, its write-ahead log, what was printed."""
    files = [file for file in folder.rglob("*") if file.is_file()]
    assert files
    for file in files:
        assert KEY.encode() not in file.read_bytes(), file


def chain(error: BaseException | None) -> Iterator[str]:
    """Yield all that could be printed of an error and of those behind it, suppressed or not."""
    while error is not None:
        yield "".join(traceback.format_exception(error))
        yield f"{error} {error!r} {vars(error)} {error.args}"
        error = error.__cause__ or error.__context__
