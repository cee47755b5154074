"""What a run takes: at most, said before it begins and agreed to; really, said afterwards."""

from typing import Final

import streamlit as st

from core.language_models.language_model import LanguageModel
from core.language_models.registry import price_unit
from core.language_models.usage import Usage
from core.studies import costs
from core.studies.costs import Plan, at_most, in_money
from core.ui import lending
from core.ui.model import budget, current

WAYS: Final = ("in", "out")  # of tokens, each with a price


def agreement(
    model: LanguageModel, plan: Plan, subject: object, key: str, glance: bool = False
) -> bool:
    """Say what a run will take at most, and return whether the person wants that.

    The subject is what the run is for. Who agreed to one is asked again for the next, and for the
    same one with another model. `key` tells places of a page apart; `glance` says that it is a
    quick look.
    """
    subject = (current(), subject)  # opened with one key, at one address: not a name alone
    if st.session_state.get(f"agreed_{key}") == subject:
        return True
    offer(model, plan)
    place, most = f"pay_{key}", plan.requests
    if glance:
        pressed = st.button(f"Look quickly, with at most {most:,d} calls", key=place)
    else:
        pressed = st.button(f"Ask, with at most {most:,d} calls", key=place, type="primary")
    if pressed:
        st.session_state[f"agreed_{key}"] = subject
        st.rerun()  # the offer goes away, and what it offered comes
    return False


def offer(model: LanguageModel, plan: Plan) -> None:
    """Say what a run will take at most: calls, tokens, money, and what the budget leaves."""
    about = f"{model.name}: {at_most(plan, costing(plan, model.name))}"
    if model.capabilities.local:
        st.text(about)
        return
    st.text(
        f"{about} Cached answers are not requested again. Failed calls are repeated, and "
        f"count: a run that reaches the most stops, and can be continued."
        f"{_remainder(plan.requests)}"
    )
    if lending.is_lent(current()):
        st.text(f"The key of this server’s owner is used. {lending.remainder()}")


def _remainder(requests: int) -> str:
    """Say what the budget of the session leaves, and what to do if more is wanted."""
    left = budget().remainder
    if left is None:
        return ""
    over = " If the run needs more, it stops there; raise the budget under “Model” to continue."
    return f" {left:,} calls are left in the budget.{over if requests > left else ''}"


def price_key(name: str, way: str) -> str:
    """Return where the session has what tokens of a model cost, one of `WAYS`."""
    return f"price_{way}_{name}"


def costing(tokens: Usage, name: str) -> str:
    """Return what tokens of a model cost at the prices given for it; nothing without prices."""
    read, written = (st.session_state.get(price_key(name, way)) or 0.0 for way in WAYS)
    return in_money(tokens, (read, written), price_unit(name))


def spending(used: Usage, name: str) -> str:
    """Say what was really used of a model of a service."""
    return costs.spending(used, costing(used, name))
