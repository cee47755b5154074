"""Curves for a page: computed once, in a job that can be watched and stopped, and kept.

A curve is determined by its case, the numbers of repetitions and the model, so whoever asks
for the same one gets it again. What a stopped job has computed stays.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence

import streamlit as st

from core.language_models.base import LanguageModel
from core.language_models.client.stack import stop
from core.language_models.errors import ModelError
from core.language_models.usage import Used
from core.studies.amplification.curve import Amplification, Case, amplify
from core.studies.costs import plan_curves
from core.studies.inspection.request import InvalidRequestError
from core.studies.progress import Progress
from core.ui.jobs import Job, Registry
from core.ui.messages import notice, problem
from core.ui.payment import agreed
from core.ui.session import shared, this_session
from core.ui.watching import how_far, said_until, spent

KEPT = 1024  # curves; one of 101 points takes about 20 kilobytes
QUICK = 1.2  # seconds: curves that come sooner are shown without a progress bar

Found = Amplification | str  # a curve, or the sentence that says why there is none
_Key = tuple[str, str, Case, tuple[int, ...]]


class Curves:
    """The curves of this process."""

    def __init__(self) -> None:
        self._found: OrderedDict[_Key, Found] = OrderedDict()
        self._lock = threading.Lock()
        self._jobs = Registry()

    def find(self, case: Case, model: LanguageModel, times: tuple[int, ...]) -> Found | None:
        """Return the curve, or why there is none; None while nobody has asked for it."""
        with self._lock:
            key = (model.name, model.revision, case, times)
            if key in self._found:
                self._found.move_to_end(key)
            return self._found.get(key)

    def start(
        self, cases: Sequence[Case], model: LanguageModel, times: tuple[int, ...]
    ) -> Job[list[Found]]:
        """Start computing those that are not there yet, one after the other."""

        def work(job: Job[list[Found]]) -> list[Found]:
            result = []
            for i, case in enumerate(cases):
                found = self.find(case, model, times)
                if found is None:
                    found = self._compute(case, model, times, _part(job, i, len(cases)))
                    self._keep((model.name, model.revision, case, times), found)
                result.append(found)
            return result

        return self._jobs.start((model.name, model.revision, tuple(cases), times), work, model)

    def _keep(self, key: _Key, found: Found) -> None:
        with self._lock:
            self._found[key] = found
            while len(self._found) > KEPT:
                self._found.popitem(last=False)

    @staticmethod
    def _compute(
        case: Case, model: LanguageModel, times: tuple[int, ...], progress: Progress
    ) -> Found:
        try:
            return amplify(case, model, times, progress)
        except InvalidRequestError as error:  # of this case alone; the others go on
            return str(error)
        except BaseException:
            stop(model)
            raise


def _part(job: Job[list[Found]], i: int, of: int) -> Progress:
    """Return the progress of the i-th piece of work as part of the whole."""

    def report(stage: str, share: float) -> None:
        job.progress(stage if of == 1 else f"Curve {i + 1} of {of}", (i + share) / of)

    return report


def _curves() -> Curves:
    return shared("curves", Curves)


def curves(
    cases: Sequence[Case],
    model: LanguageModel,
    times: tuple[int, ...],
    *,
    key: str,
) -> list[Found] | None:
    """Return a curve for every case, or None while they are being computed, and after a cancel.

    Parameters
    ----------
    key : str
        Tells the places of a page apart that ask for curves.
    """
    found = [_curves().find(case, model, times) for case in cases]
    there = [f for f in found if f is not None]
    if len(there) == len(cases):
        return there
    wanted = (model.name, model.revision, tuple(cases), times)
    ended = st.session_state.get(f"ended_{key}")
    if ended and ended[0] == wanted:  # cancelled or failed: nobody asks again but the person
        (notice if _is_cancelled(ended[1]) else problem)(_why(ended[1]))
        said_until(ended[1])
        st.button(
            "Continue", key=f"go_on_{key}", on_click=st.session_state.pop, args=(f"ended_{key}",)
        )
        return None
    missing = [case for case, f in zip(cases, found, strict=True) if f is None]
    most = plan_curves(missing, model, times)
    if most.requests:
        if not model.capabilities.scores_given_text:
            st.text(
                "This model does not report how likely given answers are, so answers are "
                "sampled and counted."
            )
        if not agreed(model, most, wanted, key):
            return None
    job = _curves().start(missing, model, times)
    st.session_state[f"job_{key}"] = (wanted, job)
    if job.wait(QUICK) and job.result is not None:
        if not model.capabilities.local:
            st.rerun()  # what says above how much is used was drawn before
        made = dict(zip(missing, job.result, strict=True))
        return [made[case] if f is None else f for case, f in zip(cases, found, strict=True)]
    _watch(job, wanted, key, most.requests)
    return None


@st.fragment(run_every=0.5)
def _watch(job: Job[list[Found]], wanted: object, key: str, most: int | None = None) -> None:
    """Show how far a job is, let the person stop it, and redraw the page when it is done."""
    if job.error is not None:
        _put_away(job, wanted, key)
    if job.done or f"job_{key}" not in st.session_state:
        st.rerun()
    how_far(job, most)
    st.button("Cancel", on_click=_cancel, args=(job, wanted, key), key=f"cancel_{key}")


def _cancel(job: Job[list[Found]], wanted: object, key: str) -> None:
    """Stop a job, or only leave it where it is another session's too."""
    job.leave(this_session())
    _put_away(job, wanted, key)


def _put_away(job: Job[list[Found]], wanted: object, key: str) -> None:
    """Remember how a job ended for this session."""
    st.session_state[f"ended_{key}"] = (wanted, job)
    st.session_state.pop(f"job_{key}", None)


def used(found: Sequence[Found]) -> None:
    """Say what curves have taken of a service, if they have asked one."""
    each = [one.used for one in found if isinstance(one, Amplification) and one.used]
    if each:
        st.text(f"Used for these curves: {spent(sum(each, Used()))}")


def _is_cancelled(job: Job[list[Found]]) -> bool:
    """Say whether a job was cancelled, or left to others."""
    return job.cancelled or not job.done


def _why(job: Job[list[Found]]) -> str:
    if _is_cancelled(job):
        return "Cancelled. The curves computed so far are saved."
    if isinstance(job.error, ModelError):
        return str(job.error)
    return "The program failed while it computed the curves. Press Continue to try again."
