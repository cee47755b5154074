"""What real servers replied is understood; `recording` says how each was recorded.

All of them served SmolLM2-135M-Instruct. The numbers are read off their replies by hand.
"""

import json
import math

import pytest

from core.language_models.backends.openai.abilities import OpenAIAbilities
from core.language_models.backends.openai.address import read_address
from core.language_models.backends.openai.grammar import token_log_probabilities
from core.language_models.backends.openai.http import Service
from core.language_models.backends.openai.model import OpenAICompatible
from core.language_models.errors import RefusedError, UnscorableError
from core.language_models.language_model import Response
from core.language_models.usage import Meter
from tests.language_models.backends.openai.recording import ask, replayed
from tests.language_models.gemini_server import Remembered
from tests.language_models.openai_server import serving

REVISIONS = {
    "llama_server": "completions, given tokens forced, any end, neutral min_p, top_k, repeat_",
    "mlx_lm": "completions, neutral min_p, repeat_penalty, repetition_penalty, top_k; SmolLM2-",
    "transformers_serve": "completions, neutral generation_config; SmolLM2-",
}


@pytest.mark.parametrize("name", REVISIONS)
def test_what_a_real_server_can_do_is_found_out(name):
    with replayed(name) as server:
        model = OpenAICompatible(server.rest)
        assert model.revision.startswith(REVISIONS[name])
        assert not model.capabilities.notes


def test_transformers_serve_is_told_to_draw():
    """It takes no sampler but through its own field, and decodes greedily without that."""
    with replayed("transformers_serve") as server:
        found = ask(OpenAICompatible(server.rest))
        assert all("do_sample" in body["generation_config"] for body in server.bodies[4:])
    assert found["drawn"][0].text.startswith("In addition to thecontinent, Paris")
    assert found["greedy"] == [Response("France", True)]


def test_mlx_lm_lists_what_was_said_when_no_likely_tokens_are_asked_for():
    """It takes yes and no number, and lists the likely tokens in place of those it said."""
    with replayed("mlx_lm") as server:
        found = ask(OpenAICompatible(server.rest))
        assert "top_logprobs" not in server.bodies[-2] and server.bodies[-2]["logprobs"] is True
    france = Response("France", True, pytest.approx(-2.01239 - 1.63128))  # and its line break
    assert found["drawn"] == found["greedy"] == [france]
    assert found["next"]["ĠTrue"] == pytest.approx(-1.95265)


def test_llama_server_is_made_to_say_an_answer():
    """It draws as many at once as it has slots. “Paris” with its ends: all of the 200 likeliest."""
    with replayed("llama_server") as server:
        model = OpenAICompatible(server.rest)
        able = model.capabilities
        assert able.scores_given_text and able.whole_answers and able.pairs_a_call == 1
        assert able.candidates_a_call == 4
        found = ask(model)
        assert server.bodies[-1]["grammar"] == "root ::= <[7042]>"
    assert found["scores"][0, 0] == pytest.approx(-3.68498 - 1.17032, abs=1e-4)
    assert [response.text for response in found["drawn"]][:2] == [
        "The capital of France is Paris.",
        "France",
    ]


def entry(token, logprob, *, id=0, piece=None, top=()):
    piece = token.encode() if piece is None else piece
    about = {"id": id, "token": token, "bytes": [*piece], "logprob": logprob}
    return about | {"top_logprobs": [entry(*one) for one in top]}


SERVICE = Service(read_address("http://localhost/v1"), None, Meter())


def test_the_end_of_a_forced_answer_is_every_token_that_ends_it():
    """A half, a quarter and an eighth end it; a part of a character has bytes, and does not."""
    part = entry("", math.log(1 / 16), piece=b"\xc3")
    ends = [("\n", math.log(1 / 2)), (" \n", math.log(1 / 4)), (" x", math.log(1 / 16))]
    last = entry("", math.log(1 / 8), id=2, top=ends)
    last["top_logprobs"].append(part)
    reply = {"choices": [{"logprobs": {"content": [entry(" Paris", -1.5, id=7), last]}}]}
    assert token_log_probabilities(SERVICE, reply, [7]) == pytest.approx([-1.5, math.log(7 / 8)])


def test_an_answer_whose_end_is_not_among_the_likeliest_has_no_score():
    last = entry("", math.log(1 / 9), id=2, top=[(" x", math.log(1 / 2)), (" y", math.log(1 / 4))])
    reply = {"choices": [{"logprobs": {"content": [entry(" Paris", -1.5, id=7), last]}}]}
    with pytest.raises(UnscorableError, match="no end of this answer among its 200"):
        token_log_probabilities(SERVICE, reply, [7])


def test_a_server_that_says_something_else_has_scored_nothing():
    reply = {"choices": [{"logprobs": {"content": [entry(" Rome", -1.5, id=8), entry("", -1.0)]}}]}
    for spoilt in (reply, {"choices": [{"logprobs": None}]}):
        with pytest.raises(RefusedError, match="token by token"):
            token_log_probabilities(SERVICE, spoilt, [7])


class Bytewise:
    """Replies as llama.cpp to an answer with parts of characters: 7 is one, 8 completes it."""

    def __init__(self, *, wide=True):
        self.wide, self.places = wide, []

    def __call__(self, path, body):
        if path == "/tokenize":
            numbers = {"A:": [1], "A: 東": [1, 7, 8], "A:\n": [1, 9], "A: x": [1, 6]}
            pieces = {1: "A:", 6: " x", 7: [32, 230], 8: [157, 177], 9: "\n"}
            entries = [{"id": i, "piece": pieces[i]} for i in numbers[body["content"]]]
            listed = entries if body.get("with_pieces") else [entry["id"] for entry in entries]
            return 200, {}, json.dumps({"tokens": listed}).encode()
        if "grammar" in body:
            words = "got exception: Unexpected empty grammar stack after accepting piece: x (3)"
            return 500, {}, json.dumps({"error": {"message": words, "code": 500}}).encode()
        self.places.append(body["prompt"])
        assert body["logit_bias"] == [[9, 1000]] and body["logprobs"] == 2000
        given = body["prompt"][1:] if isinstance(body["prompt"], list) else []
        likely = [("?", -1.0, 3)]
        if self.wide:
            likely.append(("\ufffd", -2.0 - len(given), [7, 8, 5][len(given)]))
        likely.append(("\n", -0.5, 9))
        top = [entry(token, value, id=i) for token, value, i in likely]
        content = [entry("\n", -0.5, id=9) | {"top_logprobs": top}]
        return 200, {}, json.dumps({"choices": [{"logprobs": {"content": content}}]}).encode()


@pytest.mark.parametrize("wide", [True, False])
def test_an_answer_with_parts_of_characters_is_read_off_place_by_place(wide):
    """Two of them and the line break behind: −2 − 3 − .5; where one is unlikely, nothing is."""
    replies = Bytewise(wide=wide)
    with serving("top", before=replies) as server:
        model = OpenAICompatible(server.rest)
        before = Remembered(
            {model.canonical_name: OpenAIAbilities(own=True, forced=True).to_json()}
        )
        model.remember_in(lambda: before)
        (table,) = model.log_likelihoods(["Q"], ["東", "x"])
    assert table[0] == pytest.approx(-5.5) if wide else math.isnan(table[0])
    assert math.isnan(table[1])  # a grammar that the server cannot follow is no passing fault
    assert replies.places == (["Q", ["Q", 7], ["Q", 7, 8]] if wide else ["Q"])
