"""When curves are saved in History, and how saved ones are shown again."""

import streamlit as st

from core.reports.amplification.words import to_json, verdict
from core.store.errors import StoreError
from core.store.results import Result
from core.studies.amplification import serialise
from core.studies.amplification.curve import Amplification
from core.studies.inspection.request import InvalidRequestError
from core.ui.amplification.curves import draw_usage
from core.ui.amplification.drawing import answer, details, list_curves, pictures, title
from core.ui.amplification.form import FIELDS
from core.ui.messages import problem
from core.ui.storage import save, unsaved_beginning


def keep(curves: list[Amplification]) -> None:
    """Keep curves that somebody asked for, in History."""
    paid = any(curve.used is not None for curve in curves)
    if paid or not FIELDS.keys().isdisjoint(st.query_params):
        first, payload = curves[0], to_json(curves)
        try:
            save("amplification", first.case.query, first.model, payload, outcome=verdict(first))
        except StoreError as error:
            problem(f"{unsaved_beginning(error)} It stays on this page.")


def saved_curves(result: Result) -> None:
    """Draw curves as they were kept."""
    try:
        curves = serialise.all_from_json(result.payload)
    except InvalidRequestError as error:
        problem(str(error))
        return
    answer(curves[0])
    draw_usage(curves)
    title()
    pictures(curves, "log")
    list_curves(curves, saved=True)
    details(curves, "log", curves[0].points[-1].repetitions, result)
