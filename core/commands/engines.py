"""What asks the questions of a run: this process, or workers on a cluster."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import click

from core.commands.files import with_options
from core.commands.model import by_name, calls
from core.language_models.client.stack import with_layers
from core.language_models.forms import Form
from core.language_models.language_model import LanguageModel
from core.language_models.meaning import compares
from core.language_models.usage import Budget
from core.studies.evaluation.cluster import CPU, RayCluster, check_installation, engine_on
from core.studies.evaluation.local import Engine, local

LOCAL, RAY = "local", "ray"
#: What only workers on a cluster have.
OF_RAY: Final = ("address", "workers", "reserve")


#: The options on what asks the questions.
engines = with_options(
    click.option(
        "--engine",
        type=click.Choice([LOCAL, RAY]),
        default=LOCAL,
        show_default=True,
        help="What asks: this process, or workers of Ray on one machine or many.",
    ),
    click.option(
        "--address",
        help="Address of the Ray cluster that this machine is part of, or auto. Without it, Ray "
        "is started on this machine until the run ends.",
    ),
    click.option(
        "--workers",
        type=click.IntRange(1),
        help="How many processes of Ray hold the model.  [default: as many as there is room "
        "for; of a service, one a machine]",
    ),
    click.option(
        "--reserve",
        multiple=True,
        metavar="NAME=AMOUNT",
        help="What Ray reserves for a worker: CPU, GPU, or a resource of your cluster. Repeat "
        "it for several.  [default: CPU=1]",
    ),
)


def engine_of(options: dict[str, Any]) -> Callable[[LanguageModel, Path], Engine]:
    """Return what makes the engine of a model and a run's folder, by the options of `engines`.

    Raises `UsageError` when the options contradict each other; `RunError` when what the engine
    needs is not installed.
    """
    if options["engine"] == LOCAL:
        for name in OF_RAY:
            if options[name]:
                raise click.UsageError(f"--{name} takes --engine {RAY}.")
        return lambda model, folder: local
    if compares(options["similarity"]):
        raise click.UsageError(
            f"The similarity meaning:FOLDER is computed on this machine: choose --engine {LOCAL}."
        )
    check_installation()
    reserved = dict(map(_reservation, options["reserve"])) or {CPU: 1.0}
    cluster = RayCluster(options["address"], options["workers"], reserved)
    return lambda model, folder: engine_on(cluster, folder, Opening(options["model"], model.form))


@dataclass(frozen=True)
class Opening:
    """Opens in another process the model that a command asks, as that command has opened it.

    Keys are none of it: a worker finds them in the environment of its machine.
    """

    name: str
    form: Form

    def __call__(self, budget: Budget) -> LanguageModel:
        """Open it; what a service is asked for that counts against the budget."""
        model = by_name(self.name)
        with model.meter.gate(budget.take):
            ready = with_layers(model, calls, budget)
        return ready.in_form(self.form)


def _reservation(text: str) -> tuple[str, float]:
    name, _, amount = text.partition("=")
    try:
        number = float(amount)
    except ValueError:
        number = math.nan
    if not name or not 0 < number < math.inf:
        raise click.UsageError(f"--reserve takes NAME=AMOUNT, such as GPU=1, not “{text}”.")
    return name, number
