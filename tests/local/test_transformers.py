"""What needs PyTorch (``make test-local``): the runtime against transformers, and training."""

import numpy as np
import pytest

pytest.importorskip("torch", reason="needs requirements/local.txt: run `make test-local`")

from core.language_models.registry import open_model
from training import reference


def test_runtimes_agree_on_fresh_prompts():
    pairs = reference.cases(count=60, seed=7)
    model = open_model("embedded")
    ours = np.array([model.log_likelihoods([p], [a])[0, 0] for p, a in pairs])
    theirs = np.array(reference.by_transformers(pairs))
    # 1e-4 absolute; relative beyond 100 nats, where float32 cannot do better.
    assert np.all(np.abs(ours - theirs) <= 1e-4 * np.maximum(1, np.abs(theirs) / 100))


def test_a_stopped_training_run_goes_on_where_it_was(tmp_path, monkeypatch):
    """Stopped and continued training gives the weights of an uninterrupted run."""
    import torch

    from training import train

    torch.set_num_threads(1)
    monkeypatch.setattr(train, "CHECKPOINT_EVERY", 4)
    whole, *_ = train.train(seed=3, checkpoint=tmp_path / "whole.pt", limit=8)
    train.train(seed=3, checkpoint=tmp_path / "parts.pt", limit=4)
    parts, *_ = train.train(seed=3, checkpoint=tmp_path / "parts.pt", limit=8)
    for a, b in zip(whole.parameters(), parts.parameters(), strict=True):
        torch.testing.assert_close(a, b, atol=1e-5, rtol=1e-4)


def test_matrices_in_bytes_are_restored_within_half_a_step(tmp_path):
    """To half of the 127th part of the largest weight of a row; vectors stay as they are."""
    import torch
    from safetensors.torch import save_file

    from core.language_models.backends.embedded.model import restore
    from training.train import in_bytes

    matrix = torch.randn(40, 30, generator=torch.Generator().manual_seed(1)) * 0.02
    matrix[0] *= 100
    matrix[1] = 0
    vector = torch.linspace(-1, 1, 30)
    kept = in_bytes("matrix", matrix) | in_bytes("vector", vector)
    assert kept["matrix"].dtype == torch.int8
    save_file(kept, tmp_path / "model.safetensors")
    found = restore(tmp_path)
    assert set(found) == {"matrix", "vector"}
    np.testing.assert_array_equal(found["vector"], vector.numpy())
    step = matrix.abs().amax(dim=1, keepdim=True).numpy() / 127
    assert np.all(np.abs(found["matrix"] - matrix.numpy()) <= step / 2 * (1 + 1e-5))
    assert np.abs(found["matrix"]).max(axis=1) == pytest.approx(127 * step[:, 0])


def test_what_is_minimised_is_the_cross_entropy_with_what_might_stand_there():
    import torch
    from torch.nn import functional

    from training.targets import Example
    from training.train import micro_batches, surprise

    examples = [
        Example([5, 6, 7], [1, 2], [([1, 3], [0.25, 0.75]), ([2], [1.0])]),
        Example([5, 6], [0], [([0, 1, 2], [0.5, 0.25, 0.25])]),
    ]
    ((tokens, (rows, columns), expected),) = micro_batches(examples, pad=9)
    assert tokens.tolist() == [[5, 6, 7], [5, 6, 9]]
    assert (rows.tolist(), columns.tolist()) == ([0, 0, 1], [1, 2, 0])
    logits = torch.randn(3, 4, generator=torch.Generator().manual_seed(2))
    dense = torch.tensor([[0, 0.25, 0, 0.75], [0, 0, 1, 0], [0.5, 0.25, 0.25, 0]])
    whole = functional.cross_entropy(logits, dense, reduction="sum")
    torch.testing.assert_close(surprise(logits, expected), whole)
