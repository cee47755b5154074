"""Scoring uploaded questions from a page: a job that can be watched, stopped and gone on with."""

from __future__ import annotations

from collections import OrderedDict

import streamlit as st

from core.data import uploads
from core.data.gold import GoldQuestions
from core.data.uploads import Upload
from core.studies.recording import Request
from core.studies.scoring import Gold, Scored, score_all, table
from core.ui.jobs import Job, Registry
from core.ui.messages import problem
from core.ui.recordings import model
from core.ui.remembered import remembered

KEPT = 8  # files


class Scorings:
    """The scorings of this process, by the file that was uploaded."""

    def __init__(self) -> None:
        self._done: OrderedDict[str, list[Scored]] = OrderedDict()
        self._jobs = Registry()

    def so_far(self, gold: GoldQuestions) -> list[Scored]:
        """Return what has been scored of a file; the files used last are kept."""
        found = self._done.setdefault(gold.sha256, [])
        self._done.move_to_end(gold.sha256)
        while len(self._done) > KEPT:
            self._done.popitem(last=False)
        return found

    def start(self, gold: GoldQuestions) -> Job[list[Scored]]:
        """Start scoring, or go on where somebody stopped."""
        done = self.so_far(gold)
        golds = [
            Gold(query, answers, source)
            for query, answers, source in zip(
                gold.questions, gold.answers, gold.sources, strict=True
            )
        ]

        def work(job: Job[list[Scored]]) -> list[Scored]:
            request = Request(golds[0].query)
            return score_all(
                golds,
                model("embedded"),
                request,
                progress=job.progress,
                done=tuple(done),
                keep=done.append,
            )

        return self._jobs.start((gold.sha256, len(golds)), work)


@st.cache_resource(show_spinner=False)
def _scorings() -> Scorings:
    return Scorings()


def scored(gold: GoldQuestions) -> Upload | None:
    """Offer to score, show how far it is, and return the scored table as if uploaded."""
    everything, so_far = len(gold.questions), len(_scorings().so_far(gold))
    left = everything - so_far
    job: Job[list[Scored]] | None = st.session_state.get(f"scoring_{gold.sha256}")
    if job is not None and not job.done:
        _watch(job)
        return None
    if job is not None and job.error and not job.cancelled:
        problem(str(job.error))
    with st.container(horizontal=True, vertical_alignment="center"):
        if left:
            st.button(
                f"Score {left:d} question{'s' if left > 1 else ''} on the embedded model",
                key="score",
                type="primary" if not so_far else "secondary",
                on_click=_start,
                args=(gold,),
            )
        if so_far:
            st.text(f"{so_far:,} of {everything:,} are scored.")
    if not so_far:
        return None
    upload = _as_upload(gold)
    st.download_button(
        "Download the scored table",
        upload[1],
        file_name="scored.csv",
        mime="text/csv",
        key="scored_csv",
        on_click="ignore",
    )
    return upload[0]


def _start(gold: GoldQuestions) -> None:
    st.session_state[f"scoring_{gold.sha256}"] = _scorings().start(gold)


@st.fragment(run_every=0.5)
def _watch(job: Job[list[Scored]]) -> None:
    if job.done:
        st.rerun()
    st.progress(min(job.share, 1.0), job.stage)
    st.button("Stop, and keep what is scored", on_click=job.cancel, key="stop_scoring")


def _as_upload(gold: GoldQuestions) -> tuple[Upload, bytes]:
    """Return the scored table as an upload, made once for every state of the scoring."""
    found = list(_scorings().so_far(gold))

    def make() -> tuple[Upload, bytes]:
        content = table(found, model("embedded"), Request(found[0].gold.query))
        return uploads.parse(content, f"{gold.name} (scored)"), content

    return remembered("scored", gold, make, len(found))
