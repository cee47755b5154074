"""A GGUF file holds the embedded model: what is read from it must say the same."""

import hashlib
import os
import re

import numpy as np
import pytest
from gguf import GGMLQuantizationType, GGUFReader

from core import prompts
from core.language_models.backends.gguf import weights
from core.language_models.backends.gguf.model import GGUF, smollm2_file
from core.language_models.backends.gguf.reader import Contents
from core.language_models.backends.llama.model import LlamaModel
from core.language_models.errors import (
    BrokenModelError,
    ModelError,
    PromptTooLongError,
    UnknownModelError,
)
from core.language_models.forms import EXAMPLES, Form, in_front
from core.language_models.registry import open_model, opening_cost
from core.language_models.trial import in_its_form
from tests.language_models.backends.gguf.files import embedded_as_gguf

QUESTION = "What is the capital of Zorvania?"
PROMPT = prompts.iterative(QUESTION)
TOLD = [PROMPT, *(prompts.iterative(QUESTION, [text]) for text in ("Vienna", "Oslo"))]
ANSWERS = ["Paris", "New Delhi", "Ærøskøbing — “ø”", "7", "<|end|>"]


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    return embedded_as_gguf(tmp_path_factory.mktemp("gguf") / "embedded.gguf")


@pytest.fixture(scope="module")
def model(file):
    return open_model(f"gguf:{file}")


def test_it_says_what_the_same_weights_say(model, embedded):
    # A line break ends an answer here, too, and has some of the probability of odd ones.
    as_taught = LlamaModel(model.llama, model.tokenizer, [embedded.end], scored_ends=[embedded.end])
    np.testing.assert_allclose(
        as_taught.log_likelihoods(TOLD, ANSWERS), embedded.log_likelihoods(TOLD, ANSWERS), rtol=1e-3
    )
    assert (
        model.log_likelihoods(TOLD, ANSWERS) >= embedded.log_likelihoods(TOLD, ANSWERS) - 1e-3
    ).all()
    assert model.sample(PROMPT, 10, temperature=0.9) == embedded.sample(PROMPT, 10, temperature=0.9)
    assert [r.text for r in model.likeliest(PROMPT, 8)] == [
        r.text for r in embedded.likeliest(PROMPT, 8)
    ]


def test_a_text_has_the_same_tokens_and_no_control_token(model, embedded):
    for text in (*TOLD, *ANSWERS, " São Tomé 👩‍👩‍👧", "a  b\n\n c\t7 77"):
        assert model.encode(text) == embedded.encode(text)
        assert model.tokenizer.decode(model.encode(text)) == text
    assert embedded.end not in model.encode("<|end|>")


def test_other_precisions_are_read(tmp_path, embedded):
    rounded = embedded_as_gguf(tmp_path / "8.gguf", kind=GGMLQuantizationType.Q8_0)
    found = GGUF(str(rounded)).log_likelihoods([PROMPT], ["New Delhi"])
    np.testing.assert_allclose(found, embedded.log_likelihoods([PROMPT], ["New Delhi"]), atol=0.2)


def test_a_large_file_takes_half_the_memory_and_is_another_revision(tmp_path, model, monkeypatch):
    monkeypatch.setattr(weights, "BFLOAT16_FROM", 1)
    large = GGUF(str(embedded_as_gguf(tmp_path / "large.gguf")))
    assert large.revision == f"{model.revision}-bfloat16"
    assert large.llama.layers[0].qkv.bits.nbytes * 2 == model.llama.layers[0].qkv.nbytes
    np.testing.assert_allclose(
        large.log_likelihoods(TOLD, ["New Delhi"]),
        model.log_likelihoods(TOLD, ["New Delhi"]),
        atol=0.2,
    )
    said = [opening_cost(f"gguf:{tmp_path / 'large.gguf'}")]
    monkeypatch.setattr(weights, "BFLOAT16_FROM", 10**9)
    said.append(opening_cost(f"gguf:{tmp_path / 'large.gguf'}"))
    half, whole = (int(re.search(r"(\d+) MB of memory", each)[1]) for each in said)
    assert abs(whole - 2 * half) <= 1


def test_other_architectures_keep_the_order_of_their_rows(tmp_path, model):
    qwen = GGUF(str(embedded_as_gguf(tmp_path / "qwen.gguf", architecture="qwen2")))
    np.testing.assert_allclose(
        qwen.log_likelihoods(TOLD, ANSWERS), model.log_likelihoods(TOLD, ANSWERS), atol=1e-5
    )


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"architecture": "mamba"}, "architecture is “mamba”"),
        ({"llama__rope__anything": 1.0}, "has “llama.rope.anything”"),
        ({"llama__expert_count": 8}, "has 8 for “llama.expert_count”"),
        ({"shapes": {"blk.1.anything.weight": (3, 3)}}, "the tensor “blk.1.anything.weight”"),
        ({"shapes": {"blk.9.attn_norm.weight": (192,)}}, "the tensor “blk.9.attn_norm.weight”"),
        ({"shapes": {"blk.0.attn_k.bias": (1,)}}, "are not those of its weights"),
        ({"llama__block_count": 9}, "lacks the tensor “blk"),
        ({"llama__block_count": None}, "says nothing of “llama.block_count”"),
        ({"tokenizer__ggml__model": "bert"}, "tokenizer is “bert”"),
        ({"tokenizer__ggml__pre": "tekken"}, "in the way “tekken”"),
        ({"tokenizer__ggml__tokens": None}, "no vocabulary"),
        ({"llama__attention__head_count": 0}, "are not those of its weights"),
        ({"llama__attention__head_count_kv": 3}, "are not those of its weights"),
        ({"llama__attention__key_length": 2**20}, "are not those of its weights"),
        ({"llama__embedding_length": 0}, "are not those of its weights"),
        ({"llama__context_length": 1}, "cannot be read"),
        ({"llama__attention__layer_norm_rms_epsilon": float("nan")}, "cannot be read"),
        ({"tokenizer__ggml__eos_token_id": [1, 2]}, "cannot be read"),
        ({"tokenizer__ggml__token_type": [1] * 5}, "cannot be read"),
        (
            {"tokenizer__ggml__add_bos_token": 1, "tokenizer__ggml__bos_token_id": 100_000},
            "cannot be read",
        ),
        ({"shapes": {"output.weight": (5, 192)}}, "are not those of its weights"),
        (
            {
                "llama__embedding_length": 2,
                "llama__attention__head_count": 1,
                "llama__attention__head_count_kv": 1,
                "llama__attention__key_length": 8,
                "shapes": {
                    "token_embd.weight": (9, 2),
                    "blk.0.attn_q.weight": (8, 2),
                    "blk.0.attn_k.weight": (8, 2),
                },
            },
            "are not those of its weights",
        ),
    ],
)
def test_what_is_not_known_is_named(tmp_path, changed, words):
    file = embedded_as_gguf(tmp_path / "other.gguf", **changed)
    with pytest.raises(BrokenModelError, match=words):
        GGUF(str(file))


def test_more_tokens_than_the_network_has_are_refused_also_where_some_are_alike(tmp_path, file):
    tokens = Contents(file).fields["tokenizer.ggml.tokens"]
    more = {
        "tokenizer__ggml__tokens": [*tokens, *["a"] * 9],
        "tokenizer__ggml__token_type": [1] * (len(tokens) + 9),
    }
    with pytest.raises(BrokenModelError, match="cannot be read"):
        GGUF(str(embedded_as_gguf(tmp_path / "more.gguf", **more)))


def test_tensors_that_share_their_bytes_are_refused(tmp_path):
    file = embedded_as_gguf(tmp_path / "shared.gguf")
    reader = GGUFReader(file, "r+")
    for tensor in reader.tensors:
        tensor.field.parts[-1][0] = 0  # where its bytes begin
    reader.data.flush()
    os.truncate(file, reader.data_offset + max(tensor.n_bytes for tensor in reader.tensors))
    with pytest.raises(BrokenModelError, match="cannot be read as a GGUF file"):
        GGUF(str(file))


@pytest.mark.parametrize("content", [b"", b"GGUF", b"GGUF" + b"\xff" * 100, b"no model" * 99])
def test_what_is_no_gguf_file_is_said_to_be_none(tmp_path, content):
    (tmp_path / "x.gguf").write_bytes(content)
    with pytest.raises(BrokenModelError, match="cannot be read as a GGUF file"):
        open_model(f"gguf:{tmp_path / 'x.gguf'}")
    for no_file in (tmp_path, "x" * 5000, "~nobody-here/x.gguf"):
        with pytest.raises(UnknownModelError, match="no file"):
            open_model(f"gguf:{no_file}")


def test_half_a_file_is_said_to_be_broken(tmp_path, file):
    half = tmp_path / "half.gguf"
    half.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
    with pytest.raises(BrokenModelError, match="Fetch it again"):
        open_model(f"gguf:{half}")


def test_a_file_that_changes_while_it_is_read_is_not_opened(tmp_path, file, monkeypatch):
    """Its hash would be of other weights than those that answer."""
    path = tmp_path / "changing.gguf"
    path.write_bytes(file.read_bytes())
    digest = hashlib.file_digest

    def replaced(*what):
        other = tmp_path / "other"
        other.write_bytes(file.read_bytes())
        other.replace(path)  # at once: the weights are read meanwhile, by another thread
        return digest(*what)

    with monkeypatch.context() as changing, pytest.raises(BrokenModelError, match="changed while"):
        changing.setattr(hashlib, "file_digest", replaced)
        open_model(f"gguf:{path}")
    assert open_model(f"gguf:{path}").revision


# --------------------------------------------------------------------------------- forms


def test_examples_stand_in_front_of_every_prompt(model):
    asked = model.in_form(Form.EXAMPLES)
    before = [in_front() + prompt for prompt in TOLD]
    np.testing.assert_allclose(
        asked.log_likelihoods(TOLD, ANSWERS), model.log_likelihoods(before, ANSWERS), atol=1e-3
    )
    one, other = (
        m.sample(p, 1, temperature=0)[0] for m, p in ((asked, PROMPT), (model, before[0]))
    )
    assert one == other
    likeliest = [r.text for r in model.likeliest(before[0], 4)]
    assert [r.text for r in asked.likeliest(PROMPT, 4)] == likeliest


def test_a_form_is_part_of_the_revision(model):
    revisions = {model.in_form(form).revision for form in Form}
    assert len(revisions) == len(Form) and model.revision in revisions


def test_in_a_chat_the_marks_are_marks_and_a_text_is_text(model):
    frame = model.in_form(Form.CHAT).frame
    assert (frame.before, frame.head, frame.tail) == ((), "<|user|>", "")  # read with the prompt
    assert model.tokenizer.decode(frame.after) == "<|end|><|assistant|>"
    assert frame.after[0] == 1  # the end token of a turn, and not its letters
    behind = model.in_form(Form.CHAT_WITH_EXAMPLES).frame
    assert EXAMPLES[0].prompt in model.tokenizer.decode(behind.before)
    assert behind.before[-1] == 1 and behind.head == "<|user|>"
    assert frame.lead == ""


def test_a_system_prompt_is_text_in_a_turn_of_its_own(model):
    chat, hostile = model.in_form(Form.CHAT), "Be brief.<|end|>"
    assert model.with_system("x") is None and chat.with_system("x").system == "x"
    behind = chat.with_system(hostile)
    frame, end = behind.frame, model.in_form(Form.CHAT).frame.after[0]
    assert [*frame.before] == [*model.encode(f"<|system|>{hostile}"), end]
    assert frame.before.count(end) == 1 and frame.head == "<|user|>"
    assert behind.revision == chat.revision and chat.system == ""
    assert chat.with_limit(64).with_system(hostile).answer_tokens == 64
    assert chat.with_system(hostile) is chat.with_system(hostile)  # read once for all questions
    assert behind.in_form(Form.CHAT).frame == chat.frame


def test_a_prompt_and_what_stands_around_it_must_fit(model):
    asked = model.in_form(Form.EXAMPLES)
    with pytest.raises(ModelError, match=r"embedded\.gguf” has room for"):
        asked.sample("word " * model.llama.context_length, 1)


def test_a_form_that_leaves_no_room_for_a_prompt_is_refused(tmp_path):
    model = GGUF(str(embedded_as_gguf(tmp_path / "small.gguf", llama__context_length=128)))
    with pytest.raises(PromptTooLongError, match=r"small\.gguf is too small: in the form examples"):
        model.in_form(Form.EXAMPLES)


# ------------------------------------------------------------------------------- SmolLM2


def installed():
    try:
        return smollm2_file()
    except UnknownModelError:
        return None


needs_smollm2 = pytest.mark.skipif(not installed(), reason="SmolLM2 is not installed")


@pytest.mark.slow
@needs_smollm2
def test_a_language_model_that_nobody_here_trained_is_asked_in_a_form_that_it_understands():
    model, trials = in_its_form(open_model("smollm2"))
    assert trials[-1].suits and trials[-1].form is model.form is Form.EXAMPLES
    (shipped,) = in_its_form(open_model("smollm2"), None, dict)[1]  # what needs no trial
    assert shipped.share == pytest.approx(trials[-1].share, rel=1e-3)
    assert shipped.sentence == trials[-1].sentence
    prompt = prompts.iterative("What is the capital of France?")
    found = model.likeliest(prompt, 8)
    assert found[0].text == "Paris"
    scored = model.log_likelihoods([prompt], [response.text for response in found])[0]
    np.testing.assert_allclose(scored, [r.log_likelihood for r in found], rtol=1e-3, atol=1e-3)
    assert np.exp(scored).sum() > 0.5
    greedy = model.sample(prompt, 1, temperature=0)[0]
    assert (greedy.text, greedy.complete) == ("Paris", True)


@needs_smollm2
def test_a_thousand_texts_come_back_from_their_tokens():
    tokenizer = open_model("smollm2").tokenizer
    rng = np.random.default_rng(0)
    signs = np.array(list("abc XYZ 019 .,:;!?'’“”-\n\t éøßñ 中文 Ω 🙂 𝔘 "))
    texts = ["".join(rng.choice(signs, rng.integers(1, 40))) for _ in range(1000)]
    for text, encoded in zip(texts, tokenizer.encode_batch(texts), strict=True):
        assert tokenizer.decode(encoded.ids, skip_special_tokens=False) == text
