"""What the environment says, and that nothing unreadable in it widens a permission."""

import pytest

from core import settings
from core.settings import SettingError

SECRET = "sk-typed-in-the-wrong-place"


@pytest.fixture(autouse=True)
def nothing_said(monkeypatch):
    ours = (settings.PUBLIC, settings.BUDGET, settings.PUBLIC_KEYS, settings.PUBLIC_BUDGET)
    for name in (*ours, settings.ALLOWED_HOSTS, settings.HISTORY):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize(
    ("public", "said"),
    [(True, ["1", "true", "yes", "on", " 1 ", "perhaps"]), (False, ["", " ", "0", "false", "No"])],
)
def test_a_server_is_public_unless_that_is_denied(monkeypatch, public, said):
    assert not settings.is_public()
    for value in said:
        monkeypatch.setenv("BELIEVE_PUBLIC", value)
        assert settings.is_public() == public


@pytest.mark.parametrize("name", ["BELIEVE_BUDGET", "BELIEVE_PUBLIC_BUDGET"])
def test_a_budget_is_a_whole_number_or_the_usual_one(monkeypatch, name):
    read = {"BELIEVE_BUDGET": settings.budget, "BELIEVE_PUBLIC_BUDGET": settings.public_budget}
    for said, calls in (("", 2000), ("0", 0), (" 12 ", 12), ("1000000", 1_000_000)):
        monkeypatch.setenv(name, said)
        assert read[name]() == calls
    for said in ("-1", "12.5", "1e9", "12 calls", "²", "٣", SECRET):
        monkeypatch.setenv(name, said)
        with pytest.raises(SettingError, match=f"{name} is not a whole number") as caught:
            read[name]()
        assert SECRET not in str(caught.value)


def test_history_is_everyones_or_ones_own_or_left_to_the_address(monkeypatch):
    for said, read in (("", ""), (" ", ""), ("own", "own"), (" Everyone ", "everyone")):
        monkeypatch.setenv("BELIEVE_HISTORY", said)
        assert settings.sharing() == read
    monkeypatch.setenv("BELIEVE_HISTORY", SECRET)
    with pytest.raises(SettingError, match="BELIEVE_HISTORY is neither") as caught:
        settings.check()
    assert SECRET not in str(caught.value)


def test_what_a_private_server_does_not_read_is_not_checked(monkeypatch):
    monkeypatch.setenv("BELIEVE_PUBLIC_BUDGET", "all")
    settings.check()
    monkeypatch.setenv("BELIEVE_BUDGET", "all")
    with pytest.raises(SettingError, match="BELIEVE_BUDGET"):
        settings.check()


def test_a_host_that_no_server_has_is_named_and_allows_none(monkeypatch):
    monkeypatch.setenv("BELIEVE_ALLOWED_HOSTS", " Model.example , 127.0.0.1:80,[::1]:8000,")
    settings.check()
    for said in ("http://model.example", "model.example/v1", "a.example b.example", "*.a", "::1"):
        monkeypatch.setenv("BELIEVE_ALLOWED_HOSTS", said)
        with pytest.raises(SettingError, match="BELIEVE_ALLOWED_HOSTS names something"):
            settings.check()
    monkeypatch.setenv("BELIEVE_ALLOWED_HOSTS", ",")
    assert settings.allowed_hosts()  # of none: nothing is not any
