"""A model around whose prompts we put tokens ourselves, as its form asks."""

import copy
import threading
from abc import abstractmethod
from collections.abc import Sequence
from typing import Self

from core.language_models.errors import ModelError
from core.language_models.forms import EXAMPLES, Example, Form, Frame, revision
from core.language_models.language_model import LanguageModel


class FramedModel(LanguageModel):
    """All forms; those of a chat where the model comes with a template of turns."""

    weights_revision: str

    @property
    @abstractmethod
    def template(self) -> str | None:
        """The template of a chat that comes with the model."""

    @abstractmethod
    def text_frame(self, examples: Sequence[Example]) -> Frame:
        """Return what stands around a prompt that is to be gone on with."""

    @abstractmethod
    def turn_frame(self, template: str, examples: Sequence[Example]) -> Frame:
        """Return what stands around a prompt that is a turn, behind `system` if there is one."""

    @abstractmethod
    def put_in(self, frame: Frame) -> None:
        """Put a frame around every prompt; what stands in front is read once, now.

        Raises `PromptTooLongError` when it leaves no room for a prompt.
        """

    @property
    def forms(self) -> tuple[Form, ...]:  # type: ignore[override]
        """All; those of a chat where there is a template."""
        return tuple(form for form in Form if self.template or not form.is_chat)

    def in_form(self, form: Form, examples: Sequence[Example] = EXAMPLES) -> Self:
        """Return the same model, asked in a form; see `LanguageModel.in_form`."""
        other = copy.copy(self)
        other.set_form(form, examples)
        return other

    def with_system(self, text: str) -> Self | None:
        """Return the same model behind a system prompt; see `LanguageModel.with_system`."""
        if not self.form.is_chat or self.template is None:
            return None
        with self._opening:  # what stands in front is read once, for all questions
            key = text, self.answer_tokens
            if key not in self._behind:
                self._behind.clear()
                other: Self | None = copy.copy(self)
                assert other is not None
                other.meter, other.system = self.meter, text
                try:
                    frame = other.turn_frame(self.template, self.examples)
                except ModelError:  # the template has no such turn
                    other = None
                else:
                    other.put_in(frame)
                self._behind[key] = other
            return self._behind[key]

    def set_form(self, form: Form, examples: Sequence[Example] = ()) -> None:
        """Have all prompts framed as a form asks."""
        self.form, self.system = form, ""
        self.examples = examples = examples if form.has_examples else ()
        self._behind: dict[tuple[str, int], Self | None] = {}
        self._opening = threading.Lock()
        self.revision = revision(self.weights_revision, form, examples)
        if not form.is_chat:
            self.put_in(self.text_frame(examples))
        elif self.template is None:
            raise ModelError(f"{self.name} has no chat template. Choose the form examples.")
        else:
            self.put_in(self.turn_frame(self.template, examples))


def common_prefix(sequences: Sequence[list[int]]) -> int:
    """Return how many leading tokens all sequences share, leaving each at least one."""
    low, high = min(sequences), max(sequences)  # these two differ soonest
    length = next((i for i, (a, b) in enumerate(zip(low, high, strict=False)) if a != b), len(low))
    return min(length, min(map(len, sequences)) - 1)
