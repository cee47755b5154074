"""An answer taken apart: the numbers, signs and negations in it, and the words that remain.

Two answers are compared by their forms (`same_answer`). Everything here takes time in
proportion to the length of the text.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import NamedTuple

from core.uncertainty import answer_words as vocabulary
from core.uncertainty.accents import without_accents, without_vowel_marks

LONGEST_NUMBER = 40  # digits; longer ones are compared as they are written


class Date(NamedTuple):
    """A date, None for what is not said."""

    year: int | None
    month: int
    day: int | None

    def agrees(self, other: Date) -> bool:
        """Whether nothing is in conflict and something is shared."""
        pairs = [(a, b) for a, b in zip(self, other, strict=True) if None not in (a, b)]
        return bool(pairs) and all(a == b for a, b in pairs)


class Hard(NamedTuple):
    """What has to be alike in two answers, each sorted, repeats included.

    Attributes
    ----------
    numbers : tuple of str
        Canonical: "1204", "-5", "1/2".
    signs : tuple of str
        Signs, operators, comparators and the era before Christ.
    negations : int
        How many; of an answer that begins with "No," only that.
    hedges : int
        How often it says "or".
    yes : bool or None
        Whether the answer begins with yes or no.
    qualifiers : tuple of str
        Words that make another thing of what they stand beside.
    """

    numbers: tuple[str, ...]
    signs: tuple[str, ...]
    negations: int
    hedges: int
    yes: bool | None
    qualifiers: tuple[str, ...]


class Part(NamedTuple):
    """A piece of an item up to a preposition, a verb or a mark.

    Attributes
    ----------
    after : str
        What stands before it: "" at the beginning, or "preposition", "particle", "copula",
        "mark".
    words : tuple of str
    """

    after: str
    words: tuple[str, ...]


Item = tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Form:
    """A parsed answer.

    Attributes
    ----------
    plain : str
        The text in small letters, white space collapsed; what is compared where nothing is left.
    items : tuple of tuple of Part
        What commas and "and" separate.
    listed : bool
        Whether it says "and" or "or": every item counts.
    hard : Hard
    dates : tuple of Date
    words : tuple of str
        All words, numbers included, of all items.
    letters : frozenset of str
        Single letters that are no initials: "hepatitis B".
    """

    plain: str
    items: tuple[Item, ...]
    listed: bool
    hard: Hard
    dates: tuple[Date, ...]
    words: tuple[str, ...]
    letters: frozenset[str]

    @property
    def joined(self) -> str:
        """All words written as one; the plain text where there are none."""
        return "".join(self.words) or self.plain


class _Kind(StrEnum):
    WORD = "word"
    NUMBER = "number"
    DATE = "date"
    SIGN = "sign"
    COMMA = "comma"
    MARK = "mark"  # ends a part
    POINT = "point"


class _Token(NamedTuple):
    kind: _Kind
    text: str  # letter case as written
    tight: bool = False  # nothing stands before it but letters, digits or the beginning of a word
    date: Date | None = None
    ordinal: bool = False


# ------------------------------------------------------------------------------- characters

_RAISED = re.compile("[⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻]+")
_PARTS_OF_ONE = re.compile("[¼½¾⅐-⅞↉]")
_STROKE = re.compile("[≁≄≇≉≠≢≭≮≯≰≱≴≵∉∌∤∦]")
_SIGNS = str.maketrans(
    {"≤": "<=", "≥": ">=", "≦": "<=", "≧": ">=", "×": "*", "÷": "/", "⁄": "/", "∕": "/", "♯": "#"}
    | dict.fromkeys("‐‑‒–﹣", "-")
    | dict.fromkeys("’‘ʼ´`′", "'")
    | dict.fromkeys("—―…", " . ")
    | dict.fromkeys("・·•", " ")
    | {"_": " ", "\u2044": "/"}
)
_TAGS = re.compile(
    r"</?(?:b|i|u|em|strong|sub|sup|br|p|span|code|div|li|ul)\s*/?>", re.IGNORECASE
)
_SELECTORS = {*map(chr, range(0xFE00, 0xFE10)), *map(chr, range(0xE0100, 0xE01F0)), "\u20e3"}


def cleaned(text: str) -> str:
    """Return `text` as it is parsed: compatible characters, raised digits as powers."""
    if not text.isascii():
        text = unicodedata.normalize("NFC", text)
        text = _RAISED.sub(lambda m: "^" + unicodedata.normalize("NFKC", m[0]), text)
        text = _PARTS_OF_ONE.sub(lambda m: " " + unicodedata.normalize("NFKC", m[0]), text)
        text = unicodedata.normalize("NFKC", text)
        text = _STROKE.sub(lambda m: f"!{unicodedata.normalize('NFD', m[0])[0]}", text)
        text = "".join(filter(None, map(_character, text)))
        text = without_vowel_marks(without_accents(text))
    return _TAGS.sub(" ", text.translate(_SIGNS)).strip()


def _character(sign: str) -> str:
    if sign.isascii():
        return sign
    category = unicodedata.category(sign)
    if category == "Cf" or sign in _SELECTORS:
        return ""
    return str(unicodedata.digit(sign)) if category == "Nd" else sign


def folded(word: str) -> str:
    """Return a word in small letters, without accents."""
    small = word.casefold()
    return small if small.isascii() else without_accents(unicodedata.normalize("NFKC", small))


def _marks() -> str:
    """Return the character class of combining marks, which belong to the letter before them."""
    runs: list[list[int]] = []
    for code in (*range(0x300, 0x1E00), *range(0x3000, 0x3100), *range(0xA660, 0xAC00)):
        if unicodedata.category(chr(code))[0] == "M":
            if runs and runs[-1][1] == code - 1:
                runs[-1][1] = code
            else:
                runs.append([code, code])
    return "".join(f"{chr(first)}-{chr(last)}" for first, last in runs)


# Han, kana, Thai, Lao, Khmer, Myanmar.
_UNSPACED = (
    "\u2e80-\u2fff\u3005-\u3007\u3041-\u30fa\u30fc-\u30ff\u3400-\u9fff\uf900-\ufaff"
    "\U00020000-\U0003ffff\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ece\u1000-\u103f\u1780-\u17d3"
)
_LETTER = rf"(?:(?![{_UNSPACED}])[^\W\d_])"
_SCAN = re.compile(
    rf"""
    (?P<iso>(?<!\d)\d{{4}}(?P<stroke>[-/.])\d{{1,2}}(?P=stroke)\d{{1,2}}(?!\d))
  | (?P<dmy>(?<!\d)\d{{1,2}}(?P<slash>[-/.])\d{{1,2}}(?P=slash)\d{{4}}(?!\d))
  | (?P<cjk>(?:\d{{4}}年\s?)?\d{{1,2}}月(?:\s?\d{{1,2}}日)?)
  | (?P<number>(?:\d{{1,3}}(?P<sep>[,' ])\d{{3}}(?:(?P=sep)\d{{3}})*(?!\d)|\d+)(?:\.\d+)*
      |(?<![\w.])\.\d+)
    (?:(?P<suffix>st|nd|rd|th|'?s)(?!\w))?
  | (?P<unspaced>[{_UNSPACED}]+)
  | (?P<word>{_LETTER}(?:{_LETTER}|[{_marks()}])*(?:'(?:{_LETTER}|[{_marks()}])+)*'?)
  | (?P<operator>[+\-−*/<>=!&|^~%#\\]+)
  | (?P<comma>[,;、،，；])
  | (?P<point>\.+)
  | (?P<mark>[:()\[\]{{}}?¿¡\n。｡！？：])
  | (?P<other>\S)
    """,
    re.VERBOSE | re.IGNORECASE,
)
_VERSION = re.compile(r"\d+(?:\.\d+){2,}")
_GROUPS = re.compile(r"\d{1,3}(?:\.\d{3}){2,}")


def _scan(text: str) -> Iterator[_Token]:
    for match in _SCAN.finditer(text):
        start, end = match.span()
        before = text[start - 1] if start else " "
        after = text[end] if end < len(text) else " "
        tight = before.isalnum()
        part = match[0]
        match match.lastgroup:
            case "iso" | "dmy" | "cjk":
                yield from _written_date(part, match.lastgroup, tight)
            case "number" | "sep" | "suffix" | "slash" | "stroke":
                yield _number(match["number"], match["suffix"] or "", tight)
            case "word" | "unspaced":
                yield _Token(_Kind.WORD, part, tight)
            case "operator":
                yield from _operator(part, before, after)
            case "comma":
                yield _Token(_Kind.COMMA, part)
            case "point":
                yield _Token(_Kind.POINT, part, after.isspace() or end == len(text))
            case "mark":
                yield _Token(_Kind.MARK, part)
            case _:
                if unicodedata.category(part) in ("Sm", "Sc") or part in "°♀♂♭":
                    yield _Token(_Kind.SIGN, part)


def _number(digits: str, suffix: str, tight: bool) -> _Token:
    small = suffix.lower().strip("'")
    bare = re.sub("[,' ]", "", digits)
    if small == "s":
        if len(bare) in (2, 4) and bare.isdecimal() and bare[-1] == "0":
            return _Token(_Kind.NUMBER, f"{bare}s", tight)
        return _Token(_Kind.NUMBER, _canonical(bare), tight)
    return _Token(_Kind.NUMBER, _canonical(bare), tight, ordinal=bool(small))


def _canonical(digits: str) -> str:
    """Return digits with at most a point as one number is always written here."""
    if _GROUPS.fullmatch(digits):
        digits = digits.replace(".", "")
    if _VERSION.fullmatch(digits):
        return digits
    whole, _, rest = digits.partition(".")
    whole = whole.lstrip("0") or "0"
    # Trailing zeros are looked at later: "2.50" is 2.5, but Python 3.10 is not 3.1.
    return f"{whole}.{rest}" if rest else whole


def _written_date(part: str, how: str, tight: bool) -> Iterator[_Token]:
    numbers = [int(n) for n in re.findall(r"\d+", part)]
    if how == "cjk":
        year = numbers.pop(0) if "年" in part else None
        month, day = numbers[0], numbers[1] if len(numbers) > 1 else None
    elif how == "iso":
        year, month, day = numbers
    else:
        month, day, year = numbers
        if day <= 12 and month > 12:
            month, day = day, month
        elif day <= 12 and month != day:  # 3/4/1999 is one day here and another there
            month = 0
    if 1 <= month <= 12 and (day is None or 1 <= day <= 31):
        yield _Token(_Kind.DATE, part, tight, Date(year, month, day))
        return
    for place, number in enumerate(re.findall(r"\d+", part)):
        if place:
            yield _Token(_Kind.SIGN, "/")
        yield _Token(_Kind.NUMBER, _canonical(number), tight and not place)


def _operator(run: str, before: str, after: str) -> Iterator[_Token]:
    """Read signs by what stands around them: a hyphen, emphasis or "!" is no operator."""
    opens, closes = not before.isalnum(), not after.isalnum()
    run = run.replace("−", "-") if len(run) > 1 else run
    if set(run) == {"*"}:  # emphasis touches words on one side
        if before.isspace() and after.isspace() or not (opens or closes):
            yield _Token(_Kind.SIGN, run)
        return
    if run[0] == "!" and set(run) == {"!"}:
        if after.isalnum() and opens:
            yield _Token(_Kind.SIGN, "!")
        else:
            yield _Token(_Kind.MARK, run)
        return
    if run in ("-", "−"):
        if after.isdigit() or after == ".":
            if not before.isalnum() and before not in ")]":
                yield _Token(_Kind.SIGN, "minus")
            elif run == "−":
                yield _Token(_Kind.SIGN, "-")
        elif before.isspace() and after.isspace():
            yield _Token(_Kind.SIGN, "dash")
        elif run == "−" or (before.isalpha() and not after.isalnum()):
            yield _Token(_Kind.SIGN, "trailing")
        return
    if set(run) == {"-"}:
        closed = before.isalnum() and closes and not after.isspace()
        ends = before.isalnum() and after.isspace()
        yield _Token(_Kind.SIGN, run) if closed or ends or after.isalnum() and opens else _Token(
            _Kind.MARK, run
        )
        return
    if run == "&" and not (opens and after.isalnum()):
        yield _Token(_Kind.WORD, "and")
    elif run == "/":
        yield _Token(_Kind.SIGN, "slash", tight=not opens and not closes)
    elif run == "#" and after.isdigit() or run == "~" and after.isdigit():
        return
    elif run == "#" and opens:
        return
    elif run == "\\" or run == "+" and opens and after.isdigit():
        return
    else:
        run = run.rstrip("!") if run.strip("!") else run
        yield _Token(_Kind.SIGN, run)


# ---------------------------------------------------------------------------------- tokens


def _initials(tokens: Sequence[_Token]) -> Iterator[_Token]:
    """Join single letters that follow each other, U.S.A. and J. R. R., and drop points."""
    place = 0
    while place < len(tokens):
        token = tokens[place]
        letters, end = "", place
        while end < len(tokens) and _is_letter(tokens[end]):
            dotted = end + 1 < len(tokens) and tokens[end + 1].kind is _Kind.POINT
            if not (dotted or tokens[end].text.isupper()):
                break
            letters += tokens[end].text
            end += 1 + dotted
        if letters:
            joined = letters if len(letters) > 1 or tokens[end - 1].kind is _Kind.POINT else ""
            yield _Token(_Kind.WORD, letters, token.tight, ordinal=bool(joined))
            place = end
            continue
        place += 1
        if token.kind is not _Kind.POINT:
            yield token
        elif token.tight:
            last = tokens[place - 2] if place > 1 else None
            if not last or len(last.text) > 3 and folded(last.text) not in vocabulary.ABBREVIATIONS:
                yield _Token(_Kind.MARK, ".")


def _is_letter(token: _Token) -> bool:
    return token.kind is _Kind.WORD and len(token.text) == 1 and token.text.isalpha()


def _is_day(token: _Token | None) -> bool:
    return (
        token is not None
        and token.kind is _Kind.NUMBER
        and token.text.isdecimal()
        and 1 <= len(token.text) <= 2
        and 1 <= int(token.text) <= 31
    )


def _is_year(token: _Token | None) -> bool:
    return (
        token is not None
        and token.kind is _Kind.NUMBER
        and token.text.isdecimal()
        and len(token.text) == 4
        and not token.ordinal
    )


def _dated(tokens: list[_Token]) -> list[_Token]:
    """Read days, months and years in words; a month that stands alone is one only by itself."""
    out: list[_Token] = []
    place = 0

    def at(where: int) -> _Token | None:
        return tokens[where] if 0 <= where < len(tokens) else None

    while place < len(tokens):
        token = tokens[place]
        month = vocabulary.MONTHS.get(folded(token.text)) if token.kind is _Kind.WORD else None
        if month is None:
            out.append(token)
            place += 1
            continue
        day = year = None
        before = len(out)
        if out and folded(out[-1].text) == "of" and len(out) > 1:
            before -= 1
        if before and _is_day(out[before - 1]):
            day = int(out[before - 1].text)
            before -= 1
            if before and folded(out[before - 1].text) == "the":
                before -= 1
        else:
            before = len(out)
        after = place + 1
        follows = at(after)
        if follows and follows.kind is _Kind.POINT:
            after += 1
        if day is None and _is_day(at(after)):
            day = int(tokens[after].text)
            after += 1
        comma = at(after)
        skip = 1 if comma and comma.kind is _Kind.COMMA else 0
        if comma and folded(comma.text) in ("of", "in"):
            skip = 1
        if _is_year(at(after + skip)):
            year = int(tokens[after + skip].text)
            after += skip + 1
        if day is None and year is None and len(tokens) > 1:
            out.append(token)
            place += 1
            continue
        del out[before:]
        out.append(_Token(_Kind.DATE, "", False, Date(year, month, day)))
        place = after
    return out


_ROMAN = re.compile(r"M{0,3}(?:CM|CD|D?C{0,3})(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3})")
_ROMAN_VALUES = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100, "D": 500, "M": 1000}
_NO_ROMAN = frozenset(("MIX", "DIX", "CIV", "DIV", "LIV", "MCI", "CCC", "MMM"))


def _roman(tokens: Sequence[_Token], place: int) -> int | None:
    """Return the value of a Roman numeral that follows a word: World War II, Elizabeth I."""
    token, before = tokens[place], tokens[place - 1] if place else None
    text = token.text.upper()
    if before is None or before.kind is not _Kind.WORD or token.kind is not _Kind.WORD:
        return None
    if len(text) > 15 or text in _NO_ROMAN or not _ROMAN.fullmatch(text):
        return None
    if token.ordinal or (token.text.istitle() and len(text) > 1):  # an initial; Xi, Li, Di
        return None
    if not set(text) <= set("IVX") and (len(text) < 3 or not token.text.isupper()):
        return None
    if len(text) == 1:
        after = tokens[place + 1] if place + 1 < len(tokens) else None
        around = {folded(before.text), folded(after.text) if after else ""}
        if text not in "IVX" or around & vocabulary.SPEAKING or len(before.text) < 2:
            return None
    values = [_ROMAN_VALUES[letter] for letter in text]
    return sum(
        -value if value < after else value
        for value, after in zip(values, [*values[1:], 0], strict=True)
    )


def _value(token: _Token) -> Fraction | None:
    """Return the number that digits stand for; None of a word, a decade, a version."""
    if token.kind is not _Kind.NUMBER or len(token.text) > LONGEST_NUMBER:
        return None
    try:
        return Fraction(token.text)
    except ValueError:
        return None


def _text(value: Fraction, *, negative: bool = False) -> str:
    return f"{'-' if negative else ''}{value}"


def _counted(tokens: Sequence[_Token]) -> Iterator[_Token]:
    """Read number words, scales, fractions, Roman numerals and minus signs as numbers."""
    place = 0
    last: _Token | None = None
    while place < len(tokens):
        token = tokens[place]
        word = folded(token.text) if token.kind is _Kind.WORD else ""
        read = _number_at(tokens, place)
        if read is not None:
            value, end, ordinal = read
            last = _Token(_Kind.NUMBER, value, token.tight, ordinal=ordinal)
        elif (word in ("minus", "negative") or token == _MINUS) and (
            (read := _number_at(tokens, place + 1)) is not None
        ):
            value, end, _ = read
            is_operand = last is not None and last.kind is _Kind.NUMBER
            if token == _MINUS or not is_operand:
                last = _Token(_Kind.NUMBER, f"-{value}", ordinal=False)
            else:
                yield _Token(_Kind.SIGN, "-")
                last = _Token(_Kind.NUMBER, value)
        elif (roman := _roman(tokens, place)) is not None:
            last, end = _Token(_Kind.NUMBER, str(roman), ordinal=True), place + 1
        elif word in vocabulary.DECADES:
            last, end = _Token(_Kind.NUMBER, vocabulary.DECADES[word]), place + 1
        elif word in ("no", "number", "nr") and _number_at(tokens, place + 1) is not None:
            place += 1  # No. 5
            continue
        else:
            last, end = token, place + 1
        yield last
        place = end


_MINUS = _Token(_Kind.SIGN, "minus")


def _number_at(tokens: Sequence[_Token], place: int) -> tuple[str, int, bool] | None:
    """Return a number in digits or words, where it ends, and whether it is an ordinal."""

    def word(where: int) -> str:
        if 0 <= where < len(tokens) and tokens[where].kind is _Kind.WORD:
            return folded(tokens[where].text)
        return ""

    if place >= len(tokens):
        return None
    token = tokens[place]
    if token.kind is _Kind.NUMBER:
        value = _value(token)
        if value is None:
            return _long(token.text), place + 1, token.ordinal
        if token.text.endswith("0") and "." in token.text and place:
            before = tokens[place - 1]
            if before.kind is _Kind.WORD and folded(before.text) not in vocabulary.FILLERS:
                return token.text, place + 1, False  # Python 3.10
        if len(token.text) > 1 and token.text[0] == "0" and token.text.isdecimal():
            return token.text, place + 1, False
        end = place + 1
        divided = _fraction(tokens, end)
        if divided is not None:
            (bottom, end), top = divided, value
            return (f"{top}/{bottom}" if not bottom else str(top / bottom)), end, False
        mixed = _fraction(tokens, end + 1) if not token.ordinal else None
        top_value = _value(tokens[end]) if end < len(tokens) else None
        if mixed is not None and top_value is not None and mixed[0] and top_value < mixed[0]:
            return _text(value + top_value / mixed[0]), mixed[1], False
        while (scale := vocabulary.SCALES.get(word(end))) and not token.ordinal:
            value, end = value * scale, end + 1
        return _text(value), end, token.ordinal
    first = word(place)
    if first == "a" and word(place + 1) in vocabulary.SCALES:
        place, first = place + 1, word(place + 1)
        return _words(word, place, Fraction(1))
    if first in vocabulary.SMALL or first in vocabulary.TENS or first in vocabulary.ORDINALS:
        return _words(word, place, None)
    return None


def _long(text: str) -> str:
    return text


def _fraction(tokens: Sequence[_Token], place: int) -> tuple[Fraction, int] | None:
    """Return what follows a stroke between digits, and where it ends."""
    if place + 1 < len(tokens):
        stroke, bottom = tokens[place], tokens[place + 1]
        if stroke.text == "slash" and stroke.kind is _Kind.SIGN and stroke.tight:
            value = _value(bottom)
            if value is not None:
                return value, place + 2
    return None


def _words(word, place: int, begun: Fraction | None) -> tuple[str, int, bool] | None:  # type: ignore[no-untyped-def]
    total, current = Fraction(0), begun
    least = 10**18  # what a part of the current hundred has to be smaller than
    while name := word(place):
        if name in vocabulary.SMALL and least > vocabulary.SMALL[name]:
            value = vocabulary.SMALL[name]
            if current is not None and least > 100:
                break
            current, least = (current or Fraction(0)) + value, 1
        elif name in vocabulary.TENS and (least > 10 or _is_century(current)):
            if current is not None and least <= 10:
                current = current * 100  # nineteen eighty-four
            current, least = (current or Fraction(0)) + vocabulary.TENS[name], 10
        elif name == "hundred" and current is not None and current < 100:
            current, least = current * 100, 100
        elif name in vocabulary.SCALES and current is not None and name != "hundred":
            total, current, least = total + current * vocabulary.SCALES[name], Fraction(0), 1000
        elif name in vocabulary.SCALES and begun is not None and current == begun:
            current, least = current * vocabulary.SCALES[name], 100
        elif name in vocabulary.ORDINALS:
            value = vocabulary.ORDINALS[name]
            if current == 1 and name in vocabulary.PARTS:
                return _text(Fraction(1, vocabulary.PARTS[name])), place + 1, False
            if current is not None and value >= least:
                break
            return _text(total + (current or 0) + value), place + 1, True
        elif name in vocabulary.ORDINAL_SCALES and current is not None:
            return _text(total + current * vocabulary.ORDINAL_SCALES[name]), place + 1, True
        elif name in vocabulary.PARTS and current:
            if total or current > 20:
                break
            return _text(current / vocabulary.PARTS[name]), place + 1, False
        elif name == "and" and current is not None and least in (100, 1000):
            following = word(place + 1)
            if not any(
                following in table
                for table in (vocabulary.SMALL, vocabulary.TENS, vocabulary.ORDINALS)
            ):
                break
        elif name == "and" and word(place + 1) == "a" and word(place + 2) == "half":
            return _text(total + (current or 0) + vocabulary.HALF), place + 3, False
        else:
            break
        place += 1
    return _text(total + (current or 0)), place, False


def _is_century(value: Fraction | None) -> bool:
    return value is not None and 10 <= value <= 20


# ------------------------------------------------------------------------------------ form


class _Reader:
    """Sorts the tokens of one answer into what has to be alike and the words that remain."""

    def __init__(self, tokens: list[_Token], *, fillers: bool) -> None:
        self.tokens = tokens
        self.small = [folded(t.text) if t.kind is _Kind.WORD else "" for t in tokens]
        self.fillers = fillers
        self.numbers: list[str] = []
        self.ordinals: list[str] = []  # of the part that is being read
        self.signs: list[str] = []
        self.qualifiers: list[str] = []
        self.dates: list[Date] = []
        self.letters: set[str] = set()
        self.negations = self.hedges = 0
        self.yes: bool | None = None
        self.listed = False
        self.items: list[list[tuple[str, list[str]]]] = [[("", [])]]

    def read(self) -> None:
        place = 0
        while place < len(self.tokens):
            token = self.tokens[place]
            match token.kind:
                case _Kind.NUMBER:
                    self.numbers.append(token.text)
                    if token.ordinal:
                        self.ordinals.append(token.text)
                    else:
                        self._add(token.text)
                case _Kind.DATE if token.date is not None:
                    self.dates.append(token.date)
                    self._add(DATE)
                case _Kind.COMMA:
                    self._item()
                case _Kind.MARK:
                    self._part("mark")
                case _Kind.SIGN:
                    self._sign(place)
                case _:
                    place = self._word(place)
                    continue
            place += 1
        self._close()

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
        elif len(self.items[-1]) > 1:
            self.items[-1][-1] = (after, [])

    def _item(self) -> None:
        self._close()
        if any(words for _, words in self.items[-1]):
            self.items.append([("", [])])

    def _kind(self, place: int) -> _Kind | None:
        return self.tokens[place].kind if 0 <= place < len(self.tokens) else None

    def _sign(self, place: int) -> None:
        token = self.tokens[place]
        before, after = self._kind(place - 1), self._kind(place + 1)
        match token.text:
            case "minus":
                self.signs.append("-")
            case "dash":
                numbers = before is _Kind.NUMBER and after is _Kind.NUMBER
                letters = (
                    before is _Kind.WORD
                    and after in (_Kind.WORD, _Kind.NUMBER)
                    and len(self.tokens[place - 1].text) == 1
                )
                if letters:
                    self.signs.append("-")
                elif not numbers:
                    self._part("mark")
            case "trailing":
                if before is _Kind.WORD and len(self.tokens[place - 1].text) <= 2:
                    self.signs.append("-")
            case "slash":
                words = before is _Kind.WORD and after is _Kind.WORD and token.tight
                if words:
                    long = min(len(self.tokens[place + i].text) for i in (-1, 1)) >= 4
                    self.hedges += long
                    if long:
                        self.listed = True
                        self._item()
                else:
                    self.signs.append("/")
            case sign:
                self.signs.append(sign)

    def _word(self, place: int) -> int:
        token, word = self.tokens[place], self.small[place]
        for length in (3, 2):
            sign = vocabulary.COMPARATORS.get(tuple(self.small[place : place + length]))
            if sign:
                self.signs.append(sign)
                return place + length
        after = self._kind(place + 1)
        if word in vocabulary.COMPARATORS_BEFORE_NUMBERS and after in (_Kind.NUMBER, _Kind.SIGN):
            self.signs.append(vocabulary.COMPARATORS_BEFORE_NUMBERS[word])
            return place + 1
        if word == "per" and self.small[place + 1 : place + 2] == ["cent"]:
            self.signs.append("%")
            return place + 2
        sign = vocabulary.SIGN_WORDS.get(word)
        measured = self._kind(place - 1) in (_Kind.NUMBER, _Kind.SIGN)
        if sign and measured:
            self.signs.append(sign)
            return place + 1
        if measured and word in vocabulary.UNITS:
            word = vocabulary.UNITS[word]
        self._sorted(place, token, word)
        return place + 1

    def _sorted(self, place: int, token: _Token, word: str) -> None:
        dated = self._kind(place - 1) in (_Kind.NUMBER, _Kind.DATE)
        dated |= self.small[place - 1] in ("century", "centuries") if place else False
        if word in vocabulary.ERAS and dated:
            self.signs.append("bc")
            return
        if word in vocabulary.PRESENT_ERAS and (dated or self._kind(place + 1) is _Kind.NUMBER):
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
        if word == "us" and token.text == "US" and not self._shouts:
            self._add("united")
            self._add("states")
            return
        word = word.replace("'", "")
        if place == 0 and word in ("yes", "no") and self._kind(1) is not _Kind.WORD:
            self.yes = word == "yes"
        if word in vocabulary.SAINTS and self._kind(place + 1) is _Kind.WORD:
            word = "saint"
        if word in vocabulary.HEDGES:
            self.hedges += 1
            self.listed = True
            self._item()
            return
        if word in vocabulary.CONJUNCTIONS:
            self._close()
            if self.items[-1][0][1] or len(self.items) > 1:
                self.listed = True
                self._item()
                return
        if word in vocabulary.NEGATIONS:
            self.negations += 1
        elif word and ord(word[0]) > 0xE00 and any(n in word for n in _INSIDE):
            self.negations += sum(word.count(n) for n in _INSIDE)
        if word in vocabulary.QUALIFIERS or (
            word == "great" and self._follows(place, "grand")
        ):
            self.qualifiers.append(word)
        if word in vocabulary.COPULAS and self.fillers:
            self._part("copula")
        elif word in vocabulary.FILLERS and self.fillers and not self._is_grade(place, token):
            return
        elif word in vocabulary.PREPOSITIONS:
            self._part("preposition")
        else:
            if word in vocabulary.PARTICLES:
                self._part("particle")
            elif len(word) == 1 and word.isalpha() and not token.ordinal:
                self.letters.add(word)
            self._add(word)

    @property
    def _shouts(self) -> bool:
        words = [t.text for t in self.tokens if t.kind is _Kind.WORD and len(t.text) > 2]
        return bool(words) and all(word.isupper() for word in words)

    def _follows(self, place: int, start: str) -> bool:
        return place + 1 < len(self.small) and self.small[place + 1].startswith(start)

    def _is_grade(self, place: int, token: _Token) -> bool:
        """Whether "a" is a letter: an A, vitamin A, A+, a < b."""
        if len(token.text) > 1:
            return False
        neither = {self._kind(place - 1), self._kind(place + 1)}
        if _Kind.SIGN in neither or self._kind(place + 1) is None:
            return True
        return place > 0 and token.text == "A" and not self._shouts

    def form(self, plain: str) -> Form:
        numbers = sorted(self.numbers)
        items = tuple(
            parts
            for item in self.items
            if (parts := tuple(Part(after, tuple(words)) for after, words in item if words))
        )
        negations = int(not self.yes) if self.yes is not None else self.negations
        if self.yes:
            negations = self.negations
        return Form(
            plain=plain,
            items=items,
            listed=self.listed,
            hard=Hard(
                tuple(numbers),
                tuple(sorted(self.signs)),
                negations,
                self.hedges,
                self.yes,
                tuple(sorted(self.qualifiers)),
            ),
            dates=tuple(self.dates),
            words=tuple(w for item in items for part in item for w in part.words),
            letters=frozenset(self.letters),
        )


DATE = "\0date"
_INSIDE = ("不", "没", "沒", "無", "无", "非", "未", "ない", "なかっ", "ません", "ไม่", "않")


def parse(text: str) -> Form:
    """Return the form of an answer.

    Examples
    --------
    >>> parse("Twenty-one guns").words
    ('21', 'guns')
    """
    clean = cleaned(text)
    plain = " ".join(folded(clean).split())
    tokens = list(_counted(_dated(list(_initials(list(_scan(clean)))))))
    reader = _Reader(tokens, fillers=True)
    reader.read()
    if not any(words for item in reader.items for _, words in item):
        reader = _Reader(tokens, fillers=False)  # nothing but fillers: then they are the answer
        reader.read()
    return reader.form(plain)


def words_of(forms: Iterable[Form]) -> Counter[str]:
    """Return how often each word stands in these answers."""
    return Counter(word for form in forms for word in form.words)
