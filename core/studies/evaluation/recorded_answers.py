"""What a larger model answered before: bundled runs whose questions open without it.

A bundled run that says which model it was of (`PROVENANCE`) is such a recording. Where a question
surely means one that was asked there, it can be opened; the page and the command then say who
answered, and when.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from core.codec import count_of
from core.data.world.nearest import meant_among
from core.once import once
from core.studies.evaluation.bundled import PROVENANCE, folders
from core.studies.inspection.inspection import Inspection
from core.studies.inspection.recording import Recording
from core.studies.inspection.serialise import recording_to_json
from core.studies.provenance import Provenance, provenance_in


@dataclass(frozen=True)
class RecordedAnswer:
    """A question that a model answered in a bundled run."""

    run: str  # the run's name
    id: str  # of its row
    question: str
    outcome: str  # the verdict and the answer, as History keeps them of an inspection
    right: bool  # whether that answer, served or not, is the same as an accepted one
    provenance: Provenance

    @property
    def sentence(self) -> str:
        """Who answered, and when."""
        return self.provenance.sentence


@once
def _recordings() -> dict[str, dict[str, Any]]:
    """Return what is written of every recording, by its run's name."""
    files = {name: folder / PROVENANCE for name, folder in folders().items()}
    return {
        name: json.loads(file.read_text(encoding="utf-8"))
        for name, file in files.items()
        if file.is_file()
    }


def provenance_of(run: str) -> Provenance | None:
    """Return which model a bundled run is a recording of; None where it is none."""
    content = _recordings().get(run)
    return provenance_in(content) if content else None


@once
def recorded_answers() -> tuple[RecordedAnswer, ...]:
    """Return every recorded question."""
    return tuple(
        RecordedAnswer(run, id, question, of["outcomes"][id], id not in of["wrong"], provenance)
        for run, of in _recordings().items()
        for provenance in [provenance_in(of)]
        for id, question in of["questions"].items()
    )


def counts(outcome: str, answers: Sequence[RecordedAnswer] | None = None) -> tuple[int, int]:
    """Return how many answers, all by default, came to an outcome, and how many of them are wrong.

    `outcome`: what it begins with.
    """
    every = recorded_answers() if answers is None else answers
    right = [each.right for each in every if each.outcome.startswith(outcome)]
    return len(right), right.count(False)


def recording_title() -> str:
    """Return what is recorded, in a few words; empty where nothing is."""
    answers = recorded_answers()
    titles = ", ".join(dict.fromkeys(answer.provenance.title for answer in answers))
    return f"Recorded: {titles}, {count_of(len(answers), 'question')}" if answers else ""


def recorded_answer(question: str) -> RecordedAnswer | None:
    """Return the recorded answer to the question that is surely meant; None where none is."""
    by_question = {answer.question: answer for answer in recorded_answers()}
    meant = question if question in by_question else meant_among(question, tuple(by_question))
    return None if meant is None else by_question[meant]


def source_of(recording: Recording) -> RecordedAnswer | None:
    """Return which recorded answer this is; None where the model was asked elsewhere."""
    this = recording.request.query, recording.model, recording.revision
    for answer in recorded_answers():
        of = answer.provenance
        if (answer.question, of.model, of.revision) != this:
            continue
        # Who has the file may have asked the same, and two runs may: not in the same times. And a
        # file may say anything of what was answered in these.
        own = open_recorded(answer).recording
        if own.calls == recording.calls and _content(own) == _content(recording):
            return answer
    return None


def _content(recording: Recording) -> str:
    """Return all that a recording holds but what somebody typed to open it."""
    request = replace(recording.request, typed=None)
    return recording_to_json(replace(recording, request=request))


def recorded_elsewhere(recording: Recording) -> RecordedAnswer | None:
    """Return the recorded answer to the question of another recording, if there is one."""
    question = recording.request.typed or recording.request.query
    return None if source_of(recording) else recorded_answer(question)


def open_recorded(answer: RecordedAnswer) -> Inspection:
    """Return the inspection of a recorded answer; no model is asked."""
    from core.studies.evaluation.saved_run import Run  # Parquet takes long to load

    inspection = Run(folders()[answer.run]).inspection(answer.id)
    assert inspection is not None  # the run is one of our own, and whole
    return inspection
