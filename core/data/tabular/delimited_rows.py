"""Separated values read into rows of text: by commas, tabs, semicolons or bars."""

import csv
import io
import itertools
from collections.abc import Callable, Iterator

from core.codec import count_of, one_line
from core.data.tabular import rows as limits
from core.data.tabular.csv_export import as_it_was
from core.data.tabular.headings import heads_a_table
from core.data.tabular.rows import (
    ABOVE,
    TableRows,
    UploadError,
    check_heading,
    check_size,
    too_long_a_row,
)

_DELIMITERS = (",", "\t", ";", "|")  # in order of preference
_SAMPLE = 50  # rows that a delimiter must fit, with the titles above them
_LEADING = 1_000  # rows without any text that may come before the heading
_TITLES = 30  # lines of words that may stand above the headings
_AHEAD = 5  # rows that show whether the one above them is a heading
_NAMED = 3  # ragged lines that are named; the others are counted

Again = Callable[[], io.TextIOWrapper]


def delimiter_of(again: Again, first: str) -> str:
    """Return what separates most columns in the heading, if the rows below agree.

    What takes the first line for a heading comes before what takes it for a title; of several that
    separate equally many columns, `first` wins. `again` returns the text from its beginning, with
    the ends of its lines as they are.
    """
    widths: dict[str, tuple[bool, int]] = {}
    fitting: set[str] = set()
    for delimiter in sorted(_DELIMITERS, key=lambda each: each != first):
        titles: list[str] = []
        sample = itertools.islice(_records(again(), delimiter, 0), _SAMPLE)
        records = _without_titles(sample, titles)
        try:
            width = len(_heading(records))
            if width > 1:
                widths[delimiter] = (not titles, width)
                if all(len(cells) == width for _, cells in records):
                    fitting.add(delimiter)
        except UploadError:
            continue  # misquoted, if this is the delimiter: the last word has the whole file
    chosen = [delimiter for delimiter in widths if not fitting or delimiter in fitting]
    return max(chosen, key=widths.__getitem__, default=first)


def read_separated(
    stream: io.TextIOWrapper, delimiter: str, before: int, notes: list[str]
) -> tuple[TableRows, list[str]]:
    """Read separated values, lines ending as they are; return their rows and headings.

    `before` lines of the file come before the stream; `notes` gets a sentence on each title and
    comment above the heading. Raises `UploadError` when rows differ in width, quotes do not match,
    or a limit is not kept.
    """
    above: list[str] = []
    records = _without_titles(_records(stream, delimiter, before), above)
    heading = _heading(itertools.islice(records, _LEADING), above)
    notes += [ABOVE.format(one_line(text)) for text in above[:_NAMED]]
    if not heading:
        raise UploadError("The file has no heading; name every column in its first line.")
    width = len(heading)
    check_size(0, width)
    for name in heading:
        check_heading(name)
    rows = TableRows()
    ragged: list[str] = []
    more = 0
    for line, cells in records:
        if len(cells) == width:
            rows.add(cells, line)
        elif len(cells) == 1 and not cells[0].strip():
            continue  # a line of spaces
        elif len(ragged) < _NAMED:
            has = f"line {line} has {count_of(len(cells), 'cell')}"
            ragged.append(has if ragged else f"L{has[1:]}, the heading has {width}")
        else:
            more += 1
    if ragged:
        if more:
            ragged.append(f"…and {count_of(more, 'more line')}")
        title = f", or delete the line “{one_line(heading[0])}” if it is a title"
        mend = f"Quote cells that contain the separator{title if width == 1 else ''}."
        raise UploadError(f"{'; '.join(ragged)}. {mend}")
    return rows, heading


class _Lines:
    """The lines of a text, none of which may be longer than a row.

    `taken`: their characters since somebody set it to 0, which is done for every row.
    """

    def __init__(self, stream: io.TextIOWrapper) -> None:
        self.taken = 0
        self._stream = stream

    def __iter__(self) -> Iterator[str]:
        for line in self._stream:
            self.taken += len(line)
            if self.taken > limits.MAX_ROW:
                raise _TooLongError
            yield line


class _TooLongError(Exception):
    """A row that is longer than a row may be."""


def _records(
    stream: io.TextIOWrapper, delimiter: str, before: int
) -> Iterator[tuple[int, list[str]]]:
    """Yield the line on which a record begins, and its cells; blank lines are left out."""
    lines = _Lines(stream)
    # Strict: otherwise a quote that is never closed swallows the rest of the file unnoticed.
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    while True:
        begins = before + reader.line_num + 1
        lines.taken = 0
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise UploadError(_quoting_error(begins, str(error))) from error
        except _TooLongError as error:
            raise too_long_a_row(begins) from error
        if cells:
            yield begins, [*map(as_it_was, cells)]


def _without_titles(
    records: Iterator[tuple[int, list[str]]], above: list[str] | None = None
) -> Iterator[tuple[int, list[str]]]:
    """Yield the records but for lines of one text that stand above the headings of a table.

    They are titles if they are words above three columns or more, or if the table shows that it is
    one. `above` gets their texts.
    """
    titles: list[tuple[int, list[str]]] = []
    for record in records:
        cells = record[1]
        if len(titles) < _TITLES and not "".join(cells[1:]).strip():
            titles.append(record)
            continue
        ahead = list(itertools.islice(records, _AHEAD)) if titles else []
        texts = [text for _, (text, *_) in titles if text.strip()]
        are_words = all(" " in text.strip() for text in texts) and len(cells) > 2
        if not are_words and not heads_a_table(cells, [each for _, each in ahead], texts):
            yield from titles
        elif above is not None:
            above += map(one_line, texts)
        yield record
        yield from ahead
        yield from records
        return
    yield from titles


def _quoting_error(line: int, error: str) -> str:
    if "field larger" in error:
        return (
            f'Line {line}: a cell has more than {limits.MAX_CELL:,} characters, or the quote (") '
            "that opens it is never closed; shorten the cell, or close the quote."
        )
    if "end of data" in error:
        return (
            f'Line {line}: a quote (") opens a cell and is never closed; close it, and write a '
            'quote that belongs to a cell twice ("").'
        )
    return (
        f'Line {line}: after the quote (") that closes a cell there is more text; write a quote '
        'that belongs to a cell twice ("") and put the whole cell in quotes.'
    )


def _heading(records: Iterator[tuple[int, list[str]]], above: list[str] | None = None) -> list[str]:
    """Return the first record with any text that is no comment and no title.

    Spreadsheets put lines of separators before it, and titles: one cell of several words, and then
    as many separators as the table has. `above` gets the texts of these.
    """
    for _, cells in records:
        text = "".join(cells).strip()
        alone = bool(text) and cells[0].strip() == text
        is_title = alone and (text[0] == "#" or (len(cells) > 2 and " " in text))
        if text and not is_title:
            return cells
        if is_title and above is not None:
            above.append(text)
    return []
