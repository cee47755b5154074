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
from core.studies.laboratory.experiment import Asks, Experiment, Field, Outcome, Values
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


@dataclass(frozen=True)
class OfQuestions:
    """The questions, how they are asked, and what is varied."""

    queries: tuple[str, ...]
    sampling: Sampling | None
    varied: DecidingSettings

    def request(self, model: LanguageModel) -> Request:
        """Return how the first question is asked."""
        options = {} if self.sampling is None else {"sampling": self.sampling}
        return usual_request(self.queries[0], model.capabilities, **options)


def _settings(values: Values) -> OfQuestions:
    named: dict[str, Any] = dict(values)
    if named["about"] == ONE:
        queries: tuple[str, ...] = (Request(named["question"]).query,)
    else:
        facts = [f for band in Band for f in facts_of(band, named["each"], named["draw"])]
        queries = tuple(fact.question for fact in facts)
    rule = None if named["sampling"] == USUAL else Sampling(named["sampling"])
    return OfQuestions(queries, rule, DecidingSettings(seeds=named["seeds"]))


def _work(settings: OfQuestions, model: LanguageModel, progress: Progress) -> Outcome:
    request = settings.request(model)
    variations = run(
        settings.queries,
        model,
        request,
        None,
        settings.varied,
        lambda stage, share: progress(MOVING, share),
    )
    return Outcome(
        " ".join([variations.sentence, *variations.left_out]),
        columns(variations),
        picture_content(variations),
    )


def _plan(settings: OfQuestions, model: LanguageModel) -> Plan:
    return plan(settings.queries, model, settings.request(model), Reading(), settings.varied)


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
    shares = [variant.kept(place, usual) for place, usual in enumerate(variations.usual)]
    return sum(shares) / len(shares)


def picture_content(variations: Variations) -> dict[str, Any]:
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
    fields=(
        Field(
            "about",
            "Varied for",
            ONE,
            options={ONE: "one question", SET: "questions of the embedded world"},
        ),
        Field(
            "question",
            "Question",
            DOUBTFUL,
            applies=lambda values: values["about"] == ONE,
            check=Request,
        ),
        Field(
            "each",
            "Questions of each band",
            4,
            1,
            40,
            1,
            applies=lambda values: values["about"] == SET,
        ),
        Field("seeds", "Seeds", 10, 2, MOST_SEEDS, 1, help="By so many, answers are drawn."),
        Field(
            "sampling",
            "Answers",
            USUAL,
            options={
                USUAL: "as usual for the model",
                Sampling.LIKELIEST.value: "the likeliest",
                Sampling.DRAWN.value: "drawn",
            },
        ),
        Field(
            "draw",
            "Draw of the questions",
            0,
            0,
            9999,
            1,
            applies=lambda values: values["about"] == SET,
            folded=True,
        ),
    ),
    settings=_settings,
    work=_work,
    asks=Asks.CHOSEN,
    takes="half a minute for a question of the embedded model, and much longer with a larger one",
    plan=_plan,
)
