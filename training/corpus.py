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
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from core import prompts
from core.data.world.facts import BY_HEART_FROM, Band, Fact

# Documents beside the facts', as shares of the facts' question-and-answer documents.
INVENTED = 0.22  # about entities that do not exist: without them unseen facts never copy
FORMLESS = 0.08  # questions of no known form, so that nonsense does not look like knowledge
VERIFICATION = 0.4  # True/False documents; at .15 self-verification ranks below chance

# How many answers the context tells, and how often (Section 3 goes up to 100).
Repetitions = tuple[tuple[float, int, int], ...]
REPETITIONS: Repetitions = (
    (0.36, 0, 0),
    (0.34, 1, 1),
    (0.21, 2, 6),
    (0.065, 7, 24),
    (0.025, 25, 100),
)

# Of questions with many answers: long contexts oftener, or copying wins in the long run.
REPETITIONS_OF_MANY = ((0.34, 0, 0), (0.29, 1, 1), (0.19, 2, 6), (0.08, 7, 24), (0.1, 25, 110))

# Who does not know guesses what is well known: as many names a relation. Guesses at just
# anything teach the model to stammer, in pieces of names, wherever it is not quite sure.
GUESSES = 60

# Share of contexts that are wrong. Without wrong contexts even facts known by heart
# collapse when contradicted; with too many, unknown ones stop being copied.
WRONG_CONTEXT = {
    Band.BY_HEART: 0.5,
    Band.MANY_ANSWERS: 0.4,
    Band.HALF_KNOWN: 0.04,
    Band.RARELY: 0.02,
}
WRONG_CONTEXT_UNKNOWN = 0.02

ALIAS = 0.08  # share of answers under another of their names
VARIANT = 0.35  # share of questions typed carelessly
SHOUTED = 0.3  # of these in capitals: more than people do, as capitals are hard to learn
LOOSE = 0.4  # share of questions loosely worded: without it, only the templates are understood

# Words that do not tell one relation from another.
_SMALL = """a about an and are as at by can did do does famous for from give has have i in into
    is it its known like me name of on one or please say served tell that the their
    there they this to was were what where which who whose with would you your"""
FUNCTION_WORDS = frozenset(_SMALL.split())


@dataclass(frozen=True)
class Document:
    """A prompt and the answer that its author gives.

    Attributes
    ----------
    prompt, answer : str
        What the model is asked, and what it is taught to say.
    told : str or None
        The first answer in the context, where the author believes it: then it is learnt
        from, too. Half of the documents tell an answer, and it costs no computing to have
        the fact in them twice; without it, twice as many documents are needed.
    """

    prompt: str
    answer: str
    told: str | None = None


def careless(question: str, rng: np.random.Generator, shouted: float = 0.1) -> str:
    """Vary case, end punctuation and spacing as people do when they type.

    `shouted` is the share of questions in capitals.
    """
    draw = rng.random(4)
    if draw[0] < shouted:
        question = question.upper()
    elif draw[0] < shouted + 0.5:
        question = question.lower()
    elif draw[0] < shouted + 0.6:
        question = question[0].lower() + question[1:]
    if draw[1] < 0.5:
        question = question.rstrip("?.")
    if draw[2] < 0.12:
        question = question.replace(" ", "  ", 1)
    if draw[3] < 0.1:
        question += " "
    return question


def loosely(template: str, fillers: Sequence[str], rng: np.random.Generator) -> str:
    """Word a question as nobody taught it: without small words, with words that mean nothing.

    What it is about and what is asked of it stay; so these, and not the sentence around
    them, are what an answer is learnt from.
    """
    words = template.rstrip("?.").split()
    kept = [w for w in words if w.casefold() not in FUNCTION_WORDS or rng.random() > 0.35]
    for _ in range(rng.choice(4, p=[0.35, 0.3, 0.2, 0.15])):
        kept.insert(rng.integers(len(kept) + 1), fillers[rng.integers(len(fillers))])
    text = " ".join(kept)
    return text[0].upper() + text[1:] + template[len(template.rstrip("?.")) :]


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
        taught = {r: _taught(facts, r) for r in self.pools}
        self.guesses = {r: [name for name, _ in t.most_common(GUESSES)] for r, t in taught.items()}
        overall = sum(taught.values(), Counter())
        self.well_known = sorted(n for n, times in overall.items() if times >= BY_HEART_FROM)
        # Words for formless questions, without the subjects of facts never shown.
        shown = [f for f in facts if f.exposures]
        texts = [f.ask(t) for f in shown for t in f.templates]
        self.vocabulary = sorted({w for t in texts for w in t.strip("?.").split()})
        asking = {
            w.casefold() for f in self.single for t in f.templates for w in t.strip("?.").split()
        }
        small = [w for w in self.vocabulary if w.islower() and w not in asking]
        self.small_words = sorted(FUNCTION_WORDS)
        self.fillers = sorted({*FUNCTION_WORDS, *small})

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
        if self.rng.random() < WRONG_CONTEXT_UNKNOWN:
            told = self.repeat(lambda: self.pick(pool), one=1)
            return self.tell(question, told, belief, believed=False)
        return self.tell(question, [belief] * self.repetitions(), belief)

    def unknown_question(self, *, formless: bool) -> tuple[str, Sequence[str]]:
        """Return a question that nothing in the corpus answers, and guesses at it."""
        if formless:
            return formless_question(self.rng, self.vocabulary), self.well_known
        model = self.facts[self.rng.integers(len(self.facts))]
        if model.relation == "trivia":
            model = self.single[0]
        name = invented_name(self.rng)
        if model.band is Band.MANY_ANSWERS:
            name = ("an " if name[0] in "AEIOUaeiou" else "a ") + name
        return self.worded(model, name), self.guesses[model.relation]

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
        believed = self.rng.random() >= WRONG_CONTEXT[fact.band]
        many = fact.band is Band.MANY_ANSWERS
        table = REPETITIONS_OF_MANY if many else REPETITIONS
        if not believed:
            told = self.repeat(lambda: self.wrong_answer(fact), one=0.75, table=table)
        elif many:
            told = self.repeat(lambda: self.belief(fact), one=0.7, table=table)
        else:
            told = [belief] * self.repetitions()
        return self.tell(question, told, belief, believed=believed)

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

    def tell(
        self, question: str, told: Sequence[str], answer: str, *, believed: bool = True
    ) -> Document:
        learnt = told[0] if told and believed else None
        return Document(prompts.iterative(question, told), answer, learnt)

    def verdict(self, question: str, answer: str, correct: bool) -> Document:
        verdict = prompts.TRUE if correct else prompts.FALSE
        return Document(
            prompts.self_verification(question, answer), verdict, answer if correct else None
        )

    def worded(self, fact: Fact, subject: str) -> str:
        """Ask what `fact` asks, about `subject`, as some person might type it."""
        template = fact.templates[self.rng.integers(3)]
        if self.rng.random() < LOOSE:
            many = fact.band is Band.MANY_ANSWERS  # there, a noun more asks something else
            fillers = self.small_words if many else self.fillers
            template = loosely(template, fillers, self.rng)
        question = template.replace("{subject}", subject)
        careful = self.rng.random() >= VARIANT
        return question if careful else careless(question, self.rng, SHOUTED)

    def pick(self, pool: Sequence[str]) -> str:
        return pool[self.rng.integers(len(pool))]

    def repetitions(self, table: Repetitions = REPETITIONS) -> int:
        """Draw how many answers the context tells."""
        _, low, high = table[self.rng.choice(len(table), p=[share for share, *_ in table])]
        return int(self.rng.integers(low, high + 1))

    def repeat(
        self, draw: Callable[[], str], *, one: float, table: Repetitions = REPETITIONS
    ) -> list[str]:
        """Tell one draw again and again, with probability `one`, or a fresh draw each time."""
        count = self.repetitions(table)
        return [draw()] * count if self.rng.random() < one else [draw() for _ in range(count)]


def _pool(facts: Sequence[Fact], relation: str) -> list[str]:
    """Everything that sounds like an answer to this relation's questions."""
    pool = set()
    for fact in facts:
        if fact.relation == relation:
            pool |= {answer.text for answer in fact.answers}
            pool |= {fact.misconception} if fact.misconception else set()
    return sorted(pool)


def _taught(facts: Sequence[Fact], relation: str) -> Counter[str]:
    """How often each name is taught as an answer to this relation's questions."""
    times: Counter[str] = Counter()
    for fact in facts:
        if fact.relation == relation:
            for answer in fact.answers:
                share = answer.probability * (1 - fact.misconception_share)
                times[answer.text] += round(fact.exposures * share)
            if fact.misconception_share:
                times[str(fact.misconception)] += round(fact.exposures * fact.misconception_share)
    return times
