"""Tables put one below the other: their headings stand among the rows, and are no rows."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from core.codec import list_of
from core.data.tabular.rows import UploadError


def without_headings(
    table: pd.DataFrame,
    headings: Sequence[str],
    lines: NDArray[np.int64],
    unit: str,
    notes: list[str],
) -> tuple[pd.DataFrame, NDArray[np.int64]]:
    """Return the rows of a table, and where they are, but for those that repeat its headings.

    `lines` is where each row begins, counted in `unit`; `notes` gets a sentence on the rows left
    out.

    Raises `UploadError` when a row holds most headings in their places, or all in others: the
    columns below it mean something else. Also when no row is left.
    """
    names = [text.strip().lower() for text in headings]
    words = {name for name in names if name.strip(".0123456789")}
    if len(words) < 2:  # a single word may be an answer, and numbers are no headings
        return table, lines
    in_place, anywhere = (np.zeros(len(table), np.int64) for _ in range(2))
    for place, name in enumerate(names):
        column = table.iloc[:, place].str.strip().str.lower()
        in_place += ((column == name) & bool(name)).to_numpy(bool)
        anywhere += column.isin(names).to_numpy(bool)
    again = (in_place == sum(map(bool, names))) & (anywhere == len(names))
    moved = (2 * in_place > len(names)) | ((anywhere == len(names)) & (len(names) > 2))
    for row in np.flatnonzero(moved & ~again):
        texts = [text.strip().lower() for text in table.iloc[row]]
        if 2 * in_place[row] > len(names) or sorted(texts) == sorted(names):
            raise UploadError(
                f"In {unit} {lines[row]} stand headings again, and not as in the first: another "
                "table begins there. Give each table by itself, or with the same columns."
            )
    if not again.any():
        return table, lines
    where = list_of([str(line) for line in lines[again]])
    one = unit.capitalize()
    notes.append(f"{one}{'s' if again.sum() > 1 else ''} {where}: the headings again (left out).")
    if again.all():
        raise UploadError("The file has a heading and no rows; add at least one row.")
    return table[~again].reset_index(drop=True), lines[~again]
