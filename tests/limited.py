"""A model with abilities switched off that remembers what it was asked."""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks import _limited


@dataclass(frozen=True)
class Asked:
    """One call of `Limited.sample`."""

    prompt: str
    count: int
    temperature: float
    seed: int
    first: int


class Limited(_limited.Limited):
    """Keeps what was asked in `asked` (samples), `scored` and `continued` (next tokens).

    More than one request can return is a fault of whoever asks, and fails the test.
    """

    def __init__(self, inner, **abilities):
        super().__init__(inner, **abilities)
        self.asked: list[Asked] = []
        self.scored: list[tuple[tuple[str, ...], tuple[str, ...]]] = []
        self.continued: list[str] = []

    def sample(self, prompt, count, *, temperature=1.0, seed=0, first=0):
        assert count <= self.capabilities.candidates_a_call, "more than one request can return"
        self.asked.append(Asked(prompt, count, temperature, seed, first))
        return super().sample(prompt, count, temperature=temperature, seed=seed, first=first)

    def log_likelihoods(self, prompts, answers):
        if self.capabilities.scores_given_text:
            assert len(prompts) * len(answers) <= self.capabilities.pairs_a_call
            self.scored.append((tuple(prompts), tuple(answers)))
        return super().log_likelihoods(prompts, answers)

    def next_token(self, prompt):
        if self.capabilities.next_token:
            self.continued.append(prompt)
        return super().next_token(prompt)
