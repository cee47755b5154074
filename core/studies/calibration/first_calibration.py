"""The bundled example worked through: what the page opens with."""

from typing import Final

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
