"""The pictures of every experiment, by its name."""

from __future__ import annotations

from typing import Final

from core.charts.laboratory import chains, deciding, estimator, related, yielding
from core.charts.laboratory.pictures import Picture

PICTURES: Final[dict[str, tuple[Picture, ...]]] = {
    "estimator": estimator.PICTURES,
    "deciding": deciding.PICTURES,
    "chains": chains.PICTURES,
    "yielding": yielding.PICTURES,
    "related": related.PICTURES,
}
