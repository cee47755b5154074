"""Given texts scored in the ways that vLLM, SGLang and Text Generation Inference document."""

import json

import numpy as np
import pytest

from core import prompts
from core.language_models.backends.openai import input_logprobs
from core.language_models.backends.openai.model import OpenAICompatible
from core.language_models.client.batch import BatchingModel
from core.language_models.errors import TemporaryError
from tests.language_models.documented_server import FLAVOURS, Documented, documented, stripped
from tests.language_models.openai_server import END, serving

QUESTION = "Who wrote the novel Dune?"
PROMPTS = [prompts.iterative(QUESTION), prompts.iterative(QUESTION, ["Homer"])]
ANSWERS = ["Frank Herbert", "Homer", "7"]


@pytest.mark.parametrize("way", FLAVOURS)
def test_a_documented_way_is_found_by_trying_and_scores_as_the_model_in_process(way, embedded):
    with documented(way) as (server, _):
        model = OpenAICompatible(server.rest, end=END)
        able = model.capabilities
        assert able.scores_given_text and able.whole_answers
        (note,) = [note for note in able.notes if "as documented by" in note]
        assert way in note and input_logprobs.MAKERS[way] in note
        assert way in model.revision
        wanted = embedded.log_likelihoods(PROMPTS, ANSWERS)
        np.testing.assert_allclose(model.log_likelihoods(PROMPTS, ANSWERS), wanted, atol=1e-4)


def test_a_chat_s_own_end_token_is_scored_as_well(embedded):
    with documented(input_logprobs.PROMPT_LOGPROBS) as (server, _):
        model = OpenAICompatible(server.rest)
        assert model.capabilities.whole_answers and f"end token “{END}”" in model.revision
        scored = model.log_likelihoods(PROMPTS[:1], ["Homer"])
        np.testing.assert_allclose(
            scored, embedded.log_likelihoods(PROMPTS[:1], ["Homer"]), atol=1e-4
        )
        *_, last = server.bodies
        assert [message["role"] for message in last["messages"]] == ["user", "assistant"]
        assert last["messages"][-1]["content"] == f"Homer{END}"
        assert (last["prompt_logprobs"], last["max_tokens"]) == (0, 1)
        assert (last["continue_final_message"], last["add_generation_prompt"]) == (True, False)


def test_an_end_that_a_chat_does_not_read_as_its_token_is_no_part_of_a_score(embedded):
    with documented(input_logprobs.PROMPT_LOGPROBS, plain_end=True) as (server, _):
        model = OpenAICompatible(server.rest)
        assert model.capabilities.scores_given_text and not model.capabilities.whole_answers
        scored = model.log_likelihoods(PROMPTS[:1], ["Homer"])
        assert scored > embedded.log_likelihoods(PROMPTS[:1], ["Homer"])


@pytest.mark.parametrize("way", FLAVOURS)
def test_what_was_found_out_serves_the_next_process(way):
    kept = {}

    class Memory:
        get, put, forget = kept.get, kept.__setitem__, kept.pop

    with documented(way) as (server, _):
        first = OpenAICompatible(server.rest)
        first.remember_in(Memory)
        scored = first.log_likelihoods(PROMPTS[:1], ["Homer"])
        before = len(server.exchanges)
        second = OpenAICompatible(server.rest, "another-key")  # nothing is known with it
        second.remember_in(Memory)
        assert second.log_likelihoods(PROMPTS[:1], ["Homer"]) == scored
        assert len(server.exchanges) - before == (1 if way == input_logprobs.INPUT_TOKENS else 2)


@pytest.mark.parametrize("way", FLAVOURS)
@pytest.mark.parametrize("wrong", [{"off": -0.5}, {"across": True}, {"silent": True}], ids=str)
def test_what_does_not_repeat_what_was_said_behind_the_prompt_is_not_used(way, wrong):
    """Other numbers, a token that stands across the border of prompt and answer, or none."""
    with documented(way, **wrong) as (server, _):
        able = OpenAICompatible(server.rest).capabilities
        assert not able.scores_given_text
        assert not any("as documented by" in note for note in able.notes)


def test_one_draw_that_is_cut_otherwise_when_it_is_read_hides_no_way():
    """SGLang's first draw of SmolLM2 was, and the server was left with counts of answers."""
    sglang = Documented(input_logprobs.INPUT_TOKENS, recut=True)
    with serving("none", before=sglang, after=stripped) as server:
        assert OpenAICompatible(server.rest).capabilities.scores_given_text


def test_answers_that_begin_with_a_space_are_not_scored_as_others():
    """They are given without it, and would be 57 nats off, as vLLM's were."""
    with documented(input_logprobs.PROMPT_LOGPROBS, bare=True) as (server, _):
        assert not OpenAICompatible(server.rest).capabilities.scores_given_text
        assert any("prompt_logprobs" in body for body in server.bodies)


@pytest.mark.parametrize(
    ("flavour", "tried", "field"),
    [
        ("chat-top", "/v1/chat/completions", input_logprobs.PROMPT_LOGPROBS),
        ("top", "/generate", "text"),
    ],
)
def test_a_server_that_knows_no_such_way_is_asked_once(flavour, tried, field):
    with serving(flavour, after=stripped) as server:
        assert not OpenAICompatible(server.rest).capabilities.scores_given_text
        asked = [e for e in server.exchanges if e.path == tried and field in e.body]
        assert len(asked) == 1 and len(server.exchanges) == 5


def test_nothing_more_is_asked_of_a_server_that_echoes():
    with serving("echo") as server:
        assert OpenAICompatible(server.rest).capabilities.scores_given_text
        assert len(server.exchanges) == 3


@pytest.mark.parametrize(
    ("status", "faults"), [(401, 0), (403, 0), (302, 0), (400, 0), (422, 0), (500, 1), (503, 1)]
)
def test_what_stands_before_a_server_may_stop_what_it_does_not_know(status, faults):
    """A fault may pass, so that one is told; after the second one, it is no way."""

    def gateway(path, body):
        return (status, {}, b"Forbidden") if path == "/generate" else None

    with serving("top", before=gateway) as server:
        model = OpenAICompatible(server.rest)
        for _ in range(faults):
            with pytest.raises(TemporaryError):
                model.capabilities  # noqa: B018
        able = model.capabilities
        assert able.own_log_likelihoods and not able.scores_given_text


@pytest.mark.parametrize(
    ("way", "requests"),
    [
        (input_logprobs.PROMPT_LOGPROBS, 6 + 2),
        (input_logprobs.PREFILL, 6 + 2),
        (input_logprobs.INPUT_TOKENS, 1),
    ],
)
def test_prompts_alone_are_asked_for_once_and_counted(way, requests):
    with documented(way) as (server, _):
        model = BatchingModel(OpenAICompatible(server.rest))
        able = model.capabilities
        assert able.calls_a_prompt == (requests > 1)
        before, metered = len(server.exchanges), model.meter.requests
        model.log_likelihoods(PROMPTS, ANSWERS)
        assert len(server.exchanges) - before == requests == model.meter.requests - metered
        model.log_likelihoods(PROMPTS, ["Virginia Woolf"])
        assert len(server.exchanges) - before - requests == (2 if able.calls_a_prompt else 1)


def test_many_texts_go_to_sglang_at_once(embedded):
    with documented(input_logprobs.INPUT_TOKENS) as (server, _):
        model = OpenAICompatible(server.rest)
        assert model.capabilities.pairs_a_call > 1
        before = model.meter.usage.prompt_tokens
        model.log_likelihoods(PROMPTS, ANSWERS)
        assert server.exchanges[-1].path == "/generate"
        pairs = [f"{prompt} {answer}" for prompt in PROMPTS for answer in ANSWERS]
        assert server.bodies[-1]["text"] == [*PROMPTS, *pairs]
        read = sum(len(embedded.encode(text)) for text in server.bodies[-1]["text"])
        assert model.meter.usage.prompt_tokens - before == read


@pytest.mark.parametrize("way", FLAVOURS)
def test_an_answer_with_a_token_across_the_border_has_no_score_and_one_left_out_may_come(way):
    """No part of it is guessed, though the probe saw none."""
    with documented(way) as (server, double):
        model = OpenAICompatible(server.rest, end=END)
        assert model.capabilities.scores_given_text
        double.across = True
        assert np.isnan(model.log_likelihoods(PROMPTS[:1], ["Homer"])).all()
        double.across, double.silent = False, True
        with pytest.raises(TemporaryError, match="without its log-probabilities"):
            model.log_likelihoods(PROMPTS[:1], ["Homer"])


# -------------------------------------------------------------------- documented replies

OF_VLLM = """[null, {"9707": {"logprob": -7.5, "rank": 310, "decoded_token": "Hello"}},
{"0": {"logprob": -9999.0, "rank": 151000, "decoded_token": "!"}}]"""
OF_SGLANG = """[{"text": " Paris. It is", "meta_info": {"prompt_tokens": 4, "input_token_logprobs":
[[null, 6722, null], [-0.58203125, 315, null], [-3.53125, 9625, null]],
"output_token_logprobs": [[-0.73046875, 12095, null], [-0.9765625, 13, null]]}}]"""
OF_TGI = """{"generated_text": "Is", "details": {"finish_reason": "length", "generated_tokens": 1,
"seed": null, "prefill": [{"id": 1, "text": "<s>", "logprob": null},
{"id": 1317, "text": "Is", "logprob": -1.1894531}],
"tokens": [{"id": 1317, "text": " Is", "logprob": -1.1894531, "special": false}]}}"""


def test_the_documented_replies_are_read():
    vllm = {"prompt_logprobs": json.loads(OF_VLLM)}
    assert input_logprobs.read(input_logprobs.PROMPT_LOGPROBS, vllm) == [
        [("", None), ("9707", -7.5), ("0", -9999.0)]
    ]
    sglang = {"data": json.loads(OF_SGLANG)}
    read = [("6722", None), ("315", -0.58203125), ("9625", -3.53125)]
    assert input_logprobs.read(input_logprobs.INPUT_TOKENS, sglang) == [read]
    said = [("12095", -0.73046875), ("13", -0.9765625)]
    assert input_logprobs.generations(sglang) == [(" Paris. It is", said)]
    tgi = json.loads(OF_TGI)
    assert input_logprobs.read(input_logprobs.PREFILL, tgi) == [[("1", None), ("1317", -1.1894531)]]
    assert input_logprobs.read(input_logprobs.PREFILL, tgi, "Is") == [
        [("1", None), ("Is", -1.1894531)]
    ]
    assert input_logprobs.generations(tgi) == [("Is", [("1317", -1.1894531)])]


@pytest.mark.parametrize(
    "reply",
    [
        {},
        {"prompt_logprobs": None, "data": None, "details": None},
        {"prompt_logprobs": [], "data": [], "details": {"prefill": []}},
        {"prompt_logprobs": [None, {"1": {}, "2": {}}], "data": [{"meta_info": []}]},
        {"prompt_logprobs": [None, -1.0], "data": [{"text": "a", "meta_info": {}}, 7]},
        {"prompt_logprobs": "abc", "details": "abc", "data": "abc"},
        {"details": {"prefill": [1, 2]}, "text": "a"},
    ],
)
def test_a_reply_that_tells_nothing_is_no_score(reply):
    assert not any(input_logprobs.read(way, reply) for way in FLAVOURS)
