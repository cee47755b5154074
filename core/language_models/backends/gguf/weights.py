"""What of a GGUF file the network is made of: its sizes, and its weights, one at a time."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.language_models.backends.gguf.reader import StoredTensor
from core.language_models.errors import BrokenModelError

# Of these the runtime knows every line. llama.cpp calls Mistral and SmolLM “llama”, too.
ARCHITECTURES = ("llama", "qwen2", "qwen3")

# A table of rotary positions for more would take more memory than a small model.
LONGEST_CONTEXT = 8192

# From so many numbers on, weights are kept in 16 bits each: 2 GB in 32 bits.
BFLOAT16_FROM = 500_000_000

NAMES = {  # transformers' names -> llama.cpp's
    "model.embed_tokens.weight": "token_embd.weight",
    "model.norm.weight": "output_norm.weight",
    "lm_head.weight": "output.weight",
    "lm_head.bias": "output.bias",
}
FACTORS = "rope_freqs.weight"
NORMS = re.compile(r"attn_[qk]_norm")
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

# The keys that a file may have below its architecture's name. Of these `config` makes the network:
READ_KEYS = {
    *("block_count", "context_length", "embedding_length", "feed_forward_length"),
    *("attention.head_count", "attention.head_count_kv", "attention.layer_norm_rms_epsilon"),
    *("attention.key_length", "rope.freq_base", "rope.scaling.factor", "rope.scale_linear"),
}
# Nobody reads these of such an architecture: llama.cpp computes the same with and without them.
IGNORED_KEYS = {
    *("attention.sliding_window", "attention.scale", "logit_scale", "tensor_data_layout"),
    *("attn_logit_softcapping", "final_logit_softcapping", "vocab_size"),
    *("rope.scaling.original_context_length", "rope.scaling.finetuned"),
}


class Fields:
    """The metadata of a file, by their names."""

    def __init__(self, fields: Mapping[str, Any]) -> None:
        self._fields = fields
        self.architecture = str(self.get("general.architecture", ""))

    def get(self, name: str, default: Any = None) -> Any:
        """Return a value, or the default where the file does not say."""
        return self._fields.get(name, default)

    def own(self, name: str, default: Any = None) -> Any:
        """Return a value that is called by the architecture, such as ``llama.block_count``.

        Raises `BrokenModelError` when the file does not say, and there is no default.
        """
        value = self.get(f"{self.architecture}.{name}", default)
        if value is None:
            raise BrokenModelError(
                f"The file says nothing of “{self.architecture}.{name}”. Fetch it again, or choose "
                "another file."
            )
        return value

    def names(self, beginning: str) -> list[str]:
        """Return the rest of every name that begins so."""
        return [name.removeprefix(beginning) for name in self._fields if name.startswith(beginning)]


def are_bfloat16(tensors: Mapping[str, StoredTensor]) -> bool:
    """Say whether weights are kept as bfloat16; that is part of a model’s revision."""
    return sum(tensor.count for tensor in tensors.values()) >= BFLOAT16_FROM


def unknown_part_error(what: str, otherwise: str = "would be another network") -> BrokenModelError:
    """Return the error for a file that has more in it than we read."""
    return BrokenModelError(
        f"The file has {what}, which Believe does not know: it {otherwise}. Choose another file, "
        "or serve this one with llama.cpp."
    )


def config(fields: Fields, tensors: Mapping[str, StoredTensor]) -> dict[str, Any]:
    """Return the sizes of the network, by transformers' names.

    Raises `BrokenModelError` when the runtime does not know the network; the sentence names what it
    does not know.
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
    _check_fields(
        fields,
        {
            "attention.causal": (True,),
            "attention.value_length": (head_width,),
            "expert_count": (0,),
            "expert_used_count": (0,),
            "rope.dimension_count": (head_width,),
            "rope.scaling.attn_factor": (1.0,),
            "rope.scaling.type": ("linear", "none"),
        },
    )
    parts = int(fields.get("split.count", 1))
    if parts > 1:
        raise BrokenModelError(
            f"The file is part {int(fields.get('split.no', 0)) + 1} of {parts}. Join the parts "
            "with `llama-gguf-split --merge`, and open what comes of it."
        )
    # Nothing is made of a size that a file only states. A head is no wider than the network: the
    # table of positions takes a multiple of its width.
    hidden = int(fields.own("feed_forward_length"))
    shapes = _shapes(width, heads * head_width, key_heads * head_width, head_width, hidden)
    embeddings = tensors.get("token_embd.weight")
    if embeddings is None or min(heads, key_heads) < 1 or head_width > width:
        raise _other_sizes()
    for name, tensor in tensors.items():
        expected = shapes.get(re.sub(r"^blk\.\d+\.", "", name))
        rows = [int(embeddings.shape[-1]) if size is None else size for size in expected or ()]
        if expected is not None and [*map(int, tensor.shape)] != rows:
            raise _other_sizes()
    stretch = float(fields.own("rope.scaling.factor", fields.own("rope.scale_linear", 0.0))) or 1.0
    if fields.own("rope.scaling.type", "linear") == "none":
        stretch = 1.0
    factors = tensors.get(FACTORS)
    return {
        "hidden_size": width,
        "num_hidden_layers": int(fields.own("block_count")),
        "num_attention_heads": heads,
        "num_key_value_heads": key_heads,
        "head_dim": head_width,
        "rms_norm_eps": float(fields.own("attention.layer_norm_rms_epsilon")),
        "rope_theta": float(fields.own("rope.freq_base", 10_000.0)),
        "rope_factors": stretch * (1.0 if factors is None else factors.numbers()),
        "max_position_embeddings": min(int(fields.own("context_length")), LONGEST_CONTEXT),
    }


def _check_fields(fields: Fields, values: Mapping[str, Sequence[Any]]) -> None:
    """Refuse a file that says what we do not read; of some fields, `values` are all we know."""
    for name in fields.names(f"{fields.architecture}."):
        own = f"“{fields.architecture}.{name:.60}”"
        if name in values and fields.own(name) not in values[name]:
            raise unknown_part_error(f"{fields.own(name)!s:.40} for {own}")
        if name not in READ_KEYS | IGNORED_KEYS | values.keys():
            raise unknown_part_error(own)


def _shapes(
    width: int, queries: int, keys: int, head: int, hidden: int
) -> dict[str, tuple[int | None, ...]]:
    """Return the shape of every tensor, inputs first; None stands for the vocabulary."""
    return {
        "token_embd.weight": (width, None),
        "output.weight": (width, None),
        "output.bias": (None,),
        "output_norm.weight": (width,),
        FACTORS: (head // 2,),
        "attn_norm.weight": (width,),
        "attn_q.weight": (width, queries),
        "attn_q.bias": (queries,),
        "attn_q_norm.weight": (head,),
        "attn_k.weight": (width, keys),
        "attn_k.bias": (keys,),
        "attn_k_norm.weight": (head,),
        "attn_v.weight": (width, keys),
        "attn_v.bias": (keys,),
        "attn_output.weight": (queries, width),
        "attn_output.bias": (width,),
        "ffn_norm.weight": (width,),
        "ffn_gate.weight": (width, hidden),
        "ffn_gate.bias": (hidden,),
        "ffn_up.weight": (width, hidden),
        "ffn_up.bias": (hidden,),
        "ffn_down.weight": (hidden, width),
        "ffn_down.bias": (width,),
    }


def _other_sizes() -> BrokenModelError:
    return BrokenModelError(
        "The sizes that the file states are not those of its weights. Fetch it again, or choose "
        "another file."
    )


class Weights(Mapping[str, NDArray[np.float32]]):
    """The weights of a file by transformers' names; `unread` are those nobody looked up yet."""

    def __init__(
        self, tensors: Mapping[str, StoredTensor], architecture: str, heads: int, key_heads: int
    ) -> None:
        self._tensors = dict(tensors)
        self.unread = {*self._tensors} - {FACTORS}  # which `config` reads
        if architecture != "qwen3":  # no other has them, and Llama's rows are in another order
            self._tensors = {n: t for n, t in self._tensors.items() if not NORMS.search(n)}
        # llama.cpp keeps the rows of these in another order, for Llama alone.
        self._interleaved = {}
        if architecture == "llama":
            self._interleaved = {"attn_q": heads, "attn_k": key_heads}

    def __getitem__(self, name: str) -> NDArray[np.float32]:
        stored = _stored_name(name)
        if stored not in self._tensors:
            raise BrokenModelError(
                f"The file lacks the tensor “{stored}”. Fetch it again, or choose another file."
            )
        self.unread.discard(stored)
        array = self._tensors[stored].numbers()
        heads = self._interleaved.get(stored.split(".")[-2])
        if heads is None:
            return array
        pairs = array.reshape(heads, len(array) // heads // 2, 2, -1)
        return pairs.swapaxes(1, 2).reshape(array.shape)

    def get(self, name: str, default: Any = None) -> Any:
        """Return a weight, or the default where the file has none of that name."""
        if name not in self:
            return default
        return self[name]

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
