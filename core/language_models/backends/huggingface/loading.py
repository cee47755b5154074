"""Where a Hugging Face model comes from: a folder, or the hub; and how it is opened safely.

A model of the hub is brought here first and then opened like any folder, so there is one
way in. No code comes along with a model: ``trust_remote_code`` is off, and only safetensors
weights are read, because opening pickled ones runs whatever was pickled.
"""

import hashlib
import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from core.language_models.errors import (
    BrokenModelError,
    ModelError,
    NeedsKeyError,
    UnknownModelError,
    UnreachableError,
    check_unchanged,
)
from core.once import in_forks, once
from core.settings import HUB_TOKEN

# What of a model of the hub is fetched: all that is read of it. Neither pickles nor code are among
# it, nor the copies of the weights that some keep in subfolders and under other names.
FILES = (
    "config.json",
    "generation_config.json",
    "*.safetensors",
    "*.safetensors.index.json",
    "*token*",
    "vocab*",
    "merges.txt",
    "*.model",
    "chat_template*",
    "additional_chat_templates/*.jinja",
)
NOT_FILES = (
    *(f"*/{pattern}" for pattern in FILES),
    *("consolidated*", "*.py", "*.bin", "*.pt", "*.pth", "*.pkl"),
)

# Weights that are never opened here, by the ends of their names: a revision is not of these.
OTHER_WEIGHTS = frozenset(
    (".bin", ".pt", ".pth", ".pkl", ".ckpt", ".gguf", ".ggml", ".h5", ".msgpack", ".onnx", ".npz")
)

# What architectures are called that see the words behind a word, such as BERT's.
LOOKING_AHEAD = (
    "ForMaskedLM",
    "ForPreTraining",
    "ForQuestionAnswering",
    "ForSequenceClassification",
    "ForTokenClassification",
)

HUB_NAME = re.compile(r"\w[\w.-]*(/\w[\w.-]*)?")


@dataclass(frozen=True)
class LoadedNetwork:
    """A model in memory, with all that is known of it."""

    # network, tokenizer: as transformers has them.
    network: Any
    tokenizer: Any
    device: Any  # where the network is
    end_tokens: frozenset[int]  # the ids of the tokens that end a text
    revision: str  # the hub's commit, or a hash over the files; and the precision of the numbers


def open_files(name: str, key: str | None = None, device: str | None = None) -> LoadedNetwork:
    """Open a folder on this machine, which is never looked for on the hub, or a model of the hub.

    See `HuggingFace` for key and device. Raises `ModelError` with a sentence: libraries, device,
    key, folder, weights or memory are missing.
    """
    folder = _local_folder(name)
    torch, transformers = libraries()
    in_forks(partial(torch.set_num_threads, 1))
    place = _device(torch, device)
    commit = ""
    if folder is None:
        folder = _fetch(name, key)
        commit = folder.name
    _check(folder, name)
    with _loading(name):
        files = fingerprint(folder)
        network = _load_network(torch, transformers, folder, place)
        tokenizer = _load_tokenizer(transformers, folder)
        _check_sizes(network, tokenizer, name)
        check_unchanged(name, files, fingerprint(folder))
    precision = str(network.dtype).removeprefix("torch.")
    return LoadedNetwork(
        network=network,
        tokenizer=tokenizer,
        device=place,
        end_tokens=_end_tokens(network, tokenizer, name),
        revision=f"{commit or files}-{precision}",
    )


def libraries() -> tuple[Any, Any]:
    """Return torch and transformers, or raise `ModelError` with how they are installed."""
    try:
        import torch
        import transformers
    except ImportError:
        raise ModelError(
            "Models of Hugging Face need PyTorch and transformers. Install them with "
            "`pip install -r requirements/local.txt`."
        ) from None
    return torch, transformers


def out_of_memory(error: BaseException) -> bool:
    """Whether an error says that memory was too small."""
    torch, _ = libraries()
    if isinstance(error, MemoryError | torch.OutOfMemoryError):
        return True
    return isinstance(error, RuntimeError) and "can't allocate memory" in str(error)


def _local_folder(name: str) -> Path | None:
    """Return the folder of that name; None where it can only be a name of the hub."""
    folder = Path(os.path.expanduser(name))
    if name and os.path.isdir(folder):  # which no name is too long for
        return folder
    if not name:
        raise UnknownModelError(
            "Say which model: hf:PATH_OR_NAME, with a folder on this machine or a name of the "
            "Hugging Face hub."
        )
    if not HUB_NAME.fullmatch(name) or os.path.exists(folder):
        raise UnknownModelError(
            f"There is no folder “{name}” on this machine, and no model of the Hugging Face hub "
            "can have that name. Correct the path."
        )
    return None


def _device(torch: Any, name: str | None) -> Any:
    if name is None:
        name = "cuda" if torch.cuda.is_available() else "cpu"
    if name.partition(":")[0] not in {"cpu", "cuda"}:
        raise ModelError(f"There is no device called “{name}”. Choose cpu or cuda.")
    try:
        device = torch.device(name)
        torch.zeros(1, device=device)
    except (RuntimeError, AssertionError):
        raise ModelError(
            f"PyTorch cannot use the device “{name}” on this machine. Choose cpu."
        ) from None
    return device


def _fetch(name: str, key: str | None) -> Path:
    """Bring a model of the hub here, or find it here; return its folder, named by its commit."""
    import huggingface_hub
    from huggingface_hub import constants, errors

    host = urlsplit(constants.ENDPOINT).hostname
    try:
        # Without a key, the hub's own library looks for HF_TOKEN.
        folder = huggingface_hub.snapshot_download(
            name, token=key, allow_patterns=list(FILES), ignore_patterns=list(NOT_FILES)
        )
    except Exception as caught:  # the hub's own, and those of sockets, TLS and the disk
        # It is neither quoted nor chained: it may hold an address with a key in it.
        error, cause = caught, caught.__cause__
    else:
        return Path(folder)
    if isinstance(error, errors.GatedRepoError):
        raise NeedsKeyError(
            f"“{name}” is shown only to those who accepted its terms. Accept them at {host}, and "
            f"set {HUB_TOKEN} to a token of that account."
        )
    if isinstance(error, errors.RepositoryNotFoundError | errors.HFValidationError):
        raise UnknownModelError(
            f"There is no folder “{name}” on this machine, and {host} shows no model of that "
            f"name. Correct the name, or set {HUB_TOKEN} if it is a private one."
        )
    # The library looks for its own copy first, and then says only that there is none.
    refusals = [e for e in (error, cause) if isinstance(e, errors.HfHubHTTPError)]
    status = refusals[0].response.status_code if refusals else 0
    if status in {401, 403}:
        raise NeedsKeyError(
            f"{host} did not accept the key for “{name}”. Set {HUB_TOKEN} to a token "
            "that may read it."
        )
    reason = f"status {status}" if status else type(cause or error).__name__
    raise UnreachableError(
        f"“{name}” could not be fetched from {host} ({reason}), and not all of it is on this "
        "machine. Check the network and the space on the disk, and try again."
    )


def _check(folder: Path, name: str) -> None:
    if not (folder / "config.json").is_file():
        raise BrokenModelError(
            f"“{name}” contains no model: config.json is missing. Name the folder that contains it."
        )
    if _config(folder).get("is_encoder_decoder"):  # T5, BART, …
        raise BrokenModelError(
            f"“{name}” reads one text and writes another (an encoder and a decoder), so it has no "
            "probability of a text's continuation. Choose a causal language model."
        )
    architectures = _config(folder).get("architectures")
    if isinstance(architectures, list) and any(
        str(kind).endswith(LOOKING_AHEAD) for kind in architectures
    ):
        raise BrokenModelError(
            f"“{name}” is made for other tasks ({', '.join(map(str, architectures))}) and looks "
            "ahead, so it is not a causal language model. Choose one made for text generation."
        )
    if not any(folder.glob("*.safetensors")):
        raise BrokenModelError(
            f"“{name}” has no safetensors weights. Others are not opened, because pickled "
            "weights can run code: convert them with `save_pretrained` of transformers."
        )
    if not any((folder / file).is_file() for file in ("tokenizer.json", "tokenizer_config.json")):
        raise BrokenModelError(
            f"“{name}” has no tokenizer: neither tokenizer.json nor tokenizer_config.json is "
            "there. Add the one that belongs to the model."
        )
    pieces = [file.name for file in folder.glob("*.model")]
    readable = any((folder / file).is_file() for file in ("tokenizer.json", "vocab.json"))
    if pieces and not readable and find_spec("sentencepiece") is None:
        raise BrokenModelError(
            f"“{name}” has its tokenizer only as SentencePiece ({pieces[0]}). Install "
            "`sentencepiece`, or add the tokenizer.json that belongs to the model."
        )


def _config(folder: Path) -> dict[str, Any]:
    """Return what config.json says; nothing where it cannot be read, which is said on loading."""
    try:
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    except (ValueError, OSError):
        return {}
    return config if isinstance(config, dict) else {}


@contextmanager
def _loading(name: str) -> Iterator[None]:
    """Load quietly; turn whatever goes wrong into a sentence."""
    log = libraries()[1].utils.logging
    bars = log.is_progress_bar_enabled()
    log.disable_progress_bar()
    try:
        yield
    except ModelError:
        raise
    except Exception as error:  # there are as many as there are architectures
        if out_of_memory(error):
            reason = "it does not fit into memory. Choose a smaller model."
        elif "trust_remote_code" in str(error):
            reason = "it needs code of its own, which Believe never runs. Choose another model."
        else:
            words = " ".join(str(error).split())[:200].rstrip(".")
            reason = f"{words or type(error).__name__}. Fetch it again, or choose another model."
        raise BrokenModelError(f"The model “{name}” cannot be opened: {reason}") from None
    finally:
        if bars:
            log.enable_progress_bar()


def _load_network(torch: Any, transformers: Any, folder: Path, device: Any) -> Any:
    network, report = transformers.AutoModelForCausalLM.from_pretrained(
        folder,
        dtype=torch.float32 if device.type == "cpu" else "auto",
        local_files_only=True,
        trust_remote_code=False,
        use_safetensors=True,
        output_loading_info=True,
    )
    missing = sorted(report["missing_keys"])
    if missing:  # transformers makes them up, and only warns
        raise BrokenModelError(
            f"The weights in {folder} lack {len(missing):,} tensors of the model, such as "
            f"{missing[0]}. Fetch them again, or choose a model made for text generation."
        )
    ignored = sorted(report["unexpected_keys"])  # without them it is another network
    if ignored:
        raise BrokenModelError(
            f"The weights in {folder} hold {len(ignored):,} tensors that transformers does not "
            f"read, such as {ignored[0]}. Its answers would not be the model’s. Choose weights "
            "that were saved whole: not quantised, without adapters."
        )
    return network.to(device).eval()


def _load_tokenizer(transformers: Any, folder: Path) -> Any:
    if (folder / "tokenizer_config.json").is_file():
        return transformers.AutoTokenizer.from_pretrained(
            folder, local_files_only=True, trust_remote_code=False
        )
    # A plain folder: what stands in tokenizer.json, and nothing guessed from the model's kind.
    return transformers.PreTrainedTokenizerFast(tokenizer_file=str(folder / "tokenizer.json"))


def _check_sizes(network: Any, tokenizer: Any, name: str) -> None:
    """Make sure that the network knows every token that a text can be read as."""
    rows = network.get_input_embeddings().weight.shape[0]
    padding = tokenizer.pad_token  # often added for training; no text has it
    tokens = [i for token, i in tokenizer.get_vocab().items() if token != padding]
    if max(tokens, default=0) >= rows:
        raise BrokenModelError(
            f"The tokenizer of “{name}” has tokens up to number {max(tokens):,}, and its weights "
            f"only {rows:,}. Add the tokenizer that belongs to the model."
        )


def _end_tokens(network: Any, tokenizer: Any, name: str) -> frozenset[int]:
    """Return the ids of the tokens that end a text: the tokenizer's, and the model's own."""
    config = network.config.get_text_config()
    ids = _ends_of_lines(tokenizer) | _ends_of_lines(network.generation_config) or _ends_of_lines(
        config
    )
    inside = frozenset(token for token in ids if token < config.vocab_size)
    if not inside:
        raise BrokenModelError(
            f"The model “{name}” names no end token. Give its config.json an eos_token_id."
        )
    return inside


def _ends_of_lines(source: Any) -> set[int]:
    named = getattr(source, "eos_token_id", None)
    return {named} if isinstance(named, int) else set(named or ())


def fingerprint(folder: Path) -> str:
    """Return a short SHA-256 over every file of a folder, but weights that are never opened.

    Which files change what a model answers is decided in transformers, and changes with it.
    """
    lines = []
    for file in sorted(folder.rglob("*")):
        name = file.relative_to(folder)
        hidden = any(part.startswith(".") for part in name.parts)
        if hidden or file.suffix in OTHER_WEIGHTS or not file.is_file():
            continue
        status = file.stat()
        digest = _file_hash(str(file.resolve()), status.st_size, status.st_mtime_ns)
        lines.append(f"{digest} {name.as_posix()}\n")
    return hashlib.sha256("".join(lines).encode()).hexdigest()[:12]


@once
def _file_hash(path: str, size: int, changed: int) -> str:
    """Read a file once a process, as long as it stays as it is."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
