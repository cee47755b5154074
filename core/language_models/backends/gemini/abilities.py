"""What a Gemini model was found to do."""

import threading
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

from core.language_models.language_model import StoredAbilities

THINKING = (0, 128)  # tokens of thoughts, the fewest first that models take
CANDIDATES = 8  # what the service gives at most in one reply; some models give one only


@dataclass(frozen=True)
class Abilities(StoredAbilities):
    """What was found out about a model."""

    FORMAT: ClassVar[int] = 4

    stated: str | None = None  # the model that its replies name; None until one has come
    candidates: int = CANDIDATES  # how many answers it gives a request
    own: bool = False  # whether it says how likely its answers are, at every temperature the same
    thoughts: int = 0  # the tokens that an answer may take for its thoughts
    # The tokens that thoughts are limited to; None where that cannot be said.
    thinking: int | None = None
    without: tuple[str, ...] = ()  # the fields of a request that it refuses

    def alias_of(self, model: str) -> list[str]:
        """Return what a revision says of the model that answers under another name, if it does."""
        same = not self.stated or model == f"models/{self.stated}"
        return [] if same else [f"answers as {self.stated}"]

    def less(self, name: str) -> Self | None:
        """Return how to ask without a field that was refused; None where it is needed."""
        if name == "logprobs":
            return replace(self, own=False) if self.own else None
        if name == "thinkingConfig":
            if self.thinking is None:
                return None
            more = [budget for budget in THINKING if budget > self.thinking]
            return replace(self, thinking=more[0] if more else None)
        return None if name in self.without else replace(self, without=(*self.without, name))


@dataclass
class Facts:
    """What is known of a model so far, in whatever form it is asked."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    abilities: Abilities | None = None
    thoughts: int = 0  # the most tokens that an answer was seen to take for them
    named: str = ""  # the model that the last reply of a probe names
    stated: Any = None  # the service's description of the model
