"""What a tab of the browser says of what stood in it before: a text, or nothing."""

from functools import partial

import pytest

from core.ui.components import tab_memory
from core.ui.components.tab_memory import text_of

name_of = partial(text_of, most=500, lines=False)


def test_a_text_is_taken_as_it_is():
    assert name_of({"before": "openai:m@http://localhost:1/v1"}) == "openai:m@http://localhost:1/v1"
    assert text_of({"before": "a\nb"}, 3, lines=True) == "a\nb"


@pytest.mark.parametrize(
    "said", [None, 3, [], {}, {"before": None}, {"before": 1}, {"before": ""}, {"before": "a\nb"}]
)
def test_whatever_else_a_browser_sends_is_none(said):
    assert name_of(said) is None
    assert name_of({"before": "x" * 501}) is None


def test_who_signs_in_to_a_tab_does_not_find_what_another_typed_or_chose_there(monkeypatch):
    places = []
    sent = lambda *, data, **_: places.append(data[0]["place"])  # noqa: E731
    monkeypatch.setattr(tab_memory, "mount", sent)
    for who in (None, "https://a.example ann", "https://a.example bob", None):
        monkeypatch.setattr(tab_memory, "person", lambda who=who: who)
        tab_memory.remember("model", "embedded", chosen=True, most=10, lines=False)
        tab_memory.remember_field("claims_text", 10)
    models, fields = places[::2], places[1::2]
    for name, (first, ann, bob, last) in (("model", models), ("claims_text", fields)):
        assert first == last == name and len({first, ann, bob}) == 3
        assert "ann" not in ann and "bob" not in bob
