"""Which keys of the environment are used, for whom, and that nothing unreadable lends one."""

import pytest

from core.language_models import keys
from core.language_models.keys import environment_key, owners_key
from core.language_models.registry import BACK_ENDS
from core.settings import SettingError

SECRET = "sk-typed-in-the-wrong-place"


@pytest.fixture(autouse=True)
def nothing_set(monkeypatch):
    ours = ("BELIEVE_PUBLIC", "BELIEVE_PUBLIC_KEYS", "BELIEVE_ALLOWED_HOSTS")
    for name in (*ours, *(key for back_end in BACK_ENDS.values() for key in back_end.keys)):
        monkeypatch.delenv(name, raising=False)


def test_keys_are_lent_by_name(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", " one ")
    monkeypatch.setenv("GOOGLE_API_KEY", "two")
    names = ("OPENAI_API_KEY", "GOOGLE_API_KEY")
    assert [environment_key(name) for name in names] == ["one", "two"]
    monkeypatch.setenv("BELIEVE_PUBLIC", "1")
    for said, lent in (
        ("", [None, None]),
        (" , ", [None, None]),
        ("GOOGLE_API_KEY", [None, "two"]),
        ("OPENAI_API_KEY ,GOOGLE_API_KEY", ["one", "two"]),
    ):
        monkeypatch.setenv("BELIEVE_PUBLIC_KEYS", said)
        assert [environment_key(name) for name in names] == lent
    monkeypatch.delenv("OPENAI_API_KEY")
    assert environment_key("OPENAI_API_KEY") is None


@pytest.mark.parametrize(
    "said", ["1", "all", "*", "openai_api_key", "HF_TOKEN", f"OPENAI_API_KEY,{SECRET}"]
)
def test_what_names_no_key_lends_none_and_is_not_repeated(monkeypatch, said):
    monkeypatch.setenv("BELIEVE_PUBLIC", "1")
    monkeypatch.setenv("OPENAI_API_KEY", "one")
    monkeypatch.setenv("BELIEVE_PUBLIC_KEYS", said)
    for read in (keys.check, lambda: environment_key("OPENAI_API_KEY")):
        with pytest.raises(SettingError, match="BELIEVE_PUBLIC_KEYS contains something") as caught:
            read()
        assert SECRET not in str(caught.value)


def test_the_owner_has_every_key(monkeypatch):
    monkeypatch.setenv("BELIEVE_PUBLIC", "1")
    monkeypatch.setenv("OPENAI_API_KEY", "one")
    for name in ("openai:m", "openai:m@http://localhost:8000/v1", "ollama:m"):
        assert owners_key(name) == "one"
    for name in ("gemini:m", "embedded", "hf:m", "unknown:m"):
        assert owners_key(name) is None


def test_names_of_keys_are_not_checked_where_no_stranger_comes(monkeypatch):
    monkeypatch.setenv("BELIEVE_PUBLIC_KEYS", "all")
    keys.check()
