"""What an experiment of the laboratory is: one description for page, command and shipped results.

To add one:

1. Write its study in `core/studies/laboratory/NAME.py`: its `ExperimentSettings`, `run`, and a
   result. Each setting is described where it is declared; their names are
   options of the command and, behind the name of the experiment, parameters of the address.
2. Describe it in `core/reports/laboratory/NAME.py`, as `estimator.py` there does: how
   the result becomes an `Outcome`: the sentence, the table, and what the pictures are drawn from,
   all of it as JSON knows it.
3. Name it under its question in `core/reports/laboratory/catalogue.py`.
4. Draw it in `core/charts/laboratory/NAME.py`, from `Outcome.drawn` alone, and name the pictures in
   `core/charts/laboratory/catalogue.py`.
5. `python -m benchmarks.laboratory --write NAME` computes what the page opens on.

The page, the command `python -m core laboratory NAME`, exports and the address follow from that.
`tests/studies/laboratory/test_experiments.py` and `tests/charts/laboratory/test_pictures.py` try
every experiment that is named.
"""

import math
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from typing import Any, Final

import numpy as np

from core.codec import encode
from core.language_models.language_model import LanguageModel
from core.studies.costs import Plan
from core.studies.inspection.request import InvalidRequestError
from core.studies.laboratory.settings import ExperimentSettings, Field, Value, Values
from core.studies.progress import Progress, silent

Cell = int | float | str | bool | None
Columns = Mapping[str, Sequence[Cell]]

DIGITS: Final = 6  # that count, of every number that is shown, saved or drawn
ZERO: Final = 1e-12  # what is nearer to 0 is rounding
EMBEDDED: Final = "embedded"
#: The attributes of a finding, in their order, as they are written.
KEYS: Final = ("experiment", "settings", "model", "revision", "sentence", "table", "drawn")


class AskedModel(Enum):
    """Which model an experiment asks."""

    NOTHING = "no model"
    EMBEDDED = "the embedded model, whose training documents are known"
    CHOSEN = "the model chosen above"


@dataclass(frozen=True)
class Outcome:
    """What an experiment found."""

    sentence: str  # what it shows; it may hold text of a model
    columns: Columns  # the table behind the pictures, by heading; all of one length
    drawn: Mapping[str, Any]  # what the pictures are drawn from


@dataclass(frozen=True)
class Finding:
    """An outcome, and how it came about; as JSON knows it, and with so many digits as it tells."""

    experiment: str
    values: Values  # of every field
    # model, revision: empty where no model was asked.
    model: str
    revision: str
    # sentence, columns, drawn: see `Outcome`.
    sentence: str
    columns: Columns
    drawn: Mapping[str, Any]


#: Asks a model, if any, by settings; computes, and says how far it is.
Work = Callable[[Any, LanguageModel, Progress], Outcome]


@dataclass(frozen=True)
class Experiment:
    """One experiment: what it asks, what may be chosen, and how it is run."""

    name: str  # in the address and of the command; also of its study
    # title, about: what it is, and what is done in it, in a sentence or two of Markdown.
    title: str
    about: str
    paper: str  # where the paper has it
    settings: type[ExperimentSettings]  # the study's settings, of which the fields are read
    work: Work  # Runs the study: given the settings, the model and the progress
    asks: AskedModel = AskedModel.NOTHING
    # Which model it asks with these values, where that depends on them.
    asks_by: Callable[[Values], AskedModel] | None = None
    # Whether it is run as soon as a setting changes, rather than at the press of a button.
    quick: bool = False
    takes: str = ""  # how long it takes at first, where that is long: “two minutes”
    # The most that it asks of a service, by the settings and the model. Without it, only models
    # that run here are asked.
    plan: Callable[[Any, LanguageModel], Plan] | None = None
    # Other models whose results are shipped, too, by name, and the values that are not as usual.
    also: Mapping[str, Values] = field(default_factory=dict)

    @cached_property
    def fields(self) -> tuple[Field, ...]:
        """What a person chooses, in the order of the form."""
        return self.settings.fields()

    @property
    def usual(self) -> dict[str, Value]:
        """The values at first."""
        return {field.name: field.value for field in self.fields}

    def model_for(self, values: Values) -> AskedModel:
        """Return which model is asked with these values."""
        return self.asks_by(values) if self.asks_by else self.asks

    def complete(self, values: Values) -> dict[str, Value]:
        """Return a value for every field: those given, and as usual where one does not apply.

        Raises `InvalidRequestError` when one is of another kind, out of its limits, or no field's.
        """
        if strange := values.keys() - self.usual.keys():
            raise InvalidRequestError(f"{self.title} has no setting {min(strange)}.")
        whole = self.usual | dict(values)
        for each in self.fields:
            applies = each.applies(whole)
            whole[each.name] = each.valid_value(whole[each.name]) if applies else each.value
        return whole

    def run(
        self,
        values: Values | None = None,
        model: LanguageModel | None = None,
        progress: Progress = silent,
    ) -> Finding:
        """Run it; raise `InvalidRequestError` when a value is out of its limits."""
        whole = self.complete(values or {})
        outcome = self.work(self.settings.of(whole), model, progress)  # type: ignore[arg-type]
        return Finding(
            self.name,
            whole,
            model.name if model else "",
            model.revision if model else "",
            outcome.sentence,
            plain(outcome.columns),
            plain(outcome.drawn),
        )

    def command(self, values: Values, model: str = EMBEDDED, form: str = "") -> str:
        """Return the command line that runs it with exactly these values.

        `model, form`: as a command names them; not looked at where the experiment asks no model, or
        a certain one.
        """
        words = [*["python", "-m", "core"], "laboratory", self.name]
        for each in self.fields:
            value = values.get(each.name, each.value)
            if value != each.value:
                words += [option(each.name), str(value)]
        if self.asks is AskedModel.CHOSEN and model != EMBEDDED:
            words += ["--model", model, *(["--form", form] if form else [])]
        return shlex.join(words)


def form_of(model: LanguageModel | None) -> str:
    """Return how a model is asked, as a command names it; "" where there is no choice."""
    return model.form.value if model and model.forms else ""


def option(name: str) -> str:
    """Return the option of a command for a field."""
    return f"--{name.replace('_', '-')}"


def plain(result: Any) -> Any:
    """Return what JSON knows of it: no arrays, NaN or infinity as None, digits that count."""
    if isinstance(result, np.ndarray | np.generic):
        result = result.tolist()
    if isinstance(result, Mapping):
        return {str(key): plain(value) for key, value in result.items()}
    if isinstance(result, str):
        return str(result)  # of an enumeration, too
    if isinstance(result, Sequence):
        return [plain(each) for each in result]
    if isinstance(result, float):
        if abs(result) < ZERO:
            return 0.0
        return float(f"{result:.{DIGITS}g}") if math.isfinite(result) else None
    return result


def columns_of(rows: Sequence[Any], **headings: str) -> dict[str, list[Any]]:
    """Return a table of dataclasses: the attribute of every row, under its heading."""
    return {heading: [getattr(row, name) for row in rows] for name, heading in headings.items()}


def to_dict(finding: Finding) -> dict[str, Any]:
    """Return a finding as it is written."""
    return dict(zip(KEYS, vars(finding).values(), strict=True))


def to_json(finding: Finding) -> str:
    """Return a finding as text, a column a line."""
    whole = to_dict(finding)
    lines = []
    for key, value in whole.items():
        if isinstance(value, dict) and value and key in ("table", "drawn"):
            inner = ",\n".join(f"  {encode(name)}: {encode(of)}" for name, of in value.items())
            lines.append(f"{encode(key)}: {{\n{inner}\n}}")
        else:
            lines.append(f"{encode(key)}: {encode(value)}")
    return "{" + ",\n".join(lines) + "}\n"


def from_dict(content: Mapping[str, Any]) -> Finding:
    """Read what `to_dict` returned: a file that comes with the program."""
    return Finding(*(content[key] for key in KEYS))
