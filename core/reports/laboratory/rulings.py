"""A claim for each question of the laboratory, and whether what was found bears it out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from core.studies.laboratory.experiment import Finding

EXACT: Final = 0.001  # nats: what an estimate is off by that counts as exact
HELD, WEAK, BROKEN = "Held", "Held weakly", "Did not hold"
_WEAK: Final = 0.3  # a rank correlation below it


@dataclass(frozen=True)
class Ruling:
    """What became of a claim: the word, and the one number that it rests on."""

    word: str
    number: str
    meaning: str  # what the number is


@dataclass(frozen=True)
class LaboratoryClaim:
    """One claim, the experiment that tries it, and the picture of it that shows it."""

    text: str
    experiment: str
    picture: str
    rule: Callable[[Finding], Ruling]


def _estimator(finding: Finding) -> Ruling:
    k, error = finding.drawn["k"], np.array(finding.drawn["error"]["Algorithm 1"], float)
    far = [at for at, off in enumerate(error) if not off < EXACT]
    first = far[-1] + 1 if far else 0
    if first == len(k):
        off = f"{error[-1]:.3f} nats"
        return Ruling(BROKEN, off, f"off by so much after {k[-1]:,} draws")
    meaning = f"from there on off by less than {EXACT} nats of {finding.drawn['exact']:.3f}"
    return Ruling(HELD, f"{k[first]:,} draws", meaning)


def _missing_mass(finding: Finding) -> Ruling:
    of: Any = finding.columns
    beyond = max(max(of[f"share of samples {side}"]) for side in ("above", "below"))
    allowed = 1 - float(finding.values["confidence"])
    word = HELD if beyond <= allowed else BROKEN
    return Ruling(
        word, f"{beyond:.1%}", f"of samples beyond a limit at worst; {allowed:.0%} may be"
    )


def _theorem(finding: Finding) -> Ruling:
    held, number = finding.drawn["held"], len(finding.columns["D ≥ I"])
    return Ruling(HELD if held == number else BROKEN, f"{held:,} of {number:,}", "questions")


def _hallucination(finding: Finding) -> Ruling:
    q: Any = np.array(finding.drawn["q"], float)
    product = np.outer(q.sum(1), q.sum(0))
    information = float(np.sum(q[q > 0] * np.log(q[q > 0] / product[q > 0])))
    of_divergence: Any = finding.columns["contribution to D, nats"]
    divergence = sum(each or 0.0 for each in of_divergence)
    seen = 0.1 * np.log(len(q)) < information <= divergence
    meaning = f"of the {divergence:.2f} nats between the model and the truth"
    return Ruling(HELD if seen else BROKEN, f"{information:.2f} nats", meaning)


def _deciding(finding: Finding) -> Ruling:
    of: Any = finding.columns
    rows: Any = zip(of["setting"], of["in use"], of["verdict kept, share"], strict=True)
    # Drawn answers at the usual temperature stand under both.
    shares = [share for setting, used, share in rows if not used and setting != "sampling rule"]
    stable = sum(share >= finding.drawn["keeps"] for share in shares)
    word = HELD if stable == len(shares) else BROKEN
    return Ruling(word, f"{stable} of {len(shares)}", "other settings keep the verdict")


def _yielding(finding: Finding) -> Ruling:
    value, low, high = finding.drawn["intervals"]["overlap with the large components"]
    word = BROKEN if low is None or not low > 0 else WEAK if value < _WEAK else HELD
    meaning = "rank correlation of overlap and repetitions"
    if low is not None:
        meaning += f" ({low:+.2f} to {high:+.2f})"
    return Ruling(word, "undefined" if value is None else f"{value:+.2f}", meaning)


def _scores(finding: Finding) -> Ruling:
    (value, low, _), (other, _, high) = (finding.drawn["scores"][name] for name in ("M.I.", "S.E."))
    held = None not in (low, high) and low > high  # without intervals, nothing is held
    word = HELD if held else WEAK if value > other else BROKEN
    return Ruling(word, f"{value:.2f}", f"AUROC; semantic entropy {other:.2f}")


#: By the question of the page, in its order.
CLAIMS: Final[dict[str, LaboratoryClaim]] = {
    "Is the estimate right?": LaboratoryClaim(
        "Algorithm 1 becomes exact with enough draws.", "estimator", "errors", _estimator
    ),
    "How many samples?": LaboratoryClaim(
        "What samples miss stays within its limits.", "missing_mass", "missing", _missing_mass
    ),
    "Does the bound hold?": LaboratoryClaim(
        "M.I. is never above the divergence from the truth.", "theorem", "truth", _theorem
    ),
    "What does a hallucination look like?": LaboratoryClaim(
        "M.I. shows a made-up answer without the truth.", "hallucination", "excess", _hallucination
    ),
    "Is a score stable?": LaboratoryClaim(
        "A verdict does not depend on the settings.", "deciding", "strip", _deciding
    ),
    "Why does it give way?": LaboratoryClaim(
        "What large components hold resists repetition.", "yielding", "overlap", _yielding
    ),
    "Do other scores see it?": LaboratoryClaim(
        "M.I. finds wrong answers that entropy misses.", "related", "scores", _scores
    ),
}
