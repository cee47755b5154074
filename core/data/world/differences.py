"""What a typed question says otherwise than the taught one that is nearest to it.

Shared words and letters find the nearest question. To ask it in place of what was typed they are
not enough: "unofficial" is spelt much as "official", "city" stands in wordings that ask for the
country, and "What is France the capital of?" has every word of another question. Here each word
that matters has to be one of the same name and of one and the same wording, and that wording's
have to be said: "Who played Carmen?" leaves the music out of "Whose music is played in Carmen?".
What is asked for, how often, and in which tense must agree. Where it is in doubt, the question is
only offered.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from itertools import chain, pairwise

from rapidfuzz.distance import OSA, Prefix

Words = Sequence[str]

FIELDS = SUBJECT, CLAUSE, PLURAL = "0subject", "0clause", "0plural"  # of a wording, as words
LEAST_STEM = 4  # letters that a word and its other form share
LEAST_OF_SLIP = 5  # letters; among shorter names a slip is another one: "DNA" and "NDA"
LEAST_OF_ASKING = 4  # letters of a word that asks for something: "wht"
_DOUBLE = re.compile(r"(.)\1")
ONE_SLIP = 0.8  # how alike words of five letters are that differ in one, or swap two
# What another form of a word ends in: "Russia" and "Russian", "painted" and "painter".
_ENDINGS = frozenset(
    [
        *("", "s", "es", "e", "ed", "d", "er", "or", "ing", "ion", "ian", "n", "an", "ese", "ish"),
        *("y", "ly", "ies", "i", "ic", "r", "ors", "ers", "ions", "ings"),
    ]
)
# Spelt much as words of the world's questions, and no slips.
_OTHER_WORDS = frozenset(["county", "counties"])
_ASKING = frozenset(["which", "what", "whose"])
_BEFORE_ITS_NOUN = frozenset(
    ["of", "in", "from", "to", "for", "by", "with", "at", "on", "as", "via"]
)
_ASK_BY_THEMSELVES = frozenset(["where", "when", "year", "yr"])  # and not "who has the telephone"
_SHORT = {"yr": "year"}
_ASK_NOTHING = frozenset(
    ["have", "were", "does", "what", "which", "whose", "name", "tell", "that", "this", "with"]
)
_JOINING = frozenset(["in", "to", "from", "after", "before", "under", "name"])
_PAST = frozenset(["was", "were"])
# A wording says these besides, and asks for nothing with them.
_SAYS_NOTHING = frozenset(
    [
        *("a", "an", "the", "and", "or", "am", "is", "are", "was", "were", "be", "do", "does"),
        *("did", "can", "could", "would", "should", "may", "have", "has", "had", "you", "i", "im"),
        *("me", "us", "we", "it", "this", "that", "there", "they", "so", "hey", "please"),
        *("tell", "give", "name", "know", "wonder", "any", "idea", "say", "what", "whats"),
        *("which", "who", "whom", "of"),
    ]
)
# "The capital of Texas" is its state capital, and "the Greek god" the "god or goddess".
_NEED_NOT_BE_SAID = frozenset(["state", "goddess", "element"])
_IMPLIED = {  # nor these beside another word
    "where": frozenset(["in", "city", "country"]),
    "director": frozenset(["film", "movie"]),
}
# These count as often as they are said: "who is in it" does not ask who it is by.
_RELATING = frozenset(
    [
        *("in", "from", "to", "for", "by", "with", "at", "on", "as", "via", "up", "out", "behind"),
        *("about", "after", "before", "under", "into", "near", "of", "whose"),
        *("its", "known", "knows"),
    ]
)
_WITHOUT = frozenset(["without", "not", "never", "except", "besides"])
# "Name any …" asks for one of many: of a fact with one right answer it asks something else.
_ONE_OF_MANY = frozenset(["any", "one", "some"])
_BEFORE_IT = frozenset(["name", "me", "give", "tell", "say", "of"])
# Rare in the world's wordings, and said of any fact.
CHAT = frozenset(
    [
        *("he", "she", "they", "we", "us", "i", "im", "my", "you", "your", "please", "pls", "plz"),
        *("thank", "thanks", "hi", "hello", "ok", "okay", "got", "must", "mean", "yr", "bloke"),
        *("guy", "lady", "one", "just", "quick", "question", "remember", "forgot", "again"),
        *("say", "think", "that", "this", "it"),
    ]
)
# Of two things by one name, people call neither by these: "Georgia", the country and the state.
KINDS_OF_THING = frozenset(
    [
        *("country", "state", "city", "film", "movie", "musical", "album", "song", "book", "novel"),
        *("play", "opera", "ballet", "painting", "character", "element", "music"),
    ]
)
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


@dataclass(frozen=True)
class FactWords:
    """What a fact is called, and how it is asked for."""

    names: Sequence[Words]
    clauses: Sequence[Words]  # which of these stand for a clause
    wordings: Sequence[Words]  # in order, with one of `FIELDS` for the name
    is_its_own_name: bool  # nothing has to be said besides: a list, a question by itself


def differences(
    typed: Words,
    question: Words,
    taught: FactWords,
    content: Set[str],
    nouns: Collection[str],
    vocabulary: Collection[str],
) -> tuple[str, ...]:
    """Return the words by which a typed question asks something else than the taught one.

    Parameters
    ----------
    typed, question : sequence of str
        The words of either, in order; see `plain`. `taught` is the fact that `question` asks for.
    content : collection of str
        The typed words that matter, as "the" does not.
    nouns : collection of str
        What the world's questions ask for, as in "which country".
    vocabulary : collection of str
        The words of all questions of the world: none of them is another one misspelt.
    """
    return tuple(
        dict.fromkeys(
            chain(
                _foreign_words(typed, taught, content, vocabulary),
                _no_request(typed, question, taught, vocabulary),
                _another_noun(typed, taught, nouns),
                _another_name(typed, taught, content),
                _another_order(typed, taught),
                _another_time(typed, taught),
                _repeats(typed, question, content),
                _WITHOUT.intersection(question) - set(typed),
            )
        )
    )


def is_form(word: str, other: str, vocabulary: Collection[str], least: int = LEAST_OF_SLIP) -> bool:
    """Return whether a typed word is the other one, in another form or misspelt.

    Of a word with fewer than `least` letters it has the same letters: "lorrd", but no "lard".
    """
    if word == other:
        return True
    same = Prefix.similarity(word, other)
    ends = {word[same:], other[same:]}
    if same >= LEAST_STEM - (len(other) <= LEAST_STEM) and ends <= _ENDINGS:
        return True
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


def _foreign_words(
    typed: Words, taught: FactWords, content: Set[str], vocabulary: Collection[str]
) -> Sequence[str]:
    """Return what neither a name nor the one wording that fits best holds, of what matters."""
    named = set(chain.from_iterable(taught.names))
    matters = (word for word in dict.fromkeys(typed) if word in content and word != "does")
    rest = [word for word in matters if not _occurs(word, named, vocabulary)]
    clause, name = (
        max(names, key=lambda words: _how_explicit(words, typed, vocabulary), default=())
        for names in (taught.clauses, [n for n in taught.names if n not in taught.clauses])
    )
    own = taught.is_its_own_name
    unsaid = (
        [
            *(w for w in rest if not _occurs(w, each, vocabulary, LEAST_OF_ASKING)),
            *(
                []
                if own
                else _omissions(typed, each, clause if CLAUSE in each else name, vocabulary)
            ),
        ]
        for each in taught.wordings
        if own or CLAUSE not in each or clause
    )
    return min(unsaid, key=len, default=rest)


def _how_explicit(name: Words, typed: Words, vocabulary: Collection[str]) -> tuple[int, int]:
    """Return how few words of a name are not said, and how many are."""
    return -len(_rest_of_name(name, typed, vocabulary)), len({*name} & {*typed})


def _rest_of_name(name: Words, typed: Words, vocabulary: Collection[str]) -> Sequence[str]:
    """Return what is missing of a name: Berlin is not the Berlin Wall."""
    return [
        w
        for w in name
        if len(w) >= LEAST_STEM and not any(is_form(t, w, vocabulary) for t in typed)
    ]


def _omissions(
    typed: Words, wording: Words, name: Words, vocabulary: Collection[str]
) -> Iterator[str]:
    """Yield what a wording by a name says and a question does not, and what either says oftener."""
    yield from _rest_of_name(name, typed, vocabulary)
    implied = _NEED_NOT_BE_SAID.union(*(_IMPLIED.get(word, ()) for word in typed))
    counted = _SAYS_NOTHING | _RELATING | implied | {*FIELDS}
    for word in (word for word in dict.fromkeys(wording) if word not in counted):
        form = next(
            (t for t in typed if _occurs(_SHORT.get(t, t), [word], vocabulary, LEAST_OF_ASKING)),
            None,
        )
        if form is None or (
            # "Which city calls France its capital?" is not "Which city does France call …?".
            (word == "made" or word not in typed)
            and _is_behind(form, typed, name) != _is_behind(word, wording, FIELDS)
        ):
            yield word
    there = Counter(word for word in wording if word in _RELATING)
    slips = {t: w for w in there for t in typed if is_form(t, w, vocabulary, LEAST_OF_ASKING)}
    here = Counter(w for t in typed if (w := slips.get(t, t)) in _RELATING) - Counter(name)
    alike = {"of", "for"} if "of" in here | there else {"of"}
    yield from ((here - there) + (there - here)).keys() - alike - implied


def _is_behind(word: str, words: Words, named: Words) -> bool:
    before = {*words[: words.index(word)]} - _SAYS_NOTHING
    return not before.isdisjoint(named)


def _occurs(
    word: str, words: Collection[str], vocabulary: Collection[str], least: int = LEAST_OF_SLIP
) -> bool:
    return word in words or any(is_form(word, other, vocabulary, least) for other in words)


def _no_request(
    typed: Words, question: Words, taught: FactWords, vocabulary: Collection[str]
) -> Iterator[str]:
    """Yield a word of the taught question where no word of what was typed asks for anything."""
    named = set(chain.from_iterable(taught.names))
    around = set(chain.from_iterable(taught.wordings))
    asks = (
        _SHORT.get(word, word)
        for word in typed
        if word in _ASK_BY_THEMSELVES
        or not (word in named | _ASK_NOTHING or len(word) < LEAST_STEM)
    )
    if not taught.is_its_own_name and not any(
        _occurs(word, around, vocabulary, LEAST_OF_ASKING) for word in asks
    ):
        yield from [word for word in question if word not in typed][:1]


def _another_noun(typed: Words, taught: FactWords, nouns: Collection[str]) -> Iterator[str]:
    """Yield what is asked for, as in "which city", where the fact is no answer to that."""
    own = {noun for words in (*taught.wordings, *taught.names) for noun in question_nouns(words)}
    for noun in question_nouns(typed):
        if noun in nouns and noun not in own:
            yield noun


def _another_name(typed: Words, taught: FactWords, content: Set[str]) -> Iterator[str]:
    """Yield what kind of name is asked for, as a chemical one, where the fact is none."""
    own = set(chain.from_iterable(map(pairwise, (*taught.wordings, *taught.names))))
    for pair in pairwise(typed):
        if pair[1] == "name" and pair[0] in content and not taught.is_its_own_name | (pair in own):
            yield from pair


def question_nouns(words: Words) -> Iterator[str]:
    """Yield the words that stand behind "which" and "what"."""
    return (noun for before, noun in pairwise(words) if before in _ASKING)


def _another_order(typed: Words, taught: FactWords) -> Iterator[str]:
    """Yield the word that shows that the question goes the other way round."""
    if not typed:
        return
    ends = {words[-1] for words in (*taught.wordings, *taught.names) if words}
    if typed[-1] in _BEFORE_ITS_NOUN and typed[-1] not in ends:
        yield typed[-1]
    named = set(chain.from_iterable(taught.names))
    if taught.is_its_own_name:  # nothing else says how its words belong together
        yield from (_JOINING & {*typed}) - named - set(chain.from_iterable(taught.wordings))
    if typed[0] in ("who", "whom") and typed[1:2] == ("did",) and typed[-1] not in named:
        yield typed[-1]


def _another_time(typed: Words, taught: FactWords) -> Iterator[str]:
    """Yield "was" where the fact is asked for as it is now: the franc was the currency."""
    present = not _PAST.intersection(chain(*taught.wordings, *taught.names))
    if present and "again" not in typed:
        yield from _PAST.intersection(typed)


def _repeats(typed: Words, question: Words, content: Set[str]) -> Iterator[str]:
    """Yield what is said more often: two plus two plus two is not two plus two."""
    once = Counter(question)
    for word, times in Counter(typed).items():
        if times > 1 and times > once[word] and word in content:
            yield word


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
