"""What a recording asks a model, call by call; what a local model scores shares its passes."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from core.codec import count_of
from core.language_models.errors import ModelError
from core.language_models.language_model import LanguageModel, Response
from core.studies.inspection.recording import Call

MOST_LISTED = 1_000  # calls of one stage: a model compares two answers a call, each with each other


@dataclass(frozen=True)
class ModelTask:
    """One call to the model: what for, how many texts it draws or scores, and the call."""

    purpose: str
    sequences: int
    call: Callable[[], Any]
    # The prompts and answers, where the call scores answers.
    block: tuple[Sequence[str], Sequence[str]] | None = None


def draws(purpose: str, model: LanguageModel, prompt: str, count: int, **how: Any) -> ModelTask:
    """Return the call for so many answers, which a model of one's own may fail to give.

    Fewer second answers than were asked for would show less of what changes them.
    """

    def call() -> list[Response]:
        responses = list(model.sample(prompt, count, **how))
        if len(responses) != count or not all(isinstance(r, Response) for r in responses):
            raise ModelError(
                f"{model.name} was asked for {count_of(count, 'answer')} and gave "
                f"{len(responses):,}, or other things. Let its “sample” return as many Response."
            )
        return responses

    return ModelTask(purpose, count, call)


def in_groups(tasks: Sequence[ModelTask], most: int) -> list[list[ModelTask]]:
    """Return tasks in their order, with neighbours together that score at most so many pairs."""
    groups: list[list[ModelTask]] = []
    for task in tasks:
        before = groups[-1] if groups else []
        pairs = sum(each.sequences for each in before) + task.sequences
        if before and before[-1].block and task.block and pairs <= most:
            before.append(task)
        else:
            groups.append([task])
    return groups


def calls_of(model: LanguageModel, tasks: Sequence[ModelTask]) -> list[tuple[Any, Call]]:
    """Return what came of tasks, and how long each took: of several, its share of all.

    Raises `ModelError` where scores are not those of every prompt and answer: one row of them would
    be taken for all.
    """
    blocks = [task.block for task in tasks if task.block]
    started = time.perf_counter()
    results = model.score_together(blocks) if len(tasks) > 1 else [tasks[0].call()]
    seconds = time.perf_counter() - started
    for block, scores in zip(blocks, results if blocks else (), strict=True):
        if np.shape(scores) != (shape := tuple(map(len, block))):
            raise ModelError(
                f"{model.name} was to score {count_of(shape[1], 'answer')} behind "
                f"{count_of(shape[0], 'prompt')}, and returns no such table. Let its "
                "“log_likelihoods” return a row for each prompt."
            )
    whole = sum(task.sequences for task in tasks) or 1
    calls = [Call(t.purpose, t.sequences, seconds * (t.sequences or 1) / whole) for t in tasks]
    return list(zip(results, calls, strict=True))


def list_calls(calls: list[Call]) -> list[Call]:
    """Return calls one by one, or of very many the sums: every result that is saved lists them."""
    if len(calls) <= MOST_LISTED:
        return calls
    return [
        Call(purpose, sum(c.sequences for c in same), sum(c.seconds for c in same))
        for purpose in dict.fromkeys(call.purpose for call in calls)
        for same in [[call for call in calls if call.purpose == purpose]]
    ]
