"""Small files of many layouts say what llama.cpp says of them, or are refused by name."""

import json

import numpy as np
import pytest

from core.language_models.backends.gguf.model import GGUF
from core.language_models.errors import BrokenModelError
from tests.language_models.backends.gguf.layouts import LAYOUTS, PROMPTS, written
from tests.language_models.backends.gguf.recording import RECORDED

LLAMA_CPP = json.loads(RECORDED.read_text())["layouts"]


@pytest.mark.parametrize("name", [name for name in LAYOUTS if not LAYOUTS[name].refusal])
def test_a_layout_says_what_llama_cpp_says(tmp_path, name):
    model = GGUF(str(written(name, tmp_path)))
    for prompt, (tokens, likeliest) in zip(PROMPTS, LLAMA_CPP[name], strict=True):
        assert model.encode_prompt(prompt) == tokens
        hidden, _ = model.llama.forward(np.array([tokens]))
        ours = model.llama.log_softmax(hidden[0, -1])[[int(token) for token in likeliest]]
        np.testing.assert_allclose(ours, list(likeliest.values()), atol=2e-4)


@pytest.mark.parametrize("name", [name for name in LAYOUTS if LAYOUTS[name].refusal])
def test_what_would_be_another_network_is_refused_by_name(tmp_path, name):
    with pytest.raises(BrokenModelError, match=LAYOUTS[name].refusal):
        GGUF(str(written(name, tmp_path)))
