"""A hallucination, drawn: the paper's Figure 4."""

from typing import Any

from core.codec import whole_percent
from core.language_models.language_model import LanguageModel
from core.studies.laboratory.experiment import AskedModel, Experiment, Outcome
from core.studies.laboratory.hallucination import Hallucination, HallucinationSettings, run
from core.studies.progress import Progress


def _work(settings: HallucinationSettings, model: LanguageModel, progress: Progress) -> Outcome:
    hallucination = run(model, settings.question, settings, progress)
    m = len(hallucination.texts)
    columns: dict[str, Any] = {
        "first answer": [text for text in hallucination.texts for _ in range(m)],
        "second answer": list(hallucination.texts) * m,
        "both right": [bool(a and b) for a in hallucination.right for b in hallucination.right],
        "Q̃": hallucination.q.ravel(),
        "P̃": hallucination.p.ravel(),
        "Q̃ − P̃, where above 0": hallucination.excess.ravel(),
        "contribution to D, nats": hallucination.contributions.ravel(),
    }
    names = ("question", "texts", "right", "q", "p", "excess", "wrong")
    chart_data = {name: getattr(hallucination, name) for name in names}
    chart_data["misplaced"] = hallucination.misplaced_mass
    return Outcome(sentence(hallucination), columns, chart_data)


def sentence(hallucination: Hallucination) -> str:
    """Say what it shows; texts of the model are not in it."""
    shares = (hallucination.misplaced_mass, *hallucination.wrong)
    misplaced, first, second = map(whole_percent, shares)
    return (
        f"{misplaced} of Q̃ is more than the truth has: the first answer "
        f"is wrong with a probability of {first}, the second, told the first, of "
        f"{second}. With the truth smoothed by {hallucination.smoothing:g}, the divergence "
        f"D(Q̃, P̃) is {hallucination.divergence:.3f} nats, and M.I. finds "
        f"{hallucination.information:.3f} of it without knowing the truth."
    )


EXPERIMENT = Experiment(
    name="hallucination",
    title="Mass that should not be there",
    about=(
        "What a model says to a question, as pairs of answers, beside what is true. Where the "
        "model puts more than the truth has, it hallucinates."
    ),
    paper="Figure 4, Section 4",
    settings=HallucinationSettings,
    work=_work,
    asks=AskedModel.CHOSEN,
    quick=True,
)
