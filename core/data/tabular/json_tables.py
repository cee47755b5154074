"""Tables within one JSON object: what pandas writes, and exports that keep their rows in a list.

`DataFrame.to_json` writes an object of columns, of rows, or one with the columns' names and the
data apart; promptfoo and inspect_ai keep results in a list among much else. What is within a row
there becomes columns with dots in their headings, such as “response.output”.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

import pandas as pd

from core.codec import one_line, quotes
from core.data.tabular.rows import SEVERAL, UploadError

Row = dict[str, Any]

_DEEPEST = 3  # keys to a list of rows
FLATTENED = 4  # keys of a heading
#: Lists within the rows of a list: of SQuAD, the questions on the paragraphs of its articles.
_NESTED = (("paragraphs", "qas"),)
#: Keys of an object that is a row by itself, whatever lists it holds.
_OF_A_ROW = frozenset({"question", "query", "prompt", "input"})
#: Keys of a log of Inspect, beside `eval`.
_OF_A_LOG = frozenset({"samples", "plan"})
_NUMBER = re.compile(r"-?\d+")
_SCALARS = (str, int, float, bool, type(None))


def rows_within(document: Row) -> tuple[list[Row], str] | None:
    """Return the rows of a table in an object, and a sentence on where they are; None without any.

    `document`: the object, as `json` reads it.

    Raises `UploadError` when two columns of it would have one heading, several tables have the same
    columns, or it is a log of Inspect without samples.
    """
    for shape in (_split, _with_schema, _columns, _lists, _by_number):
        rows = shape(document)
        if rows:
            return rows, "The file is a table as pandas writes it in JSON."
    if not _OF_A_ROW.isdisjoint(document):
        return None
    if rows := _by_id(document):
        return (rows, "The file has a row under each key; the keys are the column “id”.")
    lists = list(_lists_of_rows(document))
    if isinstance(document.get("eval"), dict) and not _OF_A_LOG.isdisjoint(document):
        lists = [each for each in lists if each[0] == "samples"]  # its settings hold lists, too
        if not lists:
            raise UploadError(
                "The file is a log of Inspect, and its “samples” is no list of objects: nothing "
                "was answered, or only its head was written. “inspect log dump FILE > log.json” "
                "writes a whole log."
            )
    path, rows = max(lists, key=_number_of_rows, default=("", []))
    if not rows:
        return None
    alike = [name for name, other in lists if other and other[0].keys() == rows[0].keys()]
    if len(alike) > 1:
        raise UploadError(SEVERAL.format(quotes(alike)))
    where = one_line(path)
    return [
        flat(row) for row in rows
    ], f"The rows were read from “{where}”; the rest of the file was left out."


def flat(row: Row) -> Row:
    """Return a row with nested parts as dotted columns; `UploadError` if two are called alike."""
    nested = any(type(value) is dict or type(value) is list for value in row.values())
    return _once(_flatten(row)) if nested else row


def without_empty_parents(table: pd.DataFrame) -> pd.DataFrame:
    """Leave out a column that is null where it is not its parts: “answers” of “answers.text”."""
    names = [*map(str, table.columns)]
    parents = {name[:at] for name in names for at, sign in enumerate(name) if sign == "."}
    empty = [n for n in names if n in parents and table[n].isin(("", "{}")).to_numpy().all()]
    return table.drop(columns=empty)


def _once(cells: Iterable[tuple[str, Any]]) -> Row:
    """Return a row whose headings must not be twice: one value would be lost unnoticed."""
    pairs = list(cells)
    row = dict(pairs)
    if len(row) < len(pairs):
        twice = Counter(heading for heading, _ in pairs).most_common(1)[0][0]
        raise UploadError(
            f"The table in the file has the column “{one_line(twice)}” more than once; rename one "
            "of them."
        )
    return row


def _split(document: Row) -> list[Row] | None:
    """Read `{"columns": […], "index": […], "data": [[…], …]}`."""
    names, data = document.get("columns"), document.get("data")
    if not isinstance(names, list) or not isinstance(data, list):
        return None
    if not all(isinstance(row, list) and len(row) == len(names) for row in data):
        return None
    headings = [*map(str, names)]
    return [_once(zip(headings, row, strict=True)) for row in data]


def _with_schema(document: Row) -> list[Row] | None:
    """Read `{"schema": {…}, "data": [{"question": …, "score": …}, …]}`."""
    rows = document.get("data")
    if not isinstance(document.get("schema"), dict) or not isinstance(rows, list):
        return None
    return rows if all(isinstance(row, dict) for row in rows) else None


def _columns(document: Row) -> list[Row] | None:
    """Read `{"question": {"0": …, "1": …}, "score": {"0": …, "1": …}}`."""
    columns = list(document.values())
    if not columns or not all(isinstance(column, dict) and column for column in columns):
        return None
    places = columns[0].keys()
    if any(column.keys() != places for column in columns) or not _numbers(places):
        return None
    return [{name: column[place] for name, column in document.items()} for place in places]


def _by_number(document: Row) -> list[Row] | None:
    """Read `{"0": {"question": …, "score": …}, "1": {…}}`."""
    rows = list(document.values())
    if not rows or not _numbers(document) or not all(isinstance(row, dict) for row in rows):
        return None
    return rows


def _by_id(document: Row) -> list[Row] | None:
    """Read `{"q1": {"question": …, "score": …}, "q2": {…}}`; the key becomes the column “id”."""
    rows = list(document.values())
    if len(rows) < 2 or not all(isinstance(row, dict) and len(row) > 1 for row in rows):
        return None
    if "id" in rows[0] or any(row.keys() != rows[0].keys() for row in rows):
        return None
    return [{"id": key, **flat(row)} for key, row in document.items()]


def _lists(document: Row) -> list[Row] | None:
    """Read `{"question": […], "score": […]}`, lists of plain values, all equally long."""
    lists = list(document.values())
    if len(lists) < 2 or not all(isinstance(each, list) and each for each in lists):
        return None
    if len({len(each) for each in lists}) > 1:
        return None
    if not all(isinstance(value, _SCALARS) for each in lists for value in each):
        return None
    return [dict(zip(document, row, strict=True)) for row in zip(*lists, strict=True)]


def _numbers(keys: Any) -> bool:
    return all(_NUMBER.fullmatch(key) for key in keys)


def _lists_of_rows(
    document: Row, before: str = "", depth: int = 1
) -> Iterator[tuple[str, list[Row]]]:
    for key, value in document.items():
        path = f"{before}{key}"
        if isinstance(value, dict) and depth < _DEEPEST:
            yield from _lists_of_rows(value, f"{path}.", depth + 1)
        if isinstance(value, list) and value and all(isinstance(row, dict) for row in value):
            yield path, value
            for keys in _NESTED:
                yield ".".join((path, *keys)), _within(value, keys)


def _number_of_rows(each: tuple[str, list[Row]]) -> tuple[int, int]:
    path, rows = each
    return len(rows), path.count(".")  # of two as long, the inner one


def _within(rows: list[Row], keys: tuple[str, ...]) -> list[Row]:
    """Return the objects in lists of lists, by the key of each list in the one before."""
    for key in keys:
        lists = (row.get(key) for row in rows)
        rows = [item for each in lists if isinstance(each, list) for item in each]
        rows = [row for row in rows if isinstance(row, dict)]
    return rows


def _by_name(items: list[Any]) -> Row:
    """Return metrics of one row by their names: `[{"name": "Faithfulness", "score": 1}, …]`."""
    if not all(isinstance(item, dict) and "name" in item and "score" in item for item in items):
        return {}
    return {str(item["name"]): item for item in items}


def _flatten(row: Row, before: str = "", depth: int = 1) -> Iterator[tuple[str, Any]]:
    for key, value in row.items():
        if isinstance(value, list) and (metrics := _by_name(value)):
            value = metrics
        if isinstance(value, dict) and value and depth < FLATTENED:
            yield from _flatten(value, f"{before}{key}.", depth + 1)
        else:
            yield f"{before}{key}", value
