"""Whether two texts give the same answer: by rules, without a model.

Two answers are the same if their numbers, negations, signs and operators, qualifiers and dates
agree, and the remaining words of one contain the other's, beside words that are known to add
nothing (`added_words`): "London" and "London, UK" are the same, "London" and "London Bridge" are
not. Formulas and code are compared as they stand. In doubt, two answers differ: an answer that
counts as another lends it a certainty that it has not.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import combinations

import numpy as np

from core.uncertainty import answer_words as vocabulary
from core.uncertainty.added_words import (
    QuestionWords,
    Surroundings,
    alike,
    item_within,
    question_words,
    says_more,
    singular,
    words_of,
)
from core.uncertainty.answer_form import DATE, NUMERIC, AnswerForm, parse
from core.uncertainty.validation import Floats

MOST_ITEMS = 30  # of a list in any order; a longer one is compared in its own

form_of = lru_cache(maxsize=1024)(parse)


def same_answer(a: str, b: str) -> bool:
    """Return whether two texts give the same answer.

    >>> same_answer("London", "London, UK")
    True
    >>> same_answer("2 years", "5 years")
    False
    """
    return a == b or _same(form_of(a), form_of(b))


def contradict(a: str, b: str) -> bool:
    """Return whether numbers, signs, negations, dates or qualifiers alone part two answers.

    Whatever another similarity says of "2 years" and "5 years", or of "guilty" and "not guilty":
    who counts them as one answer counts a contradiction as agreement.

    >>> contradict("2 years", "5 years"), contradict("2 years", "Paris")
    (True, False)
    """
    if a == b:
        return False
    first, second = form_of(a), form_of(b)
    alike = first.hard.qualifiers == second.hard.qualifiers or first.one_word == second.one_word
    if alike and _hard_agrees(first, second):
        return False
    if None not in (first.hard.yes, second.hard.yes):
        return first.hard.yes is not second.hard.yes
    (few, many) = sorted((_bare(first), _bare(second)), key=Counter.total)
    if not few:
        return not many and _says_something(first) and _says_something(second)
    return few <= many


def pairwise_same(texts: Sequence[str]) -> Floats:
    """Compare every text with every other: symmetric, (n, n).

    0 where two texts are not the same answer; where they are, (1 + token F1 of their words) / 2. So
    every threshold up to 1/2 is the rule, and a larger one is stricter by words. Equal texts have
    1.
    """
    distinct = list(dict.fromkeys(texts))
    forms = [form_of(text) for text in distinct]
    matrix = np.eye(len(distinct))
    for i, j in _candidates(forms):
        if _same(forms[i], forms[j]):
            matrix[i, j] = matrix[j, i] = (1 + _f1(forms[i], forms[j])) / 2
    places = {text: place for place, text in enumerate(distinct)}
    order = [places[text] for text in texts]
    return matrix[np.ix_(order, order)]


def is_right(answer: str, accepted_names: Iterable[str], question: str = "") -> bool:
    """Return whether `answer` is the same as one of the accepted names.

    Words of the question earn nothing: what an answer shares with a name has to hold a word or
    number that the question does not give away, unless the name has none. An answer may leave out
    what stands in front of a name ("Madrid" is right for "Atlético Madrid"), and say less where
    a type is asked for.

    >>> is_right("Rabbit", ["Angora rabbit"], "Name a type of rabbit.")
    False
    >>> is_right("Angora", ["Angora rabbit"], "Name a type of rabbit.")
    True
    """
    form, ask = form_of(answer), question_words(form_of(question))
    begins = answer.casefold().startswith  # with the name that it is, mostly
    for name in sorted(accepted_names, key=lambda name: not begins(name.casefold())):
        right = form_of(name)
        earning = set(right.words) - ask.free
        # Paris or Lyon? Neither adds nothing to the other.
        if _same(form, right, ask if earning or not ask.for_one else QuestionWords()):
            plain = form.plain == right.plain or not earning or not form.words
            if plain or _earns(form, right, earning, question):
                return True
    return False


def _same(a: AnswerForm, b: AnswerForm, ask: QuestionWords | None = None) -> bool:
    """Whether two forms are one answer; with what was asked, the first answers and is judged."""
    if not _is_cased_alike(a, b, judged=ask is not None):
        return False
    if a == b or a.plain == b.plain:  # "THE US" is read as words, and is "The US"
        return True
    if not a.words or not b.words:
        return False
    if not _hard_agrees(a, b):
        return False
    if a.formula or b.formula:
        return a.formula == b.formula
    a, b = _with_years(a, b), _with_years(b, a)
    if a.listed == b.listed and a.one_word == b.one_word:
        return True
    less, ask = ask is not None, ask or QuestionWords()
    if _qualifiers(a, ask.free) != _qualifiers(b, ask.free):
        return False
    if (a.ordered or b.ordered) and len(a.items) == len(b.items):
        return [*map(words_of, a.items)] == [*map(words_of, b.items)]
    if a.listed or b.listed:
        return _same_list(a, b, ask)
    if len(a.items) == len(b.items) == 1:
        return _within(a, b, ask, less=less) or _within(b, a, ask)
    if _is_turned(a, b) or _is_turned(b, a):
        return True
    return (len(a.items) <= len(b.items) and _matches_all(a, b, ask, less=less)) or (
        len(a.items) >= len(b.items) and _matches_all(b, a, ask)
    )


def _is_cased_alike(a: AnswerForm, b: AnswerForm, *, judged: bool) -> bool:
    """Whether letter case agrees where it decides: MeV is not meV, nor O(n) o(n), nor CO Co.

    And accents, where both have some. An answer AU is right for Au: who judges it knows which of
    the two was asked for.
    """
    symbols = a.symbols == b.symbols or not (a.symbols and b.symbols)
    symbols |= judged and len(a.plain) == len(b.plain) == 2
    clash = {bare for bare, _ in a.accents - b.accents} & {
        bare for bare, _ in b.accents - a.accents
    }
    return symbols and not clash and (a.plain != b.plain or a.formula == b.formula)


def _qualifiers(form: AnswerForm, free: frozenset[str]) -> list[str]:
    """Return what qualifies an answer; "only" does not where the question says it."""
    return [w for w in form.hard.qualifiers if w not in free & vocabulary.RESERVATIONS]


def _hard_agrees(a: AnswerForm, b: AnswerForm) -> bool:
    if a.dates or b.dates:
        if not _dates_agree(a, b):
            return False
        a, b = _with_years(a, b), _with_years(b, a)
    return a.hard._replace(qualifiers=()) == b.hard._replace(qualifiers=())


def _dates_agree(a: AnswerForm, b: AnswerForm) -> bool:
    if a.dates and b.dates:
        return len(a.dates) == len(b.dates) and all(
            x.agrees(y) for x, y in zip(a.dates, b.dates, strict=True)
        )
    return all(date.year is not None for date in a.dates or b.dates)


def _with_years(form: AnswerForm, other: AnswerForm) -> AnswerForm:
    """Return a form with the years alone of its dates, where the other has no date."""
    if not form.dates or other.dates:
        return form
    years = [str(date.year) for date in form.dates]
    turn = iter(years)
    items = tuple(
        tuple(
            part._replace(words=tuple(next(turn) if w == DATE else w for w in part.words))
            for part in item
        )
        for item in form.items
    )
    return replace(
        form,
        items=items,
        hard=form.hard._replace(numbers=tuple(sorted([*form.hard.numbers, *years]))),
        dates=(),
        words=tuple(w for item in items for part in item for w in part.words),
    )


def _within(short: AnswerForm, long: AnswerForm, ask: QuestionWords, *, less: bool = False) -> bool:
    if short.letters != long.letters:  # hepatitis, hepatitis B
        return False
    return item_within(short.items[0], long.items[0], Surroundings.of(short, long, ask, less=less))


def _same_list(a: AnswerForm, b: AnswerForm, ask: QuestionWords) -> bool:
    """Whether two lists have the same items, each as it stands."""
    if len(a.items) != len(b.items):
        return False
    if len(a.items) > MOST_ITEMS:
        return [words_of(item) for item in a.items] == [words_of(item) for item in b.items]
    return Counter(map(words_of, a.items)) == Counter(map(words_of, b.items)) or (
        _matches_all(a, b, ask) or _matches_all(b, a, ask)
    )


def _matches_all(
    few: AnswerForm, many: AnswerForm, ask: QuestionWords, *, less: bool = False
) -> bool:
    """Whether each item of one is within an item of its own of the other, its first among them.

    What is left tells of the first; or, behind yes or no, why.
    """
    if len(many.items) > MOST_ITEMS:
        return few.words == many.words
    if few.letters != many.letters:
        return False
    left, around = dict(enumerate(many.items)), Surroundings.of(few, many, ask, less=less)
    for item in few.items:
        exact = (i for i, other in left.items() if words_of(other) == words_of(item))
        near = (i for i, other in left.items() if item_within(item, other, around))
        place = next(exact, next(near, None))
        if place is None:
            return False
        del left[place]
    if 0 in left:
        return False
    if many.hard.yes is not None and len(few.items) == 1:  # and why
        return True
    return all(says_more(item, many.items[0], around) for item in left.values())


def _is_turned(one: AnswerForm, turned: AnswerForm) -> bool:
    """Whether one is the other with its family name in front: Washington, George."""
    if len(turned.items) != 2 or len(one.items) != 1:
        return False
    last, first = map(words_of, turned.items)
    return words_of(one.items[0]) == first + last


def _bare(form: AnswerForm) -> Counter[str]:
    """Return the words that are neither number nor negation nor qualifier."""
    hard = vocabulary.NEGATIONS | vocabulary.QUALIFIERS
    return Counter(
        singular(word) for word in form.words if word[0] not in NUMERIC and word not in hard
    )


def _says_something(form: AnswerForm) -> bool:
    hard = form.hard
    return bool(form.words or hard.signs)


def _f1(a: AnswerForm, b: AnswerForm) -> float:
    overlap = (Counter(a.words) & Counter(b.words)).total()
    total = len(a.words) + len(b.words)
    return 2 * overlap / total if total else 1.0


def _earns(answer: AnswerForm, name: AnswerForm, earning: set[str], question: str) -> bool:
    """Whether what two forms share holds what the question does not say."""
    if (name.dates or answer.dates) and _fields(answer) & _fields(name) - _fields(
        form_of(question)
    ):
        return True
    earning = earning - {DATE}
    return any(alike(word, other) for word in answer.words for other in earning) or (
        bool(earning) and answer.one_word == name.one_word
    )


def _fields(form: AnswerForm) -> set[tuple[str, int]]:
    """Return what an answer says of dates; a bare year counts."""
    fields = {
        (field, value)
        for date in form.dates
        for field, value in date._asdict().items()
        if value is not None
    }
    years = {("year", int(n)) for n in form.hard.numbers if n.isdecimal() and len(n) == 4}
    return fields | years


def _candidates(forms: Sequence[AnswerForm]) -> Iterable[tuple[int, int]]:
    """Return the pairs that can be the same: what has to agree does, and something is shared."""
    groups: dict[object, list[int]] = defaultdict(list)
    dated: list[int] = []
    for place, form in enumerate(forms):
        if form.dates:
            dated.append(place)
        for key in _keys(form):
            groups[form.hard._replace(qualifiers=()), key].append(place)
    pairs = {pair for group in groups.values() for pair in combinations(group, 2)}
    for place in dated:
        pairs.update(
            (min(place, other), max(place, other)) for other in range(len(forms)) if other != place
        )
    return pairs


def _keys(form: AnswerForm) -> set[str]:
    keys = {form.one_word, form.plain}
    for word in form.words:
        keys.add(word[:2] if word[-1] >= "\u0e00" else singular(word))
        keys.add(word.replace("'", ""))
    return keys
