"""The model picker of every page: another model is chosen, opened beside the page, or refused."""

import socket
import threading
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from core import cli
from core.abstention.policy import NOT_VERIFIED
from core.language_models import registry
from core.language_models.back_end import BackEnd, TextField
from core.language_models.backends.embedded.model import EmbeddedModel
from core.language_models.backends.openai.address import read_address
from core.language_models.backends.openai.presets import PRESETS
from core.language_models.forms import in_front
from core.language_models.registry import BACK_ENDS
from core.studies.evaluation.recorded_answers import recorded_answers, recording_title
from core.ui import model_listing, model_opening, model_picker
from core.ui import session as ui_session
from core.ui.runs import widget
from core.ui.storage import storage
from tests.language_models.backends.gguf.files import embedded_as_gguf
from tests.language_models.openai_server import serving
from tests.patience import LONG
from tests.sessions import (
    OWN,
    PAGES,
    QUERY,
    begin,
    choose,
    chosen,
    go,
    harmless,
    keys,
    metrics,
    press,
    said,
    session,
    settled,
    texts,
    tree,
    until,
    visit,
)
from tests.wire.dripping import dripping

KEY = "sk-very-secret-4711"
READY = "embedded: ready."

pytestmark = pytest.mark.usefixtures("on_ones_own", "choosing")


@pytest.fixture
def page(on_ones_own):
    return session("home")


# ------------------------------------------------------------------------------ picking


def test_stands_on_every_page_with_the_embedded_model_ready(page):
    for name in PAGES:
        settled(go(page, name).run())
        assert texts(page).count(READY) == 1 and "use_model" in keys(page)
        assert page.radio(key="model_kind").options == [
            "Embedded model",
            "SmolLM2 (a real language model)",
            "OpenAI-compatible server",
            "Gemini",
            "Hugging Face",
            "GGUF file",
        ]


def test_what_a_larger_model_answered_before_opens_from_every_page_and_the_picker_closes(page):
    answer = recorded_answers()[-1]
    assert said(page, f"{recording_title()}: none “Believe it”, 132 “Perhaps” (7 wrong)")
    settled(page.selectbox(key="recorded_question").set_value(answer.question).run())
    assert said(page, f"{answer.sentence}. No model was asked now.")
    assert not page.session_state[model_picker.OPEN]


def test_every_known_server_says_where_it_is_and_what_it_usually_does(page):
    page.radio(key="model_kind").set_value("openai").run()
    *known, own = page.selectbox(key="openai_preset").options
    assert own == OWN and "OpenAI" in known
    for name in known:
        page.selectbox(key="openai_preset").set_value(name).run()
        assert said(page, "/v1. ") and "openai_url" not in [f.key for f in page.text_input]


def test_a_model_without_a_certificate_says_what_a_promise_takes(page):
    for kind, is_said in (("smollm2", False), ("gemini", True)):
        page.radio(key="model_kind").set_value(kind).run()
        # ln 0.05 / ln 0.95 = 58.4, for the first of all looks
        least = "at least 59 answers without a mistake; where 2.5% of them are wrong, about 423."
        assert bool(said(page, least)) is is_said


def test_a_file_is_asked_in_the_form_that_suits_or_in_the_one_that_is_wanted(tmp_path):
    page = session("inspection", q=QUERY)
    file = embedded_as_gguf(tmp_path / "embedded.gguf")
    page.radio(key="model_kind").set_value("gguf").run()
    page.text_input(key="gguf_name").set_value(str(file)).run()
    settled(press(page, "use_model"))
    assert said(page, f"gguf:{file}: ready.") and said(page, "Our prompts alone. To 5 simple")
    assert metrics(page)
    page.run().selectbox(key="model_form").set_value("examples").run()
    settled(press(page, "use_model"))
    assert said(page, "Behind worked examples. To 5 simple") and metrics(page)
    page.run().text_input(key="gguf_name").set_value(f"{file}.not").run()
    settled(press(page, "use_model"))
    assert said(page, "Give the path of a GGUF file.") and said(page, f"gguf:{file}: ready.")


def test_a_server_is_asked_in_the_form_that_is_wanted_and_its_trial_is_paid_for_once(page):
    with serving("none") as server:
        chosen(page, server)
        before = len(server.exchanges)
        page.selectbox(key="model_form").set_value("examples").run()
        for _ in range(2):
            settled(press(page.run(), "use_model"))
            assert said(page, "Behind worked examples. To 5 simple questions it said: ")
            prompts = [body["prompt"] for body in server.bodies[before:]]
            assert len(prompts) == 5 and all(prompt.startswith(in_front()) for prompt in prompts)
        assert said(page, f"Used so far: {len(server.exchanges)} calls.")
        page.run().selectbox(key="model_form").set_value("chat").run()
        settled(press(page, "use_model"))
        assert said(page, "is asked in the form plain or examples only. Choose that.")
        assert said(page, "Behind worked examples. To 5 simple")


def test_the_model_goes_along_to_other_pages_and_back_to_the_embedded_one(page):
    with serving("none") as server:
        chosen(page, server)
        settled(go(page, "amplification").run())
        assert said(page, f"{server.name}: ready.")
        page.radio(key="model_kind").set_value("embedded").run()
        press(page, "use_model")
    assert "use_model" not in keys(page)  # there is nothing to wait for: the picker has closed
    press(page, "picker")
    assert READY in texts(page)


@pytest.mark.parametrize(
    ("name", "filled"),
    [
        ("gemini:gemini-2.5-pro", {"gemini_name": "gemini-2.5-pro"}),
        ("hf:gpt2", {"hf_name": "gpt2"}),
        (
            f"openai:meta@llama@{PRESETS[0].base_url}",
            {"openai_preset": PRESETS[0].name, "openai_name": "meta@llama"},
        ),
        (
            "openai:llama@https://models.example/v1",
            {"openai_url": "https://models.example/v1", "openai_name": "llama", "openai_key": ""},
        ),
    ],
)
def test_every_kind_that_was_used_before_is_filled_in(name, filled):
    storage().results.save("inspection", "a", "a", name, "{}")
    storage().results.save("policy", "a", "a", "scores of unknown origin", "{}")
    of_a_file = f"{NOT_VERIFIED}: Paris"
    storage().results.save("inspection", "b", "b", "gemini:theirs", "[]", outcome=of_a_file)
    page = session("home")
    assert page.selectbox(key="model_before").options == [name]
    page.selectbox(key="model_before").set_value(name).run()
    widgets = {w.key: w.value for w in [*page.text_input, *page.selectbox]}
    assert filled.items() <= widgets.items()


def test_servers_of_this_machine_are_looked_for_on_one_click(page, monkeypatch):
    url = "http://localhost:8080/v1"
    servers = {url: ("a/b", "![](http://x.example/leak.png)")}
    monkeypatch.setattr(model_listing, "local_servers", lambda: servers)
    page.radio(key="model_kind").set_value("openai").run()
    settled(press(page, "scan"))
    assert harmless(page)
    page.selectbox(key="scanned").set_value((url, "a/b")).run()
    assert page.text_input(key="openai_name").value == "a/b"
    assert page.selectbox(key="openai_preset").value == "llama.cpp"
    servers.clear()
    settled(press(page, "scan"))
    assert said(page, "No server answers at the usual ports of this machine.")


def test_the_models_of_a_server_can_be_listed_and_chosen_from(page):
    names = ["![](http://x.example/leak.png)", "llama-3"]
    listed = {"data": [{"id": name} for name in names]}
    with serving("none", key=KEY, models=listed) as server:
        page.radio(key="model_kind").set_value("openai").run()
        page.selectbox(key="openai_preset").set_value(OWN).run()
        settled(press(page, "list_openai"))
        assert said(page, "There is no base URL.")
        page.text_input(key="openai_url").set_value(server.base_url).run()
        settled(press(page, "list_openai"))
        assert said(page, "needs a key") and len(server.listings) == 1
        page.text_input(key="openai_key").set_value(KEY).run()
        settled(press(page, "list_openai"))
        assert page.selectbox(key="openai_listed").options == names and harmless(page)
        page.selectbox(key="openai_listed").set_value("llama-3").run()
        assert page.text_input(key="openai_name").value == "llama-3"
        assert page.selectbox(key="openai_listed") and KEY not in tree(page)
        asked = len(server.listings)
        page.text_input(key="openai_name").set_value("another").run()
        assert page.text_input(key="openai_name").value == "another"
        assert not server.exchanges and len(server.listings) == asked
        assert said(page, f"Used so far: {asked} calls.")
    with serving("none", models="none") as server:
        page.text_input(key="openai_url").set_value(server.base_url).run()
        assert "openai_listed" not in [box.key for box in page.selectbox]
        settled(press(page, "list_openai"))
        assert said(page, "does not list its models. Type the name of one.")


def test_an_address_where_no_service_is_gets_a_sentence(page):
    choose(page, "", "llama", KEY)  # no address is no server
    assert not said(page, "api.openai.com")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        nobody = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
    for url in (nobody, "nonsense", "ftp://x/v1", "http://", "![](http://x.example/leak.png)"):
        choose(page, url, "llama", KEY)
        assert said(page, "The model you chose is not available: ") and READY in texts(page)
        assert harmless(page) and KEY not in tree(page)


# ---------------------------------------------------------------- opening takes its time


@pytest.fixture
def slow():
    with dripping("headers") as server:
        yield server


def test_a_server_that_takes_its_time_holds_up_no_page_and_can_be_cancelled(slow):
    page = session("inspection", q=QUERY)
    before = metrics(page)
    begin(page, slow.base_url)
    assert said(page, f"openai:m@{slow.base_url}: embedded stays in use until it is ready.")
    assert "cancel_opening" in keys(page) and READY in texts(page)
    assert metrics(page) == before, "the page is there meanwhile"
    page.radio(key="model_kind").set_value("gemini").run()
    assert "gemini_name" in [field.key for field in page.text_input], "and does what one wants"
    assert slow.begun.wait(LONG)
    page.button(key="cancel_opening").click().run()
    assert slow.left.wait(LONG), "the server sees that nobody listens"
    assert said(page, f"You cancelled opening openai:m@{slow.base_url}. embedded stays in use.")
    assert READY in texts(page) and "cancel_opening" not in keys(page)
    assert not page.get("progress") and slow.connections == 1
    until(page.run(), lambda: said(page, "Used so far: 1 call."))
    with serving("none") as server:
        chosen(page, server)
    assert not said(page, "You cancelled")


def test_another_model_takes_the_place_of_one_that_is_being_opened(page, slow):
    begin(page, slow.base_url)
    assert slow.begun.wait(LONG)
    with serving("none") as server:
        chosen(page, server)
    assert slow.left.wait(LONG)
    page.run()
    assert said(page, f"{server.name}: ready.") and "cancel_opening" not in keys(page)


def test_what_is_being_opened_goes_along_and_is_used_when_it_is_there(page, monkeypatch):
    """It takes longer than the page waits for it."""
    release = threading.Event()
    monkeypatch.setattr(widget, "QUICK", 0.0)
    with serving("none", before=lambda *_: release.wait(LONG) and None) as server:
        begin(page, server.base_url, server.model)
        assert "cancel_opening" in keys(page) and READY in texts(page)
        go(page, "questions").run()
        release.set()
        until(page, lambda: said(page, f"{server.name}: ready."))
        assert "cancel_opening" not in keys(page)
        assert said(page, f"Used so far: {len(server.exchanges)} calls.")


def test_opening_that_fails_late_is_said(page, monkeypatch):
    monkeypatch.setattr(widget, "QUICK", 0.0)
    with serving("none", key="another") as server:
        choose(page, server.base_url, server.model, KEY)
    assert said(page, "The model you chose needs a key: ") and READY in texts(page)


def test_a_back_end_needs_nothing_but_its_description(monkeypatch):
    class MadeUp(EmbeddedModel):
        def __init__(self, rest, key=None):
            super().__init__()
            self.name = f"made-up:{rest}"

    monkeypatch.setattr("tests.fakes.MadeUp", MadeUp, raising=False)
    back_end = BackEnd(
        *("made-up", "tests.fakes:MadeUp", "made-up:NAME", "Made up", "Model: made up", "A test."),
        model=TextField("Its name", value="first"),
        key=TextField("Its key"),
    )
    monkeypatch.setitem(BACK_ENDS, back_end.kind, back_end)
    page = session("inspection", q=QUERY)
    assert page.radio(key="model_kind").options[-1] == "Made up"
    page.radio(key="model_kind").set_value("made-up").run()
    field, key = page.text_input(key="made-up_name"), page.text_input(key="made-up_key")
    assert (field.label, field.value, key.label) == ("Its name", "first", "Its key")
    settled(press(page, "use_model"))
    assert said(page, "made-up:first: ready.")
    assert page.button(key="picker").label == back_end.button
    command = ["inspect", QUERY, "--model", "made-up:first", "--no-keep"]
    report = CliRunner().invoke(cli.main, command)
    assert report.exit_code == 0, report.output


# -------------------------------------------------------------------------- in the address


def test_an_address_opens_the_bundled_model_that_it_names_and_no_other_answers_meanwhile(
    page, monkeypatch
):
    opened = threading.Event()

    def slowly(name, key=None):
        assert opened.wait(LONG)
        return registry.open_model("embedded", key)

    monkeypatch.setattr(model_opening, "open_model", slowly)
    page = visit("inspection", q=QUERY, model="smollm2").run()
    assert said(page, "smollm2 answers this question as soon as it is open.")
    assert not page.header and page.query_params["model"] == "smollm2"
    opened.set()
    until(page, lambda: page.header)
    other = session("inspection", q=QUERY, model="gemini")
    assert said(other, "This address is of a question to a model that was connected: ")
    assert other.query_params["model"] == "gemini"
    press(other, "address_embedded")
    assert not said(other, "This address is of") and "model" not in other.query_params
    assert "model" not in session("inspection", q=QUERY, model="nothing").query_params


def test_after_a_reload_what_is_still_paid_for_is_said_and_can_be_cancelled(monkeypatch):
    jobs = [SimpleNamespace(cancel=lambda: jobs.clear())]
    monkeypatch.setattr(model_picker, "orphans", lambda: [*jobs])
    monkeypatch.setattr(model_picker.tab_memory, "remember", lambda *_, **__: "openai:m@http://x")
    app = session("inspection")
    assert said(app, "is still asked, and paid for")
    press(app, "cancel_lost")
    assert not jobs and "cancel_lost" not in keys(app)
    assert not said(app, "is still asked, and paid for")


@pytest.mark.parametrize(
    ("said_by", "value"), [("only_here", False), ("alone", False), ("signs_in", True)]
)
def test_where_others_come_the_environments_key_is_not_for_their_servers(
    monkeypatch, said_by, value
):
    url = "https://model.example/v1"
    with monkeypatch.context() as elsewhere:
        elsewhere.setattr(ui_session, said_by, lambda: value)
        visit().run()
        assert not read_address(url).may_have_our_key
    visit().run()
    assert read_address(url).may_have_our_key
