"""What a recording asks a model, call by call; what a local model scores shares its passes."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from core.language_models.language_model import LanguageModel
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
    """Return what came of tasks, and how long each took: of several, its share of all."""
    blocks = [task.block for task in tasks if task.block]
    started = time.perf_counter()
    results = model.score_together(blocks) if len(tasks) > 1 else [tasks[0].call()]
    seconds = time.perf_counter() - started
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
