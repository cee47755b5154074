"""The column “pipeline” of a table: what made its scores, where it is a table of a run."""

import numpy as np
from numpy.typing import NDArray

from core.abstention.policy import pipeline_in
from core.codec import one_line
from core.data.tabular.columns import column_of, first
from core.data.tabular.uploads import Upload


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
