"""Section 3.1 on the embedded network: ``python -m benchmarks.yielding [--large SHARE]``.

Over 300 facts, what goes with the number of repetitions that turn the model: the overlap of the
question with the large principal components of the key–query products, and what else may. Takes
some minutes on one core. Printed beside it, with other shares of what counts as large.
"""

import argparse

from core.abstention.intervals import Interval, rank_correlation
from core.language_models.registry import open_model
from core.reports.laboratory.yielding import sentence
from core.studies.laboratory.yielding import MEASURES, YieldingSettings, run


def _print(words: str, one: Interval) -> None:
    print(f"  {words:66} {one.value:+.2f}  {one.lower:+.2f} to {one.upper:+.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--facts", type=int, default=YieldingSettings.facts)
    parser.add_argument("--large", type=float, default=YieldingSettings.large)
    options = parser.parse_args()
    settings = YieldingSettings(facts=options.facts, large=options.large)
    found = run(open_model("embedded"), settings)
    print(sentence(found))
    print(f"\nLarge components of a head, on average: {found.components:.1f}")
    print("\nRank correlation with the repetitions, and its 95% interval")
    for name, one in found.correlations.items():
        _print(MEASURES[name], one)
    print("Of the overlap")
    _print("within relations", found.within)
    for band, (facts, one) in found.by_band.items():
        _print(f"{band}, {facts} facts", one)
    print("Of exposures and overlap")  # whether training puts a fact there
    exposures, overlap = found.of("exposures"), found.of("overlap")
    _print("over all facts", rank_correlation(exposures, overlap, seed=settings.seed))
    print("\nEach head’s own overlap, layer by layer")
    for layer in found.heads:
        print("  ", "  ".join(f"{value:+.2f}" for value in layer))


if __name__ == "__main__":
    main()
