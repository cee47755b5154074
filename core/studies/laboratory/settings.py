"""Settings of experiments: each field of the dataclass is what form, command and checks know of it.

A study's settings are a frozen dataclass under `ExperimentSettings`, whose fields are made by
`setting`, or by `sizes` for the values of k that are tried. Their order is that of the form.
"""

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Self

import numpy as np

from core.studies.inspection.request import InvalidRequestError, Request
from core.uncertainty.confidence_limit import CONFIDENCE

Value = int | float | str
Values = Mapping[str, Value]
Spacing = Callable[[int, int, int], tuple[int, ...]]

FIELDS: Final = "fields"  # in the metadata of a dataclass field, with how they become its value
READ: Final = "read"


def always(values: Values) -> bool:
    """Say that a field applies, or a picture has something to show, whatever the values."""
    return True


@dataclass(frozen=True)
class Field:
    """One setting that a person chooses."""

    name: str  # in the address and, with dashes, of the option
    # label, help: words of this code: they are read as Markdown.
    label: str
    value: Value  # at first; its type is the field's: a whole number, a number, or a text
    # least, most, step: of a number.
    least: float | None = None
    most: float | None = None
    step: float | None = None
    # The values that may be chosen, and what is said below each; empty where anything may be given.
    options: Mapping[str, str] = field(default_factory=dict)
    help: str = ""
    # Whether it matters, given all values; else it is neither shown nor used.
    applies: Callable[[Values], bool] = always
    # Makes of a text what the study takes, or raises `InvalidRequestError` with what is wrong; said
    # beside the field.
    read: Callable[[str], Any] | None = None
    folded: bool = False  # whether it is among the settings that few people change

    @property
    def kind(self) -> type[int] | type[float] | type[str]:
        """What its values are."""
        return type(self.value)

    def valid_value(self, value: Any) -> Any:
        """Return a value of this kind.

        Raises `InvalidRequestError` when it is of another kind, out of the limits, none of the
        options, or unreadable.
        """
        if self.kind is float and type(value) is int:
            value = float(value)
        if not isinstance(value, self.kind) or isinstance(value, bool):
            raise InvalidRequestError(f"The {self.label} is {value!r}, which is of the wrong kind.")
        if self.options and value not in self.options:
            raise InvalidRequestError(
                f"The {self.label} is {value!r}; choose one of {', '.join(self.options)}."
            )
        if self.least is not None and self.most is not None:
            within(self.label, value, self.kind(self.least), self.kind(self.most))  # type: ignore[arg-type]
        if self.read is not None:
            self.read(str(value))
        return value


def setting(
    value: Value,
    label: str,
    least: float | None = None,
    most: float | None = None,
    step: float | None = None,
    **more: Any,
) -> Any:
    """Return the field of a dataclass that is one `Field`, whose attributes these are."""
    one = Field("", label, value, least, most, step, **more)
    return field(default=value, metadata={FIELDS: (one,), READ: one.read})


def sizes(
    spacing: Spacing,
    smallest: int,
    largest: int,
    number: int,
    most: int,
    most_sizes: int,
    *,
    least: int = 1,
) -> Any:
    """Return the field of a dataclass that holds values of k, rising, by three `Field`."""
    three = (
        Field("smallest", "Smallest k", smallest, least, most, 1, folded=True),
        Field("largest", "Largest k", largest, least, most, 1),
        Field("sizes", "How many values of k", number, 1, most_sizes, 1, folded=True),
    )
    usual = spacing(smallest, largest, number)
    return field(default=usual, metadata={FIELDS: three, READ: spacing})


def seed_setting(label: str = "Seed", value: int = 0, most: int = 2**32 - 1, help: str = "") -> Any:
    """Return the field of a seed."""
    return setting(value, label, 0, most, 1, help=help, folded=True)


def confidence_setting(label: str = "Confidence") -> Any:
    """Return the field of a confidence."""
    return setting(CONFIDENCE, label, 0.01, 0.999, 0.01, folded=True)


def draw_of_questions(
    label: str = "Draw number of the questions", value: int = 0, **more: Any
) -> Any:
    """Return the field of the number by which questions of the world are drawn."""
    return setting(value, label, 0, 9999, 1, folded=True, **more)


def query_of(text: str) -> str:
    """Return a question as a model is asked it; raise `InvalidRequestError` when it is none."""
    return Request(text).query


@dataclass(frozen=True)
class ExperimentSettings:
    """What an experiment is run with; whatever the screen in front allowed, limits hold."""

    def __post_init__(self) -> None:
        """Read what is still text, and enforce the limits."""
        for each in dataclasses.fields(self):
            parts, read = each.metadata.get(FIELDS, ()), each.metadata.get(READ)
            value = getattr(self, each.name)
            if len(parts) > 1:
                value = tuple(sorted({int(k) for k in value}))
                ends = (min(value, default=0), max(value, default=0), len(value))
                for part, number in zip(parts, ends, strict=True):
                    part.valid_value(number)
            elif parts and (read is None or isinstance(value, str)):
                value = parts[0].valid_value(value)
                value = read(value) if read else value
            object.__setattr__(self, each.name, value)

    @classmethod
    def fields(cls) -> tuple[Field, ...]:
        """Return what a person chooses, in the order of the form."""
        return tuple(
            dataclasses.replace(part, name=part.name or each.name)
            for each in dataclasses.fields(cls)
            for part in each.metadata.get(FIELDS, ())
        )

    @classmethod
    def of(cls, values: Values) -> Self:
        """Return the settings that values of all fields make, or `InvalidRequestError`."""
        return cls(
            **{
                each.name: (
                    each.metadata[READ](*(values[part.name] for part in parts))
                    if len(parts) > 1
                    else values[each.name]
                )
                for each in dataclasses.fields(cls)
                if (parts := each.metadata.get(FIELDS))
            }
        )


def evenly(smallest: int, largest: int, number: int) -> tuple[int, ...]:
    """Return whole numbers with equal steps between them."""
    _in_order(smallest, largest)
    return tuple(np.linspace(smallest, largest, number, dtype=int).tolist())


def by_powers(smallest: int, largest: int, number: int) -> tuple[int, ...]:
    """Return whole numbers with equal ratios between them, each once."""
    _in_order(smallest, largest)
    return tuple(np.unique(np.geomspace(smallest, largest, number).round().astype(int)).tolist())


def _in_order(smallest: int, largest: int) -> None:
    if smallest > largest:
        raise InvalidRequestError(
            f"The smallest k, {smallest:,}, is above the largest, {largest:,}. Exchange them."
        )


def within(name: str, value: float, least: float, most: float) -> None:
    """Raise `InvalidRequestError` for a value out of its limits, or NaN, by its name."""
    if not least <= value <= most:
        raise InvalidRequestError(
            f"The {name} is {_display(value)}; choose one from {_display(least)} to "
            f"{_display(most)}."
        )


def _display(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:g}"
