"""The database behind the pages: what was paid for, and what came of it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from core.abstention.policy import Policy
from core.store.calls import Calls
from core.store.database import Database, open_database
from core.store.errors import StoreError
from core.store.files import Files
from core.store.results import Results
from core.studies.inspection.inspection import Inspection, read
from core.studies.inspection.recording import Recording
from core.studies.inspection.request import Reading
from core.studies.inspection.serialise import to_json
from core.ui.messages import later
from core.ui.session import owner, public, shared

IN_MEMORY = "sqlite://"


@dataclass(frozen=True)
class Kept:
    """The open database, and a sentence where something about it must be said."""

    database: Database
    notice: str | None

    @property
    def calls(self) -> Calls:
        """The call cache."""
        return Calls(self.database)

    @property
    def results(self) -> Results:
        """The saved results of who looks at the page, to be asked for in its own thread."""
        return Results(self.database, owner())

    @property
    def files(self) -> Files:
        """The labelled files that who looks at the page has brought."""
        return Files(self.database, owner())


def kept() -> Kept:
    """Return the database; one in memory, and why, where the real one cannot be opened."""
    return shared("database", _open)


def _open() -> Kept:
    if public():
        return Kept(open_database(IN_MEMORY), None)
    try:
        database = open_database()
    except StoreError as error:
        notice = f"{error} Until then results last only as long as this program runs."
        return Kept(open_database(IN_MEMORY), notice)
    return Kept(database, database.notice)


def save(kind: str, query: str, model: str, payload: str, *, outcome: str) -> str | None:
    """Keep a result and return its id; None, with a notice on the page, where that fails."""
    return _said(lambda: kept().results.save(kind, query, query, model, payload, outcome=outcome))


def save_inspection(inspection: Inspection) -> str | None:
    """Keep an inspection as `save` does."""
    return _said(lambda: _keep(inspection, kept().results))


def keeper(
    reading: Reading, policy: Policy | None, *, asked_for: bool
) -> Callable[[Recording], None]:
    """Return what keeps a recording from another thread, as a page keeps its first reading.

    It is made in the thread of the page, because no other may touch the session. Where it
    fails it says nothing: the page tries again and says so, if it is still open.

    Parameters
    ----------
    asked_for : bool
        Whether a person asked; if nobody did, only what was paid for is kept.
    """
    results = kept().results

    def keep(recording: Recording) -> None:
        if asked_for or recording.used is not None:
            with suppress(StoreError):
                _keep(read(recording, reading, policy=policy), results)

    return keep


def _keep(inspection: Inspection, results: Results) -> str:
    query, model = inspection.query, inspection.recording.model
    return results.save(
        "inspection", query, query, model, to_json(inspection), outcome=inspection.outcome
    )


def _said(save: Callable[[], str]) -> str | None:
    """Return the id of what is saved, or None and leave a notice for the page."""
    try:
        return save()
    except StoreError as error:
        later(str(error))
        return None
