"""Longer chains for one question: what a third and a fourth answer add, and at what cost."""

from __future__ import annotations

from typing import Any, Final

from core.language_models.base import LanguageModel
from core.studies.costs import Plan, plan_chains
from core.studies.inspection.recorder import record, usual_request
from core.studies.laboratory.chains import Chains, ChainsSettings, run
from core.studies.laboratory.experiment import Asks, Experiment, Outcome
from core.studies.progress import Progress

SCORED: Final = "every answer after every chain"
SAMPLED: Final = "sampled chains"
CERTIFIED: Final = "certainly at least"
LARGEST: Final = "at most possible"
RECORDING: Final = 0.2  # of the progress


def _work(settings: ChainsSettings, model: LanguageModel, progress: Progress) -> Outcome:
    request = usual_request(settings.question, model.capabilities)
    recording = record(request, model, lambda stage, share: progress(stage, RECORDING * share))
    chains = run(
        recording,
        model,
        settings,
        lambda stage, share: progress(stage, RECORDING + (1 - RECORDING) * share),
    )
    return Outcome(chains.sentence, columns(chains), chart_data(chains))


def _plan(settings: ChainsSettings, model: LanguageModel) -> Plan:
    able = model.capabilities
    request = usual_request(settings.question, able)
    return plan_chains(request, settings.longest, settings.chains, settings.most_prompts, able)


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
    asks=Asks.CHOSEN,
    plan=_plan,
    takes="ten seconds with the embedded model, and minutes with a larger one",
)
