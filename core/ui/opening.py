"""Opening a model beside the page, so that a person can go on, or think better of it."""

from __future__ import annotations

from core.language_models.base import LanguageModel
from core.language_models.client.stack import prepared
from core.language_models.registry import SERVICES, open_model
from core.language_models.usage import Budget
from core.ui import lending
from core.ui.jobs import ELSEWHERE, Job


class Opening:
    """A model on its way, and what to do about it.

    Parameters
    ----------
    name : str
    key : str or None
    session : Budget
        What the calls count against that find out what a service can do.

    Attributes
    ----------
    job : Job of LanguageModel
        Ends with the model, or with a `ModelError`.
    """

    def __init__(self, name: str, key: str | None, session: Budget) -> None:
        self.name = name
        self._session = session
        self._trying = Budget()  # allows anything: it is there to be closed
        self.job: Job[LanguageModel] = Job(lambda job: self._open(key), turns=ELSEWHERE)

    def cancel(self) -> None:
        """Leave the requests under way; a download goes on to its end, and is not used."""
        self.job.cancel()
        self._trying.close()

    def _open(self, key: str | None) -> LanguageModel:
        model = open_model(self.name, key)
        if self.name.partition(":")[0] in SERVICES:
            self._find_out(model)
        return model

    def _find_out(self, model: LanguageModel) -> None:
        """Find out what a service can do: a few calls, each counted before it is made."""
        with model.meter.allowed_by(self._session.part(*lending.budgets(model)).take):
            ready = prepared(model, None, self._trying)  # asks for its abilities, patiently
            ready.revision  # noqa: B018  which may take a question too
