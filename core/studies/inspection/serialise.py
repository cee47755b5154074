"""Inspections as JSON and CSV: complete enough to be recomputed without the model."""

import json
import math
from collections import Counter
from dataclasses import asdict, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.abstention.policy import to_dict as policy_to_dict
from core.abstention.policy_files import policy_from_dict
from core.abstention.proof import check_promise
from core.codec import TURNS, decode, encode, finite, text_of
from core.data.tabular.csv_export import to_csv
from core.language_models.language_model import Response, encodable, longest_answer
from core.language_models.usage import Usage
from core.store.results import MAX_RESULT_BYTES
from core.studies.inspection.certificates import EMBEDDED, certified_model
from core.studies.inspection.grading import judge
from core.studies.inspection.inspection import Cluster, Inspection, read
from core.studies.inspection.pairs import compare
from core.studies.inspection.recording import EXACT, Call, Estimator, Recording
from core.studies.inspection.request import (
    MAX_QUERY_CHARACTERS,
    InvalidRequestError,
    Reading,
    Request,
    Sampling,
)
from core.studies.inspection.verdict import DEFAULT, DecisionRule
from core.uncertainty.confidence_limit import CONFIDENCE

FORMAT, VERSION = "believe.inspection", 3
MOST_CLUSTERS_WHOLE = 100  # matrices of so many take some 0.6 MB in all
_UNREADABLE = (
    *(ValueError, KeyError, TypeError, AttributeError, IndexError),
    *(OverflowError, RecursionError),  # numbers beyond all floats; a file of brackets
)
LONGEST_WORDS = 200  # of what Python says about a file


def to_dict(inspection: Inspection) -> dict[str, Any]:
    """Return everything a page shows, and under "recording" all it was computed from.

    Of more than `MOST_CLUSTERS_WHOLE` clusters, joint, product and contributions are None: they
    grow with the square, and nobody reads them back, since `from_json` computes them anew. Those
    of a thousand different answers would be larger than what opens.
    """
    matrices = len(inspection.clusters) <= MOST_CLUSTERS_WHOLE
    evidence = inspection.evidence
    information = evidence.mutual_information
    request, verdict = inspection.recording.request, inspection.verdict
    rule = verdict.rule
    return {
        "format": FORMAT,
        "version": VERSION,
        "query": request.query,
        "typed": request.typed,
        "model": inspection.recording.model,
        "revision": inspection.recording.revision,
        "estimator": inspection.recording.estimator.value,
        "notes": list(inspection.recording.notes),
        "sampling": request.sampling.value,
        "seed": request.seed,
        "samples": request.samples,
        "temperature": request.temperature,
        "answer_tokens": request.answer_tokens,
        **{f"reading_{name}": value for name, value in asdict(inspection.reading).items()},
        "responses": [
            {"text": text, "log_likelihood": finite(likelihood), "count": int(count)}
            for text, likelihood, count in zip(
                evidence.responses, evidence.log_marginal, evidence.counts, strict=True
            )
        ],
        "clusters": [_cluster_to_dict(cluster) for cluster in inspection.clusters],
        "joint": information.joint.tolist() if matrices else None,
        "product": information.product.tolist() if matrices else None,
        "contributions": information.contributions.tolist() if matrices else None,
        "correction": information.correction,
        "gaps": inspection.recording.gaps,
        "sampled_mass": inspection.sampled_mass,
        "certified_lower_bound": inspection.certified_bound,
        "lower_confidence_limit": {"value": inspection.confidence_limit, "confidence": CONFIDENCE},
        "scores": {
            name: {"value": s.value, "doubt": s.doubt, "answer": s.answer, "reason": s.reason}
            for name, s in inspection.scores.items()
        },
        "taught": None if inspection.nearest_taught is None else asdict(inspection.nearest_taught),
        "headline": inspection.headline,
        "verdict": {
            "decision": inspection.decision.value,
            "answer": verdict.answer,
            "reason": verdict.reason,
            "promises": inspection.promises,  # or the “perhaps” is one without a promise
            "threshold": rule and asdict(rule) | {"value": finite(rule.value)},
            "policy": inspection.policy and policy_to_dict(inspection.policy),
        },
        "truth": _truth_to_dict(inspection),
        "calls": {
            "number": len(inspection.recording.calls),
            "sequences": sum(call.sequences for call in inspection.recording.calls),
            "list": [asdict(call) for call in inspection.recording.calls],
        },
        "recording": _recording_to_dict(inspection.recording),
        **({"from_file": True} if inspection.from_file else {}),
    }


def _truth_to_dict(inspection: Inspection) -> dict[str, Any] | None:
    """Return what is true and how every score decided; None where nobody here knows.

    Nor is it known what other weights than those in the box were taught.
    """
    judgement = judge(inspection)
    if judgement is None:
        return None
    fact, ours = judgement.fact, certified_model(inspection.recording.revision) == EMBEDDED
    return {
        "answers": [answer.text for answer in fact.answers],
        "band": fact.band.value if ours else None,
        "exposures": fact.exposures if ours else None,
        "decisions": {
            s.name: {"answered": s.answered, "right": s.right, "well_decided": s.well_decided}
            for s in judgement.scores
        },
    }


def _cluster_to_dict(cluster: Cluster) -> dict[str, Any]:
    members = [(text, finite(likelihood), count) for text, likelihood, count in cluster.members]
    return asdict(cluster) | {"members": members}


def to_json(inspection: Inspection) -> str:
    """Return `to_dict` as one JSON object, which opens again."""
    return encode(to_dict(inspection))


def from_json(text: str | bytes) -> Inspection:
    """Recompute a saved inspection from its recording, offline.

    Raises `InvalidRequestError` when the text is not an inspection saved by this or an earlier
    version, or too long.
    """
    if len(text if isinstance(text, bytes) else text.encode(errors="replace")) > MAX_RESULT_BYTES:
        raise InvalidRequestError(
            f"This file has more than {MAX_RESULT_BYTES:,} bytes, too many for an inspection saved "
            "by Believe. Save the inspection again as JSON."
        )
    try:
        saved = json.loads(text)
        if saved["format"] != FORMAT:
            raise KeyError("format")
        if type(saved["version"]) is not int:  # True is an int, too
            raise TypeError("version")
        if saved["version"] > VERSION:
            raise InvalidRequestError(
                f"This inspection was saved by a newer Believe (format {saved['version']!s:.20}, "
                f"known here: {VERSION}). Update Believe and open it again."
            )
        reading = decode(
            Reading, {name: saved[f"reading_{name}"] for name in Reading.__dataclass_fields__}
        )
        recording, verdict = _recording_from_dict(saved["recording"]), saved["verdict"]
        if verdict.get("policy") is not None:
            check_promise(policy := policy_from_dict(verdict["policy"]))
            inspection = read(recording, reading, policy=policy)
        else:
            inspection = read(recording, reading, _rule_from_dict(verdict["threshold"]))
        return replace(inspection, from_file=saved.get("from_file") is True)
    except InvalidRequestError:
        raise
    except _UNREADABLE as error:
        raise InvalidRequestError(
            "This file is not an inspection saved by Believe, or it was changed "
            f"({type(error).__name__}: {str(error)[:LONGEST_WORDS]}). Save the inspection again as "
            "JSON."
        ) from error


def saved_reason(text: str) -> str:
    """Return why a saved inspection was decided as it was then; "" where it does not say."""
    reason = json.loads(text)["verdict"].get("reason")
    return reason if isinstance(reason, str) else ""


def recording_to_json(recording: Recording) -> str:
    """Return what was asked and said as one JSON object.

    Raises `ValueError` when a likelihood is 0, whose logarithm JSON does not know.
    """
    return encode(_recording_to_dict(recording))


def recording_from_json(text: str) -> Recording:
    """Return what `recording_to_json` wrote; of anything else, `InvalidRequestError`."""
    try:
        return _recording_from_dict(json.loads(text))
    except _UNREADABLE as error:
        raise InvalidRequestError(
            "What the model said to this question cannot be read: the file was changed "
            f"({type(error).__name__}). Ask the question again."
        ) from error


def to_csv_bytes(inspection: Inspection) -> bytes:
    """Return the responses as a disarmed CSV: one row a distinct text."""
    evidence = inspection.evidence
    texts = [cluster.text for cluster in inspection.clusters]
    return to_csv(
        ["query", "response", "cluster", "samples", "log_likelihood_nats"],
        (
            (inspection.query, text, texts[label], int(count), finite(likelihood))
            for text, label, count, likelihood in zip(
                evidence.responses,
                evidence.labels,
                evidence.counts,
                evidence.log_marginal,
                strict=True,
            )
        ),
    )


def _rule_from_dict(saved: dict[str, Any] | None) -> DecisionRule | None:
    """Read a rule without what it promised: None is decided by what is certified now.

    A promise is believed of a policy only, which says what it was made for. JSON has no
    infinity, so a λ of null answers everything.
    """
    if saved is None or text_of(saved["origin"]).startswith(DEFAULT):
        return None
    plain = {**saved, "value": 0, "error": None, "belief": None}
    value = saved["value"]
    rule = decode(DecisionRule, plain | ({} if value is None else {"value": value}))
    return replace(rule, value=math.inf) if value is None else rule


def _recording_to_dict(recording: Recording) -> dict[str, Any]:
    return {
        "request": asdict(recording.request),
        "model": recording.model,
        "revision": recording.revision,
        "samples": [_fields(sample) for sample in recording.samples],
        "greedy": _fields(recording.greedy),
        "greedy_log_likelihood": recording.greedy_log_likelihood,
        "texts": list(recording.texts),
        "log_likelihoods": recording.log_likelihoods.tolist(),
        "verification": recording.verification.tolist(),
        "calls": [asdict(call) for call in recording.calls],
        "estimator": recording.estimator.value,
        "seconds": [[_fields(response) for response in row] for row in recording.seconds],
        # First answers with all others; the rest is computed from the texts.
        "judged": recording.judged[: len(recording.texts)].tolist(),
        "others": [list(other) for other in recording.others],
        "used": asdict(recording.used) if recording.used else None,
        "notes": list(recording.notes),
        "read_as": recording.read_as,
        "unlikely": list(recording.unlikely),
        "system_turn": recording.system_turn,
    }


def _fields(response: Response) -> dict[str, Any]:
    """Return a response as it is saved: an answer has no refusal."""
    return {
        name: value
        for name, value in asdict(response).items()
        if name != "limit" and (value != "" or name == "text")
    }


def _response(saved: dict[str, Any], limit: int) -> Response:
    """Read a response as it was saved: before answers had a limit, its text may be longer."""
    response = decode(Response, saved | {"limit": limit})
    if len(saved["text"]) > longest_answer(limit):
        object.__setattr__(response, "text", TURNS.sub("", encodable(saved["text"])))
        object.__setattr__(response, "complete", saved["complete"])
    return response


def _recording_from_dict(saved: dict[str, Any]) -> Recording:
    texts = tuple(TURNS.sub("", text) for text in saved["texts"])  # as `Response` leaves them
    request = _request_from_dict(saved["request"])
    response = partial(_response, limit=request.answer_tokens)
    samples = tuple(map(response, saved["samples"]))
    estimator = Estimator(saved.get("estimator", Estimator.EXACT))
    seconds = tuple(tuple(map(response, row)) for row in saved.get("seconds", ()))
    matrix = np.array(saved["log_likelihoods"], float)
    verification = np.array(saved["verification"], float)
    calls = tuple(decode(Call, call) for call in saved["calls"])
    if any(call.seconds < 0 for call in calls):
        raise ValueError("a call took less than no time")
    greedy = response(saved["greedy"])
    distinct = tuple(dict.fromkeys(sample.text for sample in samples))
    exact = estimator in EXACT
    # Once, "" was an answer. Some answers cannot be scored.
    there = tuple(text for text in distinct if text in texts)
    unlikely = tuple(TURNS.sub("", text_of(text)) for text in saved.get("unlikely", ()))
    rest = {*distinct} - {*texts}
    if texts != there or not texts or not {*unlikely} <= rest or (not exact and rest - {""}):
        raise ValueError("the texts are not those of the samples")
    if np.isinf(matrix).any():  # what a file of ours never holds
        raise ValueError("a likelihood is invalid")
    if exact and matrix.shape != (len(texts) + 1, len(texts)):
        raise ValueError("the likelihoods do not fit the texts")
    if len(seconds) != (0 if exact else len(texts)) or not all(seconds):
        raise ValueError("the second answers do not fit the texts")
    if estimator is Estimator.CHAINED:
        counts = Counter(sample.text for sample in samples)
        if [len(row) for row in seconds] != [counts[text] for text in texts]:
            raise ValueError("there is not one second answer for each sample")
        for one in (*samples, *(r for row in seconds for r in row)):
            if not one.refusal and not float(one.log_likelihood) <= 0:  # type: ignore[arg-type]
                raise ValueError("a likelihood is missing or invalid")
    if not (verification <= 0).all():
        raise ValueError("a verification is not the logarithm of a probability")
    if verification.shape != (len(texts), 2):
        raise ValueError("the verification does not fit the texts")
    searched = request.sampling is Sampling.LIKELIEST
    if not 1 <= len(samples) <= request.samples or not (
        searched or len(samples) == request.samples
    ):
        raise ValueError("the number of samples is not the one requested")
    likelihoods = [sample.log_likelihood or 0.0 for sample in samples if searched]
    if likelihoods != sorted(likelihoods, reverse=True):  # fewer of them are a prefix
        raise ValueError("the answers of a search do not come in the order of their likelihoods")
    likelihood = saved["greedy_log_likelihood"]
    if likelihood is not None and not -math.inf < float(likelihood) <= 1e-6:
        raise ValueError("the greedy answer’s likelihood is invalid")
    used = saved.get("used")
    recording = Recording(
        request=request,
        model=text_of(saved["model"]),
        revision=text_of(saved["revision"]),
        samples=samples,
        greedy=greedy,
        greedy_log_likelihood=None if likelihood is None and not exact else float(likelihood),
        texts=texts,
        log_likelihoods=matrix if exact else np.empty((0, 0)),
        verification=verification,
        calls=calls,
        estimator=estimator,
        seconds=seconds,
        others=tuple(_other(text, share) for text, share in saved.get("others", ())),
        used=None if used is None else decode(Usage, used),
        notes=tuple(map(text_of, saved.get("notes", ()))),
        read_as=None if saved.get("read_as") is None else text_of(saved["read_as"]),
        unlikely=unlikely,
        system_turn=turn if isinstance(turn := saved.get("system_turn"), bool) else None,
    )
    return replace(recording, judged=_judge(recording, saved.get("judged", [])))


def _request_from_dict(saved: dict[str, Any]) -> Request:
    """Read a request; those that were saved before they said it drew by the seed alone."""
    typed = saved.get("typed")
    options = {name: value for name, value in saved.items() if name not in ("sampling", "typed")}
    sampling = Sampling(saved.get("sampling", Sampling.SHARED))
    return replace(
        decode(Request, options),
        sampling=sampling,
        typed=None if typed is None else text_of(typed)[:MAX_QUERY_CHARACTERS],
    )


def _other(text: Any, share: Any) -> tuple[str, float]:
    if not 0 <= float(share) <= 1:
        raise ValueError("a share is invalid")
    return text_of(text), float(share)


def _judge(recording: Recording, rows: list[list[float]]) -> NDArray[np.float64]:
    """Complete what was saved of the comparisons, after a look at whether it can be true."""
    if type(recording.request.judged) is not bool:  # 1 is equal to True
        raise ValueError("it does not say whether answers were compared")
    if not recording.request.judged:
        if rows:
            raise ValueError("answers were compared that should not be")
        return np.empty((0, 0))
    matrix, is_pair = compare(recording.distinct_texts, r := len(recording.texts))
    opinions = np.array(rows, float)
    if opinions.shape != (r, len(matrix)):
        raise ValueError("the comparisons do not fit the texts")
    if not ((opinions >= 0) & (opinions <= 1)).all():
        raise ValueError("a comparison is not between 0 and 1")
    open_pairs = (is_pair | is_pair.T)[:r]
    if (opinions != matrix[:r])[~open_pairs].any() or (opinions[:, :r] != opinions[:, :r].T).any():
        raise ValueError("the comparisons contradict each other")
    matrix[:r], matrix[:, :r] = opinions, opinions.T
    return matrix
