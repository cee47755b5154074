"""Our Muon against PyTorch's, which computes in half the precision and one matrix at a time."""

import pytest

torch = pytest.importorskip("torch", reason="needs requirements/local.txt: run `make test-local`")

from training.muon import Muon, orthogonal  # noqa: E402


@pytest.mark.parametrize("shape", [(48, 128), (128, 48), (64, 64)])
def test_steps_are_those_of_pytorch(shape):
    torch.manual_seed(0)
    ours = [torch.nn.Parameter(torch.randn(shape)) for _ in range(2)]
    theirs = [torch.nn.Parameter(p.detach().clone()) for p in ours]
    start = [p.detach().clone() for p in ours]
    optimisers = (
        Muon(ours, weight_decay=0.02),
        torch.optim.Muon(theirs, weight_decay=0.02, adjust_lr_fn="match_rms_adamw"),
    )
    for optimiser in optimisers:
        for group in optimiser.param_groups:
            group["lr"] = 1e-2
    for _ in range(5):
        for p, q in zip(ours, theirs, strict=True):
            p.grad = torch.randn(shape)
            q.grad = p.grad.clone()
        for optimiser in optimisers:
            optimiser.step()
    for p, q, before in zip(ours, theirs, start, strict=True):
        assert (p - q).norm() < 0.02 * (q - before).norm()


def test_singular_values_are_about_one():
    torch.manual_seed(0)
    values = torch.linalg.svdvals(orthogonal(torch.randn(3, 40, 100)))
    assert values.min() > 0.6 and values.max() < 1.3
