"""What a calibration spends of δ: which look at its labels it is, and what was looked at before.

A target is one look and its groups are another; whoever asks for the list of prices has a third.
The rule is that of `core.abstention.ledger`; `core.store.labels.Looks` keeps the looks.
"""

import hashlib
import json
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from core.abstention.ledger import ALIKE, Look, Rows, from_text, look, related_looks, to_text
from core.codec import LARGEST, count_of, one_line, text_of
from core.data.tabular.fingerprints import fingerprints
from core.data.tabular.labelled_rows import LabelledRows
from core.store.errors import UnknownLookError
from core.store.labels import UNKNOWN_LOOK

_ROWS = "rows", "cells"  # that are numbers


def look_at(
    data: LabelledRows,
    scores: Sequence[str],
    what: Sequence[object],
    about: str,
    earlier: Sequence[Look],
    *,
    is_best: bool = False,
    shown: Sequence[str] = (),
) -> Look:
    """Return the look at scores of all rows, tested together.

    `what` is all else that makes it this look and no other, as JSON knows it; `about` says in words
    what was looked at. `is_best`: of the best of these scores, for seeing them all before, and no
    other, was no choice. `shown`: which scores are shown with it.
    """
    rows = fingerprints(data, scores[0])
    setting = hashlib.blake2b(json.dumps(list(what)).encode(), digest_size=16)
    for name in sorted(scores):
        setting.update(_of_score(data, name, rows))
    if len(shown) > len(scores):  # who sees more may choose more afterwards
        setting.update(str(len(shown)).encode())
    about = f"{about}, {count_of(len(data.kept), 'row')} of {one_line(data.name)}"
    cells, orders = data.contents
    best_of = scores if is_best else ()
    return look(
        *(setting.hexdigest(), about, rows, earlier),
        cells=cells,
        orders=orders,
        best_of=best_of,
        shown=shown or scores,
        named=scores[0] if len(scores) == 1 else "",
    )


def looks_before(current: Look, looks: Sequence[Look]) -> list[str]:
    """Return what was looked at before on labels of a look, in words."""
    related = related_looks(current.rows, looks, current.cells, current.orders)
    before = [each for each in related if each.place < current.place]
    return [
        each.about + ("" if np.isin(each.rows, current.rows).any() else ALIKE)
        for each in sorted(before, key=lambda each: each.place)
    ]


def other_batches(current: Look, looks: Sequence[Look]) -> int:
    """Return how many tests before one asked the same of other labels: any may pass by chance."""
    related = related_looks(current.rows, looks, current.cells, current.orders)
    same = [each for each in looks if _what(each) == _what(current) and not each.is_view]
    return len({each.setting for each in same} - {each.setting for each in (*related, current)})


def _what(of: Look) -> str:
    return re.split(r", [\d,]+ row", of.about)[0]


def to_json(each: Look) -> str:
    """Return a look as text, to be saved."""
    texts = {name: to_text(getattr(each, name)) for name in _ROWS}
    return json.dumps({**vars(each), **texts, "orders": [to_text(of) for of in each.orders]})


def from_json(setting: str, text: str) -> Look:
    """Return a look that this program saved; or raise `UnknownLookError`.

    A database may have been edited, and a later version may say more of a look.
    """
    try:
        fields: dict[str, Any] = json.loads(text)
        fields |= {name: from_text(fields.get(name, "")) for name in _ROWS}
        fields |= {"scores": tuple(map(text_of, fields.get("scores", ())))}
        fields |= {"orders": [from_text(of) for of in fields.get("orders", ())]}
        fields.pop("totals", None)  # of an earlier version
        each = Look(**fields | {"setting": setting})
        text_of(each.about), text_of(each.named)
        numbers = each.place, each.number, each.is_view
        if not (list(map(type, numbers)) == [int, int, bool] and 1 <= each.place <= LARGEST):
            raise ValueError("a number of a look is invalid")
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        raise UnknownLookError(UNKNOWN_LOOK) from error
    return each


def _of_score(data: LabelledRows, name: str, rows: Rows) -> bytes:
    """Return a hash of a score with its labels, whatever order the rows are in."""
    doubts, correct = data.doubts[name], data.correct[name]
    order = np.lexsort((correct, doubts, rows))
    content = rows[order].tobytes() + doubts[order].tobytes() + correct[order].tobytes()
    return hashlib.blake2b(content).digest()
