"""The registry that opens every model by its name."""

from __future__ import annotations

import importlib
from typing import Any, cast

from core.language_models.base import LanguageModel
from core.language_models.errors import UnknownModelError

# Name before the colon -> where the class stands. Imported on first use: no back end's
# dependencies are loaded for the sake of another.
SERVICES = ("openai", "gemini")  # kinds whose calls may cost money
BACK_ENDS = {
    "embedded": "core.language_models.backends.embedded.model:EmbeddedModel",
    "gemini": "core.language_models.backends.gemini.model:Gemini",
    "openai": "core.language_models.backends.openai.model:OpenAICompatible",
    "gguf": "core.language_models.backends.gguf.model:GGUF",
    "smollm2": "core.language_models.backends.gguf.model:SmolLM2",
    "hf": "core.language_models.backends.huggingface.model:HuggingFace",
}

# Of services: what lists their models, given a base URL and a key.
LISTS = {
    "openai": "core.language_models.backends.openai.listing:offered",
    "gemini": "core.language_models.backends.gemini.model:offered",
}

# Servers at their usual place on this machine; that of llama.cpp serves one model by any name.
SHORT_NAMES = {
    "ollama": "openai:{}@http://localhost:11434/v1",
    "llamacpp": "openai:{}@http://localhost:8080/v1",
}


def full_name(name: str) -> str:
    """Return what ``ollama:NAME``, ``llamacpp:NAME`` or ``llamacpp:`` stands for."""
    kind, colon, rest = name.partition(":")
    if not colon or kind not in SHORT_NAMES:
        return name
    return SHORT_NAMES[kind].format(rest or ("default" if kind == "llamacpp" else ""))


def open_model(name: str, key: str | None = None) -> LanguageModel:
    """Open a model by the name used on the command line and in results.

    Parameters
    ----------
    name : str
        ``embedded``, ``gemini:NAME``, ``openai:NAME@BASE_URL`` or ``hf:PATH_OR_NAME``, or
        short for one of a server on this machine; see `full_name`.
    key : str, optional
        For a service; by default the environment's, where it may be used.

    Raises
    ------
    UnknownModelError
        When no back end has that name.
    ModelError
        With a sentence, when the model cannot be opened.
    """
    kind, _, rest = full_name(name).partition(":")
    if kind not in BACK_ENDS:
        names = ", ".join([*BACK_ENDS, *SHORT_NAMES])
        raise UnknownModelError(f"There is no model called “{name}”. Known models: {names}.")
    back_end = _import(BACK_ENDS[kind])
    options = {"key": key} if key else {}
    return cast(LanguageModel, back_end(rest, **options) if rest else back_end(**options))


def offered(kind: str, url: str, key: str | None = None) -> tuple[str, ...]:
    """Return the names of the models that a service lists.

    Parameters
    ----------
    kind : str
        One of `SERVICES`.
    url : str
        Its base URL, where the kind has several.

    Raises
    ------
    ModelError
        With a sentence, also when it lists none.
    """
    names: tuple[str, ...] = _import(LISTS[kind])(url, key)
    return names


def _import(place: str) -> Any:
    module, _, attribute = place.partition(":")
    return getattr(importlib.import_module(module), attribute)
