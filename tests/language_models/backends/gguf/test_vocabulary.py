"""SentencePiece's kind of vocabulary, whose merges follow from the scores of its tokens."""

import pytest

from core.language_models.backends.gguf.vocabulary import (
    LONGEST_MERGED,
    TokenType,
    control_tokens,
    tokenizer,
)

BYTES = [f"<0x{i:02X}>" for i in range(256)]
WORDS = {"▁": -9, "a": -8, "b": -8, "c": -8, "ab": -2, "bc": -1, "▁a": -3, "▁ab": -4, "abc": -5}


class Fields:
    """What `tokenizer` reads of a file."""

    def __init__(self, words=WORDS):
        self.words = words

    def get(self, name, default=None):
        tokens = ["<unk>", "<s>", "</s>", *BYTES, *self.words]
        words = [TokenType.NORMAL] * len(self.words)
        kinds = [TokenType.UNKNOWN, *[TokenType.CONTROL] * 2, *[TokenType.BYTE] * 256, *words]
        return {
            "tokenizer.ggml.model": "llama",
            "tokenizer.ggml.tokens": tokens,
            "tokenizer.ggml.token_type": [int(kind) for kind in kinds],
            "tokenizer.ggml.scores": [0.0] * 259 + [float(score) for score in self.words.values()],
        }.get(name, default)


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        (" ab", ["▁ab"]),
        ("abc", ["abc"]),  # by a + bc, the best scored pair
        (" abc", ["▁a", "bc"]),  # bc is merged before ▁a, and nothing merges the two
        ("é", ["<0xC3>", "<0xA9>"]),
        ("</s>", [f"<0x{ord(sign):02X}>" for sign in "</s>"]),
    ],
)
def test_the_best_scored_pairs_are_merged_first(text, pieces):
    made = tokenizer(Fields())
    assert made.encode(text).tokens == pieces
    assert made.decode(made.encode(text).ids) == text


def test_no_longer_token_is_made_of_others_than_sentencepiece_makes():
    powers = {"a" * 2**i: -i for i in range(12)}
    assert tokenizer(Fields(powers)).encode("a" * 2048).tokens == ["a" * LONGEST_MERGED] * 4


def test_control_tokens_are_no_text():
    assert control_tokens(Fields()) == {"<s>": 1, "</s>": 2}
