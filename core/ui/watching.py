"""Work on its way: how far it is, what it has used so far, and what it used in the end."""

from __future__ import annotations

from typing import Any

import streamlit as st

from core.language_models.usage import Used
from core.studies import costs
from core.studies.costs import Plan, calls, price
from core.ui.jobs import Job


def how_far(job: Job[Any], most: int | None = None) -> None:
    """Draw how far a job is, or its place in line; of a service, how many calls it has made.

    Parameters
    ----------
    most : int, optional
        How many calls were announced.
    """
    if before := job.before:
        turns = "one run comes" if before == 1 else f"{before} runs come"
        st.progress(min(job.share, 1.0), f"Waiting: {turns} before this one")
        return
    model = job.asks
    if model is None or model.capabilities.local:
        st.progress(min(job.share, 1.0), job.stage)
        return
    made = model.meter.requests
    share = made / most if most else job.share
    st.progress(min(share, 1.0), job.stage)
    of = "" if most is None else f", of at most {most:,}"
    st.text(f"{calls(made)} so far{of}.")


def costing(tokens: Plan | Used) -> str:
    """Return what tokens cost at the prices that the person gave; nothing without prices."""
    prices = st.session_state.get("price_in") or 0.0, st.session_state.get("price_out") or 0.0
    if not any(prices):
        return ""
    cost = price(tokens, *prices)
    if 0 < cost < 0.0001:
        return ", less than 0.0001 at your prices"
    return f", {cost:,.4f} at your prices" if cost < 10 else f", {cost:,.2f} at your prices"


def spent(used: Used) -> str:
    """Say what was really used of a service."""
    return costs.spent(used, costing(used))


def said_until(job: Job[Any]) -> None:
    """Say what a job used that came to no end; nothing where calls cost only time."""
    model = job.asks
    if model is not None and not model.capabilities.local:
        used = model.meter.used
        st.text(
            f"Used so far: {costs.spent(used, costing(used), ended=False)} Requests in flight "
            "may still be billed. Answers received are saved."
        )
