"""Who says which predictions are right, where `calibrate --grade` asks for labels."""

from collections.abc import Callable, Mapping
from typing import Any, Final

import click
import numpy as np
from numpy.typing import NDArray

from core.abstention.codebook import PERSON
from core.codec import one_line
from core.commands.files import with_options
from core.commands.model import asks, open_for_study, payment, refuse_typed
from core.data.datasets.predictions import (
    Predictions,
    grade,
    predictions_of,
    row_hashes,
    with_grades,
)
from core.data.tabular.grading import BY_HAND, BY_MODEL, NAMES, VALUES, Grader
from core.data.tabular.uploads import Upload, UploadError
from core.language_models.errors import ModelError
from core.language_models.true_false import NO_JUDGE
from core.store.database import open_database
from core.store.labels import Labels
from core.studies.calibration.judging import control_prompts, judge_predictions, judge_prompts
from core.studies.costs import plan_judging

GRADE: Final = (
    "Make the labels here, from predictions beside references: by a rule, by what a person said "
    "on the page Calibration, or by the model of --model. What is promised then is agreement with "
    "this grader."
)
EMBEDDED: Final = "embedded"
NOT_LABELLED: Final = (
    "No row of this file has a label that a person saved here. Give them on the page Calibration: "
    "under “Graded by”, choose “A person”."
)


#: The options on who grades what.
grades = with_options(
    asks,
    click.option(
        "--grade", "grader", type=click.Choice([*map(str, Grader), BY_HAND, BY_MODEL]), help=GRADE
    ),
    click.option("--prediction", metavar="COLUMN", help="What is graded; guessed if omitted."),
    click.option(
        "--reference", metavar="COLUMN", help="What it is compared with; guessed if omitted."
    ),
)


def grading(options: Mapping[str, Any]) -> Callable[[Upload], Upload] | None:
    """Return what makes the labels of a table, by the options of `grades`; None without a grader.

    It raises an `UploadError` where there is nothing to grade or no label, and a `ModelError` where
    the model cannot judge.
    """
    columns = options["prediction"], options["reference"], options["question"]
    grader = options["grader"]
    if grader != BY_MODEL:
        refuse_typed({"model", "form", "budget", "prices"}, "Only --grade model asks a model")
    if grader is None:
        refuse_typed({"prediction", "reference"}, "Only --grade reads that column")
        return None

    def with_labels(upload: Upload) -> Upload:
        rows = predictions_of(upload, *columns)
        labels = {NAMES[each]: grade(rows, each) for each in Grader}
        labels[PERSON] = _by_hand(rows)
        if grader == BY_MODEL:
            name, labels_of_model = _by_model(rows, options)
            labels[name] = labels_of_model
        else:
            name = PERSON if grader == BY_HAND else NAMES[Grader(grader)]
        if np.isnan(labels[PERSON]).all() and name == PERSON:
            raise UploadError(NOT_LABELLED)
        return with_grades(upload, rows, name, labels)

    return with_labels


def _by_hand(rows: Predictions) -> NDArray[np.float64]:
    """Return what was said of these rows on the page; NaN where nobody said anything."""
    items = row_hashes(rows)
    with open_database() as database:
        words = Labels(database).of(sorted(set(items)))
    return np.array([VALUES.get(words.get(item, ""), np.nan) for item in items])


def _by_model(rows: Predictions, options: Mapping[str, Any]) -> tuple[str, NDArray[np.float64]]:
    if options["model"] == EMBEDDED:
        raise ModelError(f"{NO_JUDGE} Name it with --model.")
    model = open_for_study(options["model"], options["form"], options["budget"])
    prompts = dict.fromkeys(prompt for each in judge_prompts(rows) for prompt in each)
    plan = plan_judging([*control_prompts(rows), *prompts], model.capabilities)
    with payment(model, plan, options["budget"], options["prices"]):
        labels = judge_predictions(rows, model)
    return f"the model {one_line(model.name)}", labels
