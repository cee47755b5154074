"""Labelled files that people brought, found again by the hash of what is in them."""

import hashlib
from dataclasses import dataclass
from typing import Final

from sqlalchemy import delete, select, update

from core.store import schema
from core.store.errors import StoreError
from core.store.results import OwnedRows
from core.store.text import checked_payload, storable

LARGEST: Final = 10_000_000  # bytes
MOST: Final = 20  # files: the ones saved last


class TooLargeError(StoreError):
    """A file that is not saved, because it is too large."""


@dataclass(frozen=True)
class File:
    """A saved file."""

    name: str
    content: bytes
    notes: str  # what a page has to remember of it, as JSON; empty if nothing


def hash_of(content: bytes) -> str:
    """Return the hash by which a file is found: nobody can guess it who lacks the file."""
    return hashlib.sha256(content).hexdigest()[:32]


class Files(OwnedRows):
    """One owner's saved files in a database."""

    table = schema.files

    def save(self, name: str, content: bytes) -> str:
        """Keep a file and return its hash; of too many of its owner, the oldest other is forgotten.

        The notes of a file that is here already stay with it.

        Raises `TooLargeError` when it has more than `LARGEST` bytes.
        """
        if len(content) > LARGEST:
            raise TooLargeError(
                f"This file has more than {LARGEST // 1_000_000} MB, so it is not saved."
            )
        table, hash = schema.files, hash_of(content)
        with self._database.write() as connection:
            same = self._own & (table.c.hash == hash)
            notes = connection.execute(select(table.c.notes).where(same)).scalar() or ""
            connection.execute(delete(table).where(same))
            row = {
                "owner": self._owner,
                "hash": hash,
                "name": storable(name),
                "saved_at": schema.now(),
                "notes": notes,
                "content": content,
            }
            connection.execute(table.insert().values(row))
            others = select(table.c.number).where(self._own, table.c.hash != hash)
            too_many = others.order_by(table.c.number.desc()).offset(MOST - 1)
            for old in connection.execute(too_many).scalars().all():
                connection.execute(delete(table).where(table.c.number == old))
        return hash

    def open(self, hash: str) -> File | None:
        """Return a file, or None if there is none with this hash."""
        table = schema.files.c
        statement = select(table.name, table.content, table.notes)
        with self._database.read() as connection:
            of_it = self._own, table.hash == storable(hash)
            row = connection.execute(statement.where(*of_it)).one_or_none()
        return None if row is None else File(row.name, bytes(row.content), row.notes)

    def note(self, hash: str, notes: str) -> None:
        """Remember something with a file, in place of what was remembered; or nothing is there."""
        table = schema.files
        with self._database.write() as connection:
            connection.execute(
                update(table)
                .where(self._own, table.c.hash == hash)
                .values(notes=checked_payload(notes))
            )

    def forget(self, hash: str) -> None:
        """Keep a file no longer."""
        with self._database.write() as connection:
            connection.execute(delete(schema.files).where(self._own, schema.files.c.hash == hash))
