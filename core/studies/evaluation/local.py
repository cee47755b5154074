"""The engine on this machine: threads that ask, whose model computes many questions as one.

An engine takes questions as they come and yields their rows in whatever order they are finished.
Another one does the same elsewhere with `ask`, and everything around it stays.
"""

import math
import time
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol

from core.data.datasets.questions import Question
from core.language_models import errors
from core.language_models.client.concurrency import AbandonedError, questions_at_once, stream
from core.language_models.client.stack import meter_for
from core.language_models.language_model import LanguageModel
from core.language_models.usage import Meter, Usage
from core.store.errors import StoreError
from core.studies.costs import computed_tokens
from core.studies.evaluation.rows import Row, failed_row, scored_row
from core.studies.inspection.inspection import read
from core.studies.inspection.recorder import record
from core.studies.inspection.recording import Estimator, estimator_of
from core.studies.inspection.request import (
    MAX_QUERY_CHARACTERS,
    InvalidRequestError,
    Reading,
    Request,
)
from core.studies.inspection.verdict import DecisionRule
from core.studies.progress import Cancelled

#: What ends a run, and is no question's own fault: the question is asked when somebody goes on.
ENDS_A_RUN = (
    *(AbandonedError, Cancelled, errors.BudgetError, errors.NotSavedError, StoreError),
    *(errors.NeedsKeyError, errors.BrokenModelError, errors.UnknownModelError),
    errors.OtherModelError,
)


@dataclass(frozen=True)
class Task:
    """How every question is asked and read."""

    model: LanguageModel
    request: Request  # its own question and context are none of them
    reading: Reading
    least_mass: float  # the sampled mass below which a score decides nothing

    @cached_property
    def origin(self) -> tuple[str, Estimator]:
        """The model's revision and its estimator when they were first asked for."""
        return self.model.revision, estimator_of(self.model.capabilities)


TIMED = 20  # answers
SPARE = 1.25  # 300 answers to a question of 2,000 characters take 1.2 times as long as estimated

#: Told how many questions' worth of work has been done on those that are not finished; may raise.
Tick = Callable[[float], None]


class Engine(Protocol):
    """What works through questions."""

    def __call__(
        self, questions: Iterator[Question], task: Task, tick: Tick
    ) -> Generator[Row, None, None]:
        """Yield the row of every question, once, in any order, as soon as it is finished.

        `tick` is called several times a second, in the caller's thread, and may raise: then the
        rows that are finished are yielded, and the error goes on. It is given 0 where nobody knows.
        """


def local(questions: Iterator[Question], task: Task, tick: Tick) -> Generator[Row, None, None]:
    """Ask in this process; see `Engine`."""
    shares: dict[str, float] = {}  # of questions under way, by their ids

    def work(question: Question, go_on: Callable[[], None]) -> Row:
        def report(share: float) -> None:
            shares[question.id] = share
            go_on()

        return ask(task, question, report)

    for row in stream(
        questions,
        work,
        workers=questions_at_once(task.model.capabilities),
        tick=lambda: tick(sum(tuple(shares.values()))),
    ):
        shares.pop(row.id, None)
        yield row


def ask(task: Task, question: Question, report: Callable[[float], None]) -> Row:
    """Ask one question, and hold every score's answer against the right ones.

    `report`: given the share that is done, in [0, 1), before every call of the model. May raise.

    Raises one of `ENDS_A_RUN`, or out of `report`. Any other becomes part of the row.
    """
    at_a_price, origin = not task.model.capabilities.local, task.origin
    meter, started = Meter(), time.perf_counter()
    model = meter_for(task.model, meter) if at_a_price else task.model

    def cost() -> tuple[Usage | None, float]:
        return meter.usage if at_a_price else None, time.perf_counter() - started

    try:
        request = replace(task.request, query=question.query, context=question.context)
        with model.beside():
            recording = record(request, model, lambda stage, share: report(share))
        if (recording.revision, recording.estimator) != origin:
            raise errors.OtherModelError(
                f"{model.name} no longer answers as it did when this run began (as revision "
                f"“{origin[0]}”, by {origin[1]}). Begin another run."
            )
        # Nothing is decided: a policy will, by the doubts.
        inspection = read(recording, task.reading, DecisionRule(math.inf, task.least_mass))
        return scored_row(question, inspection, *cost())
    except ENDS_A_RUN:
        raise
    except errors.UnreachableError as error:
        return replace(failed_row(question, str(error), *cost()), unreachable=True)
    except (errors.ModelError, InvalidRequestError) as error:
        return failed_row(question, str(error), *cost())
    except Exception as error:  # whatever it is, the other questions are worth going on
        return failed_row(question, f"{type(error).__name__}: {error}", *cost())


def lasts(longest: str, task: Task) -> float:
    """Return how many seconds a question takes on this machine, by asking one alone.

    Of many answers few are asked for, and the rest is estimated: a page waits for this.

    `longest`: a question that takes as long as any.
    """
    query = longest[:MAX_QUERY_CHARACTERS]
    whole = replace(task.request, query=query)
    few = replace(whole, samples=min(whole.samples, TIMED))
    row = ask(replace(task, request=few), Question("", query, (("?",),)), lambda _: None)
    times = computed_tokens(whole) / computed_tokens(few)
    return float(row.values["seconds"]) * times * (SPARE if times > 1 else 1)
