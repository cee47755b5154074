"""Numbers in an address: taken where they are in range, else refused in a sentence."""

import pytest
from streamlit.testing.v1 import AppTest

from tests.sessions import said

HALF_A_SURROGATE = b"\xed\xa0\xbd"  # as an address spells it
REFUSED = [
    *("inf", "-inf", "1e999", "-1e999", "9" * 400, "nan", "1e308", "-1", "²", "ten", "\x00"),
    *(HALF_A_SURROGATE, "[1]", "[" * 5000, "0", "301"),
]
TAKEN = ("7", "٧", " 7 ", "7.0", "")  # numbers in range, however they are written; or nothing


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


@pytest.mark.parametrize("value", REFUSED)
def test_what_is_no_number_in_range_gives_way_to_the_default_and_is_said(value):
    app = opened(value)
    assert said(app, "chosen 10")
    (sentence,) = said(app, "The address gives k = ")
    assert "not a number from 1 to 300: 10 is used" in sentence
    assert "k" not in app.query_params
    assert len(sentence) < 165 and sentence.isprintable()


@pytest.mark.parametrize("value", TAKEN)
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
