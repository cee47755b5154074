"""Asking a model from a page: recordings that grow, shared by all who ask the same.

A recording is determined by its request, so whoever asks the same question of the same
model gets the same one, and a larger k extends what is there. Fewer answers are a prefix.
"""

import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import replace

from core.abstention.policy import Policy
from core.language_models.client.stack import ObservedModel, PreparedModel
from core.language_models.language_model import LanguageModel
from core.studies.costs import plan, quick_plan
from core.studies.inspection.inspection import Inspection, read
from core.studies.inspection.quick_look import quick_look
from core.studies.inspection.recorder import record, usual_request
from core.studies.inspection.recording import Estimator, Recording, estimator_of
from core.studies.inspection.request import Reading, Request
from core.studies.inspection.stopping_rule import is_settled, next_size
from core.studies.inspection.taught_questions import in_taught_words
from core.studies.progress import Progress, silent
from core.ui.runs.job import Job
from core.ui.runs.registry import Registry
from core.ui.session import shared_thing

KEPT = 128  # recordings; the largest takes about a megabyte, and where judged a few more

_Series = tuple[str, str, Estimator, Request]


class Recordings:
    """The recordings of this process, the largest of every series."""

    def __init__(self) -> None:
        self._largest: OrderedDict[_Series, Recording] = OrderedDict()
        self._lock, self._now = threading.Lock(), threading.Lock()
        self._jobs = Registry()

    def find(self, request: Request, model: LanguageModel) -> Recording | None:
        """Return the recording if it, or a larger one, has been made."""
        largest = self._serving(request, model)
        if largest is None or largest.request.samples < request.samples:
            return None
        fewer = largest.first(request.samples)
        fewer = replace(fewer, request=replace(fewer.request, typed=request.typed))
        return fewer if request.judged else fewer.without_judgement()

    def largest(self, request: Request, model: LanguageModel) -> int | None:
        """Return the largest k of the request's series that has been made, if any."""
        largest = self._serving(request, model)
        return largest.request.samples if largest else None

    def _serving(self, request: Request, model: LanguageModel) -> Recording | None:
        """Return the largest of the series; a judged one serves where nothing is to be judged."""
        series = {_series(r, model) for r in (request, replace(request, judged=True))}
        with self._lock:
            largest = [self._largest[one] for one in series if one in self._largest]
        return max(largest, key=lambda recording: recording.request.samples, default=None)

    def ask(
        self,
        request: Request,
        model: LanguageModel,
        save: Callable[[Recording], None] | None = None,
    ) -> Job[Recording]:
        """Start making the recording, out of what is there already.

        `save`: given the finished recording in the thread of a job that is started here: what was
        paid for is kept even if no page is open any more. It must not touch the session.
        """
        heard = model if isinstance(model, PreparedModel) else ObservedModel(model)

        def work(job: Job[Recording]) -> Recording:
            recording = self._record(request, heard, job.progress)
            if save is not None:
                save(recording)
            return recording

        paid = None if model.capabilities.local else plan(request, model.capabilities)
        return self._jobs.start(
            (_series(request, model), request.samples),
            work,
            heard,
            most=paid.requests if paid else None,
        )

    def look(self, request: Request, model: LanguageModel) -> Job[list[tuple[str, int]]]:
        """Start a quick look at the question."""
        most = None
        if not model.capabilities.local:
            most = quick_plan(request, model.capabilities).requests
        key = _series(request, model), "quick"

        def work(job: Job[list[tuple[str, int]]]) -> list[tuple[str, int]]:
            return quick_look(request.query, model, seed=request.seed)

        return self._jobs.start(key, work, model, most=most)

    def certify(
        self, request: Request, model: LanguageModel, reading: Reading, policy: Policy | None = None
    ) -> Job[Recording]:
        """Start comparing ever more answers until `is_settled`, handing out every step."""

        def work(job: Job[Recording]) -> Recording:
            job.partial = self._record(request, model, job.progress)
            while is_settled(job.partial, reading, policy) is None:
                larger = replace(request, samples=next_size(job.partial.request))
                job.partial = self._record(larger, model, job.progress)
            return job.partial

        key = _series(request, model), request.samples, reading, policy
        return self._jobs.start(key, work, model)

    def wait_for(self, request: Request, model: LanguageModel) -> Recording:
        """Return the recording, made while the caller waits if need be.

        One is made at a time: who asks the same meanwhile finds it, and two at once, of a model
        that computes here, would take twice as long.
        """
        there = self.find(request, model)
        if there is not None:
            return there
        with self._now:
            return self._record(request, model, silent)

    def _record(self, request: Request, model: LanguageModel, progress: Progress) -> Recording:
        older = self.find(request, model)
        if older:
            return older
        series = _series(request, model)
        previous = self._serving(request, model)
        if previous is None and request.judged:  # the answers are there, and only not compared
            previous = self._serving(replace(request, judged=False), model)
        recording = record(request, model, progress, previous=previous)
        with self._lock:
            present = self._largest.get(series)
            if present is None or present.request.samples < request.samples:
                self._largest[series] = recording
            self._largest.move_to_end(series)
            while len(self._largest) > KEPT:
                self._largest.popitem(last=False)
        return recording


def _series(request: Request, model: LanguageModel) -> _Series:
    estimator = estimator_of(model.capabilities)  # a service may say less than before
    return model.name, model.revision, estimator, replace(request, samples=1)


def recordings() -> Recordings:
    """Return the recordings of this process; of this session alone in a public demo."""
    return shared_thing("recordings", Recordings)


def example_inspection(question: str, model: LanguageModel) -> Inspection:
    """Return the inspection of a question under the default settings, made while one waits."""
    request = in_taught_words(usual_request(question, model.capabilities), model)
    return read(recordings().wait_for(request, model))
