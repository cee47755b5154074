"""The pictures of every experiment, by its name."""

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

_MODULES: Final = (
    *(estimator, listing, missing_mass, finite_samples, effective_support, theorem),
    *(hallucination, deciding, chains, yielding, related),
)
PICTURES: Final[dict[str, tuple[LaboratoryPicture, ...]]] = {
    module.__name__.rpartition(".")[2]: module.PICTURES for module in _MODULES
}
