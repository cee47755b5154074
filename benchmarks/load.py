"""What a server bears: 1, 20 and 60 visitors at once, who think between their actions.

    python -m benchmarks.load [--sessions 1 20 60] [--think 2] [--seconds 60] [--pages 110]

Starts the app on this machine and speaks Streamlit's protocol over websockets, as as many browsers
would: every visitor inspects questions that nobody has asked before, moves τ, changes pages,
uploads a small file and calibrates on it with another target. Printed are the median and the 95th
percentile from an action to the end of its script, the server's processor seconds an action, and
how much each further session keeps in memory. Other work on the machine makes the times longer, and
hardly changes the processor seconds. With ``--pages`` one visitor does everything in turn, and the
processor seconds of every kind of action are printed.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import itertools
import math
import os
import random
import statistics
import tempfile
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from benchmarks._visitor import Visitor
from core.data.tabular.csv_export import to_csv
from core.data.world import facts as world
from tests.browser.server import start_server, stop_server

SESSIONS: Final = (1, 20, 60)
THINK, SECONDS = 2.0, 60.0
MOST_SESSIONS, MOST_SECONDS = 200, 3600.0
ROWS: Final = 120  # of an uploaded file
WARM_UP: Final = 22  # actions: two rounds
AFTERWARDS: Final = 0.2  # seconds in which the server tidies up behind the last message
TICKS: Final = os.sysconf("SC_CLK_TCK")

Act = Callable[[Visitor], Awaitable[float]]


# ------------------------------------------------------------------------- what visitors do


def questions() -> Iterator[str]:
    """Yield questions of the embedded model's world, each once, then the same in other wordings."""
    facts = list(world.facts())
    random.Random(0).shuffle(facts)
    for at in itertools.count():
        for fact in facts:
            yield fact.ask(fact.templates[at % len(fact.templates)])


def actions(seed: int, asked: Iterator[str]) -> Iterator[tuple[str, Act]]:
    """Yield what one visitor does, by its kind, without end.

    Everybody goes the same round; each begins elsewhere in it, with other questions and numbers.
    """
    draw, uploads = random.Random(seed), itertools.count()

    def inspect() -> tuple[str, Act]:
        question = next(asked)
        return "inspect", lambda visitor: visitor.type("q", question)

    def move() -> tuple[str, Act]:
        place = draw.randrange(1, 21) / 20
        return "move τ", lambda visitor: visitor.slide("tau", place)

    def go(page: str) -> tuple[str, Act]:
        return f"open {page or 'home'}", lambda visitor: visitor.open(page)

    def upload() -> tuple[str, Act]:
        name, content = f"{seed}-{next(uploads)}.csv", labelled(draw)
        return "upload", lambda visitor: visitor.upload("labelled_file", name, content)

    def calibrate() -> tuple[str, Act]:
        error = draw.randrange(20, 400) / 1000
        return "calibrate", lambda visitor: visitor.give("alpha", error)

    rounds: list[list[Callable[[], tuple[str, Act]]]] = [
        [lambda: go("inspection"), inspect, move, inspect, move],
        [lambda: go("calibration"), upload, calibrate, calibrate],
        [lambda: go("amplification"), lambda: go("")],
    ]
    first = draw.randrange(len(rounds))
    for parts in itertools.islice(itertools.cycle(rounds), first, None):
        for part in parts:
            yield part()


def labelled(draw: random.Random) -> bytes:
    """Return a small table of labelled scores."""
    doubts = [draw.random() for _ in range(ROWS)]
    rows = [
        [f"Question {i}?", draw.choice("ab"), 1 - doubt, int(draw.random() > doubt)]
        for i, doubt in enumerate(doubts)
    ]
    return to_csv(["question", "source", "confidence", "correct"], rows)


# --------------------------------------------------------------------------------- measuring


@dataclass
class Load:
    """What came of a load.

    Attributes
    ----------
    seconds : dict of str to list of float
        How long the actions of each kind took.
    processor : float
        Seconds of the server and its children.
    memory : int
        Bytes of the server at the end, those of its children not included.
    received : int
        Bytes that came over the websockets.
    """

    seconds: defaultdict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    processor: float = 0.0
    memory: int = 0
    received: int = 0

    @property
    def all(self) -> list[float]:
        """Every action's seconds."""
        return [second for each in self.seconds.values() for second in each]


def processor_seconds(process: int) -> float:
    """Return what a process and all its children have computed, user and system, in seconds."""
    try:
        numbers = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
        tasks = list(Path(f"/proc/{process}/task").iterdir())
        children = {int(c) for task in tasks for c in (task / "children").read_text().split()}
    except (FileNotFoundError, ProcessLookupError):  # it, or a thread of it, has just ended
        return 0.0 if not Path(f"/proc/{process}").exists() else processor_seconds(process)
    return sum(map(int, numbers[11:15])) / TICKS + sum(map(processor_seconds, children))


def memory(process: int) -> int:
    """Return the bytes that a process holds."""
    return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


async def visit(
    visitor: Visitor, does: Iterator[tuple[str, Act]], think: float, end: float, load: Load
) -> None:
    """Act and think until the time is over."""
    draw = random.Random(think)
    for kind, act in does:
        await asyncio.sleep(think * draw.uniform(0.5, 1.5))
        if time.monotonic() > end:
            return
        load.seconds[kind].append(await act(visitor))


@dataclass
class Server:
    """A running server, and the visitors that it had so far."""

    address: str
    process: int
    asked: Iterator[str] = field(default_factory=questions)
    seeds: Iterator[int] = field(default_factory=itertools.count)

    def somebody(self) -> Iterator[tuple[str, Act]]:
        """Return what the next visitor does, which nobody did before."""
        return actions(next(self.seeds), self.asked)

    async def loaded(self, sessions: int, think: float, seconds: float) -> Load:
        """Put a load on the server; opening the sessions is not counted."""
        load = Load()
        async with contextlib.AsyncExitStack() as stack:
            visitors = [
                await stack.enter_async_context(Visitor(self.address)) for _ in range(sessions)
            ]
            for visitor in visitors:
                await visitor.open("")
            before = processor_seconds(self.process)
            received = sum(visitor.received for visitor in visitors)
            end = time.monotonic() + seconds
            async with asyncio.TaskGroup() as group:
                for visitor in visitors:
                    group.create_task(visit(visitor, self.somebody(), think, end, load))
            load.processor = processor_seconds(self.process) - before
            load.received = sum(visitor.received for visitor in visitors) - received
            load.memory = memory(self.process)
        return load

    async def each(self, number: int) -> dict[str, list[float]]:
        """Return the processor seconds of one visitor's actions, by their kind."""
        found: dict[str, list[float]] = defaultdict(list)
        async with Visitor(self.address) as visitor:
            await visitor.open("")
            for kind, act in itertools.islice(self.somebody(), number):
                before = processor_seconds(self.process)
                await act(visitor)
                await asyncio.sleep(AFTERWARDS)
                found[kind].append(processor_seconds(self.process) - before)
        return found


def quantile(values: list[float], share: float) -> float:
    """Return the smallest value that so large a share is no larger than."""
    return sorted(values)[math.ceil(share * len(values)) - 1]


async def measured(server: Server, wanted: argparse.Namespace) -> None:
    """Measure and print."""
    await server.each(WARM_UP)
    if wanted.pages:
        found = await server.each(wanted.pages)
        for kind, seconds in sorted(found.items()):
            print(f"{kind:<20} {statistics.mean(seconds):.3f} CPU s, mean of {len(seconds)}")
        everything = [second for seconds in found.values() for second in seconds]
        print(f"{'all':<20} {statistics.mean(everything):.3f} CPU s, mean of {len(everything)}")
        return
    first: tuple[int, int] | None = None  # sessions, and the server's memory with them
    for sessions in wanted.sessions:
        load = await server.loaded(sessions, wanted.think, wanted.seconds)
        if not load.all:
            raise SystemExit("No action ended in this time: give more --seconds.")
        held = ""
        if first is not None and sessions > first[0]:
            each = (load.memory - first[1]) / (sessions - first[0])
            held = f" ({each / 2**20:.1f} MB for each further session)"
        first = first or (sessions, load.memory)
        print(
            f"{sessions} sessions, {len(load.all)} actions: median "
            f"{1000 * statistics.median(load.all):.0f} ms, 95th percentile "
            f"{1000 * quantile(load.all, 0.95):.0f} ms, "
            f"{load.processor / len(load.all):.3f} CPU s and "
            f"{load.received / len(load.all) / 1024:.0f} KB an action, "
            f"{load.memory / 2**20:.0f} MB{held}"
        )


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sessions", type=int, nargs="+", default=list(SESSIONS))
    parser.add_argument("--think", type=float, default=THINK, help="seconds between two actions")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="of each load")
    parser.add_argument(
        "--pages", type=int, default=0, metavar="N", help="instead, N actions of one visitor"
    )
    wanted = parser.parse_args(arguments)
    if not (min(wanted.sessions) > 0 and max(wanted.sessions) <= MOST_SESSIONS):
        parser.error(f"from 1 to {MOST_SESSIONS} sessions")
    if not (wanted.think > 0 and 0 < wanted.seconds <= MOST_SECONDS):
        parser.error(f"a time to think, and up to {MOST_SECONDS:.0f} seconds")
    with tempfile.TemporaryDirectory() as folder:
        process, address = start_server(BELIEVE_DATABASE_URL=f"sqlite:///{folder}/believe.db")
        try:
            asyncio.run(measured(Server(address, process.pid), wanted))
        finally:
            stop_server(process)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
