"""A result out of a file that somebody saved on another machine, or wrote by hand.

An inspection is computed anew from its recording, a policy and curves are checked field by field:
whatever else the file says is not looked at. What cannot be checked is that a model ever gave
these answers, so every such result is marked.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Final

from core.abstention import policy as policies
from core.abstention import policy_files
from core.abstention.policy import NOT_VERIFIED, Policy, PolicyError
from core.codec import encode
from core.language_models.language_model import LONGEST_ANSWER, MOST_ANSWER_TOKENS, longest_answer
from core.reports.amplification.words import to_dict, verdict
from core.reports.inspection.words import outcome
from core.store.results import MAX_RESULT_BYTES
from core.studies.amplification import serialise as curves
from core.studies.inspection import serialise as inspections
from core.studies.inspection.request import MOST_TEXTS, InvalidRequestError
from core.uncertainty.scores import SCORES

#: Lists and objects: twenty million bytes of brackets would become two gigabytes.
MOST_PARTS: Final = 30_000
#: Of texts that are no answers, such as the model's name, notes, and what each call was for.
MOST_WORDS, LONGEST_WORD = 2_000, 2_000
MOST_CURVES: Final = 7  # as many as a chart can tell apart
FROM_FILE: Final = (
    "Opened from a file. Nobody checked that the model named here gave these answers."
)
_TEXT: Final = re.compile(r'"(?:[^"\\]++|\\.)*+"?', re.DOTALL)  # in JSON; one that is cut, too
MARK: Final = "from_file"  # in JSON, of what was opened so
_ANSWERS: Final = ("texts", "samples", "seconds", "text", "greedy", "others")
_WORDS: Final = (
    *("recording", "model", "revision", "notes", "read_as", "calls", "purpose"),
    *("verdict", "threshold", "origin", "pipeline", "score", "data"),
    *("prompt", "similarity", "estimator", "sampling"),
)
_ELSEWHERE: Final = "Inspect it with “python -m core inspect --from FILE”."
_NO_RESULT: Final = (
    "This file is not a result saved by Believe. Choose one that was downloaded as “Inspection "
    "(JSON)”, “Curves (JSON)” or “Policy (JSON)”."
)


@dataclass(frozen=True)
class OpenedResult:
    """What a file holds, as it is saved here."""

    kind: str  # of `core.store.results.KINDS`
    # query, model, outcome: text of people and models.
    query: str
    model: str
    outcome: str
    payload: str  # JSON, written anew, with the mark that it came from a file


def open_result(content: bytes) -> OpenedResult:
    """Read a saved result of any kind.

    Raises `InvalidRequestError` when it is none, too large, damaged, or of a newer version; the
    message is a sentence.
    """
    if len(content) > MAX_RESULT_BYTES:
        raise InvalidRequestError(
            f"This file has more than {MAX_RESULT_BYTES:,} bytes, too many for a result saved by "
            "Believe."
        )
    try:
        text = content.decode(json.detect_encoding(content), "surrogatepass")  # as Python reads it
        parts = sum(map(_TEXT.sub("", text).count, "[{"))
        document = json.loads(text) if parts <= MOST_PARTS else None
    except (ValueError, RecursionError) as error:
        raise InvalidRequestError(f"{_NO_RESULT} It is not JSON.") from error
    if parts > MOST_PARTS:
        raise InvalidRequestError(
            f"{_NO_RESULT} It has more than {MOST_PARTS:,} lists and objects in it."
        )
    _check_words(document)
    if isinstance(document, dict) and document.get("format") == inspections.FORMAT:
        return _inspection(content, document)
    if isinstance(document, dict) and document.get("format") == policies.FORMAT:
        return _policy(content)
    # A command prints one curve alone.
    amplifications = [document] if isinstance(document, dict) else document
    if (
        isinstance(amplifications, list)
        and amplifications
        and all(isinstance(each, dict) and "curve" in each for each in amplifications)
    ):
        return _curves(amplifications)
    raise InvalidRequestError(_NO_RESULT)


def is_from_file(payload: str) -> bool:
    """Return whether a saved result came from a file."""
    if MARK not in payload:  # mostly; a question may have the word
        return False
    try:
        content = json.loads(payload)
    except ValueError:
        return False
    first = content[0] if isinstance(content, list) and content else content
    return isinstance(first, dict) and first.get(MARK) is True


def _inspection(content: bytes, document: dict[str, Any]) -> OpenedResult:
    texts = set(_texts(document.get("recording"), _ANSWERS))
    if len(texts) > MOST_TEXTS:
        raise InvalidRequestError(
            f"This inspection has more than {MOST_TEXTS:,} different answers. {_ELSEWHERE}"
        )
    if max(map(len, texts), default=0) > (longest := longest_answer(MOST_ANSWER_TOKENS)):
        raise InvalidRequestError(
            f"This inspection has an answer of more than {longest:,} characters. {_ELSEWHERE}"
        )
    if sum(map(len, texts)) > (most := MOST_TEXTS * LONGEST_ANSWER):
        raise InvalidRequestError(
            f"The answers of this inspection have more than {most:,} characters. {_ELSEWHERE}"
        )
    inspection = replace(inspections.from_json(content), from_file=True)
    return OpenedResult(
        "inspection",
        inspection.query,
        inspection.recording.model,
        f"{NOT_VERIFIED}: {outcome(inspection)}",
        inspections.to_json(inspection),
    )


def _texts(content: Any, names: tuple[str, ...]) -> Iterator[str]:
    """Yield every text in the parts of parsed JSON with these names; they may be anything."""
    if isinstance(content, str):
        yield content
    elif isinstance(content, list):
        for part in content:
            yield from _texts(part, names)
    elif isinstance(content, dict):
        for name in names:
            yield from _texts(content.get(name), names)


def _check_words(content: Any) -> None:
    """Refuse texts that are no answers and would fill a page, or a line of a list of results."""
    words = list(_texts(content, _WORDS))
    if len(words) > MOST_WORDS or max(map(len, words), default=0) > LONGEST_WORD:
        raise InvalidRequestError(
            f"{_NO_RESULT} It has more notes and names than such a result has, or one of more than "
            f"{LONGEST_WORD:,} characters."
        )


def _policy(content: bytes) -> OpenedResult:
    try:
        policy = policy_files.from_json(content).as_foreign()
    except PolicyError as error:
        raise InvalidRequestError(str(error)) from error
    promise = f"{NOT_VERIFIED}: {policy.in_short}"
    return OpenedResult("policy", *about(policy), promise, policies.to_json(policy))


def about(policy: Policy) -> tuple[str, str]:
    """Return what a policy does, as a list of results says it, and the model that it is of."""
    score = SCORES[policy.score].title if policy.score in SCORES else policy.score
    model = policy.pipeline.model if policy.pipeline else "scores of unknown origin"
    return f"{score}: answer {policy.where}", model


def _curves(content: list[Any]) -> OpenedResult:
    if len(content) > MOST_CURVES:
        raise InvalidRequestError(
            f"This file holds {len(content):,} curves; at most {MOST_CURVES} are shown together."
        )
    read = [replace(one, from_file=True) for one in curves.all_from_json(_write(content))]
    first = read[0]
    whole = [to_dict(one) for one in read]
    outcome = f"{NOT_VERIFIED}: {verdict(first)}"
    return OpenedResult("amplification", first.case.query, first.model, outcome, encode(whole))


def _write(content: list[Any]) -> str:
    """Return parsed JSON as text again; Python reads an infinity that JSON does not know."""
    try:
        return encode(content)
    except (ValueError, RecursionError) as error:  # what can just be read may be too deep to write
        raise InvalidRequestError(_NO_RESULT) from error
