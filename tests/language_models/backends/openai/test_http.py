"""Replies that no server should send: they become a sentence, or something that can be written."""

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from core.language_models.backends.openai.address import read_address
from core.language_models.backends.openai.http import Service, parsed_reply
from core.language_models.backends.openai.model import OpenAICompatible
from core.language_models.backends.openai.replies import (
    is_uneven,
    log_probability,
    reply_tokens,
    tokens_of,
    top_of,
    total,
    until_line_break,
    used_tokens,
)
from core.language_models.errors import ModelError, RefusedError
from core.language_models.language_model import MOST_TOKENS
from core.language_models.usage import Meter
from tests.hostile import HALF, HUGE
from tests.language_models.openai_server import serving

NUMBERS = st.sampled_from([HUGE, -HUGE, 10**18, -1, 0, 1, True, False, 1e308, -0.5, 0.5])
NUMBERS |= st.sampled_from([float("inf"), -float("inf"), float("nan")])
TEXTS = st.sampled_from(["", "Paris", "\n", HALF, f"a{HALF}b", "\x00", "9" * 400])
NAMES = ["index", "text", "message", "content", "refusal", "logprobs", "tokens", "token"]
NAMES += ["token_logprobs", "top_logprobs", "logprob", "finish_reason", "usage", "prompt_tokens"]
LEAVES = st.none() | NUMBERS | TEXTS
ANYTHING = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=5)
    ),
    max_leaves=25,
)
LISTED = st.fixed_dictionaries(
    {},
    optional={
        "content": st.lists(
            st.fixed_dictionaries({"token": LEAVES, "logprob": LEAVES, "top_logprobs": ANYTHING}),
            max_size=3,
        ),
        "tokens": st.lists(LEAVES, max_size=3),
        "token_logprobs": st.lists(LEAVES, max_size=3),
        "top_logprobs": ANYTHING,
    },
)
CHOICES = st.fixed_dictionaries(
    {"text": LEAVES},
    optional={
        "index": LEAVES,
        "message": ANYTHING,
        "finish_reason": LEAVES,
        "logprobs": LISTED | ANYTHING,
    },
)
REPLIES = ANYTHING | st.fixed_dictionaries(
    {"choices": st.lists(CHOICES | ANYTHING, max_size=3), "usage": ANYTHING}
)


@given(REPLIES)
@example({"choices": [{"text": "", "logprobs": {"content": [None]}}]})
def test_whatever_json_comes_only_a_sentence_comes_out(reply):
    service = Service(read_address("http://127.0.0.1:1/v1"), None, Meter())
    parsed = parsed_reply(json.dumps(reply).encode())
    if parsed is None:
        return
    for name in ("prompt_tokens", "completion_tokens"):
        assert 0 <= reply_tokens(parsed, name) <= MOST_TOKENS
    try:
        choices = service.choices(parsed)
    except ModelError:
        return
    for choice in choices:
        tokens = tokens_of(choice)
        assert all(value is None or -9999 <= value <= 0 for _, value in tokens)
        assert all(value <= 0 for value in top_of(choice, 5).values())
        "".join([*(token for token, _ in tokens), *top_of(choice, 5)]).encode()
        total(until_line_break(tokens))
        is_uneven(choice)
        try:
            service.text(choice).encode()
        except ModelError as error:
            str(error).encode()


@pytest.mark.parametrize("value", [True, False, "-1", None, HUGE, 1, float("nan"), float("inf")])
def test_what_is_no_logarithm_of_a_probability_is_none(value):
    assert log_probability(value) is None


@pytest.mark.parametrize("value", [-HUGE, -float("inf"), -9999, -10000.5])
def test_the_least_logarithm_is_that_of_nothing(value):
    assert log_probability(value) == -9999.0


@pytest.mark.parametrize("number", [HUGE, -5, True, 10**12, "7", 1.5, None, [7]])
def test_no_number_of_tokens_is_beyond_belief(number):
    assert reply_tokens({"usage": {"prompt_tokens": number}}, "prompt_tokens") == 0


@pytest.mark.parametrize(
    ("usage", "used"),
    [
        ((32, 9, 135), (32, 103)),  # xAI's: thoughts are in the total alone
        ((32, 9, 41), (32, 9)),
        ((32, 9, 3), (32, 9)),
        ((32, 9, None), (32, 9)),
        ((32, 9, HUGE), (32, 9)),
        ((5, 0, 1000), (5, 995)),
        ((0, 0, 0), (0, 0)),
    ],
)
def test_thoughts_beside_the_answer_are_counted(usage, used):
    names = ("prompt_tokens", "completion_tokens", "total_tokens")
    assert used_tokens({"usage": dict(zip(names, usage, strict=True))}) == used


@pytest.mark.parametrize("flavour", ["top", "chat-top", "echo"])
def test_log_probabilities_of_400_digits_are_a_sentence_or_the_least(flavour):
    def said(reply):
        for choice in reply["choices"]:
            listed = choice.get("logprobs") or {}
            if listed.get("token_logprobs"):
                listed["token_logprobs"][-1] = -HUGE
            for entry in listed.get("content") or []:
                entry["logprob"] = HUGE
        return reply

    with serving(flavour, after=said) as server:
        model = OpenAICompatible(server.rest)
        try:
            drawn = model.sample("Q: Who? A:", 1)
            assert all(r.log_likelihood is None or r.log_likelihood <= 0 for r in drawn)
            model.log_likelihoods(["Q: Who? A:"], ["Homer"])
        except ModelError as error:
            assert str(error).endswith(".")


@pytest.mark.parametrize("code", [HUGE, True, -1, 0, 10**9, 2.5, "x", None, [], {}])
def test_an_error_with_status_200_may_say_any_code(code):
    def refused(path, body):
        return 200, {}, json.dumps({"error": {"message": f"no{HALF}", "code": code}}).encode()

    with serving("none", before=refused) as server, pytest.raises(ModelError) as caught:
        OpenAICompatible(server.rest).sample("Q: Who? A:", 1)
    assert str(caught.value).encode() and len(str(caught.value)) < 400


def posted(body):
    with serving("none", before=lambda *_: (200, {}, body)) as server:
        return Service(read_address(server.base_url), None, Meter()).post("/completions", {})


@pytest.mark.parametrize("body", [b'{"index": 0, "content": " peso"}', b'[{"content": " peso"}]'])
def test_an_address_without_v1_is_said_to_lack_it(body):
    """So llama.cpp replies at /completions, which is of an interface of its own."""
    with serving("none", before=lambda *_: (200, {}, body)) as server:
        address = server.base_url.removesuffix("/v1")
        with pytest.raises(RefusedError, match=f"try {address}/v1"):
            OpenAICompatible(f"llama@{address}").sample("Q: A:", 1)


@pytest.mark.parametrize("part", ["{}", "[]", "0", '""'])
def test_a_reply_that_explodes_once_it_is_parsed_is_refused_for_good(part):
    with pytest.raises(RefusedError, match=r"sent a reply of more than .* Check that the address"):
        posted(b'{"choices": [%s]}' % b",".join([part.encode()] * 800_000))


def test_the_largest_reply_that_is_asked_for_is_read():
    listed = {
        "tokens": ["a"] * 2300,
        "token_logprobs": [-1.5] * 2300,
        "top_logprobs": [{"a": -1.5, "b": -2.5}] * 2300,
        "text_offset": [9999] * 2300,
    }
    choices = [{"index": i, "text": "a" * 2300, "logprobs": listed} for i in range(64)]
    body = json.dumps({"choices": choices}, separators=(",", ":")).encode()
    assert len(posted(body)["choices"]) == 64
