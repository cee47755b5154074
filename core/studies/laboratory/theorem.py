"""Theorem 4.5 where the truth is known: D(Q̃, P̃) >= I(Q̃), question by question.

For a truth whose answers are independent, P̃ = P ⊗ P, it is an identity and a remainder: D(Q̃, P̃)
= I(Q̃) + D(Q̃₁, P) + D(Q̃₂, P). So this checks the code, shows how much of the divergence M.I.
finds, and what is lost by looking at few answers and at clusters. Against the documents that the
embedded model learnt from, whose answers are not independent, the theorem says nothing, and M.I. is
often larger than the divergence.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

import numpy as np

from core import prompts
from core.data.world.facts import Band, Fact, facts
from core.language_models.language_model import LanguageModel
from core.studies.inspection.request import InvalidRequestError
from core.studies.laboratory.asking import Seldom, must_score, of_each
from core.studies.laboratory.pseudo_joint import (
    PseudoJoint,
    corpus_of,
    divergence,
    likeliest_setting,
    pseudo_joint,
    smooth,
    smoothing_setting,
    support_of,
    truth_of,
)
from core.studies.laboratory.settings import (
    ExperimentSettings,
    draw_of_questions,
    seed_setting,
    setting,
)
from core.studies.progress import Progress, silent
from core.uncertainty.clustering import aggregate, centres, cluster
from core.uncertainty.joint import from_table
from core.uncertainty.logarithms import entropy, log_normalise, log_sum_exp
from core.uncertainty.mutual_information import from_conditionals
from core.uncertainty.similarity import pairwise
from core.uncertainty.validation import Floats

ROUNDING: Final = 1e-9  # nats: how far the identity may be off


@dataclass(frozen=True)
class TheoremSettings(ExperimentSettings):
    """Which questions are asked, and how each is looked at; k and τ are the paper's."""

    questions: int = setting(200, "Questions", 1, 500, 10, help="As many of each exposure band.")
    samples: int = setting(10, "Answers k of the estimate", 1, 100, 1)
    similarity_threshold: float = setting(0.25, "Similarity threshold τ", 0.01, 1, 0.05)
    smoothing: float = smoothing_setting(
        help="P = (1 − ε) truth + ε / m, for m texts: no divergence from 0 is finite."
    )
    likeliest: int = likeliest_setting()
    triples: int = setting(
        0,
        "Pairs drawn to look at a third answer",
        0,
        1000,
        10,
        help="With 0, chains have two answers. Each pair takes another prompt.",
        folded=True,
    )
    temperature: float = setting(0.9, "Temperature of the k answers", 0.01, 2, 0.1, folded=True)
    draw: int = draw_of_questions()
    seed: int = seed_setting()


@dataclass(frozen=True)
class Triple:
    """The same of three answers, from pairs drawn from Q̃ and all third answers after each."""

    divergence: float  # D(Q̃, P̃) of three answers, nats: right on average
    # lower, upper: between which I(Q̃) of three answers lies, on average, nats.
    lower: float
    upper: float


@dataclass(frozen=True)
class TheoremRow:
    """One question: I(Q̃) and what it is compared with, all in nats."""

    question: str
    band: str
    exposures: int  # how many training documents of the embedded model ask it
    texts: int  # the size of the support
    covered: float  # what the support holds of the model's probability of a pair
    information: float  # I(Q̃), of texts
    divergence: float  # D(Q̃, P̃) from the truth
    # first_slack, second_slack: D(Q̃₁, P) and D(Q̃₂, P), of which the difference of the two
    # consists.
    first_slack: float
    second_slack: float
    # D(Q̃, P̃) with P̃ what the training documents say; None where there are none.
    corpus_divergence: float | None
    # I of that P̃: 0 if its answers are independent, as the theorem assumes.
    corpus_information: float | None
    clustered: float  # I of Q̃ with the texts of a cluster counted as one
    # sampled, sampled_clustered: Algorithm 3 on k drawn answers, without and with clusters.
    sampled: float
    sampled_clustered: float
    triple: Triple | None = None

    @property
    def off(self) -> float:
        """How far D − I is from the divergences of the marginals: rounding, nats."""
        return abs(self.divergence - self.information - self.first_slack - self.second_slack)

    @property
    def holds(self) -> bool:
        """Whether D >= I against the truth, as the theorem says."""
        return self.divergence >= self.information - ROUNDING

    @property
    def breaks(self) -> bool:
        """Whether M.I. is above the divergence from the documents, as the theorem excludes."""
        return self.corpus_divergence is not None and (
            self.corpus_divergence < self.information - ROUNDING
        )


@dataclass(frozen=True)
class TheoremOne:
    """Theorem 4.5 on many questions."""

    settings: TheoremSettings
    model: str
    rows: tuple[TheoremRow, ...]

    @cached_property
    def means(self) -> dict[str, dict[str, float]]:
        """The means of a band's rows, by band and the name of the number in `TheoremRow`, nats."""
        names = ("information", "divergence", "clustered", "sampled", "sampled_clustered")
        means = {}
        for band in dict.fromkeys(row.band for row in self.rows):
            own = [row for row in self.rows if row.band == band]
            means[band] = {n: float(np.mean([getattr(row, n) for row in own])) for n in names}
        return means


def choose(count: int, seed: int = 0) -> tuple[Fact, ...]:
    """Draw facts of the world, as many of each band as of any other.

    Raises `InvalidRequestError` if fewer than one is asked for, or more than there are of the
    rarest band.
    """
    rng = np.random.default_rng(seed)
    bands = {band: [fact for fact in facts() if fact.band is band] for band in Band}
    most = len(bands) * min(map(len, bands.values()))
    if not 1 <= count <= most:
        raise InvalidRequestError(
            f"The number of questions is {count}; choose one from 1 to {most:,}."
        )
    shares = [count // len(bands) + (i < count % len(bands)) for i in range(len(bands))]
    return tuple(
        own[i]
        for own, share in zip(bands.values(), shares, strict=True)
        for i in rng.choice(len(own), share, replace=False)
    )


def run(
    model: LanguageModel,
    facts: Sequence[Fact],
    settings: TheoremSettings,
    progress: Progress = silent,
) -> TheoremOne:
    """Compare Q̃ with P̃ on every question.

    Raises `InvalidRequestError` when there is no question; `ModelError`, also when the model does
    not score given, whole answers.
    """
    must_score(model)
    rows = of_each(model, facts, lambda fact, go_on: _row(model, fact, settings, go_on), progress)
    return TheoremOne(settings, model.name, tuple(rows))


def _row(model: LanguageModel, fact: Fact, settings: TheoremSettings, go_on: Seldom) -> TheoremRow:
    prompt = prompts.iterative(model.reads(fact.question))
    samples = model.sample(
        prompt, settings.samples, temperature=settings.temperature, seed=settings.seed
    )
    go_on()
    texts = [response.text for response in samples if response.text]
    q = pseudo_joint(model, fact.question, [*support_of(model, fact, settings.likeliest), *texts])
    go_on()
    log_truth = smooth(truth_of(fact, q.texts), settings.smoothing)
    exact = from_table(q.log_joint)
    corpus = corpus_of(fact, q.texts)
    of_corpus = _against_corpus(q, corpus, settings.smoothing) if corpus else (None, None)
    row = TheoremRow(
        question=fact.question,
        band=fact.band.value,
        exposures=fact.exposures,
        texts=len(q.texts),
        covered=q.covered * float(np.exp(q.log_first) @ q.covered_rows),
        information=exact.value,
        divergence=divergence(q.log_joint, log_truth[:, None] + log_truth),
        first_slack=divergence(q.log_first, log_truth),
        second_slack=divergence(q.log_second, log_truth),
        corpus_divergence=of_corpus[0],
        corpus_information=of_corpus[1],
        clustered=_cluster(q, settings.similarity_threshold),
        sampled=_sample(q, texts),
        sampled_clustered=_sample(q, texts, settings.similarity_threshold),
    )
    if not settings.triples:
        return row
    return replace(row, triple=_triple(model, fact.question, q, log_truth, settings, row))


def _against_corpus(
    q: PseudoJoint, corpus: tuple[Floats, Floats], smoothing: float
) -> tuple[float, float]:
    log_p = smooth(corpus[0], smoothing)[:, None] + smooth(corpus[1], smoothing)
    return divergence(q.log_joint, log_p), from_table(log_p).value


def _cluster(q: PseudoJoint, threshold: float) -> float:
    """Return I of Q̃ with rows and columns of a cluster merged: never more than I(Q̃)."""
    labels = cluster(pairwise(q.texts), threshold)
    return from_table(aggregate(aggregate(q.log_joint, labels, 0), labels, 1)).value


def _sample(q: PseudoJoint, texts: Sequence[str], threshold: float | None = None) -> float:
    """Return Algorithm 3 on drawn texts; with τ, each row is that of its cluster's centre."""
    came = set(texts)
    at = np.array([i for i, text in enumerate(q.texts) if text in came], dtype=np.int64)
    if not at.size:
        return 0.0
    own = [q.texts[i] for i in at]
    labels = np.arange(len(own)) if threshold is None else cluster(pairwise(own), threshold)
    rows = q.log_rows[np.ix_(at[centres(labels)], at)]
    return from_conditionals(aggregate(q.log_first[at], labels), aggregate(rows, labels, 1)).value


def _triple(
    model: LanguageModel,
    question: str,
    q: PseudoJoint,
    log_truth: Floats,
    settings: TheoremSettings,
    pairs: TheoremRow,
) -> Triple:
    """Add a third answer to what is known of two, from pairs drawn from Q̃.

    By the chain rule, I of three is that of two and I(Y₁Y₂; Y₃), which lies between L and U of the
    drawn rows on average; and D of three is that of two and the mean of D(row, P).
    """
    rng = np.random.default_rng(settings.seed)
    joint = np.exp(q.log_joint).ravel()
    counts = rng.multinomial(settings.triples, joint / joint.sum())
    cells = np.flatnonzero(counts)
    chains = [[q.texts[i], q.texts[j]] for i, j in zip(*divmod(cells, len(q.texts)), strict=True)]
    query = model.reads(question)
    contexts = [prompts.iterative(query, answers) for answers in chains]
    log_rows = log_normalise(model.log_likelihoods(contexts, q.texts), axis=1)[0]

    k, shares = settings.triples, counts[cells] / settings.triples
    log_mean = log_sum_exp(np.log(shares)[:, None] + log_rows, axis=0)
    lower = float(entropy(log_mean) - shares @ entropy(log_rows))
    upper = np.inf
    if k > 1:
        others = np.maximum((k * np.exp(log_mean) - np.exp(log_rows)) / (k - 1), 1e-300)
        apart = [
            divergence(row, other) for row, other in zip(log_rows, np.log(others), strict=True)
        ]
        upper = float(shares @ apart)
    third = shares @ [divergence(row, log_truth) for row in log_rows]
    return Triple(
        pairs.divergence + float(third), pairs.information + lower, pairs.information + upper
    )
