"""The rungs of the ladder on the same questions: ``python -m benchmarks.ladder [--write]``.

The embedded model is asked as it is, and with abilities switched off, as services are: one that
says how likely its own answers are, and one that says nothing of the kind. The questions are
the first hundred of either half of the model card's mixture: single-label ones, and many-answer
ones with a semantic entropy above 0.7. For each rung:

- how well every score ranks wrong answers (AUROC of its doubt, against whether the answer that
  it would serve is wrong), with 95% intervals for M.I. and S.E.;
- self-verification both ways, from next tokens and from the share of samples that say “True”;
- requests to a service: one answer or one pair at a time, and as many as we ask of an
  OpenAI-compatible server; and the tokens of the latter;
- how far M.I. lies from exact likelihoods, of the same ten samples and of 300. Counts see
  answers at the temperature of the sampling, likelihoods are at temperature 1: part of the
  difference.

`--write` puts it where the page and the README read it. Some minutes on two idle cores.
"""

import argparse
import functools
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.model_card import SPREAD
from benchmarks.shared.limited import Limited
from benchmarks.shared.measuring import Question, Wording, in_parallel, measure, opened, questions
from core import outputs, prompts
from core.abstention.metrics import auroc
from core.abstention.resampled_measures import compare
from core.data.world import grading
from core.data.world.facts import Band
from core.language_models.backends.embedded.model import EmbeddedModel
from core.language_models.backends.openai.abilities import CANDIDATES_A_CALL
from core.language_models.backends.openai.model import PAIRS_A_CALL
from core.language_models.true_false import OPINIONS, opinion
from core.studies.inspection.certificates import usual_least_mass
from core.studies.inspection.estimators import (
    MANY_ANSWERS,
    MEASURED,
    MIXTURE,
    NEXT_TOKENS,
    SAMPLED_VERIFICATION,
    SAMPLES,
    SINGLE_LABEL,
    TITLES,
    VERIFICATION,
    measures_from,
    table,
)
from core.studies.inspection.inspection import evidence_of
from core.studies.inspection.recorder import record, usual_request
from core.studies.inspection.recording import EXACT, Estimator, Recording
from core.studies.inspection.request import MAX_SAMPLES, Reading, Request
from core.studies.inspection.verdict import enough_seen
from core.uncertainty.scores import SCORES

HALF = 100  # questions
INTERVALS = ("mutual_information", "semantic_entropy")
LONG = "long"  # exact likelihoods of as many samples as there may be


@dataclass(frozen=True)
class Row:
    """One question on one rung."""

    # By the keys of `SCORES`, and `SAMPLED_VERIFICATION`; NaN where there is no value.
    doubt: dict[str, float]
    correct: dict[str, bool]  # whether the answer that the score would serve is right
    information: float  # M.I., nats
    seen: bool  # whether enough was sampled for a verdict
    costs: dict[str, dict[str, int]]  # by what self-verification is made from: requests and tokens


# --------------------------------------------------------------------------- the questions


def chosen(asked: Sequence[Question], half: int = HALF) -> list[Question]:
    """Draw the questions as `benchmarks.model_card.mixture` does, fewer of them."""
    rng = np.random.default_rng(0)
    single = [q for q in asked if q.band != Band.MANY_ANSWERS]
    many = [q for q in asked if q.band == Band.MANY_ANSWERS]
    spread = [q for q, row in zip(many, measure(many), strict=True) if row.entropy > SPREAD]
    drawn = [[part[i] for i in rng.permutation(len(part))[:half]] for part in (single, spread)]
    return [question for part in drawn for question in part]


# ------------------------------------------------------------------------------ one of them


def ask(question: Question, estimator: Estimator, model: EmbeddedModel) -> Recording:
    """Ask one question as a model on that rung is asked, with as many samples as usual."""
    request = Request(question.text, seed=question.seed)
    if estimator is Estimator.EXACT:
        return record(request, model)
    limited = Limited(model, own_log_likelihoods=estimator is Estimator.CHAINED, next_token=True)
    samples = usual_request(question.text, limited.capabilities).samples
    return record(replace(request, samples=samples), limited)


def recordings(question: Question, model: EmbeddedModel) -> dict[str, Recording]:
    """Ask one question on every rung, and once more with as many samples as there may be."""
    made = {estimator.name: ask(question, estimator, model) for estimator in TITLES}
    exact = made[Estimator.EXACT.name]
    request = replace(exact.request, samples=MAX_SAMPLES)
    return made | {LONG: record(request, model, previous=exact)}


def read(question: Question, recording: Recording, model: EmbeddedModel) -> Row:
    """Hold every score of one recording against the truth, and count what it took."""
    evidence = evidence_of(recording, Reading())
    scores = {name: info.function(evidence) for name, info in SCORES.items()}
    doubt = {n: math.nan if s.doubt is None else s.doubt for n, s in scores.items()}
    fact = question.fact
    assert fact is not None
    correct = {name: grading.is_right(s.answer, fact) for name, s in scores.items()}
    if recording.estimator not in EXACT:
        asked = prompts.self_verification(recording.question, evidence.likeliest_first)
        true, false = opinion(Limited(model), asked, seed=question.seed)
        doubt[SAMPLED_VERIFICATION] = float(np.logaddexp(0.0, false - true))
        correct[SAMPLED_VERIFICATION] = correct[VERIFICATION]
    return Row(
        doubt=doubt,
        correct=correct,
        information=evidence.mutual_information.value,
        seen=enough_seen(evidence.sampled_mass, len(evidence.centres), usual_least_mass()),
        costs={
            means: {
                "singly": requests(recording, 1, 1, means),
                "together": requests(recording, CANDIDATES_A_CALL, PAIRS_A_CALL, means),
                "tokens": tokens(recording, model, means),
            }
            for means in (NEXT_TOKENS, SAMPLES)
        },
    )


def rows(question: Question, model: EmbeddedModel) -> dict[str, Row]:
    """Ask one question on every rung, and read the answers."""
    made = recordings(question, model)
    return {name: read(question, recording, model) for name, recording in made.items()}


def _rows(question: Question) -> dict[str, Row]:
    return rows(question, opened())


# ------------------------------------------------------------------------- what it cost


def requests(recording: Recording, candidates: int, pairs: int, means: str = NEXT_TOKENS) -> int:
    """Count the requests of a recording to a service that takes so much at a time.

    What a model is told besides, where all its answers are alike, is left out. One request returns
    `candidates` answers, or scores `pairs` pairs; self-verification is made from `means`, unless
    the service scores given text.
    """
    r = len(recording.texts)
    first = _ceil(len(recording.samples), candidates) + 1  # and the greedy answer
    if recording.estimator in EXACT:
        unseen = recording.greedy.text not in recording.texts
        return first + _blocks(r + 1, r, pairs) + _blocks(r, 2, pairs) + unseen
    second = sum(_ceil(len(row), candidates) for row in recording.seconds)
    return first + second + r * (1 if means == NEXT_TOKENS else _ceil(OPINIONS, candidates))


def _blocks(rows: int, columns: int, pairs: int) -> int:
    """Count the requests that score all pairs, whole rows together where they fit."""
    across = min(columns, pairs)
    return _ceil(rows, max(1, pairs // across)) * _ceil(columns, across)


def _ceil(count: int, size: int) -> int:
    return -(-count // size)


def tokens(recording: Recording, model: EmbeddedModel, means: str = NEXT_TOKENS) -> int:
    """Count the tokens that a server would read and write, so many answers a request.

    A prompt is read once for each request to draw answers, and once for each pair to score.
    What a model is told besides, where all its answers are alike, is left out.
    """

    @functools.cache
    def length(text: str) -> int:
        return len(model.encode(text))

    def answer(text: str) -> int:
        return length(f" {text}") + 1  # and its end

    query, texts = recording.question, recording.texts
    first = length(prompts.iterative(query))
    told = [length(prompts.iterative(query, [text])) for text in texts]
    verified = sum(length(prompts.self_verification(query, text)) for text in texts)
    drawn = sum(answer(sample.text) for sample in recording.samples)
    used = _ceil(len(recording.samples), CANDIDATES_A_CALL) * first + drawn
    used += first + answer(recording.greedy.text)
    if recording.estimator in EXACT:
        used += len(texts) * (first + sum(told)) + (len(texts) + 1) * sum(map(answer, texts))
        if recording.greedy.text not in texts:
            used += first + answer(recording.greedy.text)
        return used + 2 * verified + len(texts) * (answer(prompts.TRUE) + answer(prompts.FALSE))
    for prompt, row in zip(told, recording.seconds, strict=True):
        used += _ceil(len(row), CANDIDATES_A_CALL) * prompt + sum(answer(r.text) for r in row)
    if means == NEXT_TOKENS:
        return used + verified + len(texts)
    return used + _ceil(OPINIONS, CANDIDATES_A_CALL) * verified + OPINIONS * 2 * len(texts)


# ------------------------------------------------------------------------------ all of them


def ranking(measured: Sequence[Row], name: str, at: NDArray[Any]) -> dict[str, Any]:
    """Return how well one score ranks the wrong answers among some rows."""
    doubt = np.array([row.doubt.get(name, math.nan) for row in measured])
    correct = np.array([row.correct.get(name, False) for row in measured])
    available = float(np.mean(~np.isnan(doubt[at])))
    if not available:
        return {"available": 0.0}
    found = {
        "available": available,
        "wrong": float(np.mean(~correct[at])),
        "auroc": auroc(doubt[at], correct[at]),
    }
    if name in INTERVALS:
        of = compare({name: doubt[at]}, {name: correct[at]}, at, name).values[name]
        found |= {"low": of.lower, "high": of.upper}
    return found


def error(measured: Sequence[Row], true: Sequence[Row], at: NDArray[Any]) -> dict[str, float]:
    """Return the mean and the root mean square of M.I. minus what it should be, nats."""
    difference = np.array([measured[i].information - true[i].information for i in at])
    return {"bias": float(difference.mean()), "rmse": float(np.sqrt(np.mean(difference**2)))}


def summary(asked: Sequence[Question], found: Sequence[dict[str, Row]]) -> dict[str, Any]:
    """Return everything that is written."""
    band = np.array([question.band for question in asked])
    single = np.flatnonzero(band != Band.MANY_ANSWERS)
    many = np.flatnonzero(band == Band.MANY_ANSWERS)
    parts = {MIXTURE: np.arange(len(asked)), SINGLE_LABEL: single}
    return {
        "revision": opened().revision,
        "questions": len(asked),
        "together": {"answers": CANDIDATES_A_CALL, "pairs": PAIRS_A_CALL},
        "rungs": {
            estimator.name: _summary([row[estimator.name] for row in found], found, parts, many)
            for estimator in TITLES
        },
        "each": [
            {"question": question.text, "seed": question.seed}
            | {name: round(row.information, 6) for name, row in of.items()}
            for question, of in zip(asked, found, strict=True)
        ],
    }


def _summary(
    measured: Sequence[Row],
    found: Sequence[dict[str, Row]],
    parts: dict[str, NDArray[Any]],
    many: NDArray[Any],
) -> dict[str, Any]:
    every = parts | {MANY_ANSWERS: many}
    true = {Request("?").samples: Estimator.EXACT.name, MAX_SAMPLES: LONG}
    return {
        "rankings": {
            part: {name: ranking(measured, name, at) for name in (*SCORES, SAMPLED_VERIFICATION)}
            for part, at in parts.items()
        },
        "seen": float(np.mean([row.seen for row in measured])),
        "costs": {
            means: {
                what: float(np.mean([row.costs[means][what] for row in measured]))
                for what in ("singly", "together", "tokens")
            }
            for means in (NEXT_TOKENS, SAMPLES)
        },
        "errors": {
            str(samples): {
                part: error(measured, [row[name] for row in found], at)
                for part, at in every.items()
            }
            for samples, name in true.items()
        },
    }


def written(found: dict[str, Any]) -> str:
    """Return it as JSON: one line for each question."""
    each = ",\n".join(f"  {json.dumps(row, ensure_ascii=False)}" for row in found["each"])
    rest = json.dumps({k: v for k, v in found.items() if k != "each"}, indent=1)
    return f'{rest[:-2]},\n "each": [\n{each}\n ]\n}}\n'


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="for the page and the README")
    parser.add_argument("--half", type=int, default=HALF, help="questions of either kind")
    options = parser.parse_args()
    asked = chosen(questions(Wording.TRAINING), options.half)
    found = summary(asked, in_parallel(_rows, asked))
    if options.write:
        outputs.write(MEASURED, written(found))
    for name, cells in table(measures_from(found)).items():
        print(f"{name:<62}{''.join(f'{cell:>22}' for cell in cells)}")


if __name__ == "__main__":
    main()
