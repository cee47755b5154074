"""Which pairs of answers a model is asked to compare, and the matrix of what it said.

A pair is asked about if one of its texts is a first answer. Two texts that came second alone are
compared by rule (`same_answer`): there can be so many of them that nobody would pay for every
pair. So are two texts about which the model said nothing; and texts of the same words need no
question.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from core.uncertainty.similarity import pairwise


def compare(
    texts: Sequence[str],
    firsts: int,
    old_texts: Sequence[str] = (),
    old_firsts: int = 0,
    old_matrix: NDArray[np.float64] | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return how alike texts are as far as that is known, and which pairs must be asked about.

    The first is symmetric, (n, n), in [0, 1]; by `same_answer` where nothing else is known. The
    second, (n, n), has each pair that nobody has asked about once, above the diagonal. Texts are
    distinct; the first `firsts` of them are first answers. The old ones are of another recording,
    with the matrix of what the model said there.
    """
    matrix = pairwise(texts)
    places = np.arange(len(texts))
    is_pair = (np.minimum.outer(places, places) < firsts) & (matrix < 1)
    missing = np.triu(is_pair, 1)
    if old_matrix is not None:
        before = {text: place for place, text in enumerate(old_texts)}
        old = np.array([before.get(text, -1) for text in texts])
        lesser = np.minimum.outer(old, old)
        rows, columns = np.nonzero(is_pair & (lesser >= 0) & (lesser < old_firsts))
        matrix[rows, columns] = old_matrix[old[rows], old[columns]]
        missing[rows, columns] = False
    return matrix, missing
