"""A public demo without a browser: strangers share the server, and nothing else."""

import pytest
import streamlit as st

from core.language_models.backends.embedded.model import EmbeddedModel
from core.language_models.usage import Budget
from core.studies.calibration.example import EXAMPLE
from core.ui import lending
from core.ui.calibration.ledger import ONLY_HERE
from tests.language_models import gemini_server
from tests.language_models.openai_server import serving
from tests.sessions import (
    QUERY,
    badges,
    choose,
    database,
    go,
    keys,
    listed,
    metrics,
    press,
    said,
    session,
    settled,
    texts,
    tree,
)

READY = "embedded: ready."
KEY = "sk-of-the-owner"
OWNERS = "the key of this server’s owner"
GONE = "The owner of this server pays for {} calls by all visitors together"


@pytest.fixture(autouse=True)
def public(on_ones_own, monkeypatch):
    monkeypatch.setenv("BELIEVE_PUBLIC", "1")
    monkeypatch.setattr(lending, "LENT", Budget(0, used_up=lending.USED_UP))


@pytest.fixture
def anywhere(monkeypatch):
    """This machine counts as a part of the public internet: the servers of tests run on it."""
    monkeypatch.setattr("core.language_models.backends.openai.address.is_global", lambda _: True)


# -------------------------------------------------------------------------- strangers


def test_each_sees_only_what_it_asked_itself():
    pages = [session("inspection", q=query) for query in (QUERY, "Name a fish")]
    for page, mine in zip(pages, (QUERY, "Name a fish"), strict=True):
        settled(go(page, "history").run())
        assert [row["title"] for group in listed(page) for row in group] == [mine]
        assert said(page, "This is a public demo: the list ends with this browser session.")
    assert not listed(session("history"))
    (row,) = listed(pages[0])[0]
    for name in ("inspection", "amplification", "calibration"):
        other = session(name, saved=row["id"])
        assert said(other, "This result is not here") and "leave_kept" not in keys(other)
        press(other, "close_notice")
        assert "saved" not in other.query_params


def test_what_was_computed_for_one_is_not_there_for_another(monkeypatch):
    drawn, draw = [], EmbeddedModel.sample

    def counted(self, prompt, count, **options):
        drawn.append(count)
        return draw(self, prompt, count, **options)

    monkeypatch.setattr(EmbeddedModel, "sample", counted)
    one = session("inspection", q=QUERY)
    first = list(drawn)
    two = session("inspection", q=QUERY)
    assert first and drawn == first * 2 and metrics(one) == metrics(two)
    case = {"query": "What is the capital of Spain?", "answer": "Madrid", "repeated": "Paris"}
    one, two = (session("amplification", **case) for _ in range(2))
    assert one.session_state["_shared_curves"] is not two.session_state["_shared_curves"]


def test_nothing_is_kept_for_the_process_or_in_the_database_of_the_owner(monkeypatch, tmp_path):
    monkeypatch.setenv("BELIEVE_DATABASE_URL", f"sqlite:///{tmp_path}/owner.db")
    session("inspection", q=QUERY)
    assert not list(tmp_path.iterdir())
    monkeypatch.delenv("BELIEVE_PUBLIC")
    assert not listed(session("history")) and QUERY not in database()


def test_the_model_of_one_is_not_the_model_of_another(anywhere, choosing):
    one = session("inspection", q=QUERY)
    with serving("echo", key="sk-very-secret-4711") as server:
        choose(one, server.base_url, server.model, "sk-very-secret-4711")
        assert said(one, f"openai:{server.model}@{server.base_url}: ready.")
        two = session("inspection", q=QUERY)
        assert READY in texts(two) and server.model not in tree(two)


# -------------------------------------------------------------------- what is refused


def test_no_files_of_the_server_are_opened(choosing):
    page = session("inspection", q=QUERY)
    before = metrics(page)
    page.radio(key="model_kind").set_value("hf").run()
    for name in ("gpt2", "/etc", "../../etc/passwd", ""):
        page.text_input(key="hf_name").set_value(name).run()
        press(page, "use_model")
        assert said(page, "This is a public demo: it opens no files of the server.")
        assert READY in texts(page) and metrics(page) == before


def test_no_address_leads_into_the_machine_or_the_network_behind_it():
    """Every way to write one is tried below tests/language_models and tests/wire."""
    page = session("home")
    with serving("echo") as server:
        port = server.base_url.rpartition(":")[2]
        for url in (f"http://127.0.0.1:{port}", "http://[fd00::1]/v1", "http://169.254.169.254/v1"):
            choose(page, url, server.model)
            assert said(page, "The model you chose is not available: ")
            assert said(page, "is not on the public internet") and READY in texts(page)
        assert not server.exchanges


def test_a_setting_that_cannot_be_read_stops_a_page_with_a_sentence(monkeypatch):
    """Every setting is tried in tests/test_settings.py."""
    monkeypatch.setenv("BELIEVE_PUBLIC_KEYS", "sk-typed-in-the-wrong-place")
    page = session("home")
    assert said(page, "BELIEVE_PUBLIC_KEYS ") and said(page, "If you run this server")
    assert "use_model" not in keys(page) and "wrong-place" not in "".join(texts(page))


# ---------------------------------------------------------------- the keys of the owner


@pytest.fixture
def owned(anywhere, monkeypatch):
    """The owner has a key, and permits servers of this machine."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("BELIEVE_ALLOWED_HOSTS", "127.0.0.1")


@pytest.fixture
def lent(owned, monkeypatch):
    monkeypatch.setenv("BELIEVE_PUBLIC_KEYS", "OPENAI_API_KEY")


def visitor(server, key=""):
    """Choose the server in a new session, as a visitor does and again after a reload."""
    page = session("inspection", q=QUERY)
    choose(page, server.base_url, server.model, key)
    return page


@pytest.mark.parametrize("named", ["", "GOOGLE_API_KEY"])
def test_no_key_is_lent_that_the_owner_did_not_name(owned, monkeypatch, named):
    """A stranger types an address; what the owner's environment holds must not be sent there."""
    monkeypatch.setenv("BELIEVE_PUBLIC_KEYS", named)
    with serving("echo", key=KEY) as server:
        page = visitor(server)
        assert said(page, "The model you chose needs a key: ") and READY in texts(page)
        assert server.exchanges and not [e for e in server.exchanges if KEY in str(e.headers)]
    assert not said(page, "owner is used") and not lending.LENT.requests


def test_before_a_model_is_chosen_the_page_says_whose_key_is_used(lent, choosing, monkeypatch):
    page = session("home")
    page.radio(key="model_kind").set_value("openai").run()
    page.selectbox(key="openai_preset").set_value("Together").run()
    assert not said(page, "owner is used")  # the key goes to OpenAI, and where the owner says
    page.selectbox(key="openai_preset").set_value("OpenAI").run()
    assert not said(page, "owner is used")  # here the owner says so of 127.0.0.1 alone
    monkeypatch.delenv("BELIEVE_ALLOWED_HOSTS")
    assert said(page.run(), "Without your own key, the key of this server’s owner is used. It")
    monkeypatch.setenv("GOOGLE_API_KEY", gemini_server.KEY)
    page.radio(key="model_kind").set_value("gemini").run()
    press(page, "use_model")
    assert said(page, "The model you chose needs a key: Gemini needs a key: type one")
    monkeypatch.setenv("BELIEVE_PUBLIC_KEYS", "GOOGLE_API_KEY")
    assert said(page.run(), "the key of this server’s owner is used. It covers 2,000 calls more")
    page.text_input(key="gemini_key").set_value("of-ones-own").run()
    assert not said(page, "owner is used")


def test_a_lent_key_is_said_and_counted(lent, monkeypatch):
    monkeypatch.setenv("BELIEVE_PUBLIC_BUDGET", "50")
    with serving("echo", key=KEY) as server:
        page = visitor(server)
        used = len(server.exchanges)
        left = f"It covers {50 - used} calls more, by all visitors together."
        assert said(page, ": ready.") and said(page, f"Calls use {OWNERS}. {left}")
        assert said(page, f"The key of this server’s owner is used. {left}")  # where one pays
        press(page, "pay_inspection")
        assert metrics(page) and lending.LENT.requests == len(server.exchanges) > used
        assert KEY not in tree(page)


def test_a_reload_gives_no_new_money_and_who_types_a_key_takes_nothing(lent, monkeypatch):
    monkeypatch.setenv("BELIEVE_PUBLIC_BUDGET", "13")
    with serving("none", key=KEY) as server:
        page = visitor(server)
        press(page, "pay_inspection")
        settled(page.run())
        assert said(page, GONE.format(13)) and said(page, "enter your own key")
        assert len(server.exchanges) == 13 and not metrics(page)
        for forget in (False, True):
            if forget:  # as every visitor's browser can ask of Streamlit
                st.cache_resource.clear()
                st.cache_data.clear()
            again = visitor(server)  # what the server can do is known by now; its form is not
            assert said(again, GONE.format(13)) and READY in texts(again)
            assert said(again, "Its budget is used up: enter your own key")
            assert len(server.exchanges) == 13
        own = visitor(server, KEY)
        press(own, "pay_inspection")
        assert metrics(settled(own.run())) and len(server.exchanges) > 26
        assert not said(own, f"Calls use {OWNERS}") and lending.LENT.requests == 13


def test_finding_out_what_a_server_can_do_never_takes_more_than_there_is(lent, monkeypatch):
    """It fails, and is tried again: every try counts, before it is made."""
    monkeypatch.setenv("BELIEVE_PUBLIC_BUDGET", "3")
    with serving("none", key=KEY, before=lambda *_: (500, {}, b"{}")) as server:
        page = visitor(server)
        assert said(page, GONE.format(3)) and READY in texts(page)
        assert len(server.exchanges) == lending.LENT.requests == 3


# -------------------------------------------------------------------------- the budget


def test_the_budget_is_never_more_than_the_owner_allows_and_may_be_lowered(anywhere, monkeypatch):
    monkeypatch.setenv("BELIEVE_BUDGET", "13")
    page = session("inspection", q=QUERY)
    with serving("none") as server:
        choose(page, server.base_url, server.model)
        probes = len(server.exchanges)
        field = page.run().number_input(key="budget_calls")
        assert (field.value, field.max) == (13, 13)
        for wanted, given in ((11, 11), (1_000_000, 13)):
            settled(page.number_input(key="budget_calls").set_value(wanted).run())
            assert said(page, f" {given - probes} calls are left in the budget.")
        press(page, "pay_inspection")
        settled(page.run())
        assert len(server.exchanges) == 13 and said(page, "The budget of 13 calls is used")
        assert not metrics(page)


def test_a_file_and_a_policy_end_with_the_session_and_the_page_says_so():
    page, own = session("calibration"), EXAMPLE.read_bytes() + b"\n"
    page.file_uploader(key="labelled_file").set_value(("mine.csv", own, "text/csv")).run()
    settled(page)
    assert said(page, "Looks at these labels are counted in this session only.")
    assert said(page, "This public demo saves no files.") and "file" not in page.query_params
    page.button(key="use_policy").click().run()
    settled(page.run())
    assert "policy" not in page.query_params
    assert any("a reload of the page goes back" in caption.value for caption in page.caption)
    again = session("calibration", **page.query_params)
    assert "Example: 1,994 questions" in badges(again) and not said(again, "mine.csv")


def test_a_confirmation_says_that_looks_of_other_sessions_are_not_counted():
    page = session("calibration")
    page.toggle(key="hold").set_value(True).run()
    own = EXAMPLE.read_bytes() + b"\n"
    page.file_uploader(key="labelled_file").set_value(("mine.csv", own, "text/csv")).run()
    press(settled(page), "confirm")
    assert [*texts(page)].count(ONLY_HERE) == 2
