"""The tokenizer of a GGUF file, made again from what the file says of it."""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from typing import Any

from tokenizers import (
    AddedToken,
    Regex,
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
)

from core.language_models.backends.gguf.weights import Fields
from core.language_models.errors import BrokenModelError


class TokenType(IntEnum):
    """What a token is, as llama.cpp numbers it."""

    NORMAL = 1
    UNKNOWN = 2
    CONTROL = 3
    USER_DEFINED = 4
    UNUSED = 5
    BYTE = 6


# SentencePiece makes no longer token of others, and trying to takes the square of its length.
LONGEST_MERGED = 512  # characters

# How a text is cut before pairs are merged, by the names in the files. GPT-2's way is built in.
_LLAMA_3 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
_QWEN_2 = _LLAMA_3.replace(r"\p{N}{1,3}", r"\p{N}")


def _pattern(pattern: str) -> Any:
    cut = pre_tokenizers.Split(Regex(pattern), "isolated")
    return pre_tokenizers.Sequence(
        [cut, pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)]
    )


def _gpt_2(*before: Any) -> Any:
    return pre_tokenizers.Sequence([*before, pre_tokenizers.ByteLevel(add_prefix_space=False)])


CUTS = {
    "default": _gpt_2,
    "gpt-2": _gpt_2,
    "smollm": lambda: _gpt_2(pre_tokenizers.Digits(individual_digits=True)),
    "llama-bpe": lambda: _pattern(_LLAMA_3),
    "qwen2": lambda: _pattern(_QWEN_2),
}


def tokenizer(fields: Fields) -> Tokenizer:
    """Return the tokenizer; it reads control tokens that are written out as text.

    Raises
    ------
    BrokenModelError
        When the file has none, or one of another kind; the sentence names it.
    """
    model = fields.get("tokenizer.ggml.model")
    if model == "gpt2":
        built = _byte_level(fields)
    elif model == "llama":
        built = _sentence_piece(fields)
    else:
        raise BrokenModelError(
            f"The file’s tokenizer is “{model!s:.40}”. Believe knows gpt2 and llama: choose "
            "another file, or serve this one with llama.cpp."
        )
    tokens, kinds = fields.get("tokenizer.ggml.tokens"), _kinds(fields)
    built.add_tokens(
        [
            AddedToken(token, normalized=False)
            for token, kind in zip(tokens, kinds, strict=True)
            if kind == TokenType.USER_DEFINED
        ]
    )
    return built


def control_tokens(fields: Fields) -> dict[str, int]:
    """Return the ids of the tokens that are no text, by what is written for them in templates."""
    tokens = fields.get("tokenizer.ggml.tokens")
    return {
        token: i
        for i, (token, kind) in enumerate(zip(tokens, _kinds(fields), strict=True))
        if kind == TokenType.CONTROL
    }


def _kinds(fields: Fields) -> Sequence[int]:
    types = fields.get("tokenizer.ggml.token_type")
    return types or [TokenType.NORMAL] * len(fields.get("tokenizer.ggml.tokens"))


def _byte_level(fields: Fields) -> Tokenizer:
    """GPT-2's kind: bytes as signs, and pairs of tokens that are merged in an order."""
    name = str(fields.get("tokenizer.ggml.pre", "default"))
    if name not in CUTS:
        raise BrokenModelError(
            f"The file’s tokenizer cuts texts in the way “{name:.40}”. Believe knows "
            f"{', '.join(CUTS)}: choose another file, or serve this one with llama.cpp."
        )
    merges = [tuple(pair.split(" ")) for pair in fields.get("tokenizer.ggml.merges")]
    built = Tokenizer(
        models.BPE(vocab=_ids(fields), merges=merges, ignore_merges=name == "llama-bpe")
    )
    if name == "qwen2":
        built.normalizer = normalizers.NFC()
    built.pre_tokenizer = CUTS[name]()
    built.decoder = decoders.ByteLevel()
    return built


def _sentence_piece(fields: Fields) -> Tokenizer:
    """Llama 2's kind: a merge for every token that is two others, the best scored first.

    It puts no space in front of a text: who encodes the beginning of one does.
    """
    ids, scores = _ids(fields), fields.get("tokenizer.ggml.scores")
    merges = []
    for token, i in ids.items():
        if len(token) > LONGEST_MERGED:
            continue
        pairs = ((token[:at], token[at:]) for at in range(1, len(token)))
        merges_of = [(ids[a], ids[b], (a, b)) for a, b in pairs if a in ids and b in ids]
        merges += [(-scores[i], a, b, pair) for a, b, pair in merges_of]
    built = Tokenizer(
        models.BPE(
            vocab=ids,
            merges=[pair for *_, pair in sorted(merges)],
            byte_fallback=True,
            fuse_unk=True,
            unk_token=next(iter(ids)),
        )
    )
    built.normalizer = normalizers.Replace(" ", "▁")
    built.decoder = decoders.Sequence(
        [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()]
    )
    return built


def _ids(fields: Fields) -> dict[str, int]:
    tokens = fields.get("tokenizer.ggml.tokens")
    if not tokens:
        raise BrokenModelError("The file has no vocabulary. Fetch it again, or choose another.")
    return {token: i for i, token in enumerate(tokens)}
