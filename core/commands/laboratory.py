"""The command that runs an experiment of the laboratory, and writes what it found."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from core.codec import encode
from core.commands.files import FilesFirst, Output, write, write_report
from core.commands.model import asks, open_for_study, payment, usage
from core.data.tabular.csv_export import to_csv
from core.language_models.errors import ModelError
from core.language_models.language_model import LanguageModel
from core.reports.laboratory.catalogue import EXPERIMENTS, QUESTION_OF
from core.reports.text import table
from core.studies.laboratory.experiment import (
    EMBEDDED,
    AskedModel,
    Experiment,
    Finding,
    form_of,
    option,
    to_dict,
    to_json,
)
from core.studies.laboratory.settings import Field

ENDINGS = (".csv", ".html", ".json", ".png", ".svg")
MODEL = ("model", "form", "budget", "prices")


@click.group(help="Run an experiment of the laboratory: each tries a claim where truth is known.")
def laboratory() -> None:
    """The experiments, a command each."""


def _command(experiment: Experiment) -> click.Command:
    command: Any = _run(experiment)
    command = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")(
        command
    )
    command = click.option(
        "--out",
        "files",
        type=Output(),
        multiple=True,
        help="Write a file too: .json, a report as .html, the table as .csv, the pictures as .svg "
        "or .png; where there are several pictures, each has its name in the file’s.",
    )(command)
    if experiment.asks is AskedModel.CHOSEN:
        command = asks(command)
    for field in reversed(experiment.fields):
        command = click.option(option(field.name), field.name, **_option(field))(command)
    question = QUESTION_OF[experiment.name]
    about = experiment.about.replace("*", "")  # a terminal shows no bold
    text = f"{question} {experiment.title}. {about} ({experiment.paper}.)"
    of_group = {"help": text, "short_help": experiment.title}
    return click.command(experiment.name, cls=FilesFirst, **of_group)(command)


def _option(field: Field) -> dict[str, Any]:
    kind: Any = click.Choice(list(field.options)) if field.options else field.kind
    words = f"{field.label}. {field.help}" if field.help else f"{field.label}."
    return {"type": kind, "default": field.value, "show_default": True, "help": words}


def _run(experiment: Experiment) -> Callable[..., None]:
    def command(as_json: bool, files: tuple[Path, ...], **options: Any) -> None:
        for path in files:
            if path.suffix not in ENDINGS:
                raise click.UsageError(f"--out takes files that end in {', '.join(ENDINGS)}.")
        of_model = {name: options.pop(name) for name in MODEL if name in options}
        values = usage(experiment.complete, options)
        settings = usage(experiment.settings.of, values)
        asks = experiment.model_for(values)
        model = None
        if asks is AskedModel.NOTHING:
            finding = experiment.run(values)
        elif asks is AskedModel.EMBEDDED:
            finding = experiment.run(values, open_for_study(EMBEDDED, "auto", 0))
        else:
            model = open_for_study(of_model["model"], of_model["form"], of_model["budget"])
            finding = _pay(experiment, values, settings, model, of_model)
        report = "\n".join([finding.sentence, "", *table(finding.columns)])
        click.echo(encode(to_dict(finding)) if as_json else report)
        for path in files:
            _write(path, finding, of_model.get("model", EMBEDDED), form_of(model))

    return command


def _pay(
    experiment: Experiment,
    values: dict[str, Any],
    settings: Any,
    model: LanguageModel,
    of_model: dict[str, Any],
) -> Finding:
    if model.capabilities.local:
        return experiment.run(values, model)
    if experiment.plan is None:
        raise ModelError(
            f"{model.name} is a service. {experiment.title} takes a model that runs here."
        )
    offered = experiment.plan(settings, model)
    with payment(model, offered, of_model["budget"], of_model["prices"]):
        return experiment.run(values, model)


def _write(path: Path, finding: Finding, model: str, form: str) -> None:
    if path.suffix == ".json":
        contents = {path: to_json(finding).encode("utf-8")}
    elif path.suffix == ".html":
        from core.reports.laboratory.document import report  # Altair takes long to load

        write_report(path, report(finding, model, form))
        return
    elif path.suffix == ".csv":
        columns = finding.columns
        contents = {path: to_csv(list(columns), zip(*columns.values(), strict=True))}
    else:
        contents = _pictures(path, finding)
    for where, content in contents.items():
        write(where, content)


def _pictures(path: Path, finding: Finding) -> dict[Path, bytes]:
    from core.charts import export  # Altair takes long to load
    from core.reports.laboratory.document import pictures

    written = export.to_svg if path.suffix == ".svg" else export.to_png
    title = EXPERIMENTS[finding.experiment].title
    named = {
        name: replace(picture, title=f"{title}: {picture.title}")
        for name, picture in pictures(finding).items()
    }
    return {
        (path.with_stem(f"{path.stem}-{name}") if len(named) > 1 else path): written(
            picture.figure(question=finding.model)
        )
        for name, picture in named.items()
    }


for _experiment in EXPERIMENTS.values():
    laboratory.add_command(_command(_experiment))
