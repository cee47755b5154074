"""The model that a command asks: opened, asked in its form, and paid for."""

from collections.abc import Callable, Container, Iterator, Set
from contextlib import contextmanager
from functools import partial
from typing import TypeVar

import click

from core.commands.files import Range, with_options
from core.language_models import opening
from core.language_models.client.stack import limit, stop
from core.language_models.forms import Form
from core.language_models.language_model import LanguageModel
from core.language_models.opening import AUTO
from core.language_models.registry import BACK_ENDS, price_unit, usages
from core.studies import costs
from core.studies.calibration.calibration import CalibrationError
from core.studies.costs import Plan
from core.studies.inspection.request import InvalidRequestError

T = TypeVar("T")

MODELS = f"{', '.join(usages()[:-1])} or {usages()[-1]}"
FORM = (
    "How the model is asked. auto tries its forms: of a model on this machine it takes the one "
    "whose answers are likeliest, of a service the first that suits. Each form takes five calls, "
    "once."
)
BUDGET = "Most calls to a service; cached answers are free."
_UNITS = sorted({back_end.price_unit for back_end in BACK_ENDS.values() if back_end.is_service})
_PRICE = Range(0, 1e6)
PRICES = (
    f"Prices per {' or '.join(f'{unit:,}' for unit in _UNITS)} tokens in and out; the run then "
    "states its cost."
)


#: The options on which model is opened, how, and within which budget.
opens = with_options(
    click.option("--model", default="embedded", show_default=True, help=MODELS),
    click.option(
        "--form",
        type=click.Choice([AUTO, *map(str, Form)]),
        default=AUTO,
        show_default=True,
        help=FORM,
    ),
    click.option("--budget", type=click.IntRange(0), default=2000, show_default=True, help=BUDGET),
)
#: And for how much it is asked.
asks = with_options(
    opens,
    click.option("--prices", type=(_PRICE, _PRICE), default=(0, 0), metavar="IN OUT", help=PRICES),
)


def tell(sentence: str) -> None:
    """Say something that is no result."""
    click.echo(sentence, err=True)


calls = partial(opening.calls, tell)
by_name = partial(opening.by_name, tell=tell)
open_for_study = partial(opening.open_for_study, tell=tell)


@contextmanager
def payment(
    model: LanguageModel,
    offered: Plan,
    budget: int,
    prices: tuple[float, float],
    *,
    agree: Callable[[], None] = lambda: None,
) -> Iterator[None]:
    """Say what a run can take of a service, and what it took, however it ended.

    `agree`: called once that is said, before anything is asked; may raise.
    """
    if model.capabilities.local:
        yield
        return
    cost = partial(costs.in_money, prices=prices, unit=price_unit(model.name))
    most = costs.at_most(offered, cost(offered))
    tell(f"{model.name}: {most} Failed calls count. The budget is {costs.calls(budget)}.")
    agree()
    limit(model, offered)
    ended, more, before = False, "", model.meter.usage
    try:
        yield
        ended = True
    except KeyboardInterrupt:
        stop(model)  # other threads may still be asking
        more = " Requests in flight may still be billed. Answers received are saved; run the same "
        more += "command again to continue."
        raise
    finally:
        used = model.meter.usage - before
        sentence = costs.spending(used, cost(used), ended=ended)
        tell(f"Used: {sentence}{more}")


def usage(make: Callable[..., T], *values: object, **named: object) -> T:
    """Make a request, a reading or a target; values out of range are wrong usage."""
    try:
        return make(*values, **named)
    except (InvalidRequestError, CalibrationError) as error:
        raise click.UsageError(str(error)) from error


def refuse_typed(names: Container[str], sentence: str) -> None:
    """Refuse options that somebody typed beside one that decides about them; say why."""
    context = click.get_current_context()
    for option in context.command.params:
        source = context.get_parameter_source(option.name or "")
        if option.name in names and source is click.core.ParameterSource.COMMANDLINE:
            raise click.UsageError(f"{sentence}; omit {option.opts[0]}.")


def refuse_others(names: Set[str], sentence: str) -> None:
    """Refuse all options that somebody typed but these; say why."""
    every = {each.name for each in click.get_current_context().command.params if each.name}
    refuse_typed(every - names, sentence)
