"""A model judges predictions: whether each means the same as one of its references.

It is asked what Inspection asks of two answers (`core.prompts.same_meaning`), once for each of the
first references of a row. What is written alike needs no judge.

A small model says “True” to whatever it is asked. So it is first asked about references of
different rows, which are different answers, and does not judge if it calls too many the same.
"""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from core.data.datasets.predictions import Predictions
from core.data.world.grading import matches, matches_by_f1
from core.language_models.client.concurrency import at_once
from core.language_models.errors import ModelError
from core.language_models.language_model import LanguageModel
from core.language_models.true_false import question, sameness

MOST_NAMES = 3  # references of a row that are asked about
STEP = 32  # questions between two reports of progress
CONTROLS = 20  # pairs of references that are different answers
MOST_CONFUSED = 0.2  # the largest share of them that a judge may call the same
SURE = 0.5  # above this probability of “True” a prediction is right


def judge_prompts(rows: Predictions) -> list[list[str]]:
    """Return what a model is asked about each row, (n,); nothing where the answer is plain."""
    prompts: list[list[str]] = []
    for query, text, names in zip(rows.queries, rows.texts, rows.names, strict=True):
        if not text or not names or _is_written_alike(text, names):
            prompts.append([])
        else:
            prompts.append([question(query, text, name) for name in names[:MOST_NAMES]])
    return prompts


def control_prompts(rows: Predictions) -> list[str]:
    """Return what a model has to deny: that references of different rows mean the same."""
    order = np.random.default_rng(0).permutation(len(rows.names)).tolist()
    order = [at for at in order if rows.names[at]]
    prompts: dict[str, None] = {}
    for this, other in pairwise([*order, *order[:1]]):
        right, (wrong, *_) = rows.names[this] or ("",), rows.names[other] or ("",)
        if not matches(wrong, right) and not matches_by_f1(wrong, right):
            prompts.setdefault(question(rows.queries[this], right[0], wrong))
        if len(prompts) == CONTROLS:
            break
    return list(prompts)


def judge_predictions(
    rows: Predictions, model: LanguageModel, report: Callable[[float], object] = lambda _: None
) -> NDArray[np.float64]:
    """Return what a model says of every prediction, (n,): 1 right, 0 wrong, NaN if it says neither.

    Raises `ModelError` when it calls too many different answers the same, or there are too few to
    find that out.
    """
    _check_judge(rows, model)
    asks = judge_prompts(rows)
    prompts = list(dict.fromkeys(prompt for each in asks for prompt in each))
    sure: dict[str, float] = {}
    for start in range(0, len(prompts), STEP):
        report(start / len(prompts))
        part = prompts[start : start + STEP]
        sure |= zip(part, _sameness(model, part).tolist(), strict=True)
    labels = np.full(len(asks), np.nan)
    for place, (text, names, each) in enumerate(zip(rows.texts, rows.names, asks, strict=True)):
        if each:
            says = np.array([sure[prompt] for prompt in each])
            if (says > SURE).any():
                labels[place] = 1.0
            elif not np.isnan(says).any():
                labels[place] = 0.0
        elif names is not None:
            labels[place] = float(bool(text) and _is_written_alike(text, names))
    return labels


def _check_judge(rows: Predictions, model: LanguageModel) -> None:
    prompts = control_prompts(rows)
    if len(prompts) < CONTROLS:
        raise ModelError(
            f"To find out whether the model can judge takes {CONTROLS} pairs of references that "
            f"are different answers, and there are {len(prompts)}. Grade in another way."
        )
    confused = int((_sameness(model, prompts) > SURE).sum())
    if confused > MOST_CONFUSED * CONTROLS:
        raise ModelError(
            f"{model.name} cannot judge: of {CONTROLS} pairs of different right answers it calls "
            f"{confused} the same. Choose another model, or another way to grade."
        )


def _sameness(model: LanguageModel, prompts: Sequence[str]) -> NDArray[np.float64]:
    """Return how sure a model is; a service that scores no text is asked several at once."""
    if model.capabilities.local or model.capabilities.scores_given_text:
        return sameness(model, prompts)
    return np.concatenate(at_once([partial(sameness, model, [each]) for each in prompts]))


def _is_written_alike(text: str, names: tuple[str, ...]) -> bool:
    return text.casefold() in (name.casefold() for name in names)
