"""NQ-Open: the short questions and answers of Natural Questions, as JSON lines."""

import os
from collections.abc import Callable, Iterator

from core.data.datasets.questions import OnMalformed, Question, ignore, read_questions

SOURCE = "nq_open"


def read_nq_open(
    path: str | os.PathLike[str],
    on_malformed: OnMalformed = "refuse",
    tell: Callable[[str], object] = ignore,
) -> Iterator[Question]:
    """Yield the questions of a file of NQ-Open.

    The file does not say which of its answers are names of the same: each is one of its own.

    `path, on_malformed, tell`: as of `core.data.datasets.questions.read_questions`.

    Raises `UploadError` as of `core.data.datasets.questions.read_questions`.
    """
    return read_questions(path, on_malformed, tell, source=SOURCE, prefix=f"{SOURCE}:")
