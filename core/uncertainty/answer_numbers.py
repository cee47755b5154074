"""Dates and numbers of an answer, however they are written: what `answer_form` reads.

Number words, scales, fractions, Roman numerals and minus signs become one number each; a day, a
month and a year become a date.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction

from core.uncertainty import answer_words as vocabulary
from core.uncertainty.answer_tokens import MINUS, Date, Token, TokenKind, fold

LONGEST_NUMBER = 40  # digits; longer ones are compared as they are written
_THOUSANDS = re.compile(r"[1-9]\d{0,2}\.\d\d0")  # 1.000 is one, or a thousand elsewhere
LARGEST = 10**LONGEST_NUMBER  # "a million million million …" ends here


def _is_day(token: Token | None) -> bool:
    return (
        token is not None
        and token.kind is TokenKind.NUMBER
        and token.text.isdecimal()
        and 1 <= len(token.text) <= 2
        and 1 <= int(token.text) <= 31
    )


def _is_year(token: Token | None) -> bool:
    return (
        token is not None
        and token.kind is TokenKind.NUMBER
        and token.text.isdecimal()
        and len(token.text) == 4
        and not token.ordinal
    )


def read_dates(tokens: list[Token]) -> list[Token]:
    """Read days, months and years in words; a month that stands alone is one only by itself."""
    out: list[Token] = []
    place = 0

    def at(where: int) -> Token | None:
        return tokens[where] if 0 <= where < len(tokens) else None

    while place < len(tokens):
        token = tokens[place]
        month = vocabulary.MONTHS.get(fold(token.text)) if token.kind is TokenKind.WORD else None
        if month is None:
            out.append(token)
            place += 1
            continue
        day = year = None
        before = len(out)
        if out and fold(out[-1].text) == "of" and len(out) > 1:
            before -= 1
        if before and _is_day(out[before - 1]):
            day = int(out[before - 1].text)
            before -= 1
            if before and fold(out[before - 1].text) == "the":
                before -= 1
        else:
            before = len(out)
        after = place + 1
        follows = at(after)
        if follows and follows.kind is TokenKind.POINT:
            after += 1
        if day is None and _is_day(at(after)):
            day = int(tokens[after].text)
            after += 1
        comma = at(after)
        skip = 1 if comma and comma.kind is TokenKind.COMMA else 0
        if comma and fold(comma.text) in ("of", "in"):
            skip = 1
        if _is_year(at(after + skip)):
            year = int(tokens[after + skip].text)
            after += skip + 1
        if day is None and year is None and len(tokens) > 1:
            out.append(token)
            place += 1
            continue
        del out[before:]
        out.append(Token(TokenKind.DATE, "", False, Date(year, month, day)))
        place = after
    return out


_ROMAN = re.compile(r"M{0,3}(?:CM|CD|D?C{0,3})(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3})")
_ROMAN_VALUES = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100, "D": 500, "M": 1000}
_NO_ROMAN = frozenset(("MIX", "DIX", "CIV", "DIV", "LIV", "MCI", "CCC", "MMM"))


def _roman(tokens: Sequence[Token], place: int) -> int | None:
    """Return the value of a Roman numeral that follows a word: World War II, Elizabeth I."""
    token, before = tokens[place], tokens[place - 1] if place else None
    text = token.text.upper()
    if before is None or before.kind is not TokenKind.WORD or token.kind is not TokenKind.WORD:
        return None
    if len(text) > 15 or text in _NO_ROMAN or not _ROMAN.fullmatch(text):
        return None
    if token.ordinal or (token.text.istitle() and len(text) > 1):  # an initial; Xi, Li, Di
        return None
    if not set(text) <= set("IVX") and (len(text) < 3 or not token.text.isupper()):
        return None
    if len(text) == 1:
        after = tokens[place + 1] if place + 1 < len(tokens) else None
        around = {fold(before.text), fold(after.text) if after else ""}
        if text not in "IVX" or around & vocabulary.SPEAKING or len(before.text) < 2:
            return None
    values = [_ROMAN_VALUES[letter] for letter in text]
    return sum(
        -value if value < after else value
        for value, after in zip(values, [*values[1:], 0], strict=True)
    )


def _value(token: Token) -> Fraction | None:
    """Return the number that digits stand for; None of a word, a decade, a version."""
    if token.kind is not TokenKind.NUMBER or len(token.text) > LONGEST_NUMBER:
        return None
    try:
        return Fraction(token.text)
    except ValueError:
        return None


def read_numbers(tokens: Sequence[Token]) -> Iterator[Token]:
    """Read number words, scales, fractions, Roman numerals and minus signs as numbers."""
    place = 0
    last: Token | None = None
    while place < len(tokens):
        token = tokens[place]
        word = fold(token.text) if token.kind is TokenKind.WORD else ""
        read = _number_at(tokens, place)
        if read is not None:
            value, end, ordinal = read
            last = Token(TokenKind.NUMBER, value, token.tight, ordinal=ordinal)
        elif (word in ("minus", "negative") or token == MINUS) and (
            (read := _number_at(tokens, place + 1)) is not None
        ):
            value, end, _ = read
            is_operand = last is not None and last.kind is TokenKind.NUMBER
            if token == MINUS or not is_operand:
                last = Token(TokenKind.NUMBER, f"-{value}", ordinal=False)
            else:
                yield Token(TokenKind.SIGN, "-")
                last = Token(TokenKind.NUMBER, value)
        elif (roman := _roman(tokens, place)) is not None:
            last, end = Token(TokenKind.NUMBER, str(roman), ordinal=True), place + 1
        elif word in vocabulary.DECADES:
            last, end = Token(TokenKind.NUMBER, vocabulary.DECADES[word]), place + 1
        elif _is_numbered(tokens, place, word):
            place += 1  # No. 5
            continue
        else:
            last, end = token, place + 1
        yield last
        place = end


def _is_numbered(tokens: Sequence[Token], place: int, word: str) -> bool:
    """Whether a word is "number", as in No. 5; "no one" and "no two" deny."""
    if word not in ("no", "number", "nr") or _number_at(tokens, place + 1) is None:
        return False
    return word != "no" or tokens[place + 1].kind is TokenKind.NUMBER


def _number_at(tokens: Sequence[Token], place: int) -> tuple[str, int, bool] | None:
    """Return a number in digits or words, where it ends, and whether it is an ordinal."""

    def word(where: int) -> str:
        if 0 <= where < len(tokens) and tokens[where].kind is TokenKind.WORD:
            return fold(tokens[where].text)
        return ""

    if place >= len(tokens):
        return None
    token = tokens[place]
    if token.kind is TokenKind.NUMBER:
        value = _value(token)
        if value is None:
            return token.text, place + 1, token.ordinal
        if _THOUSANDS.fullmatch(token.text):
            return token.text, place + 1, False
        if token.text.endswith("0") and "." in token.text and place:
            before = tokens[place - 1]
            if before.kind is TokenKind.WORD and fold(before.text) not in vocabulary.FILLERS:
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
            return str(value + top_value / mixed[0]), mixed[1], False
        while (scale := vocabulary.SCALES.get(word(end))) and not token.ordinal:
            if value > LARGEST:
                break
            value, end = value * scale, end + 1
        return str(value), end, token.ordinal
    first = word(place)
    if first == "a" and word(place + 1) in vocabulary.SCALES:
        place, first = place + 1, word(place + 1)
        return _words(word, place, Fraction(1))
    if first in vocabulary.SMALL or first in vocabulary.TENS or first in vocabulary.ORDINALS:
        return _words(word, place, None)
    return None


def _fraction(tokens: Sequence[Token], place: int) -> tuple[Fraction, int] | None:
    """Return what follows a stroke between digits, and where it ends."""
    if place + 1 < len(tokens):
        stroke, bottom = tokens[place], tokens[place + 1]
        if stroke.text == "slash" and stroke.kind is TokenKind.SIGN and stroke.tight:
            value = _value(bottom)
            if value is not None:
                return value, place + 2
    return None


def _words(word: Callable[[int], str], place: int, begun: Fraction | None) -> tuple[str, int, bool]:
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
                return str(Fraction(1, vocabulary.PARTS[name])), place + 1, False
            if current is not None and value >= least:
                break
            return str(total + (current or 0) + value), place + 1, True
        elif name in vocabulary.ORDINAL_SCALES and current is not None:
            return str(total + current * vocabulary.ORDINAL_SCALES[name]), place + 1, True
        elif name in vocabulary.PARTS and current:
            if total or current > 20:
                break
            return str(current / vocabulary.PARTS[name]), place + 1, False
        elif name == "and" and current is not None and least in (100, 1000):
            following = word(place + 1)
            if not any(
                following in table
                for table in (vocabulary.SMALL, vocabulary.TENS, vocabulary.ORDINALS)
            ):
                break
        elif name == "and" and word(place + 1) == "a" and word(place + 2) == "half":
            return str(total + (current or 0) + vocabulary.HALF), place + 3, False
        else:
            break
        place += 1
    return str(total + (current or 0)), place, False


def _is_century(value: Fraction | None) -> bool:
    return value is not None and 10 <= value <= 20
