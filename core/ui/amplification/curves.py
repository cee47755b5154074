"""Curves for a page: computed once, in a job that can be watched and stopped, and kept.

A curve is determined by its case, the numbers of repetitions and the model, so whoever asks
for the same one gets it again. What a stopped job has computed stays. Those that everybody
meets first are bundled.
"""

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence

import streamlit as st

from core.language_models.language_model import LanguageModel
from core.language_models.usage import Usage
from core.studies.amplification import bundled
from core.studies.amplification.curve import Amplification, Case, Origin, amplify, source_of
from core.studies.costs import Plan, curve_tokens, lasting, plan_curves
from core.studies.inspection.request import InvalidRequestError
from core.studies.progress import Progress
from core.ui.payment import spending
from core.ui.runs.job import Job
from core.ui.runs.registry import Registry
from core.ui.runs.widget import offer_run, run
from core.ui.session import shared_thing

KEPT = 1024  # curves; one of 101 points takes about 20 kilobytes

CurveOrReason = Amplification | str  # a curve, or the sentence that says why there is none
_Key = tuple[str, str, Case, tuple[int, ...]]


class CurveJobs:
    """The curves of this process."""

    def __init__(self) -> None:
        self._results: OrderedDict[_Key, CurveOrReason] = OrderedDict()
        self._lock = threading.Lock()
        self._jobs = Registry()

    def find(
        self, case: Case, model: LanguageModel, times: tuple[int, ...]
    ) -> CurveOrReason | None:
        """Return the curve, or why there is none; None while nobody has asked for it."""
        with self._lock:
            key = (model.name, model.revision, case, times)
            if key in self._results:
                self._results.move_to_end(key)
            result = self._results.get(key)
        return bundled.find(case, model, times) if result is None else result

    def start(
        self, cases: Sequence[Case], model: LanguageModel, times: tuple[int, ...]
    ) -> Job[list[CurveOrReason]]:
        """Start computing those that are not there yet, one after the other."""

        def work(job: Job[list[CurveOrReason]]) -> list[CurveOrReason]:
            result = [self.find(case, model, times) for case in cases]
            missing = [i for i, curve in enumerate(result) if curve is None]
            for part, i in enumerate(missing):
                job.partial = [curve for curve in result if curve is not None]
                progress = _part(job, part, len(missing))
                result[i] = curve = self._compute(cases[i], model, times, progress)
                self._keep((model.name, model.revision, cases[i], times), curve)
            return [curve for curve in result if curve is not None]

        return self._jobs.start(
            (model.name, model.revision, tuple(cases), times),
            work,
            model,
            most=self.plan(cases, model, times).requests or None,
        )

    def plan(self, cases: Sequence[Case], model: LanguageModel, times: tuple[int, ...]) -> Plan:
        """Return the most that computing those can take that are not there yet."""
        missing = [case for case in cases if self.find(case, model, times) is None]
        return plan_curves(missing, model, times)

    def _keep(self, key: _Key, result: CurveOrReason) -> None:
        with self._lock:
            self._results[key] = result
            while len(self._results) > KEPT:
                self._results.popitem(last=False)

    @staticmethod
    def _compute(
        case: Case, model: LanguageModel, times: tuple[int, ...], progress: Progress
    ) -> CurveOrReason:
        try:
            return amplify(case, model, times, progress)
        except InvalidRequestError as error:  # of this case alone; the others go on
            return str(error)


def _part(job: Job[list[CurveOrReason]], i: int, of: int) -> Progress:
    """Return the progress of the i-th piece of work as part of the whole."""
    return lambda stage, share: job.progress(
        stage if of == 1 else f"Curve {i + 1} of {of}", (i + share) / of
    )


def _curves() -> CurveJobs:
    return shared_thing("curves", CurveJobs)


def curves(
    cases: Sequence[Case],
    model: LanguageModel,
    times: tuple[int, ...],
    *,
    key: str,
    so_far: Callable[[list[Amplification]], object],
) -> list[CurveOrReason] | None:
    """Return a curve for every case, or None while they are being computed, and after a cancel.

    `key`: tells the places of a page apart that ask for curves. `so_far`: draws those that are
    there while others are being computed, and after a cancel.
    """
    there = [each for case in cases if (each := _curves().find(case, model, times)) is not None]
    if len(there) == len(cases):
        return there
    most = _curves().plan(cases, model, times)
    if most.requests and not model.capabilities.scores_given_text:
        weighed = source_of(model) is Origin.SAMPLED
        st.text(
            "This model does not report how likely given answers are, so answers are sampled and "
            f"{'weighed by its own likelihoods of them' if weighed else 'counted'}."
        )
    missing = len(cases) - len(there)
    if takes := lasting(missing * curve_tokens(cases, times) // len(cases), model):
        which = "This curve takes" if missing == 1 else f"These {missing} curves take"
        st.text(f"{which} {takes} on this machine.")
    request = (model.name, model.revision, tuple(cases), times)
    waits = not (model.capabilities.quick or most.requests)  # what is paid for has a button already
    if waits:
        label = "Compute" if missing == 1 else f"Compute all {missing:d}"
        offer_run(label, f"compute_{key}", key, request, type="primary")
    return run(
        key,
        request,
        lambda: _curves().start(cases, model, times),
        paid=(model, most) if most.requests else None,
        on_press=waits,
        beside=lambda job: _draw(so_far, job.partial or ()),
    )


def _draw(
    so_far: Callable[[list[Amplification]], object], results: Sequence[CurveOrReason]
) -> None:
    if finished := [one for one in results if isinstance(one, Amplification)]:
        so_far(finished)


def draw_usage(results: Sequence[CurveOrReason]) -> None:
    """Say what curves have taken of a service, if they have asked one."""
    paid = [(one.used, one.model) for one in results if isinstance(one, Amplification) and one.used]
    if paid:
        used, models = sum((each for each, _ in paid), Usage()), {model for _, model in paid}
        name = models.pop() if len(models) == 1 else ""  # which has no price
        st.text(f"Used for these curves: {spending(used, name)}")
