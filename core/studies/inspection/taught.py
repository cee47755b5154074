"""Was the model taught this? What is recognised of a question to the embedded model.

It was taught one world of questions, and makes up an answer to any other. A question that is
none of them in any wording is compared with them: where one is near, a person may have meant
it; where none is, no answer is served as if it were one.
"""

from __future__ import annotations

from dataclasses import dataclass

from core.data.world import grading
from core.data.world.nearest import nearest

WORLD_OF = "embedded"  # the one model that was taught this world, and nothing else


@dataclass(frozen=True)
class Taught:
    """Where a question stands to those that the model was taught.

    Attributes
    ----------
    recognised : bool
        Whether it is one of them, in a wording of training and however it is typed.
    question : str or None
        Otherwise the nearest of them; None where nothing is in common with any.
    similarity : float or None
        Of that question, in [0, 1].
    near : bool
        Whether that one is likely to have been meant.
    offered : bool
        Whether it may have been.
    """

    recognised: bool
    question: str | None = None
    similarity: float | None = None
    near: bool = False
    offered: bool = False

    @property
    def outside(self) -> bool:
        """Whether the model was taught neither this nor anything near it."""
        return not (self.recognised or self.near)

    @property
    def sentence(self) -> str | None:
        """What is to be said to whoever asked; None where the question is recognised."""
        if self.recognised:
            return None
        if self.near:
            return "The model was not taught these words, so its answer may be made up."
        return (
            "It makes up its answers to questions that it was not taught, and nobody here can "
            "check them."
        )

    @property
    def did_you_mean(self) -> str | None:
        """Ask whether the nearest question was meant; None where none may have been."""
        if not self.offered or self.similarity is None:
            return None
        return f"Did you mean: {self.question} (similarity {self.similarity:.2f})"


def look_up(query: str, model: str) -> Taught | None:
    """Look a question up among those that `model` was taught; None where nobody knows those."""
    if model != WORLD_OF:
        return None
    if grading.find(query, taught=True) is not None:
        return Taught(recognised=True)
    match = nearest(query)
    if match is None:
        return Taught(recognised=False)
    return Taught(False, match.question, match.similarity, match.near, match.is_plausible)
