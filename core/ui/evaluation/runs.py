"""The runs of this machine: whose they are, where they are, and the jobs that ask.

A run is a folder beside the database. Its name is a hash of whose it is and of all that it asks,
so that whoever asks for the same again goes on with the same run. Nobody finds the runs of another
person. Those of a session in which nobody signed in open for whoever has their address, because
after a reload of the page nobody else could end them; nobody can guess it.
"""

import hashlib
import os
import re
import shutil
import tempfile
import threading
import time
import weakref
from contextlib import suppress
from dataclasses import astuple
from functools import partial
from pathlib import Path
from typing import Final

from core.codec import encode
from core.language_models.client.stack import limit
from core.language_models.errors import ModelError
from core.language_models.language_model import SAMPLING_RULE
from core.outputs import write
from core.store.errors import StoreError
from core.store.results import THIS_COMPUTER
from core.studies.evaluation.local import Task
from core.studies.evaluation.resumption import QUESTIONS, questions_in, save
from core.studies.evaluation.run import Questions, RunOutcome, evaluate, most, pipeline_for
from core.studies.evaluation.run_folder import MANIFEST, RunError, hold, writing
from core.studies.evaluation.saved_run import Run
from core.studies.progress import Progress, silent
from core.ui.runs.job import Job
from core.ui.session import alone, owner, shared_thing, this_session
from core.ui.storage import storage

FOLDER: Final = "runs"
MOST_SHARED: Final = 2_000  # questions of a run where several people use a server
MOST_ALONE: Final = 100_000  # questions; a larger run is one for the command line
MOST_RUNS: Final = 20  # of one person where several use a server
MOST_OF_SESSIONS: Final = 100  # of all sessions in which nobody signed in: the newest
#: A file in the folder of a run: how many were begun before. A clock that goes backwards would
#: have the newest run deleted as the oldest.
NUMBER: Final = "number"
_KEY: Final = re.compile("[0-9a-f]{32}")
_SESSION: Final = "session"
_WAIT = 0.1  # seconds
_ENDING = 10.0  # seconds that a cancelled run may take to end before it is deleted


def most_questions() -> int:
    """Return how many questions a run may have."""
    return MOST_ALONE if alone() else MOST_SHARED


class Runs:
    """The runs below a folder.

    `root`: made where there is none.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self._jobs: dict[Path, Job[RunOutcome]] = {}  # the last one of each folder
        self._lock = threading.Lock()

    def own(self) -> list[Path]:
        """Return the folders of the runs of who looks at the page, the newest first."""
        manifests = (self.root / _folder_name(owner())).glob(f"*/{MANIFEST}")
        return [each.parent for each in sorted(manifests, key=_order, reverse=True)]

    def find(self, key: str) -> Path | None:
        """Return the folder of a run that who looks at the page may see; None without one."""
        if not _KEY.fullmatch(key):
            return None
        own = self.root / _folder_name(owner()) / key
        for folder in (own, *self.root.glob(f"{_SESSION}-*/{key}")):
            if (folder / MANIFEST).exists():
                return folder
        return None

    def folder_of(self, questions: Questions, task: Task) -> Path:
        """Return the folder of a run, which need not be there yet: the same for the same run."""
        whose = owner()
        identity = (*astuple(pipeline_for(task)), str(task.model.form), task.request.seed)
        what = encode([whose, questions.sha256, *identity, SAMPLING_RULE])
        key = hashlib.sha256(what.encode()).hexdigest()[:32]
        return self.root / _folder_name(whose) / key

    def make_room(self, folder: Path) -> None:
        """See to it that a run may be saved in a folder.

        Raises `RunError` when there are too many.
        """
        if (folder / MANIFEST).exists() or alone():
            return
        if len(self.own()) >= MOST_RUNS:
            raise RunError(
                f"You have {MOST_RUNS} runs, the most that this server saves of one visitor. "
                "Delete one, then start again."
            )
        others = self.root.glob(f"{_SESSION}-*/*/{MANIFEST}")
        for old in sorted(others, key=_order, reverse=True)[MOST_OF_SESSIONS:]:
            with suppress(RunError):  # it is being written to
                self.delete(old.parent)

    def prepare(
        self, questions: Questions, task: Task, folder: Path, progress: Progress = silent
    ) -> None:
        """Save all that a run asks in its folder, unless it is there.

        Raises `RunError` when it cannot be written.
        """
        if not (folder / MANIFEST).exists():
            try:
                with writing(folder):
                    self._count(folder)
                save(questions, task, folder, progress)
            except RunError as error:
                raise RunError(complaint(error, folder)) from error

    def _count(self, folder: Path) -> None:
        """Give a run its number, which is larger than that of any other."""
        with self._lock:
            numbers = map(_number, (file.parent for file in self.root.glob(f"*/*/{NUMBER}")))
            largest = max(numbers, default=0)
            folder.mkdir(parents=True, exist_ok=True)
            write(folder / NUMBER, f"{largest + 1}\n")

    def start(self, run: Run, task: Task, *, again: bool = False) -> Job[RunOutcome]:
        """Start a run, go on with it, or find the job that does.

        `again`: whether questions that failed before are asked once more.
        """
        folder = run.folder
        with self._lock:
            if (job := self.join(folder)) is not None:
                return job
            before = self._jobs.get(folder)

            def work(job: Job[RunOutcome]) -> RunOutcome:
                try:
                    while before is not None and not before.done:
                        job.progress("Waiting for the cancelled run to end", 0.0)
                        time.sleep(_WAIT)
                    questions = questions_in(run, job.progress)
                    if job.is_paid:
                        left = run.unfinished_questions(questions.number, again=again)
                        limit(task.model, offered := most(questions, task, left))
                        job.most = offered.requests
                    return evaluate(questions, task, folder, job.progress, again=again)
                except (RunError, StoreError) as error:  # a person can act on these
                    raise ModelError(complaint(error, folder)) from error

            for ended in [there for there, old in self._jobs.items() if old.done]:
                del self._jobs[ended]
            self._jobs[folder] = Job(work, task.model, has_address=True)
            return self._jobs[folder]

    def join(self, folder: Path) -> Job[RunOutcome] | None:
        """Return the job that is adding to a run, which is this session's, too, from now on."""
        job = self._jobs.get(folder)
        if job is None or not self.is_running(folder):
            return None
        job.join(this_session())
        return job

    def is_running(self, folder: Path) -> bool:
        """Return whether somebody's job is adding to a run."""
        job = self._jobs.get(folder)
        return job is not None and not job.done and not job.cancelling

    def delete(self, folder: Path) -> None:
        """Delete a run.

        Raises `RunError` when it is being written to.
        """
        if (job := self._jobs.get(folder)) is not None and job.cancelling:
            job.wait(_ENDING)
        with hold(folder):
            try:
                shutil.rmtree(folder)
            except OSError as error:
                raise RunError(f"The run cannot be deleted: {error.strerror}.") from error
        self._jobs.pop(folder, None)


def runs() -> Runs:
    """Return the runs of this machine; of this session alone in a public demo."""
    beside = storage().folder  # before: who makes what is shared may ask for nothing shared
    return shared_thing("evaluation_runs", partial(runs_beside, beside))


def complaint(error: Exception, folder: Path) -> str:
    """Return what is wrong with a run, without the names of the server's folders."""
    inside = str(error).replace(f"{folder}{os.sep}", "")
    inside = inside.replace(f" {folder}", " the folder of this run")
    return inside.replace(str(folder), "The folder of this run").replace(
        ", or choose another folder", ""
    )


def runs_beside(beside: Path | None) -> Runs:
    """Return the runs in a folder; without one, in a temporary folder that goes with them."""
    if beside is not None:
        return Runs(beside / FOLDER)
    root = tempfile.mkdtemp(prefix="believe-runs-")
    runs = Runs(Path(root))
    weakref.finalize(runs, shutil.rmtree, root, ignore_errors=True)
    return runs


def _folder_name(whose: str) -> str:
    kind = "here" if whose == THIS_COMPUTER else whose.partition(" ")[0]
    return f"{kind}-{hashlib.sha256(whose.encode()).hexdigest()[:32]}"


def _order(manifest: Path) -> tuple[int, float]:
    """Return what orders runs; those from before there were numbers by when they were begun."""
    when = 0.0
    with suppress(OSError):
        when = (manifest.parent / QUESTIONS).stat().st_mtime
    return _number(manifest.parent), when


def _number(folder: Path) -> int:
    with suppress(OSError, ValueError):
        return int((folder / NUMBER).read_text(encoding="ascii"))
    return 0
