"""Tables of one score a row, as Langfuse exports them: one row a trace, one column a score."""

import re

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from core.codec import count_of, list_of, one_line
from core.data.tabular.rows import UploadError, check_heading, check_size

#: Of headings without case, white space, _ and -: exports of the page and the API write traceId,
#: those to a bucket trace_id.
_NEEDED = frozenset({"traceid", "name", "value"})
_TELLING = frozenset({"stringvalue", "datatype"})
_NUMBERS = frozenset({"NUMERIC", "BOOLEAN"})  # of the others, the number is the place in a list
_NOTHING = frozenset({"", "null"})


def one_row_a_trace(
    table: pd.DataFrame, lines: NDArray[np.int64], notes: list[str]
) -> tuple[pd.DataFrame, NDArray[np.int64]]:
    """Return a table of single scores as one of traces; any other as it is.

    A score that several sources gave (a person, a judge) becomes a column for each of them. `lines`
    is where each row begins; of a trace, where its first score does. `notes` gets a sentence for
    what was decided.

    Raises `UploadError` when a trace has two scores of one name, or there are too many names.
    """
    roles: dict[str, str] = {}
    for heading in table.columns:
        roles.setdefault(re.sub(r"[\s_-]", "", heading).casefold(), heading)
    if not roles.keys() >= _NEEDED or not _TELLING & roles.keys():
        return table, lines
    of_trace = ~table[roles["traceid"]].isin(_NOTHING).to_numpy()
    if not of_trace.any():
        return table, lines
    table, lines = table[of_trace].reset_index(drop=True), lines[of_trace]
    scores, cells = _names(table, roles), _cells(table, roles)
    items = _items(table, roles, scores)
    columns = scores.unique().tolist()
    firsts = items.drop_duplicates().index.to_numpy()
    of_score = {roles[role] for role in (_NEEDED | _TELLING | {"source", "id"}) & roles.keys()}
    of_trace_alone = [
        name
        for name in table.columns
        if name == roles["traceid"]
        or (name not in of_score and _is_constant(table[name], items, firsts))
    ]
    check_size(len(firsts), len(of_trace_alone) + len(columns))
    for name in columns:
        check_heading(name)
    values = np.full((len(firsts), len(columns)), "", object)
    values[items.to_numpy(), pd.factorize(scores)[0]] = cells.to_numpy(object)
    wide = pd.DataFrame(values, columns=columns, dtype="str")
    named = list_of([f"“{one_line(name)}”" for name in columns])
    notes.append(
        f"Each row held one score of a trace; now each of {count_of(len(firsts), 'trace')} is a "
        f"row, with its scores as columns: {named}."
    )
    if missing := int(np.count_nonzero(~of_trace)):
        notes.append(f"Left out, as they belong to no trace: {count_of(missing, 'score')}.")
    whole = table.loc[firsts, of_trace_alone].reset_index(drop=True)
    return pd.concat([whole, wide], axis=1), lines[firsts]


def _names(table: pd.DataFrame, roles: dict[str, str]) -> pd.Series:
    """Return which column each row's score belongs to."""
    names = table[roles["name"]]
    if "source" not in roles:
        return names
    sources = table[roles["source"]]
    several = sources.groupby(names).transform("nunique") > 1
    return names.where(~several, names + " (" + sources + ")")


def _cells(table: pd.DataFrame, roles: dict[str, str]) -> pd.Series:
    """Return what each row's score says: a category's text, and not its place in a list."""
    values = table[roles["value"]]
    if "stringvalue" not in roles:
        return values
    texts = table[roles["stringvalue"]]
    if "datatype" in roles:
        return values.where(table[roles["datatype"]].isin(_NUMBERS), texts)
    return values.where(texts.isin(_NOTHING), texts)


def _items(table: pd.DataFrame, roles: dict[str, str], scores: pd.Series) -> pd.Series:
    """Return the number of the trace, or of its part, that each row's score is of."""
    keys: list[str] = []
    for role in ("traceid", "observationid"):
        if role in roles:
            keys.append(roles[role])
            items = table.groupby(keys, sort=False).ngroup()
            twice = pd.DataFrame({"item": items, "score": scores}).duplicated().to_numpy()
            if not twice.any():
                return items
    at = int(np.flatnonzero(twice)[0])
    raise UploadError(
        f"The trace “{one_line(table[roles['traceid']][at])}” has several scores called "
        f"“{one_line(scores[at])}”, and nothing says which of them counts. Keep one of each name "
        "for each trace."
    )


def _is_constant(column: pd.Series, items: pd.Series, firsts: NDArray[np.int64]) -> bool:
    """Whether a column says one thing of each item."""
    first = column.to_numpy(object)[firsts][items.to_numpy()]
    return bool((column.to_numpy(object) == first).all())
