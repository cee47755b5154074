"""What a typed question says otherwise than the taught one that is nearest to it.

Shared words and letters find the nearest question. To ask it in place of what was typed they are
not enough: "How many days are there in a year?" leaves one word out of the question for a leap
year, and "What is France the capital of?" has every word of another. So what was typed has to be
the fact in one of its wordings and by one of its names, word for word and in their order. What
asks for an answer without saying for which ("please tell me") goes first, on either side. What
little may be left out or put in, and which words are one, is listed here; a misspelt word is the
right one; another form of it ("is painting") is another word, but for a name's ("Italian").
Where it is in doubt, the question is only offered.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, pairwise

from rapidfuzz.distance import OSA, Prefix

Words = Sequence[str]

FIELDS = SUBJECT, CLAUSE, PLURAL = "0subject", "0clause", "0plural"  # of a wording, as words
LEAST_STEM = 4  # letters that a word and its other form share
LEAST_OF_SLIP = 5  # letters; among shorter names a slip is another one: "DNA" and "NDA"
LEAST_OF_ASKING = 4  # letters of a word that asks for something: "wht"
ONE_SLIP = 0.8  # how alike words of five letters are that differ in one, or swap two
_DOUBLE = re.compile(r"(.)\1")
# What another form of a word ends in: "paints", "painting" and "painter".
_ENDINGS = frozenset(
    [
        *("", "s", "es", "e", "ed", "d", "er", "or", "ing", "ion", "ian", "n", "an", "ese", "ish"),
        *("y", "ly", "ies", "i", "ic", "r", "ors", "ers", "ions", "ings"),
    ]
)
# The same of a name: "Russian" and "Nigeria's", for "Russia" and "Nigeria".
_ENDINGS_OF_A_NAME = frozenset(["", "s", "es", "n", "an", "ian", "ish", "ese", "y", "i"])
_ENDINGS_MISSPELT = ({"d", "ed"}, {"er", "or"}, {"", "e"})
# Spelt much as words of the world's questions, or as another number, and no slips.
_OTHER_WORDS = frozenset(
    [
        *("county", "counties", "zero", "none", "least", "few", "half", "quarter", "twenty"),
        *("thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"),
        *("thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety", "hundred"),
        *("thousand", "million", "billion", "trillion"),
    ]
)
_ALIKE = {
    word: words.split()[0]
    for words in (
        *("who whom", "of for", "a an one any", "year yr", "first 1st"),
        *("largest biggest", "closest nearest", "film movie", "color colour"),
    )
    for word in words.split()
}
_NUMBERS = {
    word: str(number)
    for number, words in {
        # Neither "one" nor "first": "name one river", "who first thought of it".
        2: "two second ii",
        3: "three third iii",
        4: "four fourth iv",
        5: "five fifth",
        6: "six sixth vi",
        7: "seven seventh vii",
        8: "eight eighth viii",
        9: "nine ninth ix",
        10: "ten tenth",
        11: "eleven eleventh xi",
        12: "twelve twelfth xii",
    }.items()
    for word in words.split()
}
_DIGITS = re.compile(r"\d+")
_FIGURE = re.compile(r"(\d+)(?:st|nd|rd|th)?")
_ONE = frozenset(["i", "one", "1"])
# A question may leave these out, and only "the" put in: "how many days in the leap year".
_THE = "the"
_ARTICLES = frozenset(["a", "an"])
_ONE_OR_ANY = ("a ", "an ", "one ", "any ", "some ")
_IN_PLACE = re.compile(r"((?:an? |one )?)(.+) in (.+)")  # "countries in Africa": African ones
_LEFT_OUT = frozenset(
    [_THE, *_ARTICLES, "is", "are", "was", "were", "do", "does", "did", "there", "of", "and"]
)
_LEFT_OUT_BEFORE_MORE = frozenset(["in", "on"])  # and not "which country is France in"
# "The capital of Texas" is its state capital, and "the Greek god" the "god or goddess".
_NEED_NOT_BE_SAID = frozenset(["state", "or", "goddess", "element"])
_WRITTEN = {  # of words too short to be known by their letters
    short: tuple(words.split())
    for words, shorts in {
        "what is": "whats wats",
        "who is": "whos",
        "what": "wat waht wht",
        "which": "wich",
        "the": "teh",
    }.items()
    for short in shorts.split()
}
_POLITE = re.compile(
    r"^(?:(?:(?:hi|hello|hey)(?: there)?|good (?:day|morning|afternoon|evening)"
    r"|ok|okay|so|please|pls|plz|just) )+(?=\S+ )"  # and not "Hello Kitty"
    r"|(?: (?:please|pls|plz|thanks|thank you|thx|cheers|lol|(?:just |only )?one is (?:enough|fine)"
    r"|for (?:my homework|a (?:pub )?quiz)|if you (?:can|know)))+$"
)
# What says nothing more than the words in its place, wherever a question has it.
_SHORTER = {
    re.compile(longer): shorter
    for longer, shorter in {
        "^(?:(?:what is|whats|i need) (?=an example of )|i need (?=an? |one |any ))": "name ",
        "^(?:what|who) are (?:some|a few|any) (.+)$": r"which \1 do you know",
        r"\b(?:(?:an?|one|any) )?example of (?=an? |one |any )": "",
        "^who (?:is|was) it (?:that|who) ": "who ",
        "^((?:what is|whats) the .+) called$": r"\1",
        r"\bon (?:the )?(?:earth|planet)$": "in the world",
        r"\bmade for\b": "meant",  # and not "made of", which it is alike
    }.items()
}
_NAMING = re.compile(
    r"^(?:(?:can|could) you (?:please )?)?(?:name(?: me)?|tell me|give(?: me)?) "
    r"(?:(?:the name|an example) of )?"
)
_REQUEST = re.compile(
    r"^(?:(?:can|could) you (?:please )?(?:tell me|give me|name) |tell me |give me |name "
    r"|do you know |(?:do you have )?any idea |i wonder |i (?:would like|want) to know "
    r"|let me ask you this |may i ask |answer this (?:question )?)+"
)
_TURNED = re.compile(r"^(what|which|who) (?!is |was )(.+) (is|was)$")  # "what the capital is"
_WHAT_IS = re.compile(r"^(?:what|which) is (?!an? |one )(?:the name of )?|^the name of ")
# "What" for "which", and not in "what do people speak".
_WHAT_KIND = re.compile(
    r"\bwhat (?!$|(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would|should|may)\b)"
)
_WHERE_IT_IS = re.compile(r"(?:the )?(?:city|country) where (\S+) is")
_WHO_IS = re.compile(r"who (?:is|was) the ")
# "Name any …" asks for one of many: of a fact with one right answer it asks something else.
_ONE_OF_MANY = frozenset(["any", "one", "some"])
_BEFORE_IT = frozenset(["name", "me", "give", "tell", "say", "of"])
# Of two things by one name, people call neither by these: "Georgia", the country and the state.
KINDS_OF_THING = frozenset(
    [
        *("country", "state", "city", "film", "movie", "musical", "album", "song", "book", "novel"),
        *("play", "opera", "ballet", "painting", "character", "element", "music", "band", "team"),
        *("club", "river", "mountain", "lake", "language", "currency", "instrument"),
    ]
)


@dataclass(frozen=True)
class FactWords:
    """What a fact is called, and how it is asked for."""

    names: Mapping[str, Sequence[Words]]  # by the field for which they stand
    wordings: Sequence[Words]  # in order, with one of `FIELDS` for the name
    is_its_own_name: bool  # nothing has to be said besides: a list, a question by itself


def differences(typed: Words, taught: FactWords, vocabulary: Collection[str]) -> tuple[str, ...]:
    """Return the words by which a typed question asks something else than a taught one.

    Of all wordings by all names it is the one with the fewest. All words of what was typed are
    returned where their order alone differs.

    The words of `typed` are in order; see `normal_form`. Of the vocabulary, the words of all
    questions of the world, none is another one misspelt.
    """
    text = _bare(typed)
    request, name = _without_request(text), _NAMING.sub("", text)

    alike: dict[tuple[str, str, bool], bool] = {}

    def same(*words: *tuple[str, str, bool]) -> bool:
        if words not in alike:
            alike[words] = _is_same(*words, vocabulary)
        return alike[words]

    fewest = tuple(request.split())
    for question in _questions(taught):
        words = (name if question.is_naming else request).split()
        otherwise = _otherwise(words, question, same, requests=name != text)
        if not otherwise:
            return ()
        fewest = min(fewest or otherwise, otherwise, key=len)
    return fewest


@dataclass(frozen=True)
class _Question:
    """A taught question without its request."""

    words: Words
    names: Words  # those of its words that are of a name
    is_naming: bool  # whether it asks to name one of many


def _questions(taught: FactWords) -> Iterator[_Question]:
    """Yield a fact's question in each wording by each of its names."""
    is_list = bool(taught.names[PLURAL])
    for wording in taught.wordings:
        field = next(word for word in wording if word in FIELDS)
        for name in taught.names[field]:
            if taught.is_its_own_name:
                for own, place in _with_its_place(name) if is_list else [(name, ())]:
                    yield _alone(tuple(_put(own, field, wording)), tuple(place), is_list)
            else:
                for around in _around(wording):
                    yield _Question([*_put(name, field, around)], name, is_naming=False)


@lru_cache(maxsize=4096)
def _alone(words: Words, place: Words, is_list: bool) -> _Question:
    """Return the question of a fact that is its own name."""
    text = _bare(words)
    bare = _NAMING.sub("", text)
    is_naming = is_list or (bare != text and bare.startswith(_ONE_OR_ANY))
    return _Question((bare if is_naming else _without_request(text)).split(), place, is_naming)


@lru_cache(maxsize=4096)
def _around(wording: Words) -> tuple[Words, ...]:
    """Return what a wording asks, with the field for the name, in one or two ways."""
    text = _without_request(_bare(wording))
    return tuple(
        each.split() for each in dict.fromkeys((text, _WHERE_IT_IS.sub(r"where is \1", text)))
    )


def _with_its_place(name: Words) -> Iterator[tuple[Words, Words]]:
    """Yield a list's name, and one with its place in front as a name: "an Africa country"."""
    yield name, ()
    if parts := _IN_PLACE.fullmatch(" ".join(name)):
        one, thing, place = parts.groups()
        yield f"{one}{place} {thing}".split(), place.split()


def _put(name: Words, field: str, wording: Words) -> Iterator[str]:
    return chain.from_iterable(name if word == field else (word,) for word in wording)


def _bare(words: Iterable[str]) -> str:
    """Return the words, written in full, without those that say nothing."""
    return gist(chain.from_iterable(_WRITTEN.get(word, (word,)) for word in words))


def gist(words: Iterable[str]) -> str:
    """Return the words without those of politeness, and others that say nothing."""
    text = _POLITE.sub("", " ".join(words))
    for longer, shorter in _SHORTER.items():
        text = longer.sub(shorter, text)
    return text


def _without_request(text: str) -> str:
    """Return what is asked for, without the words that say only that something is."""
    text = _WHAT_KIND.sub("which ", _REQUEST.sub("", text))
    return _WHAT_IS.sub("", _TURNED.sub(r"\1 \3 \2", text))


def _otherwise(
    typed: Words, taught: _Question, same: Callable[[str, str, bool], bool], *, requests: bool
) -> tuple[str, ...]:
    """Return the words that stand on one side alone, or all if they stand in another order."""
    words = taught.words
    of_name = [word in taught.names for word in words]

    def may_be_left_out(n: int) -> bool:
        word = words[n]
        if taught.is_naming and word in _ARTICLES:
            return requests
        return (
            word in _LEFT_OUT
            or (word in _LEFT_OUT_BEFORE_MORE and 0 < n < len(words) - 1)
            or (word in _NEED_NOT_BE_SAID and not of_name[n] and bool(taught.names))
            or (n == 0 and typed[:1] != words[1:2] and _WHO_IS.match(" ".join(words)) is not None)
        )

    rest = [*range(len(words))]
    alone = []
    for before, word in pairwise(("", *typed)):
        place = next((n for n in rest if same(word, words[n], of_name[n])), None)
        if place is None:
            alone += [word] if word != _THE else []
        else:
            rest.remove(place)
            # "The mammal" is one that was spoken of, and no mammal whatever.
            alone += [_THE] if before == _THE and place and words[place - 1] in _ARTICLES else []
    alone += [words[n] for n in rest if not may_be_left_out(n)]

    if alone:
        return tuple(alone)
    places = _past_the(typed, {0})  # to which what was typed can be read so far
    for n, word in enumerate(words):
        on = {at + 1 for at in places if at < len(typed) and same(typed[at], word, of_name[n])}
        places = _past_the(typed, on | (places if may_be_left_out(n) else set()))
    return () if len(typed) in places else tuple(typed)


def _past_the(typed: Words, places: set[int]) -> set[int]:
    """Return the places of a question, and those behind each "the" that stands there."""
    for at in range(min(places, default=len(typed)), len(typed)):
        if at in places and typed[at] == _THE:
            places.add(at + 1)
    return places


def _is_same(word: str, other: str, of_name: bool, vocabulary: Collection[str]) -> bool:
    """Return whether a typed word is the other one, another word for it, or misspelt."""
    if _ALIKE.get(word, word) == _ALIKE.get(other, other) or {word, other} <= _ONE:
        return True
    if other in _LEFT_OUT:
        return False
    if _number(word) is not None:
        return _number(word) == _number(other)
    same = Prefix.similarity(word, other)
    ends = {word[same:], other[same:]}
    if same >= LEAST_STEM - (len(other) <= LEAST_STEM) and ends not in _ENDINGS_MISSPELT:
        if of_name and ends <= _ENDINGS_OF_A_NAME:
            return True
        if ends <= _ENDINGS:
            return False
    return _is_slip(word, other, vocabulary, LEAST_OF_SLIP if of_name else LEAST_OF_ASKING)


def _number(word: str) -> str | None:
    figure = _FIGURE.fullmatch(word)
    return figure[1] if figure else _NUMBERS.get(word)


def _is_slip(word: str, other: str, vocabulary: Collection[str], least: int) -> bool:
    """Return whether a typed word is the other one misspelt.

    Of a word with fewer than `least` letters it has the same letters: "lorrd", but no "lard".
    """
    if word in vocabulary or word in _OTHER_WORDS:
        return False
    longer, shorter = sorted((word, other), key=len, reverse=True)
    if longer.endswith(shorter) and len(longer) - len(shorter) > 1:  # "un", "re", "crypto"
        return False
    if len(other) < least:
        doubled = _DOUBLE.sub(r"\1", word) == _DOUBLE.sub(r"\1", other)
        swapped = sorted(word) == sorted(other) and OSA.distance(word, other) == 1
        return doubled or (swapped and len(other) >= LEAST_STEM)
    if len(other) < LEAST_OF_SLIP:
        return OSA.distance(word, other) == 1
    return OSA.normalized_similarity(word, other) >= ONE_SLIP or sorted(word) == sorted(other)


def of_one_of_many(words: Words) -> tuple[str, ...]:
    """Return the words of a question by which it asks for one of many."""
    return tuple(
        word
        for before, word in zip(("name", *words), words, strict=False)
        if word in _ONE_OF_MANY and before in _BEFORE_IT
    )


def numbers_in(words: Iterable[str]) -> set[str]:
    """Return the numbers in words, in digits: "1969", "31st", "second" and "WW2"."""
    return {
        number
        for word in words
        for number in (*_DIGITS.findall(word), *([_NUMBERS[word]] if word in _NUMBERS else []))
    }
