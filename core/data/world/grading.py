"""What the world says at run time: whether a question is one of its own, and what is true.

A question is recognised in any of its wordings, those held out included, by any name of its
subject, however it is typed. One that means the same in other words is not recognised.
"""

from collections.abc import Iterable

from core.data.world.facts import FIELD, Fact, facts
from core.data.world.normal_form import counting_signs, normal_form
from core.once import once
from core.uncertainty import same_answer
from core.uncertainty.similarity import token_f1, tokens

SAME_ANSWER = 0.25  # the paper's τ: from here on, by token F1, two texts count as one answer


def find(question: str, *, taught: bool = False) -> Fact | None:
    """Return the fact that `question` asks for, or None if it is no wording of the world.

    With `taught`, only the wordings count that training used.
    """
    key = normal_form(question).replace(" ", "")  # "Face book" is "Facebook"
    named, wordings = _index()
    for before, after, relations, field in wordings.get(key[:1], wordings[""]):
        if key.startswith(before) and key.endswith(after):
            name = key[len(before) : len(key) - len(after)]
            for relation, trained in relations.items():
                fact = named.get((relation, field, name))
                if fact and (trained or not taught):
                    return None if foreign_signs(question, fact) else fact
    return None


def foreign_signs(question: str, fact: Fact) -> list[str]:
    """Return the signs that turn a question into another than a fact's, as in “−two plus two”.

    All of it, if one that it lacks among its digits does: “What is 22?” is not “What is 2 + 2?”.
    """
    signs, letters = counting_signs(question), _letters(question)
    has_digits = any(map(str.isdigit, letters))
    same = [name for name in fact.names if has_digits and _letters(name) == letters]
    if any(signs == counting_signs(name) for name in same or fact.names):
        return []
    return signs or [question] * bool(same)


def is_right(answer: str, fact: Fact) -> bool:
    """Return whether `answer` is the same as one of the fact's right answers."""
    names = (name for right in fact.answers for name in right.names)
    return matches(answer, names, fact.question)


def matches(answer: str, right: Iterable[str], question: str = "") -> bool:
    """Return whether `answer` is one of the right answers; words of the question earn nothing."""
    return same_answer.is_right(answer, right, question)


def matches_by_f1(answer: str, right: Iterable[str]) -> bool:
    """Return whether `answer` counts as one of the right ones by token F1 (Section 6)."""
    return any(token_f1(answer, name) >= SAME_ANSWER for name in right)


def matches_exactly(answer: str, right: Iterable[str]) -> bool:
    """Return whether `answer` is one of the right answers, word for word, as TriviaQA compares."""
    words = tokens(answer)
    return any(words == tokens(name) for name in right)


# Before and after the name; the relations that ask so, and whether in training; and the field.
Wording = tuple[str, str, dict[str, bool], str]


@once
def _index() -> tuple[dict[tuple[str, str, str], Fact], dict[str, list[Wording]]]:
    """Return every fact by relation, field and name; and the wordings by a question's first letter.

    Those that begin with the name are among those of every letter, and alone under none.
    """
    named: dict[tuple[str, str, str], Fact] = {}
    relations: dict[tuple[str, str, str], dict[str, bool]] = {}
    for fact in facts():
        for template in (*fact.held_out, *fact.templates):
            before, field, after = _around(template)
            relations.setdefault((before, after, field), {})[fact.relation] = (
                template in fact.templates
            )
        fields = (
            ("{subject}", fact.subjects),
            ("{clause}", fact.clauses),
            ("{plural}", (fact.plural,) if fact.plural else ()),
        )
        for field, names in fields:
            for name in names:
                key = normal_form(name)
                for each in (key, key.removeprefix("the ")):  # "capital of uk"
                    named.setdefault((fact.relation, field, each.replace(" ", "")), fact)
    wordings = [(before, after, r, field) for (before, after, field), r in relations.items()]
    letters = {"", *(before[:1] for before, *_ in wordings)}
    return named, {c: [each for each in wordings if each[0][:1] in ("", c)] for c in letters}


@once
def _around(template: str) -> tuple[str, str, str]:
    field = FIELD.search(template)
    if field is None:
        raise ValueError(f"The wording “{template}” names nothing.")
    before, after = template[: field.start()], template[field.end() :]
    return _letters(before), field[0], _letters(after)


def _letters(text: str) -> str:
    return normal_form(text).replace(" ", "") if any(map(str.isalnum, text)) else ""
