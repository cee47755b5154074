"""What is learnt from a document: after which of its tokens, and what might stand there.

Pure Python: the network that learns it is in `training.train`.
"""

import functools
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tokenizers import Tokenizer

from training import vocabulary
from training.corpus import Belief, Document

#: Token ids that might stand in one place, and their probabilities.
Target = tuple[list[int], list[float]]


@dataclass(frozen=True)
class Example:
    """A document in tokens: after the tokens at `where`, the model is to say `targets`."""

    tokens: list[int]
    where: list[int]
    targets: list[Target]


class Tree:
    """Texts with probabilities, token by token: what comes next after their beginnings.

    With the exact distribution for a target instead of the one text that was drawn, the
    gradient is the same in expectation and has less variance (Rao and Blackwell).
    """

    def __init__(self, belief: Belief, encode: Callable[[str], list[int]], end: int) -> None:
        following: dict[tuple[int, ...], dict[int, float]] = defaultdict(lambda: defaultdict(float))
        for text, probability in belief:
            tokens = [*encode(f" {text}"), end]
            for i, token in enumerate(tokens):
                following[tuple(tokens[:i])][token] += probability
        self.following = {
            beginning: (list(after), [p / sum(after.values()) for p in after.values()])
            for beginning, after in following.items()
        }

    def targets(self, tokens: Sequence[int]) -> list[Target]:
        """Return what might stand in the place of each of `tokens`, given those before it."""
        return [self.following[tuple(tokens[:i])] for i in range(len(tokens))]


class Encoder:
    """Turns documents into tokens and targets."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.tokenizer = tokenizer
        self.end = tokenizer.token_to_id(vocabulary.END)
        self.stop = tokenizer.token_to_id(".")
        self.openings = {
            tokenizer.token_to_id(vocabulary.FIRST_ANSWER),
            tokenizer.token_to_id(vocabulary.FURTHER_ANSWER),
        }
        self.tree = functools.lru_cache(8192)(self._tree)

    def _tree(self, belief: Belief, end: int) -> Tree:
        return Tree(belief, self.encode, end)

    def encode(self, text: str) -> list[int]:
        return list(self.tokenizer.encode(text).ids)

    def __call__(self, document: Document) -> Example:
        """Return a document's tokens, to learn the answer (with its end) and what was told."""
        prompt = self.encode(document.prompt)
        answer = [*self.encode(f" {document.answer}"), self.end]
        tokens = prompt + answer[:-1]
        where = list(range(len(prompt) - 1, len(tokens)))
        targets = self.tree(document.belief, self.end).targets(answer)
        if document.told:
            openings = [i for i, token in enumerate(prompt) if token in self.openings]
            prior = self.tree(document.prior, self.stop)
            seen: set[str] = set()
            for i, (opening, told) in enumerate(zip(openings, document.told, strict=True)):
                if told in seen:
                    continue
                seen.add(told)
                said = self.encode(f" {told}")
                # Whether an answer is told again hangs on the document: how it goes on does not.
                first = min(i, 1)
                where += range(opening + first, opening + len(said))
                targets += prior.targets(said)[first:]
        return Example(tokens, where, targets)
