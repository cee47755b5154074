"""Longer chains for one question: what a third and a fourth answer add, and at what cost."""

from collections.abc import Iterable
from typing import Any, Final

from core.codec import count_of, list_of
from core.language_models.language_model import LanguageModel
from core.studies.costs import Plan, plan_chains
from core.studies.inspection.recorder import record, usual_request
from core.studies.inspection.recording import estimator_of
from core.studies.inspection.request import Request
from core.studies.laboratory.chains import (
    CERTIFIED,
    LARGEST,
    SAMPLED,
    SCORED,
    Chains,
    ChainsSettings,
    refuse_counts,
    run,
)
from core.studies.laboratory.experiment import AskedModel, Experiment, Outcome
from core.studies.progress import Progress

ORDINALS: Final = {3: "third", 4: "fourth"}
RECORDING: Final = 0.2  # of the progress


def _work(settings: ChainsSettings, model: LanguageModel, progress: Progress) -> Outcome:
    request = _request(settings, model)
    recording = record(request, model, lambda stage, share: progress(stage, RECORDING * share))
    chains = run(
        recording,
        model,
        settings,
        lambda stage, share: progress(stage, RECORDING + (1 - RECORDING) * share),
    )
    return Outcome(sentence(chains), columns(chains), chart_data(chains))


def _plan(settings: ChainsSettings, model: LanguageModel) -> Plan:
    able, request = model.capabilities, _request(settings, model)
    return plan_chains(request, settings.longest, settings.chains, settings.most_prompts, able)


def _request(settings: ChainsSettings, model: LanguageModel) -> Request:
    refuse_counts(model, estimator_of(model.capabilities))
    return usual_request(settings.question, model.capabilities)


def chart_data(chains: Chains) -> dict[str, Any]:
    """Return what the pictures are drawn from: lines by way and n, and the cost of each step."""
    scored, sampled = chains.scored, chains.sampled
    lines = {
        SCORED: [(one.n, one.value) for one in scored],
        SAMPLED: [(one.n, one.value) for one in sampled],
        CERTIFIED: [(one.n, one.certified) for one in scored if one.certified is not None],
        LARGEST: [(one.n, one.largest) for one in scored],
    }
    costs = [
        {"n": one.n, "way": way, "prompts": one.cost.prompts, "texts": one.cost.texts}
        for way, several in ((SCORED, scored), (SAMPLED, sampled))
        for one in several
    ]
    return {"lines": {way: line for way, line in lines.items() if line}, "costs": costs}


def columns(chains: Chains) -> dict[str, list[Any]]:
    """Return the table: a row for each way and length."""
    scored: list[dict[str, Any]] = [
        {
            "way": SCORED,
            "n": one.n,
            "M.I., nats": one.value,
            "at most possible, nats": one.largest,
            "certainly at least, nats": one.certified,
            "prompts more": one.cost.prompts,
            "texts more": one.cost.texts,
        }
        for one in chains.scored
    ]
    sampled: list[dict[str, Any]] = [
        {
            "way": SAMPLED,
            "n": one.n,
            "M.I., nats": one.value,
            "before the adjustment, nats": one.plain,
            "by chance alone, nats": one.by_chance,
            "told from chance": one.tells,
            "chains that repeat": one.repeated,
            "prompts more": one.cost.prompts,
            "texts more": one.cost.texts,
        }
        for one in chains.sampled
    ]
    headings = dict.fromkeys(name for row in [*scored, *sampled] for name in row)
    return {name: [row.get(name) for row in [*scored, *sampled]] for name in headings}


def sentence(chains: Chains) -> str:
    """Say what it shows, in a sentence or two."""
    parts = []
    if chains.scored:
        text = (
            f"Chains of {_list(one.n for one in chains.scored)} answers have an M.I. of "
            f"{_nats(one.value for one in chains.scored)} (Algorithm 3, "
            f"{count_of(chains.answers, 'answer')} found)"
        )
        more = [
            f"the {ORDINALS[now.n]} answer adds {now.value - before.value:.3f} nats for "
            f"{count_of(now.cost.prompts, 'prompt')} more"
            for before, now in zip(chains.scored, chains.scored[1:], strict=False)
        ]
        parts.append(f"{text}{': ' if more else ''}{'; '.join(more)}.")
    if chains.sampled:
        text = (
            f"{count_of(chains.draws, 'sampled chain')} of {_list(s.n for s in chains.sampled)} "
            f"answers show {_nats(s.value for s in chains.sampled)}, adjusted for chance"
        )
        dim = [s.n for s in chains.sampled if not s.tells]
        if dim:
            text += f"; of {_list(dim)} answers, that cannot be told from chance"
        parts.append(f"{text}.")
    return " ".join([*parts, *chains.left_out])


def _list(numbers: Iterable[int]) -> str:
    return list_of([str(n) for n in numbers])


def _nats(values: Iterable[float]) -> str:
    return f"{list_of([f'{value:.3f}' for value in values])} nats"


EXPERIMENT = Experiment(
    name="chains",
    title="Longer chains",
    about=(
        "The paper asks for two answers and says that pairs suffice. Here the model is told two "
        "and three of its answers before the next: every answer after every chain (Algorithm 3), "
        "and sampled chains (Algorithm 2, adjusted for chance)."
    ),
    paper="Section 4.1; Algorithms 1, 2, and 3",
    settings=ChainsSettings,
    work=_work,
    asks=AskedModel.CHOSEN,
    plan=_plan,
    takes="ten seconds with the embedded model, and minutes with a larger one",
)
