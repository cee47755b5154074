"""The bundled labelled data: questions of the world as the models in the box answered them."""

from __future__ import annotations

from pathlib import Path


def example_of(model: str) -> Path:
    """Return a model's bundled example (`benchmarks/default_policy.py` makes it)."""
    return Path(__file__).parent / f"{model}_world.csv"


EXAMPLE = example_of("embedded")
EXAMPLE_NAME = EXAMPLE.name


def example_bytes() -> bytes:
    """Return the bundled example that the page opens."""
    return EXAMPLE.read_bytes()
