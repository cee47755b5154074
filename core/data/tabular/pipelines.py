"""The column “pipeline” of a table: what made its scores, where it is a table of a run."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from core.abstention.policy import pipeline_in
from core.codec import one_line
from core.data.tabular.columns import column_of, first
from core.data.tabular.headings import plain_heading
from core.data.tabular.label_meanings import own_labels
from core.data.tabular.uploads import Upload, UploadError
from core.uncertainty.scores import SCORES

#: The scores that serve the answer in the column “answer” of a run: that of mutual information.
_OF_ANSWER = ("mutual_information", "certified_mutual_information", "weighted_doubt")


def pipelines_of(upload: Upload) -> list[str]:
    """Return every different text of the column "pipeline", if there is one."""
    name = first(upload, ["pipeline"])
    return [] if name is None else column_of(upload, name).texts


def is_of_runs(upload: Upload) -> bool:
    """Return whether every row names a pipeline, as the tables of runs do.

    Anybody may call a column so: texts that are no pipeline of ours say nothing of its scores.
    """
    return all(map(pipeline_in, texts := pipelines_of(upload))) and bool(texts)


def pipeline_of(upload: Upload, rows: NDArray[np.int64]) -> tuple[str, list[str]]:
    """Return the pipeline that some rows name, "" if none or several; and complaints."""
    name = first(upload, ["pipeline"])
    if name is None:
        return "", []
    texts = {text.strip() for text in column_of(upload, name)[rows]}
    if len(texts) == 1:
        text = texts.pop()
        return text if pipeline_in(text) else "", []
    return "", [
        f"“{one_line(name)}” names {len(texts):,} different pipelines, whose scores cannot be "
        "compared; upload each by itself."
    ]


def check_labels_of_run(upload: Upload, labels: Mapping[str, str]) -> None:
    """Refuse labels of other answers than a run's score serves, and a run's rows as it keeps them.

    `labels`: by score, the column that says whether answers are right. Raises `UploadError`.
    """
    if {f"{score}{end}" for score in _OF_ANSWER for end in ("_raw", "_exact")} <= {*upload.table}:
        raise UploadError(
            "These are the rows of a run as it keeps them: “…_correct” is by token F1 there, and "
            "nothing says which rows failed, or chose a score’s weights. Take those of “Calibrate "
            "on these rows” on Evaluation, or of `evaluate --out FOLDER --labelled FILE`."
        )
    for score, label in labels.items() if is_of_runs(upload) else ():
        judged = {name for name in SCORES if label in own_labels(upload, name).values()}
        judged = judged or {*_OF_ANSWER}
        if score in {*SCORES} - judged and not {score, *judged} <= {*_OF_ANSWER}:
            raise UploadError(
                f"“{one_line(label)}” judges other answers than “{score}” serves, so nothing would "
                f"be promised of these. Choose labels of its own, as “{score}_correct” has them, "
                "or another score."
            )


def other_answers(upload: Upload, score: str) -> str:
    """Say that a run's column “answer” is not what a score serves; "" if that is in the table."""
    names = first(upload, [plain_heading(f"{score}_answer")]), first(upload, ["answer"])
    is_own = score in _OF_ANSWER or score not in SCORES or names[0] is not None
    if is_own or names[1] is None or not is_of_runs(upload):
        return ""
    return (
        f"This is decided of {SCORES[score].symbol}’s answers: in the table of a run, "
        f"“{one_line(names[1])}” has {SCORES[_OF_ANSWER[0]].symbol}’s."
    )
