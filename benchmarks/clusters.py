"""Do clusters raise the mutual information? ``python -m benchmarks.clusters``.

Section 4.2 of the paper says that they never do, which holds of merging a finished joint.
Algorithm 3 clusters before it conditions. Every recording of both bundled runs is read twice: with
the usual clusters, and with every different text by itself.
"""

import numpy as np
from pyarrow import parquet

from core.studies.evaluation.bundled import folders
from core.studies.evaluation.run_folder import parts_of
from core.studies.inspection.inspection import read
from core.studies.inspection.request import Reading
from core.studies.inspection.serialise import recording_from_json
from core.studies.inspection.verdict import SCORE

LEAST = 1e-9  # nats: less is rounding
APART = Reading("ratio", 1.0)


def main() -> None:
    for name, folder in folders().items():
        values = np.array(
            [
                [read(recording, reading).scores[SCORE].value for reading in (Reading(), APART)]
                for part in parts_of(folder, "recordings")
                for recording in map(
                    recording_from_json, parquet.read_table(part)["recording"].to_pylist()
                )
            ],
            float,
        )
        rise = values[:, 0] - values[:, 1]
        rise = rise[~np.isnan(rise)]
        print(
            f"{name}: clusters raise M.I. on {(rise > LEAST).sum():,} of {len(rise):,} questions, "
            f"by at most {rise.max(initial=0):.3f} nats; they lower it on {(rise < -LEAST).sum():,}"
        )


if __name__ == "__main__":
    main()
