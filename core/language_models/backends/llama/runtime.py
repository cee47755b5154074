"""A Llama in NumPy: the whole forward pass of the embedded model, and nothing else.

Written to be read from top to bottom. Shapes stand behind the lines; B is the batch,
L the length of what is being added, H heads, D the width of a head, W = H·D the model's
width, V the vocabulary.

The one idea beyond the textbook: a batch may share its past. What a row attends to is a
list of `Segment`s, and a segment computed once serves every row that continues it. To
score r answers under p prompts, the question is computed once, each prompt's rest once,
and only the r·p answers themselves row by row.

References: Vaswani et al. 2017, "Attention is all you need"; Touvron et al. 2023,
"LLaMA"; Su et al. 2021, "RoFormer"; Zhang and Sennrich 2019, "Root mean square layer
normalization". The same weights run in transformers' ``LlamaForCausalLM``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float32]
Tokens = NDArray[np.int64]

_NEVER = np.float32(-1e30)  # a score that softmax turns into exactly 0


@dataclass(frozen=True)
class Segment:
    """Keys and values of a stretch of text, computed once for all rows that continue it.

    Attributes
    ----------
    keys, values : per layer, of shape (G, H, L, D)
        G divides the batch that attends to the segment: each of the G sequences serves
        B/G neighbouring rows.
    lengths : ndarray of shape (G,), or (N,) where G divides N, and N the batch
        How much of L counts; the rest is padding on the right. More lengths than sequences
        mean that rows branch off the same sequence at different places.
    """

    keys: list[Array]
    values: list[Array]
    lengths: Tokens

    @property
    def padded_length(self) -> int:
        """L, the padding included."""
        return int(self.keys[0].shape[2])

    def take(self, rows: Sequence[int] | Tokens) -> Segment:
        """Return the segment of some of its sequences."""
        return Segment(
            [k[rows] for k in self.keys], [v[rows] for v in self.values], self.lengths[rows]
        )

    def extended(self, more: Segment) -> Segment:
        """Return this segment followed by `more`; neither may be padded."""
        return Segment(
            [np.concatenate(pair, axis=2) for pair in zip(self.keys, more.keys, strict=True)],
            [np.concatenate(pair, axis=2) for pair in zip(self.values, more.values, strict=True)],
            self.lengths + more.lengths,
        )


class Llama:
    """The network: weights in, hidden states and next-token log-probabilities out."""

    def __init__(self, weights: Mapping[str, NDArray[np.floating]], config: Mapping) -> None:
        get = {name: np.ascontiguousarray(w, dtype=np.float32) for name, w in weights.items()}
        self.heads = int(config["num_attention_heads"])
        self.head_width = int(config["hidden_size"]) // self.heads
        self.epsilon = np.float32(config["rms_norm_eps"])
        self.context_length = int(config["max_position_embeddings"])
        self.embeddings = get["model.embed_tokens.weight"]  # (V, W)
        self.unembedding = np.ascontiguousarray(self.embeddings.T)  # (W, V)
        self.norm = get["model.norm.weight"]  # (W,)
        self.layers = [
            _Layer(get, f"model.layers.{i}.") for i in range(config["num_hidden_layers"])
        ]
        self.cosine, self.sine = _rotary_table(
            self.context_length, self.head_width, float(config["rope_theta"])
        )  # (context, D) each

    def forward(
        self,
        tokens: Tokens,
        past: Sequence[Segment] = (),
        attention: list[Array] | None = None,
    ) -> tuple[Array, Segment]:
        """Run `tokens`, of shape (B, L), behind `past` and return what they became.

        Padding on the right needs no mask of its own: under causal attention nothing
        looks at it but itself.

        Parameters
        ----------
        attention : list, optional
            Filled with one array a layer, (B, H, everything before and L): how the last
            position of every row attends to all that it sees.

        Returns
        -------
        hidden : (B, L, W)
            Final hidden states, normalised, ready for `log_softmax`.
        segment : Segment
            The keys and values of `tokens`, to continue from.
        """
        B, L = tokens.shape
        start = sum((np.repeat(s.lengths, B // len(s.lengths)) for s in past), np.zeros(B, int))
        positions = start[:, None] + np.arange(L)  # (B, L)
        # A head's axis after the batch's: (B, 1, L, D)
        cosine, sine = self.cosine[positions][:, None], self.sine[positions][:, None]
        visible = [_padding_mask(s) for s in past] + [_causal_mask(L)]

        x = self.embeddings[tokens]  # (B, L, W)
        keys, values = [], []
        for i, layer in enumerate(self.layers):
            qkv = _rms_norm(x, layer.input_norm, self.epsilon) @ layer.qkv  # (B, L, 3W)
            query, key, value = qkv.reshape(B, L, 3, self.heads, self.head_width).transpose(
                2, 0, 3, 1, 4
            )  # (B, H, L, D) each
            query, key = _rotate(query, cosine, sine), _rotate(key, cosine, sine)
            stretches = [(s.keys[i], s.values[i]) for s in past] + [(key, value)]
            x = x + _attention(query, stretches, visible, attention) @ layer.output
            gate_up = _rms_norm(x, layer.mlp_norm, self.epsilon) @ layer.gate_up  # (B, L, 2M)
            gate, up = np.split(gate_up, 2, axis=-1)
            x = x + (gate / (1 + np.exp(-gate)) * up) @ layer.down
            keys.append(key)
            values.append(value)
        segment = Segment(keys, values, np.full(B, L))
        return _rms_norm(x, self.norm, self.epsilon), segment

    def log_softmax(self, hidden: Array) -> Array:
        """Return ln P(next token) for hidden states (…, W), of shape (…, V)."""
        logits = hidden @ self.unembedding
        logits -= logits.max(axis=-1, keepdims=True)
        logits -= np.log(np.exp(logits).sum(axis=-1, keepdims=True))
        return logits

    def log_probability(self, hidden: Array, targets: Tokens) -> Array:
        """Return ln P(target) for hidden states (N, W) and targets (N,), of shape (N,)."""
        logits = hidden @ self.unembedding  # (N, V)
        chosen = np.take_along_axis(logits, targets[:, None], axis=1)[:, 0]
        peak = logits.max(axis=1)
        logits -= peak[:, None]
        np.exp(logits, out=logits)
        return chosen - peak - np.log(logits.sum(axis=1))


class _Layer:
    """One layer's weights, transposed once so that inputs multiply from the left."""

    def __init__(self, weights: Mapping[str, Array], prefix: str) -> None:
        def joined(*names: str) -> Array:
            parts = [weights[f"{prefix}{name}.weight"] for name in names]
            return np.ascontiguousarray(np.concatenate(parts).T)

        self.input_norm = weights[f"{prefix}input_layernorm.weight"]  # (W,)
        self.qkv = joined("self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj")  # (W, 3W)
        self.output = joined("self_attn.o_proj")  # (W, W)
        self.mlp_norm = weights[f"{prefix}post_attention_layernorm.weight"]  # (W,)
        self.gate_up = joined("mlp.gate_proj", "mlp.up_proj")  # (W, 2M)
        self.down = joined("mlp.down_proj")  # (M, W)


def _attention(
    query: Array,
    stretches: Sequence[tuple[Array, Array]],
    visible: Sequence[Array | None],
    seen: list[Array] | None = None,
) -> Array:
    """Attend from (B, H, L, D) to every stretch of the past at once; returns (B, L, W)."""
    B, H, L, D = query.shape
    scale = np.float32(1 / np.sqrt(D))
    scores = []
    for (key, _), mask in zip(stretches, visible, strict=True):
        G = len(key)
        score = (_share(query, G) @ key.swapaxes(-1, -2)) * scale  # (G, H, B/G·L, P)
        score = _unshare(score, B, L)  # (B, H, L, P)
        if mask is not None:
            # (N, 1, 1, P) for padding, N dividing the batch; (1, 1, L, P) for causality.
            score = (
                score + np.repeat(mask, B // len(mask), axis=0) if len(mask) > 1 else score + mask
            )
        scores.append(score)
    peak = np.maximum.reduce([s.max(axis=-1, keepdims=True) for s in scores])
    weights = [np.exp(s - peak) for s in scores]
    total = sum(w.sum(axis=-1, keepdims=True) for w in weights)
    if seen is not None:
        last = np.concatenate([w[:, :, -1] for w in weights], axis=-1)  # (B, H, P)
        seen.append(last / total[:, :, -1])
    out = sum(
        _unshare(_share(w, len(value)) @ value, B, L)
        for w, (_, value) in zip(weights, stretches, strict=True)
    )  # (B, H, L, D)
    return (out / total).transpose(0, 2, 1, 3).reshape(B, L, H * D)


def _share(x: Array, groups: int) -> Array:
    """Gather the rows that share a past: (B, H, L, N) to (G, H, B/G·L, N)."""
    B, H, L, N = x.shape
    if groups == B:
        return x
    return x.reshape(groups, B // groups, H, L, N).swapaxes(1, 2).reshape(groups, H, -1, N)


def _unshare(x: Array, B: int, L: int) -> Array:
    """Undo `_share`: (G, H, B/G·L, N) to (B, H, L, N)."""
    G, H, _, N = x.shape
    if G == B:
        return x
    return x.reshape(G, H, B // G, L, N).swapaxes(1, 2).reshape(B, H, L, N)


def _padding_mask(segment: Segment) -> Array | None:
    """Hide what lies behind where each sequence ends or is left, of shape (N, 1, 1, P)."""
    columns = np.arange(segment.padded_length)
    hidden = columns >= segment.lengths[:, None]
    return np.where(hidden, _NEVER, np.float32(0))[:, None, None] if hidden.any() else None


def _causal_mask(length: int) -> Array | None:
    """Hide what comes later, of shape (1, 1, L, L)."""
    if length == 1:
        return None
    return np.triu(np.full((length, length), _NEVER), k=1)[None, None]


def _rms_norm(x: Array, weight: Array, epsilon: np.float32) -> Array:
    return x / np.sqrt(np.square(x).mean(axis=-1, keepdims=True) + epsilon) * weight


def _rotate(x: Array, cosine: Array, sine: Array) -> Array:
    first, second = np.split(x, 2, axis=-1)
    return x * cosine + np.concatenate((-second, first), axis=-1) * sine


def _rotary_table(length: int, width: int, theta: float) -> tuple[Array, Array]:
    frequency = theta ** (-np.arange(0, width, 2) / width)
    angle = np.tile(np.outer(np.arange(length), frequency), 2)  # (length, D)
    return np.cos(angle).astype(np.float32), np.sin(angle).astype(np.float32)
