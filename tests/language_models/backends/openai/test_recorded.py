"""What real servers replied is understood; `recording` says how each was recorded.

All of them served SmolLM2-135M-Instruct. The numbers are read off their replies by hand.
"""

import pytest

from core.language_models.backends.openai.model import OpenAICompatible
from core.language_models.base import Response
from tests.language_models.backends.openai.recording import ask, replayed

REVISIONS = {
    "mlx_lm": "completions, neutral min_p, repeat_penalty, repetition_penalty, top_k; SmolLM2-",
    "transformers_serve": "completions, neutral generation_config; SmolLM2-",
}


@pytest.mark.parametrize("name", REVISIONS)
def test_what_a_real_server_can_do_is_found_out(name):
    with replayed(name) as server:
        model = OpenAICompatible(server.rest)
        assert model.revision.startswith(REVISIONS[name])
        assert not model.capabilities.notes


def test_transformers_serve_is_told_to_draw():
    """It takes no sampler but through its own field, and decodes greedily without that."""
    with replayed("transformers_serve") as server:
        found = ask(OpenAICompatible(server.rest))
        assert all("do_sample" in body["generation_config"] for body in server.bodies[4:])
    assert found["drawn"][0].text.startswith("In addition to thecontinent, Paris")
    assert found["greedy"] == [Response("France", True)]


def test_mlx_lm_lists_log_probabilities_when_told_yes_and_no_number():
    """Its tokens are those of the vocabulary: Ċ is the line break that ended the answer."""
    with replayed("mlx_lm") as server:
        found = ask(OpenAICompatible(server.rest))
    assert found["drawn"] == [Response("France", True, pytest.approx(-3.41192))]
    assert found["greedy"] == [Response("", True, pytest.approx(-2.24039))]
    assert found["next"]["ĠTrue"] == pytest.approx(-1.82533)
