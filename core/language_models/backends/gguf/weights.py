"""What of a GGUF file the network is made of: its sizes, and its weights, one at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from gguf import GGUFReader, dequantize
from numpy.typing import NDArray

from core.language_models.errors import BrokenModelError

# Of these the runtime knows every line. llama.cpp calls Mistral and SmolLM “llama”, too.
ARCHITECTURES = ("llama", "qwen2", "qwen3")

# A table of rotary positions for more would take more memory than a small model.
LONGEST_CONTEXT = 8192

NAMES = {  # transformers' names -> llama.cpp's
    "model.embed_tokens.weight": "token_embd.weight",
    "model.norm.weight": "output_norm.weight",
    "lm_head.weight": "output.weight",
}
FIRST = {"token_embd.weight", "output.weight", "blk.0.attn_q.weight", "blk.0.attn_k.weight"}
LAYER_NAMES = {
    "input_layernorm": "attn_norm",
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.q_norm": "attn_q_norm",
    "self_attn.k_norm": "attn_k_norm",
    "self_attn.o_proj": "attn_output",
    "post_attention_layernorm": "ffn_norm",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
}


class Fields:
    """The metadata of a file, by their names."""

    def __init__(self, reader: GGUFReader) -> None:
        self._fields = reader.fields
        self.architecture = str(self.get("general.architecture", ""))

    def get(self, name: str, default: Any = None) -> Any:
        """Return a value, or the default where the file does not say."""
        field = self._fields.get(name)
        return default if field is None else field.contents()

    def own(self, name: str, default: Any = None) -> Any:
        """Return a value that is called by the architecture, such as ``llama.block_count``.

        Raises
        ------
        BrokenModelError
            When the file does not say, and there is no default.
        """
        value = self.get(f"{self.architecture}.{name}", default)
        if value is None:
            raise BrokenModelError(
                f"The file says nothing of “{self.architecture}.{name}”. Fetch it again, or choose "
                "another file."
            )
        return value


def config(fields: Fields, reader: GGUFReader) -> dict[str, Any]:
    """Return the sizes of the network, by transformers' names.

    Raises
    ------
    BrokenModelError
        When the runtime does not know the network; the sentence names what it does not know.
    """
    names = ", ".join(ARCHITECTURES)
    if fields.architecture not in ARCHITECTURES:
        raise BrokenModelError(
            f"The file’s architecture is “{fields.architecture:.40}”. Believe knows {names}: "
            "choose such a file, or serve this one with llama.cpp."
        )
    heads = int(fields.own("attention.head_count"))
    key_heads = int(fields.own("attention.head_count_kv", heads))
    width = int(fields.own("embedding_length"))
    head_width = int(fields.own("attention.key_length", width // max(heads, 1)))
    unknown = {
        "several experts": fields.own("expert_count", 0),
        "stretched positions": fields.own("rope.scaling.type", "none") != "none",
        "positions in a part of each head": fields.own("rope.dimension_count", head_width)
        != head_width,
    }
    for what, there in unknown.items():
        if there:
            raise BrokenModelError(
                f"The file’s network has {what}, which Believe does not know. Choose another file, "
                "or serve this one with llama.cpp."
            )
    tensors = {tensor.name: tensor for tensor in reader.tensors}
    # Nothing is made of a size that a file only states, and no tensors of the same bytes. A head is
    # no wider than the network: the table of positions takes a multiple of its width.
    shapes = {name: [int(size) for size in tensors[name].shape] for name in FIRST & tensors.keys()}
    embeddings = [width, *shapes.get("token_embd.weight", [])[1:]]
    stated = {
        "token_embd.weight": embeddings,
        "blk.0.attn_q.weight": [width, heads * head_width],
        "blk.0.attn_k.weight": [width, key_heads * head_width],
    }
    if "output.weight" in tensors:
        stated["output.weight"] = embeddings
    overlap = sum(tensor.n_bytes for tensor in reader.tensors) > reader.data.nbytes
    if overlap or min(heads, key_heads) < 1 or head_width > width or shapes != stated:
        raise BrokenModelError(
            "The sizes that the file states are not those of its weights. Fetch it again, or "
            "choose another file."
        )
    factors = tensors.get("rope_freqs.weight")
    return {
        "hidden_size": width,
        "num_hidden_layers": int(fields.own("block_count")),
        "num_attention_heads": heads,
        "num_key_value_heads": key_heads,
        "head_dim": head_width,
        "rms_norm_eps": float(fields.own("attention.layer_norm_rms_epsilon")),
        "rope_theta": float(fields.own("rope.freq_base", 10_000.0)),
        "rope_factors": 1.0 if factors is None else _numbers(factors),
        "max_position_embeddings": min(int(fields.own("context_length")), LONGEST_CONTEXT),
    }


class Weights(Mapping[str, NDArray[np.float32]]):
    """The weights of a file by transformers' names; each is read when it is looked up."""

    def __init__(self, reader: GGUFReader, architecture: str, heads: int, key_heads: int) -> None:
        self._tensors = {tensor.name: tensor for tensor in reader.tensors}
        # llama.cpp keeps the rows of these in another order, for Llama alone.
        self._interleaved = {}
        if architecture == "llama":
            self._interleaved = {"attn_q": heads, "attn_k": key_heads}

    def __getitem__(self, name: str) -> NDArray[np.float32]:
        stored = _stored_name(name)
        array = _numbers(self._tensors[stored])
        heads = self._interleaved.get(stored.split(".")[-2])
        if heads is None:
            return array
        pairs = array.reshape(heads, len(array) // heads // 2, 2, -1)
        return pairs.swapaxes(1, 2).reshape(array.shape)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and _stored_name(name) in self._tensors

    def __iter__(self) -> Iterator[str]:
        return (name for name in NAMES if name in self)

    def __len__(self) -> int:
        return len(list(iter(self)))


def _stored_name(name: str) -> str:
    """Return llama.cpp's name for transformers' ``model.layers.0.mlp.up_proj.weight``."""
    if name in NAMES:
        return NAMES[name]
    _, _, layer, rest = name.split(".", 3)
    part, _, kind = rest.rpartition(".")
    return f"blk.{layer}.{LAYER_NAMES[part]}.{kind}"


def _numbers(tensor: Any) -> NDArray[np.float32]:
    return np.asarray(dequantize(tensor.data, tensor.tensor_type), np.float32)
