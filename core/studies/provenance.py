"""Whose a recording is that comes with the program: which file of a model answered, and when."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any


@dataclass(frozen=True)
class Provenance:
    """Which model was recorded, and when."""

    title: str  # what people call the model
    file: str
    sha256: str  # of the file
    # model, revision, form: as a result names them.
    model: str
    revision: str
    form: str
    date: str  # on which it ended, as in 2026-11-27
    computed: str = ""  # with which numbers and on what, where it was not computed as here

    @property
    def when(self) -> str:
        """When that was, and on what it was computed."""
        return f"on {self.date}{f' ({self.computed})' if self.computed else ''}"

    @property
    def sentence(self) -> str:
        """Who answered, and when."""
        return f"Recorded: {self.title}, {self.when}"


def provenance_in(content: Mapping[str, Any]) -> Provenance:
    """Return what is written of it, beside whatever else is written."""
    names = [field.name for field in fields(Provenance) if field.name in content]
    return Provenance(**{name: content[name] for name in names})
