"""The normal form of a question: what is left when it does not matter how it was typed."""

import re
import string
import unicodedata

from core.uncertainty.accents import SELECTORS, without_accents

# And neither "is 1 < 2 and 3 > 2" nor "<New> France".
_MARKUP = re.compile(
    r"<(?:/?(?:a|b|big|blockquote|body|br|code|div|em|font|h[1-6]|hr|html|i|img|li|mark|ol|p|pre"
    r"|q|s|script|small|span|strong|style|sub|sup|svg|table|td|tr|u|ul)\b|!--)[^<>\n]{0,80}>",
    re.IGNORECASE,
)
# Before a digit or behind it these count: "the square root of -144", "8%", "19.84".
_COUNTING = re.compile(
    r"(?<!\w)[-‒–—−➖⁻₋+±√∛∜~](?=\s?\d|\w)|[×÷*^<>$€£+](?=\s?\d)|(?<=\d)(?:[%!°²³^]|[.,/](?=\d))|≠|¬"
)
_APOSTROPHES = "'’‘ʼ´`"
_SIGNS = string.punctuation.translate(str.maketrans(dict.fromkeys(_APOSTROPHES, None)))
_TO_PLAIN = str.maketrans(
    dict.fromkeys((*_SIGNS, *map(chr, range(32)), "\x7f"), " ")
    | dict.fromkeys(_APOSTROPHES, "")
    | {"&": " and "}
)


def normal_form(question: str) -> str:
    """Return the words of a question in small letters: no signs, accents, markup or emoji.

    People type capitals, quotes, full-width letters and smileys, and mean the same question.
    The world recognises its questions so, and the embedded model reads every question so, in
    training and when it is asked. A question that consists of signs alone stays as it is.

    >>> normal_form("  WHO wrote “Les Misérables”?? 🤔")
    'who wrote les miserables'
    """
    if question.isascii():  # most are: nothing is unseen, has accents or is left
        bare = _MARKUP.sub(" ", question).casefold().translate(_TO_PLAIN)
        return " ".join(bare.split()) or question
    seen = "".join(c for c in question if not _is_unseen(c)).replace("´", "'")
    text = _MARKUP.sub(" ", unicodedata.normalize("NFKC", seen))
    text = without_accents(text).casefold().translate(_TO_PLAIN)
    # Marks belong to the letters of many scripts; other signs end a word.
    marks = {c for c in text if unicodedata.category(c).startswith("M")}
    text = "".join(c if c.isalnum() or c in marks else " " for c in text)
    return " ".join(unicodedata.normalize("NFC", text).split()) or question


def counting_signs(question: str) -> list[str]:
    """Return the signs of a question that `normal_form` drops though its answer may hang on them.

    >>> counting_signs("What is -2.5 times 8%?")
    ['-', '.', '%']
    """
    return _COUNTING.findall(question)


def _is_unseen(sign: str) -> bool:
    """Whether a character only says how others are to be shown, or where a word may break."""
    return not sign.isascii() and (unicodedata.category(sign) == "Cf" or sign in SELECTORS)
