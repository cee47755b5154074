"""The paper's listing: its twelve panels at once."""

import numpy as np

from core.studies.laboratory.experiment import Experiment, Outcome
from core.studies.laboratory.listing import ListingSettings, Panel, panels


def _outcome(grid: tuple[Panel, ...], settings: ListingSettings) -> Outcome:
    k = settings.draws
    columns: dict[str, list[int | float]] = {
        "temperature": [panel.temperature for panel in grid for _ in k],
        "n": [panel.n for panel in grid for _ in k],
        "k": [size for _ in grid for size in k],
        "exact, nats": [panel.exact for panel in grid for _ in k],
        "Algorithm 1, nats": [value for panel in grid for value in panel.estimates.tolist()],
    }
    chart_data = {
        "k": k,
        "panels": [
            {
                "n": panel.n,
                "temperature": panel.temperature,
                "exact": panel.exact,
                "off": panel.estimates - panel.exact,
            }
            for panel in grid
        ],
    }
    return Outcome(_sentence(grid, settings), columns, chart_data)


def _sentence(grid: tuple[Panel, ...], settings: ListingSettings) -> str:
    first, last = (
        max(grid, key=lambda panel: abs(panel.estimates[at] - panel.exact)) for at in (0, -1)
    )
    parts = (
        f"{abs(panel.estimates[at] - panel.exact):.3f} nats at k = {settings.draws[at]:,} "
        f"(n = {panel.n}, temperature {panel.temperature:g}, exact {panel.exact:.3f})"
        for panel, at in ((first, 0), (last, -1))
    )
    biased = np.mean([panel.estimates[-1] > panel.exact for panel in grid])
    return (
        f"Of {len(grid)} panels with γ = {settings.gamma}, Algorithm 1 is off by at most "
        f"{' and '.join(parts)}; there it is above the exact value in {biased:.0%} of them."
    )


EXPERIMENT = Experiment(
    name="listing",
    title="The listing’s twelve panels",
    about=(
        "What the paper’s listing draws: Algorithm 1 on tuples of 2, 4 and 8 coordinates from a "
        "Gibbs distribution at four temperatures, beside the exact value. *Estimates beside the "
        "exact value* has every panel by many seeds and with all other estimates."
    ),
    paper="Appendix A, Listing 1",
    settings=ListingSettings,
    work=lambda settings, _, progress: _outcome(panels(settings, progress), settings),
    quick=True,
)
