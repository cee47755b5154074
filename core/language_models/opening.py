"""Opening a model as a study should ask it: within a budget, never twice, and in its form."""

from collections.abc import Callable

from core import settings
from core.codec import count_of
from core.language_models import keys
from core.language_models.client.retry import tell_nobody
from core.language_models.client.stack import with_layers
from core.language_models.forms import Form
from core.language_models.language_model import LanguageModel
from core.language_models.registry import open_model, opening_cost, price_unit
from core.language_models.trial import in_its_form
from core.language_models.usage import Budget
from core.store.calls import Calls
from core.store.database import open_database

AUTO = "auto"
Tell = Callable[[str], None]  # hears, in a sentence, what is no result


def calls(tell: Tell = tell_nobody) -> Calls:
    """Open the calls that were paid for."""
    database = open_database()
    if database.notice:
        tell(database.notice)
    return Calls(database)


def by_name(name: str, tell: Tell = tell_nobody) -> LanguageModel:
    """Open a model by its name."""
    # On a public server, too, whoever types commands there is no stranger.
    key = keys.owners_key(name) if settings.is_public() else None
    cost = opening_cost(name)
    if cost:
        tell(cost)
    return open_model(name, key) if key else open_model(name)


def open_for_study(
    name: str | LanguageModel, form: str, budget: int, tell: Tell = tell_nobody
) -> LanguageModel:
    """Open a model as a study should ask it; a service's answers are kept in the database.

    The form is one of `Form`, or `AUTO` to try them; the budget, the most requests to a service.
    Raises `ModelError` with a sentence.
    """
    allowed = Budget(budget)
    model = by_name(name, tell) if isinstance(name, str) else name
    if price_unit(model.name):
        Budget(budget).take()  # with nothing left, its abilities are not asked for either
    try:
        with model.meter.gate(allowed.take):
            ready = with_layers(model, lambda: calls(tell), allowed, tell)
    finally:  # a request under way counts as well when somebody stops: it may be billed
        took = model.meter.requests
        if took:
            tell(f"Finding out what {model.name} can do took {count_of(took, 'call')}.")
    if form != AUTO and not ready.capabilities.local:  # chosen: no trial has to be paid for
        return ready.in_form(Form(form))
    return _in_its_form(ready, None if form == AUTO else Form(form), tell)


def _in_its_form(model: LanguageModel, form: Form | None, tell: Tell) -> LanguageModel:
    """Find the form in which a model is asked, and say what that took of a service."""
    before = model.meter.requests
    try:
        formed, trials = in_its_form(model, form, lambda: calls(tell).services)
    finally:
        took = model.meter.requests - before
        if took and not model.capabilities.local:
            tell(f"Trying how {model.name} is asked took {count_of(took, 'call')}.")
    if trials:
        tell(f"{model.name} is asked in the form {formed.form}. {trials[-1].sentence}")
    return formed
