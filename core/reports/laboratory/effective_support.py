"""What a language model's draws miss, on questions: the paper's Figure 7."""

import numpy as np

from core.codec import at_most, count_of, percent
from core.language_models.language_model import LanguageModel
from core.studies.laboratory.effective_support import (
    WORLD,
    EffectiveSupports,
    EffectiveSupportSettings,
    questions_of,
    run,
)
from core.studies.laboratory.experiment import AskedModel, Experiment, Outcome, columns_of
from core.studies.progress import Progress


def _work(settings: EffectiveSupportSettings, model: LanguageModel, progress: Progress) -> Outcome:
    supports = run(model, questions_of(settings), settings, progress)
    answers = [len(one.answers) for one in supports.questions]
    columns = {
        **columns_of(supports.questions, question="question"),
        "answers found": answers,
        **columns_of(
            supports.questions,
            responses="responses drawn",
            mass="P(X̃)",
            missing="Ũ",
            high="U, at most",
            bound="E U, at most",
            printed_bound="E U, at most, by Appendix E.4",
        ),
    }
    chart_data = {
        **{name: supports.values[name] for name in ("mass", "missing", "high", "bound")},
        "answers": answers,
        "draws": settings.draws,
    }
    return Outcome(sentence(supports), columns, chart_data)


def sentence(supports: EffectiveSupports) -> str:
    """Say what it shows, in a sentence or two."""
    of = {name: float(np.median(values)) for name, values in supports.values.items()}
    sizes = np.array([len(question.answers) for question in supports.questions])
    k, source = supports.settings.draws, supports.settings.source
    of_source = "" if source == WORLD else f" of {source}"
    return (
        f"Of {count_of(len(supports.questions), 'question')}{of_source}, the answers found hold "
        f"{of['mass']:.1%} of the probability (median; {np.median(sizes):.0f} answers, "
        f"{sizes.mean():.1f} on average). For the median question, {k:,} draws miss "
        f"{of['missing']:.1%} of it, so {at_most(of['high'])} of all at most; in expectation at "
        f"most {at_most(of['bound'])}, for sure ({at_most(of['printed_bound'])} with "
        f"{percent(supports.settings.confidence)} confidence a question, by the paper’s Appendix "
        "E.4)."
    )


EXPERIMENT = Experiment(
    name="effective_support",
    title="What a model’s draws miss",
    about=(
        "Nobody knows all that a language model can answer. Responses are drawn until their "
        "distinct texts hold enough of the probability: the effective support X̃. What k other "
        "draws miss of it, and what is outside, bounds what they miss of everything. The real "
        "questions are those of the bundled run."
    ),
    paper="Appendix E.4, Figure 7",
    settings=EffectiveSupportSettings,
    work=_work,
    asks=AskedModel.CHOSEN,
    takes="half a minute with the embedded model, ten minutes or more with a larger one",
    also={"smollm2": {"source": "TriviaQA", "questions": 10, "draws": 100, "most": 150}},
)
