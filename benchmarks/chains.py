"""What longer chains add: ``python -m benchmarks.chains [--facts N]``.

The paper's experiments take pairs of answers. Here the mutual information of two, three and four
answers ranks the wrong answers of the embedded model on the same questions, as many of each band of
the world: whether a further answer finds more of them, and at what cost. Takes some minutes.
"""

import argparse

import numpy as np

from core.abstention.resampled_measures import compare
from core.data.world.facts import Band, Fact
from core.data.world.grading import is_right
from core.language_models.language_model import LanguageModel
from core.language_models.registry import open_model
from core.studies.amplification.gallery import draw
from core.studies.inspection.inspection import read
from core.studies.inspection.recorder import record, usual_request
from core.studies.laboratory.chains import LONGEST, ChainScores, ChainsSettings, run


def asked(model: LanguageModel, fact: Fact) -> tuple[tuple[ChainScores, ...], bool]:
    """Return Algorithm 3 by length, and whether the answer that M.I. serves is right."""
    recording = record(usual_request(fact.question, model.capabilities), model)
    found = run(recording, model, ChainsSettings(longest=LONGEST, chains=0))
    return found.scored, is_right(read(recording).scores["mutual_information"].answer, fact)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--facts", type=int, default=30, help="of each band")
    options = parser.parse_args()
    model = open_model("embedded")
    facts = [fact for band in Band for fact in draw(band, options.facts, seed=2)]
    rows, right = zip(*(asked(model, fact) for fact in facts), strict=True)
    correct = np.array(right)
    values = np.array([[one.value for one in scored] for scored in rows])  # (questions, lengths)
    doubts = {f"{n} answers": values[:, n - 2] for n in range(2, LONGEST + 1)}
    places = np.arange(len(facts))
    found = compare(doubts, dict.fromkeys(doubts, correct), places, "2 answers")
    print(f"{len(facts)} questions, {int((~correct).sum())} answered wrongly: AUROC of M.I.")
    for place, (name, one) in enumerate(found.values.items()):
        costs = [scored[place].cost for scored in rows]
        print(f"  {name}  {one.value:.3f} ({one.lower:.3f} to {one.upper:.3f})")
        if less := found.differences.get(name):
            span = f"{less.lower:+.3f} to {less.upper:+.3f}"
            print(f"    2 answers less {name}: {less.value:+.3f} ({span})")
        print(
            f"    M.I. {values[:, place].mean():.3f} nats on average; "
            f"{np.mean([c.prompts for c in costs]):.0f} prompts and "
            f"{1000 * np.mean([c.seconds for c in costs]):.0f} ms more"
        )


if __name__ == "__main__":
    main()
