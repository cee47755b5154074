"""The bundled example worked through: what the page opens with."""

from collections.abc import Mapping, Sequence
from csv import DictReader
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.data.tabular.labelled_rows import LabelledRows
from core.once import once
from core.studies.calibration.calibration import Calibration, Target, independent_rows, read
from core.studies.calibration.example import EXAMPLE
from core.studies.calibration.result import CalibrationResult, calibration_result
from core.studies.inspection.verdict import SCORE

FIRST: Final = Target(score=SCORE)
OTHERS: Final = Path(__file__).parent / "embedded_others.csv"  # of `benchmarks/default_policy.py`


class OtherRows(NamedTuple):
    """What the model said to the questions of its world that certified nothing; each (rows,)."""

    doubts: NDArray[np.float64]
    correct: NDArray[np.bool_]
    stands: NDArray[np.bool_]  # whether the answer is to be believed, where its doubt is below λ


@once
def other_rows() -> OtherRows:
    """Return the rows that test the limit of the example, which they did not set.

    The other settings, such as the least sampled mass, were chosen on them.
    """
    with OTHERS.open(encoding="utf-8-sig", newline="") as file:
        rows = list(DictReader(file))
    doubts = np.array([float(row[SCORE] or "nan") for row in rows])
    correct = np.array([row[f"{SCORE}_correct"] == "1" for row in rows])
    return OtherRows(doubts, correct, _stands(rows))


def other_rows_for(calibration: Calibration) -> OtherRows | None:
    """Return rows like those of a calibration that did not certify; None where none are here."""
    is_of_these = calibration.data.sha256 == example().sha256 and calibration.score == SCORE
    return other_rows() if is_of_these else None


def _stands(rows: Sequence[Mapping[str, str]]) -> NDArray[np.bool_]:
    """Return which rows of a table are to be believed, below λ: (rows,)."""
    policy = first_calibration().calibration.policy
    limit = policy.threshold if policy else 0.0
    # λ withholds nothing of what spreads less, whatever the model says.
    return np.array([r["stands"] == "1" and not 0 < float(r["entropy"]) < limit for r in rows])


@once
def example() -> LabelledRows:
    """Return the rows of the bundled example, one of every question."""
    return independent_rows(read(EXAMPLE.read_bytes(), EXAMPLE.name))


@once
def first_calibration() -> CalibrationResult:
    """Return the example worked through. What it looks at is the example's, and nobody's own."""
    return calibration_result(example(), FIRST, looks=())


@once
def _rows_of_belief() -> NDArray[np.bool_]:
    """Return which rows of the example are to be believed: (rows,).

    As `benchmarks/default_policy.py` counted them for the built-in policy.
    """
    calibration = first_calibration().calibration
    limit = calibration.policy.threshold if calibration.policy else 0.0
    with EXAMPLE.open(encoding="utf-8-sig", newline="") as file:
        stands = _stands(list(DictReader(file)))
    return stands[calibration.data.kept] & (calibration.doubts < limit)


def errors_of_belief(group: str) -> int:
    """Return how many answers of a group of the example are wrong and to be believed."""
    calibration = first_calibration().calibration
    of_group = np.array([name == group for name in calibration.data.sources])
    return int((of_group & _rows_of_belief() & ~calibration.correct).sum())


@once
def belief_by_bin() -> dict[str, NDArray[np.float64]]:
    """Return how many of each bin of the example's histogram are to be believed: (bins,)."""
    result, rows = first_calibration(), _rows_of_belief()
    calibration, bins = result.calibration, result.shares
    edges, right = [*bins["start"], bins["end"][-1]], calibration.correct
    return {
        name: np.histogram(calibration.numbers[rows & which], edges)[0].astype(float)
        for name, which in (("believed", right), ("believed_wrong", ~right))
    }
