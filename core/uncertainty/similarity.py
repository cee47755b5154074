"""How alike two answers are, from 0 (nothing in common) to 1 (the same).

The paper compares answers by token F1 (Section 6, "Comparison of responses") and calls two
of them the same from 0.25 on. Ours, `same_answer`, minds numbers, signs, negations and names.
The RapidFuzz ratios compare characters instead of words.
"""

import re
import string
from collections import Counter
from collections.abc import Sequence
from itertools import chain

import numpy as np
from numpy.typing import ArrayLike
from rapidfuzz import fuzz, process
from scipy.sparse import csr_array  # type: ignore[import-untyped, unused-ignore]

from core.uncertainty import validation
from core.uncertainty.same_answer import pairwise_same
from core.uncertainty.validation import Floats

#: Part of what a score was made with: another number where texts are told from answers, answers
#: from each other or their scores computed otherwise, since no threshold holds across that.
ANSWER_RULE = 4

SAME_ANSWER, TOKEN_F1 = "same_answer", "token_f1"
#: What answers are compared by where nobody chooses.
DEFAULT = SAME_ANSWER

#: Every similarity that is computed from the texts, by name, in plain words.
SIMILARITIES: dict[str, str] = {
    "same_answer": "The same numbers, signs, negations and dates, and one text names the other.",
    "token_f1": "Words in common, as in the paper; a, an, the and punctuation do not count.",
    "ratio": "Characters in common, in the same order.",
    "partial_ratio": "Characters in common with the best matching part of the longer text.",
    "token_sort_ratio": "Characters in common after the words are put in alphabetical order.",
    "token_set_ratio": "Characters in common among the distinct words; repeats do not count.",
    "WRatio": "RapidFuzz’s own weighted mixture of the ratios above.",
}

#: Told by the model that is asked about; its matrix is given, and not computed here.
JUDGE = "judge"

#: Every similarity that one may choose, by name, in plain words; forms begin with the first.
COMPARISONS: dict[str, str] = {
    DEFAULT: SIMILARITIES[DEFAULT],
    **SIMILARITIES,
    JUDGE: "The model itself compares the answers: 1 means surely the same, 0 surely not.",
}

#: The paper's τ; and of a probability, that two answers rather mean the same than not.
USUAL_THRESHOLD, USUAL_THRESHOLD_OF_JUDGE = 0.25, 0.5
#: Of a model of meaning: to embeddings, a third of what differs is more alike than .5.
USUAL_THRESHOLD_OF_MEANING = 0.8


def usual_threshold(method: str) -> float:
    """Return the threshold τ to begin with: by a rule, or by a model."""
    if method in SIMILARITIES:
        return USUAL_THRESHOLD
    return USUAL_THRESHOLD_OF_JUDGE if method == JUDGE else USUAL_THRESHOLD_OF_MEANING


BY_CHARACTERS = {name: getattr(fuzz, name) for name in SIMILARITIES if hasattr(fuzz, name)}
# The typographic quotes and the acute accent are in TriviaQA's own list, too.
_PUNCTUATION = string.punctuation + "‘’´"
_PUNCTUATION_TO_SPACES = str.maketrans(_PUNCTUATION, " " * len(_PUNCTUATION))
_ARTICLES = re.compile(r"\b(a|an|the)\b")


def normalise(text: str) -> str:
    """Return `text` as TriviaQA's official evaluation compares it.

    Lower case; underscore, ASCII punctuation and ‘ ’ ´ become spaces (SQuAD deletes them instead,
    so that "Stratford-upon-Avon" would be one word); the whole words a, an and the are dropped;
    white space collapses. The result may be empty: "The The" is.

    >>> normalise("The  Stratford-upon-Avon!")
    'stratford upon avon'
    """
    spaced = text.lower().translate(_PUNCTUATION_TO_SPACES)
    return " ".join(_ARTICLES.sub(" ", spaced).split())


def tokens(text: str) -> list[str]:
    """Return the words of `text` after :func:`normalise`, at least one.

    A text that normalises to nothing is its own and only token: so it matches itself, and
    nothing else, for no word of any other text can look like it.
    """
    return normalise(text).split() or [text]


def token_f1(a: str, b: str) -> float:
    """Return the token F1 of two texts in either order, in [0, 1] (Section 6 of the paper).

    2 · overlap / (words of `a` + words of `b`), where a repeated word counts as often as it stands
    in both. A text always matches itself. Exactly in this form: the equal 2pr / (p + r) rounds
    thrice, and drops pairs that stand at the paper's threshold of 0.25 below it.

    >>> token_f1("London", "London, UK")
    0.6666666666666666
    """
    tokens_a, tokens_b = tokens(a), tokens(b)
    overlap = (Counter(tokens_a) & Counter(tokens_b)).total()
    return 2 * overlap / (len(tokens_a) + len(tokens_b))


def pairwise(responses: Sequence[str], method: str = DEFAULT) -> Floats:
    """Compare every response with every other: symmetric, (n, n), in [0, 1], equal texts 1.

    `method` is a key of `SIMILARITIES`. By token F1, each entry is :func:`token_f1` of its pair to
    the last bit. The ratios compare the texts as they stand, letter case and punctuation included.

    Raises `ValueError` if there are no responses, one is no text, or the method is unknown.
    """
    texts = validation.texts(responses, "responses")
    if method not in SIMILARITIES:
        raise ValueError(f"Unknown similarity {method!r}: choose one of {', '.join(SIMILARITIES)}.")
    if method == SAME_ANSWER:
        return pairwise_same(texts)
    return _token_f1_matrix(texts) if method == TOKEN_F1 else _ratio_matrix(texts, method)


def reorder(responses: Sequence[str], texts: Sequence[str], similarity_matrix: ArrayLike) -> Floats:
    """Return a matrix of the similarities of distinct `texts` in the order of the responses.

    Raises `ValueError` if the matrix does not fit the texts, or lacks a response.
    """
    matrix = validation.numbers(similarity_matrix, "similarity_matrix", dimensions=2)
    validation.shape(matrix, (len(texts), len(texts)), "similarity_matrix")
    places = {text: place for place, text in enumerate(texts)}
    missing = [text for text in responses if text not in places]
    if missing:
        raise ValueError(f"The similarity matrix lacks {missing[0]!r}: compare every response.")
    order = [places[text] for text in responses]
    return matrix[np.ix_(order, order)]


def _token_f1_matrix(texts: tuple[str, ...]) -> Floats:
    # The second "york" of a text is a feature of its own, ("york", 1). Then texts are plain
    # sets, and the multiset overlap of all pairs is one sparse product of 0-1 matrices.
    rows = [_number(tokens(text)) for text in texts]
    columns: dict[tuple[str, int], int] = {}
    indices = [columns.setdefault(feature, len(columns)) for feature in chain(*rows)]
    lengths = np.array([len(row) for row in rows])

    ends = np.concatenate([[0], np.cumsum(lengths)])
    members = csr_array(
        (np.ones(len(indices)), indices, ends), shape=(len(texts), len(columns)), dtype=np.float64
    )
    overlap = (members @ members.T).toarray()
    return np.asarray(2 * overlap / (lengths[:, None] + lengths[None, :]))


def _number(words: list[str]) -> list[tuple[str, int]]:
    """Pair each word with how often it has come before: a, b, a -> (a, 0), (b, 0), (a, 1)."""
    seen: Counter[str] = Counter()
    numbered = []
    for word in words:
        numbered.append((word, seen[word]))
        seen[word] += 1
    return numbered


def _ratio_matrix(texts: tuple[str, ...], method: str) -> Floats:
    scorer = BY_CHARACTERS[method]
    scores = np.asarray(process.cdist(texts, texts, scorer=scorer, dtype=np.float64)) / 100
    # Some ratios give two empty texts 0, but a text always matches itself.
    numbers = {text: number for number, text in enumerate(dict.fromkeys(texts))}
    codes = np.array([numbers[text] for text in texts])
    return np.where(codes[:, None] == codes[None, :], 1.0, scores)
