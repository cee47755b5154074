"""The registry that opens every model by its name."""

from __future__ import annotations

from typing import Any, cast

from core.language_models.back_end import BackEnd, attribute_at
from core.language_models.errors import ModelError, UnknownModelError
from core.language_models.language_model import LanguageModel

# In the order of the picker: one line a back end, the description in its folder. Its class is
# imported on first use: no back end's dependencies are loaded for the sake of another.
_DESCRIPTIONS = (
    "embedded.description:EMBEDDED",
    "gguf.description:SMOLLM2",
    "openai.description:OPENAI_COMPATIBLE",
    "gemini.description:GEMINI",
    "huggingface.description:HUGGING_FACE",
    "gguf.description:GGUF",
)
BACK_ENDS: dict[str, BackEnd] = {
    back_end.kind: back_end
    for back_end in (
        attribute_at(f"core.language_models.backends.{place}") for place in _DESCRIPTIONS
    )
}


def full_name(name: str) -> str:
    """Return what the short name of a preset stands for, such as ``ollama:NAME``."""
    for back_end in BACK_ENDS.values():
        for preset in back_end.presets:
            if preset.short and name.startswith(f"{preset.short}:"):
                return back_end.name(name.removeprefix(f"{preset.short}:"), preset.base_url)
    return name


def with_only_model(name: str, key: str | None = None) -> str:
    """Return the full name of a model, with the only one of its server where it names none.

    Raises `ModelError` with a sentence: the server has several models, or does not say.
    """
    kind, _, rest = full_name(name).partition(":")
    back_end = BACK_ENDS.get(kind)
    if back_end is None or not (back_end.example_url and back_end.lists and "@" in rest):
        return name
    model, url = back_end.parts(rest)
    if model or not url:
        return name
    names = model_names(kind, url, key)
    if len(names) > 1:
        raise UnknownModelError(
            f"{url} has {len(names):,} models. Name one of them, such as “{names[0]}”."
        )
    return back_end.name(names[0], url)


def usages() -> list[str]:
    """Return how the names of all models are written, short ones last."""
    presets = [preset for back_end in BACK_ENDS.values() for preset in back_end.presets]
    short = [f"{p.short}:{'' if p.one_model else 'NAME'}" for p in presets if p.short]
    return [*(back_end.usage for back_end in BACK_ENDS.values()), *short]


def price_unit(name: str) -> int:
    """Return how many tokens one price of a model is for; 0 where nothing is paid."""
    back_end = BACK_ENDS.get(full_name(name).partition(":")[0])
    return back_end.price_unit if back_end else 0


def _attribute_of(kind: str, place: str) -> Any:
    """Return what stands at a place of a back end; `ModelError` if it lacks a package."""
    try:
        return attribute_at(place)
    except ModuleNotFoundError as error:
        raise ModelError(
            f"Models of the kind “{kind}” need the package “{error.name}”, which is not installed. "
            f"Install it with pip install 'believe[{BACK_ENDS[kind].extra}]'."
        ) from error


def opening_cost(name: str) -> str:
    """Return a sentence on the memory and seconds that a model takes; "" where it is little.

    The file of a stranger is looked into, but for its weights: not on a public server.
    """
    kind, _, rest = full_name(name).partition(":")
    place = BACK_ENDS[kind].cost if kind in BACK_ENDS else ""
    return str(_attribute_of(kind, place)(rest)) if place else ""


def open_model(name: str, key: str | None = None) -> LanguageModel:
    """Open a model by its name on the command line and in results, as `--help` lists them.

    The key of a service is by default the environment's, where that may be used.

    Raises `ModelError` with a sentence when no back end has that name, the model cannot be opened,
    or a server that is to say which it has does not, or has several.
    """
    whole = full_name(with_only_model(name, key)) if isinstance(name, str) else ""
    kind, _, rest = whole.partition(":")
    if kind not in BACK_ENDS:
        raise UnknownModelError(
            f"There is no model called “{name}”. Known models: {', '.join(usages())}."
        )
    back_end = _attribute_of(kind, BACK_ENDS[kind].place)
    options = {"key": key} if key else {}
    return cast(LanguageModel, back_end(rest, **options) if rest else back_end(**options))


def model_names(kind: str, url: str, key: str | None = None) -> tuple[str, ...]:
    """Return the names of the models that a service lists.

    `kind` is one of `BACK_ENDS`, and `url` its base URL, where the kind has several. Raises
    `ModelError` with a sentence, also when it lists none.
    """
    names: tuple[str, ...] = attribute_at(BACK_ENDS[kind].lists)(url, key)
    return names
