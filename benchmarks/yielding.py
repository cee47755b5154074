"""Section 3.1 on the embedded network: ``python -m benchmarks.yielding [--write]``.

Over 300 facts, what goes with the number of repetitions that turn the model: the overlap of the
question with the large principal components of the key–query products, and what else may. Takes
some minutes on one core. Printed beside it, with other shares of what counts as large.

``--write`` saves what the page ships, of the weights in use. Run it again whenever they have
changed: those of other weights are not shown.
"""

from __future__ import annotations

import argparse
import sys

from core.abstention.intervals import Interval
from core.language_models.registry import open_model
from core.studies.laboratory.yielding import FILE, MEASURES, Settings, run, written


def _print(words: str, one: Interval) -> None:
    print(f"  {words:66} {one.value:+.2f}  {one.lower:+.2f} to {one.upper:+.2f}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="save what the page ships")
    parser.add_argument("--facts", type=int, default=Settings.facts)
    parser.add_argument("--large", type=float, default=Settings.large)
    options = parser.parse_args()
    settings = Settings(facts=options.facts, large=options.large)
    found = run(open_model("embedded"), settings)
    print(found.sentence)
    print(f"\nLarge components of a head, on average: {found.components:.1f}")
    print("\nRank correlation with the repetitions, and its 95% interval")
    for name, one in found.correlations.items():
        _print(MEASURES[name], one)
    print("Of the overlap")
    _print("within relations", found.within)
    for band, (facts, one) in found.by_band.items():
        _print(f"{band}, {facts} facts", one)
    assert found.seen is not None  # the embedded model's
    print("Of exposures and overlap")
    _print("over all facts", found.seen)
    print("\nEach head’s own overlap, layer by layer")
    for layer in found.heads:
        print("  ", "  ".join(f"{value:+.2f}" for value in layer))
    if options.write:
        FILE.write_text(written(found), encoding="utf-8")
        print(f"\n{FILE.name}: {FILE.stat().st_size:,} bytes of the weights {found.revision}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
