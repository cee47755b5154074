"""Ask a model many questions, some at the same time, in the order they were given."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from core.language_models.client.concurrency import questions_at_once, stream
from core.language_models.errors import ModelError
from core.language_models.language_model import LanguageModel
from core.studies.inspection.request import InvalidRequestError
from core.studies.progress import Progress

A = TypeVar("A")
T = TypeVar("T")

Seldom = Callable[[], None]


def of_each(
    model: LanguageModel, items: Sequence[A], work: Callable[[A, Seldom], T], progress: Progress
) -> list[T]:
    """Return what `work` makes of every item, in their order, asking the model.

    It is given an item, and a function to call between two requests, which raises when nobody wants
    the result any more: `progress` may raise, see
    :func:`core.language_models.client.concurrency.stream`.

    Raises `InvalidRequestError` when there is no item.
    """
    if not items:
        raise InvalidRequestError("There is no question. Give at least one.")
    results: dict[int, T] = {}

    def say() -> None:
        progress(f"{len(results)} of {len(items)} questions done", len(results) / len(items))

    def one(place: int, go_on: Seldom) -> tuple[int, T]:
        with model.beside():
            return place, work(items[place], go_on)

    for place, result in stream(
        range(len(items)), one, workers=questions_at_once(model.capabilities), tick=say
    ):
        results[place] = result
    say()
    return [results[place] for place in range(len(items))]


def must_score(model: LanguageModel) -> None:
    """Refuse a model that does not say how likely given, whole answers are."""
    able = model.capabilities
    if not (able.scores_given_text and able.whole_answers):
        raise ModelError(
            f"{model.name} does not score given, whole answers, so its distribution cannot be "
            "compared with anything. Choose a model that does, such as the embedded one."
        )
