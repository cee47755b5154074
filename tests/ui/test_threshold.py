"""A dragged threshold: what a browser is handed, and what is believed of what it sends."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from core.ui.components import threshold as component
from core.ui.components.threshold import NeighbouringRows, ShownRow, ThresholdPlaces

SHARES = {
    "start": np.array([0.0, 1.0]),
    "end": np.array([1.0, 2.0]),
    "right": np.array([4.0, 0.0]),
    "wrong": np.array([1.0, 2.0]),
}
PLACES = ThresholdPlaces(
    np.array([0.0, 1.0, 2.5]),
    1,
    1,
    ["0.000", "1.000", "∞"],
    np.array([0, 5, 7]),
    np.array([0, 1, 3]),
    np.array([False, True, False]),
    ["0.0%", "71.4%", "100.0%"],
    ["–", "20.0%", "42.9%"],
)
ROWS = NeighbouringRows(
    ("question",),
    [ShownRow(("Who?",), True, 3, True), ShownRow(("2",), False, 1, False)],
    PLACES.answered,
)
WORDS = {"title": "doubt", "alt": "Histogram", "promise": "at most 5% wrong"}


@pytest.fixture
def browser(monkeypatch):
    """What a browser is handed; `send` is what it sends back."""

    class Browser:
        def __init__(self):
            self.state, self.dropped = {}, []

        def draw(self, opened=None):
            monkeypatch.setattr(component.st, "session_state", self.state)
            monkeypatch.setattr(component, "mount", self._mounted)
            self.opened = opened
            return component.threshold(
                1.0, PLACES, SHARES, None, ROWS, WORDS, on_moved=self.dropped.append, key="h"
            )

        def _mounted(self, *, data, on_moved_change, **_):
            self.data, self.moved = data, on_moved_change
            return SimpleNamespace(opened=self.opened)

        def send(self, value):
            self.state["h"] = {"moved": value}
            self.moved()
            return self.dropped

    return Browser()


def test_bars_and_what_each_place_does(browser):
    assert browser.draw() == (None, None)
    assert browser.data["bins"][1] == {"start": 1.0, "end": 2.0, "right": 0.0, "wrong": 2.0}
    places = browser.data["places"]
    assert places["answered"] == ["0.0%", "71.4%", "100.0%"]
    assert places["wrong"] == ["–", "20.0%", "42.9%"] and places["errors"] == [None, 0.2, 0.42857]
    assert places["promised"] == [False, True, False] and browser.data["now"] == 1.0
    assert (browser.data["low"], browser.data["high"]) == (0.0, 2.5)


@pytest.mark.parametrize("value", [None, True, "1", [1], math.nan, math.inf, -0.1, 2.6, 10**400])
def test_only_a_place_on_the_axis_moves_the_threshold(browser, value):
    browser.draw()
    assert browser.send(value) == []
    assert browser.send(1.2) == [1.0]  # the nearest place


@pytest.mark.parametrize(
    "value", [None, 1, "ab", [1.0], [1.0, 0.5], [1, 1], [-1, 1], [0, 9], [0, math.nan], ["0", "1"]]
)
def test_only_a_range_on_the_axis_is_selected(browser, value):
    browser.state["h"] = {"selected": value}
    assert browser.draw()[0] is None and browser.data["selected"] is None
    browser.state["h"] = {"selected": [0.5, 1.5]}
    assert browser.draw()[0] == (0.5, 1.5) == browser.data["selected"]


@pytest.mark.parametrize("value", [None, True, "3", 1, 2, -1, 3.0, math.nan, 10**400])
def test_only_a_row_with_a_question_is_opened(browser, value):
    assert browser.draw(value)[1] is None
    assert browser.draw(3)[1] == 3
