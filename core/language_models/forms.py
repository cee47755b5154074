"""How a language model wants to be asked: our prompts alone, behind examples, or in a chat.

A model that was trained on our prompts answers them as they stand. Others were trained on all
that is written, and go on with a prompt instead of answering it; worked examples in front show
them what is wanted. Models that were taught to chat want a prompt in the marks of a turn.

The examples must not teach the effect that is measured. A model that sees told answers come back
learns to copy, one that sees them ignored learns to be stubborn, and one that sees no told answer
takes the sentence for part of the question. So they are balanced: of the questions with a told
answer as many keep it as replace it, once because it is wrong and once because there are others.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NoReturn

from core import prompts
from core.language_models.errors import ModelError, PromptTooLongError


class Form(StrEnum):
    """What stands around our prompts."""

    PLAIN = "plain"
    EXAMPLES = "examples"
    CHAT = "chat"
    CHAT_WITH_EXAMPLES = "chat-with-examples"

    @classmethod
    def _missing_(cls, value: object) -> NoReturn:
        raise ModelError(f"There is no form {value!r:.60}. Choose auto, {', '.join(cls)}.")

    @property
    def has_examples(self) -> bool:
        """Whether worked examples stand in front."""
        return self in (Form.EXAMPLES, Form.CHAT_WITH_EXAMPLES)

    @property
    def is_chat(self) -> bool:
        """Whether prompts are turns in the model's own marks."""
        return self in (Form.CHAT, Form.CHAT_WITH_EXAMPLES)


@dataclass(frozen=True)
class Frame:
    """What stands around every prompt."""

    # before, after: the tokens in front of the prompt, and between the prompt and the answer.
    before: Sequence[int] = ()
    after: Sequence[int] = ()
    lead: str = " "  # with what an answer begins: a space behind “A:”, nothing in a turn of its own
    # head, tail: text directly around the prompt, which is read as one with it: its tokens depend
    # on it.
    head: str = ""
    tail: str = ""


@dataclass(frozen=True)
class Example:
    """A question, the answers that its prompt tells, and the answer that is shown."""

    query: str
    earlier: tuple[str, ...]
    answer: str

    @property
    def prompt(self) -> str:
        """The prompt as it is sent."""
        return prompts.iterative(self.query, self.earlier)


EXAMPLES = (
    Example("What do bees make?", ("Milk",), "Honey"),
    Example("Name a month of the year.", ("June",), "October"),
    Example("How many legs does a spider have?", ("Eight",), "Eight"),
    Example("Who painted the Mona Lisa?", (), "Leonardo da Vinci"),
    Example("What is the largest planet?", ("Jupiter",), "Jupiter"),
    Example("What is frozen water called?", (), "Ice"),
)

_FORM = ", asked in the form "
BETWEEN = "\n\n"  # examples, and between the last of them and the prompt


def in_front(examples: Sequence[Example] = EXAMPLES) -> str:
    """Return the examples as one text, to stand in front of a prompt."""
    return "".join(f"{example.prompt} {example.answer}{BETWEEN}" for example in examples)


def revision(weights: str, form: Form, examples: Sequence[Example]) -> str:
    """Return the revision of a model that is asked in a form: part of every key and result."""
    if form is Form.PLAIN:
        return weights
    shown = f" {hashlib.sha256(in_front(examples).encode()).hexdigest()[:8]}" if examples else ""
    return f"{weights}{_FORM}{form}{shown}"


def same_weights(one: str, other: str) -> bool:
    """Whether two revisions are of the same weights, in whatever forms they are asked."""
    return one.partition(_FORM)[0] == other.partition(_FORM)[0]


def unknown_form(name: str, forms: Sequence[Form]) -> ModelError:
    """Return the error for a form in which a model cannot be asked; `forms` are those it has."""
    return ModelError(f"{name} is asked in the form {' or '.join(forms)} only. Choose that.")


def too_small(name: str, form: Form) -> PromptTooLongError:
    """Return the error for a model that has no room for any question in a form."""
    other = "" if form is Form.PLAIN else "another form, or "
    return PromptTooLongError(
        f"The context of {name} is too small: in the form {form} not even a short question fits. "
        f"Choose {other}a model with a larger context."
    )
