"""Addresses that anybody may have written: never a traceback, and a sentence where one is wrong."""

import ast
import json
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from core.ui import addresses
from tests.sessions import ROOT, press, said, session

WORLD, MECHANISM = {"tab": "The embedded world"}, {"tab": "The mechanism"}
BOUND: dict[str, list[list[Any]]] = {
    "inspection": [["k", "temperature", "seed", "gamma_1", "gamma_2", "similarity", "tau"]],
    "amplification": [
        ["most", "scale", "tab"],
        [WORLD, "each", "draw"],
        [MECHANISM, "in_span", "copies", "dimension", "heads_at"],
    ],
    "calibration": [["method", "alpha", "confidence"]],
    "questions": [["words", "subject", "band"]],
    "history": [["history_words", "history_kind", "saved"]],
}
TYPED = {"inspection": ["q"], "amplification": ["query", "answer", "repeated", "kept"]}

HALF_A_SURROGATE = b"\xed\xa0\xbd"  # as an address spells it
INFINITE = ("inf", "-inf", "1e999", "-1e999", "9" * 400)
NONE = ("nan", "1e308", "-1", "²", "ten", "\x00", HALF_A_SURROGATE, "[1]", "[" * 5000)
RIGHT = ("7", "٧", " 7 ", "7.0", "")  # numbers in range, however they are written; or nothing


def one_number():
    import streamlit as st

    from core.ui.addresses import number

    st.text(f"chosen {number('k', 1, 300, 10)}")


def opened(value):
    app = AppTest.from_function(one_number)
    app.query_params["k"] = value
    app.run()
    assert not app.exception
    return app


@pytest.mark.parametrize("value", [*INFINITE, *NONE, "0", "301"])
def test_what_is_no_number_in_range_gives_way_to_the_default_and_is_said(value):
    app = opened(value)
    assert said(app, "chosen 10")
    (sentence,) = said(app, "The address gives k = ")
    assert "not a number from 1 to 300: 10 is used" in sentence
    assert "k" not in app.query_params
    assert len(sentence) < 160 and sentence.isprintable()


@pytest.mark.parametrize("value", RIGHT)
def test_a_number_in_range_is_taken_without_a_word(value):
    app = opened(value)
    assert said(app, "chosen 7" if value else "chosen 10")
    assert not said(app, "The address gives")


def test_the_sentence_stays_until_another_number_is_chosen_and_that_stands_in_the_address():
    app = opened("inf").run()
    assert said(app, "The address gives k = inf")
    app.number_input(key="k").set_value(20).run()
    assert said(app, "chosen 20") and not said(app, "The address gives")
    app.number_input(key="k").set_value(10).run()
    assert not said(app, "The address gives")


@pytest.mark.parametrize("value", ["1e999", HALF_A_SURROGATE])
@pytest.mark.parametrize(
    ("page", "keys"), [(page, keys) for page, groups in BOUND.items() for keys in groups]
)
def test_no_address_makes_a_page_fail(page, keys, value):
    tab = next((key for key in keys if isinstance(key, dict)), {})
    app = session(page, **{key: value for key in keys if isinstance(key, str)}, **tab)
    if page == "calibration":
        press(app, "use_example")
    wrong = {sentence.split()[3] for sentence in said(app, "The address gives ")}
    assert wrong == addresses.LABELS.keys() & set(map(str, keys))


@pytest.mark.parametrize("page", TYPED)
@pytest.mark.parametrize("value", ["\x00", HALF_A_SURROGATE, "[" * 5000])
def test_no_typed_text_makes_a_page_fail(page, value):
    session(page, **dict.fromkeys(TYPED[page], value))


def test_half_a_surrogate_that_json_spells_is_no_case():
    session("amplification", kept=json.dumps(["\ud83d", "a", "b"]))


def test_every_name_in_an_address_is_tried_here():
    groups = [group for groups in BOUND.values() for group in groups] + [*TYPED.values()]
    assert keys_in_addresses() <= {key for group in groups for key in group if isinstance(key, str)}


def keys_in_addresses() -> set[str]:
    """Return the keys of all widgets that stand in the address."""
    found = set(addresses.LABELS)
    for path in [*(ROOT / "core/ui").rglob("*.py"), *(ROOT / "pages").glob("*.py")]:
        for node in ast.walk(ast.parse(Path(path).read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                named = {k.arg: k.value for k in node.keywords}
                key = named.get("key")
                if "bind" in named and isinstance(key, ast.Constant):
                    found.add(str(key.value))
    return found
