"""Certify what is recorded: ``python -m benchmarks.recorded_policy [--write]``.

The bundled runs of a model whose file a person brings (`QWEN`) are all that is known of it here. As
`benchmarks.default_policy` does: by a hash of the question, two thirds of both runs together
certify, and the last third fixes the least sampled mass (`least_of`) and tests what was certified.

Results by every score were published of these rows before, so none can be named beforehand: all
scores and four errors are tested as one family, which shares δ. The smallest of the errors that can
be promised is, by the score that answers most. Nothing is asked.
"""

import argparse
from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from benchmarks.default_policy import TARGET, Read, example, least_of, report, save_policies
from benchmarks.recorded_model import OF_REAL, POPULAR, rows_of
from core.abstention.policy import Pipeline
from core.studies.calibration.calibration import BEST, Calibration, calibrate, read
from core.studies.evaluation import bundled
from core.studies.evaluation.rows import Row
from core.studies.evaluation.saved_run import Run
from core.studies.inspection.certificates import DECIDES, QWEN, WEIGHTED, certifies
from core.studies.inspection.verdict import enough_seen
from core.uncertainty.scores import SCORES

ERRORS = (0.05, 0.1, 0.15, 0.2)
PAID = replace(TARGET, score=BEST, targets_tried=len(ERRORS))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="make the result the default")
    options = parser.parse_args()
    ours, rest, pipeline = thirds()
    calibration = smallest_promise(example(ours, pipeline))
    policy = calibration.policy
    if policy is None or policy.score != DECIDES[QWEN]:
        raise SystemExit(f"{calibration.score}: {calibration.outcome}; `DECIDES` has another.")
    if options.write:
        save_policies(QWEN, dict.fromkeys(SCORES) | {policy.score: policy}, calibration)
    print(
        f"{policy.score}, one of {policy.scores_tried}: λ = {policy.threshold:.4f}, answers "
        f"{policy.answered} of {policy.labels}, {policy.errors} of them wrongly; least sampled "
        f"mass {pipeline.least_mass}\n{policy.sentence}"
    )
    report(rest, policy)


def thirds() -> tuple[list[Read], list[Read], Pipeline]:
    """Return the rows that certify, the others, and the pipeline of both, with its least mass."""
    runs = [Run(bundled.FOLDER / name) for name in (POPULAR, OF_REAL)]
    (pipeline,) = {run.pipeline for run in runs}
    rows = [row for run in runs for row in rows_of(run.folder)]
    ours = [row for row in rows if certifies(row.values["query"])]
    rest = [row for row in rows if not certifies(row.values["query"])]
    least = least_of(np.array([row.values["sampled_mass"] for row in rest]))
    return with_least(ours, least), with_least(rest, least), replace(pipeline, least_mass=least)


def with_least(rows: Iterable[Row], least_mass: float) -> list[Read]:
    """Return rows without the doubts of what decides nothing.

    These are all where so little was seen, and the weighted doubt: some of the questions chose its
    weights. Which answers stand is not looked at.
    """
    read = []
    for row in rows:
        enough = enough_seen(row.values["sampled_mass"], row.values["clusters"], least_mass)
        nothing = dict.fromkeys([WEIGHTED] if enough else SCORES)
        read.append(Read(replace(row, values=row.values | nothing), stands=False))
    return read


def smallest_promise(content: bytes) -> Calibration:
    """Calibrate the best score on a table for the smallest error that can be promised."""
    data = read(content, "recorded.csv")
    tries = (calibrate(data, replace(PAID, error=error)) for error in ERRORS)
    return next((each for each in tries if each.policy), calibrate(data, PAID))


if __name__ == "__main__":
    main()
