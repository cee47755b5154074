"""Labelled files that people brought, found again by the hash of what is in them."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Final

from sqlalchemy import delete, select, update

from core.store import schema
from core.store.database import Database
from core.store.errors import StoreError
from core.store.text import checked, storable

LARGEST: Final = 10_000_000  # bytes
MOST: Final = 20  # files: the ones saved last


class TooLargeError(StoreError):
    """A file that is not saved, because it is too large."""


@dataclass(frozen=True)
class File:
    """A saved file.

    Attributes
    ----------
    name : str
    content : bytes
    notes : str
        What a page has to remember of it, as JSON; empty if nothing.
    """

    name: str
    content: bytes
    notes: str


def hash_of(content: bytes) -> str:
    """Return the hash by which a file is found: nobody can guess it who lacks the file."""
    return hashlib.sha256(content).hexdigest()[:32]


class Files:
    """The saved files of a database. Every method raises `StoreError` when that fails."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def save(self, name: str, content: bytes) -> str:
        """Keep a file and return its hash; of too many, the one saved first is forgotten.

        The notes of a file that is here already stay with it.

        Raises
        ------
        TooLargeError
            When it has more than `LARGEST` bytes.
        """
        if len(content) > LARGEST:
            raise TooLargeError(
                f"This file has more than {LARGEST // 1_000_000} MB, so it is not saved."
            )
        table, hash = schema.files, hash_of(content)
        with self._database.write() as connection:
            same = select(table.c.notes).where(table.c.hash == hash)
            notes = connection.execute(same).scalar() or ""
            connection.execute(delete(table).where(table.c.hash == hash))
            row = {
                "hash": hash,
                "name": storable(name),
                "saved_at": schema.now(),
                "notes": notes,
                "content": content,
            }
            connection.execute(table.insert().values(row))
            newest = select(table.c.hash).order_by(table.c.saved_at.desc(), table.c.hash)
            for old in connection.execute(newest.offset(MOST)).scalars().all():
                connection.execute(delete(table).where(table.c.hash == old))
        return hash

    def open(self, hash: str) -> File | None:
        """Return a file, or None if there is none with this hash."""
        table = schema.files.c
        statement = select(table.name, table.content, table.notes)
        with self._database.read() as connection:
            row = connection.execute(statement.where(table.hash == storable(hash))).one_or_none()
        return None if row is None else File(row.name, bytes(row.content), row.notes)

    def note(self, hash: str, notes: str) -> None:
        """Remember something with a file, in place of what was remembered; or nothing is there."""
        table = schema.files
        with self._database.write() as connection:
            connection.execute(
                update(table).where(table.c.hash == hash).values(notes=checked(notes))
            )

    def forget(self, hash: str) -> None:
        """Keep a file no longer."""
        with self._database.write() as connection:
            connection.execute(delete(schema.files).where(schema.files.c.hash == hash))
