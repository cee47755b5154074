"""What strangers may write, and files that somebody edited, for the tests of all floors."""

import functools
import json
import math
from collections.abc import Callable, Iterator
from typing import Any

# Each is harmless only as plain text: HTML, Markdown and Streamlit's own marks, mathematics,
# an expression of Vega, quotes.
IMAGE, SCRIPT = "![](http://x.example/leak.png)", "<script>alert(1)</script>"
TEXTS = [
    *(IMAGE, SCRIPT, "<img src=x onerror=alert(1)>", "[x](http://x.example) **b** :red[x]"),
    *("$5 and $6", "'] || alert(1) || ['", "a\"b'c\\ \\n", "datum.x", "NaN", "=HYPERLINK(1)"),
]
# As above, where a text may also have lines, any length, or none.
LINES = ["two\nlines", "two\r\nmore", "one\u2028and\u2029more"]
ANY_TEXTS = [*TEXTS, *LINES, "é\U0001f600", "word " * 60, ""]
# What is no text in a database or a file: half of a character.
HALF = "\ud83d"
# Larger than every float.
HUGE = 10**400

LEAVES = [None, "x" * 1000, HALF, -1, 0, HUGE, 1e308, math.inf, math.nan, True, [], {}]


def places(data: Any, path: tuple = ()) -> Iterator[tuple]:
    """Yield the path of everything in parsed JSON; of a list its first entry and its last."""
    if path:
        yield path
    items = data.items() if isinstance(data, dict) else ()
    if isinstance(data, list):
        items = [(i, data[i]) for i in sorted({0, len(data) - 1}) if data]
    for key, value in items:
        yield from places(value, (*path, key))


def put(value: Any, *path: str | int) -> Callable[[Any], None]:
    """Return a change of parsed JSON that replaces what is at `path`."""

    def change(data: Any) -> None:
        for key in path[:-1]:
            data = data[key]
        data[path[-1]] = value

    return change


def remove(*path: str | int) -> Callable[[Any], None]:
    """Return a change of parsed JSON that takes out what is at `path`."""

    def change(data: Any) -> None:
        for key in path[:-1]:
            data = data[key]
        del data[path[-1]]

    return change


def edited(data: Any) -> Iterator[tuple[tuple, str]]:
    """Yield (path, text) of JSON in which one thing was replaced, or taken out."""
    for path in list(places(data)):
        *way, last = path
        inside = functools.reduce(lambda part, key: part[key], way, data)
        was = inside[last]
        for value in LEAVES:
            inside[last] = value
            yield path, json.dumps(data)
        del inside[last]
        yield path, json.dumps(data)
        if isinstance(inside, list):
            inside.insert(last, was)
        else:
            inside[last] = was


def opened(read: Callable[[str], Any], text: str, error: type[Exception]) -> Any:
    """Return what a file holds; None if it is refused, with a sentence that can be shown."""
    try:
        return read(text)
    except error as refusal:
        sentence = str(refusal)
        assert sentence.endswith(".") and sentence.encode() and len(sentence) < 600, sentence
        return None
