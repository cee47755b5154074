"""Curves as JSON and CSV: complete enough to be drawn again without the model."""

import json
import math
from collections.abc import Sequence
from dataclasses import asdict, fields, replace
from itertools import pairwise
from typing import Any, Final

from core.codec import decode, text_of
from core.data.tabular.csv_export import to_csv
from core.language_models.usage import Usage
from core.studies.amplification.curve import (
    MOST_REPETITIONS,
    Amplification,
    Case,
    Origin,
    Point,
    point_of,
)
from core.studies.inspection.request import InvalidRequestError

ROUNDED: Final = 1e-3  # a share may be that much off what belongs to it
_TEXTS = tuple(f.name for f in fields(Case))
COLUMNS = (*_TEXTS, *(f.name for f in fields(Point)))
HEADINGS = {  # of the table on the page; files keep the names of `COLUMNS`
    "query": "Question",
    "answer": "Answer to test",
    "repeated": "Answer to repeat",
    "repetitions": "Repetitions",
    "log_likelihood_answer": "ln P(answer to test), nats",
    "log_likelihood_repeated": "ln P(answer to repeat), nats",
    "normalised_probability": "P(answer to test) of the two",
    "lower": "Interval from",
    "upper": "Interval to",
}


def to_dict(amplification: Amplification) -> dict[str, Any]:
    """Return a curve as JSON knows it: the logarithm of 0 is null there."""
    return {
        **asdict(amplification.case),
        "model": amplification.model,
        "revision": amplification.revision,
        "source": amplification.source.value,
        "read_as": amplification.read_as,
        "notes": list(amplification.notes),
        "used": asdict(amplification.used) if amplification.used else None,
        "curve": [
            {name: None if value == -math.inf else value for name, value in asdict(p).items()}
            for p in amplification.points
        ],
        **({"from_file": True} if amplification.from_file else {}),
    }


def all_from_json(text: str) -> list[Amplification]:
    """Read a JSON list of curves; raise `InvalidRequestError` when it is none."""
    try:
        curves = [_from_dict(one) for one in json.loads(text)]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise InvalidRequestError(
            "These are not curves saved by Believe, or they were changed. Compute them again."
        ) from error
    if not curves:
        raise InvalidRequestError("The saved result contains no curves. Compute them again.")
    return curves


def _from_dict(one: dict[str, Any]) -> Amplification:
    curve = Amplification(
        Case(*(text_of(one[name]) for name in _TEXTS), kept=True),
        text_of(one["model"]),
        text_of(one["revision"]),
        _points(one["curve"]),
        None if one.get("used") is None else decode(Usage, one["used"]),
    )
    # Curves that do not say what they are made of were scored or counted.
    before = Origin.SCORED if curve.has_likelihoods else Origin.COUNTED
    read_as = one.get("read_as")
    source = Origin(one.get("source", before))
    if source is Origin.SCORED:
        _check_scored(curve.points)
    return replace(
        curve,
        source=source,
        read_as=None if read_as is None else text_of(read_as),
        notes=tuple(map(text_of, one.get("notes", ()))),
        from_file=one.get("from_file") is True,
    )


def _points(rows: object) -> tuple[Point, ...]:
    """Return the points of a curve, after a look at whether they can be those of one."""
    if not isinstance(rows, list) or not rows:
        raise ValueError("a curve has no points")
    points = tuple(decode(Point, point) for point in rows)
    times = [point.repetitions for point in points]
    if times != sorted(set(times)) or times[-1] > MOST_REPETITIONS:
        raise ValueError("the repetitions are invalid")
    for point in points:
        logarithms = (point.log_likelihood_answer, point.log_likelihood_repeated)
        shares = (point.normalised_probability, point.lower, point.upper)
        if any(value is not None and value > 1e-6 for value in logarithms):
            raise ValueError("a logarithm of a probability is invalid")
        if any(value is not None and not 0 <= value <= 1 for value in shares):
            raise ValueError("a share is invalid")
        present = [share for share in (shares[1], shares[0], shares[2]) if share is not None]
        if any(after < before - ROUNDED for before, after in pairwise(present)):
            raise ValueError("a share is outside its interval")
    return points


def _check_scored(points: Sequence[Point]) -> None:
    """Refuse shares that are not those of their likelihoods."""
    for point in points:
        ours, theirs = point.log_likelihood_answer, point.log_likelihood_repeated
        if ours is None or theirs is None or point.normalised_probability is None:
            continue
        share = point_of(point.repetitions, ours, theirs).normalised_probability
        if share is None or abs(share - point.normalised_probability) > ROUNDED:
            raise ValueError("a share is not that of the likelihoods")


def to_columns(amplifications: Sequence[Amplification]) -> dict[str, list[Any]]:
    """Return curves as a table by columns, one row a point."""
    rows = [{**asdict(a.case), **asdict(point)} for a in amplifications for point in a.points]
    return {name: [row[name] for row in rows] for name in COLUMNS}


def to_table(
    amplifications: Sequence[Amplification], *, texts: bool = True
) -> dict[str, list[Any]]:
    """Return `to_columns` to be read: under plain headings, and without columns that are empty.

    `texts`: whether each row has the question and both answers.
    """
    return {
        HEADINGS[name]: column
        for name, column in to_columns(amplifications).items()
        if any(value is not None for value in column) and (texts or name not in _TEXTS)
    }


def to_csv_bytes(amplifications: Sequence[Amplification]) -> bytes:
    """Return curves as a disarmed CSV, one row a point."""
    return to_csv(COLUMNS, zip(*to_columns(amplifications).values(), strict=True))
