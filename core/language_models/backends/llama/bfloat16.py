"""A matrix of weights as bfloat16: 16 bits a number, so half the memory."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


class BFloat16Matrix:
    """A matrix that keeps the upper halves of 32-bit numbers, rounded to the nearest.

    Whole ones come back when it is indexed. That is a shift: NumPy converts the other kind of 16
    bits, float16, several times as slowly.
    """

    def __init__(self, bits: NDArray[np.uint16]) -> None:
        self.bits = bits
        self.shape, self.size = bits.shape, bits.size

    def __len__(self) -> int:
        return len(self.bits)

    def __getitem__(self, place: Any) -> NDArray[np.float32]:
        whole = self.bits[place].astype(np.uint32)
        whole <<= 16
        return whole.view(np.float32)

    def __setitem__(self, place: Any, numbers: NDArray[np.float32]) -> None:
        whole = np.ascontiguousarray(numbers, np.float32).view(np.uint32)
        # Half of what is cut off, or a little less: of two as near, the even one.
        self.bits[place] = (whole + (0x7FFF + (whole >> 16 & 1))) >> 16
