"""Whether a model repeats the worked examples in front, and what their order moves.

    python -m benchmarks.examples [--model smollm2] [--greedy] [--names default,easy,obscure]

Asks 60 popular questions behind each choice of examples, in three orders drawn at random. A line
for each choice:

- right: the share of greedy answers that are right, on average over the orders;
- repeated: how many of the 180 greedy answers are one of the examples' though it is wrong here;
- weight: the probability of all that the examples say where it is wrong, on average over questions
  and orders, and for the worst question (not with --greedy);
- moved: on how many of the 60 questions the greedy answers of the three orders are not the same.
"""

import argparse
from collections.abc import Sequence
from functools import partial
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from benchmarks.shared.popular import POPULAR
from core import prompts
from core.language_models.client.concurrency import at_once
from core.language_models.forms import EXAMPLES, Example, Form
from core.language_models.language_model import LanguageModel
from core.language_models.registry import open_model
from core.uncertainty.same_answer import is_right, same_answer

ORDERS = (1, 2, 3)  # seeds

# Facts that hardly anybody asks for, and things that everybody knows but hardly anybody asks.
OBSCURE = (
    Example("Which metal is won from molybdenite?", ("Lead",), "Molybdenum"),
    Example("Name a village in Cornwall.", ("Mousehole",), "Zennor"),
    Example("How many cards are there in a tarot deck?", ("78",), "78"),
    Example("Who wrote the novel Oblomov?", (), "Ivan Goncharov"),
    Example("What is the study of mosses called?", ("Bryology",), "Bryology"),
    Example("In which year was the Treaty of Nystad signed?", (), "1721"),
)
EASY = (
    Example("What is the plural of goose?", ("Gooses",), "Geese"),
    Example("Name a piece of cutlery.", ("Fork",), "Spoon"),
    Example("In which city is the University of Leicester?", ("Leicester",), "Leicester"),
    Example("Who wrote the diary of Samuel Pepys?", (), "Samuel Pepys"),
    Example("What is 40 plus 7?", ("47",), "47"),
    Example("What are people from Glasgow called?", (), "Glaswegians"),
)
TWELVE = (
    *EASY,
    Example("Name a garden tool.", ("Rake",), "Spade"),
    Example("After whom is the Geiger counter named?", (), "Hans Geiger"),
    Example("What is the past tense of swim?", ("Swam",), "Swam"),
    Example("In which decade was the year 1823?", (), "The 1820s"),
    Example("In which county is Canterbury?", ("Kent",), "Kent"),
    Example("Who composed the Radetzky March?", ("Joseph Haydn",), "Johann Strauss"),
)
CHOICES = {"default": EXAMPLES, "obscure": OBSCURE, "easy": EASY, "twelve easy": TWELVE}


def greedy(model: LanguageModel, question: str) -> str:
    """Return the greedy answer, asked beside other questions."""
    with model.beside():
        return model.sample(prompts.iterative(question), 1, temperature=0.0)[0].text


def weight(model: LanguageModel, texts: Sequence[str], question: str) -> float:
    """Return the probability of what examples say where it is wrong."""
    wrong = [text for text in texts if not is_right(text, POPULAR[question], question)]
    with model.beside():
        return float(np.exp(model.log_likelihoods([prompts.iterative(question)], wrong)).sum())


def line(name: str, examples: Sequence[Example], model: LanguageModel, *, weigh: bool) -> str:
    """Return what one choice of examples gives."""
    texts = sorted({text for each in examples for text in (*each.earlier, each.answer)})
    answers: list[list[str]] = []
    weights: list[NDArray[np.float64]] = []
    for seed in ORDERS:
        order = np.random.default_rng(seed).permutation(len(examples))
        asked = model.in_form(Form.EXAMPLES, [examples[i] for i in order])  # type: ignore[call-arg]
        calls = [partial(greedy, asked, question) for question in POPULAR]
        answers.append(at_once(calls, workers=len(POPULAR)))
        if weigh:
            scoring = [partial(weight, asked, texts, question) for question in POPULAR]
            weights.append(np.array(at_once(scoring, workers=len(POPULAR))))
    right = np.mean(
        [is_right(a, POPULAR[q], q) for row in answers for a, q in zip(row, POPULAR, strict=True)]
    )
    repeated = [
        f"{question} {answer}"
        for row in answers
        for question, answer in zip(POPULAR, row, strict=True)
        if any(same_answer(answer, text) for text in texts)
        and not is_right(answer, POPULAR[question], question)
    ]
    moved = sum(
        not all(same_answer(one, other) for one, other in combinations(each, 2))
        for each in zip(*answers, strict=True)
    )
    weighed = f"{np.mean(weights):.4f} / {np.max(weights):.3f}" if weigh else "–"
    said = "; ".join(repeated) or "nothing"
    return f"| {name} | {right:.0%} | {weighed} | {moved} | {len(repeated)}: {said} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", default="smollm2")
    parser.add_argument("--greedy", action="store_true", help="weigh nothing")
    parser.add_argument("--names", default=",".join(CHOICES))
    options = parser.parse_args()
    model = open_model(options.model)
    print("| examples | right | weight: mean / most | moved | repeated |")
    print("| --- | --: | --: | --: | --- |")
    for name in options.names.split(","):
        print(line(name, CHOICES[name], model, weigh=not options.greedy), flush=True)


if __name__ == "__main__":
    main()
