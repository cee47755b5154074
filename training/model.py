"""The embedded model in PyTorch: a small Llama, for training only.

A stock architecture with the parameter names of ``transformers``' ``LlamaForCausalLM``
(rotary positions, RMSNorm, SwiGLU, tied embeddings), so that the restored weights run
there unchanged; the product itself runs them in NumPy (``core/language_models/embedded``).

References: Touvron et al. 2023, "LLaMA"; Su et al. 2021, "RoFormer"; Shazeer 2020, "GLU
variants improve Transformer". The shape of this file follows karpathy/nanoGPT.
"""

from dataclasses import asdict, dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F


@dataclass(frozen=True)
class Shape:
    """The model's dimensions, under the names of a transformers ``config.json``."""

    vocab_size: int
    hidden_size: int = 192
    intermediate_size: int = 512
    num_hidden_layers: int = 4
    num_attention_heads: int = 6
    max_position_embeddings: int = 2048
    rms_norm_eps: float = 1e-5
    rope_theta: float = 10000.0

    def to_config(self, end_token: int, pad_token: int) -> dict[str, object]:
        """Return the ``config.json`` with which transformers runs the same weights."""
        return asdict(self) | {
            "architectures": ["LlamaForCausalLM"],
            "model_type": "llama",
            "num_key_value_heads": self.num_attention_heads,
            "hidden_act": "silu",
            "tie_word_embeddings": True,
            "attention_bias": False,
            "mlp_bias": False,
            "eos_token_id": end_token,
            "pad_token_id": pad_token,
            "bos_token_id": None,
        }


def rotate(x: Tensor, cosine: Tensor, sine: Tensor) -> Tensor:
    """Rotary positions, in the half-split layout of the Llama weights."""
    first, second = x.chunk(2, dim=-1)
    return x * cosine + torch.cat((-second, first), dim=-1) * sine


class Attention(nn.Module):
    def __init__(self, shape: Shape) -> None:
        super().__init__()
        width = shape.hidden_size
        self.heads = shape.num_attention_heads
        self.q_proj = nn.Linear(width, width, bias=False)
        self.k_proj = nn.Linear(width, width, bias=False)
        self.v_proj = nn.Linear(width, width, bias=False)
        self.o_proj = nn.Linear(width, width, bias=False)

    def forward(self, x: Tensor, cosine: Tensor, sine: Tensor) -> Tensor:
        batch, length, width = x.shape
        split = (batch, length, self.heads, width // self.heads)
        query, key, value = (
            p(x).view(split).transpose(1, 2)  # (batch, heads, length, width / heads)
            for p in (self.q_proj, self.k_proj, self.v_proj)
        )
        query, key = rotate(query, cosine, sine), rotate(key, cosine, sine)
        out = F.scaled_dot_product_attention(query, key, value, is_causal=True)
        return self.o_proj(out.transpose(1, 2).reshape(batch, length, width))


class MLP(nn.Module):
    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.gate_proj = nn.Linear(shape.hidden_size, shape.intermediate_size, bias=False)
        self.up_proj = nn.Linear(shape.hidden_size, shape.intermediate_size, bias=False)
        self.down_proj = nn.Linear(shape.intermediate_size, shape.hidden_size, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        return self.down_proj(F.silu(self.gate_proj(x)) * self.up_proj(x))


class Layer(nn.Module):
    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.self_attn = Attention(shape)
        self.mlp = MLP(shape)
        self.input_layernorm = nn.RMSNorm(shape.hidden_size, eps=shape.rms_norm_eps)
        self.post_attention_layernorm = nn.RMSNorm(shape.hidden_size, eps=shape.rms_norm_eps)

    def forward(self, x: Tensor, cosine: Tensor, sine: Tensor) -> Tensor:
        x = x + self.self_attn(self.input_layernorm(x), cosine, sine)
        return x + self.mlp(self.post_attention_layernorm(x))


class Llama(nn.Module):
    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.shape = shape
        self.embed_tokens = nn.Embedding(shape.vocab_size, shape.hidden_size)
        self.layers = nn.ModuleList(Layer(shape) for _ in range(shape.num_hidden_layers))
        self.norm = nn.RMSNorm(shape.hidden_size, eps=shape.rms_norm_eps)
        self.apply(_initialise)
        # The two projections that write into the residual stream start smaller, so that
        # its variance does not grow with depth.
        for name, p in self.named_parameters():
            if name.endswith(("o_proj.weight", "down_proj.weight")):
                nn.init.normal_(p, std=0.02 / (2 * shape.num_hidden_layers) ** 0.5)

    def forward(self, tokens: Tensor, where: tuple[Tensor, Tensor]) -> Tensor:
        """Return the logits at the positions `where` only: the loss needs no others."""
        head = self.shape.hidden_size // self.shape.num_attention_heads
        frequency = self.shape.rope_theta ** (-torch.arange(0, head, 2) / head)
        angle = torch.outer(torch.arange(tokens.shape[1]), frequency).repeat(1, 2)
        cosine, sine = angle.cos(), angle.sin()  # (length, width / heads)
        x = self.embed_tokens(tokens)  # (batch, length, width)
        for layer in self.layers:
            x = layer(x, cosine, sine)
        return self.norm(x[where]) @ self.embed_tokens.weight.T  # (positions, vocabulary)


def _initialise(module: nn.Module) -> None:
    if isinstance(module, nn.Linear | nn.Embedding):
        nn.init.normal_(module.weight, std=0.02)
