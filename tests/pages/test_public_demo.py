"""A public demo without a browser: strangers share the server, and nothing else."""

import threading

import pytest
import streamlit as st

from core.language_models.backends.embedded.model import EmbeddedModel
from core.language_models.backends.openai.model import OpenAICompatible
from core.language_models.errors import BudgetError
from core.language_models.usage import Budget
from core.ui import lending
from core.ui.session import _of_this_process
from tests.language_models import gemini_server
from tests.language_models.openai_server import serving
from tests.sessions import choose, keys, metrics, press, said, session, settled, texts, tree

QUERY = "Name a mammal"
READY = "embedded: ready."
NOT_PUBLIC = "is not on the public internet"


@pytest.fixture(autouse=True)
def public(monkeypatch):
    for name in (
        "OPENAI_API_KEY",
        "GOOGLE_API_KEY",
        "BELIEVE_BUDGET",
        "BELIEVE_PUBLIC_KEYS",
        "BELIEVE_PUBLIC_BUDGET",
        "BELIEVE_ALLOWED_HOSTS",
    ):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("BELIEVE_PUBLIC", "1")
    monkeypatch.setattr(lending, "LENT", Budget(0, used_up=lending.USED_UP))
    monkeypatch.setattr("core.language_models.client.retry._as_asked", lambda _: 0.0)
    _of_this_process.clear()
    yield
    _of_this_process.clear()


def visit(app, name):
    """Open another page in the same session."""
    other = session(name)
    for key in ("_shared_database", "_shared_recordings", "_shared_curves"):
        if key in app.session_state:
            other.session_state[key] = app.session_state[key]
    return settled(other.run())


# -------------------------------------------------------------------------- strangers


def test_each_sees_only_what_it_asked_itself():
    one, two = session("inspection", q=QUERY), session("inspection", q="Name a fish")
    for app, mine in ((one, QUERY), (two, "Name a fish")):
        results = app.session_state["_shared_database"].results.search()
        assert [result.query for result in results.results] == [mine]
        page = visit(app, "history")
        assert list(page.dataframe[0].value["title"]) == [mine]
        assert said(page, "This is a public demo: the list ends with this browser session.")
    assert not session("history").dataframe


def test_recordings_are_not_shared(monkeypatch):
    drawn, draw = [], EmbeddedModel.sample

    def counted(self, prompt, count, **options):
        drawn.append(count)
        return draw(self, prompt, count, **options)

    monkeypatch.setattr(EmbeddedModel, "sample", counted)
    one = session("inspection", q=QUERY)
    first = list(drawn)
    two = session("inspection", q=QUERY)
    assert first and drawn == first * 2
    ours, theirs = (app.session_state["_shared_recordings"] for app in (one, two))
    assert ours is not theirs and metrics(one) == metrics(two)
    session("inspection", q="Name a fish")
    assert all(len(made._largest) == 1 for made in (ours, theirs))


def test_curves_are_not_shared():
    case = {"query": "What is the capital of Spain?", "answer": "Madrid", "repeated": "Paris"}
    one, two = (session("amplification", **case) for _ in range(2))
    assert one.session_state["_shared_curves"] is not two.session_state["_shared_curves"]


@pytest.mark.parametrize("name", ["inspection", "amplification", "calibration"])
def test_a_link_to_the_result_of_another_opens_nothing(name):
    one = session("inspection", q=QUERY)
    (result,) = one.session_state["_shared_database"].results.search().results
    other = session(name, saved=result.id)
    assert said(other, "This result is not here") and "leave_kept" not in keys(other)
    press(other, "close_notice")
    assert "saved" not in other.query_params


def test_nothing_is_kept_for_the_process_or_in_the_database_of_the_owner(monkeypatch, tmp_path):
    monkeypatch.setenv("BELIEVE_DATABASE_URL", f"sqlite:///{tmp_path}/owner.db")
    session("inspection", q=QUERY)
    assert not list(tmp_path.iterdir()) and not _of_this_process()[1]


def test_the_model_of_one_is_not_the_model_of_another(monkeypatch):
    monkeypatch.setattr("core.language_models.backends.openai.address.is_global", lambda _: True)
    one = session("inspection", q=QUERY)
    with serving("echo", key="sk-very-secret-4711") as server:
        choose(one, server.base_url, server.model, "sk-very-secret-4711")
        assert said(one, f"openai:{server.model}@{server.base_url}: ready.")
        two = session("inspection", q=QUERY)
        assert READY in texts(two) and server.model not in tree(two)


# -------------------------------------------------------------------- what is refused


@pytest.mark.parametrize("name", ["gpt2", "/etc", "../../etc/passwd", ""])
def test_no_files_of_the_server_are_opened(name):
    page = session("inspection", q=QUERY)
    before = metrics(page)
    page.selectbox(key="model_kind").set_value("hf").run()
    page.text_input(key="hf_name").set_value(name).run()
    press(page, "use_model")
    assert said(page, "This is a public demo: it opens no files of the server.")
    assert READY in texts(page) and metrics(page) == before


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1", "localhost", "[::1]", "0.0.0.0", "2130706433", "127.1", "[::ffff:127.0.0.1]"],
)
def test_no_address_leads_into_the_machine(host):
    page = session("inspection", q=QUERY)
    before = metrics(page)
    with serving("echo") as server:
        port = server.base_url.rpartition(":")[2]
        choose(page, f"http://{host}:{port}", server.model)
        assert not server.exchanges
    assert said(page, "The model you chose is not available: ")
    assert READY in texts(page) and metrics(page) == before


@pytest.mark.parametrize("host", ["10.0.0.1", "192.168.1.1", "169.254.169.254", "[fd00::1]"])
def test_no_address_leads_into_the_network_behind_it(host):
    page = session("inspection", q=QUERY)
    choose(page, f"http://{host}/v1", "llama")
    assert said(page, NOT_PUBLIC) and READY in texts(page)


@pytest.mark.parametrize("preset", ["vLLM", "SGLang", "Ollama", "llama.cpp"])
def test_servers_that_usually_stand_on_ones_own_machine_are_refused(preset):
    page = session("inspection", q=QUERY)
    page.selectbox(key="model_kind").set_value("openai").run()
    page.selectbox(key="openai_preset").set_value(preset).run()
    page.text_input(key="openai_name").set_value("llama").run()
    press(page, "use_model")
    assert said(page, NOT_PUBLIC) and READY in texts(page)


def test_the_key_of_the_owner_goes_nowhere(monkeypatch):
    """A stranger types an address; what the owner's environment holds must not be sent there."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-owner")
    monkeypatch.setattr("core.language_models.backends.openai.address.is_global", lambda _: True)
    page = session("inspection", q=QUERY)
    with serving("echo") as server:
        choose(page, server.base_url, server.model)
        assert said(page, ": ready.") and server.exchanges
        assert not any("sk-of-the-owner" in str(e.headers) for e in server.exchanges)


# ---------------------------------------------------------------- the keys of the owner

KEY = "sk-of-the-owner"
OWNERS = "the key of this server's owner"
GONE = "The owner of this server pays for {} calls by all visitors together"


@pytest.fixture
def owned(monkeypatch):
    """The owner has a key, permits servers of this machine, and makes strangers wait for none."""
    monkeypatch.setattr("core.language_models.backends.openai.address.is_global", lambda _: True)
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
    monkeypatch.setenv("BELIEVE_PUBLIC_KEYS", named)
    with serving("echo", key=KEY) as server:
        page = visitor(server)
        assert said(page, "The model you chose needs a key: ") and READY in texts(page)
        assert not any(KEY in str(exchange.headers) for exchange in server.exchanges)
    assert not said(page, "owner is used") and not lending.LENT.used


def test_gemini_is_lent_by_name_as_well(monkeypatch):
    monkeypatch.setenv("GOOGLE_API_KEY", gemini_server.KEY)
    page = session("inspection", q=QUERY)
    page.selectbox(key="model_kind").set_value("gemini").run()
    press(page, "use_model")
    assert said(page, "The model you chose needs a key: Gemini needs a key: type one")
    monkeypatch.setenv("BELIEVE_PUBLIC_KEYS", "GOOGLE_API_KEY")
    assert said(page.run(), "the key of this server's owner is used. It covers 2,000 calls more")
    page.text_input(key="gemini_key").set_value("of-ones-own").run()
    assert not said(page, "owner is used")


def test_a_lent_key_is_said_and_counted(lent, monkeypatch):
    monkeypatch.setenv("BELIEVE_PUBLIC_BUDGET", "50")
    with serving("echo", key=KEY) as server:
        page = visitor(server)
        assert said(page, ": ready.")
        used = len(server.exchanges)
        left = f"It covers {50 - used} calls more, by all visitors together."
        assert said(page, f"Calls use {OWNERS}. {left}")
        assert said(page, f"The key of this server's owner is used. {left}")  # where one pays
        press(page, "pay_inspection")
        assert metrics(page) and lending.LENT.used == len(server.exchanges) > used
        assert KEY not in tree(page)


def test_before_a_model_is_chosen_the_page_says_whose_key_is_used_there(lent, monkeypatch):
    page = session("inspection", q=QUERY)
    page.selectbox(key="model_kind").set_value("openai").run()
    page.selectbox(key="openai_preset").set_value("Together").run()
    assert not said(page, "owner is used")  # the key goes to OpenAI, and where the owner says
    page.selectbox(key="openai_preset").set_value("OpenAI").run()
    assert not said(page, "owner is used")  # here the owner says so of 127.0.0.1 alone
    monkeypatch.delenv("BELIEVE_ALLOWED_HOSTS")
    assert said(
        page.run(), "Without your own key, the key of this server's owner is used. It covers"
    )


@pytest.mark.parametrize("forget", [False, True])
def test_a_reload_gives_no_new_money(lent, monkeypatch, forget):
    monkeypatch.setenv("BELIEVE_PUBLIC_BUDGET", "8")
    with serving("none", key=KEY) as server:
        page = visitor(server)
        press(page, "pay_inspection")
        settled(page.run())
        assert said(page, GONE.format(8)) and said(page, "enter your own key")
        assert len(server.exchanges) == 8 and not metrics(page)
        if forget:  # as every visitor's browser can ask of Streamlit
            st.cache_resource.clear()
            st.cache_data.clear()
        again = visitor(server)
        press(again, "pay_inspection")  # what the server can do is known by now
        settled(again.run())
        assert said(again, GONE.format(8)) and said(
            again, "Its budget is used up: enter your own key"
        )
        assert len(server.exchanges) == 8


def test_who_types_a_key_takes_nothing_from_the_others(lent, monkeypatch):
    monkeypatch.setenv("BELIEVE_PUBLIC_BUDGET", "0")
    with serving("none", key=KEY) as server:
        page = visitor(server)
        assert said(page, GONE.format(0)) and not server.exchanges
        own = visitor(server, KEY)
        press(own, "pay_inspection")
        assert metrics(settled(own.run())) and len(server.exchanges) > 8
        assert not said(own, OWNERS)
    assert not lending.LENT.used


def test_finding_out_what_a_server_can_do_never_takes_more_than_there_is(lent, monkeypatch):
    """It fails, and is tried again: every try counts, before it is made."""
    monkeypatch.setenv("BELIEVE_PUBLIC_BUDGET", "3")
    with serving("none", key=KEY, before=lambda *_: (500, {}, b"{}")) as server:
        page = visitor(server)
        assert said(page, GONE.format(3)) and READY in texts(page)
        assert len(server.exchanges) == lending.LENT.used == 3


def test_visitors_at_the_same_time_take_no_more_than_there_is(lent, monkeypatch):
    monkeypatch.setenv("BELIEVE_PUBLIC_BUDGET", "50")
    refused = []

    def visit_at_once():
        model = OpenAICompatible("llama@http://127.0.0.1/v1")
        part = Budget(10).part(*lending.budgets(model))
        for _ in range(10):
            try:
                part.take()
            except BudgetError as error:
                refused.append(str(error))

    threads = [threading.Thread(target=visit_at_once) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert lending.LENT.used == 50 and len(refused) == 150
    assert {sentence[:40] for sentence in refused} == {GONE.format(50)[:40]}


@pytest.mark.parametrize(
    ("name", "typed"),
    [
        ("BELIEVE_PUBLIC_KEYS", "sk-typed-in-the-wrong-place"),
        ("BELIEVE_PUBLIC_KEYS", "HF_TOKEN"),
        ("BELIEVE_PUBLIC_BUDGET", "a lot"),
        ("BELIEVE_BUDGET", "2k"),
    ],
)
def test_a_setting_that_cannot_be_read_stops_a_page_with_a_sentence(monkeypatch, name, typed):
    monkeypatch.setenv(name, typed)
    page = session("home")
    assert said(page, f"{name} ") and said(page, "If you run this server")
    assert "use_model" not in keys(page) and typed not in "".join(texts(page))


# -------------------------------------------------------------------------- the budget


@pytest.mark.parametrize("wanted", [8, 100, 1_000_000])
def test_the_budget_is_never_more_than_the_owner_allows(monkeypatch, wanted):
    monkeypatch.setenv("BELIEVE_BUDGET", "8")
    monkeypatch.setattr("core.language_models.backends.openai.address.is_global", lambda _: True)
    page = session("inspection", q=QUERY)
    with serving("none") as server:
        choose(page, server.base_url, server.model)
        probes = len(server.exchanges)
        field = page.number_input(key="budget_calls")
        assert (field.value, field.max) == (8, 8)
        field.set_value(wanted).run()
        settled(page)
        assert said(page, f" {8 - probes} are left in the budget.")
        press(page, "pay_inspection")
        settled(page.run())
        assert len(server.exchanges) == 8 and said(page, "The budget of 8 calls is used")
        assert not metrics(page)


def test_the_budget_may_be_lowered(monkeypatch):
    monkeypatch.setenv("BELIEVE_BUDGET", "50")
    monkeypatch.setattr("core.language_models.backends.openai.address.is_global", lambda _: True)
    page = session("inspection", q=QUERY)
    with serving("none") as server:
        choose(page, server.base_url, server.model)
        for most in (5, 50):
            page.number_input(key="budget_calls").set_value(most).run()
            assert said(page, f" {most - len(server.exchanges)} are left in the budget.")
