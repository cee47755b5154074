"""The bundled example worked through: what the page opens with."""

from csv import DictReader
from typing import Final

import numpy as np
from numpy.typing import NDArray

from core.data.tabular.labelled_rows import LabelledRows
from core.once import once
from core.studies.calibration.calibration import Target, independent_rows, read
from core.studies.calibration.example import EXAMPLE
from core.studies.calibration.result import CalibrationResult, calibration_result
from core.studies.inspection.verdict import SCORE

FIRST: Final = Target(score=SCORE)


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
        # λ withholds nothing of what spreads less, whatever the model says.
        stands = [
            r["stands"] == "1" and not 0 < float(r["entropy"]) < limit for r in DictReader(file)
        ]
    return np.array(stands)[calibration.data.kept] & (calibration.doubts < limit)


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
