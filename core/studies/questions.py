"""What can I ask? The embedded world's questions, to be searched and to be drawn from."""

import random
from dataclasses import dataclass
from typing import Final

from core.data.world.facts import BY_HEART_FROM, RARELY_BELOW, Band, facts
from core.data.world.normal_form import normal_form
from core.once import once

BANDS: Final[dict[str, str]] = {
    Band.BY_HEART.value: f"Asked and answered {BY_HEART_FROM} times or more in training.",
    Band.HALF_KNOWN.value: f"Asked and answered {RARELY_BELOW} to {BY_HEART_FROM - 1} times, "
    "partly by authors who believe a misconception.",
    Band.RARELY.value: f"Asked and answered 1 to {RARELY_BELOW - 1} times, often wrongly.",
    Band.NEVER_SEEN.value: "A known kind of question, about something that training never showed.",
    Band.MANY_ANSWERS.value: "A question with many right answers; training showed the usual ones.",
}


@dataclass(frozen=True)
class Entry:
    """One question of the world."""

    question: str  # in its first wording
    subject_area: str  # the title of its relation
    band: str  # how well the model can know it, a key of `BANDS`
    exposures: int  # how many training documents ask and answer it
    answers: int  # how many right answers the world lists; there may be more


@once
def entries() -> tuple[Entry, ...]:
    """Return every question of the world, relation by relation, best known first."""
    return tuple(
        Entry(fact.question, fact.title, fact.band.value, fact.exposures, len(fact.answers))
        for fact in facts()
    )


@once
def questions() -> tuple[str, ...]:
    """Return every question of the world once, in its first wording, best known first."""
    ranked = sorted(entries(), key=lambda entry: -entry.exposures)
    return tuple(dict.fromkeys(entry.question for entry in ranked))


@once
def subject_areas() -> tuple[str, ...]:
    """Return the titles of the relations, in the order of the world."""
    return tuple(dict.fromkeys(entry.subject_area for entry in entries()))


def search(
    text: str = "", subject_area: str | None = None, band: str | None = None
) -> tuple[Entry, ...]:
    """Return the questions that hold every word of `text`, in the area and band if given.

    A word may stand in a right answer instead. Words match inside words, whatever their case,
    accents and punctuation: a person types the beginning, and not always the marks.
    """
    words = normal_form(text).split() if any(map(str.isalnum, text)) else ()
    return tuple(
        entry
        for entry, searched in zip(entries(), _search_text(), strict=True)
        if (subject_area is None or entry.subject_area == subject_area)
        and (band is None or entry.band == band)
        and all(word in searched for word in words)
    )


@once
def _search_text() -> tuple[str, ...]:
    """Return what is searched of every entry: question, names and answers, without marks."""
    return tuple(
        normal_form(
            " ".join(
                [
                    fact.question,
                    *fact.subjects,
                    *fact.clauses,
                    *(name for answer in fact.answers for name in answer.names),
                ]
            )
        )
        for fact in facts()
    )


def surprise(band: str, rng: random.Random | None = None) -> Entry:
    """Draw a question of a band, every one with the same probability."""
    return (rng or random.Random()).choice(search(band=band))
