"""What Evaluation shows of labels is a look at them: whoever sees several filters chooses one.

The rule is that of `core.abstention.ledger`.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from core.abstention.ledger import Look, look, related_looks
from core.codec import count_of, one_line
from core.data.tabular.fingerprints import of_contents, of_questions
from core.studies.evaluation.bundled import FOLDER
from core.studies.evaluation.results import Results
from core.studies.inspection.verdict import SCORE
from core.uncertainty.scores import SCORES

GROWTH: Final = 2  # of a run that goes on, from one look to the next


def view(
    results: Results, earlier: Sequence[Look], target: tuple[float, float] | None = None
) -> Look | None:
    """Return the look that is taken by showing results: of these rows with these labels.

    A run that goes on is looked at again and again, and whoever sees it may stop it when its
    numbers look good. Its first view costs a place more, and it is a new look when its rows have
    doubled: so simulations keep the promise (`tests/studies/calibration/test_delta_spending.py`).
    A bundled run shown whole is none: everybody sees it, and nothing was chosen.

    `target`: the error and the confidence of thresholds that are shown, where others were before.
    """
    if not len(results) or (target is None and _is_as_bundled(results)):
        return None
    shown = tuple(results.scores or SCORES)
    rows = of_questions(results.queries) | results.correct[shown[0]].astype(np.uint64)
    is_watched = results.run.manifest["ended"] is None and target is None
    related = related_looks(rows, earlier) if is_watched else ()
    if is_watched:
        for each in related:
            before = max(each.number, len(each.rows))
            grows = len(rows) < GROWTH * before and np.isin(each.rows, rows).all()
            if each.is_view and grows:
                return each
    setting = hashlib.blake2b(f"evaluation {target}".encode(), digest_size=16)
    setting.update(np.sort(rows).tobytes())
    name = one_line(str(results.run.manifest["questions"]["name"]))
    about = ", ".join(("shown", count_of(len(results), "row"), name))
    answer = f"{SCORE}_answer"  # the one in the table that is calibrated on
    answers = results.texts(answer) if answer in results.table.column_names else None
    doubts = {name: results.doubts[name] for name in shown}
    cells, orders = of_contents(doubts, results.correct, results.queries, answers)
    new = look(
        *(setting.hexdigest(), about, rows, earlier), cells=cells, orders=orders, view_of=shown
    )
    is_first = not any(each.is_view and np.isin(each.rows, rows).all() for each in related)
    return replace(new, place=new.place + 1) if is_watched and is_first else new


def _is_as_bundled(results: Results) -> bool:
    run, number = results.run, results.run.manifest["questions"]["number"]
    chosen = results.match != "same_answer" or results.served or len(results) < number
    return run.folder.parent == FOLDER and not chosen
