"""Why one curve of repetitions returns: ``python -m benchmarks.returning_curve``.

Asked for the national instrument of Ireland, the embedded model takes over what is repeated, and
with many copies the normalised probability of the harp is near 1 again. Printed are both
probabilities by themselves, and what the model says most often; also where other texts make the
context long.
"""

from collections import Counter

import numpy as np

from core import prompts
from core.language_models.registry import open_model

QUERY, RIGHT, REPEATED = (
    "What is the national instrument of Ireland?",
    "The harp",
    "Uilleann pipes",
)
OTHER = "The guitar"
BEFORE = f"{prompts.iterative('What is the capital of France?', ['Paris'])} Paris\n\n"
DRAWS = 100


def contexts(query: str) -> dict[str, str]:
    """Return prompts by what they tell."""
    copies = {
        f"{number} copies": prompts.iterative(query, [REPEATED] * number)
        for number in (0, 1, 5, 10, 20, 30, 50, 100)
    }
    return copies | {
        f"45 copies of “{OTHER}”, then 5": prompts.iterative(query, [OTHER] * 45 + [REPEATED] * 5),
        "another question with its answer, then 5": BEFORE
        + prompts.iterative(query, [REPEATED] * 5),
    }


def main() -> None:
    model = open_model("embedded")
    print(f"| told | P({RIGHT}) | P({REPEATED}) | normalised | most often said, of {DRAWS} |")
    print("| --- | --: | --: | --: | --- |")
    for told, prompt in contexts(model.reads(QUERY)).items():
        right, repeated = np.exp(model.log_likelihoods([prompt], [RIGHT, REPEATED])[0])
        drawn = Counter(each.text for each in model.sample(prompt, DRAWS, seed=0))
        answers = ", ".join(f"{text} ({count})" for text, count in drawn.most_common(3))
        share = right / (right + repeated)
        print(f"| {told} | {right:.3f} | {repeated:.4f} | {share:.3f} | {answers} |")


if __name__ == "__main__":
    main()
