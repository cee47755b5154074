"""A guard around a language model: it answers where a policy allows it, and else abstains.

It decides as the screens do, on the same evidence, and is stricter in one thing: it serves an
answer only under a policy that fits, so that what it promises holds for all that it serves.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from core.abstention.policy import Pipeline, Policy, PolicyError, check_pipeline
from core.abstention.policy_files import from_json
from core.abstention.proof import check_promise
from core.language_models import meaning
from core.language_models.client.concurrency import at_once, questions_at_once
from core.language_models.errors import ModelError, fault_of
from core.language_models.language_model import LanguageModel
from core.language_models.opening import AUTO, open_for_study
from core.language_models.stopping import Stop, ending, patience
from core.reports.inspection import words
from core.studies.inspection.certificates import certificate
from core.studies.inspection.inspection import Inspection, cannot_decide, read
from core.studies.inspection.pipeline import pipeline_of, to_text
from core.studies.inspection.recorder import check_samples, record, usual_request
from core.studies.inspection.recording import estimator_of
from core.studies.inspection.request import (
    InvalidRequestError,
    Reading,
    Request,
    Sampling,
    check_model_and_budget,
)
from core.studies.inspection.taught_questions import in_taught_words
from core.studies.inspection.verdict import Decision, Headline, rule_of
from core.studies.progress import Cancelled, Progress, silent
from core.uncertainty.similarity import JUDGE

BUDGET = 2000
_LOG = logging.getLogger("believe")
_ANY = "?"  # a question to make a request of; nothing asks it


@dataclass(frozen=True)
class Answer:
    """An answer that may be served; as a text, `text`."""

    text: str
    question: str  # as it was asked of the guard
    # Whether the policy promises more of it than of all answers, and it stands: “Believe it.”
    believed: bool
    reason: str  # why it is served, and what holds it back
    promise: str  # of all answers that this policy serves, in words, or that there is none
    inspection: Inspection = field(repr=False, compare=False)  # the evidence and every score

    def __str__(self) -> str:
        return self.text

    def to_dict(self) -> dict[str, Any]:
        """Return a dictionary for a log, which JSON can hold.

        “scores” are doubts, as in a run's table, with their “pipeline”: `Policy.decide` of the
        guard's own policy takes them, and decides as the guard did.
        """
        return {
            "decision": "answer",
            "question": self.question,
            "answer": self.text,
            "believed": self.believed,
            "reason": self.reason,
            "promise": self.promise,
            "scores": _row(self.inspection, served=True),
        }


@dataclass(frozen=True)
class Abstention:
    """Why no answer may be served; it counts as false, and its text is empty."""

    question: str
    reason: str
    # The evidence, with the answer that is withheld; None where the model was not asked, or gave
    # none.
    inspection: Inspection | None = field(default=None, repr=False, compare=False)

    def __str__(self) -> str:
        return ""

    def __bool__(self) -> bool:
        return False

    def to_dict(self) -> dict[str, Any]:
        """Return a dictionary for a log, which JSON can hold; the answer is not in it.

        The reason may quote the model, such as two answers that differ. “scores” are as those of
        an `Answer`; an answer that is withheld in spite of a small doubt has none.
        """
        return {
            "decision": "abstain",
            "question": self.question,
            "reason": self.reason,
            "scores": _row(self.inspection, served=False) if self.inspection else {},
        }


class Guard:
    """A model with its settings, and the policy by which its answers are served; see `guard`.

    The policy is None where nothing is certified for this model: then it withholds all.
    """

    def __init__(
        self,
        model: LanguageModel,
        policy: Policy | None = None,
        *,
        system: str = "",
        answer_tokens: int | None = None,
    ) -> None:
        self.model = model
        request, self._reading = settings_of(model, policy)
        limit = request.answer_tokens if answer_tokens is None else answer_tokens
        self._request = replace(request, system=system, answer_tokens=limit)

        if policy is None:
            self.policy = certificate(self._pipeline(self._request, 0.0))
        else:
            self.policy = policy
            if reason := cannot_decide(policy):
                raise PolicyError(reason)
            check_promise(policy)
            assert policy.pipeline is not None  # it would have been the reason
            mass = rule_of(policy).least_mass
            behind = self._pipeline(replace(self._request, context=_ANY), mass)  # with each, maybe
            if policy.pipeline.differences(behind):
                check_pipeline(policy, self._pipeline(self._request, mass))
        check_samples(self._request, model.capabilities)
        self._brought = policy

    def _pipeline(self, request: Request, least_mass: float) -> Pipeline:
        settings = self.model.name, self.model.revision, request, self._reading, least_mass
        return pipeline_of(*settings, estimator_of(self.model.capabilities))

    def __call__(
        self,
        question: str,
        progress: Progress | None = None,
        *,
        context: str = "",
        system: str | None = None,
    ) -> Answer | Abstention:
        """Ask one question; whatever goes wrong with the model is a reason to abstain.

        `context`: passages to draw the answer from; where the policy was calibrated without any,
        nothing is asked. `system`: a system prompt instead of the guard's own, likewise.

        Raises `Cancelled` where `progress` does.
        """
        for text in (question, context, system):
            if not isinstance(text, str | None) or question is None:
                raise InvalidRequestError(
                    "A question, a context and a system prompt are texts. Ask with guard(…)."
                )
        try:
            system = self._request.system if system is None else system
            request = replace(self._request, query=question, context=context, system=system)
            if self._brought is None:  # a policy of one's own is of questions as they were typed
                request = in_taught_words(request, self.model)
            elif own := self._brought.pipeline:  # what could not be served is not paid for
                check_pipeline(self._brought, self._pipeline(request, own.least_mass))
            with ending():  # also by Ctrl-C, which only this thread hears
                recording = record(request, self.model, progress or silent)
            inspection = read(recording, self._reading, policy=self._brought)
        except (ModelError, InvalidRequestError, PolicyError) as error:
            return Abstention(question, str(error))
        except Cancelled:
            raise
        except Exception as error:  # of a model of one's own
            return Abstention(question, fault_of(self.model.name, error))
        return _outcome(question, inspection)

    async def ask(self, question: str, *, context: str = "") -> Answer | Abstention:
        """Ask one question in a thread of its own; if the task is cancelled, it asks no more."""
        with ending() as stop:
            return await asyncio.to_thread(_ask_until, stop, self, question, context=context)

    def batch(self, questions: Iterable[str]) -> list[Answer | Abstention]:
        """Ask several questions, some at a time where that is faster; return answers in order."""
        every = [*questions] if isinstance(questions, Iterable) else [questions]
        is_other = isinstance(questions, str) or getattr(questions, "ndim", 1) != 1  # or a table
        if is_other or not all(isinstance(one, str) for one in every):
            raise InvalidRequestError(
                "A batch is a list of questions. For a single one, call the guard itself."
            )

        workers = questions_at_once(self.model.capabilities)
        with ending() as stop:
            calls = [partial(ask_beside, stop, self, question) for question in every]
            return at_once(calls, workers=workers)


def ask_beside(stop: Stop, guard: Guard, question: str, **how: Any) -> Answer | Abstention:
    """Ask a guard one question beside others, each in a thread, until somebody says stop.

    Raises `Cancelled` then, or abstains; what is under way ends by itself.
    """
    with guard.model.beside():
        return _ask_until(stop, guard, question, **how)


def _ask_until(stop: Stop, guard: Guard, question: str, **how: Any) -> Answer | Abstention:
    def progress(stage: str, share: float) -> None:
        if stop.is_set:
            raise Cancelled

    with patience(stop):
        return guard(question, progress, **how)


def guard(
    model: str | LanguageModel = "embedded",
    policy: Policy | str | Path | None = None,
    *,
    form: str = AUTO,
    budget: int = BUDGET,
    system: str = "",
    answer_tokens: int | None = None,
) -> Guard:
    """Return a guard around a model: a function from a question to `Answer` or `Abstention`.

    Raises `InvalidRequestError` when the model cannot be asked so; `ModelError` when it cannot be
    opened; `PolicyError` when the policy cannot be read, or was calibrated for something else.

    `model`: a name as the command line takes it, or a model of one's own.
    `policy`: what decides, or its file. The guard asks with the settings of the calibration. By
    default the one that is certified for this model; where none is, the guard asks, shows the
    evidence and serves nothing.
    `form`: “plain”, “examples”, “chat” or “chat-with-examples”; “auto” finds the one that suits.
    `budget`: most requests to a service, in all; beyond them every answer is withheld.
    `system`: a system prompt, in front of every prompt.
    `answer_tokens`: tokens after which an answer is cut; by default as the policy has it, else 32.
    """
    check_model_and_budget(model, budget)
    if not isinstance(policy, str | Path | Policy | None):
        raise PolicyError("`policy` is neither a Policy nor its file. Give one of them, or None.")
    if isinstance(policy, str | Path):
        policy = policy_in(policy)
    opened = open_for_study(model, form, budget, _LOG.info)
    return Guard(opened, policy, system=system, answer_tokens=answer_tokens)


def policy_in(file: str | Path) -> Policy:
    """Return the policy of a file.

    Raises `PolicyError` when there is none, or it promises more than its labels can prove.
    """
    if not isinstance(file, str | Path):
        raise PolicyError("`policy_in` takes the path of a policy’s file.")
    try:
        return from_json(Path(file).read_bytes())
    except OSError as error:
        raise PolicyError(f"The policy {file} cannot be read: {error.strerror}.") from error


def settings_of(model: LanguageModel, policy: Policy | None) -> tuple[Request, Reading]:
    """Return how a question is asked and read: as a policy's were, or as one usually does.

    Raises `PolicyError` when it names settings that there are not, `ModelError` when it compares
    by a model that cannot be opened.
    """
    pipeline = policy.pipeline if policy else None
    if pipeline and pipeline.similarity.startswith(meaning.PREFIX):
        meaning.open_comparison(pipeline.similarity, fetches=False)
    try:
        if pipeline is None:
            return usual_request(_ANY, model.capabilities), Reading()
        request = Request(
            _ANY,
            pipeline.samples,
            pipeline.temperature,
            judged=pipeline.similarity == JUDGE,
            sampling=Sampling(pipeline.sampling),
            answer_tokens=pipeline.answer_tokens,
        )
        return request, Reading(
            pipeline.similarity, pipeline.tau, pipeline.gamma_1, pipeline.gamma_2
        )
    except (InvalidRequestError, ValueError) as error:
        raise PolicyError(f"The policy names settings that do not exist: {error}") from error


def _outcome(question: str, inspection: Inspection) -> Answer | Abstention:
    """Serve an answer that a fitting policy lets through, to what the model was taught if known."""
    headline = inspection.headline
    lines = words.STAMPS[headline].reason, *words.beneath(inspection)
    reason = " ".join(line.strip() for line in lines if line)
    rule, off = inspection.verdict.rule, not inspection.in_taught_words
    if rule is None or off or inspection.decision is not Decision.ANSWER:
        return Abstention(question, reason, inspection)
    believed = headline is Headline.BELIEVE
    text = inspection.verdict.answer
    if not text:
        return Abstention(question, "The model’s answer has no text.", inspection)
    return Answer(text, question, believed, reason, rule.origin, inspection)


def _row(inspection: Inspection, *, served: bool) -> dict[str, Any]:
    """Return the doubts by score and what made them: a row as `Policy.decide` takes it."""
    row, rule = inspection.doubts, inspection.verdict.rule
    if rule and not served and (row[rule.score] or 0.0) < rule.value:
        row[rule.score] = None
    return {**row, "pipeline": to_text(inspection.pipeline)}
