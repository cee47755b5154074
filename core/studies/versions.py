"""What computed a result: versions of Python, of this system, and of the packages that count."""

import importlib.metadata
import platform
from typing import Final

#: What computes the answers and the scores, where it is installed.
PACKAGES: Final = (
    *("numpy", "scipy", "rapidfuzz", "tokenizers", "safetensors", "gguf", "pyarrow"),
    *("torch", "transformers", "requests", "google-generativeai"),
)


def versions() -> dict[str, str]:
    """Return the version of everything that is installed of it, by its name."""
    names = {"python": platform.python_version(), "platform": platform.platform()}
    for name in PACKAGES:
        try:
            names[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return names
