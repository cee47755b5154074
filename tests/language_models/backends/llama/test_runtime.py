"""What the runtime has beyond the embedded model: heads that share keys, large products."""

import numpy as np
import pytest
from scipy.special import softmax

from core.language_models.backends.llama import runtime
from core.language_models.backends.llama.runtime import Llama, Segment

VOCABULARY, LAYERS = 50, 2


def made(heads, key_heads, head_width, *, seed=0, **more):
    """Return a random network's weights and sizes; `more` names arrays of every layer."""
    rng = np.random.default_rng(seed)
    width, inner = heads * head_width, 48

    def array(*shape):
        return rng.normal(0, 0.3, shape).astype(np.float32)

    weights = {
        "model.embed_tokens.weight": array(VOCABULARY, width),
        "model.norm.weight": array(width),
    }
    for i in range(LAYERS):
        own = {
            "input_layernorm.weight": array(width),
            "self_attn.q_proj.weight": array(heads * head_width, width),
            "self_attn.k_proj.weight": array(key_heads * head_width, width),
            "self_attn.v_proj.weight": array(key_heads * head_width, width),
            "self_attn.o_proj.weight": array(width, heads * head_width),
            "post_attention_layernorm.weight": array(width),
            "mlp.gate_proj.weight": array(inner, width),
            "mlp.up_proj.weight": array(inner, width),
            "mlp.down_proj.weight": array(width, inner),
            **{name: array(*shape) for name, shape in more.items()},
        }
        weights |= {f"model.layers.{i}.{name}": value for name, value in own.items()}
    config = {
        "num_attention_heads": heads,
        "num_key_value_heads": key_heads,
        "hidden_size": width,
        "rms_norm_eps": 1e-5,
        "max_position_embeddings": 64,
        "num_hidden_layers": LAYERS,
        "rope_theta": 10_000.0,
    }
    return weights, config


def test_heads_that_share_keys_are_as_many_heads_with_equal_ones():
    weights, config = made(6, 2, 8)
    repeated = {
        name: np.repeat(value.reshape(2, 8, -1), 3, axis=0).reshape(48, -1)
        if "k_proj" in name or "v_proj" in name
        else value
        for name, value in weights.items()
    }
    tokens = np.random.default_rng(1).integers(0, VOCABULARY, (3, 9))
    shared, whole = Llama(weights, config), Llama(repeated, config | {"num_key_value_heads": 6})
    seen, same = [], []
    hidden, past = shared.forward(tokens, attention=seen)
    expected, _ = whole.forward(tokens, attention=same)
    np.testing.assert_allclose(hidden, expected, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(seen, same, rtol=1e-4, atol=1e-5)
    # In pieces, and from a past that several rows share.
    first, begun = shared.forward(tokens[:1, :4])
    behind, _ = shared.forward(np.repeat(tokens[:1, 4:], 2, axis=0), (begun,))
    np.testing.assert_allclose(
        np.concatenate([first[0], behind[1]]), hidden[0], rtol=1e-4, atol=1e-4
    )
    assert past.keys[0].shape == (3, 2, 9, 8)


def test_large_products_are_dealt_to_all_processors_and_are_the_same(monkeypatch):
    weights, config = made(9, 3, 64)
    tokens = np.random.default_rng(1).integers(0, VOCABULARY, (4, 7))
    monkeypatch.setattr(runtime, "LARGE", np.inf)
    alone, _ = Llama(weights, config).forward(tokens)
    monkeypatch.setattr(runtime, "LARGE", 1)
    monkeypatch.setattr(runtime, "PROCESSORS", 3)
    dealt, _ = Llama(weights, config).forward(tokens)
    np.testing.assert_allclose(dealt, alone, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("chunk", [1, 100, 10**9])
def test_a_target_of_minus_one_is_any_of_the_ends(monkeypatch, chunk):
    llama = Llama(*made(2, 1, 8))
    monkeypatch.setattr(runtime, "LOGITS", chunk)
    hidden = np.random.default_rng(2).normal(size=(5, 16)).astype(np.float32)
    table = np.exp(llama.log_softmax(hidden))
    found = llama.log_probability(hidden, np.array([3, -1, 0, -1, 49]), np.array([7, 11]))
    expected = [table[0, 3], table[1, [7, 11]].sum(), table[2, 0], table[3, [7, 11]].sum()]
    np.testing.assert_allclose(np.exp(found), [*expected, table[4, 49]], rtol=1e-4)


def test_an_output_of_its_own_is_not_the_embeddings():
    weights, config = made(2, 2, 8)
    own = np.random.default_rng(3).normal(size=(VOCABULARY, 16)).astype(np.float32)
    hidden = np.ones((1, 16), np.float32)
    found = Llama(weights | {"lm_head.weight": own}, config).log_softmax(hidden)[0]
    logits = own.sum(axis=1)
    np.testing.assert_allclose(found, logits - np.logaddexp.reduce(logits), rtol=1e-4, atol=1e-4)


def test_batches_that_share_nothing_are_each_what_they_are_alone():
    """Of different lengths, some behind a past that rows share or leave at their own places."""
    llama = Llama(*made(6, 2, 8))
    rng = np.random.default_rng(4)
    _, one = llama.forward(rng.integers(0, VOCABULARY, (1, 7)))
    _, two = llama.forward(rng.integers(0, VOCABULARY, (2, 5)))
    left = Segment(one.keys, one.values, np.array([3, 7]))
    batches = [
        (rng.integers(0, VOCABULARY, shape), past)
        for shape, past in (
            *(((1, 6), ()), ((4, 1), (one,)), ((2, 3), (left,))),
            *(((6, 2), (one, two)), ((1, 1), ())),
        )
    ]
    found = llama.forward_all(batches)
    for (tokens, past), (hidden, segment) in zip(batches, found, strict=True):
        expected, became = llama.forward(tokens, past)
        np.testing.assert_allclose(hidden, expected, rtol=1e-4, atol=1e-4)
        np.testing.assert_allclose(segment.keys, became.keys, rtol=1e-4, atol=1e-4)
        np.testing.assert_allclose(segment.values, became.values, rtol=1e-4, atol=1e-4)
        np.testing.assert_array_equal(segment.lengths, became.lengths)


@pytest.mark.parametrize("chunk", [1, 100, 10**9])
def test_likelihoods_of_many_rows_are_those_of_each(monkeypatch, chunk):
    llama = Llama(*made(2, 1, 8))
    monkeypatch.setattr(runtime, "LOGITS", chunk)
    hidden = np.random.default_rng(5).normal(size=(3, 4, 16)).astype(np.float32)
    found = llama.log_softmax(hidden)
    logits = hidden @ llama.unembedding.T
    expected = logits - np.logaddexp.reduce(logits, axis=-1, keepdims=True)
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)


def test_what_comes_into_a_layer_and_its_key_query_matrices_make_its_attention():
    """With rotary positions put back, they are the logits of which the softmax is taken."""
    llama = Llama(*made(4, 2, 16))
    tokens = np.random.default_rng(1).integers(0, VOCABULARY, (1, 9))
    attention, states = [], []
    llama.forward(tokens, attention=attention, states=states)
    assert [state.shape for state in states] == [(9, 64)] * LAYERS
    np.testing.assert_array_equal(states[0], llama.embeddings[tokens[0]])

    def rotated(x):
        one, other = np.split(x, 2, axis=-1)
        turned = np.concatenate([-other, one], axis=-1)
        return x * llama.cosine[:9] + turned * llama.sine[:9]

    for head, (query, key) in enumerate(llama.key_query()):
        layer, place = divmod(head, llama.heads)
        x = states[layer].astype(float)
        x /= np.sqrt(np.square(x).mean(axis=-1, keepdims=True) + llama.epsilon)
        logits = rotated(x @ key) @ rotated(x @ query)[-1] / np.sqrt(llama.head_width)
        np.testing.assert_allclose(
            attention[layer][0, place], softmax(logits), rtol=2e-4, atol=1e-6
        )
    assert not llama.normalises_keys
