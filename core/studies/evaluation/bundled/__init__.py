"""Runs that come with the program (`benchmarks/bundled_runs.py` makes them): a folder each."""

from pathlib import Path

FOLDER = Path(__file__).parent
REAL = "smollm2_real_questions"
#: Runs with questions by which the weights of the weighted doubt were chosen
#: (`benchmarks.default_policy --weights`): no new rows for it.
CHOSE_WEIGHTS = ("embedded_world", REAL)
#: Beside the rows of a model that does not come with the program: which it was, and what it was
#: asked. It is read where Parquet takes too long to load.
PROVENANCE = "provenance.json"


def folders() -> dict[str, Path]:
    """Return the folders of the bundled runs by their names, the embedded model's first."""
    manifests = sorted(FOLDER.glob("*/run.json"), key=lambda each: each.parent.name)
    return {each.parent.name: each.parent for each in manifests}
