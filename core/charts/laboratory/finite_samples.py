"""The paper's lower bound over k, ours beside it, and why the former says so little."""

from core.charts.laboratory.pictures import (
    CurveColumns,
    LaboratoryPicture,
    PictureContent,
    between,
    curves,
    on_logarithms,
)
from core.charts.theme import Chart, Palette

BOUND, CERTIFIED, ESTIMATE = "The theorem’s bound", "The certified bound", "The theorem’s estimate"
MISSING, GAMMA, OUTSIDE = "Expected missing mass", "γ₂", "δ_supp that is best"


def bounds(content: PictureContent, palette: Palette) -> Chart:
    """Both bounds and the estimate; a bound below 0 says nothing, and is cut off there."""
    by_name = {
        BOUND: CurveColumns(content["bound"]),
        CERTIFIED: CurveColumns(content["certified"]),
        ESTIMATE: CurveColumns(content["estimate"]),
    }
    exact = content["exact"]
    ends = -0.15 * exact, max(1.25 * exact, 0.01)
    return curves(content["k"], by_name, palette, y=between(ends), exact=exact, ends=ends)


def bounds_alt(content: PictureContent) -> str:
    """Say from which k each bound says something."""
    least, half = content["least"], content["half"]
    theorem = f"is above 0 from k = {least:,}" if least else "is never above 0"
    ours = f"reaches half of it at k = {half:,}" if half else "never reaches half of it"
    return (
        f"The exact value is {content['exact']:.3f} nats. The theorem’s bound {theorem}; the "
        f"certified bound {ours}."
    )


def reasons(content: PictureContent, palette: Palette) -> Chart:
    """What the theorem pays for: the mass that is missing, and γ₂."""
    by_name = {
        name: CurveColumns([value or None for value in content[key]])
        for name, key in ((MISSING, "missing"), (GAMMA, "gamma_2"), (OUTSIDE, "outside"))
    }
    ends = 1e-6, 3.0
    y = on_logarithms("share, or probability", *ends)
    return curves(content["k"], by_name, palette, y=y, ends=ends)


def reasons_alt(content: PictureContent) -> str:
    """Say what is missing at both ends."""
    k, missing, gamma = content["k"], content["missing"], content["gamma_2"]
    return (
        f"Expected missing mass: {missing[0]:.1%} at k = {k[0]:,}, {missing[-1]:.2%} at "
        f"{k[-1]:,}; γ₂ falls from {gamma[0]:.3g} to {gamma[-1]:.3g}."
    )


PICTURES = (
    LaboratoryPicture(
        "bounds",
        "What each bound says",
        bounds,
        bounds_alt,
        "Dashed across: the exact value. The theorem’s bound is drawn where it is near or above 0.",
        wide=True,
    ),
    LaboratoryPicture(
        "reasons",
        "What the theorem pays for",
        reasons,
        reasons_alt,
        "The missing mass is estimated, and γ has to be as large as what may be missing. "
        "δ_supp is what is outside of the effective support that gives the best bound.",
        wide=True,
    ),
)
