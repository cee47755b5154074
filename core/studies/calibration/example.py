"""The bundled labelled data: questions of the world as the models in the box answered them."""

import hashlib
from pathlib import Path

from core.once import once


def example_of(model: str) -> Path:
    """Return a model's bundled example (`benchmarks/default_policy.py` makes it)."""
    return Path(__file__).parent / f"{model}_world.csv"


@once
def example_hashes() -> frozenset[str]:
    """Return the SHA-256 of every bundled example, in hexadecimal."""
    examples = Path(__file__).parent.glob("*_world.csv")
    return frozenset(hashlib.sha256(each.read_bytes()).hexdigest() for each in examples)


EXAMPLE = example_of("embedded")
