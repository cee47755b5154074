"""What decides a score: every setting moved alone, for one question or a set of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import astuple, dataclass, replace
from typing import Any, Final

from core.data.world.facts import Band
from core.language_models.base import LanguageModel
from core.studies import costs
from core.studies.amplification.gallery import draw as facts_of
from core.studies.costs import Plan
from core.studies.inspection.recorder import usual_request
from core.studies.inspection.request import Reading, Request, Sampling
from core.studies.laboratory.deciding import (
    FEWEST_SEEDS,
    KEEPS,
    MOST_SEEDS,
    SHOWN,
    DecidingSettings,
    Factor,
    Variant,
    Variations,
    requests_of,
    run,
)
from core.studies.laboratory.experiment import Asks, Experiment, Outcome
from core.studies.laboratory.settings import (
    ExperimentSettings,
    Values,
    draw_of_questions,
    query_of,
    setting,
)
from core.studies.progress import Progress
from core.uncertainty.scores import SCORES

TITLES: Final = {
    Factor.SAMPLES: "number of answers k",
    Factor.THRESHOLD: "similarity threshold τ",
    Factor.SIMILARITY: "similarity",
    Factor.TEMPERATURE: "temperature",
    Factor.SEED: "seed",
    Factor.SAMPLING: "sampling rule",
    Factor.FORM: "form of asking",
}
#: Factors whose values are numbers, so that a line may join them.
NUMBERS: Final = (Factor.SAMPLES, Factor.THRESHOLD, Factor.TEMPERATURE)
MOVING: Final = "Asking again, one setting moved at a time"
ONE, SET = "one", "set"
DOUBTFUL: Final = "What is the national instrument of Ireland?"  # of the paper's Figure 2
USUAL: Final = "usual"


def _of_set(values: Values) -> bool:
    return values["about"] == SET


@dataclass(frozen=True)
class QuestionsSettings(ExperimentSettings):
    """The questions, how they are asked, and by how many seeds answers are drawn."""

    about: str = setting(
        ONE, "Varied for", options={ONE: "one question", SET: "questions of the embedded world"}
    )
    question: str = setting(
        DOUBTFUL, "Question", read=query_of, applies=lambda values: values["about"] == ONE
    )
    each: int = setting(4, "Questions of each band", 1, 40, 1, applies=_of_set)
    seeds: int = setting(
        10, "Seeds", FEWEST_SEEDS, MOST_SEEDS, 1, help="By so many, answers are drawn."
    )
    sampling: str = setting(
        USUAL,
        "Answers",
        options={
            USUAL: "as usual for the model",
            Sampling.LIKELIEST.value: "the likeliest",
            Sampling.DRAWN.value: "drawn",
        },
    )
    draw: int = draw_of_questions("Draw of the questions", applies=_of_set)

    @property
    def queries(self) -> tuple[str, ...]:
        """The question, or the drawn ones."""
        if self.about == ONE:
            return (self.question,)
        facts = (fact for band in Band for fact in facts_of(band, self.each, self.draw))
        return tuple(fact.question for fact in facts)

    def request(self, model: LanguageModel) -> Request:
        """Return how the first question is asked."""
        options = {} if self.sampling == USUAL else {"sampling": Sampling(self.sampling)}
        return usual_request(self.queries[0], model.capabilities, **options)


def _work(settings: QuestionsSettings, model: LanguageModel, progress: Progress) -> Outcome:
    variations = run(
        settings.queries,
        model,
        settings.request(model),
        None,
        DecidingSettings(seeds=settings.seeds),
        lambda stage, share: progress(MOVING, share),
    )
    sentence = " ".join([variations.sentence, *variations.left_out])
    return Outcome(sentence, columns(variations), chart_data(variations))


def _plan(settings: QuestionsSettings, model: LanguageModel) -> Plan:
    varied = DecidingSettings(seeds=settings.seeds)
    return plan(settings.queries, model, settings.request(model), Reading(), varied)


def plan(
    queries: Sequence[str],
    model: LanguageModel,
    request: Request,
    reading: Reading,
    settings: DecidingSettings | None = None,
) -> Plan:
    """Return the most that moving every setting can take of a service."""
    total = Plan()
    for one in requests_of(request, reading, model, settings or DecidingSettings()):
        for query in queries:
            total += costs.plan(replace(one, query=query), model.capabilities)
    return total


def keeps(variations: Variations, variant: Variant) -> bool:
    """Return whether a setting keeps the verdict of every question."""
    return not any(variant in changing for changing in variations.changing)


def share_of_draws(variations: Variations, variant: Variant) -> float:
    """Return the share of draws that keep their question's verdict, the mean over questions."""
    shares = [variant.agreement(place, usual) for place, usual in enumerate(variations.usual)]
    return sum(shares) / len(shares)


def chart_data(variations: Variations) -> dict[str, Any]:
    """Return what the pictures are drawn from: of each factor its values, and λ."""
    rule = variations.rule
    shown = rule is not None and rule.score in SHOWN
    return {
        "limit": rule.value if rule and shown and math.isfinite(rule.value) else None,
        "score": SCORES[rule.score if rule and shown else SHOWN[0]].symbol,
        "keeps": KEEPS,
        "questions": len(variations.queries),
        "panels": {
            TITLES[factor]: {
                "joined": factor in NUMBERS,
                "values": [_label(v.value) for v in panel],
                "usual": [v.usual for v in panel],
                "kept": [share_of_draws(variations, v) for v in panel],
                "scores": {
                    SCORES[score].symbol: [astuple(v.interval(score)) for v in panel]
                    for score in SHOWN
                },
            }
            for factor in Factor
            if (panel := variations.panel(factor))
        },
    }


def _label(value: float | str) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def columns(variations: Variations) -> dict[str, list[Any]]:
    """Return the table: a row for each value of each factor."""
    rows = []
    for v in variations.variants:
        row: dict[str, Any] = {"setting": TITLES[v.factor], "value": _label(v.value)}
        row |= {"in use": v.usual, "draws": len(v.outcomes[0])}
        for score in SHOWN:
            one, symbol = v.interval(score), SCORES[score].symbol
            row |= {f"{symbol}, nats": one.value, f"{symbol} from": one.lower}
            row[f"{symbol} to"] = one.upper
        rows.append(row | {"verdict kept, share": share_of_draws(variations, v)})
    return {name: [row[name] for row in rows] for name in rows[0]}


EXPERIMENT = Experiment(
    name="deciding",
    title="What decides a score",
    about=(
        "**One setting is moved at a time**: the number of answers, τ, the similarity, the "
        "sampling rule, the form of asking; of drawn answers the seed and the temperature. All "
        "else stays, λ too. A verdict is stable if every value keeps it."
    ),
    paper="Section 6: k = 10, τ = 0.25, temperature 0.9",
    settings=QuestionsSettings,
    work=_work,
    asks=Asks.CHOSEN,
    takes="half a minute for a question of the embedded model, and much longer with a larger one",
    plan=_plan,
)
