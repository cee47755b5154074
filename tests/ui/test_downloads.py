"""Tables to take along: the button is there, and what it gives is disarmed."""

from streamlit.testing.v1 import AppTest

from core.ui import downloads
from tests.csv_files import rows_in

FORMULA = '=HYPERLINK("http://192.0.2.1")'


def page():
    from core.ui import downloads

    downloads.table({"=heading": ["=1+1", "plain"], "number": [-1.5, None]}, "mine")


def test_a_table_is_offered_as_a_file():
    app = AppTest.from_function(page).run()
    assert not app.exception
    (button,) = app.get("download_button")
    assert button.proto.label == "Table (CSV)"


def test_the_file_is_disarmed_and_keeps_its_numbers(monkeypatch):
    given = {}
    monkeypatch.setattr(
        downloads.st, "download_button", lambda label, data, **how: given.update(how, data=data)
    )
    downloads.table({"=heading": [FORMULA, "plain"], "number": [-1.5, None]}, "mine")
    assert (given["file_name"], given["mime"]) == ("mine.csv", "text/csv")
    rows = rows_in(given["data"]())
    assert rows == [["'=heading", "number"], [f"'{FORMULA}", "-1.5"], ["plain", ""]]
