"""Bad input becomes a ``ValueError`` of one sentence: what is wrong, and how to mend it."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Booleans = NDArray[np.bool_]

#: How far a logarithm may stand above 0, and a sum of probabilities above 1: float error.
TOLERANCE = 1e-6
LARGEST_COUNT = 10**9  # beyond, logarithms of factorials have no digits left for differences


def numbers(values: ArrayLike, name: str, *, dimensions: int | None = None) -> Floats:
    """Return `values` as a non-empty array of float64 without NaN; the error calls them `name`.

    Raises `ValueError` if they are no numbers, ragged, empty, NaN, or have other dimensions.
    """
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must be numbers in an array without ragged rows.") from error
    if dimensions is not None and array.ndim != dimensions:
        raise ValueError(f"{name} must have {dimensions} dimension(s), not {array.ndim}.")
    if array.size == 0:
        raise ValueError(f"{name} is empty: give at least one value.")
    if np.isnan(array).any():
        raise ValueError(f"{name} contains NaN: leave out what could not be scored.")
    return array


def log_probabilities(values: ArrayLike, name: str, *, dimensions: int | None = None) -> Floats:
    """Return `values` as natural logarithms of probabilities, each in [-inf, 0].

    Raises `ValueError` if :func:`numbers` refuses them, or one exceeds 0 by more than `TOLERANCE`.
    """
    array = numbers(values, name, dimensions=dimensions)
    if array.max() > TOLERANCE:
        raise ValueError(
            f"{name} contains {array.max():.6g}, but the logarithm of a probability is at most 0: "
            "give natural logarithms of probabilities."
        )
    return array


def counts(values: ArrayLike, name: str, *, dimensions: int | None = None) -> Floats:
    """Return `values` as whole numbers from 0 to `LARGEST_COUNT`, in float64.

    Raises `ValueError` if :func:`numbers` refuses them, or one is no such number.
    """
    array = numbers(values, name, dimensions=dimensions)
    if not (np.isfinite(array).all() and (array >= 0).all() and (array % 1 == 0).all()):
        raise ValueError(f"{name} must be whole numbers of at least 0: give counts, not shares.")
    if array.max() > LARGEST_COUNT:
        raise ValueError(f"{name} must be at most {LARGEST_COUNT:,}: larger ones cannot be told.")
    return array


def normalisable(log_weights: Floats, name: str, axis: int | None = None) -> None:
    """Raise `ValueError` for weights all zero along `axis` (everywhere, if None)."""
    if np.isneginf(log_weights.max(axis=axis)).any():
        where = "" if axis is None else " in one row"
        raise ValueError(
            f"{name} cannot be normalised: every probability{where} is 0; "
            "give at least one possible outcome."
        )


def finite_log(value: float, name: str) -> None:
    """Raise `ValueError` for what is no finite logarithm of a probability."""
    if not (np.isfinite(value) and value <= TOLERANCE):
        raise ValueError(
            f"{name} is {value}, but must be a finite logarithm of a probability: "
            "give a lower bound where a back end reports none."
        )


def shape(array: NDArray[np.generic], expected: tuple[int, ...], name: str) -> None:
    """Refuse an array whose shape is not `expected`."""
    if array.shape != expected:
        raise ValueError(f"{name} must have shape {expected}, not {array.shape}.")


def stabilisers(gamma_1: float, gamma_2: float) -> None:
    """Refuse stabilisation parameters that are negative, infinite or NaN."""
    for name, gamma in (("gamma_1", gamma_1), ("gamma_2", gamma_2)):
        if not (np.isfinite(gamma) and gamma >= 0):
            raise ValueError(f"{name} is {gamma}, but must be a finite number of at least 0.")


def threshold(value: float) -> None:
    """Refuse a similarity threshold outside [0, 1]."""
    if not (isinstance(value, int | float | np.number) and 0 <= value <= 1):
        raise ValueError(f"The similarity threshold is {value!r}, but must be between 0 and 1.")


def labels(values: ArrayLike, *, length: int | None = None) -> Integers:
    """Return `values` as labels 0..m-1, every one of them in use.

    Raises `ValueError` if they are no vector of integers, of another length, or leave a number out.
    """
    array = np.asarray(values)
    if array.ndim != 1 or array.size == 0 or not np.issubdtype(array.dtype, np.integer):
        raise ValueError("labels must be a non-empty vector of whole numbers.")
    if length is not None and array.size != length:
        raise ValueError(f"labels has {array.size} entries for {length} values: give one for each.")
    if array.min() < 0 or np.bincount(array).min() == 0:
        raise ValueError("labels must use every number from 0 to m - 1 at least once.")
    return array.astype(np.int64)


def texts(values: Sequence[str], name: str) -> tuple[str, ...]:
    """Return `values` as a non-empty tuple of strings.

    Raises `ValueError` if it is one string instead of several, is empty, or holds anything but
    strings.
    """
    result = tuple(values)
    if isinstance(values, str) or not result:
        raise ValueError(f"{name} must be a sequence of one or more texts.")
    if not all(isinstance(text, str) for text in result):
        raise ValueError(f"{name} must hold texts and nothing else.")
    return result
