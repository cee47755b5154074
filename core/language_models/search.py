"""The likeliest whole answers of a language model, found by a search over its tokens.

Drawing shows an answer as often as it is likely, so most draws repeat what is known already.
The search goes through all beginnings of answers at once, a token at a time, and leaves those
that are less likely than enough whole answers: an answer is no likelier than its beginning.
"""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from core.language_models.language_model import MAX_RESPONSE_TOKENS

LEAST_WIDTH = 32  # beginnings that go on at a time, at least; twice the answers wanted, if more

Floats = NDArray[np.floating]
Integers = NDArray[np.int64]


def likeliest(
    opening: Floats,
    extend: Callable[[Integers, Integers], Floats],
    *,
    count: int,
    limit: int = MAX_RESPONSE_TOKENS,
    ends: Sequence[int] | Integers,
    is_stop: Callable[[Integers], NDArray[np.bool_]],
    text_of: Callable[[list[int]], str],
) -> list[tuple[str, float]]:
    """Return the `count` likeliest distinct answers, the likeliest first; fewer if it finds fewer.

    They are exactly these unless so many beginnings are as likely that some had to be left. Each
    has ln Q of the tokens by which it was found, nats.

    `opening`, (V,): ln p of the first token, nats.
    `extend`: given which of the present beginnings go on, (n,), and the token that each goes on
    with, (n,): ln p of the token after that, (n, V). The new ones are then the present.
    `limit`: most tokens of an answer.
    `ends`: the tokens that end an answer, and that its likelihood includes.
    `is_stop`: says of tokens, (n,), which end an answer, too, but stand for no whole one.
    `text_of`: the text of an answer's tokens; of answers that read alike, the likelier counts.
    """
    width = max(LEAST_WIDTH, 2 * count)
    answers: dict[str, float] = {}
    beginnings: list[list[int]] = [[]]
    total = np.array(opening, float)[None, :]  # (n, V): ln Q of every beginning and a token
    for length in range(limit + 1):
        ended = np.logaddexp.reduce(total[:, ends], axis=1)
        for beginning, value in zip(beginnings, ended.tolist(), strict=True):
            if text := text_of(beginning):  # nothing at all is no answer
                answers[text] = max(value, answers.get(text, -np.inf))
        total[:, ends] = -np.inf
        least = sorted(answers.values())[-count] if len(answers) >= count else -np.inf
        rows, tokens = _best(total, width, least, is_stop)
        if not len(rows) or length == limit:
            break
        beginnings = [[*beginnings[i], t] for i, t in zip(rows, tokens.tolist(), strict=True)]
        total = total[rows, tokens][:, None] + extend(rows, tokens)
    return sorted(answers.items(), key=lambda pair: -pair[1])[:count]


def _best(
    total: Floats, width: int, least: float, is_stop: Callable[[Integers], NDArray[np.bool_]]
) -> tuple[Integers, Integers]:
    """Return the rows and columns of the largest values above `least`, at most `width`."""
    looked_at = min(2 * width, total.size)  # stops are among them
    places = np.argpartition(total, total.size - looked_at, axis=None)[-looked_at:]
    places = places[np.argsort(-total.ravel()[places], kind="stable")]
    rows, tokens = np.divmod(places[total.ravel()[places] > least], total.shape[1])
    going_on = np.flatnonzero(~is_stop(tokens))[:width]
    return rows[going_on], tokens[going_on]
