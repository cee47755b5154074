"""What is certified by default: the bundled policies, and for what each holds.

`benchmarks/default_policy.py` certifies the models in the box on labelled questions of the embedded
world, `benchmarks/recorded_policy.py` one whose file a person brings on what is recorded of it. A
certificate is looked up by the pipeline (weights, form, way of finding and comparing answers),
never by a name alone: the same file opened in another way is the same model, and for a model or a
setting that nobody certified there is none.
"""

import hashlib
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from core.abstention.policy import Pipeline, Policy
from core.abstention.policy_files import policy_from_dict
from core.language_models.forms import same_weights
from core.once import once
from core.uncertainty.scores import SCORES

EMBEDDED, SMOLLM2 = "embedded", "smollm2"  # the models in the box
QWEN = "qwen"  # whose answers are bundled (`core.studies.evaluation.recorded_answers`)
MODELS = (EMBEDDED, SMOLLM2, QWEN)
SCORE, WEIGHTED = "mutual_information", "weighted_doubt"
#: What decides for each of them unless a person brings another policy: the weighted doubt where it
#: ranks wrong answers better than M.I. on rows of its world that fixed and certify nothing. Of
#: Qwen's rows every score was shown before: all paid for it, and the one that answers most decides.
DECIDES = {EMBEDDED: SCORE, SMOLLM2: WEIGHTED, QWEN: "pair_covariance"}


def policies_file(model: str) -> Path:
    """Return where the policies of one of `MODELS` are bundled."""
    return Path(__file__).parent / "default_policies" / f"{model}.json"


@once
def default_policies(model: str = EMBEDDED) -> dict[str, Policy | None]:
    """Return the bundled policy of every score, by the keys of `SCORES`.

    All of a model are certified on the same questions for the same error and confidence; None
    where a score could not be, or was not chosen (`QWEN`): by it, one would never answer.
    """
    content: dict[str, Any] = json.loads(policies_file(model).read_text(encoding="utf-8"))
    return {name: policy_from_dict(content[name]) if content[name] else None for name in SCORES}


def default_policy(model: str = EMBEDDED) -> Policy:
    """Return the policy that decides for one of `MODELS`; `ValueError` where it is missing."""
    policy = default_policies(model)[DECIDES[model]]
    if policy is None:
        raise ValueError("The bundled default policy is missing: it must be certified.")
    return policy


def certificate(pipeline: Pipeline, score: str | None = None) -> Policy | None:
    """Return the bundled policy that fits a pipeline, of a score or of the one that decides.

    None where none does, or by the name of another of `MODELS`: only an edited file says so.
    The least sampled mass is the policy's own and is not compared.
    """
    for model in MODELS:
        # SmolLM2 is also opened from a path; nothing else is opened as, or by, another's name.
        if pipeline.model != model and (model == EMBEDDED or pipeline.model in MODELS):
            continue
        policy = default_policies(model)[score or DECIDES[model]]
        if policy is not None and fits(policy, pipeline):
            return policy
    return None


def fits(policy: Policy, pipeline: Pipeline) -> bool:
    """Say whether a policy was calibrated for a pipeline, whose least mass is not looked at."""
    own = policy.pipeline
    return own is not None and not own.differences(replace(pipeline, least_mass=own.least_mass))


def certified_model(revision: str, *, any_form: bool = False) -> str | None:
    """Return which of `MODELS` has these weights in this form, or in any; None if none does."""
    for model in MODELS:
        pipeline = default_policy(model).pipeline
        if pipeline is None:
            continue
        if pipeline.revision == revision or (
            any_form and same_weights(pipeline.revision, revision)
        ):
            return model
    return None


def certifies(question: str) -> bool:
    """Say whether a question is of the two thirds of all labelled ones that certify, by its hash.

    The others fix the settings, and test what was certified.
    """
    return int(hashlib.sha256(question.encode()).hexdigest(), 16) % 3 < 2


def usual_least_mass() -> float:
    """Return the least sampled mass at which labelled questions are scored for a calibration."""
    pipeline = default_policy(EMBEDDED).pipeline
    return pipeline.least_mass if pipeline else 0.0


def strictest_least_mass() -> float:
    """Return the largest least mass of all certificates: the floor where nothing is certified."""
    pipelines = (default_policy(model).pipeline for model in MODELS)
    return max(pipeline.least_mass for pipeline in pipelines if pipeline)
