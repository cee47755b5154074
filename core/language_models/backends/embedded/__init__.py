"""The shipped model: weights, vocabulary and the NumPy runtime that serves them."""

from pathlib import Path

FOLDER = Path(__file__).parent / "weights"
