"""Scores of answers that somebody has already: each that they allow, each other with the reason.

Nothing is asked, and nothing supposed. Answers alone tell how much they differ. Whether a model
follows an answer that it is told takes second answers, given with a first one in the prompt.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import asdict, dataclass, replace
from itertools import groupby
from typing import Any, Final, TypeVar

import numpy as np

from core.uncertainty import validation
from core.uncertainty.certified_bound import ROUNDING
from core.uncertainty.clustering import aggregate, centres, likelihood_order
from core.uncertainty.evidence import Evidence, Hyperparameters
from core.uncertainty.logarithms import entropy, log_normalise, log_sum_exp, without_rounding
from core.uncertainty.no_answer import is_no_answer
from core.uncertainty.sampled_evidence import Chain, from_chains, from_tallies
from core.uncertainty.scores import FEWEST_SECONDS, SCORES, Score
from core.uncertainty.validation import Floats

Key = TypeVar("Key", str, tuple[str, str])

NO_LOG: Final = -9999.0  # nats: a service's mark for no log-probability, as -inf
FEWEST_PAIRS: Final = 100  # below, Algorithms 1 and 2 on sampled pairs are mostly chance
NO_SECOND: Final = (
    "There are no second answers. Put each answer into the prompt, ask again, and give what comes "
    "as second."
)
SOME_SECOND: Final = (
    "{} of {} different answers have no second answer. Ask again with each of them in the prompt."
)
NO_VERIFICATION: Final = "The model was not asked whether its answer is correct."
NO_GREEDY: Final = (
    "The answer at temperature zero and its log-probability are not given; see greedy and "
    "log_probabilities."
)
NO_ANSWER: Final = "This text says that it has no answer, or why it gives none: nothing to score."
MOST_EMPTY: Final = 0.1  # of the answers: with more, the others may not speak for all
EMPTY: Final = "{} of {} answers are empty, so that the others do not speak for all."
ONE_ANSWER: Final = "There is one answer, and it takes two to differ."
FEW_PAIRS: Final = (
    f"It takes {FEWEST_PAIRS} pairs of a first and a second answer, and there are {{}}."
)
FEW_SECONDS: Final = (
    f"It takes {FEWEST_SECONDS} second answers after each different first one, and one has {{}}."
)


@dataclass(frozen=True)
class AnswerScores:
    """Every score of answers to one question, or why there is none, and their probabilities."""

    # Every score of `SCORES` by its name: with a value, or the reason why there is none.
    scores: Mapping[str, Score]
    # The different answers, the likeliest first, and the probability of each, which sum to 1.
    answers: tuple[tuple[str, float], ...]
    estimator: str  # what the probabilities are made of

    def to_dict(self) -> dict[str, Any]:
        """Return a dictionary that JSON can hold."""
        return {
            "estimator": self.estimator,
            "answers": [{"text": text, "probability": share} for text, share in self.answers],
            "scores": {name: asdict(score) for name, score in self.scores.items()},
        }


def score(
    responses: Sequence[str],
    log_probabilities: Sequence[float] | None = None,
    second: Sequence[str | Sequence[str]] | None = None,
    second_log_probabilities: Sequence[float] | None = None,
    *,
    greedy: str | None = None,
    similarity: str = Hyperparameters.similarity,
    threshold: float = Hyperparameters.threshold,
) -> AnswerScores:
    """Return every score that answers to one question allow.

    Raises `ValueError` when there is no answer, lengths differ, or numbers are no log-probabilities
    of whole answers: above 0, a mark for none, or of different answers that add up to more than 1.

    `responses`, (k,): independent answers to the question, repeated ones as often as they came.
    `log_probabilities`, (k,): ln of the probability of each whole answer at temperature 1, nats:
    the sum over its tokens, not their mean. Of a text that came in several tokenisations, the
    largest counts.
    `second`, (k,): what the model answered to the question with that response in the prompt, once
    or often.
    `second_log_probabilities`, (k,): log-probabilities of the second answers, one of each; likewise
    the largest counts.
    `greedy`: the answer at temperature zero, which must be among the responses to have a
    probability.
    `similarity, threshold`: how two answers are compared; see `core.uncertainty.similarity`.
    """
    if isinstance(responses, str):
        raise ValueError("The responses are one text: give a list, with one answer or more.")
    if threshold == 0:
        raise ValueError("From a threshold of 0 on, all answers are one: give one above it.")
    texts = _texts(responses, "responses")
    if not any(texts):
        raise ValueError("There are no answers: give at least one that is not empty.")
    parameters = Hyperparameters(similarity, threshold)
    logs = _logs(texts, log_probabilities, "log_probabilities")
    seconds = _seconds(second, len(texts))
    their_logs = _logs(
        ["".join(each) for each in seconds] if seconds else texts,
        second_log_probabilities,
        "second_log_probabilities",
    )
    zero = _texts([greedy], "greedy")[0] if greedy is not None else None
    result = _scores_of(texts, logs, seconds, their_logs, zero, parameters)
    empty = texts.count("")
    lack = EMPTY.format(empty, len(texts)) if empty > MOST_EMPTY * len(texts) else ""
    scores = {name: _of_answer(each, lack) for name, each in result.scores.items()}
    return replace(result, scores=scores)


def _of_answer(own: Score, lack: str) -> Score:
    """Return a score; without its value where its answer is none, or too many others are."""
    if own.value is None or not (lack or is_no_answer(own.answer)):
        return own
    return Score(None, None, own.answer, lack or NO_ANSWER)


def _scores_of(
    texts: list[str],
    logs: Floats | None,
    seconds: list[list[str]] | None,
    their_logs: Floats | None,
    zero: str | None,
    parameters: Hyperparameters,
) -> AnswerScores:
    if seconds is None:
        return _firsts_alone(texts, logs, zero, parameters, NO_SECOND)
    distinct = {*filter(None, texts)}
    without = distinct.difference(a for a, b in zip(texts, seconds, strict=True) if any(b))
    if 0 < len(without) < len(distinct):  # left out, they would differ from nothing
        lack = SOME_SECOND.format(len(without), len(distinct))
        return _firsts_alone(texts, logs, zero, parameters, lack)
    single = all(len(each) == 1 for each in seconds)
    if logs is not None and their_logs is not None and single:
        rows = zip(texts, seconds, logs, their_logs, strict=True)
        chains = [(a, b[0], float(p), float(q)) for a, b, p, q in rows if a and b[0]]
        pairs = _largest([c[:2] for c in chains], [q for *_, q in chains])
        for _, after in groupby(sorted(pairs.items()), key=lambda pair: pair[0][0]):
            _refuse_sum([q for _, q in after])
        return _pairs([(a, b, p, pairs[a, b]) for a, b, p, _ in chains], zero, parameters)
    return _tallies(texts, logs, seconds, zero, parameters)


def _logs(texts: list[str], values: Sequence[float] | None, name: str) -> Floats | None:
    if values is None:
        return None
    logs = validation.log_probabilities(values, name, dimensions=1)
    validation.shape(logs, (len(texts),), name)
    least = logs[np.array([*map(bool, texts)])].min(initial=0.0)
    if least <= NO_LOG:
        raise ValueError(
            f"{name} contains {least:.6g}: an answer that came has a probability above 0, so "
            "that this stands for none. Leave the answer out, or give no log-probabilities."
        )
    if name == "log_probabilities":
        largest = _largest(texts, logs.tolist())
        _refuse_sum([*largest.values()])
        logs = np.array([largest[text] for text in texts])
    return logs


def _largest(keys: Sequence[Key], logs: Sequence[float]) -> dict[Key, float]:
    """Return the largest of the numbers of each key."""
    return dict(sorted(zip(keys, logs, strict=True)))  # the last of a key counts


def _refuse_sum(logs: list[float]) -> None:
    """Raise a `ValueError` where different answers have more than all probability."""
    sums = log_sum_exp(np.array(logs))
    if sums > np.log1p(ROUNDING):
        raise ValueError(
            f"The probabilities of different answers add up to {np.exp(sums):.3g}, more than 1. "
            "Give the sum of each answer's token log-probabilities at temperature 1, not their "
            "mean."
        )


def _seconds(second: Sequence[str | Sequence[str]] | None, length: int) -> list[list[str]] | None:
    if second is None:
        return None
    if isinstance(second, str | AbstractSet | Mapping) or not isinstance(second, Iterable):
        raise ValueError("second is no list: give one, with an entry for each response.")
    second = [*second]
    if len(second) != length:
        raise ValueError(f"second has {len(second)} entries for {length} responses.")
    return [_texts([each] if isinstance(each, str) else each, "second") for each in second]


def _texts(values: Sequence[str], name: str) -> list[str]:
    """Return texts without blanks around them; how often each came must be known."""
    if not isinstance(values, Iterable):
        raise ValueError(f"{name} holds no list of answers where there should be one.")
    if isinstance(values, AbstractSet | Mapping):
        raise ValueError(f"{name} is a set, which loses how often an answer came: give a list.")
    if getattr(values, "ndim", 1) != 1:
        raise ValueError(f"{name} is a table: give one of its columns.")
    texts = list(values)
    for text in texts:
        if not isinstance(text, str):
            raise ValueError(f"{name} holds {text!r:.60}, which is no text; leave such ones out.")
    return [text.strip() for text in texts]


def _firsts_alone(
    texts: list[str],
    logs: Floats | None,
    greedy: str | None,
    parameters: Hyperparameters,
    lack: str,
) -> AnswerScores:
    """Score answers without second ones: how much they differ, and how likely one is."""
    counts = Counter(text for text in texts if text)
    if logs is None:
        share = {text: float(np.log(n / counts.total())) for text, n in counts.items()}
    else:
        share = {text: float(p) for text, p in zip(texts, logs, strict=True) if text}
    values = np.array([*share.values()])
    validation.normalisable(values, "log_probabilities")
    order = likelihood_order(values)
    distinct = [[*share][i] for i in order]
    labels = parameters.cluster(distinct, None)
    log_first = log_normalise(aggregate(values[order], labels))[0]
    names = [distinct[i] for i in centres(labels)]
    answer = names[int(log_first.argmax())]
    spread = without_rounding(float(entropy(log_first)))
    scores = {name: Score(None, None, answer, lack) for name in SCORES}
    scores["semantic_entropy"] = Score(spread, spread, answer)
    if counts.total() < 2:
        scores["semantic_entropy"] = Score(None, None, answer, ONE_ANSWER)
    scores["self_verification"] = Score(None, None, answer, NO_VERIFICATION)
    scores["greedy_probability"] = _greedy(greedy, share if logs is not None else {}, answer)
    shares = sorted(zip(names, np.exp(log_first).tolist(), strict=True), key=lambda x: -x[1])
    return AnswerScores(scores, tuple(shares), "counts" if logs is None else "own likelihoods")


def _greedy(greedy: str | None, logs: Mapping[str, float], answer: str) -> Score:
    if greedy is None or greedy not in logs:
        return Score(None, None, greedy or answer, NO_GREEDY)
    return Score(float(np.exp(logs[greedy])), abs(logs[greedy]), greedy)


def _pairs(chains: list[Chain], greedy: str | None, parameters: Hyperparameters) -> AnswerScores:
    logs = {a: p for a, _, p, _ in chains}
    evidence = from_chains(
        chains,
        greedy=greedy or "",
        greedy_log_likelihood=logs.get(greedy or ""),
        parameters=parameters,
    )
    lack = FEW_PAIRS.format(len(chains)) if len(chains) < FEWEST_PAIRS else None
    return _of(evidence, "sampled pairs, adjusted for chance", greedy, lack)


def _tallies(
    texts: list[str],
    logs: Floats | None,
    seconds: list[list[str]],
    greedy: str | None,
    parameters: Hyperparameters,
) -> AnswerScores:
    rows: dict[str, Counter[str]] = {}
    for text, each in zip(texts, seconds, strict=True):
        rows.setdefault(text, Counter()).update(filter(None, each))
    counts = Counter(text for text in texts if text and rows[text])
    if not counts:
        raise ValueError("There are no second answers: every one is empty.")
    evidence = from_tallies(
        counts, {text: rows[text] for text in counts}, greedy=greedy or "", parameters=parameters
    )
    came = evidence.second_counts
    assert came is not None
    fewest = int(came[np.isfinite(evidence.log_first)].min())
    lack = FEW_SECONDS.format(fewest) if fewest < FEWEST_SECONDS else None
    every = _of(evidence, "counts of first and second answers, adjusted for chance", greedy, lack)
    own = {} if logs is None else dict(zip(texts, logs.tolist(), strict=True))
    answer = every.answers[0][0]
    scores = {**every.scores, "greedy_probability": _greedy(greedy, own, answer)}
    if counts.total() < 2:
        scores["semantic_entropy"] = Score(None, None, answer, ONE_ANSWER)
    return AnswerScores(scores, every.answers, every.estimator)


def _of(evidence: Evidence, estimator: str, greedy: str | None, lack: str | None) -> AnswerScores:
    """Return the scores of evidence; those of second answers not, where there are too few."""
    scores = {name: info.function(evidence) for name, info in SCORES.items()}
    answer = evidence.likeliest_first
    scores["self_verification"] = Score(None, None, answer, NO_VERIFICATION)
    if greedy is None or evidence.greedy_log_likelihood is None:
        scores["greedy_probability"] = Score(None, None, greedy or answer, NO_GREEDY)
    if lack:
        for name in ("mutual_information", "min_conditional_entropy", "pair_covariance"):
            scores[name] = Score(None, None, answer, lack)
    shares = zip(evidence.centre_texts, np.exp(evidence.log_first).tolist(), strict=True)
    answers = sorted(((text, share) for text, share in shares if share), key=lambda x: -x[1])
    return AnswerScores(scores, tuple(answers), estimator)
