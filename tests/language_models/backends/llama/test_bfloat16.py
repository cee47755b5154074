"""Weights in half the memory: the nearest numbers of 16 bits, and the network that these make."""

import numpy as np
import pytest

from core.language_models.backends.llama import runtime
from core.language_models.backends.llama.bfloat16 import BFloat16Matrix
from core.language_models.backends.llama.runtime import Llama
from tests.language_models.backends.llama.test_runtime import VOCABULARY, made


def bfloat16(numbers):
    matrix = BFloat16Matrix(np.empty(numbers.shape, np.uint16))
    matrix[:] = numbers
    return matrix


def test_each_number_becomes_the_nearest_of_eight_digits():
    step = 2.0**-7  # between neighbours from 1 to 2
    numbers = [0.0, -0.0, 1.0, -2.5, 1 + step, 1 + 0.49 * step, 1 + 0.51 * step, 2.0**-130]
    nearest = [0.0, -0.0, 1.0, -2.5, 1 + step, 1.0, 1 + step, 2.0**-130]
    ties, even = [1 + step / 2, 1 + 3 * step / 2], [1.0, 1 + 2 * step]
    matrix = bfloat16(np.array([numbers + ties], np.float32))
    np.testing.assert_array_equal(matrix[:], np.array([nearest + even], np.float32))
    assert np.signbit(matrix[0, 1])
    assert (matrix.shape, matrix.size, len(matrix)) == ((1, 10), 10, 1)
    numbers = np.random.default_rng(0).normal(size=(200, 300)).astype(np.float32)
    assert (np.abs(bfloat16(numbers)[:] - numbers) <= 2.0**-8 * np.abs(numbers)).all()


@pytest.mark.parametrize(("wide", "whole"), [(576, 2**19), (1, 64)], ids=["small", "dealt"])
def test_a_network_of_bfloat16_weights_is_that_of_the_rounded_numbers(monkeypatch, wide, whole):
    monkeypatch.setattr(runtime, "WIDE", wide)
    monkeypatch.setattr(runtime, "LARGE", wide)
    monkeypatch.setattr(runtime, "WHOLE", whole)
    monkeypatch.setattr(runtime, "LEAST_PART", 1)
    weights, config = made(4, 2, 8)
    weights["lm_head.weight"] = weights["model.embed_tokens.weight"][::-1]
    rounded = {n: bfloat16(w)[:] if w.ndim == 2 else w for n, w in weights.items()}
    network, same = Llama(weights, config, bfloat16=True), Llama(rounded, config)
    tokens = np.random.default_rng(1).integers(0, VOCABULARY, (3, 9))
    hidden, _ = network.forward(tokens)
    expected, _ = same.forward(tokens)
    np.testing.assert_allclose(hidden, expected, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(
        network.log_softmax(hidden), same.log_softmax(hidden), rtol=1e-4, atol=1e-4
    )
    for ours, theirs in zip(network.key_query(), same.key_query(), strict=True):
        np.testing.assert_array_equal(ours, theirs)
