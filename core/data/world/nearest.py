"""The taught question that is nearest to one which is not recognised.

People ask for a fact in words that no table foresees. The nearest question is found in two
factors: how much of a fact's name the question says (rare words count more, and a misspelt
word by the letters it shares), and how much of the question is said by that name and by the
wordings of its relation. What kind of answer is wanted ("who", "when", "where", "how many",
yes or no) must be one that the relation has. A question that lacks a number, or a word by which
the world tells its facts apart, is offered, but is not near: "king" is no president, and "30 days"
are not 31. `benchmarks/nearest.py` measures it.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain, islice, pairwise

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import OSA
from rapidfuzz.process import cdist
from scipy.sparse import csr_array

from core.data.world.differences import (
    CLAUSE,
    KINDS_OF_THING,
    ONE_SLIP,
    PLURAL,
    SUBJECT,
    FactWords,
    differences,
    gist,
    numbers_in,
    of_one_of_many,
)
from core.data.world.facts import FIELD, MANY, Fact, facts
from core.data.world.grading import foreign_signs
from core.data.world.normal_form import counting_signs, normal_form
from core.once import once

# From here on it is the question that was meant, though a word be misspelt.
MEANT = 0.75
# From here on a question is near. `benchmarks/nearest.py` shows what this and others let pass.
NEAR = 0.58
# From here on it is worth offering: a wrong offer costs a glance, a right one saves the visit. And
# it is meant where its words are the same.
OFFERED = 0.4
OFFERS = 3  # at most
OTHER = "other"  # in place of a relation's name

MOST_WORDS = 60  # of a question; more than any question of the world has
SAME_STEM, SWAPPED, SAME_BEGINNING, BY_LETTERS = 0.95, 0.9, 0.7, 0.85  # how alike two words are
BEGINNING = 4  # letters that "Russia" and "Russian" share at least
ALIKE = 0.5  # words that share fewer of their letters have nothing to do with each other
UNKNOWN = 4.0  # the weight of a word that stands in no table: about that of "currency"
LEAST = 0.1  # the weight of "what" and "the"
LEAST_OF_NAME = 0.4  # a fact whose name is said less is no candidate
NAME_COUNTS = 0.75  # the exponent of a name's share: half a name is often all that people say
OTHER_KIND = 0.5  # what is left if the kind of answer that is wanted is not the relation's
NOTHING_ASKED = 0.5  # what is left if nothing but the name is said
ENOUGH_ASKED = 1.0  # weight of the relation's words that is enough to ask for it
TELLING, RARE = 0.15, 0.02  # how the words of a relation decide between facts of one name
HEAVY = 5.0  # the weight of a word that tells one fact in 130 from all others, or fewer
SEVERAL = 3  # facts that such a word names: what names one or two is often said by chance
SUPERLATIVE = re.compile(r"\w{3,}est|most|least")  # always decides: "the longest river in Africa"
UNLIKE = 0.5  # a word that is less like all words of a question is missing in it

_KINDS = {
    word: kind
    for kind, words in {
        "person": "who whom whose whos",
        "time": "when year date",
        "place": "where whereabouts",
        "number": "how",
        "reason": "why",
    }.items()
    for word in words.split()
}

_OF_YES_OR_NO = frozenset(
    [*("am", "is", "are", "was", "were", "do", "does", "did"), *("has", "have", "had", "should")]
)
_WHAT_ELSE = frozenset(["what", "which", *_KINDS])  # asks for more than yes or no
YES_OR_NO = "yes or no"
# A question with one of these asks something else, whatever fact it is about.
_TURNING = frozenset(
    [
        *("really", "actually", "truly", "allegedly", "supposedly", "falsely", "not", "never"),
        *("cannot", "cant", "isnt", "wasnt", "arent", "werent", "doesnt", "didnt", "dont"),
        *("except", "besides", "without", "no"),
    ]
)
# Who wants a number in one of these is not served one in another.
_UNITS = frozenset(
    [
        *("celsius", "centigrade", "fahrenheit", "kelvin", "feet", "inches", "yards", "miles"),
        *("mph", "km", "kilometers", "kilometres", "meters", "metres", "centimeters"),
        *("centimetres", "pounds", "ounces", "kilograms", "kilos", "grams", "tons", "gallons"),
        *("liters", "litres", "dollars", "euros"),
    ]
)
# Of "Who is Harry Potter's godfather?", what is asked for.
_POSSESSION = re.compile(r"\W*(?:who|what)\b.*\w['’]s (?:\w+ )?(\w+)\W*", re.IGNORECASE)
_TITLE = re.compile(r"(?<=[a-z] )The [A-Z]\w*")  # in the midst of a sentence
_OF_ANOTHER_KIND = KINDS_OF_THING - {"play"}  # asks for the music of a film, "does play" a sport
OPENING = 3  # words that tell "Do you know …", which wordings begin with, from "Do you love …"

Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class Nearest:
    """A taught question and how similar it is to what was asked."""

    fact: Fact  # what it asks for
    question: str  # the question in the taught wording, and by the name, that fit best
    similarity: float  # in [0, 1]
    # The words of what was asked that it lacks, though the answer depends on them.
    missing: tuple[str, ...] = ()
    # By which words the two ask something else; sought only where they are similar enough.
    unexplained: tuple[str, ...] = ()

    @property
    def is_meant(self) -> bool:
        """Whether it can be asked in place of what was typed, which says the same."""
        return self.is_plausible and not (self.missing or self.unexplained)

    @property
    def near(self) -> bool:
        """Whether it is likely to be what was meant."""
        return self.similarity >= NEAR and not self.missing

    @property
    def is_plausible(self) -> bool:
        """Whether it may have been meant, and is worth a look."""
        return self.similarity >= OFFERED


def nearest(question: str) -> Nearest | None:
    """Return the taught question nearest to `question`; None if they have nothing in common."""
    return next(iter(nearest_questions(question, 1)), None)


def nearest_questions(question: str, count: int = OFFERS) -> tuple[Nearest, ...]:
    """Return at most `count` taught questions, each of another fact, the likeliest first."""
    matches = [*islice(_index().nearest(question), max(count, OFFERS))]
    for other in matches[1:]:
        if _is_rival(other, matches[0]):
            matches[0] = replace(matches[0], unexplained=(other.fact.subject,))
    return tuple(matches[:count])


def _is_rival(other: Nearest, meant: Nearest) -> bool:
    """Return whether another thing of the same name may be meant, with another answer."""
    differs = {*other.missing, *other.unexplained}
    answers, own = ({n for a in one.fact.answers for n in a.names} for one in (other, meant))
    return other.similarity >= MEANT and differs <= KINDS_OF_THING and not answers & own


def meant_among(question: str, others: tuple[str, ...]) -> str | None:
    """Return which of the `others`, questions of no table, was surely meant; None if none was.

    They stand among the world's facts, so that a word weighs what it weighs there.
    """
    match = next(_index(others).nearest(question, OTHER), None)
    return match.fact.subject if match and match.is_meant else None


@once
def _index(others: tuple[str, ...] = ()) -> _Index:
    return _Index((*facts(), *map(_fact_alone, others)))


def _fact_alone(question: str) -> Fact:
    """Return a question as a fact that is its own name, and of which nothing is known."""
    names, no_texts = (question,), ()
    return Fact(
        *(OTHER, OTHER, names, no_texts, "", False, ("{subject}",), no_texts, ()),
        misconception=None,
        misconception_share=0.0,
        exposures=0,
        note="",
    )


def _other_titles(question: str, fact: Fact) -> tuple[str, ...]:
    """Return the titles that begin with a “The” which no name of the fact has there.

    “The Hamlet” is another book than Hamlet. A question all in capitals tells nothing.
    """
    named = [f" {name.casefold()} " for name in fact.names]
    return tuple(
        title
        for title in _TITLE.findall(question)
        if any(f" {title[4:].casefold()} " in name for name in named)
        and not any(f" {title.casefold()} " in name for name in named)
    )


class _Index:
    """All names of all facts as weighted words, and the words of every relation's wordings."""

    def __init__(self, all_facts: tuple[Fact, ...]) -> None:
        self._facts = all_facts
        relations = dict.fromkeys(map(_relation, all_facts))
        number = {relation: n for n, relation in enumerate(relations)}
        forms_of: list[dict[str, None]] = [{} for _ in relations]
        for fact in all_facts:
            forms_of[number[_relation(fact)]].update(
                dict.fromkeys((*fact.templates, *fact.held_out))
            )
        self._openings = {
            _distinct(FIELD.sub(" ", wording))[:OPENING]
            for wordings in forms_of
            for wording in wordings
        }
        around = [Counter(_words_around(wordings)) for wordings in forms_of]
        self._relation = np.array([number[_relation(fact)] for fact in all_facts])
        names: list[tuple[str, ...]] = []
        owners: list[int] = []
        stated_by: Counter[str] = Counter()
        for n, fact in enumerate(all_facts):
            own = [name for name in dict.fromkeys(map(_distinct, fact.names)) if name]
            names += own
            owners += [n] * len(own)
            others = around[self._relation[n]]
            # In this order, which decides between words that are equally alike: never in a set's.
            stated_by.update(word for word in dict.fromkeys(chain(*own)) if word not in others)
        for relation, count in Counter(self._relation.tolist()).items():
            stated_by.update(dict.fromkeys(around[relation], count))
        self._owner = np.array(owners)
        self._number = {word: n for n, word in enumerate(stated_by)}
        self._facts_with = np.array(list(stated_by.values()))
        self._weight = np.maximum(-np.log(self._facts_with / len(all_facts)), 0) + LEAST
        self._read_letters()
        self._bounds = np.cumsum([0, *map(len, names)])
        self._inside = np.array([self._number[word] for name in names for word in name])
        self._named = csr_array(
            (self._weight[self._inside], self._inside, self._bounds),
            shape=(len(names), len(stated_by)),
        )
        self._whole = self._named.sum(axis=1)
        self._around = np.array([self._number[word] for word in dict.fromkeys(chain(*around))])
        self._worded_with = np.zeros((len(relations), len(stated_by)))
        for n, words in enumerate(around):
            for word, count in words.items():
                self._worded_with[n, self._number[word]] = count / len(forms_of[n])
        self._worded_with = self._worded_with[:, self._around]
        self._wordings = [tuple(map(_in_order, wordings)) for wordings in forms_of]
        self._kinds = [_kinds(words) for words in around]
        self._kinds_of_name = [_kinds(name) for name in names]
        # A trivia question or a list is its own name: nothing has to be said besides.
        self._bare = np.array([FIELD.fullmatch(next(iter(w))) is not None for w in forms_of])
        self._bare |= np.array([relation == MANY for relation in relations])

        # The same few words stand in most questions, and the same wordings are compared with all.
        self._alike = lru_cache(maxsize=256)(self._likeness)
        self._inside_of = lru_cache(maxsize=8192)(self._numbers_of)

    def _numbers_of(self, text: str) -> NDArray[np.intp]:
        """Return which words of the tables a taught question holds."""
        return np.array([self._number[w] for w in _distinct(text) if w in self._number])

    def _read_letters(self) -> None:
        """Prepare the search for words by their letters, their stems and beginnings."""
        self._grams: dict[str, int] = {}
        self._by_stem: dict[str, list[int]] = defaultdict(list)
        self._by_sorted: dict[str, list[int]] = defaultdict(list)
        self._by_beginning: dict[str, list[int]] = defaultdict(list)
        inside, bounds = [], [0]
        for word, n in self._number.items():
            inside += [self._grams.setdefault(gram, len(self._grams)) for gram in _grams(word)]
            bounds.append(len(inside))
            self._by_stem[_stem(word)].append(n)
            self._by_sorted["".join(sorted(word))].append(n)
            if len(word) > BEGINNING:
                self._by_beginning[word[:BEGINNING]].append(n)
        self._length = np.diff(bounds)
        self._words = list(self._number)
        holds = csr_array(
            (np.ones(len(inside)), inside, bounds), shape=(len(bounds) - 1, len(self._grams))
        )
        self._holding = csr_array(holds.T)

    def _likeness(self, word: str) -> Numbers:
        """Return how alike a word is to every word of the tables, in [0, 1]."""
        likeness = np.zeros(len(self._number))
        grams = _grams(word)
        gram_places = [self._grams[gram] for gram in grams if gram in self._grams]
        if gram_places and len(word) >= BEGINNING:
            shared = self._holding[gram_places].sum(axis=0)
            share = 2 * shared / (len(grams) + self._length)
            slips = OSA.normalized_similarity
            typed = cdist([word], self._words, scorer=slips, score_cutoff=ONE_SLIP)[0]
            likeness = BY_LETTERS * np.maximum(np.where(share >= ALIKE, share, 0.0), typed)
            begins = self._by_beginning.get(word[:BEGINNING], [])
            likeness[begins] = np.maximum(likeness[begins], SAME_BEGINNING)
        likeness[self._by_stem.get(_stem(word), [])] = SAME_STEM
        if word in self._number:
            likeness[self._number[word]] = 1.0
        else:
            likeness[self._by_sorted.get("".join(sorted(word)), [])] = SWAPPED  # "teh"
        return likeness

    def _weight_of(self, word: str, alike: Numbers) -> float:
        """Return what a question's word weighs; a misspelt one nearly what the right one does."""
        if word in self._number:
            return float(self._weight[self._number[word]])
        best = alike.max()
        return float(best * self._weight[alike.argmax()] + (1 - best) * UNKNOWN)

    def nearest(self, question: str, relation: str = "") -> Iterator[Nearest]:
        """Yield the nearest question of each fact that may be meant, the likeliest fact first.

        `relation`: of whose facts alone; "" for all.
        """
        words = _distinct(question)[:MOST_WORDS]
        if not words:
            return
        alike = np.stack([self._alike(word) for word in words])
        weight = np.array([self._weight_of(*pair) for pair in zip(words, alike, strict=True)])
        names, similarity, telling = self.candidates(words, alike, weight)
        seen: set[int] = set()
        for place in np.argsort(-np.log(similarity) - TELLING * telling, kind="stable"):
            name = int(names[place])
            owner = int(self._owner[name])
            if owner not in seen:
                seen.add(owner)
                if relation and self._facts[owner].relation != relation:
                    continue
                taught = self._wording(self._facts[owner], alike, weight)
                similar = float(min(similarity[place], 1.0))
                signs = foreign_signs(question, self._facts[owner])
                missing = (*self._missing(question, words, alike, owner), *signs)
                otherwise: tuple[str, ...] = ()
                if similar >= OFFERED:
                    otherwise = self._differences(question, owner)
                    otherwise += _other_titles(question, self._facts[owner])
                if similar < MEANT:
                    otherwise += tuple(word for word in words if word not in self._number)
                yield Nearest(self._facts[owner], taught, similar, missing, otherwise)

    def _missing(
        self, question: str, words: tuple[str, ...], alike: Numbers, owner: int
    ) -> tuple[str, ...]:
        """Return what decides, and neither a fact nor its wordings hold."""
        match = _POSSESSION.fullmatch(question)
        possession = _distinct(match[1]) if match else ()
        around = self._around[self._worded_with[self._relation[owner]] > 0]
        names = np.flatnonzero(self._owner == owner)
        own = np.concatenate([around, *(self._words_of(int(each)) for each in names)])
        numbers = numbers_in(self._words[n] for n in own)
        lacks = self._coverage(alike, own) < UNLIKE
        missing = (
            word
            for word, row, lack in zip(words, alike, lacks, strict=True)
            if not numbers_in([word]) <= numbers
            or (lack and (word in possession or self._decides(word, row)))
            or (lack and self._is_other_unit(word, owner))
        )
        of_many = () if self._facts[owner].plural else of_one_of_many(words)
        return (*missing, *of_many)

    def _differences(self, typed: str, owner: int) -> tuple[str, ...]:
        """Return by which signs and words a question asks something else than a fact's."""
        fact = self._facts[owner]
        relation = self._relation[owner]
        signs = sorted(counting_signs(typed))
        fields = {SUBJECT: fact.subjects, CLAUSE: fact.clauses, PLURAL: filter(None, [fact.plural])}
        names = {
            field: [_in_order(name) for name in each if sorted(counting_signs(name)) == signs]
            for field, each in fields.items()
        }
        own = FactWords(names, self._wordings[relation], bool(self._bare[relation]))
        otherwise = differences(_in_order(typed)[:MOST_WORDS], own, self._number)
        return otherwise and (*signs, *otherwise)

    def _decides(self, word: str, alike: Numbers) -> bool:
        """Return whether another fact is meant where a question has this word and that has not."""
        if word in _TURNING or word in _OF_ANOTHER_KIND or SUPERLATIVE.fullmatch(word):
            return True
        other = int(alike.argmax())
        if alike[other] < SAME_STEM or len(word) < BEGINNING:  # "wat" is "what", and no temple
            return False
        return bool(self._weight[other] >= HEAVY and self._facts_with[other] >= SEVERAL)

    def _is_other_unit(self, word: str, owner: int) -> bool:
        """Return whether a word asks for an answer in a unit in which a fact has none."""
        names = (name for answer in self._facts[owner].answers for name in answer.names)
        return word in _UNITS and not any(word in _distinct(name) for name in names)

    def candidates(
        self, words: tuple[str, ...], alike: Numbers, weight: Numbers
    ) -> tuple[NDArray[np.intp], Numbers, Numbers]:
        """Return the names that may be meant, how similar, and what speaks for their relation."""
        of_name = (self._named @ alike.max(axis=0)) / self._whole
        names = np.flatnonzero(of_name >= LEAST_OF_NAME)
        if not len(names):
            return names, np.empty(0), np.empty(0)
        by_name = np.stack([self._coverage(alike, self._words_of(int(name))) for name in names])
        around = alike[:, self._around]
        by_relation = np.stack([self._coverage(around, shares > 0) for shares in self._worded_with])
        relation = self._relation[self._owner[names]]
        explained = np.maximum(by_name, by_relation[relation]) @ weight / weight.sum()
        similarity = of_name[names] ** NAME_COUNTS * explained
        overlap = ((1 - by_name) * by_relation[relation]) @ weight
        enough = np.minimum(overlap / ENOUGH_ASKED, 1)
        similarity *= np.where(
            self._bare[relation], 1, NOTHING_ASKED + (1 - NOTHING_ASKED) * enough
        )
        if kinds := self._answer_kinds(words):
            fits = [
                bool(kinds & (self._kinds[r] | self._kinds_of_name[name]))
                for r, name in zip(relation, names, strict=True)
            ]
            similarity *= np.where(fits, 1, OTHER_KIND)
        return names, similarity, self._telling(around, by_name, relation)

    def _answer_kinds(self, words: tuple[str, ...]) -> set[str]:
        """Return what kinds of answer a question asks for, where it says so."""
        kinds = _kinds(words)
        if words[0] in _OF_YES_OR_NO and not _WHAT_ELSE.intersection(words):
            return kinds if words[:OPENING] in self._openings else {YES_OR_NO}
        return kinds

    def _words_of(self, name: int) -> NDArray[np.intp]:
        return self._inside[self._bounds[name] : self._bounds[name + 1]]

    @staticmethod
    def _coverage(alike: Numbers, words: NDArray[np.intp] | NDArray[np.bool_]) -> Numbers:
        """Return how far each word of the question is one of these words."""
        likeness: Numbers = alike[:, words].max(axis=1, initial=0.0)
        return likeness

    def _telling(self, around: Numbers, by_name: Numbers, relation: NDArray[np.intp]) -> Numbers:
        """Return how the words beside each name speak for its relation, as log-likelihood."""
        used = np.stack([(around * shares).max(axis=1) for shares in self._worded_with])
        ratio = np.log((used + RARE) / (used.mean(axis=0) + RARE))
        surprise: Numbers = ((1 - by_name) * ratio[relation]).sum(axis=1)
        return surprise

    def _wording(self, fact: Fact, alike: Numbers, weight: Numbers) -> str:
        """Return the question for a fact in the wording that shares most with what was asked."""
        sentences = [t for t in fact.templates if _is_sentence(t)]
        texts = dict.fromkeys(
            fact.ask(template, name)
            for template in sentences or fact.templates
            for name in range(len(fact.fillings(template)))
        )

        def share(text: str) -> float:
            inside = self._inside_of(text)
            likeness = alike[:, inside]
            own = self._weight[inside]
            return float(
                (likeness.max(axis=1) @ weight + likeness.max(axis=0) @ own)
                / (weight.sum() + own.sum())
            )

        return max(texts, key=share)


def _is_sentence(template: str) -> bool:
    """Return whether a wording is a whole sentence, as one would offer it."""
    whole = template[0].isupper() and template.endswith(("?", "."))
    return whole or FIELD.fullmatch(template) is not None


def _relation(fact: Fact) -> str:
    """Return under which name the wordings of a fact stand."""
    return MANY if fact.plural else fact.relation


def _distinct(text: str) -> tuple[str, ...]:
    words = filter(str.isalnum, normal_form(text).split())
    return tuple(dict.fromkeys(gist(words).split()))


def _in_order(text: str) -> tuple[str, ...]:
    """Return all words of a question, or of a wording with its name as one word."""
    words = normal_form(FIELD.sub(lambda field: f" 0{field[0][1:-1]} ", text)).split()
    return tuple(filter(str.isalnum, words))


def _words_around(wordings: Iterable[str]) -> Iterator[str]:
    for wording in wordings:
        yield from _distinct(FIELD.sub(" ", wording))


def _kinds(words: Iterable[str]) -> set[str]:
    return {_KINDS[word] for word in words if word in _KINDS}


def _stem(word: str) -> str:
    plural = len(word) > BEGINNING - 1 and word.endswith("s") and not word.endswith("ss")
    return word[:-1] if plural else word


def _grams(word: str) -> set[str]:
    """Return the pairs and triples of a word's letters, its ends included."""
    letters = f"<{word}>"
    pairs = {"".join(pair) for pair in pairwise(letters)}
    return pairs | {letters[n : n + 3] for n in range(len(letters) - 2)}
