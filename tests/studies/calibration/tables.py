"""Labelled rows as a file with them would be read, for tests that draw them."""

import numpy as np

from core.data.tabular.labelled_rows import LabelledRows


def rows_of_arrays(doubts, correct, **others):
    """Rows with the doubts and labels of each score, by its name; each of another question."""
    n = len(next(iter(doubts.values())))
    usual = {
        "queries": np.array([f"q{i}" for i in range(n)], object),
        "sources": np.full(n, "", object),
        "entropies": None,
        "kept": np.arange(n),
        "numbered": None if "queries" in others else np.arange(n),
    }
    return LabelledRows(
        name="drawn.csv",
        sha256="0" * 64,
        doubts=doubts,
        correct=correct,
        surer=dict.fromkeys(doubts, False),
        pipeline="",
        problems=(),
        **(usual | others),
    )
