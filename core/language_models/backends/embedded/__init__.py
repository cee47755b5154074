"""The shipped model: its weights and vocabulary; the runtime is that of `llama`."""

from pathlib import Path

FOLDER = Path(__file__).parent / "weights"
