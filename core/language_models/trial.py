"""Finding the form in which a model wants to be asked, by asking.

A handful of questions that language models can answer is put to it in one form after the other.
The first form suits in which it answers as an answer is wanted: short, to its end, and with a
fair share of the probability on what it says. Whether it is right is not asked.

A service is paid for each question, so the probability is not asked of it, and its usual form
does unless the answers are none.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial

from core import prompts
from core.codec import one_line
from core.language_models.base import LanguageModel
from core.language_models.client.concurrency import AT_ONCE, at_once
from core.language_models.errors import ModelError, PromptTooLongError
from core.language_models.forms import Form, too_small

QUESTIONS = (
    "What is the capital of France?",
    "How many days are there in a week?",
    "What colour is the sky on a clear day?",
    "Who wrote the play Romeo and Juliet?",
    "In which country is Tokyo?",
)
FEWEST = 4  # of the answers must be as an answer is wanted
LONGEST = 40  # characters
LEAST_PROBABILITY = 0.1  # of an answer, on geometric average


@dataclass(frozen=True)
class Tried:
    """What a model answered to one question of the trial."""

    question: str
    answer: str
    complete: bool  # whether the answer came to its end
    probability: float | None  # of the answer, in [0, 1]; None where the model does not say

    @property
    def is_answer(self) -> bool:
        """Whether it is complete, not empty, and short."""
        return self.complete and 0 < len(self.answer) <= LONGEST


@dataclass(frozen=True)
class Trial:
    """What a model answered to all of them in one form."""

    form: Form
    tried: tuple[Tried, ...]
    least: float = LEAST_PROBABILITY  # how probable the answers must be on geometric average

    @property
    def share(self) -> float | None:
        """The probability of its answers on geometric average; None where it does not say."""
        probabilities = [one.probability for one in self.tried if one.probability is not None]
        if not probabilities:
            return None
        return math.exp(sum(math.log(max(p, 1e-12)) for p in probabilities) / len(probabilities))

    @property
    def suits(self) -> bool:
        """Whether the model can be asked in this form."""
        share = self.share
        likely = share is None or share >= self.least
        return likely and sum(one.is_answer for one in self.tried) >= FEWEST

    @property
    def sentence(self) -> str:
        """What came of it, for a person."""
        answers = "; ".join(one_line(one.answer, LONGEST) or "nothing" for one in self.tried)
        share = "" if self.share is None else f", with a probability of {self.share:.0%} on average"
        quality = "short and likely" if self.least else "short and whole"
        suits = "" if self.suits else f" It does not suit: they should be {quality}."
        return f"To {len(self.tried)} simple questions it said: {answers}{share}.{suits}"


def try_form(model: LanguageModel, *, to_the_end: bool = True) -> Trial:
    """Put the questions to a model in the form in which it is asked.

    A model that cannot be stopped by a form writes until it is cut off, so unless `to_the_end`
    one on this machine is asked no more when its form cannot suit any more.

    Raises
    ------
    PromptTooLongError
        When not even these questions fit into its context.
    """
    try:
        return _try_all(model, to_the_end)
    except PromptTooLongError as error:
        raise too_small(model.name, model.form) from error


def _try_all(model: LanguageModel, to_the_end: bool) -> Trial:
    if not model.capabilities.local:
        calls = [partial(_try, model, question) for question in QUESTIONS]
        return Trial(model.form, tuple(at_once(calls, workers=AT_ONCE)), 0.0)
    tried: list[Tried] = []
    for question in QUESTIONS:
        tried.append(_try(model, question))
        if not to_the_end and sum(not one.is_answer for one in tried) > len(QUESTIONS) - FEWEST:
            break
    return Trial(model.form, tuple(tried))


def _try(model: LanguageModel, question: str) -> Tried:
    prompt = prompts.iterative(question)
    answer = model.sample(prompt, 1, temperature=0.0)[0]
    value, able = answer.log_likelihood, model.capabilities
    if able.local and able.scores_given_text and answer.text:
        value = float(model.log_likelihoods([prompt], [answer.text])[0, 0])
    return Tried(question, answer.text, answer.complete, None if value is None else math.exp(value))


InItsForm = tuple[LanguageModel, tuple[Trial, ...]]


def in_its_form(model: LanguageModel, wish: Form | None = None) -> InItsForm:
    """Return a model as it is to be asked, and the trials that were made.

    Parameters
    ----------
    wish : Form, optional
        By default the first that suits. A model with no choice of forms is not tried.

    Raises
    ------
    ModelError
        When the model cannot be asked in the form that is wanted, or no form suits it; the
        sentence says what it answered. Forms that do not fit into its context are passed over.
    """
    if wish is not None:
        formed = model.in_form(wish)
        return formed, (try_form(formed),) if model.forms else ()
    trials: list[Trial] = []
    too_long: list[PromptTooLongError] = []
    for form in model.forms:
        try:
            formed = model.in_form(form)
            trials.append(try_form(formed, to_the_end=False))
        except PromptTooLongError as error:
            too_long.append(error)
            continue
        if trials[-1].suits:
            return formed, tuple(trials)
    if trials:
        raise ModelError(_unsuitable(model, trials))
    if too_long:
        raise too_long[0]
    return model, ()


def _unsuitable(model: LanguageModel, trials: list[Trial]) -> str:
    answers = "; ".join(
        f"{trial.form}: “{one_line(trial.tried[0].answer, LONGEST) or 'nothing'}”"
        for trial in trials
    )
    return (
        f"{model.name} gives no short, whole answers, however it is asked. To “{QUESTIONS[0]}” it "
        f"said ({answers}). Choose another model, or a form yourself."
    )
