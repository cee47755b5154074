"""What runs in the processes of a cluster: a worker that holds a model, and the desk of a run.

A worker is given a block of questions and returns their rows, both as tables: that is what Ray
moves and writes. It asks as the local engine does. Whatever ends a run goes into the table, too,
as a line without an id: an exception would take the block's finished rows with it.
"""

import socket
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Any, Final

import pyarrow as pa

from core.abstention.policy import Pipeline
from core.codec import one_line
from core.data.datasets.questions import Question
from core.language_models.client.concurrency import AbandonedError
from core.language_models.client.stack import stop
from core.language_models.errors import BudgetError
from core.language_models.language_model import LanguageModel
from core.language_models.usage import Budget, Usage
from core.studies.evaluation.local import ENDS_A_RUN, Task, local
from core.studies.evaluation.rows import SCHEMA, Row
from core.studies.evaluation.run import pipeline_for
from core.studies.evaluation.run_folder import RunError
from core.studies.inspection.request import Reading, Request
from core.studies.progress import Cancelled

LOOK: Final = 1.0  # seconds between two looks whether the run is stopped

ASKED = pa.schema(
    [
        ("block", pa.int64()),
        *(SCHEMA.field(n) for n in ("id", "query", "answers", "source")),
        ("context", pa.string()),
    ]
)
RETURNED = pa.schema(
    [
        ("block", pa.int64()),
        *SCHEMA,
        ("recording", pa.string()),
        ("unreachable", pa.bool_()),
        ("ending", pa.string()),  # the name of what ended the run, of a line without an id
    ]
)
#: What a line without an id may name.
ENDINGS: Final = {error.__name__: error for error in (*ENDS_A_RUN, RunError)}


class RunControl:
    """What is the run's and not a worker's: its budget, and whether it is stopped.

    One of them is an actor of Ray's beside the process that began the run.

    `most, used`: the calls to a service that a person allowed, and those made of them before.
    `remainder`: what the run may still take, in calls and in tokens, where that was stated.
    """

    def __init__(self, most: int | None, used: int, remainder: Usage | None = None) -> None:
        self._budget = Budget(most)
        for _ in range(used):
            self._budget.take()
        if remainder is not None:
            self._budget.limit(remainder)
        self._begun: set[int] = set()
        self._stopped = self._abandoned = False

    def take(self, used: Usage) -> str | None:
        """Count a call, and the tokens of those before; return why it may not be made, or None."""
        self._budget.spend(used)
        try:
            self._budget.take()
        except BudgetError as error:
            return str(error)
        return None

    def calls(self) -> int:
        """Return how many calls were made, or at least begun."""
        return self._budget.requests

    def begin(self, block: int) -> bool:
        """Return whether a block may be begun; raise `AbandonedError` when nobody wants another."""
        if self._abandoned:
            raise AbandonedError
        if not self._stopped:
            self._begun.add(block)
        return not self._stopped

    def is_over(self) -> bool:
        """Return whether workers are to hand in what they have finished."""
        return self._stopped

    def stop(self) -> set[int]:
        """Let no block be begun any more; return those that were."""
        self._stopped = True
        return self._begun

    def abandon(self) -> None:
        """Have what is left given up."""
        self._stopped = self._abandoned = True


class SharedBudget(Budget):
    """A worker's budget, of which every call is counted at the run's `RunControl`.

    `take`: counts a call there, and the tokens of those before; returns why it may not be made, or
    None.
    """

    def __init__(self, take: Callable[[Usage], str | None]) -> None:
        super().__init__()
        self._take = take
        self._unsaid = Usage()  # there

    def spend(self, used: Usage) -> None:
        """Count the tokens of a request; the desk hears of them with the next call."""
        with self._lock:
            self._unsaid += used

    def take(self) -> None:
        """Count one request; see `Budget.take`."""
        super().take()
        with self._lock:
            used, self._unsaid = self._unsaid, Usage()
        refusal = self._take(used)
        if refusal:
            raise BudgetError(refusal)


@dataclass(frozen=True)
class WorkerTask:
    """What a worker is to do, made of what can be sent to another machine."""

    # Opens the model there, asked in its form, within a budget.
    opening: Callable[[Budget], LanguageModel]
    pipeline: Pipeline  # where the run was begun: another version would score differently
    request: Request
    reading: Reading
    least_mass: float  # See `Task`


class Worker:
    """Holds a model for as long as there are questions, at the run's `RunControl`."""

    def __init__(self, job: WorkerTask, desk: Any) -> None:
        import ray

        def at_the_desk(method: str, *arguments: object) -> Any:
            return ray.get(getattr(desk, method).remote(*arguments))

        self._desk = at_the_desk
        self._looked = time.monotonic()
        self._failure: Exception | None = None
        try:
            model = job.opening(SharedBudget(lambda used: at_the_desk("take", used)))
            self._task = Task(model, job.request, job.reading, job.least_mass)
            if different := pipeline_for(self._task).differences(job.pipeline):
                raise RunError(
                    f"it scores otherwise there than where the run was begun: "
                    f"{'; '.join(different)}. Install the same on every machine; of a served "
                    "model, the command probe finds out anew there what it is"
                )
        except BudgetError as error:
            self._failure = error
        except Exception as error:  # in a table, it reaches a person as a sentence
            reason = one_line(str(error) or type(error).__name__, 1000).removesuffix(".")
            self._failure = RunError(
                f"The worker on {socket.gethostname()} has no model: {reason}."
            )

    def __call__(self, block: pa.Table) -> pa.Table:
        """Ask a block of questions, and return their rows."""
        number = block["block"][0].as_py()
        if not self._desk("begin", number):
            return row_block(number, ())
        if self._failure:
            return row_block(number, (), self._failure)
        rows: list[Row] = []
        try:
            for row in local(questions_in(block), self._task, lambda _: self._look()):
                rows.append(row)
        except ENDS_A_RUN as error:
            stop(self._task.model)
            return row_block(number, rows, error)
        return row_block(number, rows)

    def _look(self) -> None:
        """Look now and then whether the run is stopped; raise `Cancelled` then."""
        if time.monotonic() - self._looked >= LOOK:
            self._looked = time.monotonic()
            if self._desk("is_over"):
                raise Cancelled


def question_block(number: int, questions: Iterable[Question]) -> pa.Table:
    """Return a block of questions as a table."""
    return pa.Table.from_pylist([asdict(q) | {"block": number} for q in questions], ASKED)


def questions_in(block: pa.Table) -> Iterator[Question]:
    """Yield the questions of a block."""
    for row in block.to_pylist():
        answers = tuple(map(tuple, row["answers"]))
        yield Question(row["id"], row["query"], answers, row["source"], row["context"])


def row_block(number: int, rows: Iterable[Row], error: Exception | None = None) -> pa.Table:
    """Return the rows of a block as a table, and what ended the run in it."""
    lines = [
        row.values | {"recording": row.recording, "unreachable": row.unreachable} for row in rows
    ]
    if error is not None:
        kinds = (kind.__name__ for kind in type(error).__mro__)
        lines.append(
            {"error": str(error), "ending": next(name for name in kinds if name in ENDINGS)}
        )
    return pa.Table.from_pylist([line | {"block": number} for line in lines], RETURNED)


def rows_in(block: pa.Table) -> tuple[list[Row], Exception | None]:
    """Return the rows of a block, and what ended the run in it."""
    rows, error = [], None
    for line in block.to_pylist():
        if line["id"] is None:
            error = ENDINGS[line["ending"]](line["error"])
        else:
            values = {name: line[name] for name in SCHEMA.names}
            rows.append(Row(values, line["recording"], line["unreachable"]))
    return rows, error
