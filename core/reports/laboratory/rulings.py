"""A claim for each question of the laboratory, and whether what was found bears it out."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np

from core.charts.laboratory import cards
from core.charts.laboratory.pictures import PictureContent
from core.charts.theme import Chart, Palette
from core.codec import count_of, list_of
from core.data.world.facts import Band
from core.once import once
from core.reports.report import Picture
from core.studies.calibration.first_calibration import example
from core.studies.inspection.certificates import default_policy
from core.studies.inspection.recorder import LIKELIEST
from core.studies.inspection.verdict import SCORE, largest_that_stands
from core.studies.laboratory.experiment import Finding

HELD, WEAK, BROKEN = "Holds", "Holds in part", "Does not hold"
BEARS_OUT: Final = "answers bear it out"
_WEAK: Final = 0.3  # a rank correlation below it


@dataclass(frozen=True)
class Ruling:
    """What became of a claim: the word, the one number that it rests on, and what follows."""

    word: str
    number: str
    meaning: str  # what the number is
    consequence: str  # for who has a question


@dataclass(frozen=True)
class LaboratoryClaim:
    """One claim, the experiment that tries it, and the small picture that shows it."""

    text: str
    experiment: str
    chart: Callable[[PictureContent, Palette], Chart]
    rule: Callable[[Finding], Ruling]
    height: int = cards.HEIGHT  # pixels of the picture


def _estimator(finding: Finding) -> Ruling:
    k, error = finding.drawn["k"], np.array(finding.drawn["error"]["Algorithm 1"], float)
    far = [at for at, off in enumerate(error) if not off < cards.EXACT]
    first = far[-1] + 1 if far else 0
    if first == len(k):
        meaning = f"of error after {k[-1]:,} answers"
        return Ruling(BROKEN, f"{error[-1]:.3f}", meaning, "More answers need not mend a doubt.")
    return Ruling(
        HELD,
        f"{k[first]:,} answers",
        f"drawn where the doubt is known come within {cards.EXACT} nats of it on average, the line "
        f"across; a yes-or-no question has {np.log(2):.2f} at most",
        f"A verdict’s doubt is of the {LIKELIEST} likeliest alone: near its limit, ask for more.",
    )


def _missing_mass(finding: Finding) -> Ruling:
    of: Any = finding.columns
    beyond = max(max(of[f"share of samples {side}"]) for side in ("above", "below"))
    allowed = 1 - float(finding.values["confidence"])
    trials = int(finding.values["samples"])
    number = f"{round((1 - beyond) * trials):,} of {trials:,}"
    meaning = f"trials stay within the limits; {round((1 - allowed) * trials):,} are promised"
    if beyond > allowed:
        return Ruling(BROKEN, number, meaning, "More may be unseen than is said.")
    consequence = "Where too much may be unseen, the verdict is “Can’t tell yet”: ask for more."
    return Ruling(HELD, number, meaning, consequence)


def _theorem(finding: Finding) -> Ruling:
    columns: Any = finding.columns
    held, total = finding.drawn["held"], len(columns["D ≥ I"])
    if held < total:
        consequence = "High doubt need not mean a wrong answer."
        return Ruling(BROKEN, f"{held:,} of {total:,}", BEARS_OUT, consequence)
    # Where right answers are independent it is arithmetic: the documents alone can break it.
    by_documents = zip(
        columns["D from the documents < I"], columns["D from the documents, nats"], strict=True
    )
    breaks = [below for below, divergence in by_documents if divergence is not None]
    consequence = (
        "Right answers of the training documents, the truth here, depend on each other; where they "
        f"do not, it holds for all {total:,}. Low doubt is no proof: “Believe it” rests on wrong "
        "answers counted on Calibration."
    )
    return Ruling(
        BROKEN if any(breaks) else HELD if breaks else WEAK,
        f"{len(breaks) - sum(breaks):,} of {len(breaks):,}",
        BEARS_OUT,
        consequence,
    )


def _hallucination(finding: Finding) -> Ruling:
    q: Any = np.array(finding.drawn["q"], float)
    product = np.outer(q.sum(1), q.sum(0))
    information = float(np.sum(q[q > 0] * np.log(q[q > 0] / product[q > 0])))
    of_divergence: Any = finding.columns["contribution to D, nats"]
    divergence = sum(each or 0.0 for each in of_divergence)
    stands = largest_that_stands(len(q))
    seen = stands < information <= divergence
    number = f"{information:.2f} nats"
    meaning = f"of doubt; an answer that stands has {stands:.2f} at most"
    if not seen:
        return Ruling(BROKEN, number, meaning, "A made-up answer may go unnoticed.")
    guesses = _guesses()
    meaning = f"guesses at what was never taught are withheld, {guesses.right:,} of them right"
    consequence = (
        f"Pictured: the one in the middle by doubt, {information:.2f} nats. Of the "
        f"{guesses.answered:,} not withheld, {guesses.wrong:,} are wrong."
    )
    number = f"{guesses.withheld:,} of {guesses.withheld + guesses.answered:,}"
    return Ruling(WEAK if guesses.wrong else HELD, number, meaning, consequence)


class _Guesses(NamedTuple):
    """What becomes of guesses at facts that were never taught, in the bundled labelled example."""

    withheld: int
    right: int  # of these
    answered: int
    wrong: int  # of these


@once
def _guesses() -> _Guesses:
    rows, limit = example(), default_policy().threshold
    is_guess = rows.sources == Band.NEVER_SEEN.value
    right, answered = rows.correct[SCORE][is_guess], rows.doubts[SCORE][is_guess] < limit
    counts = (~answered, right & ~answered, answered, ~right & answered)
    return _Guesses(*(int(np.count_nonzero(each)) for each in counts))


def _deciding(finding: Finding) -> Ruling:
    value, low, high = finding.drawn["stable"]
    keeps, few = finding.drawn["keeps"], finding.drawn["too few"]
    questions = count_of(finding.drawn["questions"], "question")
    meaning = f"of verdicts stay if one setting moves ({low:.0%} to {high:.0%}; {questions})"
    consequence = "Keep the usual settings, which alone have a promise."
    if few:
        consequence += f" Of {list_of(few)} answers, all are “Can’t tell yet”."
    word = HELD if low >= keeps else WEAK if value >= keeps else BROKEN
    return Ruling(word, f"{value:.0%}", meaning, consequence)


def _yielding(finding: Finding) -> Ruling:
    value, low, _ = finding.drawn["intervals"]["overlap with the large components"]
    (_, least), *_, (_, most) = cards.quarters(finding.drawn)
    meaning = f"of the facts that it calls firmest resist; of the loosest, {least:.0%}"
    number, heart = f"{most:.0%}", Band.BY_HEART.value
    facts = zip(finding.drawn["band"], finding.drawn["turns"], strict=True)
    resist = [turns is None for band, turns in facts if band == heart]
    consequence = (
        f"How well a fact was learnt tells more: known {heart}, {np.mean(resist or 0):.0%} resist."
    )
    if low is None or not low > 0 or not most > least:
        return Ruling(BROKEN, number, meaning, consequence)
    return Ruling(WEAK if value < _WEAK else HELD, number, meaning, consequence)


def _scores(finding: Finding) -> Ruling:
    scores = finding.drawn["scores"]
    (value, low, _), (other, _, high) = scores["M.I."], scores["S.E."]
    # Held weakly at most: the lists that were never taught, where it errs, are not asked here.
    word = BROKEN if None in (low, high) or not low > high else WEAK  # by no more than chance
    questions = count_of(finding.drawn["questions"], "question")
    meaning = (
        f"of pairs have the wrong answer doubted more than the right one; by entropy, {other:.0%} "
        f"({questions}, no list that was never taught)"
    )
    consequence = (
        "Many right answers alone are no reason for doubt. With such lists, Evaluation finds less, "
        "and no lead."
        if word is not BROKEN
        else "Mutual information is not shown to be a better ground for a verdict than entropy."
    )
    return Ruling(word, f"{value:.0%}", meaning, consequence)


#: By the question of the page, in its order.
CLAIMS: Final[dict[str, LaboratoryClaim]] = {
    "Is the estimate right?": LaboratoryClaim(
        "With enough answers, the doubt is exact.", "estimator", cards.estimator, _estimator
    ),
    "How many samples?": LaboratoryClaim(
        "How much was not seen is known within limits.",
        "missing_mass",
        cards.missing_mass,
        _missing_mass,
    ),
    "Is a score stable?": LaboratoryClaim(
        "Other settings give the same verdict.", "deciding", cards.deciding, _deciding, cards.TALL
    ),
    "Does the bound hold?": LaboratoryClaim(
        "Answers are at least as far from the truth as doubted.", "theorem", cards.theorem, _theorem
    ),
    "What does a hallucination look like?": LaboratoryClaim(
        "A guess is doubted without knowing the truth.",
        "hallucination",
        cards.hallucination,
        _hallucination,
    ),
    "Why does it give way?": LaboratoryClaim(
        "The paper’s explanation tells which facts resist repetition.",
        "yielding",
        cards.yielding,
        _yielding,
    ),
    "Do other scores see it?": LaboratoryClaim(
        "Mutual information finds what entropy misses.", "related", cards.scores, _scores
    ),
}


def heading(claim: LaboratoryClaim, ruling: Ruling) -> str:
    """Say a claim, and what became of it."""
    return f"Claimed: {claim.text} {ruling.word}: {ruling.number} {ruling.meaning}."


def picture_of(claim: LaboratoryClaim, finding: Finding) -> Picture:
    """Return the small picture of a claim; its words say what became of the claim."""
    ruling = claim.rule(finding)
    words = f"{heading(claim, ruling)} {ruling.consequence}"
    return Picture(claim.text, words, claim.chart, (finding.drawn,))
