"""Scoring uploaded questions from a page: a job that can be watched, stopped and gone on with."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field

import streamlit as st

from core.data.tabular import uploads
from core.data.tabular.gold_questions import GoldQuestions
from core.data.tabular.uploads import Upload
from core.language_models.base import LanguageModel
from core.language_models.client.stack import stop
from core.language_models.errors import ModelError
from core.language_models.usage import Meter, Used
from core.studies.calibration.scoring import Gold, ScoredQuestion, score_all, table
from core.studies.costs import Plan, computed_tokens, lasting, plan
from core.studies.inspection.recorder import usual_request
from core.studies.inspection.request import Request
from core.ui import downloads
from core.ui.messages import problem
from core.ui.model import EMBEDDED, study_model
from core.ui.payment import offer, spending
from core.ui.runs.job import Job
from core.ui.runs.registry import Registry
from core.ui.runs.widget import run, run_of, want
from core.ui.session import memory_of, shared_thing

KEPT = 8  # files
PLACE = "scoring"


@dataclass(eq=False)  # a file that was forgotten is another one when it comes again
class _File:
    """What a model has scored of a file, and what each question took, by the question's place."""

    done: dict[int, ScoredQuestion] = field(default_factory=dict)
    meters: dict[int, Meter] = field(default_factory=dict)
    job: Job[list[ScoredQuestion]] | None = None

    @property
    def is_idle(self) -> bool:
        """Whether nobody is scoring it."""
        return self.job is None or self.job.done


class Scorings:
    """The scorings of this process, by the file that was uploaded."""

    def __init__(self) -> None:
        self._files: OrderedDict[tuple[str, str, str], _File] = OrderedDict()
        self._jobs = Registry()

    def so_far(self, gold: GoldQuestions, model: LanguageModel) -> dict[int, ScoredQuestion]:
        """Return what a model has scored of a file, by the question's place in it.

        The files used last are kept, and those that are being scored.
        """
        # A copy: while somebody reads it, a job adds to the original.
        return dict(sorted(self._file(gold, model).done.copy().items()))

    def _file(self, gold: GoldQuestions, model: LanguageModel) -> _File:
        key = _key(gold, model)
        scored_file = self._files.setdefault(key, _File())
        self._files.move_to_end(key)
        idle = [other for other, file in self._files.items() if file.is_idle and other != key]
        for other in idle[: max(len(self._files) - KEPT, 0)]:
            del self._files[other]
        return scored_file

    def start(self, gold: GoldQuestions, model: LanguageModel) -> Job[list[ScoredQuestion]]:
        """Start scoring, or go on where somebody stopped."""
        file = self._file(gold, model)
        left = len(gold.questions) - len(file.done)
        most = None if model.capabilities.local else _plan(gold, model, left).requests
        golds = [
            Gold(query, answers, source)
            for query, answers, source in zip(
                gold.questions, gold.answers, gold.sources, strict=True
            )
        ]

        def keep(place: int, scored: ScoredQuestion) -> None:
            # One that was under way when somebody stopped may end beside its second try.
            file.done.setdefault(place, scored)

        def work(job: Job[list[ScoredQuestion]]) -> list[ScoredQuestion]:
            try:
                return score_all(
                    golds,
                    model,
                    _request(golds[0].query, model),
                    progress=job.progress,
                    done=file.done.copy(),
                    keep=keep,
                    meters=file.meters,
                )
            except BaseException:
                stop(model)
                raise

        file.job = self._jobs.start(file, work, model, most=most)
        return file.job


def _key(gold: GoldQuestions, model: LanguageModel) -> tuple[str, str, str]:
    return gold.sha256, model.name, model.revision


def _request(query: str, model: LanguageModel) -> Request:
    return usual_request(query, model.capabilities)


def _plan(gold: GoldQuestions, model: LanguageModel, number: int) -> Plan:
    """Return the most that so many questions of a file can take."""
    longest = max(gold.questions, key=len)
    most = plan(_request(longest, model), model.capabilities)
    return Plan(number * most.requests, number * most.prompt_tokens, number * most.response_tokens)


def _scorings() -> Scorings:
    return shared_thing("scorings", Scorings)


def scored_table(gold: GoldQuestions) -> Upload | None:
    """Offer to score, show how far it is, and return the scored table as if uploaded."""
    try:
        model = study_model()
        key = _key(gold, model)
    except ModelError as error:
        problem(str(error))
        return None
    run(
        PLACE,
        key,
        lambda: _scorings().start(gold, model),
        on_press=True,
        cancelled="Cancelled. Rows scored so far are saved.",
        retry=False,
    )
    if (this := run_of(PLACE, key)) and this.running:
        return None
    rows = _scorings().so_far(gold, model)
    everything, so_far = len(gold.questions), len(rows)
    left = everything - so_far
    if left and not model.capabilities.local:
        offer(model, _plan(gold, model, left))
    with st.container(horizontal=True, vertical_alignment="center"):
        if left:
            st.button(
                f"Score {left:d} question{'s' if left > 1 else ''}"
                + (" on the embedded model" if model.name == EMBEDDED else ""),
                key="score",
                type="primary" if not so_far else "secondary",
                on_click=want,
                args=(PLACE, key),
            )
        if takes := lasting(
            left * computed_tokens(_request(max(gold.questions, key=len), model)), model
        ):
            st.text(f"This takes {takes} on this machine.")
        if so_far:
            st.text(f"{so_far:,} of {everything:,} scored.")
    if used := [scored.used for scored in rows.values() if scored.used]:
        st.text(f"Used for scoring so far: {spending(sum(used, Used()))}")
    if not so_far:
        return None
    upload = _as_upload(gold, model)
    downloads.download("Download the scored table", upload[1], "scored.csv")
    return upload[0]


def _as_upload(gold: GoldQuestions, model: LanguageModel) -> tuple[Upload, bytes]:
    """Return the scored table as an upload, made once for every state of the scoring."""
    so_far = _scorings().so_far(gold, model)
    rows = list(so_far.values())

    def make() -> tuple[Upload, bytes]:
        content = table(rows, model, _request(rows[0].gold.query, model))
        return uploads.parse(content, f"{gold.name} (scored)"), content

    return memory_of("scored", gold, make, (model.name, model.revision, tuple(so_far)))
