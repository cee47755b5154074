"""Labels of the same answers by another rule: shown beside those that count."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.data.tabular.columns import column_of
from core.data.tabular.headings import RULES
from core.data.tabular.labels import own_labels
from core.data.tabular.uploads import Upload


@dataclass(frozen=True)
class OtherLabels:
    """Whether a score's answers are right by another rule than the one that counts."""

    column: str
    rule: str  # in words; "" where the heading does not name it
    right: NDArray[np.bool_]  # (n,)


def other_labels(
    upload: Upload, correct: Mapping[str, str], rows: NDArray[np.int64]
) -> dict[str, OtherLabels]:
    """Return the labels by another rule, of scores that have some in every row that is used."""
    others = {}
    for score, label in correct.items():
        own = own_labels(upload, score)
        rule, name = next(((r, n) for r, n in own.items() if n != label), ("", ""))
        if name and label in own.values():
            right = column_of(upload, name).correctness()[rows]
            if not np.isnan(right).any():
                others[score] = OtherLabels(name, RULES.get(rule, ""), right == 1)
    return others
