"""What was made of Natural Questions: AmbigQA (AmbigNQ) and NQ-Open.

AmbigQA's questions were answered by several people, some of them in several readings; NQ-Open has
the short questions and answers, as JSON lines.
"""

import os
from collections.abc import Iterator, Mapping
from typing import Any

from core.data.datasets.files import array
from core.data.datasets.questions import Question, Tell, question_of, questions_from, read_questions

SINGLE, MULTIPLE = "ambigqa single", "ambigqa multiple"


def read_ambigqa(path: str | os.PathLike[str], tell: Tell = None) -> Iterator[Question]:
    """Yield the questions of a file of AmbigNQ, light or full.

    Whatever any annotator gave as an answer, to any reading of the question, is right. Lists that
    share a name hold the names of one answer. The source is `MULTIPLE` where an annotator saw
    several readings.

    The rest, and what it raises, is as of `core.data.datasets.questions.read_questions`.
    """
    return questions_from(array(path), ambigqa_question, tell)


def ambigqa_question(item: Mapping[str, Any], _: int) -> Question:
    """Return the question of AmbigNQ's object; `ValueError` says why there is none."""
    annotations = _objects(item.get("annotations"), "annotations")
    kinds = {str(annotation.get("type")) for annotation in annotations}
    answers: list[list[str]] = []
    for annotation in annotations:
        match annotation.get("type"):
            case "singleAnswer":
                answers.append(_names(annotation))
            case "multipleQAs":
                answers += map(_names, _objects(annotation.get("qaPairs"), "qaPairs"))
            case _:
                raise ValueError("an annotation is neither “singleAnswer” nor “multipleQAs”.")
    return question_of(
        id=item.get("id"),
        query=item.get("question"),
        answers=_merge(answers),
        source=MULTIPLE if "multipleQAs" in kinds else SINGLE,
    )


def _objects(value: object, key: str) -> list[dict[str, Any]]:
    if not isinstance(value, list) or not all(isinstance(part, dict) for part in value):
        raise ValueError(f"“{key}” is no list of objects.")
    return value


def _names(part: dict[str, Any]) -> list[str]:
    names = part.get("answer")
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise ValueError("“answer” is no list of texts.")
    return names


def _merge(answers: list[list[str]]) -> list[list[str]]:
    """Put lists of names together that share one, whatever its case."""
    merged: list[list[str]] = []
    having: dict[str, list[str]] = {}  # a name
    for names in answers:
        keys = [_key(name) for name in names]
        sharing = {id(having[key]): having[key] for key in keys if key in having}
        # The longest takes in the others, so that no name moves often.
        group = max(sharing.values(), key=len, default=None)
        if group is None:
            group = []
            merged.append(group)
        for other in sharing.values():
            if other is not group:
                group += other
                having.update((_key(name), group) for name in other)
                other.clear()
        group += names
        having.update((key, group) for key in keys)
    return [group for group in merged if group]


def _key(name: str) -> str:
    return name.strip().casefold()


SOURCE = "nq_open"


def read_nq_open(path: str | os.PathLike[str], tell: Tell = None) -> Iterator[Question]:
    """Yield the questions of a file of NQ-Open.

    The file does not say which of its answers are names of the same: each is one of its own.

    The rest, and what it raises, is as of `core.data.datasets.questions.read_questions`.
    """
    return read_questions(path, tell, source=SOURCE, prefix=f"{SOURCE}:")
