"""The call cache: every successful call to a model, kept before it is used.

A call costs money and time, and asked again it may be answered differently. What is here is
never changed: the first answer to a key stays the answer.
"""

import hashlib
import itertools
import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, fields
from typing import Final

from sqlalchemy import Connection, delete, select, update

from core.store import schema, text
from core.store.database import Database
from core.store.errors import StoreError
from core.store.locks import LARGEST, patiently

# Older SQLite takes 999 variables in one statement.
CHUNK: Final = 900
LONGEST_NAME: Final = 200  # of a model; a key has all of it
# Columns of the first schema that were never filled: what a run used is with its result.
_NO_TOKENS: Final = {"prompt_tokens": 0, "response_tokens": 0}


class Services:
    """A database's memory of services; where it fails, they are asked again."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def get(self, name: str) -> str | None:
        """Return what is kept of a model; None if nothing is, or the database fails."""
        table = schema.services.c
        with suppress(StoreError), self._database.read() as connection:
            statement = select(table.found).where(table.model == text.storable(name))
            value: str | None = connection.execute(statement).scalar()
            return value
        return None

    def put(self, name: str, value: str | None) -> None:
        """Keep this of a model, or nothing, and no longer what was kept before."""
        model = text.storable(name)
        with suppress(StoreError), self._database.write() as connection:
            connection.execute(delete(schema.services).where(schema.services.c.model == model))
            if value is not None:
                row = {
                    "model": model,
                    "found_at": schema.now(),
                    "found": text.checked_payload(value),
                }
                connection.execute(self._database.insert_new(schema.services), [row])


@dataclass(frozen=True)
class CallKey:
    """All that the answer to a call depends on."""

    kind: str  # what was asked for: a sample, a likelihood, the next token
    # model, revision: which model, and all else about it that changes answers.
    model: str
    revision: str
    prompt: str  # the exact text
    answer: str = ""  # the text that was scored, where one was
    temperature: float = 1.0  # Finite
    # seed, index: which random answer.
    seed: int = 0
    index: int = 0

    def __post_init__(self) -> None:
        """Make equal keys the same: 1 and 1.0, -0.0 and 0.0, a number of NumPy's.

        Raises `ValueError` when the temperature is not finite.
        """
        object.__setattr__(self, "temperature", float(self.temperature) + 0.0)
        object.__setattr__(self, "seed", int(self.seed))
        object.__setattr__(self, "index", int(self.index))
        if not math.isfinite(self.temperature):
            raise ValueError(f"temperature must be finite, not {self.temperature}")

    @property
    def place(self) -> int:
        """A number below `LARGEST` that all calls to one model with one prompt have."""
        shared = json.dumps((self.model, self.revision, self.prompt)).encode("ascii")
        return int.from_bytes(hashlib.sha256(shared).digest()[:8]) % LARGEST

    @property
    def digest(self) -> str:
        """SHA-256 over all fields, as hexadecimal digits.

        JSON says where a field ends, and writes a number so that it is read back exactly.
        """
        values = [getattr(self, name) for name in _FIELDS]
        return hashlib.sha256(json.dumps(values).encode("ascii")).hexdigest()


_FIELDS: Final = [field.name for field in fields(CallKey)]


class Calls:
    """The call cache of a database. Every method raises `StoreError` when that fails."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @property
    def services(self) -> Services:
        """What was found out about those who are called."""
        return Services(self._database)

    def get_many(self, keys: Iterable[CallKey]) -> dict[CallKey, str]:
        """Return the payloads of those of `keys` that are kept, in the order of `keys`."""
        digests = {key: key.digest for key in keys}
        with self._database.read() as connection:
            values = _stored_payloads(connection, digests)
        held = self._database.unsaved
        for key, digest in digests.items():
            if key not in values and (row := held.get(digest)):
                values[key] = str(row["payload"])
        return {key: values[key] for key in digests if key in values}

    def put_many(self, payloads: Mapping[CallKey, str]) -> dict[CallKey, str]:
        """Keep the answers to calls, each JSON text, all or none; they are safe when this returns.

        Returns what is kept now: for a key that was kept before, the earlier payload.

        Raises `StoreError`, also when a payload is not text that a database can hold. Otherwise the
        calls are held in memory: `get_many` finds them, and `check` saves them when that is
        possible.
        """
        digests = {key: key.digest for key in payloads}
        rows: dict[str, dict[str, str | int]] = {
            digests[key]: {
                "digest": digests[key],
                "kind": text.storable(key.kind),
                "model": text.storable(key.model)[:LONGEST_NAME],
                "created_at": schema.now(),
                **_NO_TOKENS,
                "payload": text.checked_payload(payload),
            }
            for key, payload in payloads.items()
        }
        if not rows:
            return {}
        try:
            with self._database.write() as connection:
                self._insert(connection, rows)
                return _stored_payloads(connection, digests)
        except StoreError:
            self._database.unsaved.update(rows)
            raise

    def _insert(self, connection: Connection, rows: dict[str, dict[str, str | int]]) -> None:
        # In one order, so that no two writers of the same keys wait for each other.
        statement = self._database.insert_new(schema.calls)
        connection.execute(statement, [rows[digest] for digest in sorted(rows)])

    def check(self) -> None:
        """Make sure that a call can be saved, before anybody pays for it.

        What was answered and could not be saved before is saved now.

        Raises `StoreError` when nothing can be saved: the disk is full, the database is locked, …
        """
        database = self._database
        database.check_room()
        held = dict(database.unsaved)
        with database.write() as connection:
            if held:
                self._insert(connection, held)
            elif database.engine.dialect.name == "sqlite":
                # Only what is written and committed tells whether that is possible.
                same = schema.schema_version.c.applied_at
                connection.execute(update(schema.schema_version).values(applied_at=same))
        for digest in held:
            database.unsaved.pop(digest, None)

    @contextmanager
    def claim(
        self, keys: Iterable[CallKey], waiting: Callable[[], None] = patiently
    ) -> Iterator[None]:
        """Keep all others from asking for these until the end of the block.

        It waits for whoever is asking already. Claim no more inside of it. The threads of this
        process share its prompts and claim single calls; another process waits for the prompt.
        `waiting` is called several times a second meanwhile, and may raise to wait no more.
        """
        claims, locks = list(keys), self._database.locks
        among_processes = (
            locks.hold((key.place for key in claims), waiting) if locks else nullcontext()
        )
        with among_processes, self._database.claims.hold(claims, waiting):
            yield


def _stored_payloads(connection: Connection, digests: dict[CallKey, str]) -> dict[CallKey, str]:
    """Return what is kept for keys, given with their digests."""
    payloads: dict[str, str] = {}
    table, left = schema.calls.c, iter(digests.values())
    while chunk := list(itertools.islice(left, CHUNK)):
        statement = select(table.digest, table.payload).where(table.digest.in_(chunk))
        payloads.update(row._tuple() for row in connection.execute(statement))
    return {key: payloads[digest] for key, digest in digests.items() if digest in payloads}
