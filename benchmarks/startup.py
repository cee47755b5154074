"""How long it takes from nothing to Home, beside an app of Streamlit's that shows one line.

``python -m benchmarks.startup`` starts both on this machine, one after the other and several times,
opens the first page of each over a websocket, and prints the medians from the start of the process
to the end of the first script, and of the processor seconds until then. What a browser loads is not
counted; it is the same for both. Other work on the machine makes the times longer, and hardly
changes the processor seconds and their ratio.

For one import after the other: ``python -X importtime -c "import app, core.ui.home"``. What must
not be loaded so early is in ``tests/ui/test_startup.py``.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import tempfile
import time
from pathlib import Path
from typing import Final

from benchmarks._visitor import Visitor
from benchmarks.load import processor_seconds
from benchmarks.ratios import Ratio, each, report
from core import outputs
from tests.browser.server import ROOT, start_server, stop_server

SECONDS = Ratio("Start of Believe to its first page / of an empty Streamlit app")
PROCESSOR = Ratio("Processor from start to first page / of an empty Streamlit app")
RATIOS: Final = (SECONDS, PROCESSOR)

ROUNDS, MOST_ROUNDS = 5, 100
EMPTY: Final = 'import streamlit as st\n\nst.text("Nothing else.")\n'


async def opened(address: str) -> None:
    """Open the first page, and wait until its script has ended."""
    async with Visitor(address) as visitor:
        await visitor.open("")


def started(app: Path, folder: str) -> tuple[float, float]:
    """Return the seconds, and the processor seconds, until the first page of an app is there."""
    began = time.perf_counter()
    process, address = start_server(app=app, BELIEVE_DATABASE_URL=f"sqlite:///{folder}/believe.db")
    try:
        asyncio.run(opened(address))
        return time.perf_counter() - began, processor_seconds(process.pid)
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
        for _ in range(wanted.rounds):
            for name, app in apps.items():
                took[name].append(started(app, folder))
    for name, runs in took.items():
        seconds, processor = (statistics.median(part) for part in zip(*runs, strict=True))
        print(f"{name}: {seconds:.2f} s, {processor:.2f} CPU s to the first page")
    ours, theirs = (list(zip(*runs, strict=True)) for runs in took.values())
    report({SECONDS: each(ours[0], theirs[0]), PROCESSOR: each(ours[1], theirs[1])})
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
