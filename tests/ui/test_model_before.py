"""What a tab of the browser says of the model before: a name, or nothing."""

import pytest

from core.ui.components.model_before import LONGEST, name_of


def test_a_name_is_taken_as_it_is():
    assert name_of({"before": "openai:m@http://localhost:1/v1"}) == "openai:m@http://localhost:1/v1"


@pytest.mark.parametrize(
    "said", [None, 3, [], {}, {"before": None}, {"before": 1}, {"before": ""}, {"before": "a\nb"}]
)
def test_whatever_else_a_browser_sends_is_none(said):
    assert name_of(said) is None
    assert name_of({"before": "x" * (LONGEST + 1)}) is None
