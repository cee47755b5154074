"""The bundled labelled data: questions of the world as the embedded model answered them."""

from __future__ import annotations

from pathlib import Path

EXAMPLE = Path(__file__).parent / "embedded_world.csv"
EXAMPLE_NAME = EXAMPLE.name


def example_bytes() -> bytes:
    """Return the bundled example (`benchmarks/default_policy.py` makes it)."""
    return EXAMPLE.read_bytes()
