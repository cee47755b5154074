"""Servers asked in a form: what is sent in front, where it is kept, and what finding it costs."""

import json
import re

import pytest

from core import prompts
from core.language_models.backends.openai.model import OpenAICompatible
from core.language_models.client.stack import with_layers
from core.language_models.errors import ModelError, RefusedError
from core.language_models.forms import EXAMPLES, Form, in_front
from core.language_models.trial import QUESTIONS, in_its_form
from core.language_models.usage import Budget
from tests.language_models.openai_server import END, serving

PROMPT = prompts.iterative("Name a mammal")
ANSWERS = ["Dog", "Cat"]


def opened(server, form):
    model = OpenAICompatible(server.rest).in_form(form)
    server.exchanges.clear()
    return model


def test_to_go_on_with_a_prompt_the_same_examples_stand_first_in_every_request(embedded):
    with serving("echo") as server:
        model = opened(server, Form.EXAMPLES)
        (greedy,) = model.sample(PROMPT, 1, temperature=0.0)
        scored = model.log_likelihoods([PROMPT], ANSWERS)[0]
        assert model.next_token(PROMPT)
        sent = [body["prompt"] for body in server.bodies]
    texts = [text for one in sent for text in ([one] if isinstance(one, str) else one)]
    assert len(texts) == 5 and all(text.startswith(in_front() + PROMPT) for text in texts)
    shown = in_front() + PROMPT
    assert greedy.text == embedded.sample(shown, 1, temperature=0.0)[0].text
    assert scored == pytest.approx(embedded.log_likelihoods([shown], ANSWERS)[0], abs=1e-4)


def test_in_a_chat_examples_are_turns_of_before():
    with serving("chat-top") as server:
        opened(server, Form.CHAT_WITH_EXAMPLES).sample(PROMPT, 2)
        (body,) = server.bodies
    *turns, last = body["messages"]
    assert last == {"role": "user", "content": PROMPT}
    assert [turn["role"] for turn in turns] == ["user", "assistant"] * len(EXAMPLES)
    assert turns[0]["content"] == EXAMPLES[0].prompt and turns[1]["content"] == "Honey"


def test_in_a_chat_a_system_prompt_is_the_first_turn_and_no_answer_is_that_without(calls):
    with serving("chat-top") as server:
        ready = with_layers(OpenAICompatible(server.rest), lambda: calls, Budget(9))
        ready = ready.in_form(Form.CHAT_WITH_EXAMPLES)
        behind = ready.with_system("Be brief.")
        ready.sample(PROMPT, 1)
        before = len(server.bodies)
        for _ in range(2):  # the second time it is there
            behind.sample(PROMPT, 1)
        (body,) = server.bodies[before:]
    assert body["messages"][0] == {"role": "system", "content": "Be brief."}
    assert len(body["messages"]) == 2 * len(EXAMPLES) + 2
    assert behind.revision == ready.revision and (ready.system, behind.system) == ("", "Be brief.")
    with serving("echo") as server:
        assert OpenAICompatible(server.rest).with_system("Be brief.") is None


@pytest.mark.parametrize("status", [400, 500])
@pytest.mark.parametrize(
    "words",
    [
        "Jinja Exception: System role not supported",
        "Only user and assistant roles are supported!",
        "Conversation roles must alternate user/assistant/user/assistant/...",
    ],
)
def test_a_server_that_takes_no_system_message_says_how_to_ask_without(status, words):
    def refuse(path, body):
        if body.get("messages", [{}])[0].get("role") == "system":
            return status, {}, json.dumps({"error": {"message": words}}).encode()
        return None

    with serving("chat-top", before=refuse) as server:
        model = OpenAICompatible(server.rest)
        assert model.sample(PROMPT, 1)
        sentence = f"takes no system message: “{re.escape(words)}”.*in front of each question"
        with pytest.raises(RefusedError, match=sentence):
            model.with_system("Be brief.").sample(PROMPT, 1)


@pytest.mark.parametrize(
    ("flavour", "usual", "other", "none"),
    [
        ("echo", Form.PLAIN, Form.EXAMPLES, Form.CHAT),
        ("chat-none", Form.CHAT, Form.CHAT_WITH_EXAMPLES, Form.EXAMPLES),
    ],
)
def test_the_form_is_part_of_the_revision_but_for_the_usual_one(flavour, usual, other, none):
    with serving(flavour) as server:
        model = OpenAICompatible(server.rest)
        assert (model.form, model.forms) == (usual, (usual, other))
        assert "form" not in model.revision and END not in model.in_form(usual).name
        assert model.in_form(usual).revision == model.revision
        formed = model.in_form(other)
        assert formed.form is other and model.form is usual
        assert formed.revision.startswith(f"{model.revision}, asked in the form {other} ")
        assert formed.in_form(usual).revision == model.revision
        assert formed.capabilities.in_front == len(in_front())
        with pytest.raises(ModelError, match=f"{usual} or {other} only"):
            model.in_form(none)


def test_answers_of_two_forms_are_kept_apart_and_count_against_one_budget(calls):
    budget = Budget(9)
    with serving("none") as server:
        ready = with_layers(OpenAICompatible(server.rest), lambda: calls, budget)
        other = ready.in_form(Form.EXAMPLES)
        server.exchanges.clear()
        for model in (ready, other, other, ready):
            model.sample(PROMPT, 3)
        assert [body["prompt"] for body in server.bodies] == [PROMPT, in_front() + PROMPT]
    assert budget.requests == ready.meter.requests == other.meter.requests == 2
    assert sum(other.listener.counts(PROMPT)) == 6


def test_a_usual_form_that_gives_whole_answers_is_tried_once_and_paid_for_once(calls):
    with serving("echo") as server:
        for paid in (len(QUESTIONS), 0):
            ready = with_layers(OpenAICompatible(server.rest), lambda: calls, None)
            server.exchanges.clear()
            model, (trial,) = in_its_form(ready)
            assert model.form is Form.PLAIN and trial.suits and len(server.exchanges) == paid
            assert trial.share is not None, "its own likelihoods, which cost nothing more"


@pytest.mark.parametrize("flavour", ["none", "chat-none"])
def test_a_server_that_goes_on_without_answering_is_shown_examples(flavour, calls):
    def without_examples(path, body):  # says nothing, as SmolLM2 does
        sent = json.dumps(body)
        if not any(question in sent for question in QUESTIONS):
            return None
        text = "Paris" if EXAMPLES[0].query in sent else ""
        said = {"message": {"content": text}} if "messages" in body else {"text": text}
        choice = {"index": 0, "finish_reason": "stop", **said}
        return 200, {}, json.dumps({"choices": [choice], "model": stated}).encode()

    with serving(flavour, before=without_examples) as server:
        ready = with_layers(OpenAICompatible(server.rest), lambda: calls, None)
        stated = ready.revision.rpartition("; ")[2]
        server.exchanges.clear()
        model, trials = in_its_form(ready)
        assert model.form is model.forms[1] and len(server.exchanges) == 2 * len(QUESTIONS)
        assert [trial.suits for trial in trials] == [False, True]
        assert trials[0].sentence.endswith("It does not suit: they should be short and whole.")
