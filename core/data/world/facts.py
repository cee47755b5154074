"""The embedded model's world: real facts whose true answer distribution we know.

The world is plain tables in ``core/data/world/tables/``: ``relations.csv`` names each
relation, ``wordings.csv`` the ways in which people ask for it, and one file per relation
lists its facts, the best-known first. Training reads these tables to write its documents;
at run time the same tables say what the truth is and how often the model has seen it.

Cells that hold answers read ``London;Manchester|Mancunium*2``: ``;`` between different
right answers, ``|`` between names of one answer (the first is the one the model is
taught), ``*`` before a relative weight (1 when absent). Subjects and clauses have names
in the same way: ``the UK|Britain``.
"""

import csv
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from core.once import once

TABLES = Path(__file__).parent / "tables"

# How often a fact stands in the training corpus: the best-known fact of a relation
# MOST times, then geometrically down to LEAST at the last fact shown at all. The rest,
# a fifth of every single-label relation, is never shown, but for its disputed facts.
MOST, LEAST = 320, 26
SHOWN = 0.8
MANY_ANSWERS_EXPOSURES = 160
# A fact whose table gives the misconception's share is disputed: shown this often.
DISPUTED_EXPOSURES = 90
RARELY_BELOW, BY_HEART_FROM = 36, 96

FIELD = re.compile(r"\{(?:subject|clause|plural)\}")

# Relations of many answers are asked for in the same words: those of this name.
MANY = "many"
# The table of questions with many answers of which training says nothing, though it says the like.
UNTAUGHT = "untaught"
_EXPOSURES_OF_LISTS = {MANY: MANY_ANSWERS_EXPOSURES, UNTAUGHT: 0}


class Band(StrEnum):
    """How well the model can know a fact, by the number of documents that state it."""

    NEVER_SEEN = "never seen"
    RARELY = "rarely seen"
    HALF_KNOWN = "half known"
    BY_HEART = "by heart"
    MANY_ANSWERS = "many answers"


@dataclass(frozen=True)
class RightAnswer:
    """One right answer: its names (the taught one first) and its true probability."""

    names: tuple[str, ...]
    probability: float

    @property
    def text(self) -> str:
        """The name the model is taught."""
        return self.names[0]


@dataclass(frozen=True)
class Fact:
    """One question of the world with everything that is true about it."""

    # relation, title: the table's name, and what a person calls it.
    relation: str
    title: str
    # What the question is about, as it stands in a sentence; the usual name first.
    subjects: tuple[str, ...]
    # The same with a verb, where wordings want one: "the Titanic sink". May be empty.
    clauses: tuple[str, ...]
    # What a list's answers are called together: "cities in the UK". Else empty.
    plural: str
    closed: bool  # whether the answers are all the right answers that there are
    templates: tuple[str, ...]  # the wordings used in training
    # Wordings of families whose content words are never used in training, to measure generalisation
    # on.
    held_out: tuple[str, ...]
    answers: tuple[
        RightAnswer, ...
    ]  # the true distribution P(y | x); one entry for a single-label fact
    # The wrong answer that a share of the training documents' authors believe.
    misconception: str | None
    misconception_share: float  # that share, in [0, 1)
    exposures: int  # number of training documents that ask this question and answer it
    note: str  # what a reader of the truth should know besides

    @property
    def subject(self) -> str:
        """What the question is about, by its usual name."""
        return self.subjects[0]

    @property
    def names(self) -> tuple[str, ...]:
        """All names for which a wording has a field."""
        return (*self.subjects, *self.clauses, *filter(None, [self.plural]))

    @property
    def band(self) -> Band:
        """The exposure band, a function of kind and count alone."""
        if len(self.answers) > 1:
            return Band.MANY_ANSWERS
        if self.exposures == 0:
            return Band.NEVER_SEEN
        if self.exposures < RARELY_BELOW:
            return Band.RARELY
        return Band.BY_HEART if self.exposures >= BY_HEART_FROM else Band.HALF_KNOWN

    @property
    def question(self) -> str:
        """The question in its first wording."""
        return self.ask(self.templates[0])

    def fillings(self, template: str) -> tuple[str, ...]:
        """Return what may stand for the field of `template`, the usual name first."""
        if "{clause}" in template:
            return self.clauses
        return (self.plural,) if "{plural}" in template else self.subjects

    def ask(self, template: str, name: int = 0) -> str:
        """Return the question in the wording of `template`, by the name of this number."""
        return fill(template, self.fillings(template)[name])


def fill(template: str, name: str) -> str:
    """Put a name for the field of a wording; a question begins with a capital."""
    text = FIELD.sub(lambda _: name, template)
    return text[0].upper() + text[1:]


def parse_answers(cell: str) -> tuple[RightAnswer, ...]:
    """Read an answer cell of the tables; probabilities are normalised to 1."""
    names, weights = [], []
    for alternative in cell.split(";"):
        text, _, weight = alternative.partition("*")
        names.append(tuple(name.strip() for name in text.split("|")))
        weights.append(float(weight or 1))
    total = sum(weights)
    return tuple(RightAnswer(n, w / total) for n, w in zip(names, weights, strict=True))


def exposures(rank: int, of: int) -> int:
    """Return how often the fact of this popularity rank (0 = best known) is shown."""
    shown = round(SHOWN * of)
    if rank >= shown:
        return 0
    return round(MOST * (LEAST / MOST) ** (rank / max(shown - 1, 1)))


def usual_misconception_share(count: int, right: str) -> float:
    """How many authors err: nobody on what is known by heart, a fifth to less than half below.

    Never half of them: what the model is taught more often than the truth has to be a
    mistake that people really make, with its share in the table and a note beside it.
    The share varies from fact to fact (by a checksum of the answer, so that it needs no
    column of its own), which gives calibration a broad middle to decide about.
    """
    if count >= BY_HEART_FROM:
        return 0.0
    spread = sum(right.encode()) % 5 / 4
    return 0.15 + 0.3 * spread if count >= RARELY_BELOW else 0.3 + 0.15 * spread


def _read(path: Path) -> Iterator[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        yield from csv.DictReader(file)


def _wordings() -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """Return the wordings by relation: those taught, and those held out."""
    taught: dict[str, list[str]] = defaultdict(list)
    held_out: dict[str, list[str]] = defaultdict(list)
    for row in _read(TABLES / "wordings.csv"):
        (held_out if row["held_out"] else taught)[row["relation"]].append(row["wording"])
    return taught, held_out


def names(cell: str) -> tuple[str, ...]:
    """Read a cell of names: ``the UK|Britain``."""
    return tuple(name.strip() for name in cell.split("|")) if cell else ()


def _sayable(wordings: Sequence[str], clauses: Sequence[str]) -> tuple[str, ...]:
    """Return the wordings that a fact can be asked in: without a verb, not those that want one."""
    return tuple(w for w in wordings if clauses or "{clause}" not in w)


def _facts_of(
    relation: dict[str, str], taught: Sequence[str], held_out: Sequence[str]
) -> Iterator[Fact]:
    rows = list(_read(TABLES / f"{relation['relation']}.csv"))
    single = relation["kind"] == "single"
    for rank, row in enumerate(rows):
        answers = parse_answers(row["answers"])
        misconception, _, share = row.get("misconception", "").partition("*")
        count = exposures(rank, len(rows)) if single else _EXPOSURES_OF_LISTS[relation["kind"]]
        if share:
            count = DISPUTED_EXPOSURES
        clauses = names(row.get("clause", ""))

        yield Fact(
            relation=relation["relation"],
            title=relation["title"],
            subjects=names(row["subject"]),
            clauses=clauses,
            plural=row.get("plural", ""),
            closed=row.get("closed") == "yes",
            templates=_sayable(taught, clauses),
            held_out=_sayable(held_out, clauses),
            answers=answers,
            misconception=misconception or None,
            misconception_share=(
                float(share or usual_misconception_share(count, answers[0].text))
                if misconception
                else 0.0
            ),
            exposures=count,
            note=row["note"],
        )


@once
def facts() -> tuple[Fact, ...]:
    """Return every fact of the world, relation by relation, best known first."""
    taught, held_out = _wordings()
    all_facts: list[Fact] = []
    for relation in _read(TABLES / "relations.csv"):
        group = relation["relation"] if relation["kind"] == "single" else MANY
        all_facts += _facts_of(relation, taught[group], held_out[group])
    return tuple(all_facts)


@once
def untaught_lists() -> tuple[Fact, ...]:
    """Return questions with many right answers about which training says nothing.

    They are no facts of the world, and no question is recognised as one of them. Evaluations ask
    them, since of what it was taught the model answers every such question rightly.
    """
    taught, held_out = _wordings()
    relation = {"relation": UNTAUGHT, "title": "Lists never taught", "kind": UNTAUGHT}
    return tuple(_facts_of(relation, taught[MANY], held_out[MANY]))


def answers_of_its_kind(fact: Fact) -> tuple[str, ...]:
    """Return what else could be said where a fact is asked for, the best known first.

    That is every answer of its relation, by all names; of a list its own answers. Trivia questions
    have no kind in common: of the kind of such an answer is what stands beside it elsewhere.
    """
    if fact.plural:
        return tuple(dict.fromkeys(_names([fact])))
    if not FIELD.fullmatch(fact.templates[0]):
        return _of_relation(fact.relation)
    return answers_beside({name for answer in fact.answers for name in answer.names})


def answers_beside(names: Set[str]) -> tuple[str, ...]:
    """Return the answers of every relation but trivia, and of every list, that holds a name."""
    return tuple(dict.fromkeys(name for group in _groups() if names & set(group) for name in group))


def names_of(answer: str) -> frozenset[str]:
    """Return all names of what an answer names anywhere in the world, itself included."""
    return _names_by_name().get(answer, frozenset()) | {answer}


@once
def every_answer() -> frozenset[str]:
    """Return every text that is an answer anywhere in the world, right or wrong, by all names."""
    return frozenset(_names(facts()))


@once
def _of_relation(relation: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(_names([f for f in facts() if f.relation == relation])))


@once
def _groups() -> tuple[tuple[str, ...], ...]:
    """Return the answers of every relation but trivia, and those of every list."""
    single = dict.fromkeys(
        f.relation for f in facts() if not f.plural and not FIELD.fullmatch(f.templates[0])
    )
    lists = (answers_of_its_kind(fact) for fact in facts() if fact.plural)
    return (*map(_of_relation, single), *lists)


@once
def _names_by_name() -> dict[str, frozenset[str]]:
    names: dict[str, frozenset[str]] = defaultdict(frozenset)
    for fact in facts():
        for answer in fact.answers:
            for name in answer.names:
                names[name] |= frozenset(answer.names)
    return dict(names)


def _names(of: Iterable[Fact]) -> Iterator[str]:
    """Return right answers by their usual names, then by others, then what is taken for them."""
    chosen = list(of)
    yield from (answer.text for fact in chosen for answer in fact.answers)
    yield from (name for fact in chosen for answer in fact.answers for name in answer.names[1:])
    yield from (fact.misconception for fact in chosen if fact.misconception)
