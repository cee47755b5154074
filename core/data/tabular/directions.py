"""Which way a score points: whether a larger one means a surer answer, or more doubt.

A person says it, and the name of the column is a first guess. The labels are never asked, for
they certify what follows: turned to whichever side the labels like better, a score that knows
nothing breaks the promise up to twice as often as it may.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from core.codec import list_of, one_line
from core.data.tabular.columns import column_of
from core.data.tabular.label_words import heading_words
from core.data.tabular.uploads import Upload, UploadError
from core.uncertainty.scores import SCORES

# Of a heading as words with one space between them. A doubt is looked for first: “uncertain”
# holds “certain”.
_DOUBT = re.compile(
    r"uncertain|unsure|doubt|disagree|inconsisten|unlikel|entropy|perplexity|nll|surprisal|"
    r"varianc|mutual ?information|hallucinat|error|wrong|incorrect|\bfalse|\brisk|"
    r"unsicher|zweifel|incert|incierto|\bdoute|\bduda"
)
_SURE = re.compile(
    r"[ck]onfiden|confian[cz]|certain|\bsure|prob(?![le])|\bp ?true|likel|log ?p\b|agree|consisten"
)
#: Of these, one has to know what is probable: the answer, or that it contradicts.
_OF_SOMETHING = re.compile(r"[ck]onfiden|confian[cz]|certain|prob(?![le])|\bp ?true|likel")
_LOGARITHM = re.compile(r"\blog|\bln\b|logp")
#: Words beside a probability that leave it one of the answer.
_NEUTRAL = re.compile(
    r"a|an|answer|answers|average|avg|being|best|by|calibrated|completion|correct|"
    r"correctness|elicited|estimate|estimated|final|first|for|generated|generation|gpt|"
    r"greedy|how|in|inverse|is|length|level|likelihood|llm|lm|ln|log|logit|logits|max|"
    r"maximum|mean|median|min|minimum|minus|model|neg|negative|norm|normalised|normalized|"
    r"of|our|output|overall|p|pct|per|percent|predicted|prediction|probabilities|rating|"
    r"raw|reported|response|right|s|score|self|seq|sequence|softmax|stated|sum|text|the|"
    r"token|tokens|top|total|true|value|verbal|verbalised|verbalized|"
    r"result|results|metadata|meta|metrics|scores|data|row|doc|sample"
)
#: A comparison with the right answer, which a new question does not bring: a person is asked.
_OF_THE_TRUTH = re.compile(
    r"\b(references?|gold|ground ?truth|target|expected|referenz|référence)\b"
)
_NEGATIVE = re.compile(r"\bneg|\bminus\b|\binverse\b")
#: The lack or the loss of a confidence, or of a doubt: a person is asked.
_LACK = re.compile(
    r"\b(un|in|des|dis|non|anti|mis|miss)[ck]onfi|\bimprob|[ck]onfi\w*(verlust|mangel|lücke|abfall)|"
    r"\b(no|not|without|ohne|sans|sin|free|reduction|gain|decrease)\b|frei(heit)?\b|doubtless|undoubt"
)
_TURNED = re.compile(r"\s*(1\s*)?[-−]")  # −log p, 1 − confidence


class UnknownDirectionError(UploadError):
    """Scores of which nobody has said what a larger one means."""


def direction_of(heading: str) -> bool | None:
    """Return whether larger means surer, by a heading alone; None if it does not say.

    One that says both, such as “probability of an error”, does not say. Nor does a probability of
    something else: “contradiction_prob”.
    """
    if heading in SCORES:
        return False  # what this app exports are doubts, also of probabilities
    words = heading_words(heading)
    doubt, rest = _DOUBT.search(words), _DOUBT.sub(" ", words)
    sure = _SURE.search(rest)
    if bool(doubt) == bool(sure) or _OF_THE_TRUTH.search(words) or _LACK.search(words):
        return None
    if _OF_SOMETHING.search(rest) and not all(map(_is_neutral, rest.split())):
        return None
    turned = _NEGATIVE.search(words) or _TURNED.match(heading)
    return bool(sure) != bool(turned)


def direction_in(upload: Upload, name: str) -> bool | None:
    """Return whether larger means surer in a column; None if its heading does not say.

    A toolkit calls −ln p a probability: one with a number outside 0 to 1 may be anything.
    """
    words, surer = heading_words(name), direction_of(name)
    if name in SCORES or surer is None or not _OF_SOMETHING.search(words):
        return surer
    values = column_of(upload, name).values
    if _LOGARITHM.search(words):  # of a probability it is at most 0
        return None if ((values > 0) if surer else (values < 0)).any() else surer
    return None if ((values < 0) | (values > 1)).any() else surer


def is_of_probability(heading: str) -> bool:
    """Return whether a heading names a probability or a confidence, which lies between 0 and 1."""
    words = heading_words(heading)
    return bool(_OF_SOMETHING.search(words)) and not _LOGARITHM.search(words)


def _is_neutral(word: str) -> bool:
    return bool(_NEUTRAL.fullmatch(word)) or bool(_SURE.search(word)) or any(map(str.isdigit, word))


def check_directions(directions: Sequence[tuple[str, bool | None]]) -> dict[str, bool]:
    """Return whether larger means surer, by score column.

    Raises `UnknownDirectionError` when nobody has said it of a column.
    """
    unknown = [f"“{one_line(name)}”" for name, surer in directions if surer is None]
    if unknown:
        raise UnknownDirectionError(
            f"Say whether a larger {list_of(unknown, 'or')} means a surer answer or more doubt: "
            "the heading does not tell, and the labels must not, because they certify the result."
        )
    return {name: bool(surer) for name, surer in directions}
