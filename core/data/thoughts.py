"""Thoughts that stand in front of an answer, in its text, and how it is told apart."""

from typing import Final

TAGS: Final = {
    **{f"<{name}>": f"</{name}>" for name in ("think", "thinking", "thought", "seed:think")},
    "[THINK]": "[/THINK]",  # Mistral's
    "◁think▷": "◁/think▷",  # Kimi's
    "<|channel|>analysis<|message|>": "<|channel|>final<|message|>",  # gpt-oss, where not parsed
}


def answer_in(text: str) -> str:
    """Return what stands behind the thoughts of a text; "" where they do not end."""
    for begin, end in TAGS.items():
        if end in text:
            return text.rpartition(end)[2]
        if text.lstrip().startswith(begin):
            return ""
    return text
