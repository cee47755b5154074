"""The verdict as it is served: what is said first, and how an answer that is withheld is named."""

from __future__ import annotations

from typing import Final

from core.studies.inspection.inspection import Inspection
from core.studies.inspection.verdict import INFORMED, Decision, Headline

# What is said of the answer. One that is withheld is never the headline, and there is no word of
# trust on what the model was not taught: the decision stands beneath, and small.
HEADLINES: Final = {
    Headline.BELIEVE: "Believe it.",
    Headline.PERHAPS: "Perhaps.",
    Headline.ABSTAIN: "I don’t know.",
    Headline.TOO_LITTLE: "Can’t tell yet.",
    Headline.UNDECIDED: "Can’t tell yet.",
    Headline.UNTAUGHT: "Not near anything this model was taught.",
}
WITHHELD: Final = {
    Decision.ABSTAIN: "It would have said:",
    Decision.TOO_LITTLE: "It may say:",
    Decision.UNDECIDED: "It says:",
}
BENEATH: Final = {
    Decision.ANSWER: "Judged by its doubt alone, it would have answered:",
    Decision.ABSTAIN: "Its doubt alone would have withheld this, too:",
    Decision.TOO_LITTLE: "The answers found cover too little to judge them. It may say:",
    Decision.UNDECIDED: "Nothing decides here. It would have said:",
}


def display(text: str) -> str:
    """Return a response as it is displayed; one that says nothing says so."""
    return text or "(no text)"


def served_sentence(inspection: Inspection, *, untaught: bool = False) -> tuple[str, str]:
    """Return the sentence that comes first and, where an answer is withheld, the one beneath it.

    With `untaught`, what the model would have said is told even where the page conceals it.
    """
    headline, decision = HEADLINES[inspection.headline], inspection.decision
    answer = display(inspection.verdict.answer)
    if inspection.conceals:
        return headline, f"{BENEATH[inspection.verdict.decision]} {answer}" if untaught else ""
    if decision is Decision.ANSWER:
        stop = "" if answer[-1] in ".!?" else "."
        return f"{answer}{stop} {headline}", ""
    return headline, f"{WITHHELD[decision]} {answer}"


def beneath(inspection: Inspection, *, untaught: bool = False) -> tuple[str, ...]:
    """Return what is said below the served sentence: what holds it back, and why it is so."""
    taught, quotes = inspection.nearest_taught, untaught or not inspection.conceals
    sentence = (
        inspection.read_as,
        taught.sentence if taught else None,
        *(taught.did_you_mean if taught else ()),
        inspection.too_few,
        not_the_first(inspection) if quotes else None,
        inspection.verdict.reason if quotes else None,
        inspection.caveat,
        *inspection.recording.notes,
    )
    return tuple(filter(None, sentence))


def not_the_first(inspection: Inspection) -> str | None:
    """Say why the answer is not the one that is likeliest when the model is told nothing."""
    first, answer = inspection.clusters[0].text, inspection.verdict.answer
    is_second = answer == inspection.evidence.likeliest_second
    if inspection.verdict.score not in INFORMED or answer == first or not is_second:
        return None
    return (
        f"Told nothing, it is likelier to say “{display(first)}”. This is the answer that it "
        "gives most often after it was told its answers."
    )
