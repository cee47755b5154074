"""The tokenizer of a GGUF file, made again from what the file says of it."""

from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers

from core.language_models.backends.gguf.weights import Fields, unknown_part_error
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
# llama.cpp's way for a file that does not say: marks by themselves, digits in threes.
_DEFAULT = (
    r"[\p{P}\$\+<=>\^~\|]+",
    r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)",
    r"\p{N}+",
    r"[0-9][0-9][0-9]",
)
DEFAULT = "default"
NOT_STATED = (
    "The file does not say how its vocabulary cuts texts (tokenizer.ggml.pre). They are cut as "
    "llama.cpp does then, which may not be how the model was taught: its numbers may be off."
)

# What a file may say of its vocabulary. Of these `tokenizer` and `beginning` make it:
READ_KEYS = {
    *("model", "pre", "tokens", "token_type", "merges", "scores", "bos_token_id", "eos_token_id"),
    *("eot_token_id", "eom_token_id", "add_bos_token", "add_space_prefix"),
}
# These say what else a token is for, and change the tokens of no text.
IGNORED_KEYS = {
    *("unknown_token_id", "padding_token_id", "seperator_token_id", "cls_token_id"),
    *("mask_token_id", "token_type_count", "prefix_token_id", "suffix_token_id"),
    *("middle_token_id", "fim_pre_token_id", "fim_suf_token_id", "fim_mid_token_id"),
    *("fim_pad_token_id", "fim_rep_token_id", "fim_sep_token_id"),
}
ABSENT = {"add_eos_token", "add_sep_token", "remove_extra_whitespaces"}  # or false


def _pattern(*patterns: str) -> Any:
    cuts = [pre_tokenizers.Split(Regex(pattern), "isolated") for pattern in patterns]
    return pre_tokenizers.Sequence(
        [*cuts, pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)]
    )


def _gpt_2(*before: Any) -> Any:
    return pre_tokenizers.Sequence([*before, pre_tokenizers.ByteLevel(add_prefix_space=False)])


CUTS = {
    DEFAULT: lambda: _pattern(*_DEFAULT),
    "gpt-2": _gpt_2,
    "smollm": lambda: _gpt_2(pre_tokenizers.Digits(individual_digits=True)),
    "llama-bpe": lambda: _pattern(_LLAMA_3),
    "qwen2": lambda: _pattern(_QWEN_2),
}


def tokenizer(fields: Fields) -> Tokenizer:
    """Return the tokenizer; it reads control tokens that are written out as text.

    Raises `BrokenModelError` when the file has none, or one of another kind; the sentence names it.
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
    built.add_tokens([AddedToken(token, normalized=False) for token in user_defined(fields)])
    return built


def check_fields(fields: Fields) -> None:
    """Raise `BrokenModelError` for a file that says more of its vocabulary than we read."""
    for name in fields.names("tokenizer.ggml."):
        there = name not in ABSENT or bool(fields.get(f"tokenizer.ggml.{name}"))
        if there and name not in READ_KEYS | IGNORED_KEYS:
            raise unknown_part_error(f"“tokenizer.ggml.{name:.60}”", "would read texts otherwise")


def beginning(fields: Fields) -> tuple[int, ...]:
    """Return the tokens in front of every text, where a file does not say by llama.cpp's rules.

    Raises `BrokenModelError` when there should be one, and the file does not name it.
    """
    sentence_piece = fields.get("tokenizer.ggml.model") == "llama"
    usual = sentence_piece or fields.get("tokenizer.ggml.pre") == "llama-bpe"
    if not fields.get("tokenizer.ggml.add_bos_token", usual):
        return ()
    token = fields.get("tokenizer.ggml.bos_token_id", 1 if sentence_piece else None)
    if token is None:
        raise BrokenModelError(
            "The file says that every text begins with a token of its own, and does not name it "
            "(tokenizer.ggml.bos_token_id). Fetch it again, or choose another file."
        )
    return (int(token),)


def notes(fields: Fields) -> tuple[str, ...]:
    """Return what to say beside every number: sentences."""
    cuts = fields.get("tokenizer.ggml.pre", DEFAULT) == DEFAULT
    return (NOT_STATED,) if cuts and fields.get("tokenizer.ggml.model") == "gpt2" else ()


def user_defined(fields: Fields) -> list[str]:
    """Return the tokens that are read as such wherever a text has them."""
    tokens, control = fields.get("tokenizer.ggml.tokens"), control_tokens(fields)
    defined = [tokens[i] for i in np.flatnonzero(_kinds(fields) == TokenType.USER_DEFINED)]
    return [token for token in defined if token not in control]


def control_tokens(fields: Fields) -> dict[str, int]:
    """Return the ids of the tokens that are no text, by what is written for them in templates.

    The ends that a file names are among them, whatever it says of their kind.
    """
    tokens, kinds = fields.get("tokenizer.ggml.tokens"), _kinds(fields)
    ends = (fields.get(f"tokenizer.ggml.{end}_token_id") for end in ("eos", "eot", "eom"))
    control = {*np.flatnonzero(kinds == TokenType.CONTROL).tolist(), *ends} - {None}
    return {tokens[i]: i for i in sorted(control)}


def _kinds(fields: Fields) -> NDArray[np.int64]:
    """Return what every token is, of shape (V,)."""
    count = len(fields.get("tokenizer.ggml.tokens"))
    types = fields.get("tokenizer.ggml.token_type") or [TokenType.NORMAL] * count
    if len(types) != count:
        raise ValueError("Not every token has its kind.")
    return np.array(types)


def _byte_level(fields: Fields) -> Tokenizer:
    """GPT-2's kind: bytes as signs, and pairs of tokens that are merged in an order."""
    name = str(fields.get("tokenizer.ggml.pre", DEFAULT))
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
