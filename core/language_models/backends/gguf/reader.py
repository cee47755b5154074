"""GGUF files, read from their beginning: what they say, and where their tensors are.

The package `gguf` reads them, too, with several objects a token: that takes six seconds for the
vocabulary of a small model. `weights` and `vocabulary` list the keys that are read and ignored.
The format: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
"""

import math
import mmap
import struct
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from gguf import GGML_QUANT_SIZES, GGMLQuantizationType, dequantize
from numpy.typing import NDArray

from core.language_models.backends.llama.runtime import PROCESSORS
from core.once import anew_in_forks, once

VERSIONS = (2, 3)
STRING, ARRAY = 8, 9  # kinds of values, as the format numbers them
NUMBERS = {
    **dict(enumerate(("u1", "i1", "u2", "i2", "u4", "i4", "f4", "?"))),
    **{10: "u8", 11: "i8", 12: "f8"},
}
ALIGNMENT = 32  # bytes, unless a file says otherwise
CHUNK_BYTES = 2**18  # bytes of a tensor that become numbers at a time: they stay near the processor


@dataclass(frozen=True, eq=False)
class StoredTensor:
    """A tensor in a file."""

    shape: tuple[int, ...]  # Inputs first, the other way round than in NumPy
    kind: GGMLQuantizationType
    stored: NDArray[np.uint8]  # a view of the file

    @property
    def count(self) -> int:
        """How many numbers it has."""
        return math.prod(self.shape)

    def numbers(self) -> NDArray[np.float32]:
        """Return the tensor in NumPy's order."""
        return self.beginning(self.count).reshape(self.shape[::-1])

    def beginning(self, count: int) -> NDArray[np.float32]:
        """Return the first numbers, of whole blocks: at least `count`, if there are as many."""
        numbers, size = GGML_QUANT_SIZES[self.kind]
        blocks = self.stored.reshape(-1, size)[: -(-count // numbers)]
        result = np.empty((len(blocks), numbers), np.float32)

        def read(part: slice) -> None:
            result[part] = dequantize(blocks[part].reshape(1, -1), self.kind).reshape(-1, numbers)

        step = max(1, CHUNK_BYTES // size)
        parts = [slice(start, start + step) for start in range(0, len(blocks), step)]
        list(_processors().map(read, parts))
        return result.ravel()


@anew_in_forks
@once
def _processors() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(PROCESSORS, "numbers")


class Contents:
    """What a file says, and its tensors.

    `fields`: by their names: numbers, texts, or lists of them.

    Raises `ValueError`, `struct.error` or `UnicodeDecodeError` when it is no GGUF file, or not all
    of one.
    """

    def __init__(self, path: Path) -> None:
        with path.open("rb") as file:
            self._data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        self._at = 0
        if self._data[:4] != b"GGUF" or struct.unpack_from("<I", self._data, 4)[0] not in VERSIONS:
            raise ValueError("It does not begin like a GGUF file.")
        self._at = 8
        tensors, fields = self._next("QQ")
        self.fields: dict[str, Any] = {}
        for _ in range(fields):
            name = self._text()
            if name in self.fields:
                raise ValueError(f"{name} is in it twice.")
            self.fields[name] = self._value(*self._next("I"))
        places = [self._place() for _ in range(tensors)]
        alignment = int(self.fields.get("general.alignment", ALIGNMENT))
        start = -(-self._at // alignment) * alignment
        self.tensors = {
            name: self._tensor(shape, kind, start + offset) for name, shape, kind, offset in places
        }
        if len(self.tensors) < len(places):
            raise ValueError("A tensor is in it twice.")
        if sum(tensor.stored.nbytes for tensor in self.tensors.values()) > len(self._data):
            raise ValueError("Tensors share their bytes.")  # a small file would fill the memory

    def _next(self, kinds: str) -> tuple[int, ...]:
        numbers = struct.unpack_from(f"<{kinds}", self._data, self._at)
        self._at += struct.calcsize(f"<{kinds}")
        return numbers

    def _text(self) -> str:
        (length,) = struct.unpack_from("<Q", self._data, self._at)
        begin, self._at = self._at + 8, self._at + 8 + length
        if self._at > len(self._data):
            raise ValueError("The file ends in a text.")
        return self._data[begin : self._at].decode()

    def _value(self, kind: int) -> Any:
        if kind == STRING:
            return self._text()
        if kind == ARRAY:
            kind, count = self._next("IQ")
            if kind == STRING:
                return [self._text() for _ in range(count)]
            return self._numbers(kind, count).tolist()
        return self._numbers(kind, 1).tolist()[0]

    def _numbers(self, kind: int, count: int) -> NDArray[Any]:
        if kind not in NUMBERS:
            raise ValueError(f"A value is of the kind {kind}, which the format has not.")
        numbers = np.frombuffer(self._data, f"<{NUMBERS[kind]}", count, self._at)
        self._at += numbers.nbytes
        return numbers

    def _place(self) -> tuple[str, tuple[int, ...], int, int]:
        name, (dimensions,) = self._text(), self._next("I")
        *shape, kind, offset = self._next(f"{dimensions}QIQ")
        return name, tuple(shape), kind, offset

    def _tensor(self, shape: tuple[int, ...], kind: int, begin: int) -> StoredTensor:
        stored_as = GGMLQuantizationType(kind)
        numbers, size = GGML_QUANT_SIZES[stored_as]
        if not shape or shape[0] % numbers:
            raise ValueError("The rows of a tensor are no whole blocks.")
        count = math.prod(shape) // numbers * size
        return StoredTensor(shape, stored_as, np.frombuffer(self._data, np.uint8, count, begin))
