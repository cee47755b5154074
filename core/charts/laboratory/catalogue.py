"""The pictures of every experiment, by its name."""

from __future__ import annotations

from typing import Final

from core.charts.laboratory import (
    chains,
    deciding,
    effective_support,
    estimator,
    finite_samples,
    hallucination,
    listing,
    missing_mass,
    related,
    theorem,
    yielding,
)
from core.charts.laboratory.pictures import LaboratoryPicture

PICTURES: Final[dict[str, tuple[LaboratoryPicture, ...]]] = {
    "estimator": estimator.PICTURES,
    "listing": listing.PICTURES,
    "missing_mass": missing_mass.PICTURES,
    "finite_samples": finite_samples.PICTURES,
    "effective_support": effective_support.PICTURES,
    "theorem": theorem.PICTURES,
    "hallucination": hallucination.PICTURES,
    "deciding": deciding.PICTURES,
    "chains": chains.PICTURES,
    "yielding": yielding.PICTURES,
    "related": related.PICTURES,
}
