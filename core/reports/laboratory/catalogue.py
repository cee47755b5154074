"""All experiments, by the question that each answers."""

from typing import Final

from core.reports.laboratory import (
    chains,
    deciding,
    effective_support,
    estimator,
    finite_samples,
    hallucination,
    listing,
    missing_mass,
    related,
    theorem,
    yielding,
)
from core.studies.laboratory.experiment import Experiment

#: The experiments that answer each question, in the order of the page.
QUESTIONS: Final[dict[str, tuple[Experiment, ...]]] = {
    "Is the estimate right?": (estimator.EXPERIMENT, listing.EXPERIMENT),
    "How many samples?": (
        missing_mass.EXPERIMENT,
        finite_samples.EXPERIMENT,
        effective_support.EXPERIMENT,
    ),
    "Is a score stable?": (deciding.EXPERIMENT, chains.EXPERIMENT),
    "Does the bound hold?": (theorem.EXPERIMENT,),
    "What does a hallucination look like?": (hallucination.EXPERIMENT,),
    "Why does it give way?": (yielding.EXPERIMENT,),
    "Do other scores see it?": (related.EXPERIMENT,),
}

EXPERIMENTS: Final[dict[str, Experiment]] = {
    experiment.name: experiment for group in QUESTIONS.values() for experiment in group
}

#: Label and help of every field, by its name in the address.
FIELDS: Final[dict[str, tuple[str, str | None]]] = {
    f"{name}_{field.name}": (field.label, field.help or None)
    for name, experiment in EXPERIMENTS.items()
    for field in experiment.fields
}


def question_of(name: str) -> str:
    """Return the question that an experiment answers."""
    return next(
        question
        for question, group in QUESTIONS.items()
        if any(experiment.name == name for experiment in group)
    )
