"""Sessions of visitors without a browser: opening a page, waiting for it, looking at it."""

import functools
import json
import os
import re
import threading
import time
from collections.abc import Mapping

from streamlit.components.v2 import manifest_scanner
from streamlit.runtime.scriptrunner import ScriptRunnerEvent
from streamlit.runtime.state.session_state import SessionState
from streamlit.testing.v1 import AppTest, local_script_runner

from app import app as served
from core.store import schema
from core.store.errors import StoreError
from core.ui import frame, model_picker
from core.ui.runs.job import JOB
from core.ui.storage import storage
from tests.hostile import TEXTS
from tests.patience import LONG

PAGES = (
    *("home", "inspection", "amplification", "calibration", "evaluation"),
    *("laboratory", "questions", "history"),
)
OWN = "another address"
QUERY = "Name a mammal"
FOLDS = (
    "lane_table",  # of Home
    *("all_scores", "enough", "details"),  # of an inspection
    "new_run",  # of an evaluation
    "laboratory_table",
    *("all_rows", "calibration_behind"),  # of a calibration
    "both_probabilities",  # of an amplification
    "export",
)

# Every session of AppTest's looks for components in all installed packages, which takes longer
# than most pages; what is installed does not change in between.
manifest_scanner.scan_component_manifests = functools.cache(
    manifest_scanner.scan_component_manifests
)

all_of = SessionState.filtered_state.fget


class _State(Mapping):
    """Where a widget looks its key up: Streamlit collects all that a session holds for that."""

    def __init__(self, state):
        self._state = state

    def __getitem__(self, key):
        return self._state[key]

    def __iter__(self):
        return iter(all_of(self._state))

    def __len__(self):
        return len(all_of(self._state))


SessionState.filtered_state = property(_State)


def _ended(runner, timeout):
    """Wait for the end of a run without looking a thousand times a second, as AppTest does."""
    ended = threading.Event()

    def note(_, event, **rest):
        if event is ScriptRunnerEvent.SHUTDOWN:
            ended.set()

    runner.on_event.connect(note)
    if not (runner.script_stopped() or ended.wait(timeout)):
        runner.request_stop()
        runner.join()
        raise RuntimeError(f"the page still ran after {timeout} seconds")


local_script_runner.require_widgets_deltas = _ended


class Session(AppTest):
    """What stays on a page that another has led to: AppTest opens the one it was last sent to."""

    is_choosing = False  # whether the picker of models is open, which a choice closes

    def _run(self, *arguments, **options):
        if self.is_choosing:
            self.session_state[model_picker.OPEN] = True
        super()._run(*arguments, **options)
        self._page_hash = ""
        return self


def visit(page="home", **query):
    """Open a page of the app by its address; it has not run yet.

    Everything is unfolded.
    """
    app = Session(served.script_path, default_timeout=LONG)
    app.query_params.update(query)
    for opened in FOLDS:
        app.session_state[opened] = True
    return go(app, page)


def go(app, page):
    """Go on to another page, which has not run yet."""
    return app.switch_page(os.path.relpath(frame.PAGES / f"{page}.py", served.script_path.parent))


def session(page, **query):
    """Open a page in a session of its own."""
    return settled(visit(page, **query).run())


def settled(app):
    """Run until nothing is on its way: a slow machine shows progress first."""
    return until(app, lambda: not app.get("progress"), look_every=2.0)


def until(app, ready, look_every=0.2):
    """Run until something is there: what is watched comes when it comes."""
    for _ in range(1200):
        assert not app.exception, app.exception
        if ready():
            return app
        jobs = [thread for thread in threading.enumerate() if thread.name == JOB]
        if jobs:  # they have the processor meanwhile
            jobs[0].join(look_every)
        else:
            time.sleep(0.05)
        app.run()
    raise AssertionError("it never came")


def press(app, key):
    return settled(app.button(key=key).click().run())


# ---------------------------------------------------------------------- looking at a page


def run_named(app):
    """The key of the run that the address names."""
    value = app.query_params["run"]
    return value if isinstance(value, str) else value[-1]


def keys(app):
    return [button.key for button in app.button]


def policy_badges(app):
    """What the page says that the policy in use promises."""
    labels = [each.proto.popover for each in app.get("popover")]
    return [each.label for each in labels if "policy_badge" in each.id]


def of_key(elements, beginning):
    """The one widget whose key begins so: many keys end with a fingerprint of the data."""
    (found,) = [e for e in elements if e.key and e.key.startswith(beginning)]
    return found


def listed(page):
    """What History hands the browser: results by question, the latest first."""
    drawn = [each for each in page.get("bidi_component") if each.key == "history"]
    return json.loads(drawn[0].proto.json)[0]["groups"] if drawn else []


def texts(app):
    return [text.value for text in app.text]


def said(app, words):
    return [text for text in texts(app) if words in text]


def metrics(app):
    """Every number on the page that has a name: those of an inspection are in a table."""
    scores = [table.value for table in app.dataframe if "doubt against λ" in table.value]
    named = {row["score"]: row["value"] for table in scores for row in table.to_dict("records")}
    return {metric.label: metric.value for metric in app.metric} | named | _of_threshold(app)


def components(app):
    """What the components of our own are handed."""
    contents = [json.loads(found.proto.json or "[{}]") for found in app.get("bidi_component")]
    return [content for (content,) in contents]


def threshold(app):
    """What the threshold of Calibration is handed; None where there is none."""
    return next((content for content in components(app) if "places" in content), None)


def _of_threshold(app):
    content = threshold(app)
    if content is None:
        return {}
    places = content["places"]
    at = min(range(len(places["values"])), key=lambda i: abs(places["values"][i] - content["now"]))
    promised = content["words"]["promise" if places["promised"][at] else "nothing"]
    return {
        "Threshold": places["texts"][at],
        "Answers": places["answered"][at],
        "Wrong on the rows": places["wrong"][at],
        "Promised": promised,
    }


def move(app, value):
    """Put λ somewhere, as the browser does once it rests there."""
    app.session_state[app.session_state["calibration_lambda"]] = value
    return settled(app.run())


def badges(app):
    found = (re.fullmatch(r":\w+-badge\[(?::\S+: )?(.+)\]", m.value) for m in app.markdown)
    return [badge[1] for badge in found if badge]


def pictures(app):
    """What the charts say in words, those in components of our own last."""
    ours = [data["words"].get("alt") for data in components(app) if "words" in data]
    return [*(chart.proto.alt for chart in app.get("vega_lite_chart")), *filter(None, ours)]


def table(app, heading):
    """The one table that has a column of this name."""
    (found,) = [table.value for table in app.dataframe if heading in table.value]
    return found


def markdown(app):
    """Every text of the page that Streamlit reads as Markdown."""
    for kind in ("markdown", "caption", "title", "header", "subheader"):
        yield from (element.value for element in app.get(kind))
    for kind in ("error", "warning", "info", "success"):
        yield from (element.value for element in app.get(kind))
    for metric in app.metric:
        yield from (metric.label, metric.value, metric.delta, metric.help)
    for kind in ("expander", "tab"):
        yield from (element.label for element in app.get(kind))
    for kind in ("button", "download_button", "file_uploader", "number_input", "toggle"):
        yield from (text for e in app.get(kind) for text in (e.proto.label, e.proto.help))
    for kind in ("selectbox", "multiselect", "slider", "text_input", "checkbox"):
        yield from (text for e in app.get(kind) for text in (e.proto.label, e.proto.help))


def harmless(app):
    """No text of a stranger is read as Markdown."""
    found = [str(text) for text in markdown(app)]
    assert found and not [text for text in found for hostile in TEXTS if hostile in text]
    return True


# ---------------------------------------------------------------------- choosing a model


def choose(app, url, name, key=""):
    """Choose a server by its address, as a person does with the widgets of the picker."""
    return settled(begin(app, url, name, key))


def begin(app, url, name="m", key=""):
    """Press “Use this model” for a server, and wait for nothing."""
    app.is_choosing = True
    app.run().radio(key="model_kind").set_value("openai").run()
    app.selectbox(key="openai_preset").set_value(OWN).run()
    for field, value in (("url", url), ("name", name), ("key", key)):
        app.text_input(key=f"openai_{field}").set_value(value)
    app.run()
    return app.button(key="use_model").click().run()


def chosen(app, server, key=""):
    """Choose a server of this machine, which is there."""
    choose(app, server.base_url, server.model, key)
    assert said(app, f"openai:{server.model}@{server.base_url}: ready.")
    return app.run()


def offer(app, key="pay_inspection"):
    """At most how many calls the page says that asking takes; None while it does not ask."""
    found = [button for button in app.button if button.key == key]
    if not found:
        return None
    number = int(found[0].label.removeprefix("Ask, with at most ").removesuffix(" calls"))
    assert said(app, f": at most {number:,} call")
    return number


# ------------------------------------------------------------------- all that it holds


def disk_full(*_, **__):
    """Stands where something is saved."""
    raise StoreError("The disk is full. Make room.")


def tree(app):
    """Everything that was sent to the browser, as text."""
    return "\n".join(str(getattr(node, "proto", "")) for node in [*app.main, *app.sidebar])


def results():
    return storage().results


def only():
    """The one result that is kept."""
    (result,) = results().search().results
    return results().open(result.id)


def save(query=QUERY, title="", kind="inspection", payload=None):
    payload = payload or json.dumps([kind, query, title])
    return results().save(kind, title, query, "embedded", payload)


def database():
    """Everything that the database of this process holds, as text."""
    with storage().database.read() as connection:
        tables = schema.results.metadata.sorted_tables
        return "\n".join(str(row) for t in tables for row in connection.execute(t.select()))
