"""The model picker of every page, without a browser."""

import socket

import pytest

from core.language_models.backends.openai.address import PRESETS
from core.ui.results import kept
from tests.language_models.openai_server import serving
from tests.sessions import (
    OWN,
    PAGES,
    QUERY,
    choose,
    chosen,
    database,
    go,
    keys,
    metrics,
    press,
    said,
    session,
    settled,
    texts,
    tree,
)

KEY = "sk-very-secret-4711"
READY = "embedded: ready."

pytestmark = pytest.mark.usefixtures("on_ones_own")


# ------------------------------------------------------------------------------ picking


@pytest.mark.parametrize("name", PAGES)
def test_stands_on_every_page_with_the_embedded_model_ready(name):
    page = session(name)
    assert texts(page).count(READY) == 1 and "use_model" in keys(page)
    assert page.selectbox(key="model_kind").options == [
        "Embedded model",
        "OpenAI-compatible server",
        "Gemini",
        "Hugging Face",
    ]


def test_every_known_server_says_where_it_is_and_what_it_usually_does(page):
    page.selectbox(key="model_kind").set_value("openai").run()
    *known, own = page.selectbox(key="openai_preset").options
    assert own == OWN and "OpenAI" in known
    for name in known:
        page.selectbox(key="openai_preset").set_value(name).run()
        assert said(page, "/v1. ") and "openai_url" not in [f.key for f in page.text_input]


def test_no_address_is_no_server(page):
    choose(page, "", "llama", KEY)
    assert not said(page, "api.openai.com")


def test_back_to_the_embedded_model(page):
    before = metrics(page)
    with serving("none") as server:
        chosen(page, server)
        page.selectbox(key="model_kind").set_value("embedded").run()
        press(page, "use_model")
    assert READY in texts(page) and metrics(page) == before


@pytest.mark.parametrize("key", ["", "sk-used-before-0815"])
def test_a_server_that_was_used_before_is_filled_in_for_the_next_session(key):
    with serving("none", key=key or None) as server:
        first = session("inspection", q=QUERY, k="3")
        assert "model_before" not in [box.key for box in first.selectbox]
        choose(first, server.base_url, server.model, key)
        press(first, "pay_inspection")
        second = session("calibration")
        before = second.selectbox(key="model_before")
        assert before.options == [server.name]
        before.set_value(server.name).run()
        assert second.selectbox(key="model_kind").value == "openai"
        assert second.text_input(key="openai_url").value == server.base_url
        assert second.text_input(key="openai_name").value == server.model
        assert (
            second.text_input(key="openai_key").value == "" and key not in tree(second)
        ) or not key
        assert said(second, "embedded: ready.")  # until the person says so
        press(second, "use_model")
        wanted = "The model you chose needs a key" if key else f"{server.name}: ready."
        assert said(second, wanted)


@pytest.mark.parametrize(
    ("name", "filled"),
    [
        ("gemini:gemini-2.5-pro", {"gemini_name": "gemini-2.5-pro"}),
        ("hf:gpt2", {"hf_name": "gpt2"}),
        (
            f"openai:meta@llama@{PRESETS[0].base_url}",
            {"openai_preset": PRESETS[0].name, "openai_name": "meta@llama"},
        ),
    ],
)
def test_every_kind_that_was_used_before_is_filled_in(name, filled):
    kept().results.save("inspection", "a", "a", name, "{}")
    kept().results.save("policy", "a", "a", "scores of unknown origin", "{}")
    page = session("home")
    assert page.selectbox(key="model_before").options == [name]
    page.selectbox(key="model_before").set_value(name).run()
    widgets = {w.key: w.value for w in [*page.text_input, *page.selectbox]}
    assert filled.items() <= widgets.items()


def test_the_model_goes_along_to_other_pages():
    page = session("inspection")
    with serving("echo") as server:
        chosen(page, server)
        page = settled(go(page, "amplification").run())
        assert said(page, f"openai:{server.model}@{server.base_url}: ready.")


# -------------------------------------------------------------------------- what fails


@pytest.mark.parametrize("key", ["", "sk-wrong-0815"])
def test_a_wrong_key_or_none_is_said_and_the_model_before_stays(page, key):
    before = metrics(page)
    with serving("echo", key=KEY) as server:
        choose(page, server.base_url, server.model, key)
    assert said(page, "The model you chose needs a key: ") and READY in texts(page)
    assert metrics(page) == before
    assert not key or key not in tree(page)


def test_where_nothing_listens_a_sentence_says_so_and_the_model_before_stays(page):
    before = metrics(page)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    choose(page, f"http://127.0.0.1:{port}/v1", "llama", KEY)
    assert said(page, "The model you chose is not available: ") and READY in texts(page)
    assert metrics(page) == before and KEY not in tree(page)


@pytest.mark.parametrize("url", ["nonsense", "ftp://x/v1", "http://", "![](http://x.invalid/y)"])
def test_a_wrong_address_gets_a_sentence(page, url):
    choose(page, url, "llama")
    assert said(page, "The model you chose is not available: ") and READY in texts(page)
    for element in [*page.markdown, *page.caption, *page.error]:
        assert url not in element.value


# ------------------------------------------------------------------------------ secrets


@pytest.mark.parametrize("flavour", ["echo", "none"])
def test_the_key_is_nowhere_but_in_the_session(page, flavour):
    with serving(flavour, key=KEY) as server:
        chosen(page, server, KEY)
        press(page, "pay_inspection")
        assert metrics(page)
        page.run()
    for place in (tree(page), database(), str(dict(page.query_params)), str(metrics(page))):
        assert place and KEY not in place
    assert server.model in database() and server.model not in str(dict(page.query_params))


def test_another_session_has_its_own_model_and_key(page):
    with serving("echo", key=KEY) as server:
        chosen(page, server, KEY)
        other = session("inspection", q=QUERY)
        assert READY in texts(other) and KEY not in tree(other)
        paid = len(server.exchanges)
        choose(other, server.base_url, server.model)
        assert said(other, "needs a key: ")
        assert len(server.exchanges) <= paid + 1
        assert READY in texts(other)
