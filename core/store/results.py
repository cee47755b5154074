"""Saved results: inspections, amplifications and policies, found again by their words."""

import hashlib
import secrets
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, ClassVar, Final

from sqlalchemy import ColumnElement, Row, Table, and_, delete, func, select, update

from core.codec import TURNS, one_line
from core.store import schema
from core.store.database import Database
from core.store.errors import StoreError, UnknownResultError
from core.store.text import checked_payload, fold, storable

KINDS: Final = ("inspection", "amplification", "policy")
#: Of a result. The largest inspection that may be asked for (300 answers of `LONGEST_ANSWER`
#: characters, one after each, compared by the model) takes 9 MB; the usual one 50 kB.
MAX_RESULT_BYTES: Final = 20_000_000
NO_TIME: Final = datetime(1970, 1, 1, tzinfo=UTC)
LONGEST_TITLE: Final = 200
LONGEST_SEARCH: Final = 1000
MOST_MODELS: Final = 10  # that a person used, offered again
THIS_COMPUTER: Final = ""  # the owner where one person uses a database, in whatever session


@dataclass(frozen=True)
class Summary:
    """What a list shows of a saved result."""

    id: str  # Unguessable: whoever knows it was told
    kind: str  # one of `KINDS`
    # title, query, model: text of people and models.
    title: str
    query: str
    model: str
    created_at: datetime  # when it was saved, UTC
    # What came of it, in a few words; empty if it was kept by a version that did not say.
    outcome: str


@dataclass(frozen=True)
class Result(Summary):
    """A saved result with its payload, exactly as it was saved."""

    payload: str


@dataclass(frozen=True)
class ResultPage:
    """One page of a search: some results, and how many there are in all."""

    results: tuple[Summary, ...]
    total: int


def has_words(result: Summary, text: str) -> bool:
    """Return whether a result has all words of a text, as `SavedResults.search` decides it."""
    about = (result.title, result.query, result.model, result.kind, result.outcome)
    inside = fold(" ".join(about))
    return all(word in inside for word in fold(text).split())


_SUMMARY: Final = [schema.results.c[name] for name in Summary.__dataclass_fields__]


class OwnedRows:
    """One owner's rows of a table; every method raises `StoreError` when the database fails."""

    table: ClassVar[Table]

    def __init__(self, database: Database, owner: str = THIS_COMPUTER) -> None:
        self._database = database
        self._owner = storable(owner)
        self._own = self.table.c.owner == self._owner


class SavedResults(OwnedRows):
    """One owner's saved results in a database, which may hold those of others too.

    Only `open` finds results of others: it takes an id, and whoever knows one was told.
    """

    table = schema.results

    def save(
        self, kind: str, title: str, query: str, model: str, payload: str, *, outcome: str = ""
    ) -> str:
        """Keep a result and return its id, which nobody can guess.

        An owner keeps the same payload of the same kind once: saving it again changes nothing and
        returns the first id, whatever the other arguments say.

        Title and outcome are cut to `LONGEST_TITLE` characters; where the title is empty, the query
        stands for it. The payload is JSON text; megabytes are welcome.

        Raises `ValueError` for another kind than those of `KINDS`; `StoreError`, also when the
        payload is not text that a database can hold, or has more than `MAX_RESULT_BYTES`.
        """
        _check_kind(kind)
        query, model = _without_turns(query), _without_turns(model)
        title = one_line(_one_line(title) or _one_line(query) or kind.capitalize(), LONGEST_TITLE)
        outcome = one_line(storable(outcome), LONGEST_TITLE)
        payload = checked_payload(payload)
        if (size := len(payload.encode())) > MAX_RESULT_BYTES:
            raise StoreError(
                f"It has {size:,} bytes, and at most {MAX_RESULT_BYTES:,} are saved and opened "
                "again. Compare fewer answers."
            )
        row = {
            "id": secrets.token_urlsafe(16),
            "kind": kind,
            "title": title,
            "query": query,
            "model": model,
            "created_at": schema.now(),
            "search": _search_text(title, query, model, kind, outcome),
            "digest": hashlib.sha256(payload.encode()).hexdigest(),
            "outcome": outcome,
            "payload": payload,
            "owner": self._owner,
        }
        return self._insert(row)

    def _insert(self, row: dict[str, str]) -> str:
        table = schema.results.c
        same = select(table.id).where(
            self._own, table.kind == row["kind"], table.digest == row["digest"]
        )
        while True:  # a result that was in the way may be deleted by now
            with self._database.write() as connection:
                connection.execute(self._database.insert_new(schema.results).values(row))
                older = connection.execute(same).scalar()
                if older is not None:
                    return str(older)

    def open(self, id: str) -> Result:
        """Return a result with its payload, whoever kept it, or `UnknownResultError`."""
        table = schema.results.c
        statement = select(*_SUMMARY, table.payload).where(table.id == storable(id))
        with self._database.read() as connection:
            row = connection.execute(statement).one_or_none()
        if row is None:
            raise _unknown_result()
        return Result(**_fields(row))

    def exists(self, id: str) -> bool:
        """Say whether the owner keeps a result under this id."""
        statement = select(schema.results.c.id).where(self._is(id))
        with self._database.read() as connection:
            return connection.execute(statement).one_or_none() is not None

    def search(self, text: str = "", kind: str | None = None, *, limit: int = 20) -> ResultPage:
        """Return the owner's results that have all words of `text`, newest first, without payloads.

        A word may stand anywhere in title, query, model, kind or outcome, inside other words
        too, in upper or lower case; no word finds everything, of one of the `KINDS` or of all.

        Raises `ValueError` for another kind, or a limit that is out of range; `StoreError`, also
        when the text has more than `LONGEST_SEARCH` characters.
        """
        if not 0 <= limit < 2**31:
            raise ValueError("limit must not be negative, nor enormous")
        if len(text) > LONGEST_SEARCH:
            raise StoreError(
                f"The search text is too long: give at most {LONGEST_SEARCH:,} characters."
            )
        table = schema.results.c
        conditions: list[ColumnElement[bool]] = [self._own]
        conditions += [
            table.search.contains(word, autoescape=True)
            for word in dict.fromkeys(fold(text).split())
        ]
        if kind is not None:
            _check_kind(kind)
            conditions.append(table.kind == kind)
        number = select(func.count()).select_from(schema.results).where(*conditions)
        page = select(*_SUMMARY).where(*conditions)
        page = page.order_by(table.number.desc()).limit(limit)
        with self._database.read() as connection:
            total = connection.execute(number).scalar_one()
            rows = connection.execute(page).all()
        return ResultPage(tuple(Summary(**_fields(row)) for row in rows), total)

    def models(self, but: str) -> tuple[str, ...]:
        """Return up to `MOST_MODELS` models of the owner's results, the one used last first.

        Results whose outcome begins with `but` do not count: what a file names, nobody used here.
        """
        table = schema.results.c
        newest = func.max(table.number).desc()
        used_here = self._own, ~table.outcome.startswith(but, autoescape=True)
        statement = select(table.model).where(*used_here).group_by(table.model)
        statement = statement.order_by(newest).limit(MOST_MODELS)
        with self._database.read() as connection:
            return tuple(connection.execute(statement).scalars())

    def rename(self, id: str, title: str) -> None:
        """Give a result another title.

        Raises `UnknownResultError` when the owner has no such result; `StoreError`, also when the
        title is empty or longer than `LONGEST_TITLE` characters.
        """
        title = _one_line(title)
        if not title or len(title) > LONGEST_TITLE:
            raise StoreError(
                f"A title has 1 to {LONGEST_TITLE} characters, this one {len(title)}: change it."
            )
        table = schema.results.c
        with self._database.write() as connection:
            chosen = self._is(id)
            row = connection.execute(
                select(table.query, table.model, table.kind, table.outcome).where(chosen)
            ).one_or_none()
            if row is None:
                raise _unknown_result()
            search = _search_text(title, *row)
            connection.execute(
                update(schema.results).where(chosen).values(title=title, search=search)
            )

    def delete(self, id: str) -> None:
        """Forget a result; raise `UnknownResultError` when the owner has none."""
        statement = delete(schema.results).where(self._is(id))
        with self._database.write() as connection:
            if connection.execute(statement).rowcount == 0:
                raise _unknown_result()

    def _is(self, id: str) -> ColumnElement[bool]:
        return and_(schema.results.c.id == storable(id), self._own)


def _fields(row: Row[Any]) -> dict[str, Any]:
    return {**row._mapping, "created_at": time_in(row.created_at)}


def time_in(text: str) -> datetime:
    """Return a saved time in UTC; `NO_TIME` where somebody has written none there."""
    try:
        when = datetime.fromisoformat(text)
        return when.astimezone(UTC) if when.tzinfo else when.replace(tzinfo=UTC)
    except (ValueError, TypeError, OverflowError):
        return NO_TIME


def _check_kind(kind: str) -> None:
    if kind not in KINDS:
        raise ValueError(f"kind must be one of {', '.join(KINDS)}, not {kind!r}")


def _unknown_result() -> UnknownResultError:
    return UnknownResultError(
        "This result is not here: it was deleted, or saved in another database or session. "
        "Look for it in the list of results."
    )


def _one_line(text: str) -> str:
    return " ".join(_without_turns(text).split())


def _without_turns(text: str) -> str:
    """Return a text as a list shows it, beside others that it must not turn round."""
    return TURNS.sub("", storable(text))


def _search_text(*parts: str) -> str:
    """Return what a search looks at; between two parts stands what no searched word has."""
    return fold("\n".join(parts))
