"""The NumPy runtime against recorded values of an independent implementation."""

import json
from pathlib import Path

import numpy as np

from core.language_models.registry import open_model

RECORDED = json.loads((Path(__file__).parent / "data/reference_log_likelihoods.json").read_text())


def test_agrees_with_transformers_on_two_hundred_recorded_prompts():
    model = open_model("embedded")
    assert model.revision == RECORDED["revision"], "record again: python -m training.reference"
    cases = RECORDED["cases"]
    assert len(cases) == 200
    ours = np.array([model.log_likelihoods([c["prompt"]], [c["answer"]])[0, 0] for c in cases])
    theirs = np.array([c["log_likelihood"] for c in cases])
    # 1e-4 absolute; relative beyond 100 nats, where float32 cannot do better.
    assert np.all(np.abs(ours - theirs) <= 1e-4 * np.maximum(1, np.abs(theirs) / 100))


def test_batched_scoring_agrees_with_the_recorded_values_too():
    model = open_model("embedded")
    cases = RECORDED["cases"][::10]
    together = model.log_likelihoods([c["prompt"] for c in cases], [c["answer"] for c in cases])
    theirs = np.array([c["log_likelihood"] for c in cases])
    assert np.all(np.abs(np.diag(together) - theirs) <= 1e-4 * np.maximum(1, np.abs(theirs) / 100))
