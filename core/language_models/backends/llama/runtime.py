"""A Llama in NumPy: the whole forward pass of every model that runs here, and nothing else.

Written to be read from top to bottom. Shapes stand behind the lines; B is the batch,
L the length of what is being added, H heads, D the width of a head, W the model's width,
V the vocabulary. R = H/K neighbouring heads share one of K heads of keys and values; they
are treated as one head that looks from R·L places.

The one idea beyond the textbook: a batch may share its past. What a row attends to is a
list of `Segment`s, and a segment computed once serves every row that continues it. To
score r answers under p prompts, the question is computed once, each prompt's rest once,
and only the r·p answers themselves row by row.

References: Vaswani et al. 2017, "Attention is all you need"; Touvron et al. 2023,
"LLaMA"; Su et al. 2021, "RoFormer"; Zhang and Sennrich 2019, "Root mean square layer
normalization"; Ainslie et al. 2023, "GQA". The same weights run in transformers'
``LlamaForCausalLM``, those of Qwen2 and Qwen3 in its classes of these names.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.language_models.backends.llama.bfloat16 import BFloat16Matrix
from core.once import anew_in_forks, once

Array = NDArray[np.float32]
Tokens = NDArray[np.int64]
Matrix = Array | BFloat16Matrix

_CAN_TELL = hasattr(os, "sched_getaffinity")
PROCESSORS = len(os.sched_getaffinity(0)) if _CAN_TELL else os.cpu_count() or 1

# From this width of weights, and this many multiplications on, a product is large.
WIDE, LARGE = 576, 2**22

COPIED = 2**12  # rows of a matrix at a time, for rounding takes three times their memory

# How many logits are computed at a time, few enough to stay near the processor, and for how many
# rows at least: all of a large vocabulary's weights are read each time, and one row takes as long.
LOGITS, LEAST_ROWS = 2**20, 64

# Numbers of a bfloat16 matrix that are widened at a time, to stay near the processor, and the
# fewest of its rows, below which a product is slow.
WHOLE, LEAST_PART = 2**20, 192

_NEVER = np.float32(-1e30)  # a score that softmax turns into exactly 0


@dataclass(frozen=True)
class Segment:
    """Keys and values of a stretch of text, computed once for all rows that continue it."""

    # keys, values: (G, K, L, D): G divides the batch that attends to the segment: each of the G
    # sequences serves B/G neighbouring rows.
    keys: list[Array]
    values: list[Array]
    # (G,): how much of L counts; the rest is padding on the right. More lengths than sequences mean
    # that rows branch off the same sequence at different places.
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

    def plus(self, more: Segment) -> Segment:
        """Return this segment followed by `more`; neither may be padded."""
        return Segment(
            [np.concatenate(pair, axis=2) for pair in zip(self.keys, more.keys, strict=True)],
            [np.concatenate(pair, axis=2) for pair in zip(self.values, more.values, strict=True)],
            self.lengths + more.lengths,
        )


class Llama:
    """The network: weights in, hidden states and next-token log-probabilities out.

    `weights`: arrays by transformers' names. Each is looked up once, so that they may be read from
    a file one after the other.
    `config`: with transformers' names. `rope_factors`, (D/2,), divide the frequencies of the rotary
    positions; 1 by default.
    `bfloat16`: whether matrices are kept in 16 bits a number: see `BFloat16Matrix`.
    """

    def __init__(
        self,
        weights: Mapping[str, NDArray[np.floating]],
        config: Mapping,
        *,
        bfloat16: bool = False,
    ) -> None:
        self.heads = int(config["num_attention_heads"])
        self.key_heads = int(config.get("num_key_value_heads", self.heads))
        self.head_width = int(config.get("head_dim", config["hidden_size"] // self.heads))
        self.epsilon = np.float32(config["rms_norm_eps"])
        self.context_length = int(config["max_position_embeddings"])
        self.width = int(config["hidden_size"])
        self.embeddings = _matrix(weights["model.embed_tokens.weight"], bfloat16=bfloat16)  # (V, W)
        self.unembedding = self.embeddings
        if "lm_head.weight" in weights:
            self.unembedding = _matrix(weights["lm_head.weight"], bfloat16=bfloat16)
        self.unembedding_bias = weights.get("lm_head.bias")  # (V,), or None
        self.norm = np.asarray(weights["model.norm.weight"], np.float32)  # (W,)
        self.layers = [
            _Layer(weights, f"model.layers.{i}.", bfloat16)
            for i in range(config["num_hidden_layers"])
        ]
        self.cosine, self.sine = _rotary_table(
            self.context_length,
            self.head_width,
            float(config["rope_theta"]),
            config.get("rope_factors", 1.0),
        )  # (context, D) each

    def forward(
        self,
        tokens: Tokens,
        past: Sequence[Segment] = (),
        attention: list[Array] | None = None,
        states: list[Array] | None = None,
    ) -> tuple[Array, Segment]:
        """Run `tokens`, of shape (B, L), behind `past` and return what they became.

        That is the final hidden states, (B, L, W), normalised, ready for `log_softmax`, and the
        keys and values of `tokens`, to continue from. Padding on the right needs no mask of its
        own: under causal attention nothing looks at it but itself.

        `attention`: filled with one array a layer, (B, H, everything before and L): how the last
        position of every row attends to all that it sees.
        `states`: filled with one array a layer, (B·L, W): what comes into it, not yet normalised.
        """
        return self.forward_all([(tokens, past)], attention, states)[0]

    def forward_all(
        self,
        batches: Sequence[tuple[Tokens, Sequence[Segment]]],
        attention: list[Array] | None = None,
        states: list[Array] | None = None,
    ) -> list[tuple[Array, Segment]]:
        """Run several batches that share nothing, each behind its own past; see `forward`.

        Everything but the attention works on the N tokens of all of them at once, so that the
        weights are read once. Nothing is padded for the sake of another batch.
        """
        H, K, D = self.heads, self.key_heads, self.head_width
        ends = np.cumsum([tokens.size for tokens, _ in batches])
        places = [slice(e - tokens.size, e) for e, (tokens, _) in zip(ends, batches, strict=True)]
        positions = np.concatenate([_positions(*batch) for batch in batches])  # (N,)
        # A head's axis after the tokens': (N, 1, D)
        cosine, sine = self.cosine[positions][:, None], self.sine[positions][:, None]
        visible = [
            [*map(_padding_mask, past), _causal_mask(tokens.shape[1], H // K)]
            for tokens, past in batches
        ]
        segments = [Segment([], [], np.full(len(t), t.shape[1])) for t, _ in batches]

        N = len(positions)
        x = self.embeddings[np.concatenate([tokens.ravel() for tokens, _ in batches])]  # (N, W)
        x = np.ascontiguousarray(x)
        for i, layer in enumerate(self.layers):
            if states is not None:
                states.append(x)
            normed = _rms_norm(x, layer.input_norm, self.epsilon)
            qkv = _product(normed, layer.qkv, layer.qkv_bias)  # (N, (H+2K)D)
            heads = qkv.reshape(N, H + 2 * K, D)
            if layer.query_norm is not None:
                heads[:, :H] = _rms_norm(heads[:, :H], layer.query_norm, self.epsilon)
            if layer.key_norm is not None:
                heads[:, H:-K] = _rms_norm(heads[:, H:-K], layer.key_norm, self.epsilon)
            turned, value = _rotate(heads[:, :-K], cosine, sine), heads[:, -K:]
            query, key = turned[:, :H], turned[:, H:]
            out = np.empty((N, H, D), np.float32)
            for place, (tokens, past), masks, own in zip(
                places, batches, visible, segments, strict=True
            ):
                B, L = tokens.shape
                own.keys.append(_by_head(key[place], B))
                own.values.append(_by_head(value[place], B))
                attended = attend(
                    _by_head(query[place], B).reshape(B, K, H // K * L, D),
                    [(s.keys[i], s.values[i]) for s in (*past, own)],
                    masks,
                    L,
                    attention,
                )  # (B, H, L, D)
                out[place] = attended.swapaxes(1, 2).reshape(B * L, H, D)
            x = x + _product(out.reshape(N, H * D), layer.output, layer.output_bias)
            normed = _rms_norm(x, layer.mlp_norm, self.epsilon)
            gate_up = _product(normed, layer.gate_up, layer.gate_up_bias)  # (N, 2M)
            gate, up = np.split(gate_up, 2, axis=-1)
            x = x + _product(_silu(gate) * up, layer.down, layer.down_bias)
        hidden = _rms_norm(x, self.norm, self.epsilon)
        return [
            (hidden[place].reshape(*tokens.shape, -1), own)
            for place, (tokens, _), own in zip(places, batches, segments, strict=True)
        ]

    def key_query(self) -> Iterator[tuple[Array, Array]]:
        """Yield W_Q and W_K of every head, layer by layer, (W, D) each.

        They take what comes into a layer divided by its root mean square: the weights of the
        layer's norm are in them. Rotary positions and biases are not.
        """
        H, K, D = self.heads, self.key_heads, self.head_width
        for layer in self.layers:
            product = (layer.qkv[:] * layer.input_norm).reshape(H + 2 * K, D, -1)
            for head in range(H):
                yield product[head].T, product[H + head * K // H].T

    @property
    def normalises_keys(self) -> bool:
        """Whether queries and keys are normalised, so that no product of matrices makes logits."""
        return any(layer.key_norm is not None for layer in self.layers)

    def log_softmax(self, hidden: Array) -> Array:
        """Return ln P(next token) for hidden states (…, W), of shape (…, V)."""
        rows = hidden.reshape(-1, self.width)
        result = np.empty((len(rows), len(self.unembedding)), np.float32)
        for part in self._few_logits(len(rows)):
            logits = self._logits(rows[part])
            logits -= logits.max(axis=-1, keepdims=True)
            np.subtract(
                logits, np.log(np.exp(logits).sum(axis=-1, keepdims=True)), out=result[part]
            )
        return result.reshape(*hidden.shape[:-1], len(self.unembedding))

    def log_probability(self, hidden: Array, targets: Tokens, ends: Tokens) -> Array:
        """Return ln P of targets (N,), -1 any of `ends`, for hidden states (N, W)."""
        parts = self._few_logits(len(hidden))
        values = [self._log_probability(hidden[part], targets[part], ends) for part in parts]
        return np.concatenate(values) if values else np.empty(0, np.float32)

    def _logits(self, hidden: Array) -> Array:
        """Return the logits (N, V) row by row: NumPy adds neighbours in pairs, others in turn.

        In turn, the sum of the probabilities of 50,000 tokens is wrong in the fourth digit.
        """
        return np.ascontiguousarray(_product(hidden, self.unembedding, self.unembedding_bias))

    def _few_logits(self, rows: int) -> Iterator[slice]:
        size = max(LEAST_ROWS, LOGITS // len(self.unembedding))
        return (slice(i, i + size) for i in range(0, rows, size))

    def _log_probability(self, hidden: Array, targets: Tokens, ends: Tokens) -> Array:
        logits = self._logits(hidden)
        chosen = np.take_along_axis(logits, targets[:, None], axis=1)[:, 0]
        ended = targets < 0
        chosen[ended] = np.logaddexp.reduce(logits[ended][:, ends], axis=1)
        peak = logits.max(axis=1)
        logits -= peak[:, None]
        np.exp(logits, out=logits)
        return chosen - peak - np.log(logits.sum(axis=1))


class _Layer:
    """One layer's weights; matrices are of shape (out, in), as in a file."""

    def __init__(
        self, weights: Mapping[str, NDArray[np.floating]], prefix: str, bfloat16: bool
    ) -> None:
        def matrix(*names: str) -> Matrix:
            parts = [weights[f"{prefix}{name}.weight"] for name in names]
            return _matrix(*parts, bfloat16=bfloat16)

        def vector(name: str) -> Array | None:
            values = weights.get(prefix + name)
            return None if values is None else np.asarray(values, np.float32)

        def bias(*names: str) -> Array | None:
            """Return the biases of matrices one behind the other; zeros where one has none."""
            parts = [vector(f"{name}.bias") for name in names]
            if all(part is None for part in parts):
                return None
            sizes = [len(weights[f"{prefix}{name}.weight"]) for name in names]
            return np.concatenate(
                [
                    np.zeros(n, np.float32) if p is None else p
                    for n, p in zip(sizes, parts, strict=True)
                ]
            )

        attended = [f"self_attn.{x}_proj" for x in "qkv"]
        self.input_norm = weights[f"{prefix}input_layernorm.weight"]  # (W,)
        self.qkv = matrix(*attended)  # ((H+2K)D, W)
        self.qkv_bias = bias(*attended)  # ((H+2K)D,), Qwen2
        self.query_norm = vector("self_attn.q_norm.weight")  # (D,), Qwen3
        self.key_norm = vector("self_attn.k_norm.weight")
        self.output = matrix("self_attn.o_proj")  # (W, HD)
        self.output_bias = bias("self_attn.o_proj")  # (W,)
        self.mlp_norm = weights[f"{prefix}post_attention_layernorm.weight"]  # (W,)
        self.gate_up = matrix("mlp.gate_proj", "mlp.up_proj")  # (2M, W)
        self.gate_up_bias = bias("mlp.gate_proj", "mlp.up_proj")  # (2M,)
        self.down = matrix("mlp.down_proj")  # (W, M)
        self.down_bias = bias("mlp.down_proj")  # (W,)


def _positions(tokens: Tokens, past: Sequence[Segment]) -> Tokens:
    """Return where the tokens of a batch stand behind its past, of shape (B·L,)."""
    B, L = tokens.shape
    start = sum((np.repeat(s.lengths, B // len(s.lengths)) for s in past), np.zeros(B, int))
    return (start[:, None] + np.arange(L)).ravel()


@anew_in_forks
@once
def _processors() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(PROCESSORS, "product")


def _product(x: Array, weights: Matrix, bias: Array | None) -> Array:
    """Return x @ weights.T + bias, of shape (R, N)."""
    result = matrix_product(x, weights)
    if bias is not None:
        result += bias
    return result


def matrix_product(x: Array, weights: Matrix) -> Array:
    """Return x @ weights.T for x of shape (R, M) and weights of shape (N, M), as (R, N).

    A wide one is computed as (weights @ x.T).T, which takes a third less time for few rows, and
    the rows of large weights are dealt to all processors. NumPy's matrix library could, too, but
    its threads wait for each other in busy loops: beside other work the same product takes up to
    thirty times as long. So it is held to one thread (see `LlamaModel`), and these threads sleep
    while they wait.
    """
    count, width = weights.shape
    if width < WIDE:
        return x @ weights[:].T
    if len(x) * weights.size < LARGE:
        return (weights[:] @ x.T).T
    result = np.empty((count, len(x)), np.float32)

    def multiply(part: slice) -> None:
        np.matmul(weights[part], x.T, out=result[part])

    size = -(-count // PROCESSORS)
    if isinstance(weights, BFloat16Matrix):
        size = min(size, max(LEAST_PART, WHOLE // width))
    list(_processors().map(multiply, (slice(i, i + size) for i in range(0, count, size))))
    return result.T


def _matrix(*parts: NDArray[np.floating], bfloat16: bool) -> Matrix:
    """Return matrices (out, in), one below the other, as one: in the order that is multiplied."""
    shape = sum(map(len, parts)), parts[0].shape[1]
    if bfloat16:
        result: Matrix = BFloat16Matrix(np.empty(shape, np.uint16))
    else:
        result = np.empty(shape, np.float32, order="F" if shape[1] < WIDE else "C")
    end = 0
    for part in parts:
        for start in range(0, len(part), COPIED):
            piece = part[start : start + COPIED]
            result[end : end + len(piece)] = piece
            end += len(piece)
    return result


def _by_head(x: Array, B: int) -> Array:
    """Return (B·L, H, D) as (B, H, L, D): a copy, for a view would hold more than its part."""
    return x.reshape(B, -1, *x.shape[1:]).swapaxes(1, 2).copy()


def attend(
    query: Array,
    stretches: Sequence[tuple[Array, Array]],
    visible: Sequence[Array | None],
    length: int,
    seen: list[Array] | None = None,
) -> Array:
    """Attend from (B, K, R·L, D) to every stretch of the past at once; returns (B, H, L, D)."""
    B, _, N, D = query.shape
    query *= np.float32(1 / np.sqrt(D))
    parts = []
    for (key, _), mask in zip(stretches, visible, strict=True):
        score = _share(query, len(key)) @ key.swapaxes(-1, -2)  # (G, K, B/G·R·L, P)
        score = _unshare(score, B, N)  # (B, K, R·L, P)
        if mask is not None:
            # (M, 1, 1, P) for padding, M dividing the batch; (1, 1, R·L, P) for causality.
            score += np.repeat(mask, B // len(mask), axis=0) if len(mask) > 1 else mask
        parts.append(score)
    weights = np.concatenate(parts, axis=-1)  # of all stretches, one behind the other
    weights -= weights.max(axis=-1, keepdims=True)
    np.exp(weights, out=weights)
    weights /= weights.sum(axis=-1, keepdims=True)
    if seen is not None:
        seen.append(weights.reshape(B, -1, length, weights.shape[-1])[:, :, -1])
    out, start = np.zeros((B, len(query[0]), N, D), np.float32), 0
    for _, value in stretches:
        own = weights[..., start : start + value.shape[2]]
        out += _unshare(_share(own, len(value)) @ value, B, N)  # (B, K, R·L, D)
        start += value.shape[2]
    return out.reshape(B, -1, length, D)


def _share(x: Array, groups: int) -> Array:
    """Gather the rows that share a past: (B, H, L, N) to (G, H, B/G·L, N)."""
    B, H, L, N = x.shape
    if groups == B:
        return x
    return x.reshape(groups, B // groups, H, L, N).swapaxes(1, 2).reshape(groups, H, -1, N)


def _unshare(x: Array, B: int, L: int) -> Array:
    G, H, _, N = x.shape
    if G == B:
        return x
    return x.reshape(G, H, B // G, L, N).swapaxes(1, 2).reshape(B, H, L, N)


def _padding_mask(segment: Segment) -> Array | None:
    """Hide what lies behind where each sequence ends or is left, of shape (N, 1, 1, P)."""
    hidden = np.arange(segment.padded_length) >= segment.lengths[:, None]
    return np.where(hidden, _NEVER, np.float32(0))[:, None, None] if hidden.any() else None


def _causal_mask(length: int, together: int) -> Array | None:
    """Hide what comes later, of shape (1, 1, R·L, L)."""
    if length == 1:
        return None
    return np.tile(np.triu(np.full((length, length), _NEVER), k=1), (together, 1))[None, None]


def _rms_norm(x: Array, weight: Array, epsilon: np.float32) -> Array:
    return x / np.sqrt(np.square(x).mean(axis=-1, keepdims=True) + epsilon) * weight


def _silu(x: Array) -> Array:
    result = np.exp(-x)
    result += 1
    return np.divide(x, result, out=result)


def _rotate(x: Array, cosine: Array, sine: Array) -> Array:
    half = x.shape[-1] // 2
    turned = np.empty_like(x)
    np.negative(x[..., half:], out=turned[..., :half])
    turned[..., half:] = x[..., :half]
    turned *= sine
    turned += x * cosine
    return turned


def _rotary_table(
    length: int, width: int, theta: float, factors: float | NDArray[np.floating]
) -> tuple[Array, Array]:
    frequency = theta ** (-np.arange(0, width, 2) / width) / factors
    angle = np.tile(np.outer(np.arange(length), frequency), 2)  # (length, D)
    return np.cos(angle).astype(np.float32), np.sin(angle).astype(np.float32)
