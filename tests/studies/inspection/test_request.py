"""Requests and readings: limits, refused with a sentence."""

import math
from dataclasses import replace

import pytest

from core.studies.inspection.request import (
    MAX_QUERY_CHARACTERS,
    InvalidRequestError,
    Reading,
    Request,
)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"query": ""}, "no question"),
        ({"query": " \n\u202e\t"}, "no question"),
        ({"query": "x" * (MAX_QUERY_CHARACTERS + 1)}, "2,001 characters"),
        ({"query": "\ud800"}, "characters that"),
        ({"samples": 0}, "from 1 to 300"),
        ({"samples": -3}, "from 1 to 300"),
        ({"samples": 301}, "from 1 to 300"),
        ({"temperature": 0.0}, "from 0.01 to 2"),
        ({"temperature": -1.0}, "from 0.01 to 2"),
        ({"temperature": 2.01}, "from 0.01 to 2"),
        ({"temperature": float("nan")}, "temperature"),
        ({"temperature": float("inf")}, "temperature"),
        ({"seed": -1}, "seed"),
        ({"seed": 2**32}, "seed"),
    ],
)
def test_limits_are_refused_with_a_sentence(change, says):
    with pytest.raises(InvalidRequestError, match=says) as caught:
        replace(Request("Which?"), **change)
    message = str(caught.value)
    assert message[0].isupper() and message.endswith(".")


@pytest.mark.parametrize(
    "values",
    [("x" * MAX_QUERY_CHARACTERS, 300, 2.0, 2**32 - 1), ("?", 1, 0.05, 0)],
    ids=["largest", "smallest"],
)
def test_the_limits_themselves_are_allowed(values):
    assert Request(*values)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"similarity": "vibes"}, "no similarity called “vibes”"),
        ({"threshold": 0.0}, "above 0"),
        ({"threshold": 1.01}, "at most 1"),
        ({"threshold": math.nan}, "above 0"),
        ({"gamma_1": -0.1}, "between 0 and 1"),
        ({"gamma_2": 1.5}, "between 0 and 1"),
        ({"gamma_2": math.nan}, "between 0 and 1"),
    ],
)
def test_settings_outside_their_limits_are_refused_with_a_sentence(change, says):
    with pytest.raises(InvalidRequestError, match=says) as caught:
        Reading(**change)
    assert str(caught.value).endswith(".")
