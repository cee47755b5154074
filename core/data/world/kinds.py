"""Which answers are of one kind, and which are names of one thing: whole surface forms only."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Set

from core.data.world.facts import FIELD, Fact, facts
from core.once import once


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
