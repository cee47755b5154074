"""An abstention policy: a threshold, what it promises, and the only pipeline it holds for.

A λ means nothing by itself. The same question asked of another model, with more samples or
another similarity, has another score; a promise for one says nothing about the other. So
a policy carries its pipeline and refuses to decide for a different one.
"""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Iterable, Mapping, Sized
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any, Final, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from core.abstention.codebook import Codebook, number_of
from core.abstention.ledger import Rows, from_text
from core.codec import DamagedError, encode, finite, limit_in_words, one_line, percent, typed_fields

#: One of them, or many.
Doubts = TypeVar("Doubts", float, NDArray[np.float64])

FORMAT: Final = "believe-policy"
# Readers of 1 know answers of the usual limit alone, of 2 the first rule of answers.
VERSION: Final = 3

#: Stands before a promise that nobody here checked, and before what came of it.
NOT_VERIFIED: Final = "Not verified"
ANSWERED: Final = "Answered"  # of which a policy promises; of these, perhaps more
BELIEVED: Final = "“Believe it”"

GUARANTEES: Final = {
    "ltt": "Learn-then-Test",
    "crc": "conformal risk control",
    "empirical": "the empirical rule",
    "by hand": "chosen by hand",
}


UNKNOWN_ORIGIN: Final = (
    "This policy was calibrated on scores of unknown origin, so it cannot decide here. "
    "Calibrate on scores from this pipeline."
)

UNNAMED_PIPELINE: Final = (
    "This policy decides only on scores of its own pipeline, and a row here names none: its cell "
    "of the column “pipeline” is missing, empty or damaged; keep that column as the scores’ table "
    "has it. For scores from elsewhere, calibrate on them."
)

# How answers were found when pipelines did not say it. Labelled questions were not independent
# then, so what such a policy promised did not hold.
SHARED_DRAWS: Final = "drawn, the same random numbers for every question"

# Tokens of an answer where a pipeline does not say it.
USUAL_LIMIT: Final = 32
NOTHING: Final = "nothing"  # in front of a prompt
FIRST_RULE: Final = 1  # of answers, where a pipeline does not say it


class PolicyError(ValueError):
    """A policy that cannot be read or used; the message says why and what to do."""


@dataclass(frozen=True)
class Pipeline:
    """Everything that a score depends on besides the query."""

    # model, revision: which model, and exactly which weights.
    model: str
    revision: str
    prompt: str  # a fingerprint of the prompt templates
    samples: int  # k
    temperature: float  # of the sampling
    similarity: str  # how answers are compared
    tau: float  # the similarity above which two answers count as one
    # gamma_1, gamma_2: stabilisation of the mutual information.
    gamma_1: float
    gamma_2: float
    estimator: str  # how the score is computed
    least_mass: float  # the sampled mass below which nothing is answered, in [0, 1]
    sampling: str  # how the answers were found
    answer_tokens: int = USUAL_LIMIT  # the limit of an answer
    front: str = NOTHING  # of every prompt: which system prompt, and whether a context
    answer_rule: int = FIRST_RULE  # which answers are one, which are none, how they are scored

    def differences(self, other: Pipeline) -> list[str]:
        """Return one phrase for every field in which another pipeline differs.

        The same weights are the same model, whatever name they were opened by.
        """
        same_weights = self.revision == other.revision and bool(_WEIGHTS.match(self.revision))
        return [
            f"{_NAMES[f.name]} = {_display(getattr(self, f.name))} there, "
            f"{_display(getattr(other, f.name))} here"
            for f in fields(self)
            if getattr(self, f.name) != getattr(other, f.name)
            and not (f.name == "model" and same_weights)
        ]


# A revision that begins with a hash of the weights, rather than with how a service is spoken to.
_WEIGHTS: Final = re.compile(r"[0-9a-f]{12}(-bfloat16)?(,|$)")

_NAMES: Final = {
    "model": "model",
    "revision": "revision",
    "prompt": "prompt template",
    "samples": "k",
    "temperature": "temperature",
    "similarity": "similarity",
    "tau": "τ",
    "gamma_1": "γ₁",
    "gamma_2": "γ₂",
    "estimator": "estimator",
    "least_mass": "least sampled mass",
    "sampling": "sampling",
    "answer_tokens": "tokens of an answer",
    "front": "in front of the prompt",
    "answer_rule": "rule of answers",
}


@dataclass(frozen=True)
class Belief:
    """What a policy promises of the answers that stand, beside the promise for all it serves.

    An answer stands if telling the model another hardly changes it.
    """

    # Below this doubt an answer that stands may be believed; at most the policy's λ.
    threshold: float
    target_error: float  # in (0, 1): the share of them that is wrong is at most this
    # answered, errors: what it did to the labelled queries.
    answered: int
    errors: int

    def __post_init__(self) -> None:
        """Refuse what no calibration could have made."""
        if not self.threshold > -math.inf or not 0 < self.target_error < 1:
            raise PolicyError("The promise for answers that stand is damaged.")
        if not 0 <= self.errors <= self.answered:
            raise PolicyError("It must be that 0 ≤ errors ≤ answered.")


@dataclass(frozen=True)
class Policy:
    """When to answer, what that promises, and for what."""

    score: str  # the name of the score whose doubt is compared with λ
    threshold: float  # λ, in the unit of the doubt; infinity answers all but infinite doubts
    method: str  # a key of `GUARANTEES`: how λ was found
    target_error: float  # α, in (0, 1): what is promised
    confidence: float | None  # 1 − δ; None where the method has none
    # Of the error on the labelled rows. It only describes them, for λ was chosen on them. None
    # where there is none.
    upper_bound: float | None
    # labels, answered, errors: the labelled queries, and what this λ did to them.
    labels: int
    answered: int
    errors: int
    data: str  # SHA-256 of the labelled file
    # None when the scores come from somewhere unknown: then it decides nothing here.
    pipeline: Pipeline | None
    # Whether the score is a confidence: its doubt, and λ, are then of its negative.
    larger_is_surer: bool
    # Among how many scores this one was chosen, δ being divided by their number.
    scores_tried: int
    # How many settings somebody had tried on the same labels by then, this one included; choosing
    # among them after looking is not paid for by anything.
    settings_tried: int
    left_out: int = 0  # how many rows of the file somebody left out for want of a label
    # Among how many targets this one was chosen after a look at the labels, δ being divided by
    # their number; else 1.
    targets_tried: int = 1
    # The promise for the answers that stand; both promises share δ. None where there is none.
    belief: Belief | None = None
    # What the labelled table was read as. None of policies that were made before it was stored.
    codebook: Codebook | None = None
    # Which look at these labels made it: it spent δ / 2^looks, so that all looks together spend δ
    # at most; 0 where it had all of δ.
    looks: int = 0
    # Hashes of the rows that made it, by `core.abstention.ledger.to_text`; empty where unknown.
    rows: str = field(default="", repr=False)
    # Which rows of their run the labelled ones lack, in words: failed, filtered out, not reached.
    selection: str = ""
    # Of the answered, how many are wrong by `codebook.other`; None where there are no such labels.
    other_errors: int | None = None
    # Whether it came from a file or another person: nobody here checked the labels that made it.
    from_file: bool = False
    # In which group its promise does not hold, as a sentence; "" where in each, None where unknown.
    caution: str | None = None

    def __post_init__(self) -> None:
        """Refuse what no calibration could have made."""
        try:
            from_text(self.rows)
        except ValueError:
            raise PolicyError("The policy’s “rows” is damaged. Download it again.") from None
        if self.method not in GUARANTEES:
            raise PolicyError(f"There is no method “{self.method:.60}”: {', '.join(GUARANTEES)}.")
        if not self.threshold > -math.inf:  # JSON has one word for both infinities
            raise PolicyError("The threshold λ is not a number.")
        if not 0 < self.target_error < 1:
            raise PolicyError("The target error must lie between 0 and 1.")
        if self.confidence is not None and not 0 < self.confidence < 1:
            raise PolicyError("The confidence must lie between 0 and 1.")
        if self.upper_bound is not None and not 0 <= self.upper_bound <= 1:
            raise PolicyError("The upper bound must lie between 0 and 1.")
        if not 0 <= self.errors <= self.answered <= self.labels:
            raise PolicyError("It must be that 0 ≤ errors ≤ answered ≤ labels.")
        if self.other_errors is not None:
            if self.codebook is None or not self.codebook.other:
                raise PolicyError("The other labels that the policy counts are not named.")
            if not 0 <= self.other_errors <= self.answered:
                raise PolicyError("It must be that 0 ≤ other errors ≤ answered.")
        if min(self.scores_tried, self.settings_tried, self.targets_tried) < 1:
            raise PolicyError("At least one score, one setting and one target were tried.")
        if not 0 <= self.looks <= 1000:
            raise PolicyError("The number of looks at the labels must lie between 0 and 1,000.")
        if self.left_out < 0:
            raise PolicyError("The number of rows left out cannot be negative.")
        if self.belief and self.belief.threshold > self.threshold:
            raise PolicyError("Answers that stand are believed beyond λ, which nothing promises.")
        if self.belief and (self.method != "ltt" or self.belief.answered > self.answered):
            raise PolicyError("Only Learn-then-Test promises anything of the answers that stand.")
        if self.has_guarantee and (self.confidence is None) != (self.method == "crc"):
            raise PolicyError("Learn-then-Test states a confidence, risk control does not.")

    @property
    def has_guarantee(self) -> bool:
        """Whether anything is promised."""
        return self.method in ("ltt", "crc")

    @property
    def row_hashes(self) -> Rows:
        """Hashes of the rows that made it: all, or the smallest of them."""
        return from_text(self.rows)

    @property
    def where(self) -> str:
        """At which scores it answers, in words, such as “below 0.2”."""
        if math.isinf(self.threshold):
            return "at any value" if self.threshold > 0 else "at no value"
        own = own_direction(self.threshold, self.larger_is_surer)
        limit = limit_in_words(own, ".6g", self.codebook.width if self.codebook else math.inf)
        return f"{'above' if self.larger_is_surer else 'below'} {limit}"

    @property
    def answer_if(self) -> dict[str, str | float | None]:
        """When it answers: “score”, and “above” or “below” with the limit.

        In the score's own direction. The limit is None where λ is infinite.
        """
        limit = finite(own_direction(self.threshold, self.larger_is_surer))
        return {"score": self.score, "above" if self.larger_is_surer else "below": limit}

    def decide(self, row: Mapping[str, object]) -> Literal["answer", "abstain"]:
        """Decide on one row; where the score is missing, or the doubt infinite, abstain.

        It does not look at the answer: withhold one that is none, such as a refusal.

        `row`: under the name of the score a number or its text, in the score's own direction; and
        where the policy has a pipeline, that under “pipeline”, as Believe's tables have it.

        Raises `PolicyError` when the row has no such column, or is not like those that made it.
        """
        if not hasattr(row, "get") or self.score not in row:
            raise PolicyError(
                f"The row has no “{self.score:.60}”, which this policy decides by. Name its score "
                "as in the calibration."
            )
        check_rows(self, [str(row.get("pipeline"))])
        number = number_of(cell := row[self.score])
        has_numbers = isinstance(cell, Sized)  # a column, or “93%”
        if isinstance(cell, str):
            has_numbers = any(map(str.isdecimal, cell))
        if math.isnan(number) and has_numbers:
            raise PolicyError(
                f"“{one_line(self.score, 60)}” is “{one_line(str(cell), 60)}”, which is no number. "
                "Give one, of one row, such as 0.93 where a table says 93% or 0,93."
            )
        if self.codebook and (misfit := self.codebook.misfit(row, number)):
            raise PolicyError(misfit)
        doubt = own_direction(number, self.larger_is_surer)
        return "answer" if doubt < self.threshold else "abstain"

    @property
    def sentence(self) -> str:
        """The promise in words, or that there is none."""
        unmarked = self.promise + self.agreement + self.payment
        return f"{NOT_VERIFIED}: {unmarked}" if self.from_file and self.has_guarantee else unmarked

    @property
    def promise(self) -> str:
        """The promise in words, and what weakens it."""
        sentence = self.of_error + self._of_labels
        if not self.has_guarantee:
            return sentence
        if self.left_out:
            were = "row without a label was" if self.left_out == 1 else "rows without a label were"
            sentence += (
                f" {self.left_out:,} {were} left out, so this holds only for questions like "
                "the labelled ones."
            )
        if self.selection:
            sentence += (
                f" {self.selection} So this holds only for questions like those that remain."
            )
        if self.caution:
            sentence += f" {self.caution}"
        if self.codebook:
            sentence += "".join(f" {claim}" for claim in self.codebook.claims)
        if self.settings_tried > 1:
            sentence += (
                f" This is one of {self.settings_tried} settings tried on these rows; choosing "
                "among them afterwards weakens the promise."
            )
        return sentence

    @property
    def agreement(self) -> str:
        """That a rule made the labels; "" where `promise` says who made them."""
        book, own = self.codebook, self.pipeline is not None
        return book.of_rule(own, self.has_guarantee) if book else ""

    @property
    def payment(self) -> str:
        """Why it holds although other targets or looks were tried; "" where none were."""
        sentence = ""
        if self.has_guarantee and self.targets_tried > 1:
            sentence += (
                f" The target was chosen among {self.targets_tried} after a look at the rows: they "
                "were tested together, so that this holds for all of them at once."
            )
        if self.has_guarantee and self.looks:
            delta = (1 - (self.confidence or 0)) / 2**self.looks
            tested = percent(1 - delta / self.scores_tried / self.targets_tried)
            of = f", one of {self.scores_tried} scores" if self.scores_tried > 1 else ""
            sentence += (
                f" Look {self.looks} at these labels{of}: it was tested at {tested}, so that "
                "this holds for all looks at each of them that were counted with it."
            )
        return sentence

    @property
    def _of_labels(self) -> str:
        """Say what a label is worth: what another says, and no more than who made it."""
        if self.codebook is None:
            return ""
        if self.other_errors is not None:
            return self.codebook.of_both(self.answered, self.errors, self.other_errors)
        return self.codebook.of_grader(self.has_guarantee)

    @property
    def in_short(self) -> str:
        """The promise in the fewest words, or that nothing is promised."""
        if self.method != "ltt" or self.confidence is None:
            return self.of_error
        promised = promise_in_words(ANSWERED, self.target_error, self.confidence)
        return f"{promised}, for questions like these."

    @property
    def of_error(self) -> str:
        """What is promised, for which questions."""
        population = "for questions drawn like these and scored by the same pipeline"
        if self.method == "ltt":
            most = self.belief and percent(self.belief.target_error)
            believes = f"and at most {most} of those that it believes, " if most else ""
            return (
                f"With {percent(self.confidence or 0)} confidence over draws of {self.labels:,} "
                f"labelled rows, at most {percent(self.target_error)} of answered questions are "
                f"wrong, {believes}{population}."
            )
        if self.method == "crc":
            return (
                f"On average over draws of {self.labels:,} labelled rows, at most "
                f"{percent(self.target_error)} of all questions are answered and wrong, "
                f"{population}. This does not bound the error among the answered."
            )
        if self.method == "empirical":
            return (
                f"No promise: λ was chosen and judged on the same {self.labels:,} labelled rows, "
                f"where {self.errors:,} of {self.answered:,} answered questions were wrong."
            )
        return (
            f"No promise: λ was chosen by hand. On the {self.labels:,} labelled rows, "
            f"{self.errors:,} of {self.answered:,} answered questions were wrong."
        )

    def with_threshold(
        self, threshold: float, answered: int, errors: int, other_errors: int | None = None
    ) -> Policy:
        """Return it with another λ, chosen by hand, which promises nothing."""
        if threshold == self.threshold:
            return self
        return replace(
            self,
            threshold=threshold,
            method="by hand",
            confidence=None,
            upper_bound=None,
            belief=None,
            looks=0,
            answered=answered,
            errors=errors,
            other_errors=other_errors,
            caution=None,
        )

    def as_foreign(self) -> Policy:
        """Return it as one whose labels, and so whose groups, nobody here checked."""
        return replace(self, from_file=True, caution=self.caution or None)


def promise_in_words(of: str, error: float, confidence: float) -> str:
    """Return a promise of some answers, in the words that every page has for it."""
    return f"{of}: ≤ {percent(error)} wrong ({percent(confidence)} sure)"


def own_direction(doubt: Doubts, larger_is_surer: bool) -> Doubts:
    """Return doubts as the score's own numbers, or these as doubts: a confidence is the negative.

    No 0 becomes −0.
    """
    return 0.0 - doubt if larger_is_surer else 0.0 + doubt


def check_pipeline(policy: Policy, pipeline: Pipeline) -> None:
    """Raise a `PolicyError` that names every field in which a pipeline differs."""
    if policy.pipeline is None:
        raise PolicyError(UNKNOWN_ORIGIN)
    different = policy.pipeline.differences(pipeline)
    if different:
        raise PolicyError(
            f"This policy was calibrated for a different pipeline: {'; '.join(different)}. "
            "Restore those settings or recalibrate."
        )


def check_rows(policy: Policy, pipelines: Iterable[str]) -> None:
    """Raise a `PolicyError` unless rows name the policy's pipeline; if it has none, they may not.

    `pipelines`: texts of the column “pipeline”; one that `pipeline_in` cannot read names none.
    """
    for text in {*pipelines} or {""}:
        if pipeline := pipeline_in(text):
            check_pipeline(policy, pipeline)
        elif policy.pipeline:
            raise PolicyError(UNNAMED_PIPELINE)


def _version(pipeline: Pipeline | None) -> int:
    """Return the first version whose readers know all of a pipeline."""
    if pipeline is None:
        return 1
    if pipeline.answer_rule != FIRST_RULE:
        return VERSION
    return 1 + ((pipeline.answer_tokens, pipeline.front) != (USUAL_LIMIT, NOTHING))


def to_dict(policy: Policy) -> dict[str, Any]:
    """Return the policy as JSON knows it, with the promise in words beside the numbers."""
    whole = {
        "format": FORMAT,
        "version": _version(policy.pipeline),
        "guarantee": policy.sentence,
        # In the score's own direction; “threshold” is of the doubt, which larger means.
        "rule": f"answer if {policy.score} is {policy.where}",
        "answer_if": policy.answer_if,
        **asdict(policy),
        "threshold": finite(policy.threshold),
    }
    unsaid = {"from_file": False, "caution": None}
    return {name: each for name, each in whole.items() if unsaid.get(name, ...) is not each}


def to_json(policy: Policy) -> str:
    """Return `to_dict` as text a person can read."""
    return encode(to_dict(policy), indent=2) + "\n"


def pipeline_from_dict(content: object) -> Pipeline:
    """Read a pipeline, checking every field; raises `PolicyError`."""
    if isinstance(content, Mapping):
        content = {"sampling": SHARED_DRAWS, **content}
    return Pipeline(**policy_fields(Pipeline, content))


def pipeline_in(text: str) -> Pipeline | None:
    """Return the pipeline that a cell of the column “pipeline” names; None where it names none."""
    try:
        return pipeline_from_dict(json.loads(text))
    except (ValueError, RecursionError):
        return None


def policy_fields(kind: type, value: object) -> dict[str, Any]:
    """Return the fields of a dataclass out of JSON, each of the right kind."""
    if not isinstance(value, Mapping):
        raise PolicyError("The policy’s pipeline is damaged. Download the policy again.")
    try:
        return typed_fields(kind, value, largest=sys.float_info.max)
    except DamagedError as error:
        if error.missing:
            raise PolicyError(
                f"The policy lacks “{error.field}”. Download the policy again."
            ) from error
        raise PolicyError(f"The policy’s “{error.field}” is damaged. Download it again.") from error


def _display(value: str | float) -> str:
    return f"“{value}”" if isinstance(value, str) else str(value)
