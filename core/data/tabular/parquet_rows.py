"""Parquet read into rows of text, looking at sizes before values become Python's objects.

A file can say in a thousand bytes that a list has a hundred million items, or give one long
text by its number to a million rows. So the counts of its description are checked first; then
texts stay numbers of a dictionary until it is known how long they are together.
"""

import re
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
from pyarrow import compute, parquet, types

from core.codec import one_line
from core.data.tabular import rows as limits
from core.data.tabular.json_tables import FLATTENED
from core.data.tabular.rows import (
    TableRows,
    UploadError,
    as_text,
    check_cell,
    check_cells,
    check_heading,
    check_size,
)

MAX_UNPACKED = 200_000_000  # bytes that the pages say they unpack to
MAX_LEAVES = 1_000  # columns, with those that make up a structured one
MAX_CHUNKS = 100_000  # pieces of columns, each of which costs time
BATCH = 20_000  # rows
BATCH_CELLS = 200_000
#: What a column of bytes may mean for its texts to be read as numbers of a dictionary.
_TEXTS = ("STRING", "NONE", "JSON", "ENUM")
_BINARY = types.is_binary, types.is_large_binary, types.is_binary_view
_ROW_INDEX = re.compile(r"__index_level_\d+__")  # how pandas writes an index without a name


def read_parquet(content: bytes, notes: list[str]) -> tuple[TableRows, list[str]]:
    """Read a Parquet file; return its rows and headings, and add to the notes what was left out.

    Raises `UploadError` when it is damaged, or a limit is not kept; `MemoryError` when a page of it
    unpacks to more than it says.
    """
    rows = TableRows()
    try:
        # Not through pandas, which makes floats of whole numbers and refuses a heading that
        # stands twice.
        source = pa.BufferReader(content)
        about = parquet.read_metadata(source)
        _check_description(about)
        file = parquet.ParquetFile(
            source, metadata=about, read_dictionary=_texts_of(about), pre_buffer=False
        )
        schema = about.schema.to_arrow_schema()
        names = schema.names
        places = [at for at, name in enumerate(names) if not _ROW_INDEX.fullmatch(name)]
        if len(places) < len(names):
            notes.append("The row index that pandas wrote into the file was left out.")
        if not places:
            raise UploadError("The file has no columns; choose one with a heading and rows.")
        check_size(about.num_rows, len(places))
        for at in places:
            check_heading(names[at])
        fields = [each for at in places for each in _leaves(schema.field(at))]
        check_size(about.num_rows, len(fields))
        size = max(1, min(BATCH, BATCH_CELLS // max(about.num_columns, 1)))
        for batch in file.iter_batches(batch_size=size, use_threads=False):
            _add(batch.select(places), rows, fields)
    except (UploadError, MemoryError):
        raise
    except Exception as error:  # a damaged file can fail in any way, deep inside the reader
        raise UploadError(
            "The file begins like Parquet but cannot be read; it is damaged or of an unknown "
            "kind. Write it again, or save it as CSV."
        ) from error
    return rows, [field.name for field in fields]


def _leaves(field: pa.Field, depth: int = 1) -> Iterator[pa.Field]:
    """Yield the columns of a structured one, with dots in their headings, as of JSON."""
    if not types.is_struct(field.type) or not field.type.num_fields or depth == FLATTENED:
        yield field
        return
    for inner in field.type:
        yield from _leaves(inner.with_name(f"{field.name}.{inner.name}"), depth + 1)


def _columns(values: pa.Array, depth: int = 1) -> Iterator[pa.Array]:
    """Yield the values of the columns that `_leaves` yields."""
    if not types.is_struct(values.type) or not values.type.num_fields or depth == FLATTENED:
        yield values
        return
    for inner in values.flatten():
        yield from _columns(inner, depth + 1)


def _check_description(about: Any) -> None:
    """Check what a file says of itself, which takes no reading of its values."""
    if about.num_columns > MAX_LEAVES:
        raise UploadError(
            f"The file has {about.num_columns:,} columns, counted with those inside structured "
            f"ones, and at most {MAX_LEAVES:,} can be read; leave out those that are not needed."
        )
    check_size(about.num_rows, 1)
    if about.num_row_groups * about.num_columns > MAX_CHUNKS:
        raise UploadError(
            f"The file is cut into more than {MAX_CHUNKS:,} pieces, the most that can be read; "
            "write it again with fewer row groups."
        )
    chunks = [
        about.row_group(group).column(column)
        for group in range(about.num_row_groups)
        for column in range(about.num_columns)
    ]
    check_cells(sum(chunk.num_values for chunk in chunks))
    unpacked = sum(chunk.total_uncompressed_size for chunk in chunks)
    if unpacked > MAX_UNPACKED:
        raise UploadError(
            f"The file unpacks to {unpacked:,} bytes, and at most {MAX_UNPACKED:,} can be read; "
            "leave out columns or rows that are not needed."
        )


def _texts_of(about: Any) -> list[str]:
    columns = [about.schema.column(at) for at in range(about.num_columns)]
    return [
        column.path
        for column in columns
        if column.physical_type == "BYTE_ARRAY" and column.logical_type.type in _TEXTS
    ]


def _add(batch: pa.RecordBatch, rows: TableRows, fields: list[pa.Field]) -> None:
    batch.validate(full=True)  # offsets within bounds, and texts that are Unicode
    left = limits.MAX_TEXT - rows.characters
    texts = []
    columns = (column for whole in batch.columns for column in _columns(whole))
    for field, column in zip(fields, columns, strict=True):
        try:
            left -= _least_text(column)
            limits.check_text(limits.MAX_TEXT - left)
            if types.is_dictionary(column.type):
                _check_longest(column, len(rows.lines) + 1)
            texts.append(_texts(column))
        except (UploadError, MemoryError):
            raise
        except (pa.ArrowException, OverflowError) as error:  # maps, days that Python has not
            raise UploadError(
                f"The column “{one_line(field.name, 60)}” has values of the type "
                f"{one_line(str(field.type), 60)} that cannot be read; leave it out, or write it "
                "as text."
            ) from error
    rows.add_columns(texts)


def _least_text(values: pa.Array) -> int:
    """Return how many bytes of text some values stand for at the least, without making them."""
    if isinstance(values, pa.ExtensionArray):
        values = values.storage
    kind = values.type
    if values.null_count == len(values):
        return 0
    if types.is_dictionary(kind):
        return compute.sum(_lengths(values)).as_py() or 0
    if _is_bytes(kind):
        return compute.sum(compute.binary_length(values)).as_py() or 0
    if types.is_struct(kind):
        return sum(_least_text(field) for field in values.flatten())
    if types.is_nested(kind):
        items = values.flatten()
        check_cells(len(items))
        return 2 * len(items) + _least_text(items)  # each with a comma or bracket
    return len(values) - values.null_count


def _lengths(values: pa.DictionaryArray) -> pa.Array:
    """Return how many bytes each value takes that is given by its number in a dictionary."""
    texts = values.dictionary
    if not _is_bytes(texts.type):
        return compute.cast(values.indices.is_valid(), pa.int64())
    return compute.take(compute.cast(compute.binary_length(texts), pa.int64()), values.indices)


def _check_longest(values: pa.DictionaryArray, row: int) -> None:
    lengths = _lengths(values)
    longest = compute.max(lengths).as_py() or 0
    # A character has up to 4 bytes: what may be short enough is counted once it is text.
    if longest > 4 * limits.MAX_CELL:
        check_cell(longest, f"Row {row + compute.index(lengths, longest).as_py()}")


def _is_bytes(kind: pa.DataType) -> bool:
    texts = types.is_string, types.is_large_string, types.is_string_view
    return any(is_it(kind) for is_it in (*texts, *_BINARY))


def _texts(values: pa.Array) -> pa.Array:
    if values.null_count == len(values):
        return pa.repeat(pa.scalar("", pa.large_string()), len(values))
    if types.is_dictionary(values.type):
        values = values.dictionary_decode()
    kinds = types.is_string, types.is_large_string, types.is_integer, types.is_boolean
    if any(is_it(values.type) for is_it in kinds):  # as `as_text`, faster
        return compute.fill_null(compute.cast(values, pa.large_string()), "")
    if types.is_floating(values.type):
        numbers = compute.cast(values, pa.float64()).to_pylist()
        return pa.array(
            ["" if n is None or n != n else repr(n) for n in numbers], pa.large_string()
        )
    return pa.array([as_text(value) for value in values.to_pylist()], pa.large_string())
