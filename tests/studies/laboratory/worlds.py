"""Facts and models of which both Q and P are known."""

from dataclasses import replace

import numpy as np

from core import prompts
from core.data.world.facts import Band, Fact, RightAnswer, facts
from tests.fakes import Searched

SOME = next(fact for fact in facts() if fact.band is Band.HALF_KNOWN)


def one_right(share: float = 0.4) -> Fact:
    """Ralph Fiennes, as two in five authors do not believe; known by two names."""
    return replace(
        SOME,
        answers=(RightAnswer(("Ralph Fiennes", "Fiennes"), 1.0),),
        misconception="Judi Dench",
        misconception_share=share,
    )


def many_right() -> Fact:
    """Four colours, not all of them as likely."""
    colours = zip(("red", "blue", "green", "black"), (0.4, 0.3, 0.2, 0.1), strict=True)
    answers = tuple(RightAnswer((name,), p) for name, p in colours)
    return replace(SOME, answers=answers, misconception=None, misconception_share=0.0)


class Chained(Searched):
    """Says after two answers what it says after the second alone."""

    def log_likelihoods(self, asked, answers):
        return super().log_likelihoods([self._last(prompt) for prompt in asked], answers)

    def _last(self, prompt: str) -> str:
        if prompts.FURTHER_ANSWER not in prompt:
            return prompt
        before, after = prompt.split(prompts.FIRST_ANSWER)
        return before + prompts.FIRST_ANSWER + after.split(prompts.FURTHER_ANSWER)[1]


def believer(fact: Fact, texts, first, rows) -> Chained:
    """A model that answers this fact's question by these tables."""
    return Chained(texts, first, rows, query=fact.question)


def smooth(p, share=1e-4):
    """Leave no text without any probability."""
    p = np.asarray(p, float)
    return (1 - share) * p + share / p.shape[-1]
