"""Runs that come with the program (`benchmarks/bundled_runs.py` makes them): a folder each."""

from __future__ import annotations

from pathlib import Path

from core.studies.evaluation.files import MANIFEST

FOLDER = Path(__file__).parent
REAL = "smollm2_real_questions"


def folders() -> dict[str, Path]:
    """Return the folders of the bundled runs by their names, the embedded model's first."""
    manifests = sorted(FOLDER.glob(f"*/{MANIFEST}"), key=lambda each: each.parent.name)
    return {each.parent.name: each.parent for each in manifests}
