"""A quick look at a question: what a model answers most.

Ten answers are drawn and counted. That shows how they spread, and not why: whether the model does
not know, or there are many right answers, takes an inspection. So there is no verdict.
"""

from collections import Counter
from typing import Final

from core import prompts
from core.language_models.errors import ModelError
from core.language_models.language_model import LanguageModel
from core.studies.inspection.counter_answers import alike

ANSWERS: Final = 10
TEMPERATURE: Final = 0.9


def quick_look(query: str, model: LanguageModel, *, seed: int = 0) -> list[tuple[str, int]]:
    """Return the answers of `ANSWERS` draws, each with how many are the same, the most first.

    The draws are those of an inspection of the same seed, which need not pay for them again.

    Raises `ModelError` with a sentence, also where nothing is answered.
    """
    prompt = prompts.iterative(model.reads(query))
    responses = model.sample(prompt, ANSWERS, temperature=TEMPERATURE, seed=seed)
    counts = Counter(response.text for response in responses if response.text)
    if not counts:
        raise ModelError(f"{model.name} gave no answer to {ANSWERS} draws. Rephrase the question.")
    answers: list[tuple[str, int]] = []
    texts = [text for text, _ in counts.most_common()]
    while texts:
        same = alike(texts[0], texts)
        answers.append((texts[0], sum(counts[text] for text in same)))
        texts = [text for text in texts if text not in same]
    return sorted(answers, key=lambda answer: -answer[1])
