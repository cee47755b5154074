"""Longer chains: what a third and a fourth answer add to the mutual information of two.

The paper estimates pairs and says that they suffice (Section 4.1); Algorithm 1 is written for n
answers. Both ways are taken here. Algorithm 3: every answer found is scored after every chain of
the answers found, which takes mⁿ⁻¹ prompts for m clusters. Algorithms 1 and 2: k chains are drawn,
each answer after all before it, and adjusted for what chance alone shows.

What the recording holds is not asked again: chains of two are scored without any prompt, and pairs
that were sampled are lengthened.
"""

import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import product
from typing import Final

import numpy as np

from core import prompts
from core.codec import count_of
from core.language_models.client.concurrency import AT_ONCE, at_once
from core.language_models.errors import ModelError
from core.language_models.language_model import LanguageModel, Response
from core.studies.examples import EXAMPLES
from core.studies.inspection.inspection import evidence_of, sampled_chains
from core.studies.inspection.recorder import PAIRS_A_CALL, SLOW_PAIRS_A_CALL
from core.studies.inspection.recording import Estimator, Recording
from core.studies.inspection.request import InvalidRequestError, Reading
from core.studies.laboratory.settings import ExperimentSettings, query_of, seed_setting, setting
from core.studies.progress import Progress, silent
from core.uncertainty import chains as of_chains
from core.uncertainty.certified_bound import certified_lower_bound, lump_seconds
from core.uncertainty.chance import adjustment_of_pairs, can_tell
from core.uncertainty.clustering import aggregate
from core.uncertainty.evidence import Evidence
from core.uncertainty.logarithms import entropy, without_rounding
from core.uncertainty.tuples import cluster_tuples, distinct, encode
from core.uncertainty.validation import Floats, Integers

MOST_CHAINS, LONGEST = 300, 4
#: What each line over n is called.
SCORED: Final = "every answer after every chain"
SAMPLED: Final = "sampled chains"
CERTIFIED: Final = "certainly at least"
LARGEST: Final = "at most possible"

SCORING = "Asking again with more answers in the prompt"
DRAWING = "Drawing chains of answers"


@dataclass(frozen=True)
class ChainsSettings(ExperimentSettings):
    """How long chains are, and how many; pairs that were recorded as samples are all lengthened.

    Chains of the answers found are scored as long as one more answer takes no more prompts.
    """

    question: str = setting(EXAMPLES["Unknown"], "Question", read=query_of)
    longest: int = setting(LONGEST, "Answers in the longest chain n", 2, LONGEST, 1)
    chains: int = setting(
        100,
        "Sampled chains",
        0,
        MOST_CHAINS,
        10,
        help="0 samples none. A model that scores only its own answers always samples.",
    )
    most_prompts: int = setting(
        1000,
        "Prompts for one more answer, at most",
        1,
        10_000,
        100,
        help="m answers after chains of n − 1 of them take mⁿ⁻¹ prompts.",
        folded=True,
    )
    seed: int = seed_setting()


@dataclass(frozen=True)
class Cost:
    """What one more answer took: prompts, texts drawn or scored under them, and time."""

    prompts: int
    texts: int
    seconds: float = field(compare=False, default=0.0)


@dataclass(frozen=True)
class ChainScores:
    """Algorithm 3 over chains of n answers."""

    n: int
    value: float  # the mutual information of n answers, nats
    largest: float  # what it can be at most for γ = 0, ΣH_i − max H_i, nats
    # A certain lower bound of the model's own, nats; None where there is none.
    certified: float | None
    cost: Cost  # of the n-th answer alone


@dataclass(frozen=True)
class SampledChains:
    """Algorithm 2 over k sampled chains of n answers; fields as in `ChainScores`."""

    n: int
    value: float  # Adjusted for chance, nats
    plain: float  # Algorithm 2's own estimate, nats
    # What it is on average where the same answers are dealt to the chains at random, nats.
    by_chance: float
    repeated: int  # how many of the chains are no longer new, clusters for texts
    tells: bool  # whether the estimate can be told from chance
    cost: Cost


@dataclass(frozen=True)
class Chains:
    """What chains of one question's answers show, by their length."""

    query: str
    model: str
    revision: str
    settings: ChainsSettings
    answers: int  # m, the clusters of the answers found
    # scored, sampled: for n = 2, 3, …; shorter, or empty, where `left_out` says why.
    scored: tuple[ChainScores, ...]
    sampled: tuple[SampledChains, ...]
    draws: int  # how many chains were drawn; those with an empty answer are none
    left_out: tuple[str, ...] = ()  # what was not computed, and why, in sentences


def run(
    recording: Recording,
    model: LanguageModel,
    settings: ChainsSettings,
    progress: Progress = silent,
    *,
    reading: Reading | None = None,
) -> Chains:
    """Ask a model for longer chains of the answers to a recorded question.

    Raises `InvalidRequestError` when the recording is another model’s; `ModelError`, also when the
    model says of no answer how likely it is.
    """
    reading = reading or Reading()
    if (recording.model, recording.revision) != (model.name, model.revision):
        raise InvalidRequestError("This was recorded with another model. Ask the question again.")
    refuse_counts(model, recording.estimator)
    evidence = evidence_of(recording, reading)
    left_out: list[str] = []
    scored: tuple[ChainScores, ...] = ()
    if recording.estimator is Estimator.EXACT:
        scored, why = _score(recording, evidence, model, settings, progress)
        left_out += why
    sampled: tuple[SampledChains, ...] = ()
    number = 0
    if settings.chains or recording.estimator is Estimator.CHAINED:
        texts, logs, costs = _draw(recording, model, settings, progress)
        number = len(texts)
        if number < 2:
            left_out.append("The model gave fewer than two whole chains, which show nothing.")
        else:
            sampled = _estimates(texts, logs, costs, reading)
    return Chains(
        recording.request.query,
        model.name,
        model.revision,
        settings,
        len(evidence.centres),
        scored,
        sampled,
        number,
        tuple(left_out),
    )


def refuse_counts(model: LanguageModel, estimator: Estimator) -> None:
    """Refuse a model that does not say how likely whole answers are: before it is paid, too."""
    if estimator not in (Estimator.EXACT, Estimator.CHAINED):
        raise ModelError(
            f"{model.name} does not report how likely whole answers are, which chains take. "
            "Choose a model that does, such as the embedded one."
        )


# ------------------------------------------------------- every answer after every chain


def _score(
    recording: Recording,
    evidence: Evidence,
    model: LanguageModel,
    settings: ChainsSettings,
    progress: Progress,
) -> tuple[tuple[ChainScores, ...], list[str]]:
    """Return Algorithm 3 for n = 2, 3, …, as far as the prompts reach, and why no further."""
    m = len(evidence.centres)
    log_rows, costs = [evidence.log_conditionals[evidence.centres]], [Cost(0, 0)]  # (mⁿ⁻¹, r) each
    why = []
    for n in range(3, settings.longest + 1):
        if m ** (n - 1) > settings.most_prompts:
            why.append(
                f"Scoring chains of {n} answers would take {m ** (n - 1):,} prompts for "
                f"{count_of(m, 'answer')}, above the limit of {settings.most_prompts:,}."
            )
            break
        rows, cost = _after_chains(recording.question, evidence, model, n - 1, progress)
        log_rows.append(rows)
        costs.append(cost)
    nexts = [
        np.minimum(aggregate(rows, evidence.labels, axis=1), 0.0).reshape((m,) * n)
        for n, rows in enumerate(log_rows, start=2)
    ]
    first, gammas = evidence.cluster_log_marginal, evidence.parameters.gammas
    informations = of_chains.informations(first, nexts, **gammas)
    return tuple(
        ChainScores(n, one.value, of_chains.largest(one), sure, cost)
        for n, (one, sure, cost) in enumerate(
            zip(informations, _certify(evidence, log_rows), costs, strict=True), start=2
        )
    ), why


def _after_chains(
    query: str, evidence: Evidence, model: LanguageModel, length: int, progress: Progress
) -> tuple[Floats, Cost]:
    """Return ln Q of each response after every chain of `length` centres, (mᵗ, r), and its cost."""
    started = time.perf_counter()
    chains = product(evidence.centre_texts, repeat=length)
    contexts = [prompts.iterative(query, chain) for chain in chains]
    pairs = PAIRS_A_CALL if model.capabilities.quick else SLOW_PAIRS_A_CALL
    size = max(1, pairs // len(evidence.responses))
    blocks = [contexts[i : i + size] for i in range(0, len(contexts), size)]
    calls = [partial(model.log_likelihoods, block, evidence.responses) for block in blocks]
    workers = 1 if model.capabilities.local else AT_ONCE
    parts = at_once(calls, workers=workers, tick=lambda share: progress(SCORING, share))
    cost = Cost(
        len(contexts), len(contexts) * len(evidence.responses), time.perf_counter() - started
    )
    return np.concatenate(parts), cost


def _certify(evidence: Evidence, log_rows: Sequence[Floats]) -> list[float | None]:
    """Return what is certain of chains of 2, 3, … answers, nats.

    Of pairs it is what the inspection certifies. By the chain rule, a further answer adds
    I(Y₁ … Y_{n−1}; Y_n), the information of a beginning and the answer behind it, so that
    `certified_lower_bound` holds: beginnings are chains of centres, which are texts, and clusters
    come behind them. What was cut off is no whole answer, and neither begins nor follows.
    """
    whole = evidence.complete & np.isfinite(evidence.log_marginal)
    begins = np.where(whole[evidence.centres], 0.0, -np.inf)
    beginnings = evidence.log_marginal[evidence.centres] + begins
    bounds: list[float | None] = []
    try:
        total = certified_lower_bound(*evidence.certified_table())
        labels = np.unique(evidence.labels[whole], return_inverse=True)[1]
        for rows in log_rows:
            if bounds:
                total += certified_lower_bound(beginnings, lump_seconds(rows[:, whole], labels))
            bounds.append(total)
            beginnings = (beginnings[:, None] + rows[:, evidence.centres] + begins).ravel()
    except ValueError:  # they are no whole answers, and add up to more than 1
        bounds += [None] * (len(log_rows) - len(bounds))
    return bounds


# ---------------------------------------------------------------------- sampled chains


def _draw(
    recording: Recording, model: LanguageModel, settings: ChainsSettings, progress: Progress
) -> tuple[list[tuple[str, ...]], Floats, list[Cost]]:
    """Draw chains; return their texts, ln Q of each answer, (k, n), and what each step cost."""
    scores = recording.estimator is Estimator.EXACT
    temperature = 1.0 if scores else recording.request.temperature
    pairs = [] if scores else sampled_chains(recording)
    texts: list[tuple[str, ...]] = [pair[:2] for pair in pairs] or [()] * settings.chains
    logs = np.array([pair[2:] for pair in pairs]).reshape(len(texts), -1)
    costs = [Cost(0, 0)] * len(texts[0]) if texts else []
    for step in range(len(costs), settings.longest):
        started = time.perf_counter()
        members: dict[tuple[str, ...], list[int]] = defaultdict(list)
        for place, chain in enumerate(texts):
            members[chain].append(place)
        calls = [
            partial(
                _next, model, recording.question, chain, len(places), temperature, settings.seed
            )
            for chain, places in members.items()
        ]
        able = model.capabilities
        workers = able.questions_at_once if able.local else AT_ONCE
        shown = partial(_show, progress, step, settings.longest)
        responses = at_once(calls, workers=workers, tick=shown)
        grown, column = list(texts), np.full(len(texts), np.nan)
        for (chain, places), row in zip(members.items(), responses, strict=True):
            for place, (text, log) in zip(places, row, strict=True):
                grown[place], column[place] = (*chain, text), log
        alive = [place for place, chain in enumerate(grown) if chain[-1]]
        number = len(texts)
        texts = [grown[place] for place in alive]
        logs = np.column_stack([logs, column])[alive]
        costs.append(Cost(len(calls), number, time.perf_counter() - started))
        if not texts:
            break
    return texts, logs, costs


def _show(progress: Progress, step: int, longest: int, share: float) -> None:
    progress(DRAWING, (step + share) / longest)


def _next(
    model: LanguageModel,
    query: str,
    chain: tuple[str, ...],
    count: int,
    temperature: float,
    seed: int,
) -> list[tuple[str, float]]:
    """Draw what comes after a chain, so many times, with ln Q of each.

    The prompt is part of what a draw depends on, and so is its index: more chains begin with the
    same ones.
    """
    prompt = prompts.iterative(query, chain)
    with model.beside():
        samples = model.sample(prompt, count, temperature=temperature, seed=seed)
        if not model.capabilities.scores_given_text:
            return [(response.text, _own(response, model)) for response in samples]
        texts = list(dict.fromkeys(response.text for response in samples if response.text))
        log_likelihoods = model.log_likelihoods([prompt], texts)[0] if texts else np.empty(0)
    # What cannot be scored is left out, as is what is empty.
    log_likelihoods = np.where(np.isnan(log_likelihoods), -np.inf, log_likelihoods)
    log = dict(zip(texts, log_likelihoods.tolist(), strict=True))
    return [(response.text, log.get(response.text, -np.inf)) for response in samples]


def _own(response: Response, model: LanguageModel) -> float:
    if response.refusal:
        return -np.inf
    if response.log_likelihood is None:
        raise ModelError(
            f"{model.name} no longer reports how likely its own answers are. Ask again, or choose "
            "another model."
        )
    return response.log_likelihood


def _estimates(
    texts: Sequence[tuple[str, ...]], logs: Floats, costs: Sequence[Cost], reading: Reading
) -> tuple[SampledChains, ...]:
    """Return Algorithm 2 for the first 2, 3, … answers of the same chains.

    All lengths share the clusters of the whole chains, so that length alone makes the difference.
    """
    _, first = np.unique(encode(texts), axis=0, return_index=True)
    first = np.sort(first)
    # A service may score one answer twice, a little differently: the first counts.
    clustered = cluster_tuples(
        [texts[i] for i in first],
        logs[first].sum(axis=1),
        threshold=reading.threshold,
        method=reading.similarity,
    )
    number = {text: i for i, text in enumerate(clustered.vocabulary)}
    codes = np.array([[number[text] for text in chain] for chain in texts])
    return tuple(
        _estimate(codes[:, :n], logs[:, :n], clustered.vocabulary_labels, costs[n - 1], reading)
        for n in range(2, codes.shape[1] + 1)
    )


def _estimate(
    codes: Integers, logs: Floats, labels: Integers, cost: Cost, reading: Reading
) -> SampledChains:
    gammas = reading.gammas
    first = distinct(encode(codes))
    plain = of_chains.estimate(labels[codes[first]], logs[first].sum(axis=1), **gammas)
    later = _entropies(labels[codes[first]], logs[first].sum(axis=1))[1:].sum()
    by_chance = of_chains.deal(codes, logs, labels, **gammas)
    added = adjustment_of_pairs(plain.value, later, by_chance)
    return SampledChains(
        n=codes.shape[1],
        value=without_rounding(plain.value + added),
        plain=plain.value,
        by_chance=float(by_chance.mean()) if by_chance.size else 0.0,
        repeated=len(codes) - len(np.unique(labels[codes], axis=0)),
        tells=can_tell(plain.value, later, by_chance),
        cost=cost,
    )


def _entropies(labels: Integers, log_p: Floats) -> Floats:
    """Return the entropy of each answer of the estimated joint, (n,), nats."""
    log_joint = log_p - np.logaddexp.reduce(log_p)
    columns = (np.unique(column, return_inverse=True)[1] for column in labels.T)
    return np.array([float(entropy(aggregate(log_joint, column))) for column in columns])
