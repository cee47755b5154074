"""Small GGUF files of many layouts, with random weights, to hold against llama.cpp.

`recording` writes down what llama.cpp says of each; the tests compare.
"""

import json
import zlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from gguf import GGUFWriter
from tokenizers import pre_tokenizers

from core.language_models.backends.embedded import FOLDER
from core.language_models.backends.gguf.vocabulary import TokenType
from tests.language_models.backends.gguf.files import add

PROMPTS = (
    "Consider the following question:\nQ: What is the capital of the UK?\nA:",
    "Q: In 1987, how much did 1,250 items at $3.50 cost? (don't guess)\n\nA:",
    "Name a city: Zürich, 東京, München... A:",
    "</s>Hello  world <think> x <think><think>",
)
WIDTH, HEADS, KEY_HEADS, HIDDEN, LAYERS, HEAD = 64, 4, 2, 128, 2, 16
MERGES = 1500  # of the embedded model's: enough for words, few enough for a small file
GPT2, LLAMA = "gpt2", "llama"
OUTPUT_BIAS = {"blk.{}.attn_output.bias": (WIDTH,)}
MLP_BIAS = {
    "blk.{}.ffn_gate.bias": (HIDDEN,),
    "blk.{}.ffn_up.bias": (HIDDEN,),
    "blk.{}.ffn_down.bias": (WIDTH,),
}
QKV_BIAS = {
    "blk.{}.attn_q.bias": (HEADS * HEAD,),
    "blk.{}.attn_k.bias": (KEY_HEADS * HEAD,),
    "blk.{}.attn_v.bias": (KEY_HEADS * HEAD,),
}
NORMS = {"blk.{}.attn_q_norm.weight": (HEAD,), "blk.{}.attn_k_norm.weight": (HEAD,)}


@dataclass(frozen=True)
class Layout:
    """What is unusual about a file."""

    # Metadata on top of the usual; below the architecture's name where a name begins with a dot.
    fields: dict[str, Any] = field(default_factory=dict)
    # Shapes of tensors on top of the usual; ``{}`` in a name stands for every layer.
    tensors: dict[str, tuple[int, ...]] = field(default_factory=dict)
    refusal: str = ""  # words of the sentence with which Believe refuses the file
    architecture: str = "llama"
    vocabulary: str = GPT2
    tied: bool = True


def _qwen(name: str, *, tied: bool = True, **options: Any) -> Layout:
    tensors = {**(QKV_BIAS if name == "qwen2" else NORMS), **options.get("tensors", {})}
    fields = {"tokenizer.ggml.pre": "qwen2", **options.get("fields", {})}
    return Layout(fields, tensors, architecture=name, tied=tied)


HEAD_WIDTHS = (".attention.key_length", ".attention.value_length")
PRE, BOS = "tokenizer.ggml.pre", "tokenizer.ggml.add_bos_token"
LAYOUTS = {
    "base": Layout(),
    "untied": Layout(tied=False),
    "qkv bias": Layout(tensors=QKV_BIAS),
    "output bias": Layout(tensors=OUTPUT_BIAS),
    "MLP bias": Layout(tensors=MLP_BIAS),
    "all biases": Layout(tensors=QKV_BIAS | OUTPUT_BIAS | MLP_BIAS),
    "rotary factors": Layout(tensors={"rope_freqs.weight": (HEAD // 2,)}),
    "linear": Layout({".rope.scaling.type": "linear", ".rope.scaling.factor": 4.0}),
    "factor without type": Layout({".rope.scaling.factor": 4.0}),
    "older name of the factor": Layout({".rope.scale_linear": 4.0}),
    "type none": Layout({".rope.scaling.type": "none", ".rope.scaling.factor": 4.0}),
    "linear and rotary factors": Layout(
        {".rope.scaling.factor": 4.0}, {"rope_freqs.weight": (HEAD // 2,)}
    ),
    "yarn": Layout(
        {".rope.scaling.type": "yarn", ".rope.scaling.factor": 4.0}, refusal="rope.scaling.type"
    ),
    "attention factor": Layout(
        {".rope.scaling.attn_factor": 2.0}, refusal="llama.rope.scaling.attn_factor"
    ),
    "not causal": Layout({".attention.causal": False}, refusal="llama.attention.causal"),
    "sliding window": Layout({".attention.sliding_window": 8}),
    "attention scale": Layout({".attention.scale": 0.5}),
    "soft caps": Layout({".attn_logit_softcapping": 5.0, ".final_logit_softcapping": 5.0}),
    "logit scale": Layout({".logit_scale": 0.25}),
    "another width of values": Layout(
        dict(zip(HEAD_WIDTHS, (HEAD, 2 * HEAD), strict=True)),
        refusal="llama.attention.value_length",
    ),
    "half rotary": Layout({".rope.dimension_count": 8}, refusal="llama.rope.dimension_count"),
    "experts": Layout({".expert_count": 2}, refusal="llama.expert_count"),
    "sinks": Layout(tensors={"blk.{}.attn_sinks": (HEADS,)}, refusal="blk.0.attn_sinks"),
    "norms behind": Layout(
        tensors={"blk.{}.post_attention_norm.weight": (WIDTH,)}, refusal="post_attention_norm"
    ),
    "norms of keys": Layout(tensors=NORMS, refusal="blk.0.attn_k_norm.weight"),
    "LoRA": Layout(
        tensors={"blk.{}.attn_q.weight.lora_a": (4, WIDTH)}, refusal="attn_q.weight.lora_a"
    ),
    "long rotary factors": Layout(
        tensors={"rope_factors_long.weight": (HEAD // 2,)}, refusal="rope_factors_long"
    ),
    "split": Layout({"split.no": 0, "split.count": 2}, refusal="part 1 of 2"),
    "qwen2": _qwen("qwen2"),
    "qwen2 untied": _qwen("qwen2", tied=False),
    "qwen2 bias behind": _qwen("qwen2", tied=False, tensors={"output.bias": (0,)}),
    "qwen2 sliding window": _qwen("qwen2", fields={".attention.sliding_window": 8}),
    "qwen3": _qwen(
        "qwen3", fields={".attention.key_length": HEAD, ".attention.value_length": HEAD}
    ),
    "qwen3 qkv bias": _qwen("qwen3", tensors=QKV_BIAS),
    "gpt-2 cuts": Layout({PRE: "gpt-2"}),
    "gpt-2 cuts with a beginning": Layout({PRE: "gpt-2", BOS: True}),
    "llama-bpe with a beginning": Layout({PRE: "llama-bpe", BOS: True}),
    "llama-bpe": Layout({PRE: "llama-bpe"}),
    "llama-bpe without a beginning": Layout({PRE: "llama-bpe", BOS: False}),
    "cuts not stated": Layout({PRE: None}),
    "default cuts": Layout({PRE: "default"}),
    "qwen2 cuts": Layout({PRE: "qwen2"}),
    "end behind every text": Layout(
        {"tokenizer.ggml.add_eos_token": True},
        vocabulary=LLAMA,
        refusal="tokenizer.ggml.add_eos_token",
    ),
    "SentencePiece": Layout(vocabulary=LLAMA),
    "SentencePiece without a beginning": Layout({BOS: False}, vocabulary=LLAMA),
    "SentencePiece without a space": Layout(
        {"tokenizer.ggml.add_space_prefix": False}, vocabulary=LLAMA
    ),
}


def written(name: str, folder: Path, **changed: Any) -> Path:
    """Write the file of a layout into a folder; `changed` replaces fields, None omits one."""
    layout, file = LAYOUTS[name], folder / f"{name}.gguf"
    tokens = _vocabulary(layout.vocabulary)
    fields = {
        ".block_count": LAYERS,
        ".context_length": 512,
        ".embedding_length": WIDTH,
        ".feed_forward_length": HIDDEN,
        ".attention.head_count": HEADS,
        ".attention.head_count_kv": KEY_HEADS,
        ".attention.layer_norm_rms_epsilon": 1e-5,
        ".rope.freq_base": 10_000.0,
        ".rope.dimension_count": HEAD,
        **tokens,
        **layout.fields,
        **changed,
    }
    writer = GGUFWriter(file, layout.architecture)
    for key, value in fields.items():
        add(writer, layout.architecture + key if key[0] == "." else key, value)
    for key, shape in _shapes(layout, len(tokens["tokenizer.ggml.tokens"])).items():
        writer.add_tensor(key, _values(key, shape))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return file


def _shapes(layout: Layout, tokens: int) -> dict[str, tuple[int, ...]]:
    values = layout.fields.get(".attention.value_length", HEAD)
    usual = {
        "blk.{}.attn_norm.weight": (WIDTH,),
        "blk.{}.attn_q.weight": (HEADS * HEAD, WIDTH),
        "blk.{}.attn_k.weight": (KEY_HEADS * HEAD, WIDTH),
        "blk.{}.attn_v.weight": (KEY_HEADS * values, WIDTH),
        "blk.{}.attn_output.weight": (WIDTH, HEADS * values),
        "blk.{}.ffn_norm.weight": (WIDTH,),
        "blk.{}.ffn_gate.weight": (HIDDEN, WIDTH),
        "blk.{}.ffn_up.weight": (HIDDEN, WIDTH),
        "blk.{}.ffn_down.weight": (WIDTH, HIDDEN),
        **layout.tensors,
    }
    shapes = {"token_embd.weight": (tokens, WIDTH), "output_norm.weight": (WIDTH,)}
    if not layout.tied:
        shapes["output.weight"] = (tokens, WIDTH)
    for key, shape in usual.items():
        names = [key.format(layer) for layer in range(LAYERS)] if "{}" in key else [key]
        shapes |= dict.fromkeys(names, tuple(size or tokens for size in shape))
    return shapes


def _values(name: str, shape: tuple[int, ...]) -> np.ndarray:
    """Return random weights that depend on their name and shape alone."""
    noise = np.random.default_rng(zlib.crc32(name.encode())).normal(size=shape)
    if name == "rope_freqs.weight":
        return np.linspace(1, 8, *shape).astype(np.float32)
    if name.endswith("norm.weight"):
        return (1 + noise / 10).astype(np.float32)
    scale = 1.0 if name.startswith("token_embd") else 0.5 if name.endswith("bias") else 0.25
    return (scale * noise).astype(np.float32)


def _vocabulary(kind: str) -> dict[str, Any]:
    """Return the metadata of a small vocabulary, from the first merges of the embedded model."""
    merges = json.loads((FOLDER / "tokenizer.json").read_text())["model"]["merges"][:MERGES]
    if kind == GPT2:
        signs = sorted({*_byte_signs(), *(sign for pair in merges for sign in "".join(pair))})
        words = dict.fromkeys("".join(pair) for pair in merges)  # two pairs may make one token
        tokens = ["<unk>", "<s>", "</s>", *signs, *words]
        kinds = [TokenType.CONTROL] * 3 + [TokenType.NORMAL] * (len(tokens) - 3)
        more: dict[str, Any] = {
            PRE: "smollm",
            "tokenizer.ggml.merges": [" ".join(pair) for pair in merges],
        }
    else:
        pieces = list(dict.fromkeys("".join(pair).replace("Ġ", "▁") for pair in merges))
        pieces = [piece for piece in pieces if piece.replace("▁", "").isascii()]
        signs = sorted({sign for piece in pieces for sign in piece} | {"▁"})
        tokens = ["<unk>", "<s>", "</s>", *(f"<0x{i:02X}>" for i in range(256)), *pieces, *signs]
        kinds = [TokenType.UNKNOWN, *[TokenType.CONTROL] * 2, *[TokenType.BYTE] * 256]
        kinds += [TokenType.NORMAL] * (len(tokens) - len(kinds))
        scores = [0.0] * 259 + [-float(i) for i in range(len(tokens) - 258)]
        more = {"tokenizer.ggml.scores": scores}
    return {
        "tokenizer.ggml.model": kind,
        "tokenizer.ggml.tokens": [*tokens, "<think>"],
        "tokenizer.ggml.token_type": [*map(int, kinds), int(TokenType.USER_DEFINED)],
        "tokenizer.ggml.bos_token_id": 1,
        "tokenizer.ggml.eos_token_id": 2,
        **more,
    }


def _byte_signs() -> list[str]:
    return sorted(pre_tokenizers.ByteLevel.alphabet())
