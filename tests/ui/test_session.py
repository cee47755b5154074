"""What a session remembers: the same object is not computed twice, another one is."""

import pytest
from streamlit.testing.v1 import AppTest


def script():
    import streamlit as st

    from core.ui.session import remembered

    made = st.session_state.setdefault("made", [])
    given = st.session_state["given"]  # an object and a key

    def make():
        if given[1] == "bad":
            raise ValueError("This cannot be made.")
        made.append(given[1])
        return len(made)

    try:
        st.text(str(remembered("thing", given[0], make, given[1])))
    except ValueError as error:
        st.text(str(error))
    st.text(str(remembered("other thing", given[0], lambda: "other")))


@pytest.fixture
def shown():
    app = AppTest.from_function(script, default_timeout=60)

    def show(of, key=None):
        app.session_state["given"] = (of, key)
        app.run()
        assert not app.exception
        assert app.text[1].value == "other"  # what has another name is kept beside it
        return app.text[0].value

    return show


def test_the_same_object_is_computed_once(shown):
    table = [1, 2]
    assert [shown(table), shown(table)] == ["1", "1"]


def test_an_equal_object_is_another_one(shown):
    """Tables cannot be compared as a whole: that would cost what is to be saved."""
    assert [shown([1, 2]), shown([1, 2])] == ["1", "2"]


def test_another_key_is_another_thing_and_only_the_last_is_kept(shown):
    table = [1, 2]
    assert [shown(table, "a"), shown(table, "b"), shown(table, "b")] == ["1", "2", "2"]
    assert shown(table, "a") == "3"


def test_a_failure_is_not_kept_and_loses_nothing(shown):
    table = [1, 2]
    assert shown(table, "a") == "1"
    assert [shown(table, "bad"), shown(table, "bad")] == ["This cannot be made."] * 2
    assert shown(table, "a") == "1"
