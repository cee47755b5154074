"""Resuming a run from its folder alone: its questions are saved beside its rows.

A file that somebody uploaded is gone with the page; what the run asks has to stay.
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final

from core.data.datasets.questions import Question, read_questions, write_questions
from core.data.tabular.rows import UploadError
from core.language_models.language_model import LanguageModel
from core.studies.evaluation.local import Task
from core.studies.evaluation.run import (
    Questions,
    begin,
    pipeline_for,
    reading_in,
    reporting,
    survey,
)
from core.studies.evaluation.run_folder import RunError, hold, writing
from core.studies.evaluation.saved_run import Run
from core.studies.inspection.request import InvalidRequestError, Request, Sampling
from core.studies.progress import Progress, silent
from core.uncertainty.similarity import JUDGE

QUESTIONS: Final = "questions.jsonl"


def save(questions: Questions, task: Task, folder: Path, progress: Progress = silent) -> None:
    """Write what a run is to ask; nothing is asked yet.

    Raises `RunError` when the folder holds another run, or cannot be written.
    """
    with hold(folder) as files:
        with writing(folder):
            every = reporting(questions.read(), questions.number, "Saving the questions", progress)
            write_questions(every, folder / QUESTIONS)
        begin(files, questions, task)


def questions_in(run: Run, progress: Progress = silent) -> Questions:
    """Return the questions of a saved run; raise `RunError` if they are gone or changed."""
    path = run.folder / QUESTIONS
    if not path.exists():
        raise RunError(f"{run.folder} does not hold its questions, so it cannot be continued.")
    read, number = partial(read_questions, path), int(run.manifest["questions"]["number"])

    def questions() -> Iterator[Question]:
        return reporting(read(), number, "Reading the questions", progress)

    try:
        reader = survey(str(run.manifest["questions"]["name"]), questions)
    except UploadError as error:
        raise RunError(f"The questions of this run cannot be read: {error}") from error
    if reader.sha256 != run.manifest["questions"]["sha256"]:
        raise RunError("The questions of this run were changed, so it cannot be continued.")
    return replace(reader, read=read, reading=reading_in(run.manifest))


def task_in(run: Run, model: LanguageModel) -> Task:
    """Return how a run asks its questions, of the model that it asks.

    Raises `RunError` when that is another model, or it was asked otherwise.
    """
    pipeline = run.pipeline
    if pipeline.model != model.name:
        raise RunError(f"This run asks {pipeline.model}. Choose it under “Model” to go on.")
    try:
        request = Request(
            "any",
            pipeline.samples,
            pipeline.temperature,
            int(run.manifest["seed"]),
            pipeline.similarity == JUDGE,
            Sampling(pipeline.sampling),
            pipeline.answer_tokens,
            system=str(run.manifest.get("system", "")),
        )
        task = Task(model, request, run.reading, pipeline.least_mass)
        different = pipeline.differences(pipeline_for(task))
    except (InvalidRequestError, LookupError, TypeError, ValueError) as error:
        raise RunError("How this run asks cannot be read: its run.json was changed.") from error
    if different:
        raise RunError(
            f"This run was begun by another version of model or rules: {'; '.join(different)}. "
            "Begin a new one; its rows stay."
        )
    return task
