"""The owner's keys on a public server: one budget for all visitors, until the server ends.

A visitor who typed a key pays alone, and takes nothing from it.
"""

from typing import Final

from core import settings
from core.language_models import keys
from core.language_models.language_model import LanguageModel
from core.language_models.registry import BACK_ENDS
from core.language_models.usage import Budget
from core.studies.costs import calls

USED_UP: Final = (
    "The owner of this server pays for {most:,} calls by all visitors together, and they are "
    "used up. Answers received are saved. To continue, enter your own key under “Model”."
)
# Not in a cache of Streamlit's: any visitor can clear those, and would have the whole sum again.
LENT: Final = Budget(0, used_up=USED_UP)


def is_lent(model: LanguageModel) -> bool:
    """Say whether a visitor asks this model with a key of the owner's."""
    return settings.is_public() and model.uses_environment_key


def lent_budget() -> Budget:
    """Return what all visitors together may still ask with the owner's keys."""
    LENT.most = settings.public_budget()
    return LENT


def budgets(model: LanguageModel) -> tuple[Budget, ...]:
    """Return what a request to this model counts against, besides the budget of the session."""
    return (lent_budget(),) if is_lent(model) else ()


def lends(name: str) -> bool:
    """Say whether a model is asked with a key of the owner's where a visitor types none.

    `name`: of the model, as `open_model` takes it; it may still be unfinished.
    """
    kind, _, rest = name.partition(":")
    if not settings.is_public() or kind not in BACK_ENDS:
        return False
    variable, may_be_sent = BACK_ENDS[kind].key_variable(rest)
    return may_be_sent and keys.environment_key(variable) is not None


def remainder() -> str:
    """Say how much all visitors together may still ask with the owner's keys."""
    budget = lent_budget()
    if not budget.remainder:
        return "Its budget is used up: enter your own key."
    return f"It covers {calls(budget.remainder)} more, by all visitors together."
