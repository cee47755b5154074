"""What a terminal gets: signs, and no orders of a model to move its cursor."""

from io import TextIOWrapper
from typing import Final, TextIO

HARMLESS: Final = "\n\t\u200c\u200d"  # the last two join letters and emoji
CLEAR: Final = "\r\033[K"  # before what `evaluate` says of its progress


def guard(stream: TextIO) -> None:
    """Let no text of a model move the cursor of a terminal, or hide what stands there.

    What is no sign becomes U+FFFD. A file or a pipe gets all as it is, but what its encoding lacks:
    that becomes an escape, as JSON has it.
    """
    if isinstance(stream, TextIOWrapper):  # UTF-8 for few on Windows
        stream.reconfigure(errors="backslashreplace")
    if not stream.isatty():
        return
    write = stream.write

    def write_signs(text: str) -> int:
        own = CLEAR if text.startswith(CLEAR) else ""
        signs = (c if c.isprintable() or c in HARMLESS else "\ufffd" for c in text[len(own) :])
        return write(own + "".join(signs))

    stream.write = write_signs  # type: ignore[method-assign]
