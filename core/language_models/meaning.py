"""Whether two answers mean the same, to a small model of embeddings or of entailment.

One more way to compare answers: its name is ``meaning:FOLDER#HASH``, and the hash pins the files.
A name in an uploaded file opens nothing: `compares` knows only what this process has opened by
`open_comparison`. A policy that a person decides by opens what is on this machine, and fetches
nothing.

References
----------
.. [1] N. Reimers, I. Gurevych: Sentence-BERT, 2019: the cosine of mean embeddings.
.. [2] L. Kuhn, Y. Gal, S. Farquhar: Semantic Uncertainty, 2023: entailment in both directions.
"""

import functools
import hashlib
import importlib.util
import json
import os
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from core.language_models.errors import ModelError, UnknownModelError, check_unchanged
from core.once import in_forks

PREFIX: Final = "meaning:"
_READ: Final = ("*.safetensors", "*.json", "*.txt", "*.model", "1_Pooling/config.json")
_BATCH: Final = 64  # texts, or pairs of them
#: What compares in this process, of a question and its answers, by name.
COMPARISONS: dict[str, Callable[[str, Sequence[str]], NDArray[np.float64]]] = {}


def open_comparison(name: str, *, fetches: bool = True) -> str:
    """Open a model, and return the name under which it compares, with the hash of its files.

    The name is ``meaning:`` and a folder in the format of Hugging Face, or a name of its hub. A
    classifier with a class *entailment* compares by that, any other encoder by its embeddings. A
    model that is not here may be fetched, but not by a name that a file brings.

    Raises `ModelError` when it is none, cannot be opened, or is another one than the hash says.
    """
    place, _, pinned = name.removeprefix(PREFIX).partition("#")
    if not (importlib.util.find_spec("torch") and importlib.util.find_spec("transformers")):
        raise ModelError(
            "To compare by a model, PyTorch and transformers are needed. Run "
            "`pip install -r requirements/local.txt`, and try again."
        )
    folder = _folder(place, fetches)
    whole = f"{PREFIX}{place}#{(hash := _hash(folder))}"
    if pinned and whole != name:
        raise ModelError(f"“{place}” holds another model than the one that is wanted. Restore it.")
    if whole not in COMPARISONS:
        try:
            compare = _comparison(folder)
            check_unchanged(place, hash, _hash(folder))
            COMPARISONS[whole] = compare
        except ModelError:
            raise
        except Exception as error:  # whatever a stranger's files bring about
            raise ModelError(
                f"“{place}” cannot be read as a model of embeddings or entailment "
                f"({type(error).__name__}). Name another folder."
            ) from error
    return whole


def _hash(folder: Path) -> str:
    """Return a short SHA-256 over all that is read of a folder."""
    digest = hashlib.sha256()
    for file in sorted({file for pattern in _READ for file in folder.glob(pattern)}):
        digest.update(file.read_bytes())
    return digest.hexdigest()[:12]


def compares(name: str) -> bool:
    """Return whether a similarity is a model that is open in this process."""
    return name in COMPARISONS


@functools.lru_cache(maxsize=256)
def alike(name: str, question: str, texts: tuple[str, ...]) -> NDArray[np.float64]:
    """Return how alike answers to a question are, (n, n), symmetric, in [0, 1]; by an open model.

    The cosine of two embeddings, at least 0; or the lesser probability that one answer, behind its
    question, entails the other.
    """
    matrix = COMPARISONS[name](question, texts)
    np.fill_diagonal(matrix, 1.0)
    return np.clip(np.minimum(matrix, matrix.T), 0.0, 1.0)


def _folder(place: str, fetches: bool) -> Path:
    folder = Path(os.path.expanduser(place))
    if os.path.isdir(folder):
        return folder
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HFValidationError

    try:
        return Path(
            snapshot_download(place, allow_patterns=list(_READ), local_files_only=not fetches)
        )
    except (OSError, ValueError, HFValidationError) as error:
        hub = (
            "the hub of Hugging Face gives no such model" if fetches else "none was fetched before"
        )
        raise UnknownModelError(
            f"There is no folder “{place}” here, and {hub}. Name a folder with its files."
        ) from error


def _comparison(folder: Path) -> Callable[[str, Sequence[str]], NDArray[np.float64]]:
    import torch
    from transformers import (
        AutoConfig,
        AutoModel,
        AutoModelForSequenceClassification,
        AutoTokenizer,
    )
    from transformers.utils import logging

    logging.disable_progress_bar()
    in_forks(functools.partial(torch.set_num_threads, 1))
    config = AutoConfig.from_pretrained(folder)
    classes = {str(label).casefold(): place for place, label in (config.id2label or {}).items()}
    is_entailment = "entailment" in classes
    kind = AutoModelForSequenceClassification if is_entailment else AutoModel
    network = kind.from_pretrained(folder, use_safetensors=True).eval()
    tokenizer = AutoTokenizer.from_pretrained(folder)

    lock = threading.Lock()  # a tokenizer is not for two at once

    def read(*texts: Sequence[str]) -> tuple[Any, Any]:
        with lock, torch.inference_mode():
            batch = tokenizer(*map(list, texts), padding=True, truncation=True, return_tensors="pt")
            return network(**batch), batch["attention_mask"][..., None]

    def entailment(question: str, texts: Sequence[str]) -> NDArray[np.float64]:
        behind = [f"{question} {text}" for text in texts]
        n, values = len(texts), []
        for start in range(0, n * n, _BATCH):
            pairs = [divmod(at, n) for at in range(start, min(start + _BATCH, n * n))]
            output, _ = read([behind[i] for i, _ in pairs], [behind[j] for _, j in pairs])
            values.append(output.logits.softmax(-1)[:, classes["entailment"]].double().numpy())
        return np.concatenate(values).reshape(n, n)

    pooling = folder / "1_Pooling/config.json"
    how = json.loads(pooling.read_text()) if pooling.is_file() else {}
    takes_first = bool(how.get("pooling_mode_cls_token"))

    def embeddings(_: str, texts: Sequence[str]) -> NDArray[np.float64]:
        rows = []
        for start in range(0, len(texts), _BATCH):
            output, mask = read(texts[start : start + _BATCH])
            hidden = output.last_hidden_state
            means = hidden[:, 0] if takes_first else (hidden * mask).sum(1) / mask.sum(1)
            rows.append(torch.nn.functional.normalize(means, dim=-1).double().numpy())
        whole = np.concatenate(rows)
        return np.asarray(whole @ whole.T)

    compare = entailment if is_entailment else embeddings
    compare("Q?", ["a", "b"])  # what cannot be asked is found out now
    return compare
