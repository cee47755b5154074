"""A run: every question of a dataset asked once, whatever ends the process in between.

`evaluate` begins a run, or goes on with one. The questions are read as a stream and rows are
written as they come, so that neither gathers in memory.
"""

import hashlib
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, Final

from core.abstention.policy import Pipeline, PolicyError, pipeline_from_dict
from core.codec import encode, list_of
from core.data.datasets.draw import random_order
from core.data.datasets.questions import Question
from core.data.datasets.summary import DatasetSummary
from core.language_models.errors import UnreachableError
from core.language_models.language_model import SAMPLING_RULE
from core.studies.costs import Plan, most_tokens, plan, several_tokens
from core.studies.evaluation.local import Engine, Task, local
from core.studies.evaluation.pace import Pace
from core.studies.evaluation.rows import Row
from core.studies.evaluation.run_folder import FORMAT, VERSION, RunError, RunFiles, hold
from core.studies.inspection.pipeline import pipeline_of
from core.studies.inspection.request import MAX_QUERY_CHARACTERS
from core.studies.progress import Progress, silent
from core.studies.versions import versions

#: So many questions one after the other that could not reach the service end a run.
MOST_UNREACHABLE: Final = 5
#: The seed of the random order in which questions are asked; not in the manifests of older runs.
ORDER: Final = "order"


@dataclass(frozen=True)
class Questions:
    """The questions of a run, which can be read as often as it takes."""

    name: str  # of the file
    # Returns an iterator over them, in the same order each time.
    read: Callable[[], Iterator[Question]]
    number: int
    # For what it costs: the question of most tokens, behind a character that may take several if
    # another one has such.
    longest: str
    sha256: str  # of all that counts in them
    reading: tuple[str, ...] = ()  # what they were read as, in words: a run stores it
    malformed: int = 0  # how many rows of the file were left out because they ask nothing
    longest_context: str = ""  # "" where the questions have none


def survey(
    name: str, read: Callable[[], Iterator[Question]], meaning: Iterable[str] = ()
) -> Questions:
    """Read all questions once.

    `meaning`: which column means what, in words: `AnswerKey.sentences`.

    Raises `UploadError` out of `read`, before anything is asked.
    """
    digest, longest, context, several, malformed = hashlib.sha256(), "", "", "", 0
    reading = DatasetSummary()
    for question in read():
        reading.add(question)
        digest.update(_content(question))
        longest = max(longest, question.query, key=_length)
        context = max(context, question.context, key=_length)
        several = several or several_tokens(question.query + question.context)
        malformed += question.malformed_before
    longest = longest if several_tokens(longest) else several + longest
    sentences = (*meaning, *reading.sentences)
    sha256 = digest.hexdigest()
    return Questions(name, read, reading.number, longest, sha256, sentences, malformed, context)


def _length(text: str) -> tuple[int, int]:
    return most_tokens(text), len(text)


def _content(question: Question) -> bytes:
    """Return all that counts in a question."""
    whole: tuple[object, ...] = (
        *(question.id, question.query, question.answers, question.source),
        *([question.context] if question.context else []),
    )
    return f"{encode(whole)}\n".encode()


def _same_questions(questions: Questions) -> Iterator[Question]:
    """Yield all questions; raise `RunError` behind the last where they are others by now."""
    digest = hashlib.sha256()
    for question in questions.read():
        digest.update(_content(question))
        yield question
    if digest.hexdigest() != questions.sha256:
        raise RunError(
            f"{questions.name} has changed meanwhile. Choose another folder, and run it anew."
        )


def reporting(
    questions: Iterable[Question], number: int, stage: str, progress: Progress
) -> Iterator[Question]:
    """Yield questions, about so many, and report before each how far that is."""
    for at, question in enumerate(questions):
        progress(stage, min(at / max(number, 1), 1.0))
        yield question


@dataclass(frozen=True)
class RunOutcome:
    """What came of a run, or of going on with one."""

    # number, done, failed: questions, those that are finished, and those of them that failed.
    number: int
    done: int
    failed: int
    before: int  # how many were finished before
    seconds: float  # how long it took this time


def evaluate(
    questions: Questions,
    task: Task,
    folder: Path,
    progress: Progress = silent,
    *,
    engine: Engine = local,
    again: bool = False,
) -> RunOutcome:
    """Ask every question that has no row yet, and write its row into the run's folder.

    `progress` is called several times a second, in this thread, with how far it is, how fast it
    goes and how long it will take. It may raise to stop: what is finished is kept. The engine asks.
    `again`: questions that failed before are asked once more.

    Raises `RunError` when the folder holds another run or cannot be written, or the questions have
    changed meanwhile; and what ended the run, such as `UnreachableError` or `BudgetError`. Every
    finished question is kept.
    """
    with hold(folder) as files:
        manifest = begin(files, questions, task)
        done, failed = files.begin(again=again)
        before, started = len(done), time.monotonic()
        pace = Pace(questions.number, before)
        left = (each for each in _in_order(questions, manifest) if each.id not in done)
        number = before

        def tick(under_way: float) -> None:
            done = number + under_way
            progress(pace.sentence(number, failed, under_way), done / max(questions.number, 1))

        try:
            with closing(engine(left, task, tick)) as rows:
                for row in _reach(rows):
                    files.add(row)
                    number += 1
                    failed += row.is_failure
            files.end()
            manifest["ended"] = _now()
        finally:
            took = time.monotonic() - started
            manifest["seconds"] = round(manifest["seconds"] + took, 3)
            files.write_manifest(manifest)
        return RunOutcome(questions.number, number, failed, before, took)


def _in_order(questions: Questions, manifest: Mapping[str, Any]) -> Iterator[Question]:
    """Return the questions as they are asked; a run of before then goes on in the file's order."""
    seed, read = manifest.get(ORDER), partial(_same_questions, questions)
    return read() if seed is None else random_order(read, questions.number, seed)


def most(questions: Questions, task: Task, left: int) -> Plan:
    """Return the most that so many of the questions can take of a service."""
    longest = questions.longest[:MAX_QUERY_CHARACTERS]  # what is longer is refused
    each = plan(replace(task.request, query=longest), task.model.capabilities)
    return Plan(*(left * used for used in asdict(each).values()))


def _reach(rows: Iterable[Row]) -> Iterator[Row]:
    """Yield rows; hold those back that reached nobody until another one shows who is at fault.

    Raises `UnreachableError` when several in a row reached nobody: it is the service, and they are
    asked again when somebody goes on.
    """
    waiting: list[Row] = []
    for row in rows:
        if row.unreachable:
            waiting.append(row)
            if len(waiting) == MOST_UNREACHABLE:
                raise UnreachableError(row.values["error"])
            continue
        yield from waiting
        waiting.clear()
        yield row
    yield from waiting


def pipeline_for(task: Task) -> Pipeline:
    """Return what the scores of a run are made with."""
    settings = task.request, task.reading, task.least_mass
    revision, estimator = task.origin
    return pipeline_of(task.model.name, revision, *settings, estimator)


def pipeline_in(manifest: Mapping[str, Any]) -> Pipeline:
    """Return what the scores of a written run were made with.

    Raises `RunError` when the manifest was changed.
    """
    try:
        return pipeline_from_dict(manifest["pipeline"])
    except (LookupError, PolicyError, TypeError, ValueError) as error:
        raise RunError("The run's pipeline cannot be read: its run.json was changed.") from error


def differences_between(there: Mapping[str, Any], here: Mapping[str, Any]) -> list[str]:
    """Return one phrase for everything that two runs, by their manifests, ask differently.

    Raises `RunError` when a manifest was changed.
    """
    return pipeline_in(there).differences(pipeline_in(here)) + [
        f"{what} = {there.get(what)} there, {here.get(what)} here"
        for what in ("form", "seed")
        if there.get(what) != here.get(what)
    ]


def reading_in(manifest: Mapping[str, Any]) -> tuple[str, ...]:
    """Return what the questions of a written run were read as; nothing of one that does not say."""
    lines = manifest["questions"].get("reading")
    return tuple(map(str, lines)) if isinstance(lines, list) else ()


def begin(files: RunFiles, questions: Questions, task: Task) -> dict[str, Any]:
    """Return the manifest: a new one, or that of the same run begun before.

    Raises `RunError` when the folder holds another run, or cannot be written.
    """
    description = _description(questions, task)
    manifest = files.manifest()
    if manifest is None:
        files.write_manifest(description)
        return description
    different = differences_between(manifest, description)
    if manifest.get("questions", {}).get("sha256") != questions.sha256:
        different.append("other questions")
    if different:
        raise RunError(
            f"{files.folder} holds a different run: {list_of(different)}. Choose another folder, "
            "or the same settings."
        )
    return manifest | {"ended": None}


def _description(questions: Questions, task: Task) -> dict[str, Any]:
    model = task.model
    return {
        "format": FORMAT,
        "version": VERSION,
        "model": model.name,
        "revision": model.revision,
        "form": str(model.form),
        "seed": task.request.seed,
        "system": task.request.system,  # of which the pipeline has the hash alone
        ORDER: task.request.seed,
        "sampling_rule": SAMPLING_RULE,
        "pipeline": asdict(pipeline_for(task)),
        "questions": {
            "name": questions.name,
            "number": questions.number,
            "sha256": questions.sha256,
            "reading": list(questions.reading),
            "malformed": questions.malformed,
        },
        "versions": versions(),
        "notes": list(model.capabilities.notes),
        "begun": _now(),
        "ended": None,
        "seconds": 0.0,
    }


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
