"""Cases that people add to: a table each, below `data`, with a word on why."""

import csv
from pathlib import Path


def rows_of(name: str) -> list[dict[str, str]]:
    with (Path(__file__).parent / "data" / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))
