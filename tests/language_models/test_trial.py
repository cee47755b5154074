"""A form is found by trying; a model that none suits is said to be so."""

import math
import threading
from contextlib import contextmanager

import numpy as np
import pytest

from core.language_models import trial
from core.language_models.errors import ModelError, PromptTooLongError
from core.language_models.forms import EXAMPLES, Form, in_front
from core.language_models.language_model import Capabilities, LanguageModel, Response
from core.language_models.trial import QUESTIONS, in_its_form, try_form

GOOD = Response("Paris", True)


class Formed(LanguageModel):
    """Answers by its form; each answer has a probability."""

    name, capabilities = "formed", Capabilities(scores_given_text=True)
    forms = (Form.PLAIN, Form.EXAMPLES, Form.CHAT)

    def __init__(self, said, form=Form.PLAIN, too_long=()):
        self.said, self.form, self.revision, self.too_long = said, form, form.value, too_long
        self.asked = []

    def in_form(self, form):
        other = type(self)(self.said, form, self.too_long)
        other.asked = self.asked
        return other

    def sample(self, prompt, count, *, temperature=1.0, seed=0, first=0):
        self.asked.append(self.form)
        if self.form in self.too_long:
            raise PromptTooLongError("The prompt is too long. Shorten it.")
        return [self.said.get(self.form, (GOOD, 0.5))[0]] * count

    def log_likelihoods(self, prompts, answers):
        value = math.log(self.said.get(self.form, (GOOD, 0.5))[1])
        return np.full((len(prompts), len(answers)), value)


class TrialStore(dict):
    """A place where trials are kept."""

    put = dict.__setitem__


BAD = {
    "nothing": (Response("", True), 0.9),
    "cut off": (Response("Paris and on", False), 0.9),
    "long": (Response("The capital of France is of course Paris, as all know.", True), 0.9),
    "unlikely": (GOOD, 0.01),
    "copied": (Response(EXAMPLES[0].answer.upper(), True), 0.9),
}


@pytest.mark.parametrize("bad", BAD.values(), ids=BAD)
def test_a_form_that_does_not_suit_is_not_taken(bad):
    model, trials = in_its_form(Formed({Form.PLAIN: bad, Form.CHAT: bad}))
    assert model.form is Form.EXAMPLES
    suits = [("plain", False), ("chat", False), ("examples", True)]
    assert [(each.form, each.suits) for each in trials] == suits
    assert trials[0].sentence.endswith("It does not suit: they should be short and likely.")


@pytest.mark.parametrize(
    ("shares", "form", "tried"),
    [
        ((0.27, 0.5, 0.4), Form.EXAMPLES, 3),  # not the first that suits
        ((0.4, 0.27, 0.4), Form.PLAIN, 3),  # of two alike the first
        ((0.27, 0.86, 0.9), Form.EXAMPLES, 2),  # no other could have much more
    ],
)
def test_of_the_forms_that_suit_the_likeliest_is_taken(shares, form, tried):
    said = {each: (GOOD, share) for each, share in zip(Formed.forms, shares, strict=True)}
    model, trials = in_its_form(Formed(said))
    assert (model.form, len(trials)) == (form, tried)
    assert trials[-1].form is form


def test_the_questions_are_asked_side_by_side_where_a_model_gains_from_it():
    inside, most, together = [], [], threading.Barrier(len(QUESTIONS), timeout=30)

    class Together(Formed):
        capabilities = Capabilities(scores_given_text=True, questions_at_once=64)

        @contextmanager
        def beside(self):
            inside.append(1)
            together.wait()
            most.append(len(inside))
            yield

    try_form(Together({}))
    assert most == [len(QUESTIONS)] * len(QUESTIONS)


def test_a_trial_is_made_once_for_the_same_weights_questions_and_examples(monkeypatch):
    memory = TrialStore()
    first, tried = in_its_form(Formed({Form.EXAMPLES: (GOOD, 0.9)}), None, lambda: memory)
    again = Formed({})
    second, trials = in_its_form(again, None, lambda: memory)
    assert second.form is first.form is Form.EXAMPLES
    assert trials == (tried[-1],) and not again.asked
    assert in_its_form(again, Form.CHAT, lambda: memory)[0].form is Form.CHAT
    assert len(again.asked) == len(QUESTIONS)
    monkeypatch.setattr(trial, "QUESTIONS", QUESTIONS[1:])
    assert len(in_its_form(again, None, lambda: memory)[1]) == 3
    for other in ("{}", "no JSON", '{"fingerprint": 1}', "[]"):
        memory.update(dict.fromkeys(memory, other))
        assert len(in_its_form(again, None, lambda: memory)[1]) == 3


def test_a_trial_says_what_was_answered_and_how_likely():
    made = try_form(Formed({}))
    assert len(made.tried) == len(QUESTIONS)
    assert made.share == pytest.approx(0.5)
    assert made.sentence == (
        "To 5 simple questions it said: Paris; Paris; Paris; Paris; Paris, with a probability of "
        "50% on average."
    )


def test_a_model_that_no_form_suits_is_said_to_be_so_with_what_it_answered():
    with pytest.raises(ModelError, match="plain: “nothing”; examples: “nothing”; chat: “nothing”"):
        in_its_form(Formed(dict.fromkeys(Form, BAD["nothing"])))


def test_a_form_that_does_not_fit_is_passed_over():
    model, trials = in_its_form(Formed({Form.PLAIN: BAD["long"]}, too_long=[Form.EXAMPLES]))
    assert model.form is Form.CHAT
    assert [each.form for each in trials] == ["plain", "chat"]


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        (None, "in the form plain not even a short question fits. Choose a model with a larger"),
        (Form.CHAT, "in the form chat not even a short question fits. Choose another form, or"),
    ],
)
def test_a_context_that_is_too_small_for_any_question_is_said_to_be_so(wanted, words):
    with pytest.raises(PromptTooLongError, match=f"The context of formed is too small: {words}"):
        in_its_form(Formed({}, too_long=Form), wanted)


def test_a_form_that_is_wanted_is_taken_whatever_comes_of_it():
    model, trials = in_its_form(Formed({Form.CHAT: BAD["long"]}), Form.CHAT)
    assert model.form is Form.CHAT and not trials[0].suits


def test_a_model_without_a_choice_is_not_tried(embedded):
    assert in_its_form(embedded) == (embedded, ())
    assert in_its_form(embedded, Form.PLAIN) == (embedded, ())
    with pytest.raises(ModelError, match="in the form plain only"):
        in_its_form(embedded, Form.EXAMPLES)


def test_examples_are_balanced_so_that_they_do_not_teach_what_is_measured():
    told = [example for example in EXAMPLES if example.earlier]
    kept = [example for example in told if example.answer in example.earlier]
    assert len(EXAMPLES) - len(told) == len(kept) == len(told) - len(kept) == 2
    text = in_front()
    assert text.count("\n\nProvide an answer to the following question:") == len(EXAMPLES)
    assert text.endswith("A: Ice\n\n")
