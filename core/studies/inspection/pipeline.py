"""What a score was made with: the fingerprint by which a policy knows its own scores."""

import hashlib
from dataclasses import asdict

from core import prompts
from core.abstention.policy import NOTHING, Pipeline
from core.codec import encode
from core.once import once
from core.studies.inspection.recording import Estimator
from core.studies.inspection.request import Reading, Request
from core.uncertainty.similarity import ANSWER_RULE, JUDGE


def pipeline_of(
    model: str,
    revision: str,
    request: Request,
    reading: Reading,
    least_mass: float,
    estimator: Estimator = Estimator.EXACT,
) -> Pipeline:
    """Return the pipeline of an inspection; the query and the seed are no part of it."""
    return Pipeline(
        model=model,
        revision=revision,
        prompt=prompt_fingerprint(judged=reading.similarity == JUDGE, claim=request.claim),
        samples=request.samples,
        temperature=request.temperature,
        similarity=reading.similarity,
        tau=reading.threshold,
        gamma_1=reading.gamma_1,
        gamma_2=reading.gamma_2,
        estimator=estimator.value,
        least_mass=least_mass,
        sampling=request.sampling.value,
        answer_tokens=request.answer_tokens,
        front=front_of(request),
        answer_rule=ANSWER_RULE,
    )


def front_of(request: Request) -> str:
    """Return what stands in front of a request's prompts, as a pipeline names it.

    The very system prompt, and of a context only that there is one: each question has another.
    Whether a system prompt has a turn of its own follows from the model's form.
    """
    if not request.front:
        return NOTHING
    text = prompts.front(request.system, "C" if request.context else "")
    if request.system:  # once it stood in the user's turn of a chat, too
        text = f"turn\0{text}"
    names = [name for name in ("system", "context") if getattr(request, name)]
    return f"{' and '.join(names)} {hashlib.sha256(text.encode()).hexdigest()[:12]}"


@once
def prompt_fingerprint(*, judged: bool = False, claim: bool = False) -> str:
    """Return a short hash that changes with any word of any prompt.

    What the model is asked about pairs of answers counts where it compares them, and only there;
    so does the question about a claim.
    """
    every = [
        prompts.iterative("Q"),
        prompts.iterative("Q", ["A"]),
        prompts.iterative("Q", ["A", "B"]),
        prompts.self_verification("Q", "A"),
        prompts.TRUE,
        prompts.FALSE,
    ]
    if judged:
        every.append(prompts.same_meaning("Q", "A", "B"))
    if claim:
        every.append(prompts.truth("S", "Q"))
    return hashlib.sha256("\0".join(every).encode()).hexdigest()[:12]


def to_text(pipeline: Pipeline) -> str:
    """Return a pipeline as one line, for the column `pipeline` of a scored table."""
    return encode(asdict(pipeline))
