"""Curves of repetitions, and where heads look: ``python -m benchmarks.amplification [--write]``.

Measured, all in this process:

- the curve of 0 to 100 repetitions as one batched call against one call per point on the same
  runtime: at least 5 times faster, with the same numbers;
- the batched call against its bare forward passes, replayed: at most 1.5 times;
- by band of the embedded world, the mean attention that the prompt's end pays to what it is
  told, layer by layer: the mechanism of the paper's Section 3.1 on real heads.

Medians of ratios over interleaved runs; absolute times are only printed.

``--write`` measures nothing: it computes the curves that the page ships, of the weights in use,
in some seconds. Run it again whenever the weights have changed.
"""

import argparse
import statistics
import sys

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.inspection import Recorder
from benchmarks.ratios import Ratio, each, report, seconds
from core import outputs
from core.data.world.facts import Band
from core.language_models.language_model import LanguageModel
from core.language_models.registry import open_model
from core.studies.amplification.bundled import FILE, compute
from core.studies.amplification.curve import amplify
from core.studies.amplification.gallery import by_band, draw, of_fact
from core.studies.amplification.mechanism import looking

CURVES_A_BAND, ROUNDS = 2, 3
POINTS = range(101)
GAIN = Ratio("Curve of 0 to 100 repetitions: one call per point / one batched call", least=5)
OVER_PASSES = Ratio("Curve, batched / its bare forward passes", most=1.5)
RATIOS = (GAIN, OVER_PASSES)
SAME = 1e-4  # nats: single precision over some 900 tokens, summed in another order
LOOKED_AT, TOLD = 60, (1, 10)


def compare(model: LanguageModel) -> bool:
    """Print the two ratios; return whether both are as promised."""
    batched, singly, floor, difference = [], [], [], 0.0
    for case in (case for cases in by_band(CURVES_A_BAND).values() for case in cases):
        with Recorder(model.llama) as recorder:
            amplify(case, model, POINTS)
        for _ in range(ROUNDS):
            curves = []
            batched.append(seconds(lambda c=case, o=curves: o.append(amplify(c, model, POINTS))))
            floor.append(seconds(recorder.replay))
            alone = []
            singly.append(
                seconds(lambda c=case, o=alone: o.extend(amplify(c, model, [t]) for t in POINTS))
            )
            difference = max(
                difference,
                *(
                    abs(p.log_likelihood_answer - q.points[0].log_likelihood_answer)
                    for p, q in zip(curves[0].points, alone, strict=True)
                ),
            )
    middle = statistics.median
    print(f"one batched call                  {1000 * middle(batched):8.1f} ms")
    print(f"one call per point                {1000 * middle(singly):8.1f} ms")
    print(f"bare forward passes               {1000 * middle(floor):8.1f} ms")
    print(f"largest difference                {difference:8.1e} nats")
    kept = report({GAIN: each(singly, batched), OVER_PASSES: each(batched, floor)})
    return kept and difference <= SAME


def heads(model: LanguageModel) -> None:
    """Print the mean attention on what is told, by band, repetitions and layer."""
    print(
        f"\nMean attention on what is told, {LOOKED_AT} questions a band, over the heads of a layer"
    )
    for band in Band:
        cases = [of_fact(fact) for fact in draw(band, LOOKED_AT, seed=1)]
        for t in TOLD:
            found = [looking(case, model, [t])[0].on_answer.mean(axis=1) for case in cases]
            layers = "  ".join(f"{share:.2f}" for share in np.mean(found, axis=0))
            print(f"{band.value:>14}, told {t:>3} times:  {layers}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="compute what the page ships")
    options = parser.parse_args()
    model = open_model("embedded")
    if options.write:
        outputs.write(FILE, compute(model))
        print(f"{FILE.name}: {FILE.stat().st_size:,} bytes of the weights {model.revision}")
        return 0
    # Both sides of the ratios with one thread, as the model itself runs.
    with threadpool_limits(limits=1, user_api="blas"):
        kept = compare(model)
    heads(model)
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
