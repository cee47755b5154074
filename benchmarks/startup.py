"""How long it takes from nothing to Home, beside an app of Streamlit's that shows one line.

``python -m benchmarks.startup`` starts both on this machine, one after the other and several times,
opens the first page of each over a websocket, and prints the medians from the start of the process
to the end of the first script, and of the processor seconds until then. What a browser loads is not
counted; it is the same for both. Other work on the machine makes the times longer, and hardly
changes the processor seconds and their ratio.

Then sixty visitors open Home of a new server within two seconds: what all need is built once, so
that it costs little more than one does. Last come further visitors, each in a session of their own
and one after the other, who open each page of a server that has shown it before.

For one import after the other: ``python -X importtime -c "import app, core.ui.home"``. What must
not be loaded so early is in ``tests/ui/test_startup.py``.
"""

import argparse
import asyncio
import statistics
import tempfile
import time
from pathlib import Path
from typing import Final

from benchmarks.load import AFTERWARDS, processor_seconds
from benchmarks.ratios import Ratio, each, report
from benchmarks.shared.visitor import Visitor
from core import outputs
from tests.browser.server import ROOT, start_server, stop_server

ROUNDS, MOST_ROUNDS = 5, 100
AT_ONCE, WITHIN = 60, 2.0  # visitors, seconds
FURTHER_VISITORS: Final = 80  # of all pages together
PAGES: Final = (
    *("", "inspection", "amplification", "calibration"),
    *("evaluation", "laboratory", "questions", "history"),
)

SECONDS = Ratio("Start of Believe to its first page / of an empty Streamlit app")
PROCESSOR = Ratio("Processor from start to first page / of an empty Streamlit app")
TOGETHER = Ratio(f"Processor until {AT_ONCE} who come at once have Home / until one has", most=4)
FURTHER = Ratio("Processor of a further visitor, mean over the pages / of an empty app")
RATIOS: Final = (SECONDS, PROCESSOR, TOGETHER, FURTHER)

EMPTY: Final = 'import streamlit as st\n\nst.text("Nothing else.")\n'


async def opened(address: str, page: str = "", after: float = 0.0) -> None:
    """Open a page in a session of its own, and wait until its script has ended."""
    await asyncio.sleep(after)
    async with Visitor(address) as visitor:
        await visitor.open(page)


async def together(address: str, visitors: int) -> None:
    """Let visitors open the first page, evenly over `WITHIN`."""
    async with asyncio.TaskGroup() as group:
        for at in range(visitors):
            group.create_task(opened(address, after=WITHIN * at / visitors))


def started(app: Path, folder: str, visitors: int = 1) -> tuple[float, float]:
    """Return the seconds, and the processor seconds, until visitors of a new server have a page."""
    began = time.perf_counter()
    process, address = start_server(app=app, BELIEVE_DATABASE_URL=f"sqlite:///{folder}/believe.db")
    try:
        asyncio.run(together(address, visitors))
        return time.perf_counter() - began, processor_seconds(process.pid)
    finally:
        stop_server(process)


def further(app: Path, folder: str, pages: tuple[str, ...]) -> dict[str, float]:
    """Return by page the processor seconds of a visitor of a server that has shown them all."""

    rounds = FURTHER_VISITORS // len(pages)

    async def visits() -> dict[str, float]:
        for page in pages:
            await opened(address, page)
        return {page: await mean(page) for page in pages}

    async def mean(page: str) -> float:
        before = processor_seconds(process.pid)
        for _ in range(rounds):
            await opened(address, page)
        await asyncio.sleep(AFTERWARDS)
        return (processor_seconds(process.pid) - before) / rounds

    process, address = start_server(app=app, BELIEVE_DATABASE_URL=f"sqlite:///{folder}/believe.db")
    try:
        return asyncio.run(visits())
    finally:
        stop_server(process)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    wanted = parser.parse_args(arguments)
    if not 0 < wanted.rounds <= MOST_ROUNDS:
        parser.error(f"from 1 to {MOST_ROUNDS} rounds")
    with tempfile.TemporaryDirectory() as folder:
        empty = Path(folder, "empty.py")
        outputs.write(empty, EMPTY)
        apps = {"Believe": ROOT / "app.py", "an empty app": empty}
        took = {name: [] for name in apps}
        many, each_page = [], {name: [] for name in apps}
        for _ in range(wanted.rounds):
            for name, app in apps.items():
                took[name].append(started(app, folder))
            many.append(started(apps["Believe"], folder, AT_ONCE))
            for name, pages in zip(apps, (PAGES, ("",)), strict=True):
                each_page[name].append(further(apps[name], folder, pages))
    for name, runs in took.items():
        seconds, processor = (statistics.median(part) for part in zip(*runs, strict=True))
        print(f"{name}: {seconds:.2f} s, {processor:.2f} CPU s to the first page")
    seconds, processor = (statistics.median(part) for part in zip(*many, strict=True))
    print(f"{AT_ONCE} who come at once: {seconds:.2f} s, {processor:.2f} CPU s until all have it")
    for name, runs in each_page.items():
        for page in runs[0]:
            cost = statistics.median(run[page] for run in runs)
            print(f"{name}, {page or 'first page'}: {cost:.3f} CPU s a further visitor")
    ours, theirs = (list(zip(*runs, strict=True)) for runs in took.values())
    means = ([statistics.mean(run.values()) for run in runs] for runs in each_page.values())
    kept = report(
        {
            SECONDS: each(ours[0], theirs[0]),
            PROCESSOR: each(ours[1], theirs[1]),
            TOGETHER: each([processor for _, processor in many], ours[1]),
            FURTHER: each(*means),
        }
    )
    return not kept


if __name__ == "__main__":
    raise SystemExit(main())
