"""The presentation's last place: the address of the page, for others to open."""

import pytest

from core.ui.components import presentation
from core.ui.components.presentation import LONGEST, code

OPEN = "https://believe.example/demo/"


@pytest.fixture
def shown(monkeypatch):
    """Return what the browser is handed for an address."""

    def hand(url):
        found = []
        monkeypatch.setattr(presentation, "mount", lambda *, data, **_: found.append(data))
        presentation.presentation((), url, key="x")
        return found[0]

    return hand


@pytest.mark.parametrize(
    "url",
    [OPEN, f"{OPEN}?q=private", f"{OPEN}#here", "https://name:password@believe.example/demo/"],
)
def test_others_get_the_address_and_nothing_private(shown, url):
    data = shown(url)
    assert (data["address"], data["here"], data["code"]) == (OPEN, False, code(OPEN))


@pytest.mark.parametrize(
    "url", ["http://localhost:8501/", "http://127.0.0.1:8501/", "http://[::1]:8501/"]
)
def test_an_address_of_this_computer_has_no_code(shown, url):
    data = shown(url)
    assert (data["address"], data["here"], data["code"]) == (url, True, [])


@pytest.mark.parametrize(
    "url", ["", "http://[", "javascript:alert(1)", "https://", OPEN + LONGEST * "x"]
)
def test_what_is_no_address_of_a_page_is_not_shown(shown, url):
    assert (shown(url)["address"], shown(url)["code"]) == ("", [])


def test_a_code_is_a_square_with_three_finders():
    rows = code(OPEN)
    assert len(rows) % 4 == 1 and {len(row) for row in rows} == {len(rows)}
    finder = ["1111111", "1000001", "1011101", "1011101", "1011101", "1000001", "1111111"]
    assert [row[:7] for row in rows[:7]] == [row[-7:] for row in rows[:7]] == finder
    assert [row[:7] for row in rows[-7:]] == finder
    assert rows != code(OPEN.replace("demo", "else"))
