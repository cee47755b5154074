"""What k draws miss of a known distribution, and what is said about it.

Section 4.1 and Appendix E.1 of the paper: the expected missing mass exactly and in simulation, the
Good–Turing estimate, the bounds, Zipf's rate and the concentration, at each k.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

import numpy as np

from core.studies.examples import EXAMPLES
from core.studies.inspection.request import InvalidRequestError
from core.studies.laboratory.settings import (
    ExperimentSettings,
    Values,
    by_powers,
    confidence_setting,
    query_of,
    seed_setting,
    setting,
    sizes,
    within,
)
from core.studies.progress import Progress, silent
from core.uncertainty import missing_mass as mass
from core.uncertainty.logarithms import entropy
from core.uncertainty.validation import Floats

MOST_KINDS: Final = 10_000
MOST_DRAWS: Final = 10**9
MOST_CELLS: Final = 40_000_000  # kinds times sizes times samples


class Law(StrEnum):
    """The distribution that is drawn from."""

    UNIFORM = "uniform"
    ZIPF = "zipf"
    GEOMETRIC = "geometric"
    OWN = "own"
    MODEL = "model"


LAWS: Final = {
    Law.UNIFORM.value: "All kinds are alike.",
    Law.ZIPF.value: "Kind i has a weight of i^−α.",
    Law.GEOMETRIC.value: "Each kind has a fixed ratio to the one before.",
    Law.OWN.value: "Numbers that you type or paste; they are divided by their sum.",
    Law.MODEL.value: "What the embedded model answers to a question, found by a search.",
}
ANSWERS: Final = 200  # of a model, found by a search


def probabilities_of(text: str) -> tuple[float, ...]:
    """Read numbers that a person typed or pasted, and divide them by their sum.

    `text`: numbers of at least 0, between them white space, semicolons, or commas.

    Raises `InvalidRequestError` if there is none, one is no such number, all are 0, or there are
    too many.
    """
    # One more than are allowed is enough to refuse them.
    parts = re.split(r"[\s;,]+", text.strip(" \t\r\n;,"), maxsplit=MOST_KINDS)
    try:
        weights = np.array([float(part) for part in parts])
    except ValueError:
        raise InvalidRequestError(
            "That is not a list of numbers. Give one for each kind, such as 0.5, 0.3, 0.2."
        ) from None
    if len(weights) > MOST_KINDS:
        raise InvalidRequestError(f"There are more than {MOST_KINDS:,} numbers. Give fewer.")
    if not (np.isfinite(weights).all() and (weights >= 0).all() and weights.any()):
        raise InvalidRequestError("The numbers must be at least 0, and not all of them 0.")
    weights /= weights.max()  # so that their sum neither overflows nor vanishes
    return tuple((weights / weights.sum()).tolist())


def _of(*laws: str) -> Callable[[Values], bool]:
    return lambda values: values["law"] in laws


@dataclass(frozen=True)
class MissingMassSettings(ExperimentSettings):
    """A distribution, and how it is drawn from.

    The exponent is above 1 as in Corollary E.3. If one's own probabilities sum to less than 1, the
    rest is of kinds that nobody knows. Those of a model's answers are flat until they are found.
    """

    law: Law = setting(Law.ZIPF.value, "Distribution", options=LAWS, read=Law)
    own: tuple[float, ...] = setting(
        "0.5, 0.3, 0.1, 0.05, 0.05",
        "Your probabilities",
        read=probabilities_of,
        help="Numbers of at least 0, between them commas, semicolons or white space.",
        applies=_of(Law.OWN),
    )
    question: str = setting(
        EXAMPLES["Many answers"], "Question", read=query_of, applies=_of(Law.MODEL)
    )
    kinds: int = setting(
        200, "Number of kinds", 1, MOST_KINDS, 10, applies=_of(Law.UNIFORM, Law.ZIPF, Law.GEOMETRIC)
    )
    exponent: float = setting(1.5, "Exponent α", 1.01, 10, 0.1, applies=_of(Law.ZIPF))
    ratio: float = setting(0.95, "Ratio", 0.001, 0.999, 0.01, applies=_of(Law.GEOMETRIC))
    draws: tuple[int, ...] = sizes(by_powers, 1, 10_000, 41, MOST_DRAWS, 100)
    samples: int = setting(200, "Samples", 1, 10_000, 50, help="Simulated ones, at every k.")
    seed: int = seed_setting()
    confidence: float = confidence_setting("Confidence of each limit")

    def __post_init__(self) -> None:
        """Enforce the limits, also of what is simulated: of a model's answers, the most."""
        super().__post_init__()
        if self.law is Law.MODEL:
            object.__setattr__(self, "own", (1 / ANSWERS,) * ANSWERS)
        if self.law in (Law.OWN, Law.MODEL):
            object.__setattr__(self, "kinds", len(self.own))
        within("number of kinds", self.kinds, 1, MOST_KINDS)
        within("size of the simulation", self.kinds * len(self.draws) * self.samples, 1, MOST_CELLS)
        if min(self.own, default=0) < 0 or sum(self.own) > 1 + 1e-6:
            raise InvalidRequestError(
                "Probabilities must be at least 0 and sum to at most 1. Divide them by their sum."
            )

    @property
    def probabilities(self) -> Floats:
        """The probability of each kind, (kinds,), falling unless they are one's own."""
        rank = np.arange(1.0, self.kinds + 1)
        if self.law in (Law.OWN, Law.MODEL):
            return np.array(self.own)
        weights = {
            Law.UNIFORM: np.ones_like(rank),
            Law.ZIPF: rank**-self.exponent,
            Law.GEOMETRIC: self.ratio**rank,
        }[self.law]
        return weights / weights.sum()


@dataclass(frozen=True, eq=False)
class MissingMassCurves:
    """What k draws miss, and what is said about it, at each k."""

    settings: MissingMassSettings
    probabilities: Floats  # (kinds,)
    # What the known kinds lack of 1: the missing mass of everything may be larger by so much.
    rest: float
    expected: Floats  # (sizes,): E U_k, exactly
    # missing, good_turing: (samples, sizes): U_k in simulation, and the share of draws whose kind
    # came once, whose mean exceeds E U_k by E U_k⁽¹⁾ / k, with U_k⁽¹⁾ the probability of all that
    # came once (a footnote of Section 4.1); a sample goes on drawing from k to k.
    missing: Floats
    good_turing: Floats
    # finite_support, entropy: (sizes,): the bounds of E U_k by the number of kinds and by the
    # entropy; NaN where there is a rest, of which neither is known.
    finite_support: Floats
    entropy: Floats
    # (sizes,): what E U_k of Zipf's law over all numbers tends to; None for other laws.
    zipf: Floats | None
    # low, high: (sizes,): between which U_k lies, each with the confidence.
    low: Floats
    high: Floats

    @property
    def too_high(self) -> Floats:
        """In what share of the samples U_k is above `high`, (sizes,)."""
        return np.asarray((self.missing > self.high).mean(axis=0))

    @property
    def too_low(self) -> Floats:
        """In what share of the samples U_k is below `low`, (sizes,)."""
        return np.asarray((self.missing < self.low).mean(axis=0))


def run(settings: MissingMassSettings, progress: Progress = silent) -> MissingMassCurves:
    """Compute and simulate what k draws miss of a known distribution."""
    p, k = settings.probabilities, np.array(settings.draws)
    rest = max(0.0, 1 - float(p.sum()))
    rng = np.random.default_rng(settings.seed)
    # The last kind stands for all that nobody knows; what is drawn of it is nobody's.
    everything = np.append(p, rest) / (p.sum() + rest)
    counts = np.zeros((settings.samples, len(everything)), dtype=np.int64)
    missing, turing = [], []
    for done, more in enumerate(np.diff(k, prepend=0)):
        progress("Simulate", done / len(k))
        counts += rng.multinomial(more, everything, size=settings.samples)
        missing.append(mass.missing_mass(p, counts[:, :-1]))
        turing.append((counts[:, :-1] == 1).sum(axis=1) / k[done])
    progress("Simulate", 1.0)
    expected = mass.expected_missing_mass(p, k)
    nothing = np.full(len(k), np.nan)
    is_complete = rest < 1e-6
    with np.errstate(divide="ignore"):
        h = float(entropy(np.log(p)))
    return MissingMassCurves(
        settings,
        p,
        rest,
        expected,
        np.stack(missing, axis=1),
        np.stack(turing, axis=1),
        mass.finite_support_bound(int((p > 0).sum()), k) if is_complete else nothing,
        mass.entropy_bound(h, k) if is_complete else nothing,
        mass.zipf_rate(settings.exponent, k) if settings.law is Law.ZIPF else None,
        np.maximum(0.0, expected - mass.lower_deviation(k, settings.confidence)),
        np.minimum(1.0, expected + mass.upper_deviation(k, settings.confidence)),
    )
