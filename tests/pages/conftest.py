"""What the tests of pages have in common."""

import functools
import threading

import pytest
import streamlit as st
from streamlit.runtime.media_file_manager import MediaFileManager

from core.data.tabular import isolation, uploads
from core.language_models.backends.embedded.model import EmbeddedModel
from core.ui import model as chosen_model
from core.ui.runs.job import JOB
from tests.patience import LONG
from tests.sessions import QUERY, Session, session
from tests.studies.evaluation.worlds import NUMBER as NUMBERED
from tests.studies.evaluation.worlds import World

SETTINGS = (
    *("OPENAI_API_KEY", "GOOGLE_API_KEY", "BELIEVE_PUBLIC", "BELIEVE_PUBLIC_KEYS"),
    *("BELIEVE_BUDGET", "BELIEVE_PUBLIC_BUDGET", "BELIEVE_ALLOWED_HOSTS"),
    "BELIEVE_HISTORY",
)


def remembered(method):
    """Answer what was asked before as it was answered then.

    Every page opens on the same questions, and the shipped model always answers the same.
    """
    answers = {}

    @functools.wraps(method)
    def answered(self, asked, wanted, **options):
        if isinstance(wanted, int):  # that many responses to one prompt
            key = asked, wanted, *sorted(options.items())
        else:
            key = tuple(asked), tuple(wanted)
        if key not in answers:
            answers[key] = method(self, asked, wanted, **options)
        return answers[key].copy()

    return answered


REMEMBERED = {
    name: remembered(getattr(EmbeddedModel, name)) for name in ("sample", "log_likelihoods")
}


@pytest.fixture(autouse=True)
def asked_once(monkeypatch):
    """The shipped model computes nothing twice for the pages; elsewhere it is left as it is."""
    for name, method in REMEMBERED.items():
        monkeypatch.setattr(EmbeddedModel, name, method)


@pytest.fixture
def fresh():
    """A process in which nobody has been: nothing is saved, nothing was asked."""
    st.cache_resource.clear()
    yield
    st.cache_resource.clear()


@pytest.fixture
def on_ones_own(fresh, monkeypatch):
    """No key or limit from outside, no waiting between tries, and nothing from another test."""
    for name in SETTINGS:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("core.language_models.client.retry.pause", lambda _: 0.0)


@pytest.fixture
def choosing(monkeypatch):
    """The picker of models is open on every page."""
    monkeypatch.setattr(Session, "is_choosing", True)


@pytest.fixture
def page(on_ones_own):
    return session("inspection", q=QUERY)


@pytest.fixture
def downloaded(monkeypatch):
    """What a browser gets by a button whose file is made on demand: AppTest presses no such one."""
    makers, add = {}, MediaFileManager.add_deferred

    def noted(self, make, *args, **more):
        key = add(self, make, *args, **more)
        makers[key] = make
        return key

    monkeypatch.setattr(MediaFileManager, "add_deferred", noted)

    def content(app, name):
        buttons = [b.proto for b in app.get("download_button")]
        (button,) = [b for b in buttons if b.id.endswith(f"-download_{name}")]
        return makers[button.deferred_file_id]()

    return content


class Gated(World):
    """A world that answers a run only so many questions; the others wait until it is `open`."""

    def __init__(self, **more):
        super().__init__(**more)
        self.open = threading.Event()
        self.free = 10**9
        self.in_runs = []  # the numbers that runs asked, not who looks how long one takes

    def sample(self, prompt, count, *, temperature=1.0, **more):
        if threading.current_thread().name == JOB and temperature == 0:
            if len(self.in_runs) >= self.free:
                self.open.wait(LONG)
            self.in_runs.append(int(NUMBERED.search(prompt)[1]))
        return super().sample(prompt, count, temperature=temperature, **more)


@pytest.fixture
def world(monkeypatch, tmp_path):
    """Numbers instead of the shipped model, a folder for runs, files read in this process."""
    model = Gated()
    monkeypatch.setattr(chosen_model, "embedded_model", lambda: model)
    monkeypatch.setenv("BELIEVE_DATABASE_URL", f"sqlite:///{tmp_path}/believe.db")
    monkeypatch.setattr(isolation, "parse_isolated", lambda *file, **_: uploads.parse(*file))
    st.cache_resource.clear()
    yield model
    model.open.set()
