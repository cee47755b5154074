"""What the tests of calibration have in common."""

import numpy as np
import pytest

from core.data.tabular import fingerprints

find = fingerprints.of_questions
KNOWN: dict[str, np.uint64] = {}


@pytest.fixture(autouse=True)
def known_questions(monkeypatch):
    """Thousands of tables hold the same few thousand questions: each gets its number once."""

    def numbers(texts):
        if new := [text for text in texts if text not in KNOWN]:
            KNOWN.update(zip(new, find(np.array(new, object)), strict=True))
        return np.array([KNOWN[text] for text in texts], np.uint64)

    monkeypatch.setattr(fingerprints, "of_questions", numbers)
