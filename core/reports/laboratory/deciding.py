"""What decides a score: every setting moved alone, for one question or a set of them."""

import math
from collections.abc import Sequence
from dataclasses import astuple, dataclass, replace
from typing import Any, Final

from core.codec import count_of, list_of
from core.data.world.facts import Band
from core.language_models.language_model import LanguageModel
from core.studies import costs
from core.studies.amplification.gallery import draw as facts_of
from core.studies.costs import Plan
from core.studies.inspection.recorder import usual_request
from core.studies.inspection.request import Reading, Request, Sampling
from core.studies.inspection.verdict import Decision
from core.studies.laboratory.deciding import (
    FEWEST_SEEDS,
    KEEPS,
    MOST_SEEDS,
    NUMBERS,
    SHOWN,
    TITLES,
    DecidingSettings,
    Factor,
    Variant,
    Variations,
    requests_of,
    run,
)
from core.studies.laboratory.experiment import AskedModel, Experiment, Outcome
from core.studies.laboratory.settings import (
    ExperimentSettings,
    Values,
    draw_of_questions,
    query_of,
    setting,
)
from core.studies.progress import Progress
from core.uncertainty.scores import SCORES
from core.uncertainty.similarity import BY_CHARACTERS

MOVING: Final = "Asking again, one setting moved at a time"
ONE, SET = "one", "set"
DOUBTFUL: Final = "What is the national instrument of Ireland?"  # of the paper's Figure 2
USUAL: Final = "usual"
LONGEST_VALUES: Final = 24  # characters of the values of a group


def _of_set(values: Values) -> bool:
    return values["about"] == SET


@dataclass(frozen=True)
class QuestionsSettings(ExperimentSettings):
    """The questions, how they are asked, and by how many seeds answers are drawn."""

    about: str = setting(
        SET, "Tried on", options={ONE: "one question", SET: "questions of the embedded world"}
    )
    question: str = setting(
        DOUBTFUL, "Question", read=query_of, applies=lambda values: values["about"] == ONE
    )
    each: int = setting(12, "Questions of each band", 1, 40, 1, applies=_of_set)
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
    words = " ".join([sentence(variations), *variations.left_out])
    return Outcome(words, columns(variations), chart_data(variations))


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
        "groups": _groups(variations),
        "too few": [_label(v.value) for v in variations.panel(Factor.SAMPLES) if _is_too_few(v)],
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


def _groups(variations: Variations) -> dict[str, Any]:
    """Return the other settings in few groups: their values, and the share of verdicts kept."""
    groups: dict[str, list[Variant]] = {}
    for variant in variations.alternatives:
        if variant.factor is Factor.SAMPLING and not variations.request.draws:
            continue  # drawn ones stand under their seeds
        groups.setdefault(_group(variations, variant), []).append(variant)
    return {
        name: {
            "values": _values([_label(v.value) for v in several]),
            "stable": astuple(variations.stability(several)),
            "verdicts": sum(len(draws) for variant in several for draws in variant.outcomes),
        }
        for name, several in groups.items()
    }


def _group(variations: Variations, variant: Variant) -> str:
    match variant.factor:
        case Factor.SAMPLES:
            is_less = float(variant.value) < variations.request.samples
            return "fewer answers" if is_less else "more answers"
        case Factor.SIMILARITY:
            return f"compared by {'characters' if variant.value in BY_CHARACTERS else 'words'}"
        case Factor.SEED | Factor.TEMPERATURE if not variations.request.draws:
            return f"drawn: {variant.factor}"
    return TITLES[variant.factor].removesuffix(" τ")


def _values(names: Sequence[str]) -> str:
    every = ", ".join(name.replace("_", " ") for name in names)
    if len(every) <= LONGEST_VALUES:
        return every
    return f"{names[0]} to {names[-1]}" if names[0][0].isdigit() else f"{len(names)} ways"


def _is_too_few(variant: Variant) -> bool:
    return all(each.decision is Decision.TOO_LITTLE for row in variant.outcomes for each in row)


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


def sentence(variations: Variations) -> str:
    """Say whether the verdict is stable, or how many of a set's verdicts are."""
    if len(variations.queries) == 1:
        return _of_one(variations)
    stable = sum(not changing for changing in variations.changing)
    total = count_of(len(variations.queries), "verdict")
    text = f"{stable} of {total} {'is' if stable == 1 else 'are'} stable."
    by = {
        factor: sum(any(v.factor is factor for v in one) for one in variations.changing)
        for factor in Factor
    }
    most = sorted((f for f in Factor if by[f]), key=lambda f: -by[f])
    if not most:
        return f"{text} Nothing that was moved changes one."
    how = [f"{factor} ({by[factor]})" for factor in most]
    return f"{text} Verdicts change with {list_of(how, most=len(how))}."


def _of_one(variations: Variations) -> str:
    (usual,), (changing,) = variations.usual, variations.changing
    decision, total = usual.decision, len(variations.alternatives)
    if not changing:
        draws = max(len(v.outcomes[0]) for v in variations.variants)
        return (
            f"The verdict “{decision}” is stable: all {total} other settings keep it, one "
            f"moved at a time{f', in {draws} draws each' if draws > 1 else ''}."
        )
    how = [
        f"{_name(variations, v)} ({_share(v.agreement(0, usual))})"
        for v in sorted(changing, key=lambda v: v.agreement(0, usual))
    ]
    return (
        f"The verdict “{decision}” is not stable: {total - len(changing)} of {total} other "
        f"settings {'keeps' if total - len(changing) == 1 else 'keep'} it. "
        f"It changes with {list_of(how)}."
    )


def _name(variations: Variations, variant: Variant) -> str:
    of_draws = not variations.request.draws and variant.factor in (Factor.SEED, Factor.TEMPERATURE)
    return f"answers drawn at {variant.name}" if of_draws else variant.name


def _share(share: float) -> str:
    return f"kept in {share:.0%} of draws" if share else "never kept"


EXPERIMENT = Experiment(
    name="deciding",
    title="What decides a score",
    about=(
        "**One setting is moved at a time**: the number of answers, τ, the similarity, the "
        "sampling rule, the form of asking; of drawn answers, ten at least, the seed and the "
        "temperature. All else stays; λ is the default policy’s. A verdict is stable if every "
        "value keeps it, in nine of ten draws."
    ),
    paper="Section 6: k = 10, τ = 0.25, temperature 0.9",
    settings=QuestionsSettings,
    work=_work,
    asks=AskedModel.CHOSEN,
    takes="a few seconds a question of the embedded model, and much longer with a larger one",
    plan=_plan,
)
