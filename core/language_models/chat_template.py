"""What a model's own chat template puts around a prompt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from jinja2.exceptions import TemplateError
from jinja2.sandbox import ImmutableSandboxedEnvironment

from core.language_models.errors import ModelError
from core.language_models.forms import Example

PROMPT = "PROMPT-STANDS-HERE"


def around(
    template: str, marks: Mapping[str, str], examples: Sequence[Example] = ()
) -> tuple[str, str]:
    """Return what a template puts in front of a user's message, and behind it.

    Templates come from strangers, with the models: this one runs in a sandbox.

    Parameters
    ----------
    marks : mapping
        ``bos_token`` and ``eos_token``, which some templates write.
    examples : sequence of Example, optional
        Turns of before.

    Raises
    ------
    ModelError
        When the template fails, or does not repeat the message once.
    """

    def refuse(words: str) -> None:
        raise TemplateError(words)

    rules = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True)
    rules.globals["raise_exception"] = refuse
    try:
        text = rules.from_string(template).render(
            messages=messages(PROMPT, examples), add_generation_prompt=True, **marks
        )
        before, after = text.split(PROMPT)
    except Exception as error:  # whatever a stranger's program can raise
        raise ModelError(
            f"The model’s chat template cannot be used ({type(error).__name__}). Choose the form "
            "plain or examples."
        ) from None
    return before, after


def messages(prompt: str, examples: Sequence[Example] = ()) -> list[dict[str, str]]:
    """Return a prompt as the last message of a chat, behind examples."""
    said = []
    for example in examples:
        said += [("user", example.prompt), ("assistant", example.answer)]
    return [{"role": who, "content": text} for who, text in [*said, ("user", prompt)]]
