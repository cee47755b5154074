"""A run that tests of several modules read."""

import shutil

import pytest

from core.language_models.errors import RefusedError
from core.studies.evaluation import run_folder
from core.studies.evaluation.run import evaluate
from core.studies.evaluation.saved_run import Run
from tests.studies.evaluation.worlds import World, questions, surveyed, task


@pytest.fixture(scope="session")
def sixty(tmp_path_factory):
    """Of sixty questions, in several parts, two failed."""
    folder, broken = tmp_path_factory.mktemp("runs"), dict.fromkeys((5, 11), RefusedError("No."))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(run_folder, "PART", 19)
        evaluate(surveyed(questions(60)), task(World(broken)), folder)
    return folder


@pytest.fixture
def made(sixty, tmp_path, monkeypatch):
    """That run in a folder of one's own, which a test may change."""
    monkeypatch.setattr(run_folder, "PART", 19)
    return Run(shutil.copytree(sixty, tmp_path / "run"))
