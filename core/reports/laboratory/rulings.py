"""A claim for each question of the laboratory, and whether what was found bears it out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from core.charts.laboratory import cards
from core.charts.laboratory.pictures import Drawn
from core.charts.theme import Chart, Palette
from core.reports.report import Picture
from core.studies.inspection.request import Sampling
from core.studies.laboratory.deciding import TITLES, Factor
from core.studies.laboratory.experiment import Finding

EXACT: Final = 0.001  # nats: what an estimate is off by that counts as exact
HELD, WEAK, BROKEN = "Held", "Held weakly", "Did not hold"
_WEAK: Final = 0.3  # a rank correlation below it
LINKS: Final = {HELD: "Clear link", WEAK: "Weak link", BROKEN: "No sure link"}
_SEARCH: Final = Sampling.LIKELIEST.value
_OF_DRAWS: Final = (TITLES[Factor.SEED], TITLES[Factor.TEMPERATURE])


@dataclass(frozen=True)
class Ruling:
    """What became of a claim: the word, and the one number that it rests on."""

    word: str
    number: str
    meaning: str  # what the number is
    note: str = ""  # a sentence that the picture has, or that stands where one looks closer


@dataclass(frozen=True)
class LaboratoryClaim:
    """One claim, the experiment that tries it, and the small picture that shows it."""

    text: str
    experiment: str
    chart: Callable[[Drawn, Palette], Chart]
    rule: Callable[[Finding], Ruling]


def _estimator(finding: Finding) -> Ruling:
    k, error = finding.drawn["k"], np.array(finding.drawn["error"]["Algorithm 1"], float)
    far = [at for at, off in enumerate(error) if not off < EXACT]
    first = far[-1] + 1 if far else 0
    if first == len(k):
        return Ruling(BROKEN, f"{error[-1]:.3f}", f"of error after {k[-1]:,} samples")
    return Ruling(HELD, f"{k[first]:,} samples", f"bring the error below {EXACT}")


def _missing_mass(finding: Finding) -> Ruling:
    of: Any = finding.columns
    beyond = max(max(of[f"share of samples {side}"]) for side in ("above", "below"))
    allowed = 1 - float(finding.values["confidence"])
    word = HELD if beyond <= allowed else BROKEN
    trials = int(finding.values["samples"])
    meaning = f"trials leave the limits; {round(allowed * trials):,} may"
    return Ruling(word, f"{round(beyond * trials):,} of {trials:,}", meaning)


def _theorem(finding: Finding) -> Ruling:
    held, number = finding.drawn["held"], len(finding.columns["D ≥ I"])
    return Ruling(
        HELD if held == number else BROKEN, f"{held:,} of {number:,}", "questions keep to it"
    )


def _hallucination(finding: Finding) -> Ruling:
    q: Any = np.array(finding.drawn["q"], float)
    product = np.outer(q.sum(1), q.sum(0))
    information = float(np.sum(q[q > 0] * np.log(q[q > 0] / product[q > 0])))
    of_divergence: Any = finding.columns["contribution to D, nats"]
    divergence = sum(each or 0.0 for each in of_divergence)
    stands = 0.1 * np.log(len(q))
    seen = stands < information <= divergence
    meaning = "as much doubt as “Believe it” allows an answer"
    return Ruling(HELD if seen else BROKEN, f"{information / stands:.2g} times", meaning)


def _deciding(finding: Finding) -> Ruling:
    of: Any = finding.columns
    rows: Any = zip(of["setting"], of["in use"], of["verdict kept, share"], strict=True)
    # Drawn answers at the usual temperature stand under both.
    twice = TITLES[Factor.SAMPLING]
    is_stable = [
        (setting, share >= finding.drawn["keeps"])
        for setting, used, share in rows
        if not used and setting != twice
    ]
    changes = [setting for setting, stays in is_stable if not stays]
    draws = sum(setting in _OF_DRAWS for setting in changes)
    note = ""
    if draws and (_SEARCH, True) in zip(of["value"], of["in use"], strict=True):
        note = (
            f"The usual search is deterministic: of the {len(changes)} others, {draws} are seeds "
            "and temperatures of drawn answers."
        )
    word = BROKEN if changes else HELD
    number = f"{len(is_stable) - len(changes)} of {len(is_stable)}"
    return Ruling(word, number, "other settings give the same verdict", note)


def _yielding(finding: Finding) -> Ruling:
    value, low, high = finding.drawn["intervals"]["overlap with the large components"]
    word = BROKEN if low is None or not low > 0 else WEAK if value < _WEAK else HELD
    if value is None:
        return Ruling(word, "No link", "can be computed")
    meaning = f"rank correlation {value:+.2f}"
    if low is not None:
        meaning += f" ({low:+.2f} to {high:+.2f})"
    return Ruling(word, LINKS[word], meaning.replace("-", "−"))


def _scores(finding: Finding) -> Ruling:
    (value, low, _), (other, _, high) = (finding.drawn["scores"][name] for name in ("M.I.", "S.E."))
    held = None not in (low, high) and low > high  # without intervals, nothing is held
    word = HELD if held else WEAK if value > other else BROKEN
    meaning = "of pairs: the wrong answer is doubted more"
    note = f"Entropy: {other:.0%}. {cards.NEVER_TAUGHT}"
    return Ruling(word, f"{value:.0%}", meaning, note)


#: By the question of the page, in its order.
CLAIMS: Final[dict[str, LaboratoryClaim]] = {
    "Is the estimate right?": LaboratoryClaim(
        "With enough samples, the doubt is exact.", "estimator", cards.estimator, _estimator
    ),
    "How many samples?": LaboratoryClaim(
        "What was not seen stays within limits.",
        "missing_mass",
        cards.missing_mass,
        _missing_mass,
    ),
    "Does the bound hold?": LaboratoryClaim(
        "Doubt is never above the distance from the truth.", "theorem", cards.theorem, _theorem
    ),
    "What does a hallucination look like?": LaboratoryClaim(
        "A guess is doubted without knowing the truth.",
        "hallucination",
        cards.hallucination,
        _hallucination,
    ),
    "Is a score stable?": LaboratoryClaim(
        "The verdict does not depend on the settings.", "deciding", cards.deciding, _deciding
    ),
    "Why does it give way?": LaboratoryClaim(
        "Facts held firmly resist repetition.",
        "yielding",
        cards.yielding,
        _yielding,
    ),
    "Do other scores see it?": LaboratoryClaim(
        "Mutual information finds wrong answers that entropy misses.",
        "related",
        cards.scores,
        _scores,
    ),
}


def picture_of(claim: LaboratoryClaim, finding: Finding) -> Picture:
    """Return the small picture of a claim; its words say what became of the claim."""
    ruling = claim.rule(finding)
    words = f"{claim.text} {ruling.word}: {ruling.number} {ruling.meaning}. {ruling.note}".strip()
    return Picture(claim.text, words, claim.chart, (finding.drawn,))
