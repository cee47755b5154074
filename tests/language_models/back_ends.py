"""Every back end that can be tried on this machine, by name; `test_conformance.py` tries them.

Services are real servers on 127.0.0.1 with the embedded model behind them. To add a back end,
add a function that opens it for the length of a ``with`` block.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from importlib.util import find_spec

from core.language_models.backends.embedded import FOLDER
from core.language_models.backends.openai.model import OpenAICompatible
from core.language_models.base import LanguageModel
from core.language_models.registry import open_model
from tests.language_models.gemini_server import gemini
from tests.language_models.openai_server import END, serving

KEY = "sk-conformance-0123456789"


@contextmanager
def opened(name: str) -> Iterator[LanguageModel]:
    """Open a model that needs no service."""
    yield open_model(name)


@contextmanager
def openai(flavour: str, *, end: str | None = None, **options) -> Iterator[LanguageModel]:
    """Open a model of a server that wants a key."""
    with serving(flavour, key=KEY, **options) as server:
        if end:
            yield OpenAICompatible(server.rest, KEY, end=end)
        else:
            yield open_model(server.name, KEY)


BACK_ENDS: dict[str, Callable[[], AbstractContextManager[LanguageModel]]] = {
    "embedded": partial(opened, "embedded"),
    "gemini": partial(gemini, known=False),
    "gemini-own": partial(gemini, known=False, logprobs=True),
    "openai-echo": partial(openai, "echo"),
    "openai-echo-with-end": partial(openai, "echo", end=END),
    "openai-echo-of-one-token": partial(openai, "echo", least_tokens=1),
    "openai-echo-scaled": partial(openai, "echo", scaled=True),
    "openai-top": partial(openai, "top", lists_end=False),
    "openai-top-without-stops": partial(openai, "top", stops=False, written="content"),
    "openai-top-scaled": partial(openai, "top", scaled=True),
    "openai-none": partial(openai, "none", n=False),
    "openai-chat-top": partial(openai, "chat-top", lists_end=False),
    "openai-chat-none": partial(openai, "chat-none"),
    "openai-chat-plain": partial(openai, "chat-none", refuses=("seed",)),
}
if find_spec("torch") and find_spec("transformers"):  # only where `make test-local` runs
    BACK_ENDS["hf"] = partial(opened, f"hf:{FOLDER}")
