"""The engine on a cluster: Ray Data streams questions over workers that each hold the model.

A block of questions is what one worker is given, what Ray writes as one Parquet file, and what is
asked again when its machine is gone. Ray writes where the run was begun, below the run's folder,
so no file system has to be shared. From there the rows are gathered, each question's once, and
the files go: those that a killed process left behind are gathered by the next, whatever its engine.

`ray` is imported on first use; `requirements/cluster.txt` installs it.
"""

import logging
import math
import os
import shutil
import sys
import threading
import time
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass, field
from importlib.util import find_spec
from itertools import chain, count, islice
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
from pyarrow import parquet

from core.codec import count_of, one_line
from core.data.datasets.questions import Question
from core.language_models.client.concurrency import TICK, questions_at_once
from core.language_models.client.stack import PreparedModel
from core.language_models.language_model import LanguageModel
from core.language_models.usage import Budget
from core.studies.evaluation.local import Engine, Task, Tick
from core.studies.evaluation.rows import TOKENS, USED, Row
from core.studies.evaluation.run import pipeline_for
from core.studies.evaluation.run_folder import STAGED, RunError, writing
from core.studies.evaluation.worker import (
    RETURNED,
    RunControl,
    Worker,
    WorkerTask,
    question_block,
    rows_in,
)

CPU, GPU = "CPU", "GPU"  # as Ray calls them
TIMES_AT_ONCE: Final = 4  # a block has so many times the questions that are asked at once
#: Blocks that a worker is given at a time: one to ask and one to go on with. With more, those
#: that begin first would take what is left for those that begin later.
DEALT: Final = 2
WRITERS: Final = 2  # processes that write
PATIENCE: Final = 30.0  # seconds in which workers hand in what they have finished by a stop
OBJECT_STORE: Final = 200 * 2**20  # bytes, of a Ray that is started here
INSTALL = (
    "Ray is not installed. Install it with pip install -r requirements/cluster.txt, or leave out "
    "--engine ray."
)
CLIENT = (
    "Ray's client (ray://) would write files elsewhere. "
    "Run the command on a machine of the cluster, with --address auto."
)


@dataclass(frozen=True)
class RayCluster:
    """Where the workers run."""

    # Of a cluster that this machine is part of, “auto” for the one it is part of; None starts Ray
    # on this machine until the run ends.
    address: str | None = None
    # None has as many as there is room for; of a service, one on each machine.
    workers: int | None = None
    # What Ray reserves for a worker, by its names: “CPU”, “GPU”, or one of the cluster's own.
    reserved: Mapping[str, float] = field(default_factory=lambda: {CPU: 1.0})


def check_installation() -> None:
    """Check that Ray is installed; raise `RunError` when it is not."""
    if find_spec("ray") is None:
        raise RunError(INSTALL)


def engine_on(
    cluster: RayCluster, folder: Path, opening: Callable[[Budget], LanguageModel]
) -> Engine:
    """Return the engine that asks on a cluster.

    `opening` opens the model in a worker, asked in its form. It is sent there, so it must be made
    of what can be pickled, and hold no secret: keys are in the environment of the machines.
    """

    def engine(questions: Iterator[Question], task: Task, tick: Tick) -> Generator[Row, None, None]:
        staged, model = folder.resolve() / STAGED, task.model
        first = next(questions, None)
        if first is None:
            return
        job = WorkerTask(opening, pipeline_for(task), task.request, task.reading, task.least_mass)
        with _connection(cluster):
            yield from _Work(cluster, staged, job, model).rows(chain([first], questions), tick)

    return engine


class _Work:
    """The questions of a run that are asked on a cluster."""

    def __init__(
        self, cluster: RayCluster, staged: Path, job: WorkerTask, model: LanguageModel
    ) -> None:
        self._cluster, self._staged, self._job, self._model = cluster, staged, job, model
        self._left: set[str] = set()  # ids of questions whose rows are not gathered yet
        self._closed: set[int] = set()  # blocks of which all is gathered
        self._calls = 0  # to a service, of the rows that are gathered
        self._failure: BaseException | None = None  # what ends the run

    def rows(self, questions: Iterator[Question], tick: Tick) -> Generator[Row, None, None]:
        """Yield the rows of the questions; see `Engine`."""
        with writing(self._staged):
            self._staged.mkdir(exist_ok=True)
        yield from self._new_rows(list(self._blocks(questions, tick)), tick)
        shutil.rmtree(self._staged, ignore_errors=True)

    def _blocks(self, questions: Iterator[Question], tick: Tick) -> Iterator[Any]:
        """Put questions into Ray's store, and yield a reference to each block of them."""
        import ray

        size = self._block_size
        for number in count():
            tick(0.0)
            block = list(islice(questions, size))
            if not block:
                return
            self._left.update(question.id for question in block)
            yield ray.put(question_block(number, block))

    @property
    def _block_size(self) -> int:
        able = self._model.capabilities
        # What a large model on this machine finishes in a block's time would be much to lose.
        times = 1 if able.local and not able.quick else TIMES_AT_ONCE
        return times * questions_at_once(able)

    def _new_rows(self, blocks: list[Any], tick: Tick) -> Generator[Row, None, None]:
        """Ask, and yield the rows as they are written."""
        import ray

        budget = self._model.budget if isinstance(self._model, PreparedModel) else Budget()
        before = budget.requests
        workers = self._cluster.workers or _room(self._cluster.reserved, self._model)
        limits = budget.most, before, budget.run_remainder
        desk = ray.remote(RunControl).options(**_beside()).remote(*limits)
        asking = threading.Thread(target=self._write, args=(blocks, desk, workers), daemon=True)
        asking.start()
        try:
            while self._failure is None and asking.is_alive():
                yield from self._finished_rows()
                try:
                    tick(0.0)
                    asking.join(TICK)
                except BaseException as error:
                    self._failure = error
            begun, until = ray.get(desk.stop.remote()), time.monotonic() + PATIENCE
            while asking.is_alive() and not begun <= self._closed and time.monotonic() < until:
                yield from self._finished_rows()
                asking.join(TICK)
            yield from self._finished_rows()
            # Calls for rows that a machine took with it are made, too.
            self._model.meter.add(max(ray.get(desk.calls.remote()) - before - self._calls, 0))
        finally:
            desk.abandon.remote()
            asking.join(PATIENCE)
        if self._failure is not None:
            raise self._failure
        if self._left:
            number = count_of(len(self._left), "question")
            raise RunError(f"Ray returned no row of {number}. Run the same command again.")

    def _write(self, blocks: list[Any], desk: Any, workers: int) -> None:
        """Let Ray ask and write, until all is written; in a thread."""
        import ray.data

        reserved = dict(self._cluster.reserved)
        try:
            dataset = ray.data.from_arrow_refs(blocks).map_batches(
                Worker,
                fn_constructor_args=(self._job, desk),
                batch_size=self._block_size,
                batch_format="pyarrow",
                compute=ray.data.ActorPoolStrategy(
                    size=workers, max_tasks_in_flight_per_actor=DEALT
                ),
                num_cpus=reserved.pop(CPU, 0.0),
                num_gpus=reserved.pop(GPU, 0.0),
                resources=reserved,
            )
            # A large model may take long for a block; who waits too long presses Ctrl-C.
            dataset.context.execution_no_progress_timeout_s = -1
            dataset.write_parquet(str(self._staged), ray_remote_args=_beside(), concurrency=WRITERS)
        except Exception as error:
            reason = one_line(str(error).strip().rpartition("\n")[2], 300)
            self._failure = self._failure or RunError(f"Ray ended the run: {reason}")

    def _finished_rows(self) -> Iterator[Row]:
        """Yield the rows that were written since, each question's once."""
        for path in sorted(self._staged.iterdir()):
            block = _read(path)
            if block is None:  # it is still being written
                continue
            rows, error = rows_in(block)
            for row in rows:
                if row.id in self._left:
                    self._left.remove(row.id)
                    self._count(row)
                    yield row
            self._closed.update(block["block"].to_pylist())
            self._failure = self._failure or error
            path.unlink()

    def _count(self, row: Row) -> None:
        """Count what a row took of a service as if it had been asked here."""
        used = {name: row.values[name] or 0 for name in USED}
        silent = row.values[TOKENS[0]] is None
        self._model.meter.add(**used, unreported=used["requests"] * silent)
        self._calls += used["requests"]


def _read(path: Path) -> pa.Table | None:
    """Return a block that Ray has written; None of one that is not whole."""
    try:
        return parquet.read_table(path, schema=RETURNED, partitioning=None)
    except (OSError, pa.ArrowException):
        return None


@contextmanager
def _connection(cluster: RayCluster) -> Iterator[None]:
    """Be part of the cluster until the end of the block."""
    # Both are read on import. Once this Ray ends, no thread is to begin another.
    os.environ |= {"RAY_USAGE_STATS_ENABLED": "0", "RAY_ENABLE_AUTO_CONNECT": "0"}
    import ray
    import ray.data

    if (cluster.address or "").startswith("ray://"):
        raise RunError(CLIENT)
    logging.getLogger("ray.data").setLevel(logging.CRITICAL)  # what ends a run is said
    context = ray.data.DataContext.get_current()
    context.enable_progress_bars = context.print_on_execution_start = False
    options: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR}
    if cluster.address is None:
        cores = math.ceil((cluster.workers or 0) * cluster.reserved.get(CPU, 0.0))
        options |= {
            "num_cpus": cores or os.cpu_count(),
            "object_store_memory": OBJECT_STORE,
            "include_dashboard": False,
        }
    with redirect_stdout(sys.stderr):  # Ray prints warnings; what is printed there is the result
        try:
            ray.init(cluster.address or "local", **options)
        except (ConnectionError, RuntimeError, ValueError) as error:
            place = f"at {cluster.address}" if cluster.address else "on this machine"
            reason = one_line(str(error), 300)
            raise RunError(f"There is no Ray {place} to connect to: {reason}") from error
        try:
            yield
        finally:
            ray.shutdown()


def _beside() -> dict[str, Any]:
    """Return where something runs that is to be on this machine, and to take no room on it."""
    import ray
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    node = ray.get_runtime_context().get_node_id()
    return {"num_cpus": 0, "scheduling_strategy": NodeAffinitySchedulingStrategy(node, soft=False)}


def _room(reserved: Mapping[str, float], model: LanguageModel) -> int:
    """Return how many workers the cluster has room for; of a service, one on each machine.

    Raises `RunError` when there is none.
    """
    import ray

    most = math.inf if model.capabilities.local else 1
    rooms = [
        min(most, *(node["Resources"].get(name, 0) // amount for name, amount in reserved.items()))
        for node in ray.nodes()
        if node["Alive"]
    ]
    if not sum(rooms):
        resources = ", ".join(f"{name}={amount:g}" for name, amount in reserved.items())
        raise RunError(f"No machine of the cluster has room for a worker, which takes {resources}.")
    return int(sum(rooms))
