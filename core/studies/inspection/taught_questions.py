"""Was the model taught this? What is recognised of a question to the embedded model.

It was taught one world of questions, and makes up an answer to any other. A question that is
none of them in any wording is compared with them: where one is near, a person may have meant
it; where none is, no answer is served as if it were one.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from core.data.world import grading
from core.data.world.nearest import NEAR, Nearest, nearest, nearest_questions
from core.language_models.language_model import LanguageModel
from core.studies.inspection.certificates import SMOLLM2, certified_model
from core.studies.inspection.request import Request

WORLD_OF = "embedded"  # the one model that was taught this world, and nothing else


@dataclass(frozen=True)
class Offer:
    """A taught question, and how similar it is to what was asked, in [0, 1]."""

    question: str
    similarity: float
    lacks: tuple[str, ...] = ()  # words of what was asked on which the answer depends

    @property
    def distance(self) -> str:
        """How far it is, and what keeps it from being near for all that."""
        lacks = f", but lacks “{'”, “'.join(self.lacks)}”" if self.lacks else ""
        far, border = round(100 * (1 - self.similarity)), round(100 * (1 - NEAR))
        return f"{far + (far == border and self.similarity < NEAR)}% away{lacks}"


@dataclass(frozen=True)
class TaughtPosition:
    """Where a question stands to those that the model was taught."""

    recognised: bool  # whether it is one of them, in a wording of training and however it is typed
    near: bool = False  # whether the first of `offers` is likely to have been meant
    # Otherwise the taught questions that may have been meant, the likeliest first.
    offers: tuple[Offer, ...] = ()
    # And all that are about as near as the nearest, `offers` among them.
    nearest: tuple[Offer, ...] = ()

    @property
    def outside(self) -> bool:
        """Whether the model was taught neither this nor anything near it."""
        return not (self.recognised or self.near)


def taught_position(query: str, model: str) -> TaughtPosition | None:
    """Look a question up among those that `model` was taught; None where nobody knows those."""
    if model != WORLD_OF:
        return None
    if grading.find(query, taught=True) is not None:
        return TaughtPosition(recognised=True)
    matches = nearest_questions(query)
    plausible = [match for match in matches if match.is_plausible]
    # Half as near as another, it shares hardly a word: "a young whale" is no neighbour of a capital
    least = max((match.similarity for match in matches), default=0.0) / 2
    close = [match for match in matches if match.is_plausible or match.similarity >= least]
    return TaughtPosition(
        recognised=False,
        near=bool(plausible) and plausible[0].near,
        offers=tuple(map(_offer, plausible)),
        nearest=tuple(map(_offer, close)),
    )


def _offer(match: Nearest) -> Offer:
    return Offer(match.question, match.similarity, match.missing)


def taught_number(queries: Iterable[str], model: LanguageModel) -> int | None:
    """Return how many questions a model was taught; None where nobody knows those."""
    if model.name != WORLD_OF:
        return None
    return sum(grading.find(query, taught=True) is not None for query in queries)


def has_taught_words(model: LanguageModel) -> bool:
    """Say whether the wordings of the world are those in which a model answers best."""
    return model.name == WORLD_OF or certified_model(model.revision) == SMOLLM2


def in_taught_words(request: Request, model: LanguageModel) -> Request:
    """Return the request for the taught question that is meant, where one surely is.

    The embedded model knows its questions in taught wordings, and what is certified of SmolLM2
    was measured on these. What was typed stays in `Request.typed`.
    """
    if request.front or not has_taught_words(model):
        return request
    if model.name == WORLD_OF and grading.find(request.query, taught=True) is not None:
        return request
    match = nearest(request.query)
    if match is None or not match.is_meant or match.question == request.query:
        return request
    return replace(request, query=match.question, typed=request.query)
