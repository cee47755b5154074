"""The file of a report: hostile text stays text, numbers stay numbers, nothing is asked for."""

from datetime import UTC, datetime

import pytest

from core.reports.report import MOST_ROWS, Part, Report, Table, display
from core.reports.result_files import FROM_FILE
from tests.hostile import ANY_TEXTS
from tests.reports.reading import read


def report(text="A", table=None):
    tables = [Table(text, table or {text: [text], "number": [1.5]})]
    parts = [Part(text, texts=[text], tables=tables, code=[text])]
    return Report(text, text, text, parts, {"Name": text}, [text], [text])


@pytest.mark.parametrize("text", [text for text in ANY_TEXTS if text])
def test_hostile_text_stays_text_wherever_it_stands(text):
    found = read(report(text))
    plain = read(report())
    assert [tag for tag, _ in found.tags] == [tag for tag, _ in plain.tags]
    alike = text.replace("\r\n", "\n")
    said = [each.replace("\r\n", "\n") for each in found.texts]
    assert said.count(alike) == plain.texts.count("A")
    assert found.settings["Name"] == text
    assert found.tables[text] == [[text, "number"], [text, "1.5"]]


def test_it_says_when_it_was_written_and_where_it_came_from():
    saved = datetime(2026, 1, 2, 3, 4, tzinfo=UTC)
    (when,) = [text for text in read(report(), saved=saved).texts if "2026-01-02 03:04" in text]
    assert when.startswith("Written 20")
    assert FROM_FILE not in read(report()).texts
    assert FROM_FILE in read(report(), warning=FROM_FILE).texts


def test_long_tables_say_what_they_leave_out():
    rows = MOST_ROWS + 1234
    found = read(report(table={"number": list(range(rows)), "other": ["x"] * rows}))
    assert len(found.tables["A"]) == 1 + MOST_ROWS
    assert [text for text in found.texts if text.startswith("1,234 more rows")]


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        *((None, "–"), (True, "yes"), (False, "no"), (12345, "12,345"), (-2, "−2")),
        *(
            (0.123456, "0.1235"),
            (0.9999958, "0.999996"),
            (1.0, "1"),
            (-1.5, "−1.5"),
            (float("inf"), "∞"),
            ("a-b", "a-b"),
        ),
    ],
)
def test_cells_are_written_as_people_read_them(cell, text):
    assert display(cell) == text


def test_columns_of_numbers_stand_on_the_right():
    columns = {
        "words": ["a-1", "2"],
        "shares": ["5.3%", "−0.1%"],
        "numbers": [1, None],
        "none": [None, None],
    }
    assert Table("t", columns).numeric == (False, True, True, False)
