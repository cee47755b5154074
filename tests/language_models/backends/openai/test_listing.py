"""The models that a server lists: hostile text, or a sentence where it lists none."""

import pytest

from core.language_models.backends.openai.listing import LONGEST, MOST, model_names
from core.language_models.errors import ModelError, NeedsKeyError, RefusedError
from core.language_models.registry import model_names as by_kind
from tests.language_models.openai_server import serving

KEY = "sk-listing-0123456789"


def listing(*ids):
    return {"data": [{"id": name} for name in ids]}


def test_a_server_is_asked_once_and_its_names_come_in_order():
    with serving("none", key=KEY, models=listing("b", "a@x", "b", "meta/llama:7b")) as server:
        assert model_names(f"{server.base_url}/", KEY) == ("a@x", "b", "meta/llama:7b")
        assert by_kind("openai", server.base_url, KEY) == ("a@x", "b", "meta/llama:7b")
        assert server.listings == ["/v1/models"] * 2
        with pytest.raises(NeedsKeyError) as caught:
            model_names(server.base_url, "sk-wrong-9876543210")
    assert "9876543210" not in str(caught.value)


def test_what_cannot_be_typed_is_left_out_and_a_list_has_an_end():
    wrong = ["", " a", "a\nb", "a\u202eb", "x" * (LONGEST + 1), 7, None, ["a"], "\ud800\n"]
    names = [f"m{i:05d}" for i in range(MOST + 5)]
    with serving("none", models=listing(*wrong, *names)) as server:
        assert model_names(server.base_url) == tuple(names[:MOST])


def test_a_bare_list_is_read_as_well():
    with serving("none", models=[{"id": "m"}, "n", {"name": "o"}]) as server:
        assert model_names(server.base_url) == ("m",)


@pytest.mark.parametrize("models", ["none", {}, {"data": 3}, listing(), listing(""), "x", 3])
def test_a_server_that_lists_none_gets_a_sentence(models):
    with serving("none", models=models) as server, pytest.raises(ModelError) as caught:
        model_names(server.base_url)
    assert str(caught.value).endswith(("Type the name of one.", "Try again."))


def test_where_believe_may_not_go_nothing_is_asked(monkeypatch):
    monkeypatch.setenv("BELIEVE_PUBLIC", "1")
    with serving("none") as server, pytest.raises(RefusedError, match="not on the public"):
        model_names(server.base_url)
    assert not (server.exchanges or server.listings)
    with pytest.raises(ModelError, match=r"cannot be read|begins with|has characters"):
        model_names("nonsense")
    with pytest.raises(ModelError, match="begins with http"):
        model_names("gopher://models.example/v1")
