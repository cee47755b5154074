"""The key of a service reaches the service, and nothing else, however an inspection ends."""

import logging

import pytest
import streamlit as st

from core.language_models.client.retry import RetryingModel
from core.language_models.client.stack import PreparedModel
from core.language_models.errors import ModelError
from core.language_models.registry import open_model
from core.store.calls import Calls
from core.store.database import open_database
from core.store.results import SavedResults
from core.studies.inspection import serialise
from core.studies.inspection.inspection import run
from core.studies.inspection.request import Request
from core.ui.inspection.recordings import recordings
from tests.language_models import gemini_server
from tests.language_models.openai_server import FLAVOURS, serving
from tests.sessions import choose, database, metrics, press, said, session, settled, tree, visit
from tests.wire.hiding import FAILURES, KEY, NOWHERE, chain, failing, hidden, hidden_in
from tests.wire.processes import forking

QUERY = "Name a mammal"
EARLY, LATE = 0, 11  # good replies before it fails: in the probe, and behind the trial


@pytest.fixture
def log(caplog):
    caplog.set_level(logging.DEBUG)
    logging.getLogger("urllib3").setLevel(logging.DEBUG)
    return caplog


@pytest.fixture(scope="module")
def processes(tmp_path_factory):
    with forking(tmp_path_factory.mktemp("secrets")) as running:
        yield running


def inspected(model, database, samples):
    """Inspect and save as the dashboard does, and look at every object on the way."""
    patient = RetryingModel(model, wait=lambda seconds: None)
    ready = PreparedModel(patient, Calls(database))
    seen = [model, patient, ready, ready.inner, ready.inner.inner, model.meter, patient.budget]
    hidden(*map(repr, seen), repr(database), model.name)
    try:
        found = run(Request(QUERY, samples), ready)
    finally:
        hidden(*map(repr, seen))
    text = serialise.to_json(found)
    SavedResults(database).save("inspection", QUERY, QUERY, model.name, text)
    hidden(text, serialise.to_csv_bytes(found).decode(), model.revision, repr(found))
    hidden(model.capabilities)


@pytest.mark.parametrize("flavour", FLAVOURS)
def test_an_inspection_that_succeeds_tells_nobody_the_key(flavour, tmp_path, log):
    with (
        serving(flavour, key=KEY) as server,
        open_database(f"sqlite:///{tmp_path}/believe.db") as database,
    ):
        inspected(open_model(server.name, KEY), database, 100 if "top" in flavour else 5)
        assert all(KEY in str(exchange.headers) for exchange in server.exchanges)
        hidden(log.text)
        hidden_in(tmp_path)  # while it is open, there is a write-ahead log
        assert len(list(tmp_path.iterdir())) > 1
    hidden_in(tmp_path)


@pytest.mark.parametrize("after", [EARLY, LATE])
@pytest.mark.parametrize("way", FAILURES)
def test_an_inspection_that_fails_tells_nobody_the_key(way, after, tmp_path, log):
    with (
        failing(way, after) as server,
        open_database(f"sqlite:///{tmp_path}/believe.db") as database,
        pytest.raises(ModelError) as caught,
    ):
        inspected(open_model(server.name, KEY), database, 5)
    assert len(server.exchanges) > after
    hidden(*chain(caught.value), log.text)
    hidden_in(tmp_path)


def test_a_host_that_is_none_is_not_told_about_the_key(tmp_path, log):
    with (
        open_database(f"sqlite:///{tmp_path}/believe.db") as database,
        pytest.raises(ModelError, match="no host called") as caught,
    ):
        inspected(open_model(f"openai:llama@{NOWHERE}", KEY), database, 5)
    hidden(*chain(caught.value))
    assert KEY not in log.text
    hidden_in(tmp_path)


@pytest.mark.parametrize(
    "faults", [[], ["suspended"], [None, "key at the border"], ["dropped"] * 20, [None, "key"]]
)
def test_gemini_tells_nobody_the_key(faults, tmp_path, log):
    with (
        gemini_server.serving(key=KEY, faults=[None, *faults]) as service,
        open_database(f"sqlite:///{tmp_path}/believe.db") as database,
    ):
        model = service.open(key=KEY)
        if faults:
            with pytest.raises(ModelError) as caught:
                inspected(model, database, 5)
            hidden(*chain(caught.value))
        else:
            inspected(model, database, 5)
    assert KEY not in log.text
    hidden_in(tmp_path)


# ---------------------------------------------------------------------------- command line


# It prints the sentence of a failure, which holds no key in any of the ways above.
@pytest.mark.parametrize("way", ["401", "page", "nowhere", "works"])
def test_the_command_line_prints_and_keeps_no_key(way, processes, tmp_path):
    with failing(way if way in FAILURES else "401", LATE if way in FAILURES else 10**9) as server:
        name = f"openai:llama@{NOWHERE}" if way == "nowhere" else server.name
        settings = {
            "OPENAI_API_KEY": KEY,
            "BELIEVE_DATABASE_URL": f"sqlite:///{tmp_path}/believe.db",
        }
        processes.start(["inspect", QUERY, "--json", "--model", name], settings)
        status, printed, said = processes.end()
    assert status == (0 if way == "works" else 1), said
    if way != "works":
        assert not printed and said.splitlines()[-1].startswith("Error: ")
        assert said.count("Error") == 1
    hidden(printed + said)
    if way != "nowhere":  # or no database was opened
        hidden_in(tmp_path)


# ----------------------------------------------------------------------------------- pages


@pytest.fixture
def kept(monkeypatch, tmp_path):
    """The pages' database in a file, where its bytes can be looked at."""
    monkeypatch.delenv("BELIEVE_BUDGET", raising=False)
    monkeypatch.setenv("BELIEVE_DATABASE_URL", f"sqlite:///{tmp_path}/believe.db")
    monkeypatch.setattr("core.language_models.client.retry.pause", lambda _: 0.0)
    st.cache_resource.clear()
    yield tmp_path
    st.cache_resource.clear()


def nothing_shown(page, kept, log):
    hidden(tree(page), dict(page.query_params), log.text)
    hidden_in(kept)
    other = visit("inspection", q=QUERY)  # of the same process
    other.is_choosing = True
    settled(other.run())
    hidden(tree(other), dict(other.query_params))
    assert "embedded: ready." in [text.value for text in other.text]
    # Nor is it in what all sessions share.
    hidden(database(), vars(recordings()))


# What a page shows of a failure is its sentence, which holds no key in any of the ways above: here
# are a service that repeats the key, and a library that raises it.
@pytest.mark.parametrize(
    ("way", "after"), [("401", EARLY), ("dropped", EARLY), ("403", LATE), ("dropped", LATE)]
)
def test_a_key_typed_for_a_service_that_fails_is_shown_nowhere(way, after, kept, log, capfd):
    page = session("inspection", q=QUERY)
    with failing(way, after) as server:
        choose(page, server.base_url, server.model, KEY)
        assert said(page, ": ready." if after else "The model you chose ")
        if after:
            press(page, "pay_inspection")
            settled(page.run())
    assert len(server.exchanges) > after
    nothing_shown(page, kept, log)
    assert KEY not in "".join(capfd.readouterr())


@pytest.mark.parametrize("typed", [True, False])
def test_a_key_that_works_is_shown_nowhere(typed, kept, log, capfd, monkeypatch):
    if not typed:
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
    page = session("inspection", q=QUERY)
    with serving("echo", key=KEY) as server:
        choose(page, server.base_url, server.model, KEY if typed else "")
        press(page, "pay_inspection")
        assert metrics(settled(page.run()))
    nothing_shown(page, kept, log)
    history = session("history")
    hidden(tree(history))
    with open_database() as database:
        results = SavedResults(database).search().results
    (saved_one,) = [result.id for result in results if server.model in result.model]
    hidden(tree(session("inspection", saved=saved_one)))
    assert KEY not in "".join(capfd.readouterr())
