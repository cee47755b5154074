"""What a back end is for whoever chooses, opens, lends or pays for one of its models.

Each back end describes itself in its folder, in a module that loads none of its dependencies;
picker, registry, keys and commands read nothing else.
"""

import importlib
from dataclasses import dataclass
from typing import Any


def attribute_at(place: str) -> Any:
    """Return what stands at ``module:attribute``, imported now."""
    module, _, attribute = place.partition(":")
    return getattr(importlib.import_module(module), attribute)


@dataclass(frozen=True)
class TextField:
    """A field of the form in which a model is named."""

    label: str
    placeholder: str = ""
    value: str = ""  # at first


@dataclass(frozen=True)
class Preset:
    """A server that many people have."""

    name: str
    base_url: str
    # What it can usually do. What it really can is found out by asking it.
    usually: str
    note: str  # what to know before one relies on it
    key: str = ""  # the environment variable of its own key; "" if it has none of its own
    # Kind of the short names of its models, as in ``ollama:NAME``; "" if they have none.
    short: str = ""
    # Whether it has one model and answers to any name: the short name alone asks which it is.
    one_model: bool = False


@dataclass(frozen=True)
class BackEnd:
    """A kind of model."""

    kind: str  # what stands before the colon of a model's name
    place: str  # ``module:class`` of its models, imported on first use, as all places below
    usage: str  # its names on the command line, ``kind:NAME``
    # title, button, caption: in the picker, on the button that opens it, and what the kind is in
    # one or two sentences.
    title: str
    button: str
    caption: str
    # model, key: the fields that a person fills in. Without `model` there is one.
    model: TextField | None = None
    key: TextField | None = None
    # A base URL, where names are ``kind:NAME@BASE_URL``; "" where they are not.
    example_url: str = ""
    usual_url: str = ""  # the base URL of names without one
    presets: tuple[Preset, ...] = ()  # what to choose a base URL from
    # Place of a function from base URL and key to the names of models; "" if there is none.
    lists: str = ""
    # Environment variables of keys that their owner may lend, the usual one first.
    keys: tuple[str, ...] = ()
    # Place of a function from what stands behind the colon to the variable of its key, and whether
    # that may be sent there for strangers; "" where the one key always may.
    key_for: str = ""
    price_unit: int = 0  # how many tokens one price is for; 0 where nothing is paid
    # Place of a function from what stands behind the colon to a sentence on what opening takes.
    cost: str = ""
    extra: str = ""  # of the distribution, which brings the packages that it needs
    # Whether its names are files of the machine, which strangers may not have opened.
    opens_files: bool = False

    @property
    def is_service(self) -> bool:
        """Whether calls may cost money."""
        return self.price_unit > 0

    @property
    def is_bundled(self) -> bool:
        """Whether there is one model of this kind, which comes with the program."""
        return self.model is None

    def name(self, model: str, url: str = "") -> str:
        """Return the name of a model, as `parts` takes it apart."""
        return f"{self.kind}:{model}@{url}" if self.example_url else f"{self.kind}:{model}"

    def parts(self, rest: str) -> tuple[str, str]:
        """Return model and base URL of what stands behind the colon; "" where one is missing."""
        if not self.example_url or "@" not in rest:
            return rest, self.usual_url
        model, _, url = rest.rpartition("@")
        return model, url

    def key_variable(self, rest: str) -> tuple[str, bool]:
        """Return the variable of a model's key, "" for none, and whether strangers may send it."""
        if self.key_for:
            variable, may_be_sent = attribute_at(self.key_for)(rest)
            return variable, may_be_sent
        return (self.keys[0], True) if self.keys else ("", False)
