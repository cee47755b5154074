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
    "Do more answers make the doubt exact?": (estimator.EXPERIMENT, listing.EXPERIMENT),
    "Is it known how much was not seen?": (
        missing_mass.EXPERIMENT,
        finite_samples.EXPERIMENT,
        effective_support.EXPERIMENT,
    ),
    "Do other settings give the same verdict?": (deciding.EXPERIMENT, chains.EXPERIMENT),
    "Are answers at least as far from the truth as doubted?": (theorem.EXPERIMENT,),
    "Is a guess doubted without knowing the truth?": (hallucination.EXPERIMENT,),
    "Does the paper’s explanation tell which facts resist repetition?": (yielding.EXPERIMENT,),
    "Does mutual information find what entropy misses?": (related.EXPERIMENT,),
}

#: The question that each experiment answers, by its name.
QUESTION_OF: Final[dict[str, str]] = {
    experiment.name: question for question, group in QUESTIONS.items() for experiment in group
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
