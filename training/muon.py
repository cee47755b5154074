"""Muon (Jordan et al. 2024): every direction of a matrix's update equally long.

PyTorch has it too, one matrix after the other in bfloat16, which processors without hardware
for it emulate: there a step took thirty times as long as this one, in single precision and all
matrices of one shape at once.
"""

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor

MOMENTUM = 0.95
# Five rounds of this quintic bring every singular value to between .7 and 1.2.
ROUNDS, A, B, C = 5, 3.4445, -4.7750, 2.0315


def orthogonal(matrices: Tensor) -> Tensor:
    """Return matrices with the same singular vectors, and singular values about one.

    `matrices`: (count, rows, columns).
    """
    tall = matrices.shape[1] > matrices.shape[2]
    x = matrices.mT if tall else matrices
    x = x / x.norm(dim=(1, 2), keepdim=True).clamp_min(1e-7)
    for _ in range(ROUNDS):
        gram = x @ x.mT
        x = torch.baddbmm(x, torch.baddbmm(gram, gram, gram, beta=B, alpha=C), x, beta=A)
    return x.mT if tall else x


class Muon(torch.optim.Optimizer):
    """Muon with Nesterov's momentum, its steps as long as AdamW's (Liu et al. 2025)."""

    def __init__(self, parameters: Iterable[Tensor], weight_decay: float) -> None:
        super().__init__(parameters, {"lr": 0.0, "weight_decay": weight_decay})

    @torch.no_grad()
    def step(self, closure: Any = None) -> None:
        """Change every matrix by its gradient."""
        for group in self.param_groups:
            alike: dict[torch.Size, list[Tensor]] = defaultdict(list)
            for p in group["params"]:
                alike[p.shape].append(p)
            for shape, parameters in alike.items():
                updates = []
                for p in parameters:
                    assert p.grad is not None
                    momentum = self.state[p].setdefault("momentum", torch.zeros_like(p))
                    momentum.lerp_(p.grad, 1 - MOMENTUM)
                    updates.append(p.grad.lerp(momentum, MOMENTUM))
                length = group["lr"] * 0.2 * max(shape) ** 0.5
                for p, update in zip(parameters, orthogonal(torch.stack(updates)), strict=True):
                    p.mul_(1 - group["lr"] * group["weight_decay"]).sub_(update, alpha=length)
