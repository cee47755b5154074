"""Related scores beside mutual information: ``python -m benchmarks.related [--facts N]``.

On the same questions of the embedded world, as many of each band: how well every score finds wrong
answers, the two-stage test at every threshold, and whether the squared error of the model's
probabilities is what V̂(y|x) says. Takes a minute or two.
"""

import argparse

from core.data.world.facts import Band
from core.language_models.registry import open_model
from core.reports.laboratory.related import sentence
from core.studies.amplification.gallery import draw
from core.studies.laboratory.related import COMPARED, EXCEEDED, run


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--facts", type=int, default=60, help="of each band")
    options = parser.parse_args()
    facts = [fact for band in Band for fact in draw(band, options.facts, seed=2)]
    found = run(facts, open_model("embedded"))
    print(sentence(found))
    print("\nAUROC for wrong answers, with its 95% interval; M.I. less the score")
    for name, words in COMPARED.items():
        one, less = found.comparison.values[name], found.comparison.differences.get(name)
        lost = f"{less.value:+.3f} ({less.lower:+.3f} to {less.upper:+.3f})" if less else ""
        print(f"  {words:48} {one.value:.3f} ({one.lower:.3f} to {one.upper:.3f})  {lost}")
    print("\nThe two stages by threshold; and with a single candidate tested like several")
    for (least, ours), (_, literal) in zip(
        found.by_threshold(), found.by_threshold(1), strict=True
    ):
        print(f"  {least:<6g} {ours:.3f}  {literal:.3f}")
    print("\nSecond-order calibration: V̂, and the mean squared error of the probabilities")
    for one in (*found.calibration(), found.overall):
        print(
            f"  {one.answers:5} answers  {one.promised:+.4f}  {one.error.value:.4f} "
            f"({one.error.lower:.4f} to {one.error.upper:.4f})"
        )
    print(
        f"{found.beyond:.0%} of the answers err by more than {1 / EXCEEDED:g} times V̂, and "
        f"{EXCEEDED:.0%} may."
    )


if __name__ == "__main__":
    main()
