"""Files of others on the page: what a person is asked before a result, counted by opening it."""

import os
from pathlib import Path

import pytest

from core.data.tabular import isolation, uploads
from tests.sessions import badges, session, settled

FOLDER = Path(os.environ.get("BELIEVE_TEST_DATA", ""))
pytestmark = pytest.mark.skipif(
    not os.environ.get("BELIEVE_TEST_DATA"), reason="BELIEVE_TEST_DATA names no folder of files"
)
ASKED, UNCERTIFIED = "Your answer is needed", "Cannot be promised"
#: What the page shows once a file is there: questions wait for Start.
QUESTIONS = {
    *("foreign_files/g10", "foreign_files/g11", "foreign_files/g13", "foreign_files/g17"),
    *("foreign_files/g19", "foreign_files/g20", "nq_open/NQ", "ambignq/dev", "triviaqa_evouna/TQ"),
    "triviaqa_sample/triviaqa",
}
RESULTS = {
    **dict.fromkeys(("g01", "g02", "g08", "g12", "g15", "g16", "g18"), UNCERTIFIED),
    # A score without a mistake, predictions beside references, a direction that nothing says, two
    # filters.
    **dict.fromkeys(("g03", "g05", "g06", "g07", "g14", "g21", "g04", "g22", "g09"), ASKED),
}


@pytest.fixture(autouse=True)
def read_here(monkeypatch):
    monkeypatch.setattr(isolation, "parse_isolated", lambda *file, **_: uploads.parse(*file))


def shown(page, place):
    """Upload a file; return the badges of the page and whether it offers to ask its questions."""
    (path,) = FOLDER.glob(f"{place}*[nlvx]")  # and no licence
    file = path.name, path.read_bytes(), "text/plain"
    settled(page.file_uploader(key="labelled_file").set_value(file).run())
    return badges(page), any(button.key == "start_run" for button in page.button)


def test_nothing_is_asked_where_the_file_settles_it_and_nothing_promised_where_not(fresh):
    page = session("calibration")
    for place in sorted(QUESTIONS):
        assert shown(page, place) == ([], True), place
    for place, expected in RESULTS.items():
        assert shown(page, f"foreign_files/{place}") == ([expected], False), place
