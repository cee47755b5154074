"""What a model's own chat template puts around a prompt."""

import functools
import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from typing import Final

from core import settings
from core.language_models import template_process
from core.language_models.errors import ModelError
from core.language_models.forms import Example

PROMPT, SYSTEM = "PROMPT-STANDS-HERE", "SYSTEM-STANDS-HERE"
PATIENCE: Final = 30.0  # seconds by the clock: the process has two of the processor


def around(
    template: str,
    marks: Mapping[str, str],
    examples: Sequence[Example] = (),
    *,
    system: bool = False,
) -> tuple[str, str]:
    """Return what a template puts in front of a user's message, and behind it.

    Templates come from strangers, with the models: this one runs in a sandbox, in a process of its
    own with limits. Some write the `marks` ``bos_token`` and ``eos_token``. With `system`, a system
    prompt stands in front of all, in a turn of its own: as `SYSTEM`, for which the caller puts text
    that is never read as a mark; behind it, the examples are turns of before.

    Raises `ModelError` when the template fails, or does not repeat each message once.
    """
    turns = [{"role": "system", "content": SYSTEM}] if system else []
    turns += messages(PROMPT, examples)
    variables = {"messages": turns, "add_generation_prompt": True, **marks}
    reply = _answer(json.dumps({"template": template, "variables": variables}))
    parts = reply.get("text", "").split(PROMPT)
    if len(parts) != 2 or [part.count(SYSTEM) for part in parts] != [system, 0]:
        reason = reply.get("failed", "it does not repeat the question once")
        raise ModelError(
            f"The model’s chat template cannot be used ({reason}). Choose the form plain or "
            "examples."
        )
    before, after = parts
    return before, after


@functools.lru_cache(maxsize=64)
def _answer(task: str) -> dict[str, str]:
    """Return what a process of its own makes of a template: see `template_process`."""
    try:
        done = subprocess.run(
            [sys.executable, "-P", template_process.__file__],  # -P: it imports nothing beside it
            input=task,
            capture_output=True,
            encoding="utf-8",
            timeout=PATIENCE,
            env=settings.without_keys() | {"PYTHONIOENCODING": "utf-8"},
            check=False,
        )
        reply: dict[str, str] = json.loads(done.stdout)
    except subprocess.TimeoutExpired:
        return {"failed": "it takes too long"}
    except (OSError, ValueError):  # the system has ended it, or allows no further process
        return {"failed": "it takes too long or too much memory"}
    return reply


def messages(prompt: str, examples: Sequence[Example] = ()) -> list[dict[str, str]]:
    """Return a prompt as the last message of a chat, behind examples."""
    turns = []
    for example in examples:
        turns += [("user", example.prompt), ("assistant", example.answer)]
    return [{"role": who, "content": text} for who, text in [*turns, ("user", prompt)]]
