"""CSV as files of people have it, and as ours are read back: text, nothing guessed."""

import csv
import io


def csv_file(heading, rows):
    """The file of a heading and its rows; a cell that needs quotes has them."""
    buffer = io.StringIO()
    csv.writer(buffer).writerows([heading, *rows])
    return buffer.getvalue().encode()


def rows_in(content):
    """The rows of a file, its heading first."""
    return list(csv.reader(io.StringIO(content.decode("utf-8-sig"), newline="")))


def records_in(content):
    """The rows of a file, each by its headings."""
    return list(csv.DictReader(io.StringIO(content.decode("utf-8-sig"), newline="")))
