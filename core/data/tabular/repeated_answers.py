"""Several answers to each question out of a table: in lists, or one answer a row."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from core.codec import list_of, one_line
from core.data.tabular.columns import first, parse_list, parse_score, question_column
from core.data.tabular.headings import plain_heading
from core.data.tabular.uploads import Upload, UploadError

#: What columns are called: uqlm's, lm-polygraph's, the harness's among them. “Answers” may be gold.
NAMES: Final[dict[str, tuple[str, ...]]] = {
    "responses": (
        *("responses", "sampled_responses", "sample_texts", "samples", "resps"),
        *("generations", "completions", "response", "output", "prediction"),
    ),
    "log_probabilities": (
        *("log_probabilities", "sample_log_probs", "log_probs", "logprobs", "log_likelihoods"),
        *("log_probability", "logprob", "log_likelihood"),
    ),
    "second": ("second", "second_responses", "second_answers", "second_answer"),
    "second_log_probabilities": ("second_log_probabilities", "second_log_probs"),
    "greedy": ("greedy", "greedy_text", "greedy_texts", "greedy_response", "greedy_answer"),
}


@dataclass(frozen=True)
class RepeatedAnswers:
    """The answers to one question, as `core.uncertainty.own_answers.score` takes them."""

    question: str
    responses: list[str]
    log_probabilities: list[float] | None
    second: list[str | list[str]] | None
    second_log_probabilities: list[float] | None
    greedy: str | None


def repeated_answers(
    upload: Upload, columns: Mapping[str, str | None], question: str | None = None
) -> tuple[list[RepeatedAnswers], list[str]]:
    """Return the answers to every question of a table, and what its columns were read as.

    Parameters
    ----------
    columns : mapping of str to (str or None)
        By the keys of `NAMES`; found by their headings where None.
    question : str, optional
        The column of questions; found likewise.

    Raises
    ------
    UploadError
        When a column is missing, or a list is none.
    """
    places = {
        role: columns.get(role) or first(upload, [*map(plain_heading, names)])
        for role, names in NAMES.items()
    }
    asks = question or question_column(upload)
    for name in filter(None, (*places.values(), asks)):
        if name not in upload.table.columns:
            raise UploadError(f"There is no column “{one_line(name)}” in {upload.name}.")
    responses = places["responses"]
    if responses is None:
        raise UploadError(
            "No column holds answers. Name it: a list of all answers to a question in a cell, or "
            "one answer in each row."
        )
    cells = {role: upload.table[name].tolist() for role, name in places.items() if name is not None}
    number = len(upload.table)
    questions = upload.table[asks].tolist() if asks else [str(i + 1) for i in range(number)]
    in_lists = any(parse_list(cell) is not None for cell in cells["responses"])
    if not in_lists and asks is None:
        raise UploadError(
            "Each row holds one answer, and no column says to which question. Name that column."
        )
    rows = {role: [_items(cell, in_lists) for cell in column] for role, column in cells.items()}
    of_question: dict[str, list[int]] = {}
    for row, text in enumerate(questions):
        of_question.setdefault(f"{row}\0{text}" if in_lists else text, []).append(row)
    reading = [f"{role}: “{one_line(name)}”" for role, name in places.items() if name]
    return [
        _together(questions[at[0]], {role: [rows[role][i] for i in at] for role in rows})
        for at in of_question.values()
    ], [f"Read: {list_of(reading)}; {'lists' if in_lists else 'one answer a row'}."]


def _items(cell: str, in_lists: bool) -> list[str]:
    """Return what a cell holds; the harness puts lists into a list of one."""
    items = parse_list(cell)
    if items is None:
        return [] if in_lists and not cell.strip() else [cell]
    inner = parse_list(items[0]) if len(items) == 1 else None
    return items if inner is None else inner


def _together(question: str, cells: Mapping[str, list[list[str]]]) -> RepeatedAnswers:
    texts = {role: [item for each in cells[role] for item in each] for role in cells}
    second = texts.get("second")
    greedy = next(filter(None, texts.get("greedy", [])), None)
    return RepeatedAnswers(
        question,
        [_text_of(text) for text in texts["responses"]],
        _numbers(texts.get("log_probabilities")),
        None if second is None else [parse_list(text) or text for text in second],
        _numbers(texts.get("second_log_probabilities")),
        greedy,
    )


def _text_of(text: str) -> str:
    """Return a text out of a list of one, as the harness keeps each sample."""
    items = parse_list(text)
    return items[0] if items is not None and len(items) == 1 else text


def _numbers(texts: list[str] | None) -> list[float] | None:
    """Return log-probabilities of whole answers; those of tokens are summed."""
    if texts is None:
        return None
    sums = []
    for text in texts:
        numbers = [parse_score(item) for item in parse_list(text) or [text]]
        if None in numbers:
            raise UploadError(f"“{one_line(text)}” is no log-probability.")
        sums.append(sum(number for number in numbers if number is not None))
    return sums
