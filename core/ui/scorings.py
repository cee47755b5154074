"""Scoring uploaded questions from a page: a job that can be watched, stopped and gone on with."""

from __future__ import annotations

from collections import OrderedDict

import streamlit as st

from core.data import uploads
from core.data.gold import GoldQuestions
from core.data.uploads import Upload
from core.language_models.base import LanguageModel, ModelError, Used
from core.language_models.prepared import stop
from core.studies.costs import Plan, plan
from core.studies.recorder import usual_samples
from core.studies.recording import Request
from core.studies.scoring import Gold, Scored, score_all, table
from core.ui import models
from core.ui.jobs import Job, Registry
from core.ui.messages import problem
from core.ui.remembered import remembered
from core.ui.shared import shared
from core.ui.watching import how_far, said_until, spent

KEPT = 8  # files


class Scorings:
    """The scorings of this process, by the file that was uploaded."""

    def __init__(self) -> None:
        self._done: OrderedDict[tuple[str, str, str], list[Scored]] = OrderedDict()
        self._jobs = Registry()

    def so_far(self, gold: GoldQuestions, model: LanguageModel) -> list[Scored]:
        """Return what a model has scored of a file; the files used last are kept."""
        key = _key(gold, model)
        found = self._done.setdefault(key, [])
        self._done.move_to_end(key)
        while len(self._done) > KEPT:
            self._done.popitem(last=False)
        return found

    def start(self, gold: GoldQuestions, model: LanguageModel) -> Job[list[Scored]]:
        """Start scoring, or go on where somebody stopped."""
        done = self.so_far(gold, model)
        golds = [
            Gold(query, answers, source)
            for query, answers, source in zip(
                gold.questions, gold.answers, gold.sources, strict=True
            )
        ]

        def work(job: Job[list[Scored]]) -> list[Scored]:
            try:
                return score_all(
                    golds,
                    model,
                    _request(golds[0].query, model),
                    progress=job.progress,
                    done=tuple(done),
                    keep=done.append,
                )
            except BaseException:
                stop(model)
                raise

        return self._jobs.start((_key(gold, model), len(golds)), work, model)


def _key(gold: GoldQuestions, model: LanguageModel) -> tuple[str, str, str]:
    return gold.sha256, model.name, model.revision


def _request(query: str, model: LanguageModel) -> Request:
    return Request(query, usual_samples(model.capabilities))


def _scorings() -> Scorings:
    return shared("scorings", Scorings)


def scored(gold: GoldQuestions) -> Upload | None:
    """Offer to score, show how far it is, and return the scored table as if uploaded."""
    try:
        model = models.asked()
        found = _scorings().so_far(gold, model)
    except ModelError as error:
        problem(str(error))
        return None
    everything, so_far = len(gold.questions), len(found)
    left = everything - so_far
    job: Job[list[Scored]] | None = st.session_state.get(_job_of(gold, model))
    if job is not None and not job.done:
        _watch(job)
        return None
    if job is not None and job.error and not job.cancelled:
        problem(str(job.error))
        said_until(job)
    if left and not model.capabilities.local:
        longest = max(gold.questions, key=len)
        most = plan(_request(longest, model), model.capabilities)
        models.offer(
            model,
            Plan(left * most.requests, left * most.prompt_tokens, left * most.response_tokens),
        )
    with st.container(horizontal=True, vertical_alignment="center"):
        if left:
            st.button(
                f"Score {left:d} question{'s' if left > 1 else ''}"
                + (" on the embedded model" if model.name == models.EMBEDDED else ""),
                key="score",
                type="primary" if not so_far else "secondary",
                on_click=_start,
                args=(gold, model),
            )
        if so_far:
            st.text(f"{so_far:,} of {everything:,} are scored.")
    if used := [scored.used for scored in found if scored.used]:
        st.text(f"Used for what is scored: {spent(sum(used, Used()))}")
    if not so_far:
        return None
    upload = _as_upload(gold, model)
    st.download_button(
        "Download the scored table",
        upload[1],
        file_name="scored.csv",
        mime="text/csv",
        key="scored_csv",
        on_click="ignore",
    )
    return upload[0]


def _start(gold: GoldQuestions, model: LanguageModel) -> None:
    st.session_state[_job_of(gold, model)] = _scorings().start(gold, model)


def _job_of(gold: GoldQuestions, model: LanguageModel) -> str:
    return "_".join(("scoring", *_key(gold, model)))


@st.fragment(run_every=0.5)
def _watch(job: Job[list[Scored]]) -> None:
    if job.done:
        st.rerun()
    how_far(job)
    st.button("Stop, and keep what is scored", on_click=job.cancel, key="stop_scoring")


def _as_upload(gold: GoldQuestions, model: LanguageModel) -> tuple[Upload, bytes]:
    """Return the scored table as an upload, made once for every state of the scoring."""
    found = list(_scorings().so_far(gold, model))

    def make() -> tuple[Upload, bytes]:
        content = table(found, model, _request(found[0].gold.query, model))
        return uploads.parse(content, f"{gold.name} (scored)"), content

    return remembered("scored", gold, make, (model.name, model.revision, len(found)))
