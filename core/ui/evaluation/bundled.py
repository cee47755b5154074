"""A run that comes with the program is the same for all: read and measured once a process.

Anybody may see it, and nobody changes it. What a person filters is their own, and so are other
runs: of these, nothing leaves the session.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Final

from core.once import once
from core.studies.evaluation.bundled import FOLDER
from core.studies.evaluation.reading import Run
from core.studies.evaluation.results import Results, RunMeasures, read_results
from core.ui.runs.job import Job
from core.ui.runs.registry import Registry

JOBS: Final = Registry()  # at most one a bundled run


def is_bundled(run: Run) -> bool:
    """Say whether a run comes with the program."""
    return run.folder.parent == FOLDER


@once
def rows_of(folder: Path) -> Results:
    """Return all rows of a bundled run that count: one object for everybody."""
    return read_results(Run(folder))


def is_everybodys(rows: Results) -> bool:
    """Say whether these are all rows of a bundled run, unfiltered."""
    return is_bundled(rows.run) and rows is rows_of(rows.run.folder)


def measuring(rows: Results, work: Callable[[Job[RunMeasures]], RunMeasures]) -> Job[RunMeasures]:
    """Start measuring rows; find the job that does, or has, where they are everybody's."""
    return JOBS.start(rows, work) if is_everybodys(rows) else Job(work)
