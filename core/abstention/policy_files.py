"""A policy out of its file: every field is checked, and its labels prove what it promises."""

import json
import math
from typing import Final

from core.abstention.codebook import codebook_from
from core.abstention.policy import (
    FORMAT,
    VERSION,
    Belief,
    Policy,
    PolicyError,
    pipeline_from_dict,
    policy_fields,
)
from core.abstention.proof import check_agreement, check_promise
from core.codec import one_line

MAX_POLICY_BYTES: Final = 1_000_000  # of a policy's file: it takes some thousands


def from_json(text: str | bytes) -> Policy:
    """Read a policy, checking every field.

    Raises `PolicyError` when the text is no policy, a later version's, damaged, too long, or
    promises more than its labels prove.
    """
    if len(text) > MAX_POLICY_BYTES:
        raise PolicyError(
            f"This file has more than {MAX_POLICY_BYTES:,} bytes: no policy. Download the policy "
            "again."
        )
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise PolicyError(
            "This file is not a policy, as it is not JSON. Download the policy again."
        ) from error
    check_promise(policy := policy_from_dict(content))
    return policy


def policy_from_dict(content: object) -> Policy:
    """Read `to_dict`'s dictionary, checking every field; raises `PolicyError`."""
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise PolicyError("This file is not a Believe policy. Download the policy again.")
    version = content.get("version")
    if type(version) is not int:  # True is an int, too
        raise PolicyError("The policy’s “version” is damaged. Download it again.")
    if not 1 <= version <= VERSION:
        raise PolicyError(
            f"This policy has version {version!s:.20}; this Believe reads versions up to "
            f"{VERSION}. Update Believe, or download the policy again."
        )
    unbounded = content.get("threshold", 0) is None
    values = policy_fields(Policy, {**content, "threshold": 0} if unbounded else content)
    if unbounded:
        values["threshold"] = math.inf
    pipeline = values["pipeline"]
    values["pipeline"] = None if pipeline is None else pipeline_from_dict(pipeline)
    caution = values.get("caution")
    values["caution"] = None if caution is None else one_line(caution, 500)
    belief = values.get("belief")
    values["belief"] = None if belief is None else Belief(**policy_fields(Belief, belief))
    if values.get("codebook") is not None:
        try:
            values["codebook"] = codebook_from(values["codebook"])
        except ValueError as error:
            raise PolicyError(
                "The policy’s “codebook” is damaged. Download the policy again."
            ) from error
    check_agreement(policy := Policy(**values), content)
    return policy
