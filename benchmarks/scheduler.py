"""What a visitor waits for while others compute: one inspection beside 20 long runs.

``python -m benchmarks.scheduler`` lets 20 sessions draw 300 samples each of questions that have no
end of answers, and inspects one question after the other beside them. It prints the median time
of an inspection as a ratio to one on an otherwise idle process: first with turns, as the pages
have them, then with a place for every run at once, as without turns.
"""

import math
import os
import statistics
import time
from collections.abc import Callable
from itertools import count
from unittest.mock import patch
from uuid import UUID

from benchmarks.ratios import Ratio, report
from core.language_models.backends.embedded.model import EmbeddedModel
from core.language_models.language_model import LanguageModel
from core.studies.inspection.recorder import record
from core.studies.inspection.request import Request
from core.studies.progress import Progress
from core.ui.runs.job import Job
from core.ui.runs.scheduler import Scheduler
from core.ui.session import Session

OTHERS = 20
INSPECTIONS = 20
FOR_EVER = 3600.0  # seconds
WITH_TURNS, AT_ONCE = (
    Ratio(f"Inspection beside {OTHERS} long runs{how} / alone")
    for how in ("", " that all compute at once")
)
RATIOS = (WITH_TURNS, AT_ONCE)

_numbers = count()


def started(work: Callable[[Progress], object], line: Scheduler) -> Job[object]:
    """Start work as a session of its own."""
    session = Session(UUID(int=next(_numbers)), "")
    with patch("core.ui.runs.job.this_session", lambda: session):
        return Job(lambda job: work(job.progress), scheduler=line)


def inspected(model: LanguageModel, line: Scheduler) -> float:
    """Return how many seconds one inspection of a new question takes, from its start to its end."""
    request = Request(f"What is the capital of region {next(_numbers)}?")
    begun = time.perf_counter()
    started(lambda progress: record(request, model, progress), line).wait(FOR_EVER)
    return time.perf_counter() - begun


def waits(model: LanguageModel, line: Scheduler, others: int) -> list[float]:
    """Return the seconds of each inspection beside so many long runs."""
    runs = []
    for _ in range(others):
        request = Request(f"Who is the queen of land {next(_numbers)}?", 300, 2.0)
        runs.append(started(lambda progress, r=request: record(r, model, progress), line))
    found = [inspected(model, line) for _ in range(INSPECTIONS)]
    for run in runs:
        run.cancel()
    for run in runs:
        run.wait(FOR_EVER)
    return found


def main() -> None:
    model = EmbeddedModel()
    places = os.cpu_count() or 1
    alone = statistics.median(waits(model, Scheduler(places), 0))
    print(f"alone: {alone * 1000:.0f} ms (median of {INSPECTIONS})")
    for ratio, line in (
        (WITH_TURNS, Scheduler(places, first=1)),
        (AT_ONCE, Scheduler(10_000, math.inf)),
    ):
        report({ratio: [seconds / alone for seconds in waits(model, line, OTHERS)]})


if __name__ == "__main__":
    main()
