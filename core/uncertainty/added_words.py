"""Whether the words that stand beside an answer add nothing to it.

Beside what two answers share, a word makes another answer of one, unless it is known to add
nothing: a kind of thing, a form of address, a first name, a place behind a comma, what a number
counts, a word of the question. So what is not known parts two answers.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate, dropwhile, pairwise
from typing import NamedTuple

from core.uncertainty import answer_words as vocabulary
from core.uncertainty.answer_form import DATE, NUMERIC, AnswerForm, AnswerPart, Item

_NOTHING: frozenset[str] = frozenset()
_HYPHENED = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)+")
_ENDINGS = ("s", "es", "d", "ed", "'s")
_OBJECT = re.compile(r"\b(?:do|does|did|by)\b")  # Who did Cain kill? Who was killed by Cain?
_TYPE = re.compile(r"\b(?:type|kind|sort)s? of\b")
_PLACES = vocabulary.COUNTRIES | vocabulary.CONTINENTS
_THINGS = vocabulary.KINDS | vocabulary.COMPOUNDS | vocabulary.TITLES
_DESCRIPTIONS = vocabulary.KINDS | vocabulary.ROLES | vocabulary.TITLES
_NAMES_ONLY = vocabulary.PARTICLES | vocabulary.TITLES


class QuestionWords(NamedTuple):
    """What a question gives away.

    `free`: its words, with other endings. `names`: those with a capital; all of a question without
    any. `for_type`: whether it asks for a type or kind of something; `for_object`: whom something
    is done to, and so says who does it; `for_one`: of several that it names.
    """

    free: frozenset[str] = _NOTHING
    names: frozenset[str] = _NOTHING
    for_type: bool = False
    for_object: bool = False
    for_one: bool = False


def question_words(form: AnswerForm) -> QuestionWords:
    """Return what a question gives away."""
    words = {*form.words} - {DATE}
    stems = words | {w.removesuffix(end) for w in words for end in _ENDINGS} - {""}
    free = frozenset(stems.union(f"{stem}{end}" for stem in stems for end in _ENDINGS))
    return QuestionWords(
        free,
        form.capitals or free,
        bool(_TYPE.search(form.plain)),
        bool(_OBJECT.search(form.plain)),
        form.hard.hedges > 0,
    )


class Surroundings(NamedTuple):
    """What decides whether a word adds nothing to the words that it stands beside.

    `named`: words with a capital in both. `compounds`: the words of each name that hyphens join.
    `less`: whether the shorter is an answer, and may say less than the name that is right.
    """

    capitals: frozenset[str]
    named: frozenset[str]
    compounds: list[set[str]]
    ask: QuestionWords
    less: bool

    @classmethod
    def of(
        cls, short: AnswerForm, long: AnswerForm, ask: QuestionWords, *, less: bool
    ) -> Surroundings:
        """Return what decides of the words that the longer of two forms has more."""
        names = _HYPHENED.findall(long.plain) if "-" in long.plain else ()
        # Without particles: Assad is al-Assad.
        compounds = [set(each.split("-")) - vocabulary.PARTICLES for each in names]
        return cls(long.capitals, short.capitals & long.capitals, compounds, ask, less)


def item_within(short: Item, long: Item, around: Surroundings) -> bool:
    """Whether the words of one are among the other's, in order, and the others add nothing."""
    few, many = words_of(short), words_of(long)
    if len(few) > len(many):
        return False
    if many.count(few[0]) == 1 and any(_is_part(few, long, each) for each in around.compounds):
        return False
    first = _places(few, many)
    if first is None:
        return False
    if len(few) == len(many):
        return True
    if around.less and around.ask.for_type and _begins_or_ends(few, long):
        return True
    back = _places(few[::-1], many[::-1]) or []
    last = [len(many) - 1 - place for place in reversed(back)]
    return any(_adds_nothing(long, {*places}, around) for places in (first, last))


def _places(few: Sequence[str], many: Sequence[str]) -> list[int] | None:
    """Return where the words of one stand in the other, in order; None if they do not."""
    places: list[int] = []
    rest = iter(enumerate(many))
    for word in few:
        place = next((i for i, other in rest if alike(word, other)), None)
        if place is None:
            return None
        places.append(place)
    return places


def _is_part(few: tuple[str, ...], long: Item, compound: set[str]) -> bool:
    """Whether words are some of a compound that names the whole, maybe with its kind.

    Neither Guinea nor Bissau is Guinea-Bissau.
    """
    return {*few} < compound.intersection(words_of(long)) and any(
        {*part.words} - vocabulary.KINDS <= compound
        for part in long
        if not {*part.words}.isdisjoint(few)
    )


def _begins_or_ends(few: tuple[str, ...], long: Item) -> bool:
    """Whether an answer says less than a name, as whoever is asked for a type may: bear."""
    words = long[0].words
    return alike(few[0], words[0]) or alike(few[-1], words[-1])


def _adds_nothing(long: Item, places: set[int], around: Surroundings) -> bool:
    """Whether all words of an item that stand at none of the places add nothing to the others."""
    parts = _whole_names(long)
    bounds = [*accumulate((len(part.words) for part in parts), initial=0)]
    marks = [[place in places for place in range(start, end)] for start, end in pairwise(bounds)]
    anchor = next(i for i, each in enumerate(marks) if any(each))
    common = tuple(word for i, word in enumerate(words_of(long)) if i in places)
    if parts[anchor].after == "by" and around.ask.for_object:  # Cain was killed by Abel
        return False
    # With a question its words tell what happened then: the war ended in 1945, or began.
    dates = len(common) == 1 and _is_year(common[0]) and not around.ask.free
    dates &= parts[anchor].after in ("in", "on")
    is_sentence = any(part.after in ("copula", "mark") for part in parts[: anchor + 1])
    return all(
        _is_harmless(part.words, each, around)
        if any(each)
        else dates
        or _tells(part, common, around, leads=i < anchor, is_sentence=is_sentence or i > anchor)
        for i, (part, each) in enumerate(zip(parts, marks, strict=True))
    )


def _whole_names(item: Item) -> Item:
    """Return an item with its particles in one part with the name: Ludwig van Beethoven."""
    parts: list[AnswerPart] = []
    for part in item:
        if part.after == "particle" and parts:
            parts[-1] = parts[-1]._replace(words=parts[-1].words + part.words)
        else:
            parts.append(part)
    return tuple(parts)


def _is_year(word: str) -> bool:
    return len(word) == 4 and word.isdecimal()


def _tells(
    part: AnswerPart,
    common: tuple[str, ...],
    around: Surroundings,
    *,
    leads: bool = False,
    is_sentence: bool = True,
) -> bool:
    """Whether a part only places or describes what another part names.

    The capital of France is not France: `leads` where the part stands in front, `is_sentence` where
    "is", or nothing, joins them.
    """
    words = tuple(word for word in part.words if word not in common)
    if part.after in vocabulary.RELATIONS or (part.after == "by" and around.ask.free >= {*words}):
        return around.ask.free >= {*words} and (part.after != "by" or around.ask.for_object)
    if "republic" in words and not vocabulary.CONTESTED.isdisjoint(common):
        return False
    if {*words} - around.ask.free <= (_DESCRIPTIONS if is_sentence else vocabulary.KINDS):
        return True
    if part.after == "mark" and [w[0] for w in common] == [*"".join(words)]:  # its initials
        return True
    if {*common} <= _THINGS:  # Bank of England
        return False
    if _is_place(words) and (part.after == "of" or _is_wider(words, common)):
        return part.after in vocabulary.PLACING or not leads
    by = part.after == "by" and not leads
    return by and around.capitals.issuperset(words) and around.capitals.issuperset(common)


def _is_place(words: tuple[str, ...]) -> bool:
    return " ".join(words) in _PLACES


def _is_wider(words: tuple[str, ...], than: tuple[str, ...]) -> bool:
    """Whether words name a place that other words may lie in."""
    name = " ".join(than)
    if " ".join(words) in vocabulary.CONTINENTS:
        return name not in vocabulary.CONTINENTS
    return _is_place(words) and not _is_place(than)


def _is_harmless(words: tuple[str, ...], hits: list[bool], around: Surroundings) -> bool:
    """Whether the words of a part that are not hits add nothing to those that are."""
    first, last = hits.index(True), len(words) - 1 - hits[::-1].index(True)
    common = {word for word, hit in zip(words, hits, strict=True) if hit}
    between = {*words[first:last]} - common - around.ask.free - vocabulary.PARTICLES
    return (
        _in_front(words[:first], words[first : last + 1], around)
        and (not between or (common <= around.named and between <= around.capitals))
        and _behind(words[last + 1 :], words[first : last + 1], common, around)
    )


def _in_front(front: tuple[str, ...], common: tuple[str, ...], around: Surroundings) -> bool:
    """Whether words in front of a name are known to add nothing, or are more of a name."""
    if not front:
        return True
    free = around.ask.free
    if not around.ask.for_object:
        free -= around.ask.names  # Abel killed Cain
    if common[0] in vocabulary.PARTICLES:  # vincent van gogh
        return True
    more = {*front} - free
    if not more or (common[0] in around.named and more <= _DESCRIPTIONS):
        return True
    if common[0][0] in NUMERIC:
        return more <= vocabulary.KINDS
    if more == {"mount"} or (more <= vocabulary.TITLES and common[-1][0] in NUMERIC):
        return True  # mount everest, king henry viii
    front = tuple(dropwhile(free.__contains__, front))
    if not {*front} - _NAMES_ONLY <= around.capitals:
        return False
    if around.less:
        return True
    return (
        common[0] in around.named
        and (common == ("washington",) or not (_is_place(common) or _is_place(front)))
        and common[-1] not in _THINGS
        and vocabulary.COLOURS.isdisjoint(front)
    )


def _behind(
    back: tuple[str, ...], common: tuple[str, ...], names: set[str], around: Surroundings
) -> bool:
    """Whether words behind others are a kind, a place or what is counted."""
    free = around.ask.free
    if around.ask.for_object:
        free -= around.ask.names  # Abel killed Cain
    if not {*back} - free:
        return True
    if common[-1][0] in NUMERIC:
        return _is_counted(back, free, around.capitals)
    if not (around.named >= names or around.less):
        return False
    more = {*back} - free
    if more <= vocabulary.KINDS:
        return vocabulary.CITY not in more or common[-2:] == vocabulary.NEW_YORK
    if len(back) == 1 and _is_place(back):
        return not _is_place(common)
    return (
        len(common) == 1
        and common[0] in vocabulary.FORENAMES
        and {*back} - vocabulary.PARTICLES <= around.capitals
    )


def _is_counted(words: tuple[str, ...], free: frozenset[str], capitals: frozenset[str]) -> bool:
    """Whether words behind a number say what it counts: 206 bones, but not Seven Sisters."""
    word = words[0]
    return (
        {*words[1:]} - free <= vocabulary.EXTENTS
        and word not in vocabulary.MULTIPLES
        and (
            any(word in each for each in (vocabulary.COUNTED, vocabulary.KINDS, free))
            or word in vocabulary.UNITS.values()
            or (singular(word) != word and word not in capitals)
        )
    )


def alike(a: str, b: str) -> bool:
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


def words_of(item: Item) -> tuple[str, ...]:
    """Return all words of an item."""
    return item[0].words if len(item) == 1 else tuple(w for part in item for w in part.words)


def says_more(item: Item, first: Item, around: Surroundings) -> bool:
    """Whether what stands behind a comma tells of the first, and is no further answer.

    "Paris, France" and "Paris, the capital" are Paris; "Paris, Lyon" is more.
    """
    common = words_of(first)
    if item[0].after == "article" and first[-1].after != "article":
        return len(item) > 1 or not (_DESCRIPTIONS | around.ask.free).isdisjoint(item[0].words)
    return all(_tells(part, common, around) for part in item)
