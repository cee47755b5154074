"""Missing mass and finite samples (Section 4.1 and Appendix E of the paper).

Three experiments: what k draws miss of a known distribution, and what is said about it
(:func:`curves`); how large k must be before the paper's theorem on the estimate says anything
(:func:`theorem`); and the appendix's estimate of what a language model's answers miss
(:func:`data_dependent`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from core import prompts
from core.codec import counted
from core.language_models.base import LanguageModel
from core.studies.inspection.request import InvalidRequestError
from core.studies.laboratory.asking import Seldom, must_score, of_each
from core.studies.progress import Progress, silent
from core.uncertainty import missing_mass as mass
from core.uncertainty.certified import certified_lower_bound
from core.uncertainty.confidence import CONFIDENCE
from core.uncertainty.joint import from_table
from core.uncertainty.logarithms import entropy
from core.uncertainty.many_samples import algorithm_1

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

MOST_KINDS: Final = 10_000
MOST_DRAWS: Final = 10**9
MOST_CELLS: Final = 40_000_000  # kinds times sizes times samples

# ------------------------------------------------------------------------ a known distribution


class Law(StrEnum):
    """The distribution that is drawn from."""

    UNIFORM = "uniform"
    ZIPF = "zipf"
    GEOMETRIC = "geometric"
    OWN = "own"


@dataclass(frozen=True)
class Settings:
    """A distribution, and how it is drawn from.

    Attributes
    ----------
    law : Law
    kinds : int
        How many there are, 1 to `MOST_KINDS`; of one's own, as many as were given.
    exponent : float
        α of Zipf's law, above 1 as in Corollary E.3.
    ratio : float
        Of two neighbours in the geometric law, between 0 and 1.
    own : tuple of float
        One's own probabilities, as :func:`probabilities_of` reads them, or those of a model's
        answers; if they sum to less than 1, the rest is of kinds that nobody knows.
    draws : tuple of int
        The values of k, rising.
    samples : int
        How many samples are simulated.
    seed : int
    confidence : float
        Of the two deviations, each.
    """

    law: Law = Law.ZIPF
    kinds: int = 200
    exponent: float = 1.5
    ratio: float = 0.95
    own: tuple[float, ...] = ()
    draws: tuple[int, ...] = tuple(np.unique(np.geomspace(1, 10_000, 41).round().astype(int)))
    samples: int = 200
    seed: int = 0
    confidence: float = CONFIDENCE

    def __post_init__(self) -> None:
        """Enforce the limits, whatever the screen in front allowed."""
        object.__setattr__(self, "law", Law(self.law))
        object.__setattr__(self, "draws", tuple(sorted({int(k) for k in self.draws})))
        if self.law is Law.OWN:
            object.__setattr__(self, "kinds", len(self.own))
        _within("number of kinds", self.kinds, 1, MOST_KINDS)
        _within("smallest k", min(self.draws, default=0), 1, MOST_DRAWS)
        _within("largest k", max(self.draws), 1, MOST_DRAWS)
        _within("exponent", self.exponent, 1.01, 10)
        _within("ratio", self.ratio, 0.001, 0.999)
        _within("number of samples", self.samples, 1, 10_000)
        _within("confidence", self.confidence, 0.01, 0.999)
        _within(
            "size of the simulation", self.kinds * len(self.draws) * self.samples, 1, MOST_CELLS
        )
        if min(self.own, default=0) < 0 or sum(self.own) > 1 + 1e-6:
            raise InvalidRequestError(
                "Probabilities must be at least 0 and sum to at most 1. Divide them by their sum."
            )

    @property
    def probabilities(self) -> Floats:
        """The probability of each kind, (kinds,), falling unless they are one's own."""
        rank = np.arange(1.0, self.kinds + 1)
        if self.law is Law.OWN:
            return np.array(self.own)
        weights = {
            Law.UNIFORM: np.ones_like(rank),
            Law.ZIPF: rank**-self.exponent,
            Law.GEOMETRIC: self.ratio**rank,
        }[self.law]
        return weights / weights.sum()


def probabilities_of(text: str) -> tuple[float, ...]:
    """Read numbers that a person typed or pasted, and divide them by their sum.

    Parameters
    ----------
    text : str
        Numbers of at least 0, between them white space, semicolons, or commas.

    Raises
    ------
    InvalidRequestError
        If there is none, one is no such number, all are 0, or there are too many.
    """
    # One more than are allowed is enough to refuse them.
    parts = re.split(r"[\s;,]+", text.strip(" \t\r\n;,"), maxsplit=MOST_KINDS)
    try:
        weights = np.array([float(part) for part in parts])
    except ValueError:
        raise InvalidRequestError(
            "That is not a list of numbers. Give one for each kind, such as 0.5, 0.3, 0.2."
        ) from None
    if len(weights) > MOST_KINDS:
        raise InvalidRequestError(f"There are more than {MOST_KINDS:,} numbers. Give fewer.")
    if not (np.isfinite(weights).all() and (weights >= 0).all() and weights.any()):
        raise InvalidRequestError("The numbers must be at least 0, and not all of them 0.")
    weights /= weights.max()  # so that their sum neither overflows nor vanishes
    return tuple((weights / weights.sum()).tolist())


@dataclass(frozen=True, eq=False)
class Curves:
    """What k draws miss, and what is said about it, at each k.

    Attributes
    ----------
    settings : Settings
    probabilities : ndarray, (kinds,)
    rest : float
        What the known kinds lack of 1: the missing mass of everything may be larger by so much.
    expected : ndarray, (sizes,)
        E U_k, exactly.
    missing, good_turing : ndarray, (samples, sizes)
        U_k and the Good–Turing estimate in simulation; a sample goes on drawing from k to k.
    finite_support, entropy : ndarray, (sizes,)
        The bounds of E U_k by the number of kinds and by the entropy; NaN where there is a rest,
        of which neither is known.
    zipf : ndarray, (sizes,), or None
        What E U_k of Zipf's law over all numbers tends to; None for other laws.
    low, high : ndarray, (sizes,)
        Between which U_k lies, each with the confidence.
    """

    settings: Settings
    probabilities: Floats
    rest: float
    expected: Floats
    missing: Floats
    good_turing: Floats
    finite_support: Floats
    entropy: Floats
    zipf: Floats | None
    low: Floats
    high: Floats

    @property
    def too_high(self) -> Floats:
        """In what share of the samples U_k is above `high`, (sizes,)."""
        return np.asarray((self.missing > self.high).mean(axis=0))

    @property
    def too_low(self) -> Floats:
        """In what share of the samples U_k is below `low`, (sizes,)."""
        return np.asarray((self.missing < self.low).mean(axis=0))

    @property
    def sentence(self) -> str:
        """What it shows, in a sentence or two."""
        k, expected = self.settings.draws[-1], float(self.expected[-1])
        said = f"After {counted(k, 'draw')} {expected:.2%} of the probability is missing on average"
        if self.rest > 1e-6:
            said += f", and at most {self.rest:.2%} besides that nobody has found"
        else:
            said += (
                f"; the number of kinds allows {self.finite_support[-1]:.2%}, the entropy "
                f"{self.entropy[-1]:.2%}"
            )
        off = float(np.abs(self.good_turing - self.missing)[:, -1].mean())
        outside = max(float(self.too_high.max()), float(self.too_low.max()))
        return (
            f"{said}. Good–Turing is off by {off:.2%} on average. At no k was U_k beyond either "
            f"limit in more than {outside:.1%} of the samples; "
            f"{1 - self.settings.confidence:.0%} is allowed."
        )


def curves(settings: Settings | None = None, progress: Progress = silent) -> Curves:
    """Compute and simulate what k draws miss of a known distribution.

    Raises
    ------
    InvalidRequestError
        When a setting is out of its limits.
    Cancelled
        Out of `progress`, which is called before each k.
    """
    settings = settings or Settings()
    p, k = settings.probabilities, np.array(settings.draws)
    rest = max(0.0, 1 - float(p.sum()))
    rng = np.random.default_rng(settings.seed)
    # The last kind stands for all that nobody knows; what is drawn of it is nobody's.
    everything = np.append(p, rest) / (p.sum() + rest)
    counts = np.zeros((settings.samples, len(everything)), dtype=np.int64)
    missing, turing = [], []
    for done, more in enumerate(np.diff(k, prepend=0)):
        progress("Simulate", done / len(k))
        counts += rng.multinomial(more, everything, size=settings.samples)
        missing.append(mass.missing_mass(p, counts[:, :-1]))
        turing.append((counts[:, :-1] == 1).sum(axis=1) / k[done])
    progress("Simulate", 1.0)
    expected = mass.expected_missing_mass(p, k)
    nothing = np.full(len(k), np.nan)
    known = rest < 1e-6
    with np.errstate(divide="ignore"):
        h = float(entropy(np.log(p)))
    return Curves(
        settings,
        p,
        rest,
        expected,
        np.stack(missing, axis=1),
        np.stack(turing, axis=1),
        mass.finite_support_bound(int((p > 0).sum()), k) if known else nothing,
        mass.entropy_bound(h, k) if known else nothing,
        mass.zipf_rate(settings.exponent, k) if settings.law is Law.ZIPF else None,
        np.maximum(0.0, expected - mass.lower_deviation(k, settings.confidence)),
        np.minimum(1.0, expected + mass.upper_deviation(k, settings.confidence)),
    )


# ---------------------------------------------------------------------- the paper's theorem


@dataclass(frozen=True)
class PairSettings:
    """Pairs of answers of a model that copies, in the shape of Zipf's law.

    Attributes
    ----------
    answers : int
        How many there are, 2 to 300: |X|.
    exponent : float
        Answer i comes first with a weight of i^−exponent.
    copying : float
        With what probability the first answer is repeated as the second; otherwise an answer like
        the first comes.
    draws : tuple of int
        The values of k, rising.
    outside : tuple of float
        The values of δ_supp that are tried; 0 takes all pairs for X̃.
    samples : int
        How many samples are drawn for each k.
    seed : int
    confidence : float
    """

    answers: int = 200
    exponent: float = 1.0
    copying: float = 0.7
    draws: tuple[int, ...] = tuple(np.geomspace(10, 10**9, 33).round().astype(int).tolist())
    outside: tuple[float, ...] = (0.0, 0.0001, 0.001, 0.01, 0.05)
    samples: int = 3
    seed: int = 0
    confidence: float = CONFIDENCE

    def __post_init__(self) -> None:
        """Enforce the limits, whatever the screen in front allowed."""
        object.__setattr__(self, "draws", tuple(sorted({int(k) for k in self.draws})))
        object.__setattr__(self, "outside", tuple(sorted(set(self.outside))))
        _within("number of answers", self.answers, 2, 300)
        _within("exponent", self.exponent, 0, 10)
        _within("probability of copying", self.copying, 0, 0.999)
        _within("smallest k", min(self.draws, default=0), 1, 10**12)
        _within("largest k", max(self.draws), 1, 10**12)
        _within("smallest δ_supp", min(self.outside, default=-1), 0, 0.5)
        _within("largest δ_supp", max(self.outside), 0, 0.5)
        _within("number of samples", self.samples, 1, 100)
        _within("confidence", self.confidence, 0.01, 0.999)

    @property
    def law(self) -> tuple[Floats, Floats]:
        """Q of a first answer, (m,), and of a second after each, (m, m)."""
        weights = np.arange(1.0, self.answers + 1) ** -self.exponent
        first = weights / weights.sum()
        return first, self.copying * np.eye(len(first)) + (1 - self.copying) * first


@dataclass(frozen=True, eq=False)
class TheoremCurves:
    """What Theorem 4.6 says at each k, and the certified bound beside it; (sizes,) in nats.

    Attributes
    ----------
    settings : PairSettings
    exact : float
        The mutual information, nats.
    expected_missing : ndarray
        E U_k, exactly.
    outside, support, gamma_1, gamma_2, estimate, bound : ndarray
        Of the δ_supp that gives the highest bound on average: |X̃|, both γ, Î_k(γ₁, γ₂), and the
        lower bound, means over the samples. Where the bound is not above 0, it says nothing.
    certified : ndarray
        Our bound, from k first answers and the scores of all of them after each.
    """

    settings: PairSettings
    exact: float
    expected_missing: Floats
    outside: Floats
    support: Floats
    gamma_1: Floats
    gamma_2: Floats
    estimate: Floats
    bound: Floats
    certified: Floats

    @property
    def least(self) -> int | None:
        """The first k at which the theorem says anything; None if none of them."""
        return self._first(self.bound > 0)

    @property
    def least_certified(self) -> int | None:
        """The first k at which the certified bound is half of the exact value; None if none."""
        return self._first(self.certified >= self.exact / 2)

    def _first(self, said: NDArray[np.bool_]) -> int | None:
        return self.settings.draws[int(np.argmax(said))] if said.any() else None

    @property
    def sentence(self) -> str:
        """What it shows, in a sentence or two."""
        last = self.settings.draws[-1]
        said = (
            f"The mutual information is {self.exact:.3f} nats. The theorem’s lower bound says "
            + (
                f"nothing up to k = {last:,}"
                if self.least is None
                else f"nothing below k = {self.least:,}"
            )
        )
        half = self.least_certified
        ours = (
            f"reaches half of the exact value at k = {half:,}"
            if half
            else f"is {self.certified[-1]:.3f} nats at k = {last:,}"
        )
        return f"{said}; the certified bound {ours}, without a confidence level."


def theorem(settings: PairSettings | None = None, progress: Progress = silent) -> TheoremCurves:
    """Find out how large k must be before Theorem 4.6 says anything about a model that copies.

    The best of several X̃ is taken, each the likeliest pairs; a person who may choose only one gets
    no more.

    Raises
    ------
    InvalidRequestError
        When a setting is out of its limits.
    Cancelled
        Out of `progress`, which is called before each k.
    """
    settings = settings or PairSettings()
    first, rows = settings.law
    table = first[:, None] * rows
    p = table.ravel()
    supports = _supports(p, settings.outside)
    k = np.array(settings.draws)
    expected = mass.expected_missing_mass(p, k)
    rng = np.random.default_rng(settings.seed)
    with np.errstate(divide="ignore"):
        log_first, log_rows = np.log(first), np.log(rows)
    found, certified = [], []
    for done, draws in enumerate(settings.draws):
        progress("Draw pairs", done / len(k))
        counts = rng.multinomial(draws, p, size=settings.samples)
        missing = float(expected[done])
        found.append(max(_said(counts, p, draws, missing, settings, one) for one in supports))
        seen = [np.flatnonzero(c) for c in rng.multinomial(draws, first, size=settings.samples)]
        ours = [certified_lower_bound(log_first[s], log_rows[np.ix_(s, s)]) for s in seen]
        certified.append(np.mean(ours))
    progress("Draw pairs", 1.0)
    bound, outside, support, gamma_1, gamma_2, estimate = np.array(found).T
    with np.errstate(divide="ignore"):
        exact = from_table(np.log(table)).value
    return TheoremCurves(
        settings,
        exact,
        expected,
        outside,
        support,
        gamma_1,
        gamma_2,
        estimate,
        bound,
        np.array(certified),
    )


def _supports(p: Floats, outside: Sequence[float]) -> list[tuple[float, int]]:
    """Return δ_supp and |X̃| of the likeliest cells for each share that may be outside."""
    falling = np.sort(p)[::-1]
    left = np.maximum(0.0, 1 - np.cumsum(falling))
    found = []
    for share in outside:
        size = len(p) if share == 0 else int(np.argmax(left <= share)) + 1
        found.append((float(left[size - 1]) if share else 0.0, size))
    return found


def _said(
    counts: Integers,
    p: Floats,
    draws: int,
    missing: float,
    settings: PairSettings,
    support: tuple[float, int],
) -> tuple[float, float, float, float, float, float]:
    """Return the theorem's mean bound with one X̃, and what it was made of."""
    outside, size = support
    sample, cell = np.nonzero(counts)
    weights = p[cell]
    sampled = np.asarray(np.bincount(sample, weights), dtype=np.float64)
    gamma_1, gamma_2 = mass.stabilisers(draws, size, 2, sampled)
    estimate = algorithm_1(
        sample,
        np.stack(np.divmod(cell, settings.answers), axis=1),
        weights,
        samples=len(counts),
        gamma_1=gamma_1,
        gamma_2=gamma_2,
    )
    bound = mass.theorem_bound(
        estimate,
        draws,
        expected_missing=missing,
        support=size,
        outside=outside,
        confidence=settings.confidence,
    )
    means = (float(x.mean()) for x in (bound, gamma_2, estimate))
    mean_bound, mean_gamma_2, mean_estimate = means
    return mean_bound, outside, float(size), gamma_1, mean_gamma_2, mean_estimate


# -------------------------------------------------------------- answers of a language model


@dataclass(frozen=True)
class Searching:
    """How the appendix's estimate is made for each question.

    Attributes
    ----------
    enough : float
        Responses are drawn until their distinct texts hold so much of the probability …
    most : int
        … or there are so many responses; the paper takes .95 and 1,000.
    temperature : float
        Of these responses; the paper takes .9. Any will do, for any X̃ will.
    draws : int
        k of U_k. These are other draws, at temperature 1, for U_k is about draws from Q itself. (In
        the paper the responses that make X̃ are also those that miss nothing of it.)
    seed : int
    confidence : float
    """

    enough: float = 0.95
    most: int = 1000
    temperature: float = 0.9
    draws: int = 300
    seed: int = 0
    confidence: float = CONFIDENCE

    def __post_init__(self) -> None:
        """Enforce the limits, whatever the screen in front allowed."""
        _within("probability that is enough", self.enough, 0.01, 1)
        _within("largest number of responses", self.most, 1, 10_000)
        _within("temperature", self.temperature, 0.01, 2)
        _within("number of draws k", self.draws, 1, 10_000)
        _within("seed", self.seed, 0, 2**32 - 2)
        _within("confidence", self.confidence, 0.01, 0.999)


@dataclass(frozen=True)
class Found:
    """What was found of one question's answers.

    Attributes
    ----------
    question : str
    answers : tuple of str
        X̃: the distinct texts, the likeliest first.
    probabilities : tuple of float
        Q of each.
    responses : int
        How many were drawn to find them.
    missing : float
        Ũ_k: what k other draws missed of X̃.
    high : float
        What U_k is at most, Ũ_k + 1 − P(X̃): with k draws, for sure.
    bound, printed_bound : float
        What E U_k is at most, with the confidence: by the lower tail of Theorem E.1, and by the
        upper one, which Appendix E.4 takes.
    """

    question: str
    answers: tuple[str, ...]
    probabilities: tuple[float, ...]
    responses: int
    missing: float
    high: float
    bound: float
    printed_bound: float

    @property
    def mass(self) -> float:
        """P(X̃), in [0, 1]."""
        return min(1.0, sum(self.probabilities))


@dataclass(frozen=True)
class DataDependent:
    """The paper's Figure 7: a distribution over questions of each quantity."""

    settings: Searching
    model: str
    questions: tuple[Found, ...]

    @cached_property
    def values(self) -> dict[str, Floats]:
        """Each quantity of all questions, by the names in :class:`Found`, (questions,)."""
        names = ("mass", "missing", "high", "bound", "printed_bound")
        return {name: np.array([getattr(q, name) for q in self.questions]) for name in names}

    @property
    def sentence(self) -> str:
        """What it shows, in a sentence or two."""
        of = {name: float(np.median(values)) for name, values in self.values.items()}
        sizes = np.array([len(question.answers) for question in self.questions])
        k = self.settings.draws
        return (
            f"Of {counted(len(self.questions), 'question')}, the answers found hold "
            f"{of['mass']:.1%} of the probability (median; {np.median(sizes):.0f} answers, "
            f"{sizes.mean():.1f} on average). {k:,} draws miss {of['missing']:.1%} of it, so "
            f"{of['high']:.1%} at most, and on average at most {of['bound']:.1%} with "
            f"{self.settings.confidence:.0%} confidence ({of['printed_bound']:.1%} by the tail "
            "that the paper takes)."
        )


def data_dependent(
    model: LanguageModel,
    questions: Sequence[str],
    settings: Searching | None = None,
    progress: Progress = silent,
) -> DataDependent:
    """Estimate what a model's draws miss, question by question (Appendix E.4).

    E U_k <= U_k + t <= Ũ_k + 1 − P(X̃) + t. Every step but the first is certain, whatever X̃ is.

    Raises
    ------
    InvalidRequestError
        When a setting is out of its limits, or there is no question.
    ModelError
        Also when the model does not score given, whole answers.
    Cancelled
        Out of `progress`.
    """
    settings = settings or Searching()
    must_score(model)
    if not questions:
        raise InvalidRequestError("There is no question. Give at least one.")
    found = of_each(
        model, questions, lambda question, go_on: _found(model, question, settings, go_on), progress
    )
    return DataDependent(settings, model.name, tuple(found))


def _found(model: LanguageModel, question: str, settings: Searching, go_on: Seldom) -> Found:
    prompt = prompts.iterative(model.reads(question))
    p, responses = _effective_support(model, prompt, settings, go_on)
    go_on()
    # By another seed, for what made X̃ misses nothing of it.
    again = model.sample(prompt, settings.draws, temperature=1.0, seed=settings.seed + 1)
    came = {response.text for response in again if response.complete}
    covered = min(1.0, sum(p.values()))
    missing = sum(q for text, q in p.items() if text not in came)
    high = min(1.0, missing + 1 - covered)
    order = sorted(p, key=lambda text: -p[text])
    return Found(
        question,
        tuple(order),
        tuple(p[text] for text in order),
        responses,
        missing,
        high,
        min(1.0, high + float(mass.lower_deviation(settings.draws, settings.confidence))),
        min(1.0, high + float(mass.upper_deviation(settings.draws, settings.confidence))),
    )


def _effective_support(
    model: LanguageModel, prompt: str, settings: Searching, go_on: Seldom
) -> tuple[dict[str, float], int]:
    """Return Q of each text of X̃, and how many responses it took; cut-off ones are no answers."""
    p: dict[str, float] = {}
    seen = 0
    while True:
        go_on()
        more = min(max(10, seen), settings.most - seen)
        drawn = model.sample(
            prompt, more, temperature=settings.temperature, seed=settings.seed, first=seen
        )
        texts = [r.text if r.complete else None for r in drawn]
        new = list(dict.fromkeys(text for text in texts if text and text not in p))
        scores = np.exp(model.log_likelihoods([prompt], new)[0]) if new else np.empty(0)
        score = dict(zip(new, scores.tolist(), strict=True))
        for text in texts:  # as if they had been drawn one by one
            seen += 1
            if text in score:
                p[text] = score.pop(text)
            if seen == settings.most or sum(p.values()) >= settings.enough:
                return p, seen


def _within(name: str, value: float, least: float, most: float) -> None:
    if not least <= value <= most:
        raise InvalidRequestError(
            f"The {name} is {value:,g}; choose one from {least:,g} to {most:,g}."
        )
