"""Which rows of a table hold no answer: what a model said there is nothing, a refusal or an error.

A policy answers none of them, so that a refusal which its label calls right is no right answer.
"""

import re
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from core.codec import one_line
from core.data.tabular.columns import column_of, columns_named
from core.data.tabular.headings import plain_heading
from core.data.tabular.uploads import Upload

#: Of what a model says: “answer”, “llm_response”, “output.content”; not of what is right.
_ANSWER = re.compile(
    r"(?!.*(gold|right|correct|tru(e|th)|best|expected|reference|ideal|possible|target|label))"
    r".*(answer|response|prediction|completion|output|generation|"
    r"antwort|réponse|reponse|respuesta|risposta|resposta|ответ|回答|答案)"
    r"(\.(value|content|text|completion))?"
)

NO_ANSWER = (
    "No row with a number in “{}” has an answer, but a refusal, an error or nothing. Leave out the "
    "columns of answers if they say something else."
)


def silent_rows(upload: Upload, score: str) -> dict[str, NDArray[np.bool_]]:
    """Return which rows hold no answer, (n,), by column of answers.

    A score's own answers count alone; else those in any column, for of several one is served.
    """
    own = columns_named(upload, [plain_heading(f"{score}_answer")])
    names = own or [name for name in upload.headings if _ANSWER.fullmatch(plain_heading(name))]
    return {name: column_of(upload, name).silent for name in names if name != score}


def right_refusals(
    upload: Upload, roles: tuple[str, str], rows: NDArray[np.int64], right: NDArray[np.bool_]
) -> Iterator[tuple[str, NDArray[np.bool_]]]:
    """Yield what is said of refusals that count as right, and which rows they are, (n,).

    A policy answers none, so they must not be among the right answers that speak for it. Wrong ones
    stay, and speak against it.

    `roles`: the score and its labels. `right`: whether each of the `rows` used is.
    """
    score, label = roles
    for name, silent in silent_rows(upload, score).items():
        refused = np.zeros(len(silent), bool)
        refused[rows] = silent[rows] & right
        if name != label:
            what = f"“{one_line(name)}” holds no answer, though “{one_line(label)}” calls it right"
            yield what, refused
