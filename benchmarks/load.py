"""What a server bears: 1, 20 and 60 visitors at once, who think between their actions.

    python -m benchmarks.load [--sessions 1 20 60] [--think 2] [--seconds 60]
    python -m benchmarks.load --pages 110
    python -m benchmarks.load --long [--sessions 5]
    python -m benchmarks.load --soak 60 [--sessions 20]

Starts the app on this machine and speaks Streamlit's protocol over websockets, as as many browsers
would: every visitor inspects questions that nobody has asked before, moves τ, changes pages,
uploads a small file and calibrates on it with another target. Printed are the median and the 95th
percentile from an action to the end of its script, the server's processor seconds an action, and
how much each further session keeps in memory. Other work on the machine makes the times longer, and
hardly changes the processor seconds. Beneath stand the slowest kinds of actions. The aims are for
20 sessions with two seconds to think: 300 ms, one second, and .15 processor seconds.

With ``--pages`` one visitor does everything in turn, and the processor seconds of every kind of
action are printed.

With ``--long`` one visitor more computes something long all the time: 300 answers to a question, a
file of 2,000 questions, or SmolLM2. Printed is how many times the others' median it becomes; the
aim is 2 at most.

With ``--soak`` pages are opened, used, and closed for so many minutes, also in the middle of an
action. Printed are the server's memory after a fifth of them and at the end, and how much it grew
since then with every session.
"""

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
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from benchmarks.ratios import Ratio, report
from benchmarks.shared.visitor import Visitor
from core.data.tabular.csv_export import to_csv
from core.data.world import facts as world
from core.language_models.backends.gguf import SMOLLM2
from tests.browser.server import start_server, stop_server

BUSY = 20  # sessions that are promised an answer in time
SESSIONS: Final = (1, BUSY, 60)
BESIDE_LONG, SOAKING = 5, 20  # sessions
THINK, SECONDS = 2.0, 60.0
MOST_SESSIONS, MOST_SECONDS, MOST_MINUTES = 200, 3600.0, 24 * 60.0
ROWS: Final = 120  # of an uploaded file
LONG_SAMPLES, LONG_FILE = 300, 2_000  # of an inspection; questions
STAYS: Final = 22  # actions at most of a session that is soon closed
LEAVES: Final = 0.2  # share of the sessions that are closed in the middle of an action
LOOK: Final = 5.0  # seconds between two looks at the memory
WARM_UP_SHARE: Final = 0.2  # of the minutes of a soak
SLOWEST: Final = 3  # kinds of actions
WARM_UP: Final = 22  # actions: two rounds
AFTERWARDS: Final = 0.2  # seconds in which the server tidies up behind the last message
TICKS: Final = os.sysconf("SC_CLK_TCK")

Act = Callable[[Visitor], Awaitable[float]]
LongWork = Callable[[Visitor, Iterator[str]], Awaitable[None]]


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
        error = draw.randrange(20, 400) / 10
        return "calibrate", lambda visitor: visitor.give("wrong", error)

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
    doubts = [draw.random() for _ in range(ROWS)]
    rows = [
        [f"Question {i}?", draw.choice("ab"), 1 - doubt, int(draw.random() > doubt)]
        for i, doubt in enumerate(doubts)
    ]
    return to_csv(["question", "source", "confidence", "correct"], rows)


# --------------------------------------------------------------------------------- measuring


@dataclass
class Load:
    """What came of a load."""

    # How long the actions of each kind took.
    seconds: defaultdict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    processor: float = 0.0  # Seconds of the server and its children
    memory: int = 0  # Bytes of the server at the end, those of its children not included
    received: int = 0  # Bytes that came over the websockets

    @property
    def all(self) -> list[float]:
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
    return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


async def visit(
    visitor: Visitor,
    does: Iterator[tuple[str, Act]],
    think: float,
    end: float,
    load: Load,
    draw: random.Random,
) -> None:
    """Act and think until the time is over, each visitor at his own pace."""
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
    paces: Iterator[int] = field(default_factory=itertools.count)

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
                    pace = random.Random(next(self.paces))
                    group.create_task(visit(visitor, self.somebody(), think, end, load, pace))
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


# ------------------------------------------------------------------------------ long work


async def many_samples(visitor: Visitor, asked: Iterator[str]) -> None:
    """Inspect one question after the other with 300 answers."""
    await visitor.open("inspection")
    await visitor.give("k", LONG_SAMPLES)
    while True:
        await visitor.type("q", next(asked))


async def large_file(visitor: Visitor, asked: Iterator[str]) -> None:
    """Have one file of 2,000 questions asked after the other, to calibrate on."""
    await visitor.open("calibration")
    for number in itertools.count():
        rows = [[question, "London"] for question in itertools.islice(asked, LONG_FILE)]
        content = to_csv(["question", "answer"], rows)
        await visitor.upload("labelled_file", f"long-{number}.csv", content)
        await visitor.press("start_run")


async def real_model(visitor: Visitor, asked: Iterator[str]) -> None:
    """Inspect one question after the other on SmolLM2."""
    await visitor.press("real")
    while True:
        await visitor.type("q", next(asked))


LONG: Final[dict[str, LongWork]] = {
    f"{LONG_SAMPLES} answers": many_samples,
    f"a file of {LONG_FILE:,} questions": large_file,
    "SmolLM2": real_model,
}


_OF = f"Action of one of {BUSY} visitors"
MEDIAN = Ratio(_OF, most=300, unit="ms")
TAIL = Ratio(f"{_OF}, 95th percentile", most=1000, unit="ms")
PROCESSOR = Ratio(f"{_OF}, the server's processor", most=0.15, unit="s")
BESIDE: Final = {
    name: Ratio(f"Median action beside one visitor with {name} / alone", most=2) for name in LONG
}
RATIOS: Final = (MEDIAN, TAIL, PROCESSOR, *BESIDE.values())


async def beside(server: Server, work: LongWork, wanted: argparse.Namespace) -> tuple[float, float]:
    """Return the median seconds of some visitors' actions without, and beside, one's long work."""

    async def median() -> float:
        load = await server.loaded(wanted.sessions[0], wanted.think, wanted.seconds)
        return statistics.median(load.all)

    await server.each(WARM_UP)
    before = await median()
    async with Visitor(server.address, MOST_SECONDS) as visitor:
        await visitor.open("")
        working = asyncio.create_task(work(visitor, server.asked))
        try:
            meanwhile = await median()
            if working.done():
                await working  # says why
                raise SystemExit("The long work has ended.")
        finally:
            working.cancel()
        return before, meanwhile


# ----------------------------------------------------------------------------------- soak


@dataclass(frozen=True)
class Look:
    """What the server held at one moment."""

    seconds: float  # Since the begin
    sessions: int  # that were closed until then
    memory: int  # Bytes


def growth(looks: list[Look]) -> tuple[int, int, float]:
    """Return the bytes after the warm-up and at the end, and how many each session added between.

    The last is the slope of the line through all looks, and 0 where no session was closed.
    """
    warm = [look for look in looks if look.seconds >= WARM_UP_SHARE * looks[-1].seconds]
    sessions = [look.sessions for look in warm]
    each = 0.0
    if len(set(sessions)) > 1:
        each = statistics.linear_regression(sessions, [look.memory for look in warm]).slope
    return warm[0].memory, warm[-1].memory, each


async def soaked(server: Server, sessions: int, think: float, seconds: float) -> list[Look]:
    """Open, use and close pages, so many at a time; return what the server held meanwhile."""
    began, draw, closed = time.monotonic(), random.Random(0), itertools.count()
    looks: list[Look] = []
    ended = 0

    async def come_and_go() -> None:
        nonlocal ended
        while (left := began + seconds - time.monotonic()) > 0:
            # A tab that is closed at any moment, also in the middle of an action.
            stays = left if draw.random() > LEAVES else draw.uniform(0, STAYS * think)
            with contextlib.suppress(TimeoutError):
                async with Visitor(server.address) as visitor, asyncio.timeout(min(stays, left)):
                    await visitor.open("")
                    does = itertools.islice(server.somebody(), draw.randint(1, STAYS))
                    await visit(visitor, does, think, began + seconds, Load(), draw)
            ended = next(closed) + 1

    async def look() -> None:
        while True:
            looks.append(Look(time.monotonic() - began, ended, memory(server.process)))
            await asyncio.sleep(LOOK)

    looking = asyncio.create_task(look())
    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(sessions):
                group.create_task(come_and_go())
    finally:
        looking.cancel()
    return [*looks, Look(time.monotonic() - began, ended, memory(server.process))]


# ------------------------------------------------------------------------------- what is said


def quantile(values: list[float], share: float) -> float:
    """Return the smallest value that so large a share is no larger than."""
    return sorted(values)[math.ceil(share * len(values)) - 1]


async def measured(server: Server, wanted: argparse.Namespace) -> bool:
    """Measure and print; return whether what is promised holds, as far as it was measured."""
    kept = True
    await server.each(WARM_UP)
    if wanted.pages:
        found = await server.each(wanted.pages)
        for kind, seconds in sorted(found.items()):
            print(f"{kind:<20} {statistics.mean(seconds):.3f} CPU s, mean of {len(seconds)}")
        everything = [second for seconds in found.values() for second in seconds]
        print(f"{'all':<20} {statistics.mean(everything):.3f} CPU s, mean of {len(everything)}")
        return kept
    if wanted.soak:
        looks = await soaked(server, wanted.sessions[0], wanted.think, 60 * wanted.soak)
        after, end, each = growth(looks)
        print(
            f"{looks[-1].sessions} sessions in {wanted.soak:g} minutes: {after / 2**20:.0f} MB "
            f"after the warm-up, {end / 2**20:.0f} MB at the end, "
            f"{each / 1024:+.1f} KB for each session"
        )
        return kept
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
        kinds = sorted(load.seconds, key=lambda kind: -quantile(load.seconds[kind], 0.95))
        for kind in kinds[:SLOWEST]:
            took = load.seconds[kind]
            print(
                f"    {kind}: median {1000 * statistics.median(took):.0f} ms, 95th percentile "
                f"{1000 * quantile(took, 0.95):.0f} ms of {len(took)}"
            )
        if (sessions, wanted.think) == (BUSY, THINK):
            kept = report(
                {
                    MEDIAN: [1000 * second for second in load.all],
                    TAIL: [1000 * quantile(load.all, 0.95)],
                    PROCESSOR: [load.processor / len(load.all)],
                }
            )
    return kept


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sessions", type=int, nargs="+")
    parser.add_argument("--think", type=float, default=THINK, help="seconds between two actions")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="of each load")
    parser.add_argument(
        "--pages", type=int, default=0, metavar="N", help="instead, N actions of one visitor"
    )
    instead = parser.add_mutually_exclusive_group()
    instead.add_argument("--long", action="store_true", help="beside one visitor's long work")
    instead.add_argument("--soak", type=float, default=0.0, metavar="MINUTES")
    wanted = parser.parse_args(arguments)
    wanted.sessions = wanted.sessions or (
        [BESIDE_LONG] if wanted.long else [SOAKING] if wanted.soak else list(SESSIONS)
    )
    if not (min(wanted.sessions) > 0 and max(wanted.sessions) <= MOST_SESSIONS):
        parser.error(f"from 1 to {MOST_SESSIONS} sessions")
    if not (wanted.think > 0 and 0 < wanted.seconds <= MOST_SECONDS):
        parser.error(f"a time to think, and up to {MOST_SECONDS:.0f} seconds")
    if not 0 <= wanted.soak <= MOST_MINUTES:
        parser.error(f"a soak of up to {MOST_MINUTES:.0f} minutes")
    if not wanted.long:
        with running() as server:
            return not asyncio.run(measured(server, wanted))
    kept = True
    for name, work in LONG.items():
        if work is real_model and not find_spec(SMOLLM2):
            print("SmolLM2 is not installed.")
            continue
        with running() as server:  # a new one: long work goes on when a page is closed
            before, meanwhile = asyncio.run(beside(server, work, wanted))
        print(f"{name}: median {1000 * before:.0f} ms, beside it {1000 * meanwhile:.0f} ms")
        kept &= report({BESIDE[name]: [meanwhile / before]})
    return not kept


@contextlib.contextmanager
def running() -> Iterator[Server]:
    """Start the app with a database of its own, and stop it in the end."""
    with tempfile.TemporaryDirectory() as folder:
        process, address = start_server(BELIEVE_DATABASE_URL=f"sqlite:///{folder}/believe.db")
        try:
            yield Server(address, process.pid)
        finally:
            stop_server(process)


if __name__ == "__main__":
    raise SystemExit(main())
