"""What words of labels mean, and which of them need their heading for it.

"correct" and "FAIL" judge by themselves, if the heading is about the model's answer. "1" and "yes"
only affirm what the heading says: under "is_hallucination" they mean wrong, and under "label"
nobody knows what.
"""

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
_AFFIRMED = frozenset({"1", "1.0", "1.00", "true", "t", "yes", "y"}) | {
    *("ja", "wahr", "oui", "vrai", "sí", "sì", "si", "verdadero", "vero")
}
_DENIED = frozenset({"0", "0.0", "0.00", "false", "f", "no", "n"}) | {
    *("nein", "falsch", "non", "faux", "falso")
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
    r"\bfall(os?\b|id)|unsupported|unfaithful|ungrounded|unfactual|\brefus|unzutreffend|"
    r"\b(un|non|mis)(correct|korrekt|richtig|accura|right)"
)
_PASSED = re.compile(r"pass(?:ed|es)?|success(?:ful|fully)?")
#: A whole word: “successor” and “previewcorrect” are none.
_RIGHTNESS = re.compile(
    r"(is|was)?(answer|response|prediction)?(is)?(correct|right)|correct(ly|ness)|accura(te|tely|cy)|"
    r"rightness|acc|factual(ly|ity)?|supported|"
    rf"{_PASSED.pattern}|(exact|quasi)match|matches|em|"
    r"richtig(e|er|es|keit)?|korrekt(e|er|es|heit)?|zutreffend|bestanden|stimmt|"
    r"correcte?s?|correctement|exactitude|juste|correct[oa]|correctamente|acertad[oa]|acierto|"
    r"верно|правильно"
)
#: Words beside one that leave it a judgement of the answer. Any other may be what is right instead
#: (format, retrieval), or who gave another answer (human, baseline): then a person is asked.
_PLAIN = re.compile(
    r"is|was|are|it|the|a|an|of|by|as|in|for|models?|modell|modèle|modelo|llm|lm|ai|gpt|"
    r"answers?|answered|responses?|outputs?|completions?|predictions?|generations?|generated|"
    r"antwort(en)?|réponses?|reponses?|respuestas?|est|ist|war|es|la|le|die|der|das|el|"
    r"final|strict|flexible|greedy|overall|norm|normali[sz]ed|quasi|raw|direct|"
    r"labels?|labell?ed|judges?|judged|judge?ment|grades?|graded|grading|grader|auto|automatic|"
    r"scores?|scorer|evals?|evaluations?|evaluated|evaluator|metrics?|results?|verdict|"
    r"value|flag|bool|binary|rating|meta|metadata|data|row|doc|sample|item|attributes|[0-9]+"
)
_PLAIN_OF_WRONG = re.compile(r"has|have|contains?|contained|detect(s|ed|ion)?|any|hat|enthält")
#: With the filters of the evaluation harness.
_EXACT = re.compile(r"\bexact match( strict match| flexible extract)?\b")
_NEGATION = re.compile(
    r"\b(not|no|non|without|free|nicht|kein\w*|ohne|sans|pas|sin|partial\w*|partly|teil\w*|halb\w*|"
    r"almost|nearly|maybe|probably|possibly|should|would|unknown|abst\w*)\b|frei\b"
)
#: The right answer itself, or how many are right: no judgement of an answer.
_NO_JUDGEMENT = re.compile(
    r"(correct|right|richtige?|correcte?|correcta)\w* (answer|option|choice|response|label|target|"
    r"value|index|letter|antwort|réponse|reponse|respuesta)|\b(num|number|n|count) |"
    r"\bsupported models?\b"
)
#: In front of a word, or behind it, these turn it: “inCorrect”, “unhallucinated”, “fehlerfrei”.
_TURNED = re.compile(
    r"\b(un|non|no|anti)(hall?u|halluzin|alucin|mistak|fehler|fals|wrong|err|fail)|"
    r"(hall?u\w*|halluzin\w*|mistake|error|fehler|fail)-?(los|frei\w*|free|less|safe|proof)|"
    r"\b(in|un|non|mis|im|ir|il|dis) [^\W\d]"
)
#: Signs that compute or compare, and what a number says of the word beside it: “acc_5”.
_FORMULA = re.compile(r"[=!~^<>¬|]|\b[01]\s*[-−]|[-−]\s*[01]\b")
_NUMBERED = re.compile(r"\bis 0\b|^[01] |\b(acc|accuracy|pass|em|top|hits?) ([02-9]|[1-9]\d+)\b")
#: Judges of anything, as of a format or a latency: the heading has to leave it at the answer.
_OF_ANY_TEST = frozenset({"c", "i", "pass", "passed", "fail", "failed"}) | {
    *("supported", "unsupported", "factual", "bestanden", "durchgefallen")
}
#: What the heading of labels begins with that says who made them, also in a file that comes back.
GRADED_BY = "graded by "
_OF_ANSWERS = re.compile(
    r"annotat(ion|or)s?|human|expert|reviewer|status|outcome|quality|truth(ful|fulness)?|"
    r"match|includes|pattern|exact|qa|fact|math|f1|"  # scorers of Inspect
    r"assessment|bewertung|beurteilung|auswertung|urteil|ergebnis|note|résultat|évaluation|"
    r"resultado|evaluación|оценка|"
    r"faithful(ness)?|grounded(ness)?|check(ed)?|mark(ed)?|[a-z]"
)
#: Of several answers one is right, and nobody knows which: “pass@10”.
_OF_SEVERAL = re.compile(r"@\s*(?!1\b)[0-9]")
#: Whoever did not refuse, ran into no error, or keeps to a text has not therefore answered right.
_ONE_SIDED = re.compile(r"\berrors?\b|\brefus|unsupported|unfaithful|ungrounded")


def heading_words(heading: str) -> str:
    """Return the words of a heading, without case, a space between: “isRight” is “is right”."""
    return " ".join(re.findall(r"[^\W_]+", _CAMEL.sub(" ", heading[:LONGEST_HEADING]).casefold()))


def _words(heading: str) -> str:
    return _EXACT.sub("exactmatch", heading_words(heading))


def affirmation_is_right(heading: str) -> bool | None:
    """Return whether "1" and "yes" under a heading mean right; None if it does not say."""
    words = _words(heading)
    if any(each.search(words) for each in (_NO_JUDGEMENT, _NEGATION, _TURNED, _NUMBERED)):
        return None
    if _OF_SEVERAL.search(heading) or _FORMULA.search(heading):
        return None
    wrong = {word for word in words.split() if _WRONGNESS.search(word)}
    rest = [word for word in words.split() if word not in wrong]
    right = {word for word in rest if _RIGHTNESS.fullmatch(word)}
    if bool(wrong) == bool(right):
        return None
    others = (word for word in rest if word not in right)
    plain = (_PLAIN.fullmatch(w) or (wrong and _PLAIN_OF_WRONG.fullmatch(w)) for w in others)
    return bool(right) if all(plain) else None


def leaves_rightness_open(heading: str) -> bool:
    """Return whether a heading names a rightness among words that leave open whose it is."""
    return affirmation_is_right(heading) is None and any(
        map(_RIGHTNESS.fullmatch, heading_words(heading).split())
    )


def says_nothing_else(heading: str) -> bool:
    """Return whether a heading names rightness alone: not “success”, of any test."""
    return all(
        (_RIGHTNESS.fullmatch(word) and not _PASSED.fullmatch(word))
        or word in ("is", "was", "answer")
        for word in _words(heading).split()
    )


def is_judgement(word: str, heading: str, others: frozenset[str]) -> bool:
    """Return whether a word means right or wrong whatever its heading affirms.

    “PASS” does not under “format_check”, which names another test than that of an answer. The word
    is one of `RIGHT` or `WRONG`, `others` those of its column.
    """
    if word in _OF_ANY_TEST and not _is_of_answers(heading):
        return False
    return word in _JUDGED_RIGHT | _JUDGED_WRONG or _PAIRS.get(word, "") in others


def _is_of_answers(heading: str) -> bool:
    """Return whether no word of a heading names what else than an answer is judged."""
    if heading.casefold().startswith(GRADED_BY):
        return True
    kinds = (_PLAIN, _PLAIN_OF_WRONG, _RIGHTNESS, _OF_ANSWERS)
    return all(
        any(kind.fullmatch(word) for kind in kinds) or _WRONGNESS.search(word)
        for word in _words(heading).split()
    )


def rightness_of(word: str, heading: str, others: frozenset[str]) -> bool | None:
    """Return whether one of `RIGHT` or `WRONG` means right beside `others` of its column.

    None where nobody knows, as of “correct” under “spelling”.
    """
    if is_judgement(word, heading, others):
        return word in RIGHT if _is_of_answers(heading) else None
    meaning = None if word in _JUDGED_RIGHT | _JUDGED_WRONG else affirmation_is_right(heading)
    if meaning is None or (word in WRONG and _ONE_SIDED.search(heading_words(heading))):
        return None
    return (word in RIGHT) == meaning
