"""Which way a score points: whether a larger one means a surer answer, or more doubt.

A person says it, and the name of the column is a first guess. The labels are never asked, for
they certify what follows: turned to whichever side the labels like better, a score that knows
nothing breaks the promise up to twice as often as it may.
"""

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from core.codec import list_of, one_line
from core.data.tabular.columns import column_of
from core.data.tabular.label_words import heading_words
from core.data.tabular.pipelines import is_of_runs
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
#: What is never below 0 (a “negentropy” is a sureness), and what samples may put a little below.
_UNSIGNED = re.compile(r"(?<!neg)entropy|perplexity|nll|surprisal|varianc")
_MAY_SAMPLE_BELOW = re.compile(r"mutual ?information")
_ROUNDING = 1e-6
_LOGARITHM = re.compile(r"\blog|\bln\b|logp")
#: Words that leave a doubt or a sureness one of the answer. Any other may be what it is one of, or
#: turn it (“contradiction prob”, “flipped agreement”, “entropy rank”): then a person is asked.
_NEUTRAL = (
    r"a|an|answers?|average|avg|being|best|bits|by|calibrated|carlo|clusters?|completion|correct|"
    r"correctness|cumulative|discrete|elicited|epistemic|estimate|estimated|estimator|final|first|for|"
    r"generated|generation|gpt|greedy|how|in|inverse|is|kernel|language|length|level|likelihood|llm|"
    r"lm|ln|log|logit|logits|max|maximum|mean|median|min|minimum|minus|model|monte|nats|neg|"
    r"negated|negative|norm|normali[sz]ed|of|our|output|overall|p|pct|per|percent|predicted|"
    r"prediction|predictive|rate|rating|raw|reported|responses?|right|s|samples?|sampling|self|"
    r"semantic|seq|sequence|shannon|softmax|stated|sum|text|the|tokens?|top|total|true|value|verbal|"
    r"verbali[sz]ed|weighted|results?|metadata|meta|metrics|scores?|data|row|doc|item|"
    r"modell|modèle|modelo|antwort|réponse|respuesta|du|la|le|el"
)
_STEM = "\0"  # in the place of a doubt or a sureness
#: What may stand around one in a word: “logprob”, “uncertainty”, and not “hallucinationfree”.
_AROUND = re.compile(
    rf"({_NEUTRAL})?({_STEM}([^\W\d]{{1,3}}|ability|ties|heit|idumbre|ihood|ions|itude|ment|ness)?)*"
)
#: It compares numbers, or says what they mean: “1/perplexity”, “sure (1 = very, 5 = not)”.
_FORMULA = re.compile(r"[/*=^|<>−~!¬]|\s-\s|\(-|\d\s*-")
_NEGATIVE = re.compile(r"\bneg|\bminus|\binverse\b")
#: Turned by a part of the word, or by “in”, “un” written apart: “InConsistency”, “zweifellos”.
_TURNED_WORD = re.compile(r"(los|less|frei|free)\b|\binvarian|\b(in|un|non|dis) [^\W\d]")
_TURNED = re.compile(r"\s*(1\s*)?[-−]")  # −log p, 1 − confidence


class UnknownDirectionError(UploadError):
    """Scores of which nobody has said what a larger one means."""


def direction_of(heading: str) -> bool | None:
    """Return whether larger means surer, by a heading alone; None if it does not say.

    One that says both, such as “probability of an error”, does not say. Nor does one with a word
    that is not understood: “contradiction_prob”.
    """
    words, turned = heading_words(heading), _TURNED.match(heading)
    rest, doubts = _DOUBT.subn(_STEM, words)
    rest, sures = _SURE.subn(_STEM, rest)
    odd = [w for w in rest.split() if not (_AROUND.fullmatch(w) or any(map(str.isdigit, w)))]
    if bool(doubts) == bool(sures) or odd:
        return None
    if _FORMULA.search(heading, turned.end() if turned else 0) or _TURNED_WORD.search(words):
        return None
    return bool(sures) != bool(turned or _NEGATIVE.search(words))


def direction_in(upload: Upload, name: str) -> bool | None:
    """Return whether larger means surer in a column; None if its heading does not say.

    A toolkit calls −ln p a probability: one with a number outside 0 to 1 may be anything. So may
    an entropy below 0. The tables of runs hold doubts, also of probabilities; another's column of
    the same name is read by its words.
    """
    if name in SCORES and is_of_runs(upload):
        return False
    words, surer = heading_words(name), direction_of(name)
    if surer is None:
        return None
    if not _OF_SOMETHING.search(words):
        return None if _is_turned(column_of(upload, name).values, words, name, surer) else surer
    values = column_of(upload, name).values
    if _LOGARITHM.search(words):  # of a probability it is at most 0
        return None if ((values > 0) if surer else (values < 0)).any() else surer
    return None if ((values < 0) | (values > 1)).any() else surer


def _is_turned(values: NDArray[np.float64], words: str, name: str, surer: bool) -> bool:
    """Return whether the signs of a column show that it is not what its heading says."""
    if _MAY_SAMPLE_BELOW.search(words):
        return not surer and bool((values < -_ROUNDING).any() and not (values > 0).any())
    turned = _TURNED.match(name)
    if not _UNSIGNED.search(words) or _LOGARITHM.search(words) or (turned and turned[1]):
        return False
    if surer and "inverse" in words:
        values = -values
    return bool(((values > _ROUNDING) if surer else (values < -_ROUNDING)).any())


def is_of_probability(heading: str) -> bool:
    """Return whether a heading names a probability or a confidence, which lies between 0 and 1."""
    words = heading_words(heading)
    return bool(_OF_SOMETHING.search(words)) and not _LOGARITHM.search(words)


def check_directions(directions: Sequence[tuple[str, bool | None]]) -> dict[str, bool]:
    """Return whether larger means surer, by column, or raise `UnknownDirectionError`."""
    unknown = [f"“{one_line(name)}”" for name, surer in directions if surer is None]
    if unknown:
        raise UnknownDirectionError(
            f"Say whether a larger {list_of(unknown, 'or')} means a surer answer or more doubt: "
            "the heading does not tell, and the labels must not, because they certify the result."
        )
    return {name: bool(surer) for name, surer in directions}
