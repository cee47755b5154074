"""What a report consists of, and the file that it becomes.

The file asks nobody for anything: pictures and style are inside it, and no script is. Text of
models and uploads is escaped by the template, and a Content-Security-Policy in the file itself
would stop what got past that.
"""

import base64
import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from jinja2 import Environment, StrictUndefined, Template

from core.charts import export
from core.charts.export import Figure
from core.charts.theme import LIGHT, Palette
from core.once import once
from core.reports.text import display
from core.studies.versions import versions

Cell = str | float | int | bool | None
HALF: Final = 330  # pixels, of a picture beside another
WIDE: Final = 9  # columns of a table that an upright sheet has room for
MOST_ROWS: Final = 500  # of a table; the data exports have all


@dataclass(frozen=True)
class Picture:
    """A chart, and the same in words."""

    title: str
    alt: str
    chart: Callable[..., Figure]  # a function of the data, a palette, and the options
    data: Sequence[object]  # what pickle can write
    # What the chart needs where nothing beside it says which line is which.
    options: Mapping[str, object] = field(default_factory=dict)
    caption: str = ""  # what is said below it, if anything
    half: bool = False  # whether two of such stand side by side where there is room

    def figure(self, palette: Palette = LIGHT, question: str = "") -> Figure:
        """Return the picture as it stands by itself, under its title."""
        return export.alone(self.chart(*self.data, palette, **self.options), self.title, question)

    @property
    def address(self) -> str:
        """The picture itself, as an address: a browser runs and loads nothing in such a one."""
        picture = self.figure()
        svg = export.to_roomy_svg(picture.properties(width=HALF) if self.half else picture)
        return f"data:image/svg+xml;base64,{base64.b64encode(svg).decode('ascii')}"


@dataclass(frozen=True)
class Table:
    """Columns of one length, by their headings."""

    title: str
    columns: Mapping[str, Sequence[Cell]]

    @property
    def rows(self) -> list[tuple[Cell, ...]]:
        """The first `MOST_ROWS` rows."""
        return list(zip(*self.columns.values(), strict=True))[:MOST_ROWS]

    @property
    def omitted_rows(self) -> int:
        """How many rows are not in the report."""
        return max(0, max(map(len, self.columns.values()), default=0) - MOST_ROWS)

    @property
    def wide(self) -> bool:
        """Whether it has more columns than a sheet has room for, unless that is turned."""
        return len(self.columns) > WIDE

    @property
    def numeric(self) -> tuple[bool, ...]:
        """Whether a column holds numbers alone."""
        return tuple(
            any(cell is not None for cell in cells) and all(map(_is_number, cells))
            for cells in self.columns.values()
        )


def _is_number(cell: Cell) -> bool:
    if isinstance(cell, str):
        return bool(_NUMBER.fullmatch(cell))
    return not isinstance(cell, bool)


_NUMBER: Final = re.compile(r"[−\d.,%]*\d%?|–")


@dataclass(frozen=True)
class Part:
    """A section of a report."""

    title: str
    texts: Sequence[str] = ()  # Paragraphs
    pictures: Sequence[Picture] = ()
    tables: Sequence[Table] = ()
    code: Sequence[str] = ()  # texts whose lines and spaces count, such as prompts


@dataclass(frozen=True)
class Report:
    """A result to be read without this program."""

    kind: str  # what it is of: “Inspection”
    title: str  # the question, say; text of a person
    finding: str  # what came of it, in a few words; text of a model
    parts: Sequence[Part]
    settings: Mapping[str, Cell]  # Everything that somebody needs who wants the same numbers again
    reading: Sequence[str]  # how to read this, a sentence or two each
    texts: Sequence[str] = field(default=())  # what is said below the finding


def to_html(report: Report, *, saved: datetime | None = None, warning: str = "") -> str:
    """Return a report as one HTML file.

    `saved` is when the result was saved, where it was (the time of writing stands in the file
    anyway); `warning`, why it may be none of what this program makes.
    """
    template, style, digest = _template()
    return template.render(
        report=report,
        warning=warning,
        written=_when(datetime.now(UTC)),
        saved=_when(saved) if saved else "",
        versions=versions(),
        style=style,
        policy=f"default-src 'none'; img-src data:; style-src 'sha256-{digest}'",
    )


def _when(time: datetime) -> str:
    return f"{time.astimezone(UTC):%Y-%m-%d %H:%M} UTC"


@once
def _template() -> tuple[Template, str, str]:
    """Return the template, our style sheet, and its digest, by which a browser knows it."""
    here = Path(__file__)
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["cell"] = display
    style = here.with_name("report.css").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode("ascii")
    template = environment.from_string(here.with_name("report.html").read_text(encoding="utf-8"))
    return template, style, digest
