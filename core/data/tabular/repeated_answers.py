"""Several answers to each question out of a table: in lists, or one answer a row."""

import json
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import pandas as pd

from core.codec import list_of, one_line, quotes
from core.data.tabular.columns import columns_named, first, parse_list, parse_score, question_column
from core.data.tabular.headings import ITEM, plain_heading
from core.data.tabular.mixed_rows import settings_columns
from core.data.tabular.repeated_questions import names_a_weight
from core.data.tabular.uploads import Upload, UploadError
from core.data.thoughts import TAGS, answer_in

#: What columns are called by uqlm, lm-polygraph, the harness, Inspect, Langfuse, Phoenix and
#: others. “Answers” may be gold.
NAMES: Final[dict[str, tuple[str, ...]]] = {
    "responses": (
        *("responses", "sampled_responses", "sample_texts", "samples", "resps"),
        *("generations", "completions", "output.completion", "output.content"),
        *("attributes.output.value", "response", "output", "prediction"),
    ),
    "log_probabilities": (
        *("log_probabilities", "sample_log_probs", "log_probs", "logprobs", "log_likelihoods"),
        *("log_probability", "multiple_logprobs", "multiple_logprob", "logprob", "log_likelihood"),
    ),
    "second": ("second", "second_responses", "second_answers", "second_answer"),
    "second_log_probabilities": ("second_log_probabilities", "second_log_probs"),
    "greedy": ("greedy", "greedy_text", "greedy_texts", "greedy_response", "greedy_answer"),
}
#: Of uqlm: these are of the one response beside the sampled ones.
_OF_RESPONSE: Final = frozenset({"logprob", "logprobs"})
#: Headings besides `settings_columns` that tell apart what answered, of traces and their parts.
_OF_TRACES: Final = (
    *("name", "type", "spankind", "temperature", "providedmodelname", "attributes.llm.modelname"),
    *("input.model", "input.temperature", "input.system", "input.context"),  # beside its messages
)
#: What a question is asked on.
_ASKED_ON: Final = ("context", "contexts", "passage", "document", "article", "paragraph", "story")
#: Of traces, where no other heading says what was asked.
_ASKS: Final = ("input.messages", "input.input", "input.question", "attributes.llm.input_messages")
#: Where the text stands in what services and tracers write, from the outside in.
_INWARDS: Final = ("choices", "generations", "message", "messages", "content", "text")


class SeveralSourcesError(UploadError):
    """Answers of several models, or of several parts of a trace, stand as those to one question.

    `column` tells them apart; `values` are all that it has, in the order of the table.
    """

    def __init__(self, message: str, column: str, values: Sequence[str]) -> None:
        super().__init__(message)
        self.column, self.values = column, list(dict.fromkeys(values))


class AnswersColumnError(UploadError):
    """No heading says which column holds the answers."""


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
    upload: Upload,
    columns: Mapping[str, str | None],
    question: str | None = None,
    filters: Sequence[tuple[str, str]] = (),
) -> tuple[list[RepeatedAnswers], list[str]]:
    """Return the answers to every question of a table, and what its columns were read as.

    `columns` has the keys of `NAMES`; those that are None, and the question's, are found by their
    headings. Only the rows of the filters' values count.

    Raises `UploadError` when a column is missing, a list is none, or one question's answers are of
    several models.
    """
    places = {
        role: columns.get(role) or first(upload, [*map(plain_heading, names)])
        for role, names in NAMES.items()
    }
    if not columns.get("log_probabilities") and places["responses"]:
        sampled = plain_heading(places["responses"]) == "sampledresponses"
        names = [plain_heading(name) for name in NAMES["log_probabilities"]]
        own = [name for name in names if not (sampled and name in _OF_RESPONSE)]
        places["log_probabilities"] = first(upload, own)
    asks = question or question_column(upload) or first(upload, [*map(plain_heading, _ASKS)])
    for name in filter(None, (*places.values(), asks, *(name for name, _ in filters))):
        if name not in upload.table.columns:
            raise UploadError(f"There is no column “{one_line(name)}” in {upload.name}.")
    responses = places["responses"]
    if responses is None:
        raise AnswersColumnError(
            "No heading says which column holds the answers. Name it: a list of all answers to a "
            "question in a cell, or one answer in each row."
        )
    table = upload.table
    for name, value in filters:
        table = table[table[name] == value]
    if not len(table):
        raise UploadError(f"No row is left of {upload.name} by these filters.")
    cells = {role: table[name].tolist() for role, name in places.items() if name is not None}
    questions = table[asks].tolist() if asks else [str(i + 1) for i in range(len(table))]
    lists = [_is_list(cell) for cell in cells["responses"] if cell.strip()]
    in_lists = all(lists)
    if not in_lists and 2 * sum(lists) > len(lists):
        rest = (cell for cell in cells["responses"] if cell.strip() and not _is_list(cell))
        raise UploadError(
            f"“{one_line(responses)}” holds lists of answers, and “{one_line(next(rest))}” is "
            "none. Write a list in every cell, or one answer in each row."
        )
    if not in_lists and asks is None:
        raise UploadError(
            "Each row holds one answer, and no column says to which question. Name that column."
        )
    if not in_lists:
        for name in (*settings_columns(upload), *columns_named(upload, _OF_TRACES)):
            _refuse_several(questions, table[name].tolist(), name)
    rows = {
        role: [_items(cell, in_lists, role) for cell in column] for role, column in cells.items()
    }
    apart = [] if in_lists else [*_tell_apart(upload, table, questions)]
    keys = zip(questions, *(table[name] for name in apart), strict=True)
    of_question: dict[Hashable, list[int]] = {}
    for row, key in enumerate(keys):
        of_question.setdefault(row if in_lists else key, []).append(row)
    read = {"question": asks, **places}
    reading = [f"{role}: “{one_line(name)}”" for role, name in read.items() if name]
    every = [
        _together(questions[at[0]], {role: [rows[role][i] for i in at] for role in rows})
        for at in of_question.values()
    ]
    notes = [f"Read: {list_of(reading, most=6)}; {'lists' if in_lists else 'one answer a row'}."]
    notes += [
        f"An answer counts once, whatever its “{one_line(name)}” is: write it as often as it came."
        for name in upload.headings
        if name not in read.values() and names_a_weight(name) and table[name].nunique() > 1
    ]
    if [each.question for each in every] != [questions[at[0]] for at in of_question.values()]:
        notes.append("Of a list of messages, the question is the user’s last.")
    if apart:
        notes.append(f"One question with several values of {quotes(apart)} is several.")
    ends = [
        end for end in TAGS.values() if any(end in cell for own in cells.values() for cell in own)
    ]
    if ends:
        notes.append(f"Of an answer, what follows {quotes(ends)} counts.")
    if empty := sum(not text.strip() for each in every for text in each.responses):
        notes.append(f"Empty answers, which do not count: {empty:,}.")
    return every, notes


def _tell_apart(upload: Upload, table: pd.DataFrame, questions: list[str]) -> Iterator[str]:
    """Yield the columns by which a question of the same words is another: passages, and ids.

    An id tells if it has several rows, all of one question: it counts neither rows nor trials.
    """
    for name in upload.headings:
        values, plain = table[name].tolist(), plain_heading(name)
        pairs = len({*zip(questions, values, strict=True)})
        is_id = ITEM.fullmatch(plain) and len({*values}) == pairs < len(values)
        if (is_id or plain in _ASKED_ON) and pairs > len({*questions}):
            yield name


def _is_list(cell: str) -> bool:
    """Whether a cell holds a list of answers, and not the messages of one."""
    items = parse_list(cell)
    messages = [item.startswith("{") and '"role"' in item for item in items or ()]
    return items is not None and not (messages and all(messages))


def _refuse_several(questions: list[str], values: list[str], name: str) -> None:
    """Refuse answers of several models as one sample; epochs are what is put together."""
    if plain_heading(name) == "epoch":
        return
    of_question: dict[str, str] = {}
    for text, value in zip(questions, values, strict=True):
        other = of_question.setdefault(text, value)
        if other != value:
            raise SeveralSourcesError(
                f"The answers to one question have several values of “{one_line(name)}”, as "
                f"“{one_line(other)}” and “{one_line(value)}”, and nothing says which of them are "
                "one model’s, asked in one way. Keep the rows of one value.",
                name,
                values,
            )


def _items(cell: str, in_lists: bool, role: str) -> list[str]:
    """Return what a cell holds; the harness puts lists into a list of one."""
    items = parse_list(cell)
    if items is None or not in_lists:
        return [] if in_lists and not cell.strip() else [cell]
    if role.endswith("probabilities"):
        return items
    inner = parse_list(items[0]) if len(items) == 1 else None
    return items if inner is None else inner


def _together(question: str, cells: Mapping[str, list[list[str]]]) -> RepeatedAnswers:
    texts = {role: [item for each in cells[role] for item in each] for role in cells}
    second = texts.get("second")
    greedy = next(filter(None, texts.get("greedy", [])), None)
    return RepeatedAnswers(
        _question_of(question),
        [_answer_of(text) for text in texts["responses"]],
        _numbers(texts.get("log_probabilities")),
        None if second is None else [_texts_of(text) for text in second],
        _numbers(texts.get("second_log_probabilities")),
        None if greedy is None else _answer_of(greedy),
    )


def _question_of(text: str) -> str:
    """Return what the user says last in messages; any other text as it is."""
    try:
        value = json.loads(text) if text.lstrip()[:1] in ("[", "{") else None
    except (ValueError, RecursionError):
        return text
    messages = value.get("messages", value.get("input")) if isinstance(value, dict) else value
    if not isinstance(messages, list) or not all(isinstance(each, dict) for each in messages):
        return text
    last = None
    for message in messages:
        nested = message.get("message")
        each = nested if isinstance(nested, dict) else message
        if each.get("role", each.get("message.role")) == "user":  # Phoenix writes the longer name
            last = each.get("content", each.get("message.content"))
    if isinstance(last, list):
        parts = [part.get("text") for part in last if isinstance(part, dict)]
        last = "\n".join(part for part in parts if isinstance(part, str))
    return last if isinstance(last, str) and last.strip() else text


def _texts_of(text: str) -> list[str] | str:
    items = parse_list(text)
    return [_answer_of(item) for item in items] if items else _answer_of(text)


def _answer_of(text: str) -> str:
    """Return an answer's own text behind its thoughts."""
    return answer_in(_text_of(text))


def _text_of(text: str) -> str:
    """Return an answer's own text: out of a list of one, or out of a message or a reply.

    Raises `UploadError` when it is an object that holds its text nobody knows where, a list of a
    text and a number, or no answer.
    """
    items = parse_list(text)
    inner = items[-1] if items and (len(items) == 1 or not _is_list(text)) else text
    pair = parse_list(inner)
    if pair is not None and len(pair) == 2 and pair[1].casefold() in ("true", "false"):
        raise UploadError(
            "The answers are log-likelihoods of choices, as the harness writes them for multiple "
            "choice. Nothing was answered several times."
        )
    numbers = [parse_score(each) is not None for each in pair or ()]
    content: str | None = inner
    if numbers == [False, True]:
        content = None
    elif inner.lstrip().startswith("{"):
        try:
            content = _inwards(json.loads(inner))
        except (ValueError, RecursionError):
            return inner
    if content is None:
        raise UploadError(
            f"An answer is no text, “{one_line(inner)}”, and nothing says where its text stands. "
            "Put the texts into a column of their own, and name it."
        )
    return content


def _inwards(value: Any) -> str | None:
    while not isinstance(value, str):
        if isinstance(value, list) and len(value) == 1:
            value = value[0]
        elif isinstance(value, dict) and (key := next(filter(value.__contains__, _INWARDS), None)):
            value = value[key]
        else:
            return None
    return value


def _numbers(texts: list[str] | None) -> list[float] | None:
    """Return log-probabilities of whole answers; those of tokens are summed."""
    if texts is None:
        return None
    return [sum(_number(item, text) for item in (parse_list(text) or [text])) for text in texts]


def _number(item: str, text: str) -> float:
    """Return a log-probability, or that of a token with its text."""
    if item.startswith("{"):
        try:
            item = str(json.loads(item)["logprob"])
        except (ValueError, LookupError, RecursionError):
            item = ""
    number = parse_score(item)
    if number is None:
        raise UploadError(f"“{one_line(text)}” is no log-probability.")
    return number
