"""The runs that come with the program: whole, small, and never written to."""

import pytest

from core.studies.evaluation.bundled import PROVENANCE, folders
from core.studies.evaluation.saved_run import Run

ROWS, ALL = 1_000_000, 3_000_000  # bytes


def content(folder):
    return {file.name: file.read_bytes() for file in folder.iterdir()}


def test_the_embedded_models_is_the_first():
    name, *_ = folders()
    assert Run(folders()[name]).pipeline.model == "embedded"


@pytest.mark.parametrize("name", list(folders()))
def test_a_bundled_run_is_finished_small_and_opens_without_being_written_to(name):
    folder = folders()[name]
    before = content(folder)
    assert sum(map(len, before.values())) < ALL
    assert sum(len(file) for name, file in before.items() if name.startswith("rows")) < ROWS
    run = Run(folder)
    rows = run.rows()
    is_recorded = (folder / PROVENANCE).is_file()
    assert rows.table.num_rows == run.finished_questions > 0
    assert is_recorded or run.finished_questions == run.manifest["questions"]["number"]
    # As on the pages; SmolLM2 as in the paper.
    asked = ("drawn", 10) if name == "smollm2_real_questions" else ("likeliest", 8)
    assert run.manifest["ended"] and (run.pipeline.sampling, run.pipeline.samples) == asked
    id = rows.table["id"][0].as_py()
    assert run.inspection(id).query == rows.table["query"][0].as_py()
    assert content(folder) == before
