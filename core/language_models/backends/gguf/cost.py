"""What a GGUF file takes of this machine, told before all of it is read."""

import os
import time
from pathlib import Path

import numpy as np

from core.language_models.backends.gguf.reader import Contents, StoredTensor
from core.language_models.backends.gguf.weights import are_bfloat16
from core.language_models.backends.llama.runtime import PROCESSORS

SAMPLE = 2**21  # numbers that are unpacked and multiplied, to see how fast this machine is
ROWS, WIDTH = 64, 512
# An inspection of the usual kind takes as long as products with so many rows, all weights once:
# 700 to 1,100 of them on SmolLM2, in processor seconds.
ROWS_A_QUESTION = 1000
BFLOAT16_TIMES = 1.1  # as long a question takes, where weights are bfloat16
OPENING = 2.5  # times the unpacking, with the copying, the hash and the vocabulary
TRIALS = 3
FREE = Path("/proc/meminfo")  # on Linux


def sentence(rest: str) -> str:
    """Return what opening ``gguf:`` something takes, and a question; "" where that is not known.

    Seconds are measured on a small part of the file, on the machine as it is now.
    """
    path = Path(os.path.expanduser(rest))
    try:
        contents = Contents(path).tensors
        tensors = contents.values()
        count = sum(tensor.count for tensor in tensors)
        bfloat16 = are_bfloat16(contents)
        largest = max(tensors, key=lambda tensor: tensor.count)
        opening, product = _seconds(largest)
    except Exception:  # whatever a stranger's file brings about: opening it will say what
        return ""
    asking = ROWS_A_QUESTION * product / ROWS / PROCESSORS * (BFLOAT16_TIMES if bfloat16 else 1)
    needed = (2 if bfloat16 else 4) * count  # bytes
    words = (
        f"“{path.name}” takes about {_short(needed)}B of memory. On this machine, as busy as it "
        f"is, it takes {_about(OPENING * opening * count)} to open and {_about(asking * count)} "
        "a question."
    )
    free = _free()
    if free is not None and needed > free:
        words += f" Only {_short(free)}B of memory are free."
    return words


def _seconds(tensor: StoredTensor) -> tuple[float, float]:
    """Return what unpacking a number takes, and multiplying `ROWS` rows by it; seconds."""
    sample = tensor.beginning(SAMPLE)
    columns = len(sample) // WIDTH
    weights = np.ascontiguousarray(sample[: columns * WIDTH].reshape(columns, WIDTH).T)
    inputs = np.ones((ROWS, WIDTH), np.float32)
    unpacking, product = [], []
    for _ in range(TRIALS):
        started = time.perf_counter()
        tensor.beginning(SAMPLE)
        unpacking.append(time.perf_counter() - started)
        np.matmul(inputs, weights)
        product.append(time.perf_counter() - started - unpacking[-1])
    return min(unpacking) / len(sample), min(product) / weights.size


def _free() -> int | None:
    """Return how many bytes of memory a program may still take, where the system says so."""
    try:
        lines = FREE.read_text().splitlines()
    except OSError:
        return None
    return next((1024 * int(line.split()[1]) for line in lines if "MemAvailable" in line), None)


def _short(number: float) -> str:
    """Return a number in thousands of millions, or in millions: “1.5 G”."""
    return f"{number / 1e9:.1f} G" if number >= 1e9 else f"{number / 1e6:.0f} M"


def _about(seconds: float) -> str:
    return "under a second" if seconds < 1 else f"{seconds:.0f} s"
