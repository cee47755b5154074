"""How a network of transformers is run: once over what is shared, in blocks that fit.

Rows that go on from the same text (answers to score, responses being drawn) share what the
network keeps of it, its cache, repeated as often as needed. All rows of a batch have read
equally many tokens, so none is ever padded on the left; and what stands on the right of a
text cannot change it. That is why no mask is needed anywhere.

Whether a network may be run in such pieces is tried on a short text when it is opened. One
that may not (some recurrent ones) is run over the whole text each time.

On a processor all is computed in float32. On a GPU the weights keep the precision they were
saved in, and what is made of the logits is float32: there, numbers change in the third digit
or so with the company in a batch.
"""

from __future__ import annotations

import copy
import inspect
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from core.language_models.backends.huggingface.loading import libraries, out_of_memory
from core.language_models.errors import BrokenModelError, ModelError
from core.language_models.usage import Speed

Tensor = Any  # torch.Tensor; torch is imported when a model is opened, not before

# What one block of rows may take of a computer's memory, which gives no warning when it
# ends; of a GPU's, a share of what is free. Larger blocks are no faster.
BLOCK_BYTES = 2**28
FREE_SHARE = 0.25


@dataclass
class Past:
    """What a batch of rows has read so far."""

    tokens: Tensor  # (rows, length)
    cache: Any  # what the network keeps of them; None where it has to read them again

    def take(self, rows: Tensor) -> Past:
        """Keep, drop or repeat rows, in place."""
        self.tokens = self.tokens[rows]
        if self.cache is not None:
            self.cache.reorder_cache(rows)
        return self


class Network:
    """A causal language model of transformers, and the machine that it is on.

    Sentences call it by its name; it is tried on `trial`, the tokens of a short text, and `speed`
    measures every pass. Raises `BrokenModelError` when what comes later in a text changes what it
    says of the earlier.
    """

    def __init__(self, name: str, model: Any, device: Any, trial: list[int], speed: Speed) -> None:
        self.name, self.model, self.device, self.speed = name, model, device, speed
        self.torch, _ = libraries()
        self.exact = model.dtype == self.torch.float32
        config = model.config.get_text_config()
        self.vocabulary = int(config.vocab_size)
        heads = getattr(config, "num_attention_heads", None) or 1
        shared = (getattr(config, "num_key_value_heads", None) or heads) / heads
        # Keys and values of every layer: what the cache of a token takes, about.
        width = 2 * config.num_hidden_layers * config.hidden_size * shared
        self._token_bytes = int(width * model.dtype.itemsize)
        parameters = inspect.signature(model.forward).parameters
        self._can_keep_few_logits = "logits_to_keep" in parameters
        self._lock = threading.RLock()  # a GPU's memory is not for two at once
        self.keeps_cache = False
        with self.at_work():
            self.keeps_cache = self._may_keep_a_cache(self.tensor([trial]))

    def tensor(self, values: Any) -> Tensor:
        """Return values as a tensor where the network is."""
        return self.torch.as_tensor(values, device=self.device)

    def read(
        self, tokens: Tensor, past: Past | None = None, *, keep: int = 1
    ) -> tuple[Tensor, Past]:
        """Run tokens of shape (rows, length) behind `past`, which is used up.

        Returns the logits at the last `keep` positions, (rows, keep, V), and all that was read, to
        go on from.
        """
        with self.speed.passing(tokens.numel()):
            return self._read(tokens, past, keep)

    def _read(self, tokens: Tensor, past: Past | None, keep: int) -> tuple[Tensor, Past]:
        whole = tokens if past is None else self.torch.cat([past.tokens, tokens], dim=1)
        # Of a long prompt, only the last logits are wanted.
        options = {"logits_to_keep": keep} if self._can_keep_few_logits else {}
        if not self.keeps_cache:
            out = self.model(whole, use_cache=False, **options)
            return out.logits[:, -keep:], Past(whole, None)
        cache = None if past is None else past.cache
        out = self.model(tokens, past_key_values=cache, use_cache=True, **options)
        return out.logits[:, -keep:], Past(whole, out.past_key_values)

    def numbers(self, values: Any) -> Any:
        """Return an array or a tensor; raise `BrokenModelError` if it has what is no number."""
        if bool((values != values).any()):
            raise BrokenModelError(
                f"{self.name} returns values that are not numbers: its weights are damaged, or "
                f"too large for {str(self.model.dtype).removeprefix('torch.')}. Fetch them "
                "again, or choose another model."
            )
        return values

    def _may_keep_a_cache(self, tokens: Tensor) -> bool:
        """Whether going on from a cache changes nothing, tried with several rows and steps."""
        length = tokens.shape[1]
        half = length // 2
        whole, _ = self.read(tokens, keep=length)
        self.numbers(whole)
        start, _ = self.read(tokens[:, :half], keep=half)
        if not self._alike(whole[:, :half], start):
            raise BrokenModelError(
                f"{self.name} also reads the words to the right, so it is not a causal "
                "language model. Choose one made for text generation."
            )
        self.keeps_cache = True
        try:
            _, past = self.read(tokens[:, :half])
            past = copy.deepcopy(past).take(self.tensor([0, 0]))
            twice = tokens.repeat(2, 1)
            most, past = self.read(twice[:, half:-1], past, keep=length - half - 1)
            last, _ = self.read(twice[:, -1:], past)
            return self._alike(self.torch.cat([most, last], dim=1), whole[:, half:])
        except Exception:  # whatever comes of a cache that this kind of network does not keep
            return False

    def _alike(self, one: Tensor, other: Tensor) -> bool:
        """Whether two tables of logits are the same distributions up to rounding."""
        difference = one.float().softmax(dim=-1) - other.float().softmax(dim=-1)
        moved = difference.abs().sum(dim=-1).max() / 2  # how much of the probability
        return bool(moved < (1e-4 if self.exact else 0.1))

    @contextmanager
    def at_work(self) -> Iterator[None]:
        """Have the network for oneself.

        Raises `ModelError` when memory was too small, and smaller blocks did not help.
        """
        with self._lock, self.torch.inference_mode():
            try:
                yield
            except (RuntimeError, MemoryError) as error:
                if not out_of_memory(error):
                    raise
                raise ModelError(
                    f"The memory of {self.device} is too small for {self.name} and a single text "
                    "of this length. Shorten the question, or choose a smaller model."
                ) from None

    def rows(self, length: int, new: int) -> int:
        """Return how many rows of `length` tokens, `new` of them scored, make a block."""
        room = BLOCK_BYTES
        if self.device.type == "cuda":
            cuda = self.torch.cuda
            free = cuda.mem_get_info(self.device)[0]
            unused = cuda.memory_reserved(self.device) - cuda.memory_allocated(self.device)
            room = int(FREE_SHARE * (free + unused))
        # A cache is repeated, then extended; logits come in the network's precision and are
        # made float32, and then their exponentials are summed.
        return max(1, room // (2 * length * self._token_bytes + 12 * new * self.vocabulary))

    def in_blocks(self, total: int, rows: int, work: Callable[[slice], None]) -> None:
        """Do work on `total` rows, at most `rows` at once, and on half where memory is short.

        Raises `RuntimeError` or `MemoryError` when memory is too small for one row.
        """
        start = 0
        while start < total:
            part = slice(start, min(start + rows, total))
            try:
                work(part)
            except (RuntimeError, MemoryError) as error:
                if part.stop - part.start == 1 or not out_of_memory(error):
                    raise
            else:
                start = part.stop
                continue
            # Not above: until here the error held on to what filled the memory.
            rows = (part.stop - part.start) // 2
            if self.device.type == "cuda":
                self.torch.cuda.empty_cache()
