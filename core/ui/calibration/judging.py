"""The model of this session judges predictions, once a person has seen what that takes."""

from functools import partial
from typing import Final

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from core.codec import one_line
from core.data.datasets.predictions import Predictions
from core.language_models.true_false import NO_JUDGE
from core.studies.calibration.judging import (
    MOST_NAMES,
    control_prompts,
    judge_predictions,
    judge_prompts,
)
from core.studies.costs import plan_judging
from core.ui.messages import problem
from core.ui.model import current, embedded_model, model_or_problem
from core.ui.runs.job import Job
from core.ui.runs.registry import Registry
from core.ui.runs.widget import run
from core.ui.session import memory_of, shared_thing

Labels = NDArray[np.float64]

STAGE: Final = "The model compares answers"
SAYS_NEITHER: Final = (
    "The model said neither “True” nor “False” to any question, so it cannot judge. Choose another "
    "model, or another way to grade."
)


def judge_name() -> str:
    """Return the model as the grader that a sentence names."""
    return f"the model {one_line(current().name)}"


def judge_here(rows: Predictions, sha256: str) -> Labels | None:
    """Return what the model says of every row, (n,); None until it was asked, or if it cannot.

    `sha256`: of the file.
    """
    if current() is embedded_model():
        st.text(NO_JUDGE)
        return None
    model = model_or_problem()
    if model is None:
        return None
    asks = memory_of("judge_prompts", rows, lambda: judge_prompts(rows))
    controls = memory_of("control_prompts", rows, lambda: control_prompts(rows))
    prompts = list(dict.fromkeys(prompt for each in asks for prompt in each))
    st.text(
        f"{model.name} is asked {len(prompts):,} times whether a prediction and a reference mean "
        f"the same, of a row with at most {MOST_NAMES} references. “True” makes it right. Before, "
        f"{len(controls)} pairs of different answers show whether it can judge."
    )
    key = (model.name, model.revision, sha256, rows.columns)
    plan = plan_judging([*controls, *prompts], model.capabilities)

    def start() -> Job[Labels]:
        def work(job: Job[Labels]) -> Labels:
            return judge_predictions(rows, model, partial(job.progress, STAGE))

        return shared_thing("judging", Registry).start(key, work, model, most=plan.requests)

    labels: Labels | None = run(
        "judging",
        key,
        start,
        paid=(model, plan),
        cancelled="Cancelled. Answers that a service has given are saved.",
    )
    if labels is not None and np.isnan(labels).all():
        problem(SAYS_NEITHER)
        return None
    return labels
