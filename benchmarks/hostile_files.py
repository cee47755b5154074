"""How dear is a hostile file? ``python -m benchmarks.hostile_files``: seconds and memory of each.

Small files that stand for large tables, and files as large as can be uploaded, are read as the
page reads them: in a process of their own, whose processor time and peak memory are those of this
table. The goal is at most 10 seconds and 1 GB for each, and a sentence for what is refused. Both
times include the start of that process, a second that the page has beforehand. The seconds that
pass also hang on what else the machine does; the processor's do so less.
"""

import io
import multiprocessing
import resource
import sys
import time
from concurrent.futures import ProcessPoolExecutor

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from core.data.tabular.isolation import LIMITS, parse_isolated
from core.data.tabular.rows import MAX_CELLS, MAX_COLUMNS, MAX_ROWS, MAX_UPLOAD_BYTES
from core.data.tabular.uploads import UploadError

SECONDS, MEMORY = LIMITS.seconds, 1_000_000_000
START = 2.0  # processor seconds that starting a process may take


def as_parquet(table, **options) -> bytes:
    buffer = io.BytesIO()
    parquet.write_table(pa.table(table), buffer, **options)
    return buffer.getvalue()


def filled(piece: bytes, before: bytes = b"", after: bytes = b"") -> bytes:
    """Return a file as large as can be uploaded."""
    return before + piece * ((MAX_UPLOAD_BYTES - len(before) - len(after)) // len(piece)) + after


def dictionary_pages() -> bytes:
    texts = pa.array([f"{at}" + "x" * 1_000_000 for at in range(8)])
    numbers = pa.array(np.arange(100_000) % 8, pa.int32())
    column = pa.DictionaryArray.from_arrays(numbers, texts)
    return as_parquet({"a": column}, compression="zstd")


def dictionary_in_lists() -> bytes:
    texts = pa.DictionaryArray.from_arrays(np.zeros(1_000_000, np.int32), ["x" * 1_000_000])
    return as_parquet({"a": pa.ListArray.from_arrays([0, 1_000_000], texts)}, compression="zstd")


def one_list(items: int = 150_000_000) -> bytes:
    values = pa.array(np.zeros(items, bool))
    return as_parquet({"a": pa.ListArray.from_arrays([0, items], values)}, compression="zstd")


def nulls() -> bytes:
    column = pa.nulls(1_000_000, pa.int8())
    return as_parquet({str(at): column for at in range(MAX_COLUMNS)})


def keys(number: int) -> bytes:
    return b"{" + b",".join(b'"k%d":1' % at for at in range(number)) + b"}\n"


def growing_json() -> bytes:
    growing = b"".join(keys(at + 1) for at in range(MAX_COLUMNS))
    return growing + b'{"k0":1}\n' * ((11_000_000 - len(growing)) // 9)


def many(columns: int, cell: bytes, rows: int) -> bytes:
    heading = b",".join(b"c%d" % at for at in range(columns))
    return heading + b"\n" + (b",".join([cell] * columns) + b"\n") * rows


def times() -> bytes:
    rows = MAX_CELLS // 4
    column = pa.array(np.arange(rows), pa.timestamp("us"))
    return as_parquet({str(at): column for at in range(4)})


def floats() -> bytes:
    rng = np.random.default_rng(0)
    return as_parquet({str(at): rng.random(MAX_CELLS // 40) for at in range(40)})


#: A name with an ending, and what makes the file.
FILES = {
    "a dictionary of long texts.parquet": dictionary_pages,
    "a list of long texts.parquet": dictionary_in_lists,
    "a list of 150 million.parquet": one_list,
    "1 million rows of 200 nulls.parquet": nulls,
    "columns that grow.jsonl": growing_json,
    "columns that grow at the end.jsonl": lambda: b'{"a":1}\n' * 450_000 + keys(MAX_COLUMNS),
    "commas.csv": lambda: filled(b","),
    "lines of commas.csv": lambda: filled(b",,,\n"),
    "long lines of commas.csv": lambda: filled(b"," * 900_000 + b"\n", b"a,b\n"),
    "blank lines.csv": lambda: filled(b"\n", b"a,b\n1,2\n"),
    "blank lines before.csv": lambda: filled(b"\n", after=b"a,b\n1,2\n"),
    "blank lines of Windows.csv": lambda: filled(b" \r\n", b"a,b\n1,2\n"),
    "few enough blank lines.csv": lambda: b"a,b\n" + b" \n" * 1_900_000 + b"1,2\n",
    "a cell of 9 MB.csv": lambda: b"a,b\n1," + b"x" * 9_000_000 + b"\n",
    "a quoted cell of 9 MB.csv": lambda: b'a,b\n1,"' + (b"x," * 45 + b"\n") * 100_000 + b'"\n',
    "a cell.json": lambda: filled(b"x", b'[{"a":"', b'"}]'),
    "a cell.jsonl": lambda: filled(b"x", b'{"a":"', b'"}'),
    "nested lists.json": lambda: filled(b"[],", b'[{"a":[', b"1]}]"),
    "objects.json": lambda: filled(b'{"a":1},', b"[", b"{}]"),
    "emoji.csv": lambda: filled("😀".encode(), b"a\n"),
    "quotes.csv": lambda: filled(b'"', b"a\n"),
    "as many cells as can be.csv": lambda: many(MAX_COLUMNS, b"0.123456", 10_000),
    "as many rows as can be.csv": lambda: many(4, b"0.123456", MAX_ROWS),
    "as many rows as can be.jsonl": lambda: b'{"a":1,"b":"x","c":0.5,"d":""}\n' * MAX_ROWS,
    "as much text as can be.csv": lambda: filled(b"x" * 99 + b"\n", b"a\n"),
    "as much text as can be.parquet": lambda: as_parquet({"a": ["x" * 199] * 490_000}),
    "times of day.parquet": times,
    "random numbers.parquet": floats,
}  # fmt: skip


def made(name: str) -> bytes:
    return FILES[name]()


def measure(content: bytes, name: str) -> tuple[float, float, int, str]:
    """Return a file's seconds, processor seconds and bytes of memory, and what came of it."""
    started = time.monotonic()
    try:
        rows, columns = parse_isolated(content, name).table.shape
        outcome = f"{rows:,} × {columns}"
    except UploadError as error:
        outcome = str(error)
    seconds = time.monotonic() - started
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = used.ru_utime + used.ru_stime
    return seconds, processor, used.ru_maxrss * (1 if sys.platform == "darwin" else 1024), outcome


def alone(work, *given):
    """Return what a fresh process makes: the peak of its children is one number for all of them,
    and a child begins with its parent's."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as fresh:
        return fresh.submit(work, *given).result()


def main() -> int:
    print("file                                     kB  seconds  processor     MB  outcome")
    kept = True
    for name in FILES:
        content = alone(made, name)
        seconds, processor, memory, outcome = alone(measure, content, name)
        kept &= processor < SECONDS + START and memory < MEMORY
        figures = (
            f"{len(content) / 1000:8,.0f} {seconds:8.1f} {processor:10.1f} {memory / 1e6:6.0f}"
        )
        print(f"{name:36} {figures}  {outcome[:70]}", flush=True)
    print("at most 10 s to read, and 1 GB:", "kept" if kept else "NOT KEPT")
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
