"""What words of labels mean, and which of them need their heading for it.

"correct" and "FAIL" judge an answer by themselves. "1" and "yes" only affirm what the heading
says: under "is_hallucination" they mean wrong, and under "label" nobody knows what.
"""

from __future__ import annotations

import re

LONGEST_HEADING = 200  # characters that are compared

# Only words that mean one thing in every language they occur in: of others, such as "x" or "w",
# the person is asked what they mean.
_JUDGED_RIGHT = frozenset({"c", "correct", "right", "richtig", "✓", "✔", "✅"}) | {
    *("pass", "passed", "accurate", "factual", "supported", "korrekt", "zutreffend", "bestanden"),
    *("correcte", "correcto", "correcta", "верно", "правильно"),
}
_JUDGED_WRONG = frozenset({"i", "incorrect", "wrong", "✗", "✘", "❌"}) | {
    *("fail", "failed", "inaccurate", "unsupported", "hallucinated", "inkorrekt", "unzutreffend"),
    *("durchgefallen", "incorrecte", "incorrecto", "incorrecta", "неверно", "неправильно"),
}
_AFFIRMED = frozenset({"1", "1.0", "true", "t", "yes", "y"}) | {
    *("ja", "wahr", "oui", "vrai", "sí", "sì", "si", "verdadero", "vero"),
}
_DENIED = frozenset({"0", "0.0", "false", "f", "no", "n"}) | {
    *("nein", "falsch", "non", "faux", "falso"),
}
RIGHT, WRONG = _JUDGED_RIGHT | _AFFIRMED, _JUDGED_WRONG | _DENIED
#: Judges where the other one stands in the same column, and denies elsewhere (wahr, falsch).
_PAIRS = {"falsch": "richtig"}

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
# Of a heading as words with one space between them. A wrongness is looked for first: “incorrect”
# holds “correct”.
_WRONGNESS = re.compile(
    r"hall?u[sc]in|halluzin|alucina|incorrect|inkorrekt|inexact|inaccura|wrong|mistake|"
    r"\berrors?\b|\berreurs?\b|\bfehler|\bfals(e|ch|o|a)|\bfaux\b|\bfausse|\bfail|échec|echec|"
    r"\bfall(o|id)|unsupported|unfaithful|ungrounded|unfactual|\brefus|unzutreffend|"
    r"\b(un|non|mis)(correct|korrekt|richtig|accura|right)"
)
_RIGHTNESS = re.compile(
    r"correct(?!ed|ion)|\b(is)?right\b|accura|\bacc\b|\bfactual|\bfaithful|\bgrounded|\bsupported|"
    r"\bpass(ed|es)?\b|\bsuccess|\bexact ?match|\bem\b|richtig|\bkorrekt|\bzutreffend|\bstimmt|"
    r"\bjuste\b|\bacert|\bacierto|верно|правильно"
)
_NEGATION = re.compile(
    r"\b(not|no|non|without|free|nicht|kein\w*|ohne|sans|pas|sin|partial\w*|partly|teil\w*|halb\w*|"
    r"almost|nearly|maybe|probably|possibly|should|would|unknown|abst\w*)\b|frei\b"
)
#: What may be right beside the answer, or who may have given another one.
_SOMETHING_ELSE = re.compile(
    r"\b(format\w*|json|schema|syntax|gramma\w*|spelling|pars\w*|retriev\w*|citation\w*|contexts?|"
    r"tools?|api|http|request|call|language(?! model)|baseline|human|random|previous\w*|before|"
    r"predicted|claimed|expected|other|ear|id|counts?)\b"
)
#: The right answer itself, or how many are right: no judgement of an answer.
_NO_JUDGEMENT = re.compile(
    r"(correct|right|richtige?|correcte?|correcta)\w* (answer|option|choice|response|label|target|"
    r"value|index|letter|antwort|réponse|reponse|respuesta)|\b(num|number|n|count) "
)
#: Whoever did not refuse, or ran into no error, has not therefore answered right.
_ONE_SIDED = re.compile(r"\berrors?\b|\brefus")


def heading_words(heading: str) -> str:
    """Return the words of a heading, without case, a space between: “isRight” is “is right”."""
    split = _CAMEL.sub(" ", heading[:LONGEST_HEADING])
    return " ".join(re.findall(r"[^\W_]+", split.casefold()))


def affirmation_is_right(heading: str) -> bool | None:
    """Return whether "1" and "yes" under a heading mean right; None if it does not say."""
    words = heading_words(heading)
    wrong = _WRONGNESS.search(words)
    right = _RIGHTNESS.search(_WRONGNESS.sub(" ", words))
    if bool(wrong) == bool(right) or _NO_JUDGEMENT.search(words):
        return None
    if _NEGATION.search(words) or (right and _SOMETHING_ELSE.search(words)):
        return None
    return bool(right)


def is_judgement(word: str, others: frozenset[str]) -> bool:
    """Return whether a word means right or wrong whatever its heading says.

    Parameters
    ----------
    word : str
        One of `RIGHT` or `WRONG`.
    others : frozenset of str
        The words of its column.
    """
    return word in _JUDGED_RIGHT | _JUDGED_WRONG or _PAIRS.get(word, "") in others


def rightness_of(word: str, heading: str, others: frozenset[str]) -> bool | None:
    """Return whether a word under a heading means right; None if they do not say.

    Parameters
    ----------
    word : str
        One of `RIGHT` or `WRONG`.
    others : frozenset of str
        The words of the column.
    """
    if is_judgement(word, others):
        return word in RIGHT
    meaning = affirmation_is_right(heading)
    if meaning is None or (word in WRONG and _ONE_SIDED.search(heading_words(heading))):
        return None
    return (word in RIGHT) == meaning
