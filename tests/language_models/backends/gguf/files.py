"""GGUF files for the tests: the embedded model's weights, as llama.cpp would store them."""

import json
from pathlib import Path

import numpy as np
from gguf import GGMLQuantizationType, GGUFWriter, quantize

from core.language_models.backends.embedded import FOLDER
from core.language_models.backends.embedded.model import restore
from core.language_models.backends.gguf.vocabulary import TokenType
from core.language_models.backends.gguf.weights import LAYER_NAMES, NAMES

TEMPLATE = (
    "{% for m in messages %}<|{{ m['role'] }}|>{{ m['content'] }}<|end|>{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)


def embedded_as_gguf(
    path, *, kind=GGMLQuantizationType.F32, architecture="llama", shapes=None, **changed
):
    """Write the embedded model as a GGUF file.

    `changed` replaces fields, None omits one; `shapes` puts zeros in place of weights.
    """
    config = json.loads((FOLDER / "config.json").read_text())
    tokenizer = json.loads((FOLDER / "tokenizer.json").read_text())
    ids, kinds = dict(tokenizer["model"]["vocab"]), {}
    for token in tokenizer["added_tokens"]:
        ids[token["content"]] = token["id"]
        kinds[token["id"]] = TokenType.CONTROL if token["special"] else TokenType.USER_DEFINED
    heads = config["num_attention_heads"]
    fields = {
        f"{architecture}.block_count": config["num_hidden_layers"],
        f"{architecture}.context_length": config["max_position_embeddings"],
        f"{architecture}.embedding_length": config["hidden_size"],
        f"{architecture}.feed_forward_length": config["intermediate_size"],
        f"{architecture}.attention.head_count": heads,
        f"{architecture}.attention.head_count_kv": config["num_key_value_heads"],
        f"{architecture}.attention.layer_norm_rms_epsilon": config["rms_norm_eps"],
        f"{architecture}.rope.freq_base": config["rope_theta"],
        "tokenizer.ggml.model": "gpt2",
        "tokenizer.ggml.pre": "gpt-2",
        "tokenizer.ggml.tokens": sorted(ids, key=ids.get),
        "tokenizer.ggml.token_type": [int(kinds.get(i, TokenType.NORMAL)) for i in range(len(ids))],
        "tokenizer.ggml.merges": [" ".join(pair) for pair in tokenizer["model"]["merges"]],
        "tokenizer.ggml.eos_token_id": config["eos_token_id"],
        "tokenizer.chat_template": TEMPLATE,
    }
    fields |= {name.replace("__", "."): value for name, value in changed.items()}
    writer = GGUFWriter(path, architecture)
    for name, value in fields.items():
        add(writer, name, value)
    shapes = shapes or {}
    for name, values in restore(FOLDER).items():
        stored = _stored(name)
        if stored in shapes:
            continue
        if stored.split(".")[-2] in ("attn_q", "attn_k") and architecture == "llama":
            rows, width = values.shape
            pairs = values.reshape(heads, 2, rows // heads // 2, width)
            values = pairs.swapaxes(1, 2).reshape(rows, width)
        values = np.ascontiguousarray(values, np.float32)
        if values.ndim == 2 and kind != GGMLQuantizationType.F32:
            writer.add_tensor(stored, quantize(values, kind), raw_dtype=kind)
        else:
            writer.add_tensor(stored, values)
    for name, shape in shapes.items():
        writer.add_tensor(name, np.zeros(shape, np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return Path(path)


def add(writer, name, value):
    """Add a field of whatever type; None adds nothing."""
    if isinstance(value, list):
        writer.add_array(name, value)
    elif isinstance(value, str):
        writer.add_string(name, value)
    elif isinstance(value, bool):
        writer.add_bool(name, value)
    elif isinstance(value, float):
        writer.add_float32(name, value)
    elif value is not None:
        writer.add_uint32(name, value)


def _stored(name):
    if name in NAMES:
        return NAMES[name]
    _, _, layer, rest = name.split(".", 3)
    part, _, kind = rest.rpartition(".")
    return f"blk.{layer}.{LAYER_NAMES[part]}.{kind}"
