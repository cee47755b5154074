"""The one way to run something long on a page: start it, watch it, stop it, say why it ended.

Each session remembers, for every place of a page, what was wanted there last and the job that
makes it. So a job that was cancelled or failed is not started again by any other click, but by
the person; and who cancels a job that others watch only leaves it. What a job has answered or
computed until then is kept by whoever made the job (a store of results, the call cache).
"""

from collections.abc import Callable, Collection, Hashable
from dataclasses import dataclass
from typing import Any, Final, Generic, Literal

import streamlit as st

from core.language_models.client.stack import limit
from core.language_models.language_model import LanguageModel
from core.studies import costs
from core.studies.costs import Plan, calls
from core.ui.messages import problem
from core.ui.payment import agreement, costing
from core.ui.runs.job import Job, T
from core.ui.runs.scheduler import BusyError
from core.ui.session import PAGE, owner, this_session

_PLACES: Final = ("Next", "Second", "Third")
_RUN: Final = "run_"
_BEHIND: Final = "asked_before"  # in the session: paid runs whose places want something else now
GOES_ON: Final = (
    "Another open page waits for this, too, so it was not ended, only left here. To end it, cancel "
    "it there."
)
OF_ANOTHER: Final = "Somebody else asked for this first, so it was not ended, only left here."
QUICK = 1.0  # seconds: what is there sooner is shown without a progress bar


@dataclass
class PageRun(Generic[T]):
    """What a session wanted at one place of a page, and what became of it."""

    request: Hashable
    job: Job[T] | None = None  # None until it is agreed to and started
    left: bool = False  # whether this session has cancelled it, though others may still wait for it
    page: str = ""  # the path of the page that drew it last

    @property
    def is_paid(self) -> bool:
        """Whether it asks a service."""
        return self.job is not None and self.job.is_paid

    @property
    def running(self) -> bool:
        """Whether this session waits for it."""
        return self.job is not None and not self.job.done and not self.left

    @property
    def cancelled(self) -> bool:
        """Whether it ended, for this session, because somebody cancelled it."""
        return self.left or (self.job is not None and self.job.cancelled)

    def leave(self) -> None:
        """Stop it, or only leave it where it is another session's too."""
        if self.job is not None and self.running:
            self.job.leave(this_session())
            self.left = True


def run_of(key: str, request: Hashable) -> PageRun[Any] | None:
    """Return what became of a wish at a place of a page; None of one that was dropped."""
    every = [(key, _last(key)), *st.session_state.get(_BEHIND, ())]
    return next(
        (each for at, each in every if at == key and each and each.request == request), None
    )


def want(key: str, request: Hashable) -> None:
    """Want something at a place of a page: the next `run` there starts it, anew if it has ended."""
    this = run_of(key, request)
    if this is None or not this.running:
        drop(key)
        st.session_state[_state(key)] = PageRun(request)


def offer_run(
    label: str,
    button: str,
    key: str,
    request: Hashable,
    *,
    type: Literal["primary", "secondary"] = "secondary",
    icon: str | None = None,
) -> None:
    """Offer a button that wants something at a place, unless that is the last wish there.

    `button`: the key of the button.
    """
    if run_of(key, request) is None:
        args = key, request
        st.button(label, key=button, type=type, icon=icon, on_click=want, args=args)


def again(key: str) -> None:
    """Want the same anew where it has ended."""
    if (this := _last(key)) is not None:
        want(key, this.request)


def forget(key: str) -> None:
    """Want nothing any more at a place of a page."""
    if (this := _last(key)) is not None:
        this.leave()
        del st.session_state[_state(key)]


def drop(key: str) -> bool:
    """Forget what another wish was at a place, unless a service was asked.

    What a service was asked goes on: it is paid for, and saved when it comes. Returns whether it
    does: every page says so then, and can end it.
    """
    this = _last(key)
    if this is None or not this.is_paid:
        forget(key)
    elif this.running:
        del st.session_state[_state(key)]
        st.session_state[_BEHIND] = [(key, this), *_behind()]
        return True
    return False


def running_behind() -> PageRun[Any] | None:
    """Return what a service is still asked, though its place wants something else by now."""
    return next((each for _, each in _behind()), None)


def _behind() -> list[tuple[str, PageRun[Any]]]:
    return [(key, each) for key, each in st.session_state.get(_BEHIND, ()) if each.running]


def run(
    key: str,
    request: Hashable,
    start: Callable[[], Job[T]],
    *,
    paid: tuple[LanguageModel, Plan] | None = None,
    on_press: bool = False,
    quick: float | None = None,
    cancelled: str = "Cancelled. Results so far are saved.",
    retry: bool = True,
    beside: Callable[[Job[T]], None] | None = None,
    glance: bool = False,
    everywhere: bool = False,
) -> T | None:
    """Return what is wanted; None while it is on its way, and where it ended otherwise.

    Where it costs something, that is said first, and the person asked. Then it is started, and
    watched with a button that cancels it; where it was cancelled or failed, that is said, what it
    used, and a button offers to start it again.

    `key`: tells the places of all pages apart.
    `request`: what tells this wish from others, of this model and of others.
    `start`: starts the job, or finds it.
    `paid`: what is asked, and what that takes at most, where the person is to agree first.
    `on_press`: whether it is started only when a button has called `want`.
    `quick`: seconds to wait before progress is shown; `QUICK` by default.
    `cancelled`: what to say after a cancel.
    `retry`: whether a button offers to start it again; the screen may have one of its own.
    `beside`: draws what else there is to see of the job on its way, or cancelled.
    `glance`: whether it is a quick look.
    `everywhere`: whether every page draws it, so that no other one has to say that it runs.
    """
    this = run_of(key, request)
    if this is None or this is not _last(key):
        goes_on = drop(key)
        if this or not on_press:
            this = st.session_state[_state(key)] = this or PageRun(request)
            others = [each for each in _behind() if each[1] is not this]
            st.session_state[_BEHIND] = others
        if goes_on:
            st.rerun()  # what says so was drawn before
    if this is None:
        return None
    this.page = "" if everywhere else st.session_state.get(PAGE, "")
    job = this.job or _start(key, this, start, paid, quick, glance)
    if job is None:
        return None
    if this.running:
        _watch(key, this, job, beside)
        return None
    if not (this.cancelled or job.error):
        return job.result
    left = cancelled if job.cancelling else why_it_goes_on(job)
    _say_why(job, left if this.cancelled else None)
    if beside and this.cancelled:
        beside(job)
    if retry:
        st.button("Try again", key=f"again_{key}", on_click=again, args=(key,))
    return None


def why_it_goes_on(job: Job[Any]) -> str:
    """Say why what was cancelled goes on."""
    return GOES_ON if job.owner == owner() else OF_ANOTHER


def running_elsewhere(pages: Collection[str]) -> PageRun[Any] | None:
    """Return what this session waits for on another one of these pages; None without any."""
    here = st.session_state.get(PAGE, "")
    runs = [each for name, each in st.session_state.items() if str(name).startswith(_RUN)]
    return next(
        (each for each in runs if each.running and each.page in pages and each.page != here), None
    )


def _state(key: str) -> str:
    return f"{_RUN}{key}"


def _last(key: str) -> PageRun[Any] | None:
    this: PageRun[Any] | None = st.session_state.get(_state(key))
    return this


def _start(
    key: str,
    this: PageRun[T],
    start: Callable[[], Job[T]],
    paid: tuple[LanguageModel, Plan] | None,
    quick: float | None,
    glance: bool,
) -> Job[T] | None:
    """Return the job, started if the person agrees to what it takes."""
    if paid and not agreement(*paid, this.request, key, glance):
        return None
    if paid:
        limit(*paid)
    try:
        this.job = start()
    except BusyError as error:
        problem(str(error))
        forget(key)
        return None
    if this.job.wait(QUICK if quick is None else quick) and this.is_paid:
        st.rerun()  # what says above how much is used was drawn before
    return this.job


@st.fragment(run_every=0.5)
def _watch(
    key: str, this: PageRun[T], job: Job[T], beside: Callable[[Job[T]], None] | None
) -> None:
    """Show how far a job is, let the person stop it, and redraw the page when it has ended."""
    if not this.running:
        st.rerun()
    how_far(job)
    st.button("Cancel", key=f"cancel_{key}", on_click=this.leave)
    if beside:
        beside(job)


def how_far(job: Job[Any]) -> None:
    """Draw how far a job is, or its place in line; of a service, how many calls it has made."""
    if (computing := job.computing) is not None:
        st.progress(min(job.share, 1.0), _in_line(job.before, computing))
        return
    if job.asks is None or not job.is_paid:
        st.progress(min(job.share, 1.0), job.stage)
        return
    requests = job.asks.meter.requests
    st.progress(min(requests / job.most if job.most else job.share, 1.0), job.stage)
    of = "" if job.most is None else f", of at most {job.most:,}"
    st.text(f"{calls(requests)} so far{of}.")


def _in_line(before: int, computing: int) -> str:
    place = _PLACES[before] if before < len(_PLACES) else f"Number {before + 1}"
    runs = "one other run is" if computing == 1 else f"{computing} other runs are"
    return f"{place} in line: {runs} computing"


def _say_why(job: Job[Any], cancelled: str | None) -> None:
    """Say why a job came to no result, and what it used of a service."""
    if cancelled is None:
        problem(job.why)
    else:
        st.text(cancelled)
    if job.asks is not None and job.is_paid:
        used = job.asks.meter.usage
        cost = costing(used, job.asks.name)
        st.text(
            f"Used so far: {costs.spending(used, cost, ended=False)} Requests in flight "
            "may still be billed. Answers received are saved."
        )
