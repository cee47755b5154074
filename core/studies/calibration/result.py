"""A calibration with all that is shown of it, in one piece of work that can be stopped."""

from collections.abc import Mapping, MutableMapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from numpy.typing import NDArray

from core.abstention.ledger import Look
from core.abstention.metrics import Curve
from core.data.tabular.labelled_rows import LabelledRows
from core.studies.calibration.calibration import (
    Calibration,
    Target,
    calibrate,
    look_at_target,
    with_budget,
)
from core.studies.calibration.diagnostics import BinDecisions, by_entropy, curves, shares
from core.studies.calibration.groups import ByGroup, by_group
from core.studies.calibration.price_list import TargetPrice, list_entry, price_list
from core.studies.progress import Progress, silent

ENTROPY = "semantic_entropy"  # the score beside which the entropies are looked at


@dataclass(frozen=True)
class CalibrationResult:
    """A calibration and what is shown of it."""

    calibration: Calibration
    prices: tuple[TargetPrice, ...]  # None where nobody asked for them
    groups: ByGroup
    curves: Mapping[str, Curve]  # of every score
    # (bins,): as of `core.studies.calibration.diagnostics.shares`.
    shares: Mapping[str, NDArray[Any]]
    by_entropy: tuple[BinDecisions, ...]  # of its score and of the semantic entropy
    looks: tuple[Look, ...] = ()  # that were taken for all this; none where they are not counted


def calibration_result(
    data: LabelledRows,
    target: Target,
    progress: Progress = silent,
    *,
    looks: Sequence[Look] | None = None,
    listing: Sequence[Look] | None = None,
    cache: MutableMapping[Any, Any] | None = None,
) -> CalibrationResult:
    """Calibrate, and compute all that is shown of it.

    Target, groups and list of prices are a look each, and the last is taken on request alone:
    `listing` are all looks before it was asked for. `cache` holds what calls with the same data
    computed independently of the target's error and method; this call adds to it. The rest, and
    `CalibrationError`, is as of `calibrate`.
    """
    cache = {} if cache is None else cache
    progress("Looking for the threshold", 0.0)
    calibration = calibrate(data, target, looks=looks)
    groups = by_group(calibration)
    taken = [each for each in (calibration.look, groups.look) if each is not None]
    prices: tuple[TargetPrice, ...] = ()
    if listing is not None:
        listed = target.confidence, target.score
        if listed not in cache:
            progress("Finding what each target costs", 0.2)
            tested = replace(target, method="ltt")
            before = *listing, *taken
            look = look_at_target(data, list_entry(tested, target.error), before)
            cache[listed] = price_list(data, with_budget(data, tested, look, before)), look
        prices, look = cache[listed]
        taken.append(look)
    if "curves" not in cache:
        progress("Drawing the curves", 0.6)
        cache["curves"] = curves(calibration.data)
    others = [ENTROPY] if ENTROPY in data.doubts else []
    return CalibrationResult(
        calibration,
        prices,
        groups,
        cache["curves"],
        shares(calibration),
        by_entropy(calibration, others),
        tuple(taken),
    )
