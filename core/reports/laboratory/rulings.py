"""The answer to each question of the laboratory: whether what was found bears the claim out."""

from collections.abc import Callable
from dataclasses import astuple, dataclass
from typing import Any, Final, NamedTuple

import numpy as np

from core.abstention.resampled_measures import compare
from core.charts.laboratory import cards
from core.charts.laboratory.pictures import PictureContent
from core.charts.theme import Chart, Palette
from core.codec import count_of, with_interval
from core.data.world.facts import Band
from core.once import once
from core.reports.laboratory.catalogue import QUESTION_OF
from core.reports.report import Picture
from core.studies.calibration.first_calibration import errors_of_belief, example
from core.studies.evaluation.bundled import FOLDER
from core.studies.evaluation.results import read_results
from core.studies.evaluation.saved_run import Run
from core.studies.inspection.certificates import default_policy
from core.studies.inspection.recorder import LIKELIEST
from core.studies.inspection.verdict import SCORE, largest_that_stands
from core.studies.laboratory.bundled import results_of
from core.studies.laboratory.experiment import Finding
from core.uncertainty.scores import SCORES

HELD, WEAK, BROKEN = "Yes", "In part", "No"
_WEAK: Final = 0.3  # a rank correlation below it
_COMPARED: Final = (SCORE, "semantic_entropy")


@dataclass(frozen=True)
class Ruling:
    """The answer: the word, the one number that it rests on, and what follows."""

    word: str
    number: str
    meaning: str  # what the number is
    takes: str  # what a yes needs
    consequence: str  # for who has a question

    @property
    def follows(self) -> str:
        """What a yes needs, and what follows."""
        return f"Yes needs {self.takes}. {self.consequence}"


@dataclass(frozen=True)
class LaboratoryClaim:
    """How one claim is ruled on, and the small picture that shows it."""

    chart: Callable[[PictureContent, Palette], Chart]
    rule: Callable[[Finding], Ruling]
    height: int = cards.HEIGHT  # pixels of the picture
    #: What it shows beside what was drawn, from elsewhere in the product.
    beside: Callable[[], PictureContent] = dict


def _estimator(finding: Finding) -> Ruling:
    k, error = finding.drawn["k"], np.array(finding.drawn["error"]["Algorithm 1"], float)
    far = [at for at, off in enumerate(error) if not off < cards.EXACT]
    first = far[-1] + 1 if far else 0
    takes = f"{cards.EXACT} nats, the line across"
    if first == len(k):
        meaning = f"nats of error after {k[-1]:,} answers"
        consequence = "More answers need not mend a doubt."
        return Ruling(BROKEN, f"{error[-1]:.3f}", meaning, takes, consequence)
    return Ruling(
        HELD,
        f"{k[first]:,} answers",
        f"bring the doubt within {cards.EXACT} nats of a known one, on average",
        takes,
        f"A verdict uses the {LIKELIEST} likeliest: not exact, but its promise was counted "
        "with them. Near a limit, ask more.",
    )


def _missing_mass(finding: Finding) -> Ruling:
    of: Any = finding.columns
    beyond = max(max(of[f"share of samples {side}"]) for side in ("above", "below"))
    allowed = 1 - float(finding.values["confidence"])
    trials = int(finding.values["samples"])
    number = f"{round((1 - beyond) * trials):,} of {trials:,}"
    meaning = "trials stay within the limits, however many answers are seen"
    takes = f"{round((1 - allowed) * trials):,}, as promised"
    if beyond > allowed:
        return Ruling(BROKEN, number, meaning, takes, "More may be unseen than is said.")
    consequence = "Where too much may be unseen, the verdict is “Can’t tell yet”: ask for more."
    return Ruling(HELD, number, meaning, takes, consequence)


def _theorem(finding: Finding) -> Ruling:
    columns: Any = finding.columns
    held, total = finding.drawn["held"], len(columns["D ≥ I"])
    if held < total:
        consequence = "High doubt need not mean a wrong answer."
        return Ruling(BROKEN, *_as_far(held, total), consequence)
    # Where right answers are independent it is arithmetic: the documents alone can break it.
    by_documents = zip(
        columns["D from the documents < I"], columns["D from the documents, nats"], strict=True
    )
    breaks = [below for below, divergence in by_documents if divergence is not None]
    consequence = (
        "If right answers did not depend on each other, as the theorem assumes, all would be. "
        "“Believe it” rests on counted wrong answers."
    )
    word = BROKEN if any(breaks) else HELD if breaks else WEAK
    return Ruling(word, *_as_far(len(breaks) - sum(breaks), len(breaks)), consequence)


def _as_far(held: int, total: int) -> tuple[str, str, str]:
    """Return how many answers are as far from the truth as doubted, as a ruling says it."""
    meaning = f"answers are; the other {total - held:,} are nearer than doubted"
    return f"{held:,} of {total:,}", meaning, f"all {total:,}"


def _hallucination(finding: Finding) -> Ruling:
    q: Any = np.array(finding.drawn["q"], float)
    product = np.outer(q.sum(1), q.sum(0))
    information = float(np.sum(q[q > 0] * np.log(q[q > 0] / product[q > 0])))
    of_divergence: Any = finding.columns["contribution to D, nats"]
    divergence = sum(each or 0.0 for each in of_divergence)
    stands = largest_that_stands(len(q))
    seen = stands < information <= divergence
    if not seen:
        takes = (
            f"more than {stands:.2f} nats, the most of an answer that stands, and at most the "
            f"{divergence:.2f} that it is from the truth"
        )
        consequence = "A made-up answer may go unnoticed."
        return Ruling(BROKEN, f"{information:.2f} nats", "of doubt", takes, consequence)
    guesses = _guesses()
    meaning = "guesses at things never taught are withheld"
    believed = errors_of_belief(Band.NEVER_SEEN.value)
    takes = (
        f"no wrong one among the other {guesses.answered:,}; {guesses.wrong:,} are, "
        f"{believed:,} with “Believe it”"
    )
    consequence = "No promise is for such questions alone."
    number = f"{guesses.withheld:,} of {guesses.withheld + guesses.answered:,}"
    return Ruling(WEAK if guesses.wrong else HELD, number, meaning, takes, consequence)


class _Guesses(NamedTuple):
    """What becomes of guesses at facts that were never taught, in the bundled labelled example."""

    withheld: int
    right: int  # of these
    answered: int
    wrong: int  # of these

    @property
    def by_fate(self) -> dict[str, tuple[int, int]]:
        """How many right and wrong ones there are, by what becomes of them."""
        return {
            "withheld": (self.right, self.withheld - self.right),
            "answered": (self.answered - self.wrong, self.wrong),
        }


@once
def _guesses() -> _Guesses:
    rows, limit = example(), default_policy().threshold
    is_guess = rows.sources == Band.NEVER_SEEN.value
    right, answered = rows.correct[SCORE][is_guess], rows.doubts[SCORE][is_guess] < limit
    counts = (~answered, right & ~answered, answered, ~right & answered)
    return _Guesses(*(int(np.count_nonzero(each)) for each in counts))


def _deciding(finding: Finding) -> Ruling:
    keeps, groups = finding.drawn["keeps"], finding.drawn["groups"].values()
    values, lows, _ = zip(*(group["stable"] for group in groups), strict=True)
    surely = sum(low >= keeps for low in lows)
    questions = count_of(finding.drawn["questions"], "question")
    meaning = f"other settings surely leave {keeps:.0%} of verdicts as they are ({questions})"
    consequence = "So keep the usual ones: the promise is of these alone."
    every = surely == len(lows)
    word = HELD if every else WEAK if min(values) >= keeps else BROKEN
    number = f"{surely} of {len(lows)}"
    return Ruling(word, number, meaning, f"all {len(lows)}", consequence)


def _yielding(finding: Finding) -> Ruling:
    value, low, _ = ends = finding.drawn["intervals"]["overlap with the large components"]
    (_, least), *_, (_, most) = cards.quarters(finding.drawn)
    meaning = f"of the facts it calls firmest resist, and {least:.0%} of the loosest"
    number, heart = f"{most:.0%}", cards.by_heart(finding.drawn)
    consequence = (
        f"How well a fact was learnt tells more: known {Band.BY_HEART}, {heart:.0%} resist."
    )
    takes = f"a rank correlation of {_WEAK}, surely above 0; it is {with_interval(ends)}"
    if low is None or not low > 0 or not most > least:
        return Ruling(BROKEN, number, meaning, takes, consequence)
    return Ruling(WEAK if value < _WEAK else HELD, number, meaning, takes, consequence)


def _scores(finding: Finding) -> Ruling:
    scores = finding.drawn["scores"]
    (value, low, _), (other, _, high) = scores["M.I."], scores["S.E."]
    # Held weakly at most: with the lists that were never taught, its lead may be chance.
    word = BROKEN if None in (low, high) or not low > high else WEAK  # by no more than chance
    here, entropy = (_with_lists()[symbol][0] for symbol in ("M.I.", "S.E."))
    meaning = f"of pairs have the wrong answer doubted more; by entropy, {entropy:.0%}"
    takes = (
        "a sure lead also with lists never taught, as Evaluation asks. Without them it has "
        f"{'none' if word is BROKEN else 'one'}: {value:.0%} against {other:.0%}"
    )
    consequence = (
        "Many right answers alone are no reason for doubt."
        if word is not BROKEN
        else "Mutual information is not shown to be a better ground for a verdict than entropy."
    )
    return Ruling(word, f"{here:.0%}", meaning, takes, consequence)


@once
def _with_lists() -> dict[str, tuple[float, ...]]:
    """Return the AUROC of both scores, with its interval, on the rows that Evaluation opens on."""
    rows = read_results(Run(FOLDER / "embedded_world"))
    doubts = {name: rows.doubts[name] for name in _COMPARED}
    correct = {name: rows.correct[name] for name in _COMPARED}
    of = compare(doubts, correct, np.arange(len(rows)), SCORE)
    return {SCORES[name].symbol: astuple(of.values[name]) for name in _COMPARED}


#: By the experiment that tries each, in the order of the page.
CLAIMS: Final[dict[str, LaboratoryClaim]] = {
    "estimator": LaboratoryClaim(cards.estimator, _estimator),
    "missing_mass": LaboratoryClaim(cards.missing_mass, _missing_mass),
    "deciding": LaboratoryClaim(cards.deciding, _deciding, cards.TALL),
    "theorem": LaboratoryClaim(cards.theorem, _theorem),
    "hallucination": LaboratoryClaim(
        cards.hallucination, _hallucination, beside=lambda: {"guesses": _guesses().by_fate}
    ),
    "yielding": LaboratoryClaim(cards.yielding, _yielding),
    "related": LaboratoryClaim(cards.scores, _scores, beside=lambda: {"with lists": _with_lists()}),
}


def sentences(finding: Finding) -> list[str]:
    """Return what a finding shows; of the one that a card has, first the answer to its question."""
    claim, (shipped, *_) = CLAIMS.get(finding.experiment), results_of(finding.experiment)
    if claim is None or (finding.values, finding.revision) != (shipped.values, shipped.revision):
        return [finding.sentence]
    ruling = claim.rule(finding)
    question = QUESTION_OF[finding.experiment]
    answer = f"{question} {ruling.word}: {ruling.number} {ruling.meaning}."
    return [answer, ruling.follows, finding.sentence]


def picture_of(finding: Finding) -> Picture:
    """Return the small picture of a claim; its words are the answer, and what follows."""
    words = " ".join(sentences(finding)[:2])
    claim = CLAIMS[finding.experiment]
    content = {**finding.drawn, **claim.beside()}
    return Picture(QUESTION_OF[finding.experiment], words, claim.chart, (content,))
