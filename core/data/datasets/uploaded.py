"""Questions in a table that somebody uploaded, as its `AnswerKey` reads them.

A JSON file has become a table by then, whose cells hold lists and objects as JSON
(`core.data.tabular.uploads`). So it is recognised by its headings, as other tables are.
"""

from collections.abc import Callable, Iterator

from core.data.datasets.answer_key import NO_QUESTIONS, AnswerKey, Cells, answer_key
from core.data.datasets.questions import (
    IDS,
    OnMalformed,
    Question,
    ignore,
    places,
    questions_from,
    with_malformed,
)
from core.data.tabular.columns import first
from core.data.tabular.uploads import Upload, UploadError


def holds_questions(upload: Upload) -> bool:
    """Say whether an upload has questions with right answers, by its headings."""
    return answer_key(upload) is not None


def uploaded_questions(
    upload: Upload,
    on_malformed: OnMalformed = "refuse",
    tell: Callable[[str], object] = ignore,
    *,
    key: AnswerKey | None = None,
    source: str = "",
) -> Iterator[Question]:
    """Yield the questions of an upload; of EVOUNA, rows that are marked improper are left out.

    `key` says where its questions are; if not given, the headings do. The rest is as of
    `core.data.datasets.questions.read_questions`, `UploadError` too; it is also raised when no
    column holds questions, or none their right answers.
    """
    key = key or answer_key(upload)
    if key is None:
        raise UploadError(NO_QUESTIONS)
    ids, place_of = first(upload, IDS), places(upload.unit)

    def make(row: tuple[int, Cells], number: int) -> Question | None:
        place, cells = row
        if key.make:  # where a dataset gives no ids, its rows are counted, whatever their lines are
            return key.make(cells, place)
        identifier = cells[ids].strip() if ids else ""
        return with_malformed(key.question_in(cells, identifier or place_of(number), source), cells)

    names = [str(name) for name in upload.table]
    columns = (upload.table[name] for name in names)
    rows: Iterator[Cells] = (
        dict(zip(names, cells, strict=True)) for cells in zip(*columns, strict=True)
    )
    numbered = zip(upload.lines.tolist(), enumerate(rows, 1), strict=True)
    return questions_from(numbered, make, on_malformed, tell, unit=upload.unit.capitalize())
