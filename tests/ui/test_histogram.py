"""The histogram under λ: what a browser is handed, and what is believed of what it sends."""

import math

import numpy as np
import pytest

from core.ui.components import histogram as component
from core.ui.components.histogram import Cuts, Line

SHARES = {
    "start": np.array([0.0, 1.0]),
    "end": np.array([1.0, 2.0]),
    "right": np.array([4.0, 0.0]),
    "wrong": np.array([1.0, 2.0]),
}
LINES = (Line(1.0, "λ", movable=True),)
CUTS = Cuts(0.0, 2.5, 1.0, np.array([0.0, 0.5, 1.0]), np.array([math.nan, 0.2, 0.5]))


@pytest.fixture
def browser(monkeypatch):
    """What a browser is handed; `send` is what it sends back."""

    class Browser:
        def __init__(self):
            self.state, self.dropped = {}, []

        def draw(self, cuts=CUTS, lines=LINES):
            monkeypatch.setattr(component.st, "session_state", self.state)
            monkeypatch.setattr(component, "mount", self._mounted)
            words = {"title": "doubt", "alt_text": "Histogram", "at_rest": "Drag."}
            return component.histogram(
                SHARES, lines, cuts, **words, on_moved=self.dropped.append, key="h"
            )

        def _mounted(self, *, data, on_moved_change, **_):
            self.data, self.moved = data, on_moved_change

        def send(self, value):
            self.state["h"] = {"moved": value}
            self.moved()
            return self.dropped

    return Browser()


def test_bars_lines_and_what_each_place_does(browser):
    assert browser.draw(lines=(Line(1.0, "λ"), Line(math.inf, "by hand", movable=True))) is None
    assert browser.data["bins"][1] == {"start": 1.0, "end": 2.0, "right": 0.0, "wrong": 2.0}
    assert [(line["value"], line["text"]) for line in browser.data["lines"]] == [
        (1.0, "λ = 1.000"),
        (2.5, "by hand = ∞"),  # an endless one stands at the end
    ]
    assert browser.data["cuts"]["answered"] == ["0.0%", "50.0%", "100.0%"]
    assert browser.data["cuts"]["wrong"] == ["none", "20.0%", "50.0%"]
    browser.draw(cuts=None)
    assert browser.data["cuts"] is None and browser.data["high"] == 2.0


@pytest.mark.parametrize("value", [None, True, "1", [1], math.nan, math.inf, -0.1, 2.6, 10**400])
def test_only_a_place_on_the_axis_moves_the_threshold(browser, value):
    browser.draw()
    assert browser.send(value) == []
    assert browser.send(1.5) == [1.5]


@pytest.mark.parametrize(
    "value", [None, 1, "ab", [1.0], [1.0, 0.5], [1, 1], [-1, 1], [0, 9], [0, math.nan], ["0", "1"]]
)
def test_only_a_range_on_the_axis_is_selected(browser, value):
    browser.state["h"] = {"selected": value}
    assert browser.draw() is None and browser.data["selected"] is None
    browser.state["h"] = {"selected": [0.5, 1.5]}
    assert browser.draw() == (0.5, 1.5) == browser.data["selected"]
