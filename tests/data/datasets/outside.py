"""Real datasets, which are not in the repository."""

import os
from pathlib import Path

import pytest


def outside(path):
    folder = os.environ.get("BELIEVE_TEST_DATA")
    if not folder:
        pytest.skip("BELIEVE_TEST_DATA names no folder with outside data")
    return Path(folder) / path
