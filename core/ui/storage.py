"""The database behind the pages: what was paid for, and what came of it."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import streamlit as st

from core.abstention.policy import Policy
from core.reports.inspection.words import outcome
from core.store.calls import Calls
from core.store.database import Database, folder_beside, open_database
from core.store.errors import StoreError, UnknownResultError
from core.store.fallback_database import IN_MEMORY, FallbackDatabase
from core.store.labelled_files import Files
from core.store.labels import Labels, Looks
from core.store.results import Result, SavedResults
from core.studies.inspection.inspection import Inspection, read
from core.studies.inspection.recording import Recording
from core.studies.inspection.request import Reading
from core.studies.inspection.serialise import to_json
from core.ui.memory import MEMORY, FullError
from core.ui.messages import problem
from core.ui.session import owner, public, shared_thing, this_session


@dataclass(frozen=True)
class Storage:
    """The database of this process, or of this session in a public demo."""

    database: Database
    # What tries to open the one that is wanted; None where nothing is to outlive the session.
    fallback: FallbackDatabase | None

    @property
    def why(self) -> str | None:
        """Why it is in memory: the one that is wanted cannot be opened yet; None where it can."""
        return self.fallback.why if self.fallback else None

    @property
    def notice(self) -> str | None:
        """A sentence where something about the database must be said."""
        if (why := self.why) is None:
            return self.database.notice
        return (
            f"{why} Until then, results are in memory only, and lost if this program ends. They "
            "are saved as soon as the database opens."
        )

    @property
    def folder(self) -> Path | None:
        """Where files belong that go with the database, open or not; None if nowhere."""
        return folder_beside() if self.fallback else None

    @property
    def calls(self) -> Calls:
        """The call cache."""
        return Calls(self.database)

    @property
    def results(self) -> SavedResults:
        """The saved results of who looks at the page, to be asked for in its own thread."""
        return SavedResults(self.database, owner())

    @property
    def looks(self) -> Looks:
        """What who looks at the page has looked at of labels."""
        return Looks(self.database, owner())

    @property
    def labels(self) -> Labels:
        """What who looks at the page said of answers, right or wrong."""
        return Labels(self.database, owner())

    @property
    def files(self) -> Files:
        """The labelled files that who looks at the page has brought."""
        return Files(self.database, owner())


def storage() -> Storage:
    """Return the database; one in memory while the real one cannot be opened."""
    return shared_thing("database", _open)


def _open() -> Storage:
    if public():
        return Storage(open_database(IN_MEMORY), None)
    fallback = FallbackDatabase()
    return Storage(fallback.database, fallback)


def open_saved(id: str) -> Result:
    """Return a saved result.

    Raises `UnknownResultError` when it is not here; `StoreError` when nobody can say yet.
    """
    where = storage()
    try:
        return where.results.open(id)
    except UnknownResultError as error:
        if why := where.why:
            raise StoreError(why) from error
        raise


def save(kind: str, query: str, model: str, payload: str, *, outcome: str) -> str:
    """Keep a result and return its id.

    Raises `StoreError` when that fails; `unsaved_beginning` says so.
    """
    where = storage()
    charge(where, this_session().id, payload)
    return where.results.save(kind, query, query, model, payload, outcome=outcome)


def save_inspection(inspection: Inspection) -> str:
    """Keep an inspection as `save` does."""
    return _keep(inspection, storage(), this_session().id)


def unsaved_beginning(error: StoreError) -> str:
    """Return the beginning of what is said of a result that could not be saved."""
    return f"This result is not saved. {error}"


@st.fragment(run_every=2.0)
def until_saved(save: Callable[[], None], until_then: str) -> None:
    """Try again to save what could not be saved, say why it is not, and draw the page anew then.

    `save` raises `StoreError` where it fails; `until_then` is what the person has to know
    meanwhile.
    """
    try:
        save()
    except StoreError as error:
        problem(f"{error} {until_then}")
    else:
        st.rerun()


def keeper(
    reading: Reading, policy: Policy | None, *, by_hand: bool
) -> Callable[[Recording], None]:
    """Return what keeps a recording from another thread, as a page keeps its first reading.

    It is made in the thread of the page, because no other may touch the session. Where it
    fails it says nothing: the page tries again and says so, if it is still open.

    `by_hand`: whether a person asked; if nobody did, only what was paid for is kept.
    """
    where, session, results = storage(), this_session().id, storage().results

    def keep(recording: Recording) -> None:
        if by_hand or recording.used is not None:
            with suppress(StoreError):
                _keep(read(recording, reading, policy=policy), where, session, results)

    return keep


def _keep(
    inspection: Inspection, where: Storage, session: str, results: SavedResults | None = None
) -> str:
    query, model = inspection.query, inspection.recording.model
    payload = to_json(inspection)
    charge(where, session, payload)
    return (results or where.results).save(
        "inspection", query, query, model, payload, outcome=outcome(inspection)
    )


def charge(where: Storage, session: str, payload: str) -> None:
    """Charge a result to its session where it stays in memory, for as long as that does."""
    if where.fallback is None:
        try:
            MEMORY.charge_while(where, session, len(payload))
        except FullError as error:
            raise StoreError(str(error)) from error
