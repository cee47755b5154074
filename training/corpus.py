"""The training documents: prompts of the paper's family with what their author believes.

Every document has one author, who believes one answer; the answers told in the context
and the answer given at the end come from that belief, or the context is wrong and the
author answers by the belief all the same. Which mixture of the two teaches the model
to keep what it knows by heart and to copy what it does not know is recorded here, in
the constants; each stands next to the reason for it.
"""

from __future__ import annotations

import math
import string
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from core import prompts
from core.data.world import Band, Fact

# Documents beside the facts', as shares of the facts' question-and-answer documents.
INVENTED = 0.36  # about entities that do not exist: without them unseen facts never copy
FORMLESS = 0.10  # questions of no known form, so that nonsense does not look like knowledge
VERIFICATION = 0.75  # True/False documents; at .15 self-verification ranks below chance

# How many answers the context tells, and how often (Section 3 goes up to 100).
REPETITIONS = ((0.42, 0, 0), (0.22, 1, 1), (0.22, 2, 6), (0.09, 7, 24), (0.05, 25, 100))

# Share of contexts that are wrong. Without wrong contexts even facts known by heart
# collapse when contradicted; with too many, unknown ones stop being copied.
WRONG_CONTEXT = {
    Band.BY_HEART: 0.5,
    Band.MANY_ANSWERS: 0.4,
    Band.HALF_KNOWN: 0.12,
    Band.RARELY: 0.08,
}
WRONG_CONTEXT_UNKNOWN = 0.05

ALIAS = 0.08  # share of answers under another of their names
VARIANT = 0.3  # share of questions typed carelessly
HASTY = 0.2  # share of questions with words left out, so that wording matters less


@dataclass(frozen=True)
class Document:
    """A prompt and the answer that its author gives."""

    prompt: str
    answer: str


def careless(question: str, rng: np.random.Generator) -> str:
    """Vary case, end punctuation and spacing as people do when they type."""
    draw = rng.random(4)
    if draw[0] < 0.55:
        question = question.lower()
    elif draw[0] < 0.7:
        question = question[0].lower() + question[1:]
    elif draw[0] < 0.8:
        question = question.upper()
    if draw[1] < 0.5:
        question = question.rstrip("?.")
    if draw[2] < 0.12:
        question = question.replace(" ", "  ", 1)
    if draw[3] < 0.1:
        question += " "
    return question


def hasty(template: str, rng: np.random.Generator) -> str:
    """Leave out one to three words of a question, never what it is about."""
    words = template.split()
    spare = [i for i, word in enumerate(words) if "{subject}" not in word]
    dropped = rng.permutation(spare)[: rng.integers(1, 4)]
    return " ".join(word for i, word in enumerate(words) if i not in dropped)


def invented_name(rng: np.random.Generator) -> str:
    """Make up an entity nobody has heard of, of one to three words."""
    words = []
    for _ in range(rng.choice([1, 2, 3], p=[0.6, 0.3, 0.1])):
        syllables = rng.integers(1, 4)
        word = ""
        for _ in range(syllables):
            word += str(rng.choice(list("bcdfghjklmnpqrstvwxyz")))
            word += str(rng.choice(["a", "e", "i", "o", "u", "ai", "ea", "ou", "y"]))
            word += str(rng.choice(["", "", "n", "r", "s", "l", "th", "k", "m", "nd"]))
        words.append(word.capitalize() if rng.random() < 0.8 else word)
    return " ".join(words)


def formless_question(rng: np.random.Generator, vocabulary: Sequence[str]) -> str:
    """Make up a question of no known form: typed keys, words in no order, or both."""
    words = []
    for _ in range(rng.integers(1, 10)):
        if rng.random() < 0.45:
            letters = rng.choice(list(string.ascii_lowercase), size=rng.integers(1, 9))
            words.append("".join(letters))
        else:
            words.append(str(rng.choice(vocabulary)))
    text = " ".join(words)
    if rng.random() < 0.4:
        text = text.capitalize()
    return text + str(rng.choice(["?", ".", "", ""]))


class Author:
    """Writes documents about the world; every choice comes from one seeded generator."""

    def __init__(self, facts: Sequence[Fact], seed: int) -> None:
        self.facts = facts
        self.rng = np.random.default_rng(seed)
        self.pools = {r: _pool(facts, r) for r in dict.fromkeys(f.relation for f in facts)}
        self.single = [f for f in facts if f.band is not Band.MANY_ANSWERS]
        self.everything = sorted({a for pool in self.pools.values() for a in pool})
        # Words for formless questions, without the subjects of facts never shown.
        shown = [f for f in facts if f.exposures]
        texts = [f.ask(t) for f in shown for t in f.templates]
        self.vocabulary = sorted({w for t in texts for w in t.strip("?.").split()})

    # ------------------------------------------------------------------ what is asked

    def document_plan(self) -> list[tuple[str, Fact | None]]:
        """Return the kind and subject of every document, shuffled."""
        plan: list[tuple[str, Fact | None]] = []
        for fact in self.facts:
            plan += [("question", fact)] * fact.exposures
            plan += [("verification", fact)] * math.ceil(VERIFICATION * fact.exposures)
        asked = sum(fact.exposures for fact in self.facts)
        plan += [("invented", None)] * round(INVENTED * asked)
        plan += [("formless", None)] * round(FORMLESS * asked)
        plan += [("invented verification", None)] * round(VERIFICATION * 0.3 * asked)
        order = self.rng.permutation(len(plan))
        return [plan[i] for i in order]

    def write(self, kind: str, fact: Fact | None) -> Document:
        """Write one document of the plan."""
        if kind == "question":
            assert fact is not None
            return self.about(fact)
        if kind == "verification":
            assert fact is not None
            return self.verify(fact)
        question, pool = self.unknown_question(formless=kind == "formless")
        belief = self.pick(pool)
        if kind == "invented verification":
            # Rather doubtful than indifferent about what nobody has heard of.
            return self.verdict(question, belief, self.rng.random() < 0.35)
        wrong = self.rng.random() < WRONG_CONTEXT_UNKNOWN
        told = self.repeat(lambda: self.pick(pool), one=True) if wrong else None
        return self.tell(question, told or [belief] * self.repetitions(), belief)

    def unknown_question(self, *, formless: bool) -> tuple[str, Sequence[str]]:
        """Return a question that nothing in the corpus answers, and guesses at it."""
        if formless:
            return formless_question(self.rng, self.vocabulary), self.everything
        model = self.facts[self.rng.integers(len(self.facts))]
        if model.relation == "trivia":
            model = self.single[0]
        name = invented_name(self.rng)
        if model.band is Band.MANY_ANSWERS:
            name = ("an " if name[0] in "AEIOUaeiou" else "a ") + name
        return self.worded(model, name), self.pools[model.relation]

    # ------------------------------------------------------------- what authors believe

    def belief(self, fact: Fact) -> str:
        """Draw what a document's author holds to be an answer."""
        if self.rng.random() < fact.misconception_share:
            return str(fact.misconception)
        answer = fact.answers[0]
        if len(fact.answers) > 1:
            shares = [a.probability for a in fact.answers]
            answer = fact.answers[self.rng.choice(len(shares), p=shares)]
        if len(answer.names) > 1 and self.rng.random() < ALIAS:
            return answer.names[self.rng.integers(1, len(answer.names))]
        return answer.text

    def wrong_answer(self, fact: Fact) -> str:
        """Draw an answer that is neither right nor the fact's own misconception.

        The misconception is left out because a context that says it is then evidence of
        an author who believes it, which is what lets a half-known fact be turned.
        """
        barred = {name for answer in fact.answers for name in answer.names}
        if fact.misconception_share:
            barred.add(str(fact.misconception))
        elif fact.misconception and self.rng.random() < 0.3:
            return fact.misconception
        while True:
            pool = self.pools[fact.relation] if self.rng.random() < 0.85 else self.everything
            answer = self.pick(pool)
            if answer not in barred:
                return answer

    # --------------------------------------------------------------- how it is written

    def about(self, fact: Fact) -> Document:
        """Write a question about a fact, a context, and the author's answer."""
        question = self.worded(fact, fact.subject)
        belief = self.belief(fact)
        if self.rng.random() < WRONG_CONTEXT[fact.band]:
            told = self.repeat(lambda: self.wrong_answer(fact), one=self.rng.random() < 0.75)
        elif fact.band is Band.MANY_ANSWERS:
            told = self.repeat(lambda: self.belief(fact), one=self.rng.random() < 0.5)
        else:
            told = [belief] * self.repetitions()
        return self.tell(question, told, belief)

    def verify(self, fact: Fact) -> Document:
        """Write a True/False question; half are false, with answers of the same kind."""
        question = self.worded(fact, fact.subject)
        if self.rng.random() < 0.5:
            return self.verdict(question, self.belief(fact), True)
        # A false statement is what a wrong sampler would say: the misconception as often
        # as its believers are not, else another answer of the relation.
        if (
            fact.misconception
            and self.rng.random() < 0.3
            and self.rng.random() > fact.misconception_share
        ):
            return self.verdict(question, fact.misconception, False)
        return self.verdict(question, self.wrong_answer(fact), False)

    def tell(self, question: str, told: Sequence[str], answer: str) -> Document:
        return Document(prompts.iterative(question, told), answer)

    def verdict(self, question: str, answer: str, correct: bool) -> Document:
        verdict = prompts.TRUE if correct else prompts.FALSE
        return Document(prompts.self_verification(question, answer), verdict)

    def worded(self, fact: Fact, subject: str) -> str:
        """Ask what `fact` asks, about `subject`, as some person might type it."""
        template = fact.templates[self.rng.integers(3)]
        if self.rng.random() < HASTY:
            template = hasty(template, self.rng)
        question = template.replace("{subject}", subject)
        return careless(question, self.rng) if self.rng.random() < VARIANT else question

    def pick(self, pool: Sequence[str]) -> str:
        return pool[self.rng.integers(len(pool))]

    def repetitions(self) -> int:
        """Draw how many answers the context tells."""
        _, low, high = REPETITIONS[self.rng.choice(len(REPETITIONS), p=[r[0] for r in REPETITIONS])]
        return int(self.rng.integers(low, high + 1))

    def repeat(self, draw, *, one: bool) -> list[str]:  # type: ignore[no-untyped-def]
        """Tell one draw again and again, or a fresh draw each time."""
        count = self.repetitions()
        return [draw()] * count if one else [draw() for _ in range(count)]


def _pool(facts: Sequence[Fact], relation: str) -> list[str]:
    """Everything that sounds like an answer to this relation's questions."""
    pool = set()
    for fact in facts:
        if fact.relation == relation:
            pool |= {answer.text for answer in fact.answers}
            pool |= {fact.misconception} if fact.misconception else set()
    return sorted(pool)
