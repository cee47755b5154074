"""Files that are read as people bring them, and what was read."""

import io

import pyarrow as pa
import pytest
from pyarrow import parquet

from core.data.tabular.uploads import UploadError, parse


def read(content, name="scores.csv"):
    return parse(content.encode() if isinstance(content, str) else content, name)


def refused(content, name="scores.csv"):
    """The sentence with which a file is refused."""
    with pytest.raises(UploadError) as caught:
        read(content, name)
    return str(caught.value)


def cells(upload):
    return upload.table.to_numpy(object).tolist()


def headings(upload):
    return list(upload.table.columns)


def as_parquet(table, **options):
    buffer = io.BytesIO()
    table = pa.table(table) if isinstance(table, dict) else table
    parquet.write_table(table, buffer, **options)
    return buffer.getvalue()
