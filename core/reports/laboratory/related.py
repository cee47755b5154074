"""The related scores in full, beside M.I. on the same questions."""

import math
from dataclasses import astuple, dataclass
from typing import Any, Final

from core.codec import count_of, with_interval
from core.data.world.facts import Band, Fact
from core.language_models.language_model import LanguageModel
from core.studies import costs
from core.studies.amplification.gallery import draw as facts_of
from core.studies.costs import Plan
from core.studies.inspection.recorder import usual_request
from core.studies.laboratory.experiment import AskedModel, Experiment, Outcome
from core.studies.laboratory.related import EXCEEDED, RelatedScores, run
from core.studies.laboratory.settings import (
    ExperimentSettings,
    draw_of_questions,
    seed_setting,
    setting,
)
from core.studies.progress import Progress

#: What the scores of the study are called beside their numbers.
NAMES: Final = {
    "mutual_information": "M.I.",
    "semantic_entropy": "S.E.",
    "min_conditional_entropy": "min C.E. (Ahdritz et al.)",
    "two_stage": "two-stage min C.E., tuned",
    "pair_covariance": "Pair cov. (Johnson et al.)",
    "covariance": "V̂ of the answer served",
    "cheat_corrected": "p̂(y) / p̂(y|y) of that answer",
}


@dataclass(frozen=True)
class RelatedSettings(ExperimentSettings):
    """Which facts are asked about, and the seed of halves and bootstrap."""

    each: int = setting(60, "Questions of each band", 1, 200, 10)
    draw: int = draw_of_questions("Draw of the questions", 2)
    seed: int = seed_setting(
        help="Of the halves on which the threshold is tuned, and of the bootstrap."
    )

    @property
    def facts(self) -> list[Fact]:
        """As many of each band as of any other."""
        return [fact for band in Band for fact in facts_of(band, self.each, self.draw)]


def _work(settings: RelatedSettings, model: LanguageModel, progress: Progress) -> Outcome:
    related = run(settings.facts, model, progress=progress, seed=settings.seed)
    return Outcome(sentence(related), columns(related), chart_data(related))


def _plan(settings: RelatedSettings, model: LanguageModel) -> Plan:
    able = model.capabilities
    requests = (usual_request(fact.question, able) for fact in settings.facts)
    return sum((costs.plan(request, able) for request in requests), Plan())


def columns(related: RelatedScores) -> dict[str, list[Any]]:
    """Return the table: a row for each answer that was found."""
    rows = [
        {
            "question": question.query,
            "M.I., nats": question.doubts["mutual_information"],
            "its answer is right": question.correct["mutual_information"],
            "answer": answer,
            "p̂(y|x)": p,
            "p̂(y|y, x)": again,
            "V̂(y|x)": p * (again - p),
            "true p(y|x)": truth,
            "squared error": (p - truth) ** 2,
        }
        for question in related.questions
        for answer, p, again, truth in zip(
            question.answers, question.predicted, question.repeated, question.truth, strict=True
        )
    ]
    return {name: [row[name] for row in rows] for name in rows[0]}


def chart_data(related: RelatedScores) -> dict[str, Any]:
    """Return what the pictures are drawn from: AUROCs, thresholds, and bins of V̂."""
    values = related.comparison.values
    several, alone = dict(related.by_threshold()), dict(related.by_threshold(1))
    bins = (*related.calibration(), related.overall)
    return {
        "questions": len(related.questions),
        "scores": {words: astuple(values[name]) for name, words in NAMES.items()},
        "thresholds": [f"{least:g}" for least in several],
        "sure": list(several.values()),
        "tested": list(alone.values()),
        "information": values["mutual_information"].value,
        "answers": [one.answers for one in bins],
        "promised": [one.promised for one in bins],
        "errors": [astuple(one.error) for one in bins],
        "beyond": related.beyond,
        "times": 1 / EXCEEDED,
    }


def sentence(related: RelatedScores) -> str:
    """Say what it shows, in some sentences."""
    values = related.comparison.values
    first, second = related.tuned_thresholds[0]
    return (
        f"AUROC for wrong answers on {count_of(len(related.questions), 'question')}: M.I. "
        f"{with_interval(astuple(values['mutual_information']))}, S.E. "
        f"{values['semantic_entropy'].value:.2f}, the two-stage test of Ahdritz et al. "
        f"{values['two_stage'].value:.2f} with the thresholds {first:g} and "
        f"{second:g}, each tuned on one half for the other, pair covariance "
        f"(Johnson et al.) {values['pair_covariance'].value:.2f}. The mean squared "
        "error of the model’s probabilities, right answers that were not found included, is "
        f"{related.overall.error.value:.3f} where V̂ says "
        f"{related.overall.promised:.3f}: {_calibration(related)}"
    )


def _calibration(related: RelatedScores) -> str:
    low, high = related.excess.lower, related.excess.upper
    if math.isnan(low):
        return "these questions are too alike to say more of its second-order calibration."
    if low <= 0 <= high:
        return "compatible with second-order calibration."
    return f"not second-order calibrated, it errs {'more' if low > 0 else 'less'} than it says."


EXPERIMENT = Experiment(
    name="related",
    title="Related scores",
    about=(
        "The two-stage threshold of Ahdritz et al.: candidates above a threshold, then the least "
        "entropy of what follows each. V̂(y|x) of Johnson et al.: the probability of an answer, "
        "times how much telling it raises that; **if the model is second-order calibrated, it is "
        "the squared error of its probabilities on average.** Both beside M.I., on questions whose "
        "true answers are known, as many of each kind. Evaluation finds less: it also asks for "
        "lists that were never taught, which this model gets wrong with little doubt."
    ),
    paper="Appendix C; arXiv 2402.03563 and 2402.08733",
    settings=RelatedSettings,
    work=_work,
    asks=AskedModel.CHOSEN,
    takes="half a minute with the embedded model, and much longer with a larger one",
    plan=_plan,
)
