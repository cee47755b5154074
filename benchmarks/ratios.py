"""One table of all ratios: ``make bench``, or ``python -m benchmarks.ratios [--write]``.

Each benchmark of `BENCHMARKS` names its `RATIOS` with what is promised of them, and hands what it
measured to `report`. This prints them, and writes them to ``build/ratios.json`` with machine, date,
load and versions; a benchmark that is run again replaces its own. So a table can be put together
of benchmarks that need different environments.

Without options, the table goes to ``build/ratios.md`` and on the screen; with ``--write``, into
``docs/measured/ratios.md``, too.
"""

import argparse
import importlib
import json
import os
import platform
import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Final

import numpy as np

from core import outputs

BENCHMARKS: Final = (
    *("inspection", "amplification", "estimators", "evaluation", "scheduler", "click_to_verdict"),
    *("calibration", "cluster", "startup", "load"),
)
RESULTS: Final = Path("build/ratios.json")
TABLE: Final = Path("build/ratios.md")
QUOTED: Final = Path("docs/measured/ratios.md")
BEGIN: Final = "<!-- written by python -m benchmarks.ratios --write -->"
END: Final = "<!-- end of the ratios -->"
NOT_MEASURED: Final = "not measured"
PACKAGES: Final = ("numpy", "scipy", "streamlit", "mapie", "ray", "transformers", "torch")


@dataclass(frozen=True)
class Ratio:
    """What one thing costs in terms of another, or by itself in a unit."""

    name: str  # the row of the table: “this / that”
    # least, most: what is promised of the median.
    least: float | None = None
    most: float | None = None
    unit: str = ""  # empty for a ratio

    @property
    def promise(self) -> str:
        """What is promised, in words; "" for nothing."""
        if self.least is not None:
            return f"at least {self.least:g}"
        return "" if self.most is None else f"at most {self.most:g}"

    def keeps(self, values: Sequence[float]) -> bool:
        """Say whether the median of what was measured is as promised."""
        median = float(np.median(values))
        low = self.least is not None and not median >= self.least
        return not (low or (self.most is not None and not median <= self.most))

    def cells(self, values: Sequence[float]) -> list[str]:
        """Return the median, the middle half, and of how many runs."""
        unit = f" {self.unit}" if self.unit else ""
        low, median, high = np.quantile(values, [0.25, 0.5, 0.75])
        spread = f"{number(low)} to {number(high)}" if len(values) > 1 else ""
        return [f"{number(median)}{unit}", spread, str(len(values))]


def number(value: float) -> str:
    """Write a number with two digits behind the point where it is small, none where it is large."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def each(these: Iterable[float], those: Iterable[float]) -> list[float]:
    """Return the ratio of each pair of two series of runs that took turns."""
    return [a / b for a, b in zip(these, those, strict=True)]


def seconds(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def best_of(repetitions: int, work: Callable[[], object]) -> float:
    """Return the least wall time of some work: what disturbs it only ever adds."""
    return min(seconds(work) for _ in range(repetitions))


def report(measured: Mapping[Ratio, Sequence[float]]) -> bool:
    """Print and write down what was measured; return whether all promises are kept."""
    here = {
        "machine": machine(),
        "date": f"{datetime.now(UTC):%Y-%m-%d %H:%M}",
        "load": round(os.getloadavg()[0], 1),
        "versions": versions(),
    }
    rows = results()
    for ratio, values in measured.items():
        rows[ratio.name] = {**here, "values": [float(value) for value in values]}
        median, spread, runs = ratio.cells(values)
        missed = "" if ratio.keeps(values) else ": MISSED"
        promised = f" ({ratio.promise}{missed})" if ratio.promise else ""
        middle = f", half of them {spread}" if spread else ""
        print(f"{ratio.name}: {median}{promised}; runs: {runs}{middle}")
    RESULTS.parent.mkdir(exist_ok=True)
    outputs.write(RESULTS, json.dumps(rows, indent=1))
    return all(ratio.keeps(values) for ratio, values in measured.items())


def results() -> dict[str, dict[str, Any]]:
    """Return what was measured last, by the names of the ratios."""
    return json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}


def machine() -> str:
    """Return the processor and system of this machine."""
    cpuinfo = Path("/proc/cpuinfo")
    names = cpuinfo.read_text() if cpuinfo.exists() else ""
    found = re.search(r"^model name\s*:\s*(.+)$", names, re.MULTILINE)
    processor = found[1].strip() if found else platform.processor() or platform.machine()
    return f"{processor}, {os.cpu_count()} cores, {platform.system()}"


def versions() -> dict[str, str]:
    """Return the versions of what does the work here and is installed."""
    known = {"Python": platform.python_version()}
    for name in PACKAGES:
        try:
            known[name] = version(name)
        except PackageNotFoundError:
            continue
    return known


def declared() -> dict[str, tuple[Ratio, ...]]:
    """Return the ratios of every benchmark, by its name."""
    return {
        name: importlib.import_module(f"benchmarks.{name}").RATIOS  # each needs its own packages
        for name in BENCHMARKS
    }


def table(rows: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the table in Markdown, and below it where and when it was measured."""
    lines = [
        "| what / in terms of what | median | middle half | runs | promised | "
        "`python -m benchmarks.…` |",
        "| --- | --: | --: | --: | --- | --- |",
    ]
    told = []
    for name, ratios in declared().items():
        for ratio in ratios:
            cells, promise = [NOT_MEASURED, "", ""], ratio.promise
            if row := rows.get(ratio.name):
                told.append(row)
                cells = ratio.cells(row["values"])
                promise += "" if ratio.keeps(row["values"]) else ": **missed**"
            lines.append(f"| {' | '.join([ratio.name, *cells, promise, f'`{name}`'])} |")
    return "\n".join([*lines, "", _where(told)])


def _where(told: Sequence[Mapping[str, Any]]) -> str:
    if not told:
        return "Nothing is measured yet: run `make bench`."
    machines = " and ".join(sorted({row["machine"] for row in told}))
    dates, loads = [row["date"] for row in told], [row["load"] for row in told]
    packages = sorted({(k, v) for row in told for k, v in row["versions"].items()}, key=str)
    return (
        f"Measured on {machines}, {min(dates)} to {max(dates)} UTC, at a load of {min(loads):.1f} "
        f"to {max(loads):.1f}; {', '.join(f'{name} {v}' for name, v in packages)}."
    )


def quoted(text: str, made: str, begin: str = BEGIN, end: str = END) -> str:
    """Return a page with a table in its place, between two comments."""
    before, begins, rest = text.partition(begin)
    _, ends, after = rest.partition(end)
    if not (begins and ends):
        raise ValueError(f"The page has no place for the table: {begin} … {end}")
    return f"{before}{begin}\n{made}\n{end}{after}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help=f"into {QUOTED}, too")
    options = parser.parse_args()
    made = table(results())
    TABLE.parent.mkdir(exist_ok=True)
    outputs.write(TABLE, f"{made}\n")
    print(made)
    if options.write:
        text = QUOTED.read_text(encoding="utf-8")
        outputs.write(QUOTED, quoted(text, made))


if __name__ == "__main__":
    main()
