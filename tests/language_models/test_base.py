"""The interface: whoever implements it does so wholly, and what it returns is clean."""

import pytest

from core.language_models.base import LanguageModel, Response
from tests.hostile import HALF


def test_a_back_end_must_meet_the_whole_interface():
    class Silent(LanguageModel):
        def sample(self, prompt, count, *, temperature=1.0, seed=0, first=0):
            return []

    with pytest.raises(TypeError, match="log_likelihoods"):
        Silent()


def test_a_response_has_no_half_of_a_character_wherever_it_comes_from():
    assert Response(f"a{HALF}b", True).text == "a\N{REPLACEMENT CHARACTER}b"
    assert Response("👍", True).text == "👍"
