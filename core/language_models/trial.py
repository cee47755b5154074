"""Finding the form in which a model wants to be asked, by asking.

A handful of questions that language models can answer is put to it in every form. A form suits in
which it answers as an answer is wanted: short, to its end, not with an answer of the examples, and
with a fair share of the probability on what it says. Of those that suit, the one with the largest
share is taken: the answers seen are then most of what the model has to say. Whether it is right is
not asked. That is found out once for the same weights, if there is a place to keep it; the trial of
SmolLM2 ships (`python -m benchmarks.forms --trial`).

A service is paid for each question, so the probability is not asked of it, and the first of its
forms is taken in which it answers.
"""

import hashlib
import json
import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Final

from core import prompts
from core.codec import one_line
from core.language_models.client.concurrency import AT_ONCE, at_once
from core.language_models.errors import ModelError, PromptTooLongError
from core.language_models.forms import EXAMPLES, Form, in_front, too_small
from core.language_models.language_model import LanguageModel, Memory

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
COPIES = {text.casefold() for example in EXAMPLES for text in (*example.earlier, example.answer)}
SHIPPED: Final = Path(__file__).with_name("trials.json")  # by their names in a `Memory`
AMPLE = 0.8  # on geometric average: no other form could have much more, and none is tried


@dataclass(frozen=True)
class TrialAnswer:
    """What a model answered to one question of the trial."""

    question: str
    answer: str
    complete: bool  # whether the answer came to its end
    probability: float | None  # of the answer, in [0, 1]; None where the model does not say

    @property
    def is_answer(self) -> bool:
        """Whether it is complete, not empty, short, and not one of the examples’."""
        is_copy = self.answer.casefold() in COPIES
        return self.complete and 0 < len(self.answer) <= LONGEST and not is_copy


@dataclass(frozen=True)
class Trial:
    """What a model answered to all of them in one form."""

    form: Form
    tried: tuple[TrialAnswer, ...]
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


def try_form(model: LanguageModel) -> Trial:
    """Put the questions to a model in the form in which it is asked, all at once.

    Raises `PromptTooLongError` when not even these questions fit into its context.
    """
    able = model.capabilities
    workers = min(able.questions_at_once, len(QUESTIONS)) if able.local else AT_ONCE
    calls = [partial(_try, model, question) for question in QUESTIONS]
    try:
        tried = tuple(at_once(calls, workers=workers))
    except PromptTooLongError as error:
        raise too_small(model.name, model.form) from error
    return Trial(model.form, tried, LEAST_PROBABILITY if able.local else 0.0)


def _try(model: LanguageModel, question: str) -> TrialAnswer:
    prompt = prompts.iterative(question)
    with model.beside():
        answer = model.sample(prompt, 1, temperature=0.0)[0]
        value, able = answer.log_likelihood, model.capabilities
        if able.local and able.scores_given_text and answer.text:
            value = float(model.log_likelihoods([prompt], [answer.text])[0, 0])
    return TrialAnswer(
        question, answer.text, answer.complete, None if value is None else math.exp(value)
    )


InItsForm = tuple[LanguageModel, tuple[Trial, ...]]


def in_its_form(
    model: LanguageModel, wish: Form | None = None, memory: Callable[[], Memory] | None = None
) -> InItsForm:
    """Return a model as it is to be asked, and the trials that were made, its own last.

    By default in the best form that suits, of a service the first. A model with no choice of forms
    is not tried. `memory` opens the place where the trial of a model on this machine is kept.

    Raises `ModelError` when the model cannot be asked in the form that is wanted, or no form suits
    it; the sentence says what it answered. Forms that do not fit into its context are passed over.
    """
    if not model.forms:
        return model if wish is None else model.in_form(wish), ()
    if memory is None or not model.capabilities.local:
        return _trials(model, wish)
    place, name = memory(), f"{model.revision} in the form {wish or 'that suits best'}"
    shipped = json.loads(SHIPPED.read_text(encoding="utf-8")).get(name)
    if trial := _from_json(shipped) or _from_json(place.get(name)):
        return model.in_form(trial.form), (trial,)
    formed, trials = _trials(model, wish)
    place.put(name, _to_json(trials[-1]))
    return formed, trials


def to_ship(model: LanguageModel) -> str:
    """Try a model's forms, and return what `SHIPPED` then holds of it alone, as JSON."""
    name, (_, trials) = f"{model.revision} in the form that suits best", _trials(model, None)
    return json.dumps({name: _to_json(trials[-1])}, ensure_ascii=False, indent=2) + "\n"


def _trials(model: LanguageModel, wish: Form | None) -> InItsForm:
    if wish is not None:
        formed = model.in_form(wish)
        return formed, (try_form(formed),)
    trials: list[Trial] = []
    best: tuple[Trial, LanguageModel] | None = None
    too_long: list[PromptTooLongError] = []
    for form in model.forms:
        try:
            formed = model.in_form(form)
            trial = try_form(formed)
        except PromptTooLongError as error:
            too_long.append(error)
            continue
        trials.append(trial)
        if trial.suits and (best is None or (trial.share or 0) > (best[0].share or 0)):
            best = trial, formed
        # Each form of a service is paid for.
        if best and (not model.capabilities.local or (best[0].share or 0) >= AMPLE):
            break
    if best:
        return best[1], (*(trial for trial in trials if trial is not best[0]), best[0])
    if trials:
        raise ModelError(_unsuitable(model, trials))
    raise too_long[0]


def _fingerprint() -> str:
    """Return what a trial depends on besides the weights: its questions, and the examples."""
    return hashlib.sha256("\n".join([*QUESTIONS, in_front()]).encode()).hexdigest()


def _to_json(trial: Trial) -> str:
    return json.dumps({"fingerprint": _fingerprint(), **asdict(trial)})


def _from_json(text: str | None) -> Trial | None:
    """Read a trial that was kept; None where there is none, or another version made it."""
    try:
        saved = json.loads(text or "")
        if saved.pop("fingerprint") != _fingerprint():
            return None
        tried = tuple(TrialAnswer(**one) for one in saved["tried"])
        return Trial(Form(saved["form"]), tried, saved["least"])
    except (ValueError, TypeError, KeyError, AttributeError):
        return None


def _unsuitable(model: LanguageModel, trials: list[Trial]) -> str:
    answers = "; ".join(
        f"{trial.form}: “{one_line(trial.tried[0].answer, LONGEST) or 'nothing'}”"
        for trial in trials
    )
    return (
        f"{model.name} gives no short, whole answers, however it is asked. To “{QUESTIONS[0]}” it "
        f"said ({answers}). Choose another model, or a form yourself."
    )
