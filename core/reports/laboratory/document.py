"""The report of an experiment of the laboratory: what it shows, and the command that repeats it."""

from collections.abc import Sequence
from typing import Final

from core.charts.laboratory.catalogue import PICTURES
from core.reports.laboratory.catalogue import EXPERIMENTS, QUESTION_OF
from core.reports.laboratory.rulings import sentences
from core.reports.report import Cell, Part, Picture, Report, Table
from core.studies.laboratory.experiment import EMBEDDED, Finding

READING: Final = (
    "The laboratory tries claims where the truth is known. Everything below follows from the "
    "settings: the command finds the same numbers again.",
    "The table has every number that the pictures are drawn from.",
)


def report(finding: Finding, model: str = EMBEDDED, form: str = "") -> Report:
    """Return the report of a finding.

    `model, form`: as a command names the model that was asked, and how.
    """
    experiment = EXPERIMENTS[finding.experiment]
    cells: dict[str, Cell] = {"Model": finding.model, "Revision of the weights": finding.revision}
    columns: dict[str, Sequence[Cell]] = dict(finding.columns)
    finds, *others = sentences(finding)
    return Report(
        kind=f"Laboratory · {QUESTION_OF[finding.experiment]}",
        title=experiment.title,
        finding=finds,
        texts=[*others, plain(experiment.about), f"In the paper: {experiment.paper}."],
        parts=[
            Part(
                "What was found",
                (),
                [*pictures(finding).values()],
                [Table("The table behind it", columns)],
            ),
            Part("The same again", code=[experiment.command(finding.values, model, form)]),
        ],
        settings=(cells if finding.model else {})
        | {
            field.label: finding.values[field.name]
            for field in experiment.fields
            if field.applies(finding.values)
        },
        reading=READING,
    )


def pictures(finding: Finding) -> dict[str, Picture]:
    """Return the pictures that have something to show, by their names."""
    return {
        each.name: Picture(
            plain(each.title),
            each.alt(finding.drawn),
            each.chart,
            (finding.drawn,),
            caption=plain(each.caption),
        )
        for each in PICTURES[finding.experiment]
        if each.there(finding.drawn)
    }


def plain(markdown: str) -> str:
    """Return our own Markdown, which knows bold type alone, as plain text."""
    return markdown.replace("**", "")
