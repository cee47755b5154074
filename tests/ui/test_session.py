"""Who somebody is, and what a session remembers: nothing is computed twice of one object."""

from types import SimpleNamespace

import numpy as np
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from core.store.database import open_database
from core.store.results import THIS_COMPUTER
from core.ui import session
from core.ui.calibration import ledger
from tests.patience import LONG
from tests.studies.calibration.tables import rows_of_arrays


def script():
    import streamlit as st

    from core.ui.session import memory_of

    made = st.session_state.setdefault("made", [])
    given = st.session_state["given"]  # an object and a key

    def make():
        if given[1] == "bad":
            raise ValueError("This cannot be made.")
        made.append(given[1])
        return len(made)

    try:
        st.text(str(memory_of("thing", given[0], make, given[1])))
    except ValueError as error:
        st.text(str(error))
    st.text(str(memory_of("other thing", given[0], lambda: "other")))


@pytest.fixture
def shown():
    app = AppTest.from_function(script, default_timeout=LONG)

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


# ------------------------------------------------------------------------- whose results


@pytest.fixture
def server(monkeypatch):
    """Return a function that sets where a server listens, under which names, and who came."""
    monkeypatch.delenv("BELIEVE_HISTORY", raising=False)

    def set_up(address="localhost", names=("localhost", "127.0.0.1", "::1"), **user):
        options = {"server.address": address, "server.allowedHosts": list(names)}
        monkeypatch.setattr(st, "get_option", options.__getitem__)
        monkeypatch.setattr(type(st.user), "to_dict", lambda _: user)

    set_up()
    return set_up


@pytest.mark.parametrize(
    ("alone", "address", "names"),
    [
        *((True, here, ["localhost"]) for here in ("localhost", "127.0.0.1", "127.0.0.2", "::1")),
        *((True, "localhost", names) for names in ([], ["LOCALHOST", "[::1]"])),
        *((False, there, ["localhost"]) for there in (None, "", "0.0.0.0", "::", "192.168.0.7")),
        *((False, there, ["localhost"]) for there in ("unix:///run/believe", "localhost.example")),
        *(
            (False, "localhost", ["localhost", name])
            for name in ("believe.example", "*", "10.0.0.1")
        ),
    ],
)
def test_one_is_alone_where_only_this_computer_reaches_the_server(server, alone, address, names):
    server(address, names)
    assert session.alone() == session.only_here() == alone
    assert (session.owner() == THIS_COMPUTER) == alone


def test_where_people_can_sign_in_one_is_not_alone(server):
    server(is_logged_in=False)
    assert not session.alone() and session.owner().startswith("session ")


def test_a_setting_says_more_than_an_address(server, monkeypatch):
    monkeypatch.setenv("BELIEVE_HISTORY", "own")
    assert not session.alone()
    server("0.0.0.0")
    monkeypatch.setenv("BELIEVE_HISTORY", "everyone")
    assert session.alone() and session.owner() == THIS_COMPUTER


def test_who_may_be_a_stranger_is_one(server, monkeypatch):
    """To whom a key of the environment must not go: also behind a proxy of this machine."""
    assert not session.has_strangers()
    for variable, value in (("BELIEVE_HISTORY", "own"), ("BELIEVE_PUBLIC", "1")):
        with monkeypatch.context() as environment:
            environment.setenv(variable, value)
            assert session.has_strangers() and not session.alone()
    monkeypatch.setenv("BELIEVE_HISTORY", "everyone")
    assert not session.has_strangers()
    server("0.0.0.0")
    assert session.has_strangers()
    server(is_logged_in=False)
    assert session.has_strangers()


def test_who_signed_in_is_the_same_in_every_session_and_nobody_else(server):
    alice = {"is_logged_in": True, "iss": "https://a.example", "sub": "1", "email": "a@x.example"}

    def owner(**said):
        server(**(alice | said))
        return session.owner()

    assert owner() == owner(email="new@x.example")
    others = [owner(sub="2"), owner(iss="https://b.example"), owner(is_logged_in=False)]
    assert len({owner(), *others}) == 4
    assert owner(sub=None) == "person https://a.example a@x.example"
    assert owner(sub=None, email=None).startswith("session ")


def test_looks_that_are_not_counted_are_said(server, monkeypatch, tmp_path):
    def limit(url, **user):
        with open_database(url) as database:
            monkeypatch.setattr(ledger, "storage", lambda: SimpleNamespace(database=database))
            server(**user)
            return ledger.limit_of_count(rows_of_arrays({"s": np.arange(9.0)}, {"s": np.ones(9)}))

    file = f"sqlite:///{tmp_path}/believe.db"
    assert limit(file) == "" and limit("sqlite://") == ledger.ONLY_HERE
    assert limit(file, is_logged_in=False) == ledger.ONLY_HERE
    assert limit(file, is_logged_in=True, sub="1") == ledger.ONLY_OWN
