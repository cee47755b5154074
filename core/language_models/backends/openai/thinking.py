"""Models that think before they answer: how that shows, and how the answer is told apart.

Servers put thoughts into a field of their own (``reasoning_content`` of vLLM, SGLang and
llama.cpp, ``reasoning`` of Ollama and OpenRouter), leave them in the text between tags, or hide
them and count them. Without room, all tokens go into thoughts and the answer is empty.
"""

from typing import Any, Final

from core.data.thoughts import TAGS
from core.language_models.backends.openai.abilities import THINKING_ROOM
from core.language_models.backends.openai.replies import CUT, Reply, finish_of
from core.language_models.errors import RefusedError

FIELDS: Final = ("reasoning_content", "reasoning")
# What switches it off: templates of Qwen, GLM and Granite; Ollama and OpenAI's newer models;
# OpenAI's GPT-5.
SWITCHES: Final[tuple[dict[str, Any], ...]] = (
    {"chat_template_kwargs": {"enable_thinking": False}},
    {"reasoning_effort": "none"},
    {"reasoning_effort": "minimal"},
)


def all_texts(choice: Reply) -> list[Any]:
    """Return the text of a choice, and its thoughts where they have a field."""
    message = choice.get("message")
    fields = message if isinstance(message, dict) else {}
    return [choice.get("text"), fields.get("content"), *map(fields.get, FIELDS)]


def has_thought(choice: Reply, text: str) -> bool:
    """Whether a choice shows a thought, or has spent all its tokens without a text."""
    if any(isinstance(thought, str) and thought.strip() for thought in all_texts(choice)[2:]):
        return True
    begun = text.lstrip().startswith(tuple(TAGS)) or any(tag in text for tag in TAGS.values())
    return begun or (finish_of(choice) in CUT and not text and "message" in choice)


def counts_thoughts(reply: Reply) -> bool:
    """Whether a reply says that tokens went into thoughts that it does not show."""
    usage = reply.get("usage")
    details = usage.get("completion_tokens_details") if isinstance(usage, dict) else None
    counted = details.get("reasoning_tokens") if isinstance(details, dict) else None
    return type(counted) is int and counted > 0


TOO_LONG: Final = "its thoughts took all tokens"  # why a response is none


def no_answer(host: str, limit: int) -> RefusedError:
    """Return the error for a model that thinks for so long that it never answers."""
    return RefusedError(
        f"{host} used all {THINKING_ROOM + limit:,} tokens that it may use for thinking, without "
        "an answer. Switch thinking off in the server, or choose a model that thinks less."
    )
