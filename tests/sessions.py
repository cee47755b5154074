"""Sessions of visitors without a browser: opening a page, waiting for it, choosing a model."""

import os
import time

from streamlit.testing.v1 import AppTest

from app import app as served
from core.store import schema
from core.ui import frame
from core.ui.results import kept

PAGES = ("home", "inspection", "amplification", "calibration", "questions", "history")
OWN = "another address"
QUERY = "Name a mammal"


def visit(page="home", **query):
    """Open a page of the app by its address; it has not run yet."""
    app = AppTest.from_file(served.script_path, default_timeout=60)
    app.query_params.update(query)
    return go(app, page)


def go(app, page):
    """Go on to another page, which has not run yet."""
    return app.switch_page(os.path.relpath(frame.PAGES / f"{page}.py", served.script_path.parent))


def session(page, **query):
    """Open a page in a session of its own."""
    return settled(visit(page, **query).run())


def settled(app):
    """Run until nothing is on its way: a slow machine shows progress first."""
    for _ in range(600):
        assert not app.exception, app.exception
        if not app.get("progress"):
            return app
        time.sleep(0.1)
        app.run()
    raise AssertionError("it never ended")


def press(app, key):
    return settled(app.button(key=key).click().run())


def keys(app):
    return [button.key for button in app.button]


def texts(app):
    return [text.value for text in app.text]


def said(app, words):
    return [text for text in texts(app) if words in text]


def metrics(app):
    return {metric.label: metric.value for metric in app.metric}


def choose(app, url, name, key=""):
    """Choose a server by its address, as a person does with the widgets of the picker."""
    app.selectbox(key="model_kind").set_value("openai").run()
    app.selectbox(key="openai_preset").set_value(OWN).run()
    app.text_input(key="openai_url").set_value(url)
    app.text_input(key="openai_name").set_value(name)
    app.text_input(key="openai_key").set_value(key)
    app.run()
    return press(app, "use_model")


def chosen(app, server, key=""):
    """Choose a server of this machine, which is there."""
    choose(app, server.base_url, server.model, key)
    assert said(app, f"openai:{server.model}@{server.base_url}: ready.")
    return app


def offer(app, key="pay_inspection"):
    """At most how many calls the page says that asking takes; None while it does not ask."""
    found = [button for button in app.button if button.key == key]
    if not found:
        return None
    number = int(found[0].label.removeprefix("Ask, with at most ").removesuffix(" calls"))
    assert said(app, f": at most {number:,} call")
    return number


def until(app, ready):
    """Run until something is there: what is watched comes when it comes."""
    for _ in range(600):
        if ready():
            return app
        time.sleep(0.05)
        app.run()
        assert not app.exception, app.exception
    raise AssertionError("it never came")


def tree(app):
    """Everything that was sent to the browser, as text."""
    return "\n".join(str(getattr(node, "proto", "")) for node in app._tree)


def database():
    """Everything that the database of this process holds, as text."""
    with kept().database.read() as connection:
        tables = schema.results.metadata.sorted_tables
        return "\n".join(str(row) for t in tables for row in connection.execute(t.select()))
