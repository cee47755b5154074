"""An answer cut into words, numbers, dates and signs: what `answer_form` reads.

Everything here takes time in proportion to the length of the text.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import NamedTuple

from core.uncertainty import answer_words as vocabulary
from core.uncertainty.accents import SELECTORS, without_accents, without_vowel_marks


class Date(NamedTuple):
    """A date, None for what is not said."""

    year: int | None
    month: int
    day: int | None

    def agrees(self, other: Date) -> bool:
        """Whether nothing is in conflict and something is shared."""
        pairs = [(a, b) for a, b in zip(self, other, strict=True) if None not in (a, b)]
        return bool(pairs) and all(a == b for a, b in pairs)


class TokenKind(StrEnum):
    """What a token is."""

    WORD = "word"
    NUMBER = "number"
    DATE = "date"
    SIGN = "sign"
    COMMA = "comma"
    MARK = "mark"  # ends a part
    POINT = "point"


class Token(NamedTuple):
    """A piece of an answer."""

    kind: TokenKind
    text: str  # a word with its letter case as written, a number in canonical form, a sign
    # Whether a letter or digit stands right before it; of a stroke, on both sides; of a point,
    # whether it ends a word.
    tight: bool = False
    date: Date | None = None
    ordinal: bool = False  # whether a number is an ordinal, or a word is made of initials


MINUS = Token(TokenKind.SIGN, "minus")


# Of a consonant by itself, a line or point above it is a sign: the mean of x.
_MARKED = re.compile(
    "(?<![\\w\u0300-\u036f])([b-df-hj-np-tv-xzB-DF-HJ-NP-TV-XZ])([\u0300-\u036f\u20d0-\u20ff])(?!\\w)"
)
_WORD = re.compile("[^\\W\\d_][\\w\u0300-\u036f]*")
_NO_ACCENTS = str.maketrans("йı", "иi")
_RAISED = re.compile("[⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻]+")
_PARTS_OF_ONE = re.compile("[¼½¾⅐-⅞↉]")
_SIGNS = str.maketrans(
    {"≤": "<=", "≥": ">=", "≦": "<=", "≧": ">=", "×": "*", "÷": "/", "⁄": "/", "∕": "/", "♯": "#"}
    | dict.fromkeys("‐‑‒–﹣", "-")
    | dict.fromkeys("’‘ʼ´`′", "'")
    | dict.fromkeys("—―…", " . ")
    | dict.fromkeys("・·•", " ")
    | {"_": " ", "\u2044": "/", "٪": "%", "؟": "?"}
)
_MEANT = frozenset("°♀♂♭‰‱♠♥♦♣♤♡♢♧✗✘❌☒🚫👎")  # of symbols; others adorn
_TAGS = re.compile(r"</?(?:b|i|u|em|strong|sub|sup|br|p|span|code|div|li|ul)\s*/?>", re.IGNORECASE)
_POWER_OF_TEN = re.compile(r"(?<=\d)[eE](?=[-+]?\d)")
# Symbols whose letter case decides: MW and mW, GB and Gb; not AM, or 1990s.
_SYMBOL = re.compile(
    r"(?<=[\d°])(?:(?!s\b)|\s)(?!(?:[kc]m|kg|am|pm|as|at|th|(?-i:a))\b)"
    r"((?:[yzafpnuµμmcdhkgte]|da)?"
    r"(?:[mgsaknjwcfvthlbp]|pa|ev|bit|bps|cal|hz|[wa]h|mol)(?:/s)?)(?![\w'])",
    re.IGNORECASE,
)
# What is compared as it stands: code, paths, functions of something, roots, primes.
_FORMULA = re.compile(
    r"[\\^=@\[\]{}√∛∜⌈⌉⌊⌋⟨⟩‖∏∑]|\w'*\(|\w_\w|\w\|\w|://|(?:^|\s)[.~]*/\w"
    r"|(?<![\w'])\w'+(?!\w|\s+\w)|(?<![\w*])(?:\d+|\w)!(?!\*)|(?<!\w)[a-z]\?|\|\w+\||\)\(|(?<!\w)[a-z]-\d"
    r"|(?:^|\s)-(?:[a-zA-Z]{1,2}\b|-[a-zA-Z])",
    re.ASCII,
)
_QUOTIENT, _STAR, _EMPHASIS = map(re.compile, (r"\w/\w", r"\w\*", r"\*\w"))
_SPACES_AROUND = re.compile(r" ?([^\w\s]) ?")
_HALF_DAY = re.compile(r"(?<![^\W\d_])(?<![^\W\d_]\.)([ap])\.? ?m(?!\w|\.\w)\.?", re.IGNORECASE)
_INCHES = re.compile(r"(?<=\d)\s?in\.(?=\s|$)")
_MONEY = re.compile(r"([$€£¥₹]\s?\d[\d,.]*)\s?(k|mm?|mn|mil|bn?|bil|tn?)(?!\w)", re.IGNORECASE)
_SCALES = {"k": "thousand", "m": "million", "b": "billion", "t": "trillion"}
# Without these in front, what stands behind a number is a prime, and ends no quotation.
_QUOTES = re.compile("(?<!\\w)[\"'“”„«]")
_WORDS_OF_TWO = ("no", "us", "uk", "eu", "ok", "tv")
_STROKE = "\u0338"  # through a sign: not


def normalise(text: str) -> str:
    """Return `text` as it is parsed: compatible characters, raised digits as powers."""
    if not text.isascii():
        text = _MARKED.sub(lambda m: f"{m[1]}^{ord(m[2])} ", unicodedata.normalize("NFD", text))
        text = unicodedata.normalize("NFC", text)
        text = _RAISED.sub(lambda m: "^" + unicodedata.normalize("NFKC", m[0]), text)
        text = _PARTS_OF_ONE.sub(lambda m: " " + unicodedata.normalize("NFKC", m[0]), text)
        text = unicodedata.normalize("NFKC", text)
        text = "".join(filter(None, map(_character, text)))
        text = without_vowel_marks(without_accents(text))
    text = _POWER_OF_TEN.sub("*10^", text.translate(_SIGNS))
    text = _INCHES.sub(" inches ", _HALF_DAY.sub(r" \1m ", text))
    text = _MONEY.sub(lambda m: f"{m[1]} {_SCALES[m[2][0].lower()]} ", text)
    return _TAGS.sub(" ", text).replace("US$", "$").strip()


def accents_of(text: str) -> frozenset[tuple[str, str]]:
    """Return words with accents, each behind its bare letters: dừa and dứa are two fruits.

    What capitals lose (ı) or people write in two ways (ş, ș; й, и) is no accent.
    """
    if text.isascii():
        return frozenset()
    small = unicodedata.normalize("NFKC", text).casefold().translate(_NO_ACCENTS)
    apart = unicodedata.normalize("NFD", small).replace("\u0327", "\u0326").replace("i\u0307", "i")
    pairs = ((without_accents(word), word) for word in _WORD.findall(apart))
    return frozenset((bare, word) for bare, word in pairs if bare != word)


def formula(text: str) -> str:
    """Return a normalised text as it stands, where its signs say more than its words, or "".

    Letter case, order and each sign decide in formulas and code; spaces do not.
    """
    is_formula = (
        _FORMULA.search(text)
        or (_QUOTIENT.search(text) and ("+" in text or "*" in text))  # a/b + c
        or (_STAR.search(text) and not _EMPHASIS.search(text))  # int*
        or any(unicodedata.category(c) == "Sm" for c in text if not c.isascii() and c not in "−±")
    )
    return _SPACES_AROUND.sub(r"\1", " ".join(text.split())) if is_formula else ""


def symbols(text: str) -> tuple[str, ...]:
    """Return the symbols of a normalised text in which letter case decides: CO is not Co."""
    if len(text) == 2 and text.isalpha() and text.isascii() and text.lower() not in _WORDS_OF_TWO:
        return ("upper" if text.isupper() else "",)
    return tuple(_SYMBOL.findall(text))


def _character(sign: str) -> str:
    if sign.isascii():
        return sign
    category = unicodedata.category(sign)
    if category == "Cf" or sign in SELECTORS:
        return ""
    if sign == _STROKE:
        return "¬"
    parts = unicodedata.decomposition(sign).split()
    if len(parts) == 2 and parts[1] == f"{ord(_STROKE):04X}":  # ≠, ≮, ∉
        return f"!{chr(int(parts[0], 16))}"
    return str(unicodedata.digit(sign)) if category == "Nd" else sign


def fold(word: str) -> str:
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
UNSPACED = re.compile(f"[{_UNSPACED}]")
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


def scan(text: str) -> Iterator[Token]:
    """Yield the tokens of a cleaned text."""
    primes = "'\"”" if not _QUOTES.search(text) else ""
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
                yield Token(TokenKind.WORD, part, tight)
            case "operator":
                yield from _operator(part, before, after)
            case "comma":
                yield Token(TokenKind.COMMA, part)
            case "point":
                yield Token(TokenKind.POINT, part, after.isspace() or end == len(text))
            case "mark":
                yield Token(TokenKind.MARK, part)
            case _:
                if unicodedata.category(part) in ("Sm", "Sc") or part in _MEANT:
                    yield Token(TokenKind.SIGN, part)
                elif part in primes and (before.isdigit() or before == part):
                    yield from [Token(TokenKind.SIGN, "'")] * (1 if part == "'" else 2)


def _number(digits: str, suffix: str, tight: bool) -> Token:
    small = suffix.lower().strip("'")
    bare = re.sub("[,' ]", "", digits)
    if small == "s":
        if len(bare) in (2, 4) and bare.isdecimal() and bare[-1] == "0":
            return Token(TokenKind.NUMBER, f"{bare}s", tight)
        return Token(TokenKind.NUMBER, canonical(bare), tight)
    return Token(TokenKind.NUMBER, canonical(bare), tight, ordinal=bool(small))


def canonical(digits: str) -> str:
    """Return digits with at most a point as one number is always written here."""
    if _GROUPS.fullmatch(digits):
        digits = digits.replace(".", "")
    if _VERSION.fullmatch(digits):
        return digits
    whole, _, rest = digits.partition(".")
    whole = whole.lstrip("0") or "0"
    # Trailing zeros are looked at later: "2.50" is 2.5, but Python 3.10 is not 3.1.
    return f"{whole}.{rest}" if rest else whole


def _written_date(part: str, how: str, tight: bool) -> Iterator[Token]:
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
        yield Token(TokenKind.DATE, part, tight, Date(year, month, day))
        return
    for place, number in enumerate(re.findall(r"\d+", part)):
        if place:
            yield Token(TokenKind.SIGN, "/")
        yield Token(TokenKind.NUMBER, canonical(number), tight and not place)


def _operator(run: str, before: str, after: str) -> Iterator[Token]:
    """Read signs by what stands around them: a hyphen, emphasis or "!" is no operator."""
    opens, closes = not before.isalnum(), not after.isalnum()
    run = run.replace("−", "-") if len(run) > 1 else run
    if set(run) == {"!", "*"}:  # "**Oslo!**"
        yield Token(TokenKind.MARK, run)
        return
    if set(run) == {"*"}:  # emphasis touches words on one side
        if (before.isspace() and after.isspace()) or not (opens or closes):
            yield Token(TokenKind.SIGN, run)
        return
    if run[0] == "!" and set(run) == {"!"}:
        if (after.isalnum() and opens) or unicodedata.category(after) == "Sm":
            yield Token(TokenKind.SIGN, "!")
        else:
            yield Token(TokenKind.MARK, run)
        return
    if run in ("-", "−"):
        if after.isdigit() or after == "." or unicodedata.category(after) == "Sc":  # -$5
            if not before.isalnum() and before not in ")]":
                yield Token(TokenKind.SIGN, "minus")
            elif run == "−":
                yield Token(TokenKind.SIGN, "-")
        elif before.isspace() and after.isspace():
            yield Token(TokenKind.SIGN, "dash")
        elif opens and after.isalpha():  # -x
            yield Token(TokenKind.SIGN, "-")
        elif before.isalnum() and not after.isalnum():
            yield Token(TokenKind.SIGN, "trailing")
        return
    if set(run) == {"-"}:
        closed = before.isalnum() and closes and not after.isspace()
        ends = before.isalnum() and after.isspace()
        yield (
            Token(TokenKind.SIGN, run)
            if closed or ends or (after.isalnum() and opens)
            else Token(TokenKind.MARK, run)
        )
        return
    if run == "&" and not (opens and after.isalnum()):
        yield Token(TokenKind.WORD, "and")
    elif run == "/":
        yield Token(TokenKind.SIGN, "slash", tight=not opens and not closes)
    elif not (
        run == "\\"
        or (run == "#" and (opens or after.isdigit()))  # #1, #news
        or (run in "~+" and opens and after.isdigit())  # ~5, +5
    ):
        yield Token(TokenKind.SIGN, run.rstrip("!"))


def initials(tokens: Sequence[Token]) -> Iterator[Token]:
    """Join single letters that follow each other, U.S.A. and J. R. R., and drop points."""
    place = 0
    while place < len(tokens):
        token = tokens[place]
        letters, end = "", place
        while end < len(tokens) and _is_letter(tokens[end]):
            dotted = end + 1 < len(tokens) and tokens[end + 1].kind is TokenKind.POINT
            if not (dotted or tokens[end].text.isupper()):
                break
            letters += tokens[end].text
            end += 1 + dotted
        if letters:
            joined = letters if len(letters) > 1 or tokens[end - 1].kind is TokenKind.POINT else ""
            yield Token(TokenKind.WORD, letters, token.tight, ordinal=bool(joined))
            place = end
            continue
        place += 1
        if token.kind is not TokenKind.POINT:
            yield token
        elif token.tight:
            last = tokens[place - 2] if place > 1 else None
            if not last or (len(last.text) > 3 and fold(last.text) not in vocabulary.ABBREVIATIONS):
                yield Token(TokenKind.MARK, ".")


def _is_letter(token: Token) -> bool:
    return token.kind is TokenKind.WORD and len(token.text) == 1 and token.text.isalpha()
