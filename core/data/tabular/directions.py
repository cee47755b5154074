"""Which way a score points: whether a larger one means a surer answer, or more doubt.

A person says it, and the name of the column is a first guess. The labels are never asked, for
they certify what follows: turned to whichever side the labels like better, a score that knows
nothing breaks the promise up to twice as often as it may.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from core.codec import list_of, one_line
from core.data.tabular.columns import LONGEST_HEADING
from core.data.tabular.uploads import UploadError
from core.uncertainty.scores import SCORES

# Of a heading as words with one space between them. A doubt is looked for first: “uncertain”
# holds “certain”.
_DOUBT = re.compile(
    r"uncertain|unsure|doubt|disagree|inconsisten|unlikel|entropy|perplexity|nll|surprisal|"
    r"varianc|mutual ?information|hallucinat|error|wrong|incorrect|\bfalse|\brisk"
)
_SURE = re.compile(r"confiden|certain|\bsure|prob(?![le])|\bp ?true|likel|log ?p\b|agree|consisten")
_NEGATIVE = re.compile(r"\bneg|\bminus\b|\binverse\b")
_TURNED = re.compile(r"\s*(1\s*)?[-−]")  # −log p, 1 − confidence


class UnknownDirectionError(UploadError):
    """Scores of which nobody has said what a larger one means."""


def direction_of(heading: str) -> bool | None:
    """Return whether larger means surer, by a heading alone; None if it does not say.

    One that says both, such as “probability of an error”, does not say.
    """
    if heading in SCORES:
        return False  # what this app exports are doubts, also of probabilities
    words = " ".join(re.findall(r"[^\W_]+", heading[:LONGEST_HEADING].casefold()))
    doubt, sure = _DOUBT.search(words), _SURE.search(_DOUBT.sub(" ", words))
    if bool(doubt) == bool(sure):
        return None
    turned = _NEGATIVE.search(words) or _TURNED.match(heading)
    return bool(sure) != bool(turned)


def check_directions(directions: Sequence[tuple[str, bool | None]]) -> dict[str, bool]:
    """Return whether larger means surer, by score column.

    Raises
    ------
    UnknownDirectionError
        When nobody has said it of a column.
    """
    unknown = [f"“{one_line(name)}”" for name, surer in directions if surer is None]
    if unknown:
        raise UnknownDirectionError(
            f"Say whether a larger {list_of(unknown, 'or')} means a surer answer or more doubt: "
            "the heading does not tell, and the labels must not, because they certify the result."
        )
    return {name: bool(surer) for name, surer in directions}
