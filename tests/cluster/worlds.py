"""A world of numbers that workers open, and that writes down what it was asked."""

import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from core.language_models.language_model import LanguageModel
from core.language_models.usage import Budget
from tests.studies.evaluation.worlds import NUMBER, World


class Logged(World):
    """Writes every number that it is asked to a file, and holds some back until a file is there."""

    def __init__(self, numbers: "Numbers") -> None:
        super().__init__(numbers.broken)
        self.numbers = numbers

    def sample(self, prompt, count, *, temperature=1.0, seed=0, first=0):
        number = int(NUMBER.search(prompt)[1])
        if temperature == 0:
            with (self.numbers.folder / "asked").open("a") as file:
                file.write(f"{number}\n")
            while self.numbers.holds(number) and not self.numbers.released:
                time.sleep(0.05)
        return super().sample(prompt, count, temperature=temperature, seed=seed, first=first)


@dataclass(frozen=True)
class Numbers:
    """Opens a world in a worker."""

    folder: Path  # of what it writes
    held: frozenset[int] = frozenset()  # numbers that are answered only once `release` was called
    # So many numbers may be asked before all that follow wait for `release`, too. Ray promises no
    # order of blocks, so that only this leaves a certain number of them to be finished.
    most: int = sys.maxsize
    broken: dict[int, Exception] = field(default_factory=dict)
    revision: str = World.revision
    unopened: Exception | None = None  # what goes wrong when it is opened

    def __call__(self, budget: Budget) -> LanguageModel:
        if self.unopened:
            raise self.unopened
        model = Logged(self)
        model.revision = self.revision
        return model

    @property
    def asked(self) -> Counter[int]:
        """How often every number was asked."""
        file = self.folder / "asked"
        return Counter(map(int, file.read_text().split())) if file.exists() else Counter()

    def holds(self, number: int) -> bool:
        """Whether a number that was asked waits for `release`."""
        return number in self.held or self.asked.total() > self.most

    @property
    def released(self) -> bool:
        """Whether those that are held may be answered."""
        return (self.folder / "open").exists()

    def release(self) -> None:
        """Let those that are held be answered."""
        (self.folder / "open").touch()
