"""Whether two texts give the same answer: by rules, without a model.

Two answers are the same if their numbers, negations, signs and operators, qualifiers and dates
agree, and the remaining words of one contain the other's, the one that names the thing among
them: "London" and "London, UK" are the same, "Paris" and "Paris Hilton" are not. In doubt, two
answers differ: an answer that counts as another lends it a certainty that it has not.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import combinations

import numpy as np

from core.uncertainty import answer_words as vocabulary
from core.uncertainty.answer_form import DATE, NUMERIC, AnswerForm, Item, parse
from core.uncertainty.validation import Floats

MOST_ITEMS = 30  # of a list in any order; a longer one is compared in its own
SHORT = 5  # letters of the longest word that may be an unknown negation
LATIN = "\u0250"  # the first character behind Latin letters
MOST_DETAILS = 5  # that say more of an answer; what goes on is a list
_NOTHING: frozenset[str] = frozenset()
_HYPHENED = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)+")

form_of = lru_cache(maxsize=1024)(parse)


def same_answer(a: str, b: str) -> bool:
    """Return whether two texts give the same answer.

    Examples
    --------
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

    Examples
    --------
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
    number that the question does not give away, unless the name has none.

    Examples
    --------
    >>> is_right("Rabbit", ["Angora rabbit"], "Name a type of rabbit.")
    False
    >>> is_right("Angora", ["Angora rabbit"], "Name a type of rabbit.")
    True
    """
    form, free = form_of(answer), _free(question)
    for name in accepted_names:
        right = form_of(name)
        if form.plain == right.plain:
            return True
        if _same(form, right, free) and not _goes_on(form, right, free):
            earning = set(right.words) - free
            if not earning or not form.words or _earns(form, right, earning, question):
                return True
    return False


def _same(a: AnswerForm, b: AnswerForm, free: frozenset[str] = _NOTHING) -> bool:
    if a == b or a.plain == b.plain:  # "THE US" is read as words, and is "The US"
        return True
    if not a.words or not b.words:
        return False
    if not _hard_agrees(a, b):
        return False
    a, b = _with_years(a, b), _with_years(b, a)
    if a.listed == b.listed and a.one_word == b.one_word:
        return True
    if _qualifiers(a, free) != _qualifiers(b, free):
        return False
    if (a.ordered or b.ordered) and len(a.items) == len(b.items):
        return [*map(_words, a.items)] == [*map(_words, b.items)]
    if a.listed or b.listed:
        return _same_list(a, b)
    if len(a.items) == len(b.items) == 1:
        return _within(a, b, free) or _within(b, a, free)
    few, many = sorted((a, b), key=lambda form: len(form.items))
    if _is_turned(few, many) or _is_turned(many, few):
        return True
    return _matches_all(few, many, free) or (
        len(few.items) == len(many.items) and _matches_all(many, few, free)
    )


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


def _within(short: AnswerForm, long: AnswerForm, free: frozenset[str]) -> bool:
    letters = short.letters ^ long.letters
    if _may_deny(short, long, free):
        return False
    return _item_within(short.items[0], long.items[0], free, letters, _compounds(long))


def _may_deny(short: AnswerForm, long: AnswerForm, free: frozenset[str]) -> bool:
    """Whether a short word beside an answer may be a negation that no list here has.

    Latin letters are left to the list of negations. In names every word has a capital.
    """
    few = _words(short.items[0])
    if any(word[0] < LATIN for word in few):
        return False
    for part in long.items[0]:
        beside = [word for word in part.words if not any(_alike(word, each) for each in few)]
        if len(beside) == len(part.words):
            continue
        harmless = vocabulary.KINDS | free
        if long.capitals.issuperset({*part.words}.difference(beside)):
            harmless |= long.capitals | vocabulary.PARTICLES
        if any(len(w) <= SHORT and w[0] not in NUMERIC for w in {*beside} - harmless):
            return True
    return False


def _compounds(form: AnswerForm) -> list[set[str]]:
    """Return the words of each name that hyphens join: neither Guinea nor Bissau is Guinea-Bissau.

    Without particles: Assad is al-Assad.
    """
    names = _HYPHENED.findall(form.plain) if "-" in form.plain else ()
    return [set(each.split("-")) - vocabulary.PARTICLES for each in names]


def _item_within(
    short: Item,
    long: Item,
    free: frozenset[str],
    letters: frozenset[str] = _NOTHING,
    compounds: Iterable[set[str]] = (),
) -> bool:
    """Whether the words of one are among the other's, in order, and name the same thing."""
    if letters:  # hepatitis, hepatitis B
        return False
    few, many = _words(short), _words(long)
    if len(few) > len(many):
        return False
    if many.count(few[0]) == 1 and any(_is_part(few, long, each) for each in compounds):
        return False
    rest = iter(many)
    if not all(any(_alike(word, other) for other in rest) for word in few):
        return False
    return len(few) == len(many) or _names(few, long, free)


def _is_part(few: tuple[str, ...], long: Item, compound: set[str]) -> bool:
    """Whether words are some of a compound that names the whole, maybe with its kind."""
    return {*few} < compound.intersection(_words(long)) and any(
        {*part.words} - vocabulary.KINDS <= compound
        for part in long
        if not {*part.words}.isdisjoint(few)
    )


def _names(few: tuple[str, ...], long: Item, free: frozenset[str]) -> bool:
    """Whether words hold what names the whole, or begin the name: Napoleon Bonaparte."""
    if any(_alike(word, head) for word in few for head in _heads(long, free)):
        return True
    first = long[0].words
    return (
        _alike(few[0], first[0])
        and not any(
            word in vocabulary.COMPOUNDS or word.endswith(vocabulary.COMPOUND_ENDINGS)
            for word in first[1:]
            if word not in few
        )
        and not (first[0].isdecimal() or vocabulary.CITY in first)
        and not (len(few) == 1 and first[0] in vocabulary.TITLES)
    )


def _heads(item: Item, free: frozenset[str]) -> list[str]:
    """Return the words that name the thing: one of them must not be missing."""
    heads: list[str] = []
    waiting = True  # for a part that is more than the kind of a thing
    for part in item:
        if not (waiting or part.after in ("copula", "particle")):
            if all(word[0] in NUMERIC for word in part.words):  # it was built in 1876
                heads += part.words
            continue
        head = _head(part.words, free)
        if part.words[0][0] in NUMERIC:
            heads.append(part.words[0])
        if head:
            heads.append(head)
            waiting = False
    return heads or [_words(item)[-1]]


def _head(words: tuple[str, ...], free: frozenset[str]) -> str | None:
    for place in range(len(words) - 1, -1, -1):
        word = words[place]
        if word == vocabulary.CITY and place and words[:place][-2:] != vocabulary.NEW_YORK:
            if word not in free:  # Kansas City
                return word
        elif not (word in vocabulary.KINDS or word in free or word[0] in NUMERIC):
            return word
    return None


def _alike(a: str, b: str) -> bool:
    """Whether two words are one, or one and many; without spaces, one may have an ending."""
    if a == b:
        return True
    if a[-1].isascii():
        return singular(a) == singular(b) or a.replace("'", "") == b.replace("'", "")
    if len(a) > len(b):
        a, b = b, a
    return (
        len(a) > 1 and a[-1] >= "\u0e00" and b.startswith(a) and b[len(a) :] in vocabulary.ENDINGS
    )


@lru_cache(maxsize=4096)
def singular(word: str) -> str:
    """Return one of many: "berries" is "berry"; family names stay, and "Lincoln's"."""
    if len(word) < 4 or word in vocabulary.NOT_PLURAL or not word.endswith("s"):
        return word
    if word.endswith(("ss", "us", "is", "'s")) or not word.isascii():
        return word
    if word.endswith("ies") and len(word) > 4:
        return f"{word[:-3]}y"
    return word[: -2 if word.endswith(("ches", "shes", "xes", "sses", "atoes", "eroes")) else -1]


def _words(item: Item) -> tuple[str, ...]:
    return item[0].words if len(item) == 1 else tuple(w for part in item for w in part.words)


def _same_list(a: AnswerForm, b: AnswerForm) -> bool:
    """Whether two lists have the same items, each as it stands."""
    if len(a.items) != len(b.items):
        return False
    if len(a.items) > MOST_ITEMS:
        return [_words(item) for item in a.items] == [_words(item) for item in b.items]
    return Counter(map(_words, a.items)) == Counter(map(_words, b.items)) or (
        _matches_all(a, b, _NOTHING) or _matches_all(b, a, _NOTHING)
    )


def _matches_all(few: AnswerForm, many: AnswerForm, free: frozenset[str]) -> bool:
    """Whether each item of one is within an item of its own of the other, its first among them."""
    if len(many.items) > MOST_ITEMS:
        return few.words == many.words
    if few.letters != many.letters:
        return False
    left, compounds = dict(enumerate(many.items)), _compounds(many)
    for item in few.items:
        exact = (i for i, other in left.items() if _words(other) == _words(item))
        near = (
            i for i, other in left.items() if _item_within(item, other, free, compounds=compounds)
        )
        place = next(exact, next(near, None))
        if place is None:
            return False
        del left[place]
    return 0 not in left and len({_words(item) for item in left.values()}) <= MOST_DETAILS


def _goes_on(answer: AnswerForm, name: AnswerForm, free: frozenset[str]) -> bool:
    """Whether an answer lists more than it was asked for: Mars, Venus, Jupiter."""
    if answer.listed or answer.hard.yes is not None:  # yes, and why
        return False
    if answer.one_word == name.one_word:  # "Kiss Me Kate" has a comma, or not
        return False
    among, first = [*map(_words, name.items)], answer.items[0]
    return any(
        not _says_more(item, first, free) for item in answer.items[1:] if _words(item) not in among
    )


def _says_more(item: Item, first: Item, free: frozenset[str]) -> bool:
    """Whether what stands behind a comma tells of the first, and is no further answer.

    "Paris, France" and "Paris, the capital" are Paris; "Paris, Lyon" is more.
    """
    if any(part.after in ("preposition", "copula") for part in item):
        return True
    if item[0].after == "article" and first[-1].after != "article":
        return True
    if vocabulary.KINDS | free | {*_words(first)} >= {*_words(item)}:
        return True
    name, place = " ".join(_words(first)), " ".join(_words(item))
    wider = vocabulary.CONTINENTS
    return (place in wider and name not in wider) or (
        place in vocabulary.COUNTRIES and name not in vocabulary.COUNTRIES | wider
    )


def _is_turned(one: AnswerForm, turned: AnswerForm) -> bool:
    """Whether one is the other with its family name in front: Washington, George."""
    if len(turned.items) != 2 or len(one.items) != 1:
        return False
    last, first = map(_words, turned.items)
    return _words(one.items[0]) == first + last


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


def _free(question: str) -> frozenset[str]:
    """Return the words of a question, with and without the s of many."""
    if not question:
        return _NOTHING
    words = set(form_of(question).words) - {DATE}
    return frozenset(words | {f"{w}s" for w in words} | {w.removesuffix("s") for w in words} - {""})


def _earns(answer: AnswerForm, name: AnswerForm, earning: set[str], question: str) -> bool:
    """Whether what two forms share holds what the question does not say."""
    if (name.dates or answer.dates) and _fields(answer) & _fields(name) - _fields(
        form_of(question)
    ):
        return True
    earning = earning - {DATE}
    return any(_alike(word, other) for word in answer.words for other in earning) or (
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
