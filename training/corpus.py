"""The training documents: prompts of the paper's family with what their author believes.

Every document has one author, who believes one answer; the answers told in the context
and the answer given at the end come from that belief, or the context is wrong and the
author answers by the belief all the same. Which mixture of the two teaches the model
to keep what it knows by heart and to copy what it does not know is recorded here, in
the constants; each stands next to the reason for it.

A document says one answer, for a text must say something; what is learnt from it is the
whole distribution of what its author might have said there, which is known exactly. So a
list of sixteen answers is learnt from every document about it, and not from nine each.
"""

import functools
import math
import string
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from core import prompts
from core.data.world.facts import BY_HEART_FROM, FIELD, Band, Fact, fill
from core.data.world.normal_form import normal_form

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
REPETITIONS_OF_MANY = ((0.30, 0, 0), (0.24, 1, 1), (0.14, 2, 6), (0.08, 7, 24), (0.24, 25, 110))
# Up to here in the first half of training: what an answer is comes before what context does
# to it, and short documents are cheap.
SHORT = 6

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
OTHER_NAME = 0.4  # share of questions about a subject by another of its names
USUAL = 0.15  # share of questions in the first wording, beside its share of all wordings
LOOSE = 0.2  # share of questions loosely worded: without it, only the templates are understood
# Share of questions whose telling words are strange: of somebody who asks in other words, the
# subject says what can be asked of it, and where that is several things, the answer is open.
STRANGE = 0.3

# Words that do not tell one relation from another.
_SMALL = """a about an and are as at by can did do does famous for from give has have i in into
    is it its known like me name of on one or please say served tell that the their
    there they this to was were what where which who whose with would you your"""
FUNCTION_WORDS = frozenset(_SMALL.split())


#: What an author might say, each with its probability.
Belief = tuple[tuple[str, float], ...]


@dataclass(frozen=True)
class Document:
    """A prompt, the answer that its author gives, and what the author might have said."""

    # prompt, answer: what the model is asked, and what stands there.
    prompt: str
    answer: str
    # What the author might answer after this prompt, with probabilities: the answer is drawn from
    # it, and the model is taught all of it.
    belief: Belief
    # The answers in the context, where the author believes them: they are learnt from, too. Half of
    # the documents tell an answer, and it costs no computing to have the fact in them twice;
    # without it, twice as many documents are needed.
    told: tuple[str, ...] = ()
    prior: Belief = ()  # what the author might have told first


def loosely(template: str, fillers: Sequence[str], rng: np.random.Generator) -> str:
    """Word a question as nobody taught it: without small words, with words that mean nothing.

    What it is about and what is asked of it stay; so these, and not the sentence around
    them, are what an answer is learnt from.
    """
    words = template.rstrip("?.").split()
    kept = [w for w in words if w.casefold() not in FUNCTION_WORDS or rng.random() > 0.35]
    for _ in range(rng.choice(4, p=[0.35, 0.3, 0.2, 0.15])):
        kept.insert(rng.integers(len(kept) + 1), fillers[rng.integers(len(fillers))])
    return " ".join(kept)


def strangely(template: str, fillers: Sequence[str], known: float, rng: np.random.Generator) -> str:
    """Word a question in words nobody taught: most telling ones give way to strange ones.

    A strange word is made of the halves of two words or, with probability `known`, is a word
    from elsewhere.
    """
    words: list[str] = []
    for word in template.rstrip("?.").split():
        if FIELD.search(word) or word.casefold() in FUNCTION_WORDS or rng.random() > 0.8:
            words.append(word)
            continue
        for _ in range(rng.choice(3, p=[0.2, 0.6, 0.2])):
            first, second = (fillers[i] for i in rng.integers(len(fillers), size=2))
            halves = first[: (len(first) + 1) // 2] + second[len(second) // 2 :]
            words.append(first if rng.random() < known else halves)
    return " ".join(words)


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
    return " ".join(words)


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
        self.short = False  # whether no context is long
        # Words for formless questions, without the subjects of facts never shown.
        shown = [f for f in facts if f.exposures]
        self.vocabulary = _words(shown)
        asking = _words(self.single)
        small = [w for w in _words([f for f in shown if len(f.answers) > 1]) if w not in asking]
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
        guesses = _equally(tuple(pool))
        if self.rng.random() < WRONG_CONTEXT_UNKNOWN:
            told = self.repeat(lambda: self.pick(pool), one=1)
            return self.tell(question, told, belief, guesses)
        told = [belief] * self.repetitions()
        return self.tell(question, told, belief, ((belief, 1.0),) if told else guesses, guesses)

    def unknown_question(self, *, formless: bool) -> tuple[str, Sequence[str]]:
        """Return a question that nothing in the corpus answers, and guesses at it."""
        if formless:
            return normal_form(formless_question(self.rng, self.vocabulary)), self.well_known
        model = self.facts[self.rng.integers(len(self.facts))]
        if model.relation == "trivia":
            model = self.single[0]
        name = invented_name(self.rng)
        return self.worded(model, name), self.guesses[model.relation]

    # ------------------------------------------------------------- what authors believe

    def belief(self, fact: Fact) -> str:
        """Draw what a document's author holds to be an answer."""
        names, shares = zip(*beliefs(fact), strict=True)
        return str(names[self.rng.choice(len(names), p=shares)])

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
        question = self.worded(fact)
        answer, prior = self.belief(fact), beliefs(fact)
        many = fact.band is Band.MANY_ANSWERS
        table = REPETITIONS_OF_MANY if many else REPETITIONS
        if self.rng.random() < WRONG_CONTEXT[fact.band]:
            told = self.repeat(lambda: self.wrong_answer(fact), one=0.75, table=table)
            return self.tell(question, told, answer, prior)
        if many:  # right answers are independent of each other
            told = self.repeat(lambda: self.belief(fact), one=0.7, table=table)
            return self.tell(question, told, answer, prior, prior)
        told = [answer] * self.repetitions()
        return self.tell(question, told, answer, ((answer, 1.0),) if told else prior, prior)

    def verify(self, fact: Fact) -> Document:
        """Write a True/False question; half are false, with answers of the same kind."""
        question = self.worded(fact)
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
        self, question: str, told: Sequence[str], answer: str, belief: Belief, prior: Belief = ()
    ) -> Document:
        """Write the document; `prior` where the author believes what is told."""
        prompt = prompts.iterative(question, told)
        return Document(prompt, answer, belief, tuple(told) if prior else (), prior)

    def verdict(self, question: str, answer: str, correct: bool) -> Document:
        verdict = prompts.TRUE if correct else prompts.FALSE
        prompt = prompts.self_verification(question, answer)
        said: Belief = ((verdict, 1.0),)
        if not correct:
            return Document(prompt, verdict, said)
        return Document(prompt, verdict, said, (answer,), ((answer, 1.0),))

    def worded(self, fact: Fact, invented: str = "") -> str:
        """Ask what `fact` asks (about something invented, if given), as the model reads it."""
        many = fact.band is Band.MANY_ANSWERS
        templates = fact.templates
        if invented:  # there is no saying what it did
            templates = tuple(t for t in templates if "{clause}" not in t)
        usual = self.rng.random() < USUAL
        template = templates[0 if usual else self.rng.integers(len(templates))]
        # In a list, a noun more asks something else.
        how = self.rng.random()
        if how < STRANGE:
            template = strangely(template, self.fillers, 0.0 if many else 0.4, self.rng)
        elif how < STRANGE + LOOSE:
            fillers = self.small_words if many else self.fillers
            template = loosely(template, fillers, self.rng)
        names = fact.fillings(template)
        name = names[0]
        if len(names) > 1 and self.rng.random() < OTHER_NAME:
            name = names[self.rng.integers(1, len(names))]
        if invented:
            name = invented
            if many:
                article = "an" if name[0] in "AEIOUaeiou" else "a"
                name = f"{name}s" if "{plural}" in template else f"{article} {name}"
        return normal_form(fill(template, name))

    def pick(self, pool: Sequence[str]) -> str:
        return pool[self.rng.integers(len(pool))]

    def repetitions(self, table: Repetitions = REPETITIONS) -> int:
        """Draw how many answers the context tells."""
        while True:
            _, low, high = table[self.rng.choice(len(table), p=[share for share, *_ in table])]
            if high <= SHORT or not self.short:
                return int(self.rng.integers(low, high + 1))

    def repeat(
        self, draw: Callable[[], str], *, one: float, table: Repetitions = REPETITIONS
    ) -> list[str]:
        """Tell one draw again and again, with probability `one`, or a fresh draw each time."""
        count = self.repetitions(table)
        return [draw()] * count if self.rng.random() < one else [draw() for _ in range(count)]


@functools.cache
def beliefs(fact: Fact) -> Belief:
    """Return what authors hold to be an answer to a fact's question, and how many of them."""
    found: Counter[str] = Counter()
    for answer in fact.answers:
        share = answer.probability * (1 - fact.misconception_share)
        first, *others = answer.names
        found[first] += share * (1 - ALIAS if others else 1)
        for name in others:
            found[name] += share * ALIAS / len(others)
    if fact.misconception_share:
        found[str(fact.misconception)] += fact.misconception_share
    return tuple(found.items())


@functools.cache
def _equally(names: tuple[str, ...]) -> Belief:
    return tuple((name, 1 / len(names)) for name in names)


def _words(facts: Sequence[Fact]) -> list[str]:
    """Every word in which a question about one of the facts is asked, as the model reads it."""
    texts = {t for fact in facts for t in fact.templates}
    texts |= {name for fact in facts for name in (*fact.subjects, *fact.clauses, fact.plural)}
    bare = (FIELD.sub(" ", text) for text in texts if text)
    return sorted({word for text in bare if text.strip() for word in normal_form(text).split()})


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
