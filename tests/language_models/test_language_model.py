"""The interface: whoever implements it does so wholly, and what it returns is clean."""

import pytest

from core.language_models.language_model import LanguageModel, Response, prompt_seed
from tests.fakes import copies
from tests.hostile import HALF


def test_a_back_end_must_meet_the_whole_interface():
    class Silent(LanguageModel):
        def sample(self, prompt, count, *, temperature=1.0, seed=0, first=0):
            return []

    with pytest.raises(TypeError, match="log_likelihoods"):
        Silent()


def test_a_question_is_read_as_it_was_typed_unless_a_model_says_otherwise():
    assert copies(3).reads("  WHO wrote “Émile”?? 🤔") == "  WHO wrote “Émile”?? 🤔"


def test_a_response_has_no_half_of_a_character_wherever_it_comes_from():
    assert Response(f"a{HALF}b", True).text == "a\N{REPLACEMENT CHARACTER}b"
    assert Response("👍", True).text == "👍"


def test_an_answer_turns_no_sentence_that_it_stands_in():
    """A control of direction would mirror “Perhaps.”, and the numbers behind it."""
    assert Response("\u202eLyon\u2067", True).text == "Lyon"
    assert Response("\u200fפריז", True).text == "\u200fפריז"  # a mark turns nothing


def test_a_series_of_random_numbers_belongs_to_one_prompt_and_one_seed():
    made = {
        prompt_seed(seed, prompt) for seed in range(20) for prompt in ("", "a", "b", "ab", HALF)
    }
    assert len(made) == 100 and all(0 <= number < 2**32 for number in made)
    assert prompt_seed(7, "Who?") == prompt_seed(7, "Who?")
