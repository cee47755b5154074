"""Small files of many layouts say what llama.cpp says of them, or are refused by name."""

import json

import numpy as np
import pytest

from core.language_models.backends.gguf.model import GGUF
from core.language_models.backends.gguf.vocabulary import NOT_STATED
from core.language_models.errors import BrokenModelError
from core.language_models.forms import Form, in_front
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


@pytest.mark.parametrize("name", ["base", "llama-bpe", "default cuts", "qwen2", "SentencePiece"])
def test_what_stands_around_a_prompt_and_the_prompt_are_one_text(tmp_path, name):
    template = "{{ bos_token }}[INST] {{ messages[0].content }}\n\n[/INST] Answer:"
    model = GGUF(str(written(name, tmp_path, **{"tokenizer.chat_template": template})))
    plain, chat = (model.in_form(form) for form in (Form.PLAIN, Form.CHAT))
    for prompt in PROMPTS:
        tokens = plain.encode_prompt(f"[INST] {prompt}\n\n[/INST] Answer:")
        assert chat.encode_prompt(prompt)[-len(tokens) :] == tokens


def test_examples_and_a_prompt_are_one_text(tmp_path):
    model = GGUF(str(written("SentencePiece", tmp_path, **{".context_length": 4096})))
    examples = model.in_form(Form.EXAMPLES)
    assert examples.encode_prompt(PROMPTS[0]) == model.encode_prompt(in_front() + PROMPTS[0])


def test_a_file_that_does_not_say_how_it_cuts_says_so_beside_every_number(tmp_path):
    assert GGUF(str(written("cuts not stated", tmp_path))).capabilities.notes == (NOT_STATED,)
    assert GGUF(str(written("base", tmp_path))).capabilities.notes == ()


def test_a_beginning_that_is_not_named_is_missed(tmp_path):
    file = written("llama-bpe", tmp_path, **{"tokenizer.ggml.bos_token_id": None})
    with pytest.raises(BrokenModelError, match="does not name it"):
        GGUF(str(file))
