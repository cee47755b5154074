"""The curves that everybody meets first, bundled with the model that they were computed with.

`python -m benchmarks.amplification --write` computes them anew. Those of other weights than the
ones in use are no curves of this model: they are not used.

Beside them are curves of the paper's questions by a larger model, which is not bundled:
`python -m benchmarks.paper_questions --record MODEL.gguf` computes them.
"""

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, Final

from core.codec import encode, finite
from core.language_models.language_model import LanguageModel
from core.once import once
from core.studies.amplification.curve import (
    DEFAULT_REPETITIONS,
    Amplification,
    Case,
    amplify,
    grid,
    point_of,
)
from core.studies.amplification.gallery import AT_FIRST, EXAMPLES, MOST_AT_FIRST, PAPER, by_band
from core.studies.provenance import Provenance, provenance_in

FILE: Final = Path(__file__).parent / "bundled.json"
RECORDED: Final = Path(__file__).parent / "recorded.json"

_Key = tuple[Case, tuple[int, ...]]


@dataclass(frozen=True)
class BundledCurves:
    """Curves of one model."""

    model: str
    revision: str
    curves: Mapping[_Key, Amplification]  # by case and numbers of repetitions


def contents(model: LanguageModel) -> Iterator[_Key]:
    """Yield what is bundled: the examples, the paper's questions, and the first draw by band."""
    for case in EXAMPLES.values():
        yield case, grid(model, MOST_AT_FIRST)
    papers = (one.case for published in PAPER.values() for one in published)
    for case in chain(papers, *by_band(AT_FIRST).values()):
        yield case, DEFAULT_REPETITIONS


def find(case: Case, model: LanguageModel, times: tuple[int, ...]) -> Amplification | None:
    """Return the bundled curve of a model in use; None where there is none of these weights."""
    curves = content()
    if (curves.model, curves.revision) != (model.name, model.revision):
        return None
    return curves.curves.get((case, times))


@once
def content() -> BundledCurves:
    """Return what was written."""
    return read(FILE.read_text(encoding="utf-8"))


def compute(model: LanguageModel) -> str:
    """Compute all that is wanted, and return it as text: `read` reads it again."""
    curves = [amplify(case, model, times) for case, times in contents(model)]
    return text_of_curves({"model": model.name, "revision": model.revision}, curves)


def text_of_curves(head: Mapping[str, Any], curves: Iterable[Amplification]) -> str:
    """Return curves of one model as text, behind what is to be said of all."""
    lines = ",\n".join(encode(_row(curve)) for curve in curves)
    return f'{encode(head)[:-1]}, "curves": [\n{lines}\n]}}\n'


@dataclass(frozen=True)
class RecordedCurves:
    """Curves of a model that does not come with the program."""

    provenance: Provenance
    curves: Mapping[Case, Amplification]


@once
def recording(file: Path = RECORDED) -> RecordedCurves | None:
    """Return what was recorded of the paper's questions; None where nothing was."""
    if not file.is_file():
        return None
    text = file.read_text(encoding="utf-8")
    curves = {case: curve for (case, _), curve in read(text).curves.items()}
    return RecordedCurves(provenance_in(json.loads(text)), curves)


def read(text: str) -> BundledCurves:
    """Read what `compute` wrote."""
    content = json.loads(text)
    model, revision = content["model"], content["revision"]
    curves = (_curve(row, model, revision) for row in content["curves"])
    return BundledCurves(model, revision, {(c.case, _times(c)): c for c in curves})


def _times(curve: Amplification) -> tuple[int, ...]:
    return tuple(point.repetitions for point in curve.points)


def _row(curve: Amplification) -> dict[str, Any]:
    case = curve.case
    return {
        "case": [case.query, case.answer, case.repeated],
        "read_as": curve.read_as,
        "repetitions": _times(curve),
        "answer": _logarithms(p.log_likelihood_answer for p in curve.points),
        "repeated": _logarithms(p.log_likelihood_repeated for p in curve.points),
    }


def _logarithms(values: Iterable[float | None]) -> list[float | None]:
    return [None if value is None else finite(value) for value in values]


def _curve(row: dict[str, Any], model: str, revision: str) -> Amplification:
    points = (
        point_of(t, *(-math.inf if value is None else value for value in both))
        for t, *both in zip(row["repetitions"], row["answer"], row["repeated"], strict=True)
    )
    return Amplification(Case(*row["case"]), model, revision, tuple(points), read_as=row["read_as"])
