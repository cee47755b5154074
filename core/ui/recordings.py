"""Asking a model from a page: recordings that grow, shared by all who ask the same.

A recording is determined by its request, so whoever asks the same question of the same
model gets the same one, and a larger k extends what is there. Fewer samples are a prefix.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import replace

import streamlit as st

from core.language_models.base import LanguageModel, open_model
from core.studies.inspection import Inspection, Reading, is_settled, next_size, read
from core.studies.progress import Progress, silent
from core.studies.recording import Recording, Request, record
from core.studies.tour import EXAMPLES
from core.ui.jobs import Job, Registry

KEPT = 128  # recordings; the largest possible one takes about a megabyte

_Series = tuple[str, str, str, float, int]


class Recordings:
    """The recordings of this process, the largest of every series."""

    def __init__(self) -> None:
        self._largest: OrderedDict[_Series, Recording] = OrderedDict()
        self._lock = threading.Lock()
        self._jobs = Registry()

    def find(self, request: Request, model: LanguageModel) -> Recording | None:
        """Return the recording if it, or a larger one, has been made."""
        with self._lock:
            largest = self._largest.get(_series(request, model))
        if largest is None or largest.request.samples < request.samples:
            return None
        return largest.first(request.samples)

    def largest(self, request: Request, model: LanguageModel) -> int | None:
        """Return how many samples of the request's series have been made, if any."""
        with self._lock:
            largest = self._largest.get(_series(request, model))
        return largest.request.samples if largest else None

    def ask(self, request: Request, model: LanguageModel) -> Job[Recording]:
        """Start making the recording, out of what is there already."""
        return self._jobs.start(
            (_series(request, model), request.samples),
            lambda job: self._record(request, model, job.progress),
        )

    def certify(self, request: Request, model: LanguageModel, reading: Reading) -> Job[Recording]:
        """Start sampling until `is_settled`, handing out every step as it is made."""

        def work(job: Job[Recording]) -> Recording:
            job.partial = self._record(request, model, job.progress)
            while is_settled(job.partial, reading) is None:
                larger = replace(request, samples=next_size(job.partial.request.samples))
                job.partial = self._record(larger, model, job.progress)
            return job.partial

        return self._jobs.start((_series(request, model), request.samples, reading), work)

    def now(self, request: Request, model: LanguageModel) -> Recording:
        """Return the recording, made while the caller waits if need be."""
        return self._record(request, model, silent)

    def _record(self, request: Request, model: LanguageModel, progress: Progress) -> Recording:
        found = self.find(request, model)
        if found:
            return found
        series = _series(request, model)
        with self._lock:
            previous = self._largest.get(series)
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
    return (model.name, model.revision, request.query, request.temperature, request.seed)


@st.cache_resource(show_spinner=False)
def recordings() -> Recordings:
    """Return the recordings that all sessions of this process share."""
    return Recordings()


@st.cache_resource(show_spinner="Opening the model")
def model(name: str) -> LanguageModel:
    """Open a model once a process."""
    return open_model(name)


def example(name: str) -> Inspection:
    """Return the inspection of one of `EXAMPLES`, under the default settings."""
    return read(recordings().now(Request(EXAMPLES[name]), model("embedded")))
