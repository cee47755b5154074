"""What repeating an answer does, in sentences: of one curve, and of several."""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from core.codec import count_of, encode
from core.data.world.grading import find, is_right
from core.reports.inspection.truth import what_is_true
from core.reports.inspection.words import untaught_words
from core.studies.amplification import serialise
from core.studies.amplification.curve import SAMPLES_A_POINT, Amplification, Origin, Point
from core.studies.amplification.fate import ALIVE, Fate, fate, fates_at, last_fate, quartiles
from core.studies.inspection.certificates import EMBEDDED, certified_model
from core.studies.inspection.counter_answers import contradicts
from core.studies.inspection.taught_questions import taught_position
from core.uncertainty.no_answer import is_no_answer

RULE: Final = (
    f"A blue curve ends above {ALIVE[1]:.0%}, four times the other: the answer to test stands. An "
    f"orange one ends below {ALIVE[0]:.0%}: it gives way. A grey one ends between, or may: both "
    "are alive."
)
SHARES: Final = "The answer’s share of the two"
PROBABILITIES: Final = "Both probabilities"
FIRM: Final = 10  # repetitions that what is known has to stand at least
HELD: Final = 0.5  # the probability that an answer must have of all, everywhere, to stand
DRIFT: Final = 0.05  # by how much a median has to change to be said to drift
_ORIGINS: Final = {  # of curves that are not exact
    Origin.SAMPLED: "The model scores its own answers only: the curve weighs "
    f"{SAMPLES_A_POINT} sampled answers a point by the model’s likelihoods of them. The interval "
    "holds whatever answers that were not sampled could change.",
    Origin.COUNTED: "This model does not report how likely an answer is; its answers were counted, "
    f"{SAMPLES_A_POINT} a point, with a 95% interval.",
}
_FATES: Final = {
    Fate.STAYS: "the right answer stands",
    Fate.ALIVE: "both answers are alive",
    Fate.GIVES_WAY: "the right answer gives way",
}

_COURSES: Final = {Fate.STAYS: "stands", Fate.ALIVE: "both alive", Fate.GIVES_WAY: "gives way"}


def remarks(curves: Sequence[Amplification]) -> tuple[str, ...]:
    """Return what limits these curves, each sentence once."""
    sentences = ((*filter(None, [_ORIGINS.get(one.source)]), *one.notes) for one in curves)
    return tuple(dict.fromkeys(sentence for several in sentences for sentence in several))


def verdict(curve: Amplification) -> str:
    """Return what repeating did, in one sentence; in two where the curve says little."""
    if not curve.informative:
        return "Neither answer was sampled, so they cannot be compared."
    if not curve.is_foreign:
        return _turn(curve)
    return (
        f"{_turn(curve)} The model almost never gives either answer in this spelling, so the "
        "curve shows little."
    )


def truth(curve: Amplification) -> str:
    """Return whether the answer is right, and the curve misleads; "" where it is not known here.

    It is where the embedded model was asked a question that it was taught.
    """
    fact = find(curve.case.query) if certified_model(curve.revision) == EMBEDDED else None
    if fact is None or is_no_answer(curve.case.answer):
        return ""
    right, (_, trust) = is_right(curve.case.answer, fact), _meaning(curve)
    judged = f"“{curve.case.answer}” is {'right' if right else 'wrong'}"
    if trust is not None and trust is not right:
        judged += ": a false alarm" if right else " all the same"
    is_whole_truth = right and len(fact.answers) == 1 and not fact.note
    return f"{judged}." if is_whole_truth else f"{judged}. {what_is_true(fact, ours=True)}"


def in_words(curve: Amplification) -> list[str]:
    """Return what a curve means, what repeating did, and what is true, as far as it is known."""
    return [*filter(None, [meaning(curve), verdict(curve), truth(curve)])]


def meaning(curve: Amplification) -> str:
    """Return what that says about the model; "" where the curve is too uncertain, or unchecked."""
    return _meaning(curve)[0]


def _meaning(curve: Amplification) -> tuple[str, bool | None]:
    """Return the words of `meaning`, and whether they speak for the answer; None for neither."""
    says_nothing = not curve.informative or curve.is_foreign or curve.from_file
    if says_nothing or is_no_answer(curve.case.answer):
        return "", None
    first, last = curve.informative[0], curve.informative[-1]
    fates, before = fates_at(last), [*map(fates_at, curve.informative[:-1])]
    taught = taught_position(curve.case.query, curve.model)
    caution = untaught_words(taught) if taught and not taught.recognised else ""
    ours, theirs = f"“{curve.case.answer}”", f"“{curve.case.repeated}”"
    against, nothing = f"A reason not to believe {ours}", f"No reason to believe {ours}"
    if len(fates) > 1:  # its interval allows for another
        return "", None
    if Fate.GIVES_WAY in fates:
        if first.repetitions == 0 and fates_at(first) == {Fate.GIVES_WAY}:
            return f"{against}: the model never held it.", False
        how = f". {caution}" if caution else ", as what is half known does."
        return f"{against}: it gives way{how}", False
    if {Fate.GIVES_WAY} in before:
        back = f"{nothing}: it gives way, and comes back."
        return "" if before[0] == {Fate.GIVES_WAY} else back, None
    if Fate.ALIVE in fates:
        both = "both stay alive, as where several answers are right"
        return f"By itself no reason to doubt {ours}: {both}.", None
    chances = [*map(curve.probability, curve.informative)]
    if None in chances or first.repetitions:  # nobody knows what it says besides, or by itself
        return "", None
    if any(chance < HELD for chance in chances if chance is not None):
        outlasts = "it outlasts the other, but the model mostly says neither"
        return f"{nothing}: {outlasts}.", None
    if any(each != {Fate.STAYS} for each in before):
        return "", None
    if caution:
        return caution, None
    if not contradicts(curve.case.repeated, curve.case.query, curve.case.answer):
        return f"{nothing}: it stands, but {theirs} may not contradict it.", None
    if last.repetitions < FIRM:
        few = f"{repetitions(last.repetitions)} cannot show more"
        return f"{nothing} yet: it stands so far, but {few}.", None
    stands = f"it stands against {theirs}, as what is known does"
    return f"A reason to believe {ours}, but no proof: {stands}.", True


def _turn(curve: Amplification) -> str:
    ours, theirs = (f"“{text}”" for text in (curve.case.answer, curve.case.repeated))
    times = [point.repetitions for point in curve.informative]
    last = curve.informative[-1]
    at = curve.crossing
    keeps = f"{_share(last)} of the two"
    if at is None:
        return f"{theirs} does not overtake {_range(curve)}: {ours} keeps {keeps}."
    if at == times[0]:
        since = "before any repetition" if at == 0 else f"already at {repetitions(at)}"
        begins, again = f"{theirs} is more likely {since}", ""
    else:
        begins = f"{theirs} overtakes {_between(max(t for t in times if t < at), at)}"
        again = " again"
    if at == times[-1]:
        return f"{begins}: {ours} keeps {keeps}."
    after = f"after {repetitions(times[-1])} {ours}"
    if last.repeated_is_likelier:
        return f"{begins}; {after} keeps {keeps}."
    ahead = "level" if last.normalised_probability == 0.5 else f"ahead{again}"
    return f"{begins}; but {after} is {ahead}, with {keeps}."


def _range(curve: Amplification) -> str:
    """Return which numbers of repetitions the curve covers: every one, or only some."""
    times = [point.repetitions for point in curve.informative]
    if times == list(range(len(times))):
        return f"within {repetitions(times[-1])}"
    if len(times) == 1:
        return f"at {repetitions(times[0])}, the only informative number"
    which = "asked" if len(times) == len(curve.points) else "at which either answer was seen"
    return f"at any of the {len(times)} numbers of repetitions {which}, up to {times[-1]}"


def _between(before: int, at: int) -> str:
    where = "at" if at == before + 1 else f"between {before} and"
    return f"{where} {repetitions(at)}"


def repetitions(number: int) -> str:
    """Return “1 repetition”, “2 repetitions”."""
    return count_of(number, "repetition")


def percent(share: float) -> str:
    """Return a share in words that never round to a certainty."""
    if share < 0.001:
        return "less than 0.1%"
    return "more than 99.9%" if share > 0.999 else f"{share:.1%}"


def course(curve: Amplification) -> str:
    """Return what becomes of the answer, and of its share of the two; "" where nothing is known."""
    points = curve.informative
    if not points:
        return ""
    end, fates = last_fate(curve), [fate(p.normalised_probability or 0.0) for p in points]
    comes_back = end is not Fate.GIVES_WAY and Fate.GIVES_WAY in fates
    what = "gives way, comes back" if comes_back else _COURSES[end]
    if len(fates_at(points[-1])) > 1:
        what = "not sure"
    elif curve.is_foreign:
        what = "shows little"
    ends = points[:1] * (not points[0].repetitions) + points[-1:]
    shares = " → ".join(dict.fromkeys(map(_share, ends)))
    for words, sign in _SIGNS.items():
        shares = shares.replace(words, sign)
    return f"{what}: {shares} of the two"


def _share(point: Point) -> str:
    """Return the share at a point that has one, as far as its interval allows for."""
    bounds = [bound for bound in (point.lower, point.upper) if bound is not None]
    may_be = bounds + [share for share in (point.normalised_probability,) if share is not None]
    low, high = percent(min(may_be)), percent(max(may_be))
    if low == high:
        return low
    ends = low.startswith("less"), high.startswith("more")
    if bounds and ends[0] != ends[1]:
        return f"at most {high}" if ends[0] else f"at least {low}"
    return f"{low} to {high}"


_SIGNS = {"less than": "<", "more than": ">", "at least": "≥", "at most": "≤"}


def medians(curves: Sequence[Amplification]) -> tuple[str, str]:
    """Return what repeating does to the median of curves: in a few words, and in numbers.

    `curves`: at least one, all over the same numbers of repetitions.
    """
    median = quartiles(curves)[1]
    if np.isnan(median).any():
        return "No median", "At some numbers of repetitions neither answer was sampled."
    times = [point.repetitions for point in curves[0].points]
    first, last = percent(float(median[0])), percent(float(median[-1]))
    ends = fate(float(median[-1]))
    same = sum(last_fate(curve) is ends for curve in curves)
    goes = f"stays at {last}" if first == last else f"goes from {first} to {last}"
    return _course(median, times), (
        f"The right answer’s median share {goes}. After {repetitions(times[-1])} {_FATES[ends]} in "
        f"{same} of {len(curves)}."
    )


def _course(median: NDArray[np.float64], times: Sequence[int]) -> str:
    """Return in a few words how a median goes."""
    fates = [fate(float(share)) for share in median]
    first, last = fates[0], fates[-1]
    if set(fates) == {first}:
        if first is Fate.ALIVE:
            return "Drifts, never dies" if np.ptp(median) >= DRIFT else "Stands still"
        return "Stays" if first is Fate.STAYS else "Never led"
    if last is Fate.GIVES_WAY:
        if first is last:
            return "Never led for long"
        # The last time it gives way: it may have come back once or twice.
        at = max(i for i in range(1, len(fates)) if fates[i - 1] is not last)
        at_once = times[at] == 1
        return "Gives way at once" if at_once else f"Gives way {_between(times[at - 1], times[at])}"
    if first is last:
        return f"{'Falls' if Fate.GIVES_WAY in fates else 'Wavers'}, and comes back"
    return "Loses ground, and lives" if first is Fate.STAYS else "Gains ground"


def to_dict(curve: Amplification) -> dict[str, Any]:
    """Return a curve as JSON has it, with what it says."""
    return {**serialise.to_dict(curve), "verdict": verdict(curve)}


def to_json(curves: Sequence[Amplification]) -> str:
    """Return curves as a JSON list of such objects."""
    return "[" + ",\n".join(encode(to_dict(one)) for one in curves) + "]\n"
