"""When to stop comparing more answers: what those so far certify, and how that grew."""

from dataclasses import dataclass

import numpy as np

from core.abstention.policy import Policy
from core.studies.inspection.inspection import evidence_of, read
from core.studies.inspection.recording import Recording
from core.studies.inspection.request import Reading, Request
from core.uncertainty.scores import certified_mutual_information

# More answers are not needed when this much of the probability of the first answer, and of a second
# after any first, has been seen.
ENOUGH_MASS = 0.95
GROWTH = 1.5


@dataclass(frozen=True)
class GrowthPoint:
    """What k answers show: the certified bound (nats) and the sampled mass."""

    samples: int
    certified: float | None
    sampled_mass: float


def growth(recording: Recording, reading: Reading | None = None) -> tuple[GrowthPoint, ...]:
    """Return how the certified bound and the sampled mass grew with the number of answers, k.

    About twenty points, evenly spread in ln k, from the first on that is an answer: an empty one
    is none.
    """
    k = recording.request.samples
    points = np.unique(np.geomspace(1, k, num=min(k, 20)).round().astype(int))
    result = []
    for samples in points:
        fewer = recording.first(int(samples))
        if not fewer.texts:
            continue
        evidence = evidence_of(fewer, reading or Reading())
        certified = certified_mutual_information(evidence).value
        result.append(GrowthPoint(int(samples), certified, evidence.sampled_mass))
    return tuple(result)


def is_settled(
    recording: Recording,
    reading: Reading | None = None,
    policy: Policy | None = None,
    *,
    limit: float | None = None,
) -> str | None:
    """Say why no more answers are needed, or None if they are.

    The bound holds for every number of answers at once, so one may look after each and
    stop when it is high enough without spoiling it.

    `limit`: the bound from which on an answer is withheld, nats; by default, the inspection's own.
    """
    inspection = read(recording, reading, policy=policy)
    evidence = inspection.evidence
    limit = inspection.information_threshold if limit is None else limit
    if evidence.row_masses is None:
        return (
            "Nothing can be certified here: this model reports no exact likelihoods of given texts."
        )
    seen_second = float(np.exp(evidence.log_first) @ evidence.row_masses)
    certified = inspection.certified_bound
    if certified is not None and certified >= limit:
        withheld = f" From {limit:.3f} on, an answer is withheld."
        return (
            f"Certified: the model’s own mutual information is at least {certified:.3f} nats, "
            f"whatever was not seen.{withheld * (inspection.withholding_bound is not None)}"
        )
    if evidence.sampled_mass >= ENOUGH_MASS and seen_second >= ENOUGH_MASS:
        return (
            f"The answers found cover {evidence.sampled_mass:.1%} of the probability of a first "
            f"answer and {seen_second:.1%} of a second. More of them would add little."
        )
    if recording.request.samples >= (most := recording.request.most_samples):
        return (
            f"The limit of k = {most} is reached. Certified so far: "
            f"{certified or 0:.3f} nats, below {limit:.3f}; the model may know."
        )
    return None


def next_size(request: Request) -> int:
    """Return how many answers to want next on the way to a certificate."""
    samples = request.samples
    return min(request.most_samples, max(samples + 5, round(samples * GROWTH)))
