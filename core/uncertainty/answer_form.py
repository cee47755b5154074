"""An answer taken apart: the numbers, signs and negations in it, and the words that remain.

Two answers are compared by their forms (`same_answer`). Parsing takes time in proportion to the
length of the text.
"""

import re
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from core.uncertainty import answer_words as vocabulary
from core.uncertainty.answer_numbers import read_dates, read_numbers
from core.uncertainty.answer_tokens import (
    UNSPACED,
    Date,
    Token,
    TokenKind,
    accents_of,
    fold,
    formula,
    initials,
    normalise,
    scan,
    symbols,
)

DATE = "\0date"  # stands among the words where a date was
SHORT_QUESTION = 2  # words; a longer one may be the name of a work
NUMERIC = "-0123456789\0"  # what a number or a date begins with, and no word does


class FixedParts(NamedTuple):
    """What has to be alike in two answers, repeats included; sorted, but for signs."""

    numbers: tuple[str, ...]  # canonical: "1204", "-5", "1/2"
    # Signs, operators, comparators and the era before Christ; several stand in their order, with
    # the numbers between them.
    signs: tuple[str, ...]
    negations: int  # how many; of an answer that begins with "No," only that
    hedges: int  # how often it says "or"
    yes: bool | None  # whether the answer begins with yes or no
    qualifiers: tuple[str, ...]  # words that make another thing of what they stand beside


class AnswerPart(NamedTuple):
    """A piece of an item up to a preposition, a verb or a mark.

    `after`: what stands before it: "" at the beginning, a preposition, or "article", "particle",
    "copula", "mark".
    """

    after: str
    words: tuple[str, ...]


Item = tuple[AnswerPart, ...]


#: What a model goes on with that was not stopped: the beginning of the next prompt.
_PROMPT_AGAIN = re.compile(r"(?i)[\s.:]+consider the following question\b.*")


@dataclass(frozen=True, slots=True)
class AnswerForm:
    """A parsed answer."""

    # The text in small letters, white space collapsed; what is compared where nothing is left.
    plain: str
    items: tuple[Item, ...]  # what commas and "and" separate
    listed: bool  # whether it says "and", "or" or ";": every item counts
    hard: FixedParts
    # Whether it is made of several numbers, or is a tuple: in another order it is another answer.
    ordered: bool
    dates: tuple[Date, ...]
    words: tuple[str, ...]  # all words, numbers included, of all items
    # Words with a capital, or of a script that neither has them nor spaces. An answer all in
    # capitals has none.
    capitals: frozenset[str]
    letters: frozenset[str]  # Single letters that are no initials: "hepatitis B"
    formula: str  # the text as it stands where it is a formula or code, else ""
    symbols: tuple[str, ...]  # those in which letter case decides
    accents: frozenset[tuple[str, str]]  # words with accents, each behind its bare letters

    @property
    def one_word(self) -> str:
        """All words written as one, numbers apart; the plain text where there are none."""
        words = (f" {w} " if w[0] in NUMERIC else w.replace("'", "") for w in self.words)
        return "".join(words) or self.plain


class _Reader:
    """Sorts the tokens of one answer into what has to be alike and the words that remain."""

    def __init__(self, tokens: list[Token], text: str, *, fillers: bool) -> None:
        self.tokens = tokens
        self.accents = accents_of(text)
        self.with_accents = {bare for bare, _ in self.accents}
        self.small = [fold(t.text) if t.kind is TokenKind.WORD else "" for t in tokens]
        self.fillers = fillers
        self.numbers: list[str] = []
        self.ordinals: list[str] = []  # of the part that is being read
        self.signs: list[str] = []
        self.order: list[str] = []  # of signs and numbers
        self.qualifiers: list[str] = []
        self.dates: list[Date] = []
        self.letters: set[str] = set()
        self.capitals: set[str] = set()
        self.negations = self.hedges = 0
        self.yes: bool | None = None
        self.asks = False  # by a question mark
        self.ranks = False  # by an ordinal
        self.listed = self.parted = False  # by "and" or "or"; by a semicolon
        self.items: list[list[tuple[str, list[str]]]] = [[("", [])]]

    def read(self) -> None:
        place = 0
        while place < len(self.tokens):
            token = self.tokens[place]
            match token.kind:
                case TokenKind.NUMBER:
                    self.numbers.append(token.text)
                    self.order.append(token.text)
                    if token.ordinal:
                        self.ranks = True
                        self.ordinals.append(token.text)
                    else:
                        self._add(token.text)
                case TokenKind.DATE if token.date is not None:
                    self.dates.append(token.date)
                    self._add(DATE)
                case TokenKind.COMMA:
                    self.parted |= token.text == ";"
                    self._item()
                case TokenKind.MARK:
                    self.asks |= token.text in "?？¿"
                    self._part("mark")
                case TokenKind.SIGN:
                    self._sign(place)
                case _:
                    place = self._word(place)
                    continue
            place += 1
        self._close()

    def _mark(self, sign: str) -> None:
        self.signs.append(sign)
        self.order.append(sign)

    def _add(self, word: str) -> None:
        self.items[-1][-1][1].append(word)

    def _close(self) -> None:
        """End a part with its ordinals: the Second World War is World War II."""
        self.items[-1][-1][1].extend(self.ordinals)
        self.ordinals.clear()

    def _part(self, after: str) -> None:
        self._close()
        if self.items[-1][-1][1]:
            self.items[-1].append((after, []))
        elif len(self.items[-1]) > 1 and after != "particle":
            self.items[-1][-1] = (after, [])

    def _item(self) -> None:
        self._close()
        if any(words for _, words in self.items[-1]):
            self.items.append([("", [])])

    def _kind(self, place: int) -> TokenKind | None:
        return self.tokens[place].kind if 0 <= place < len(self.tokens) else None

    def _sign(self, place: int) -> None:
        token = self.tokens[place]
        before, after = self._kind(place - 1), self._kind(place + 1)
        match token.text:
            case "minus":
                self._mark("-")
            case "dash":
                numbers = before is TokenKind.NUMBER and after is TokenKind.NUMBER
                letters = (
                    before is TokenKind.WORD
                    and after in (TokenKind.WORD, TokenKind.NUMBER)
                    and len(self.tokens[place - 1].text) == 1
                )
                if letters:
                    self._mark("-")
                elif not numbers:
                    self._part("mark")
            case "trailing":
                ion = before is TokenKind.WORD and len(self.tokens[place - 1].text) <= 2
                if ion or (before is TokenKind.NUMBER and after is not TokenKind.NUMBER):
                    self._mark("-")
            case "slash":
                words = before is TokenKind.WORD and after is TokenKind.WORD and token.tight
                amount = self._kind(place - 2) is TokenKind.NUMBER or self.signs[-1:] == ["per"]
                if words and amount:
                    self._mark("per")  # 5 km/h
                elif words:
                    long = min(len(self.tokens[place + i].text) for i in (-1, 1)) >= 4
                    self.hedges += long
                    if long:
                        self.listed = True
                        self._item()
                else:
                    self._mark("/")
            case sign:
                self._mark(sign)

    def _word(self, place: int) -> int:
        token, word = self.tokens[place], self.small[place]
        for length in (3, 2):
            sign = vocabulary.COMPARATORS.get(tuple(self.small[place : place + length]))
            if sign:
                self._mark(sign)
                return place + length
        after = self._kind(place + 1)
        if word in vocabulary.COMPARATORS_BEFORE_NUMBERS and after in (
            TokenKind.NUMBER,
            TokenKind.SIGN,
        ):
            self._mark(vocabulary.COMPARATORS_BEFORE_NUMBERS[word])
            return place + 1
        if word == "per" and self.small[place + 1 : place + 2] == ["cent"]:
            self._mark("%")
            return place + 2
        sign = vocabulary.SIGN_WORDS.get(word)
        measured = self._kind(place - 1) in (TokenKind.NUMBER, TokenKind.SIGN)
        if sign and measured:
            self._mark(sign)
            return place + 1
        if self._is_rate(place, word):
            self._mark("per")
            if word in vocabulary.RATES:
                self._add(vocabulary.RATES[word])
            return place + 1
        if measured and word in (*vocabulary.UNITS, "in") and self._is_unit(place, token, word):
            word = vocabulary.UNITS.get(word, "inches")
        self._sort(place, token, word)
        return place + 1

    def _is_unit(self, place: int, token: Token, word: str) -> bool:
        """Whether the word behind a number is a unit: of 5 m, not of 5M or "5m people"."""
        after = self.small[place + 1] if place + 1 < len(self.small) else ""
        ends = self._kind(place + 1) not in (TokenKind.WORD, TokenKind.NUMBER, TokenKind.DATE)
        if word == "in":
            return ends or after in ("long", "tall", "high", "wide", "deep", "thick")
        if len(word) == 1 and token.text not in "mghCF":  # 5 G, 5 M
            return False
        if word != "m":
            return True
        return ends or not token.tight or after in vocabulary.MEASURES

    def _is_rate(self, place: int, word: str) -> bool:
        """Whether a word divides an amount: 5 mg per kg, 5 a day, 5 daily."""
        if TokenKind.NUMBER not in map(self._kind, range(place - 3, place)):
            return False
        if word in vocabulary.RATES:
            return True
        if self._kind(place + 1) is not TokenKind.WORD:
            return False
        return word == "per" or (
            word in ("a", "an", "each", "every") and self.small[place + 1] in vocabulary.TIMES
        )

    def _sort(self, place: int, token: Token, word: str) -> None:
        dated = self._kind(place - 1) in (TokenKind.NUMBER, TokenKind.DATE)
        dated |= self.small[place - 1] in ("century", "centuries") if place else False
        if word in vocabulary.ERAS and dated:
            self._mark("bc")
            return
        if word in vocabulary.PRESENT_ERAS and (dated or self._kind(place + 1) is TokenKind.NUMBER):
            return
        if word.endswith("n't") or word.replace("'", "") in vocabulary.CONTRACTED:
            self.negations += 1
            self._add("not")
            return
        if word in vocabulary.ALIASES:
            for each in vocabulary.ALIASES[word]:
                if each in vocabulary.COPULAS:
                    self._part("copula")
                elif each not in vocabulary.FILLERS:
                    self._add(each)
            return
        if word == "us" and token.text == "US" and not self.shouts:
            self._add("united")
            self._add("states")
            return
        if not word.rstrip("'").endswith("'s"):  # Lincoln's is not Lincoln
            word = word.replace("'", "")
        if place == 0 and word in ("yes", "no") and self._kind(1) is not TokenKind.WORD:
            self.yes = word == "yes"
        if token.ordinal and self._names_direction(place, word):
            word = vocabulary.DIRECTIONS[word]
        if word in vocabulary.SAINTS and self._kind(place + 1) is TokenKind.WORD:
            word = "saint"
        if word in vocabulary.HEDGES or self._is_spanish_or(place, token):
            self.hedges += 1
            self.listed = True
            self._item()
            return
        if word in vocabulary.CONJUNCTIONS and not (word == "et" and token.text == "ET"):
            self._close()
            if self.items[-1][0][1] or len(self.items) > 1:
                self.listed = True
                self._item()
                return
        if word in vocabulary.NEGATIONS:
            self.negations += 1
        elif word and ord(word[0]) > 0xE00 and any(n in word for n in vocabulary.NEGATIONS_INSIDE):
            self.negations += sum(word.count(n) for n in vocabulary.NEGATIONS_INSIDE)
        is_grand = word == "great" and self._follows(place, "grand")
        if is_grand or word in vocabulary.QUALIFIERS or word in vocabulary.RESERVATIONS:
            self.qualifiers.append(word)
        adds = self._adds(place, word)
        if word in vocabulary.COPULAS and self.fillers:
            self._part("copula")
        elif (
            word in vocabulary.FILLERS
            and self.fillers
            and not (adds or token.ordinal or self._is_grade(place, token))
        ):
            after, words = self.items[-1][-1]
            if word in vocabulary.ARTICLES and after in ("", "mark") and not words:
                self.items[-1][-1] = ("article", words)
            return
        elif word in vocabulary.PREPOSITIONS and not adds:
            self._part(word)
        else:
            if word in vocabulary.PARTICLES:
                self._part("particle")
            elif len(word) == 1 and word.isalpha() and not token.ordinal:
                self.letters.add(word)
            if UNSPACED.match(token.text) or (token.text[0].isupper() and not self.shouts):
                self.capitals.add(word)
            self._add(word)

    @cached_property
    def shouts(self) -> bool:
        words = [t.text for t in self.tokens if t.kind is TokenKind.WORD and len(t.text) > 2]
        return bool(words) and all(word.isupper() for word in words)

    def _names_direction(self, place: int, word: str) -> bool:
        """Whether an initial stands for a direction: in W. Virginia, not in George W. Bush."""
        begins = not self.items[-1][-1][1]
        return begins and word in vocabulary.DIRECTIONS and self._kind(place + 1) is TokenKind.WORD

    def _follows(self, place: int, start: str) -> bool:
        return place + 1 < len(self.small) and self.small[place + 1].startswith(start)

    def _adds(self, place: int, word: str) -> bool:
        """Whether a small word of English is another one: Thế, at the end (Nguyễn An), on iki."""
        following = self.small[place + 1 : place + 2]
        is_number = word in vocabulary.NUMBERS_ELSEWHERE
        is_number &= not vocabulary.MULTIPLIED_ELSEWHERE.isdisjoint(following)
        ends = not following and any(words for _, words in self.items[-1])
        return is_number or ends or word in self.with_accents

    def _is_spanish_or(self, place: int, token: Token) -> bool:
        """Whether a letter parts two answers: Madrid o Barcelona, Roma o Milano."""
        around = self._kind(place - 1), self._kind(place + 1)
        return token.text == "o" and around == (TokenKind.WORD, TokenKind.WORD)

    def _is_grade(self, place: int, token: Token) -> bool:
        """Whether "a" is a letter: an A, vitamin A, A+, a < b."""
        if len(token.text) > 1:
            return False
        neither = {self._kind(place - 1), self._kind(place + 1)}
        if TokenKind.SIGN in neither or self._kind(place + 1) is None:
            return True
        return place > 0 and token.text == "A" and not self.shouts

    def form(self, text: str) -> AnswerForm:
        numbers = sorted(self.numbers)
        items = tuple(
            parts
            for item in self.items
            if (parts := tuple(AnswerPart(after, tuple(words)) for after, words in item if words))
        )
        negations = int(not self.yes) if self.yes is not None else self.negations
        if self.yes:
            negations = self.negations
        words = tuple(w for item in items for part in item for w in part.words)
        signs = self.order if len(self.signs) > 1 else self.signs
        if self.asks and len(words) <= SHORT_QUESTION:
            signs = [*signs, "?"]
        if self.ranks and all(w[0] in NUMERIC for w in words):  # the 42nd is not 42
            signs = [*signs, "th"]
        is_tuple = bool(self.tokens) and self.tokens[0].text in ("(", "[", "<", "{")
        return AnswerForm(
            plain=" ".join(fold(text).split()),
            items=items,
            listed=self.listed or (self.parted and len(items) > 1),
            hard=FixedParts(
                tuple(numbers),
                tuple(signs),
                negations,
                self.hedges,
                self.yes,
                tuple(sorted(self.qualifiers)),
            ),
            ordered=len(items) > 1
            and (is_tuple or all(w[0] in NUMERIC or w in vocabulary.TRUTHS for w in words)),
            dates=tuple(self.dates),
            words=words,
            capitals=frozenset(self.capitals),
            letters=frozenset(self.letters),
            formula=formula(text),
            symbols=symbols(text),
            accents=self.accents,
        )


def parse(text: str) -> AnswerForm:
    """Return the form of an answer.

    >>> parse("Twenty-one guns").words
    ('21', 'guns')
    """
    clean = normalise(text)
    clean = _PROMPT_AGAIN.sub("", clean) or clean
    clean = clean.rstrip(". ") or clean  # the end of a sentence: "Elizabeth I."
    tokens = list(read_numbers(read_dates(list(initials(list(scan(clean)))))))
    reader = _Reader(tokens, text, fillers=True)
    reader.read()
    if not any(words for item in reader.items for _, words in item):
        reader = _Reader(
            tokens, text, fillers=False
        )  # nothing but fillers: then they are the answer
        reader.read()
    return reader.form(clean)
