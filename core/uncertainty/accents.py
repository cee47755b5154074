"""Letters without their accents, as people type them."""

import re
import unicodedata

# What turns a sign into a picture, or a digit into a key: not seen by itself.
SELECTORS = {*map(chr, range(0xFE00, 0xFE10)), *map(chr, range(0xE0100, 0xE01F0)), "\u20e3"}
_ACCENT = re.compile("[\u0300-\u036f]")
# Vowel marks that Arabic and Hebrew are mostly written without, and the stroke that stretches.
_VOWELS = re.compile("[\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0640\u064b-\u065f\u0670]")
# Letters that are written apart from their accent nowhere in Unicode.
_LETTERS = str.maketrans(
    {"ø": "o", "Ø": "O", "ł": "l", "Ł": "L", "đ": "d", "Đ": "D", "ı": "i"}
    | {"æ": "ae", "Æ": "Ae", "œ": "oe", "Œ": "Oe"}
)


def without_accents(text: str) -> str:
    """Return `text` with the bare letters for accented Latin, Greek and Cyrillic ones.

    >>> without_accents("Dvořák, Tromsø")
    'Dvorak, Tromso'
    """
    if text.isascii():
        return text
    bare = _ACCENT.sub("", unicodedata.normalize("NFD", text))
    return unicodedata.normalize("NFC", bare).translate(_LETTERS)


def without_vowel_marks(text: str) -> str:
    """Return `text` without harakat, tatweel and niqqud; vowel signs of Indic scripts stay.

    >>> without_vowel_marks("مُحَمَّد") == "محمد"
    True
    """
    return text if text.isascii() else _VOWELS.sub("", text)
