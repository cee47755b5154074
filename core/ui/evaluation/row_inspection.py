"""From a row of a run to its inspection, without asking the model again."""

import streamlit as st

from core.abstention.policy import Policy, to_json
from core.store.errors import StoreError
from core.studies.evaluation.run_folder import RunError
from core.studies.evaluation.saved_run import Run
from core.studies.inspection.inspection import read
from core.studies.inspection.request import InvalidRequestError
from core.ui import frame
from core.ui.calibration import policy as policies
from core.ui.messages import problem
from core.ui.saved_result import is_there
from core.ui.storage import save_inspection

_OPENED = "results_opened"  # under which id each row was saved, by the policy that decided


def offer(run: Run, id: str, *, key: str, of_other: bool = False) -> None:
    """Offer to open the inspection of a question's row.

    `of_other`: whether the run is the other one of two.
    """
    if not st.button(
        "Open its inspection in the other run" if of_other else "Open its inspection",
        key=key,
        type="secondary" if of_other else "primary",
        icon=":material/search:",
    ):
        return
    show(run, id, policies.in_use())


def show(run: Run, id: str, policy: Policy | None = None) -> None:
    """Go to the inspection of a question's row, which is saved first.

    A `policy` decides; without one, what is built in.
    """
    try:
        inspection = run.inspection(id)
        if inspection is not None and policy is not None:
            inspection = read(inspection.recording, run.reading, policy=policy)
    except (InvalidRequestError, RunError) as error:
        problem(str(error))
        return
    if inspection is None:
        problem("What the model said to this question was not recorded, so it cannot be opened.")
        return
    opened: dict[tuple[str, str, str], str] = st.session_state.setdefault(_OPENED, {})
    opening = str(run.folder), id, to_json(policy) if policy else ""
    saved = opened.get(opening)
    if saved is None or not is_there(saved):
        try:
            saved = save_inspection(inspection)
        except StoreError as error:  # it is opened from where it is saved
            problem(f"The inspection cannot be opened. {error}")
            return
    opened[opening] = saved
    frame.show("inspection", saved)
