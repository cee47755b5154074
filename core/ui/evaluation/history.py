"""One's own runs among the results that History lists."""

from contextlib import suppress
from typing import Final

from core.store.results import Summary, has_words, time_in
from core.studies.evaluation.run_folder import RunError
from core.ui.evaluation.choice import ListedRun, own
from core.ui.evaluation.progress import state_of
from core.ui.evaluation.runs import complaint, runs

EVALUATION: Final = "evaluation"  # the kind of these results
RUNNING: Final = "Running: "


def search(text: str) -> list[Summary]:
    """Return the runs that have all words of a text, as saved results are searched."""
    summaries = []
    for listed in own():
        with suppress(RunError, LookupError, TypeError, ValueError):  # damaged: Evaluation says so
            summaries.append(_summary(listed))
    return [each for each in summaries if has_words(each, text)]


def delete(key: str) -> None:
    """Delete a run.

    Raises `RunError` when it is being written to.
    """
    if folder := runs().find(key):
        try:
            runs().delete(folder)
        except RunError as error:
            raise RunError(complaint(error, folder)) from error


def _summary(listed: ListedRun) -> Summary:
    run = listed.run
    running = RUNNING if runs().is_running(run.folder) else ""
    questions, model = str(run.manifest["questions"]["name"]), run.pipeline.model
    begun = time_in(run.manifest["begun"])
    outcome = f"{running}{state_of(run).sentence}"
    return Summary(listed.key, EVALUATION, listed.title, questions, model, begun, outcome)
