"""Longer chains for one question: what a third and a fourth answer add, and at what cost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from core.language_models.base import LanguageModel
from core.studies.costs import Plan, plan_chains
from core.studies.examples import EXAMPLES
from core.studies.inspection.recorder import record, usual_request
from core.studies.inspection.request import Request
from core.studies.laboratory.chains import LONGEST, MOST_CHAINS, Chains, ChainsSettings, run
from core.studies.laboratory.experiment import Asks, Experiment, Field, Outcome, Values
from core.studies.progress import Progress

SCORED: Final = "every answer after every chain"
SAMPLED: Final = "sampled chains"
CERTIFIED: Final = "certainly at least"
LARGEST: Final = "at most possible"
RECORDING: Final = 0.2  # of the progress


@dataclass(frozen=True)
class OfQuestion:
    """A question, and the settings of its chains."""

    query: str
    chains: ChainsSettings


def _settings(values: Values) -> OfQuestion:
    named: dict[str, Any] = dict(values)
    query = Request(named.pop("question")).query
    return OfQuestion(query, ChainsSettings(**named))


def _work(settings: OfQuestion, model: LanguageModel, progress: Progress) -> Outcome:
    request = usual_request(settings.query, model.capabilities)
    recording = record(request, model, lambda stage, share: progress(stage, RECORDING * share))
    chains = run(
        recording,
        model,
        settings.chains,
        lambda stage, share: progress(stage, RECORDING + (1 - RECORDING) * share),
    )
    return Outcome(chains.sentence, columns(chains), picture_content(chains))


def _plan(settings: OfQuestion, model: LanguageModel) -> Plan:
    request = usual_request(settings.query, model.capabilities)
    of = settings.chains
    return plan_chains(request, of.longest, of.chains, of.most_prompts, model.capabilities)


def picture_content(chains: Chains) -> dict[str, Any]:
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
    fields=(
        Field("question", "Question", EXAMPLES["Unknown"], check=Request),
        Field("longest", "Answers in the longest chain n", LONGEST, 2, LONGEST, 1),
        Field(
            "chains",
            "Sampled chains",
            100,
            0,
            MOST_CHAINS,
            10,
            help="0 samples none. A model that scores only its own answers always samples.",
        ),
        Field(
            "most_prompts",
            "Prompts for one more answer, at most",
            1000,
            1,
            10_000,
            100,
            help="m answers after chains of n − 1 of them take mⁿ⁻¹ prompts.",
            folded=True,
        ),
        Field("seed", "Seed", 0, 0, 2**32 - 1, 1, folded=True),
    ),
    settings=_settings,
    work=_work,
    asks=Asks.CHOSEN,
    plan=_plan,
    takes="ten seconds with the embedded model, and minutes with a larger one",
)
