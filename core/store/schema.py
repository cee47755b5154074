"""The tables as the newest migration leaves them. Times are UTC in ISO 8601, as text."""

from datetime import UTC, datetime

from sqlalchemy import BigInteger, Column, Index, Integer, LargeBinary, MetaData, Table, Text

metadata = MetaData()

schema_version = Table(
    "schema_version",
    metadata,
    Column("version", Integer, primary_key=True, autoincrement=False),
    Column("applied_at", Text, nullable=False),
)

calls = Table(
    "calls",
    metadata,
    Column("digest", Text, primary_key=True),  # of the whole key
    Column("kind", Text, nullable=False),
    Column("model", Text, nullable=False),
    Column("created_at", Text, nullable=False),
    Column("prompt_tokens", BigInteger, nullable=False),
    Column("response_tokens", BigInteger, nullable=False),
    Column("payload", Text, nullable=False),
    Index("calls_usage", "model", "kind", "prompt_tokens", "response_tokens"),
)

services = Table(
    "services",
    metadata,
    Column("model", Text, primary_key=True),
    Column("found_at", Text, nullable=False),
    Column("found", Text, nullable=False),  # what it can do, as its back end writes it
)

files = Table(
    "files",
    metadata,
    Column("number", BigInteger, primary_key=True),  # counts up: clocks can go backwards
    Column("owner", Text, nullable=False),  # empty: this computer
    Column("hash", Text, nullable=False),  # of the content
    Column("name", Text, nullable=False),
    Column("saved_at", Text, nullable=False),
    Column("notes", Text, nullable=False),  # what a page remembers of it, as JSON
    Column("content", LargeBinary, nullable=False),
    Index("files_content", "owner", "hash", unique=True),
    Index("files_owner", "owner", "number"),
)

looks = Table(
    "looks",
    metadata,
    Column("number", BigInteger, primary_key=True),  # counts up: clocks can go backwards
    Column("owner", Text, nullable=False),  # empty: this computer
    Column("setting", Text, nullable=False),  # a hash of what was looked at
    Column("made_at", Text, nullable=False),
    Column("payload", Text, nullable=False),
    Index("looks_setting", "owner", "setting", unique=True),
    Index("looks_owner", "owner", "number"),
)

labels = Table(
    "labels",
    metadata,
    Column("number", BigInteger, primary_key=True),  # counts up: clocks can go backwards
    Column("owner", Text, nullable=False),  # empty: this computer
    Column("item", Text, nullable=False),  # a hash of what was labelled
    Column("made_at", Text, nullable=False),
    Column("label", Text, nullable=False),
    Index("labels_item", "owner", "item", unique=True),
)

results = Table(
    "results",
    metadata,
    Column("number", BigInteger, primary_key=True),  # counts up: clocks can go backwards
    Column("id", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("title", Text, nullable=False),
    Column("query", Text, nullable=False),
    Column("model", Text, nullable=False),
    Column("created_at", Text, nullable=False),
    Column("search", Text, nullable=False),  # title, query, model, kind and outcome, folded
    Column("digest", Text, nullable=False),  # of the payload
    Column("outcome", Text, nullable=False),
    Column("payload", Text, nullable=False),  # long: SQLite walks over whatever stands before
    Column("owner", Text, nullable=False),  # of a list it is read from an index alone
    Index("results_id", "id", unique=True),
    Index("results_content", "owner", "kind", "digest", unique=True),
    Index("results_kind", "owner", "kind", "number"),
    Index("results_owner", "owner", "number"),
)


def now() -> str:
    """Return the present in UTC as the tables hold it: for people, never to decide an order."""
    return datetime.now(UTC).isoformat(timespec="microseconds")
