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
