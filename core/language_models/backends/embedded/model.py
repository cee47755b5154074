"""The embedded model: the small transformer that ships with Believe."""

import hashlib
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load_file
from tokenizers import Tokenizer

from core.data.world.normal_form import normal_form
from core.language_models.backends.embedded import FOLDER
from core.language_models.backends.llama.model import LlamaModel
from core.language_models.backends.llama.runtime import Llama
from core.language_models.errors import BrokenModelError
from core.once import once

SCALE = ".scale"  # behind a matrix's name: what its rows are to be multiplied by
FILES = ("config.json", "model.safetensors", "tokenizer.json")  # each has its hash beside it


class EmbeddedModel(LlamaModel):
    """The small transformer that ships with Believe, served by NumPy.

    Raises `BrokenModelError` when a file is missing or differs from the one that was trained.
    """

    name = "embedded"
    title = "the embedded model"
    capabilities = replace(LlamaModel.capabilities, reads_front=False)

    def __init__(self, folder: str | Path = FOLDER) -> None:
        self.revision, llama, tokenizer, self.end = _load(Path(folder))
        # It was taught to end every answer so; no line break ever stood there.
        super().__init__(llama, tokenizer, [self.end], scored_ends=[self.end])

    def reads(self, question: str) -> str:
        """Return the words of a question in small letters: so it was taught to read all."""
        return normal_form(question)


def restore(folder: Path) -> dict[str, NDArray[np.float32]]:
    """Return the weights of a folder by name; matrices are kept as bytes with a scale a row."""
    tensors = load_file(folder / "model.safetensors")
    return {
        name: part.astype(np.float32) * tensors[f"{name}{SCALE}"][:, None]
        if f"{name}{SCALE}" in tensors
        else part.astype(np.float32)
        for name, part in tensors.items()
        if not name.endswith(SCALE)
    }


@once
def _load(folder: Path) -> tuple[str, Llama, Tokenizer, int]:
    """Read a model folder once a process, after checking every file against its hash."""
    try:
        lines = (folder / "SHA256SUMS").read_text().splitlines()
        sums = {name: digest for digest, name in (line.split() for line in lines)}
        for name in FILES:
            if hashlib.sha256((folder / name).read_bytes()).hexdigest() != sums.get(name):
                raise BrokenModelError(
                    f"The embedded model’s file {name} is not the one that was trained. "
                    "Restore it from the repository, or train it again with `make train`."
                )
        config = json.loads((folder / "config.json").read_text())
        weights = restore(folder)
        tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    except (OSError, ValueError, SafetensorError) as error:
        raise BrokenModelError(
            f"The embedded model in {folder} cannot be read ({type(error).__name__}). "
            "Restore it from the repository, or train it with `make train`."
        ) from error
    tokenizer.encode_special_tokens = True
    revision = sums["model.safetensors"][:12]
    return revision, Llama(weights, config), tokenizer, int(config["eos_token_id"])
