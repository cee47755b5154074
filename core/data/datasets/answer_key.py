"""Where a table has questions, and what counts as right there.

Headings say it, for other people's files by `SHAPES`, or a person says it. What was read is put
into words (`AnswerKey.sentences`), so that it can be checked before anything is asked.
"""

import json
import re
import string
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

import pyarrow as pa
from pyarrow import compute

from core.codec import one_line, quotes
from core.data.datasets.natural_questions import ambigqa_question
from core.data.datasets.questions import IDS, Question, question_of
from core.data.datasets.triviaqa import judged_question, official_question
from core.data.tabular.columns import (
    Cell,
    ColumnKind,
    column_of,
    columns_named,
    first,
    kinds,
    parse_list,
    question_column,
)
from core.data.tabular.headings import GOLD_ANSWERS, SOURCES, is_question_heading, plain_heading
from core.data.tabular.label_meanings import display
from core.data.tabular.label_words import RIGHT, WRONG, affirmation_is_right
from core.data.tabular.rows import as_text
from core.data.tabular.suggestions import label_columns
from core.data.tabular.uploads import Upload, UploadError
from core.uncertainty.same_answer import is_right

Cells = Mapping[str, str]
Make = Callable[[Cells, int], Question | None]

NO_QUESTIONS: Final = (
    "The file has no column of questions with one of right answers; say which they are, or call "
    "them “question” and “answers”."
)
OWN_READER: Final = (
    "The file is read as its publisher describes it, with the groups and the right answers that it "
    "has."
)
NO_GROUP: Final = ""
RESULT: Final = "#### "  # before what counts, at the end of the way to it
_SEPARATED: Final = frozenset({"CSV", "TSV", "Excel"})  # of which a cell cannot hold a list
LETTERS: Final = string.ascii_uppercase
MOST_CHOICES: Final = len(LETTERS)
_FEW: Final = 12  # different right answers, which may be letters or numbers of choices
#: Columns of one choice each: “A”, or “options.A”.
_CHOICE: Final = re.compile(r"(?:(?:options?|choices?)[._ ]?)?([A-Z])")
#: A column with a list of them.
_CHOICES: Final = ("choices.text", "choices", "options", "question.choices", "mc1targets.choices")
_LETTERS: Final = ("choices.label", "question.choices.label")
#: Columns that say that a question has no right answer, and whether by a yes.
_UNANSWERABLE: Final = {
    **dict.fromkeys(("isimpossible", "unanswerable", "isunanswerable"), True),
    **dict.fromkeys(("answerable", "isanswerable"), False),
}
_TRUTHS: Final = {"true": ["yes", "true"], "false": ["no", "false"]}
_WORD: Final = re.compile(r"\w+")
#: Keys of an object that stand for an answer.
_KEYS: Final = ("text", "value", "answer", "answers", "aliases")
#: What says in a number how right an answer is, or how often it was given.
_WEIGHT: Final = re.compile("(?i)score|weight|confidence|prob|correct|right|label|count|votes?$")
_ALONE: Final = "Write the right answers alone."
#: Texts under one of them, as Python prints them into a CSV.
_PRINTED: Final = re.compile(r"'(?:text|value|answer|answers|aliases)': (?:array\()?(\[[^\]]*\])")
#: What promptfoo expects of an output; other kinds of test are no answers.
_EXPECTED: Final = re.compile(
    r"\s*(?:(i?equals|i?contains(?:-any)?)|[a-z][a-z-]{1,30}[(:].*|not-[a-z-]+|i?contains-[a-z]+|"
    r"is-[a-z-]+|llm-rubric|model-graded-[a-z-]+|context-[a-z]+|starts-with|regex|similar|"
    r"javascript|python|factuality|answer-relevance|rouge-n|bleu|levenshtein|latency|cost|"
    r"perplexity|classifier|moderation|g-eval|select-best|webhook):"
)
_TESTS: Final = frozenset({"equals", "iequals", "contains", "icontains"})
_PARTS_OF_A_TEST: Final = frozenset({"type", "value", "threshold", "weight", "metric", "transform"})


@dataclass(frozen=True)
class AnswerKey:
    """Where a table has questions and their right answers."""

    question: str  # the column of questions
    answers: tuple[str, ...]  # the columns of right answers
    group: str = NO_GROUP  # the column of groups; `NO_GROUP` for none
    separator: str = ""  # what separates the answers in a cell that is no list; "" for nothing
    # Columns of choices, which belong to the question: one with lists, or one for each letter.
    choices: tuple[str, ...] = ()
    letters: str = ""  # the column with the lists of their letters, if there is one
    # The number of the first choice, where right answers are numbers of choices.
    first_choice: int | None = None
    # Whether every right answer is a letter or a number of a choice, and they are no texts.
    are_signs: bool = False
    # The column that says that a question has no right answer, if there is one.
    unanswerable: str = ""
    has_reasons: bool = False  # whether every answer ends in `RESULT` and what counts
    # Whether every answer is "true" or "false", which "yes" and "no" are, too.
    is_boolean: bool = False
    context: str = ""  # the column of passages that an answer is to be drawn from, if there is one
    unused: tuple[str, ...] = ()  # columns that are not read
    make: Make | None = None  # what reads a row, in a shape of its own

    @property
    def sentences(self) -> tuple[str, ...]:
        """Which column means what, in words."""
        lines = [f"Question: {quotes([self.question])}; right: {quotes(self.answers)}."]
        if self.choices:
            lines.append(f"The choices in {quotes(self.choices)} belong to the question.")
        if self.first_choice is not None:
            lines.append(
                f"A right answer may be a choice’s number; the first is {self.first_choice}."
            )
        if self.has_reasons:
            lines.append(f"Of a right answer, what follows “{RESULT.strip()}” counts.")
        if self.separator:
            lines.append(f"{quotes([self.separator])} separates right answers.")
        if self.unanswerable:
            lines.append(f"{quotes([self.unanswerable])} says where no answer is right.")
        if self.context:
            lines.append(f"{quotes([self.context])} stands in front of each question.")
        if self.group:
            lines.append(f"Group: {quotes([self.group])}.")
        return (*lines, f"Columns not used: {quotes(self.unused) if self.unused else 'none'}.")

    def question_in(self, row: Cells, id: str, source: str = "") -> Question:
        """Return the question of a row; `ValueError` says why there is none."""
        query, answers = self._parts_of(row)
        context = row[self.context].strip() if self.context else ""
        if self.context and not context:
            raise ValueError(f"there is nothing in {quotes([self.context])}.")
        question = question_of(
            id=id,
            query=query,
            answers=answers or [],
            source=(row[self.group] if self.group else "") or source,
            unanswerable=answers is None,
        )
        return replace(question, context=context)

    def comparison_of(self, row: Cells) -> tuple[str, tuple[str, ...]]:
        """Return the question of a row and every name of a right answer, none where none is right.

        The question may be missing.

        Raises `ValueError` when there is no right answer to compare with, or “N/A”: the sentence
        says why.
        """
        query, answers = self._parts_of(row)
        if answers is not None:
            answers = [[name for name in names if not _is_missing(name)] for names in answers]
        named = question_of(
            id="-", query=query or "-", answers=answers or [], unanswerable=answers is None
        )
        return named.query if query else "", named.names

    def _parts_of(self, row: Cells) -> tuple[str, list[list[str]] | None]:
        choices = self._choices_of(row)
        query = _query_in(row[self.question]) if self.question else ""
        if choices:
            query += "".join(f"\n{letter}: {text}" for letter, text in choices.items())
        return query, self._answers_of(row, choices, query)

    def _answers_of(
        self, row: Cells, choices: Mapping[str, str], query: str
    ) -> list[list[str]] | None:
        """Return the right answers, each by its names; None where the file says none is."""
        if self.unanswerable and (word := row[self.unanswerable].strip().casefold()):
            if word not in RIGHT | WRONG:
                raise ValueError(f"{quotes([self.unanswerable])} says neither yes nor no.")
            if (word in RIGHT) == _UNANSWERABLE[plain_heading(self.unanswerable)]:
                return None
        cells = [row[name] for name in self.answers]
        if choices:
            right = [self._names_of(name, choices) for name in _right_choices(cells[0], choices)]
            _refuse_alike(right, choices, query)
            return right
        parts = [_parts(cell) for cell in cells]
        if all(part == [] for part in parts):
            return None
        return [
            names
            for cell, part in zip(cells, parts, strict=True)
            for names in (self._plain(cell) if part is None else part)
        ]

    def _plain(self, cell: str) -> list[list[str]]:
        if self.has_reasons:
            return [[cell.rpartition(RESULT)[2]]]
        if self.is_boolean:
            return [_TRUTHS[cell.strip().casefold()]] if cell.strip() else []
        if plain_heading(self.answers[0]) == "expected" and (test := _EXPECTED.match(cell)):
            return [[cell[test.end() :]]] if test[1] else []
        return [[part] for part in (cell.split(self.separator) if self.separator else [cell])]

    def _choices_of(self, row: Cells) -> dict[str, str]:
        """Return the choices of a row by their letters."""
        if len(self.choices) > 1:
            return {_letter(name): row[name] for name in self.choices if row[name].strip()}
        if not self.choices:
            return {}
        pairs = [_choice(part) for part in parse_list(row[self.choices[0]]) or []]
        letters = (parse_list(row[self.letters]) if self.letters else None) or []
        if len(letters) != len(pairs):
            letters = [letter or LETTERS[at] for at, (letter, _) in enumerate(pairs[:MOST_CHOICES])]
        return dict(zip(letters, (text for _, text in pairs), strict=False))

    def _names_of(self, cell: str, choices: Mapping[str, str]) -> list[str]:
        """Return the names of the choice that is meant by its letter, its text or its number."""
        name, letters = cell.strip(), list(choices)
        text = next((key for key, text in choices.items() if text.strip() == name), None)
        sign = name if name in choices else None
        if self.first_choice is not None and sign is None and name.isdecimal():
            at = int(name) - self.first_choice
            sign = letters[at] if 0 <= at < len(letters) else None
        if name and text and sign and text != sign and not self.are_signs:
            raise ValueError(
                f"the right answer {display(name)} is the text of one choice, and the letter or "
                "the number of another."
            )
        letter = sign or text or name
        if name and letter not in choices:
            raise ValueError(f"the right answer {display(name)} is none of the choices.")
        return [choices[letter], letter] if name else []


def _refuse_alike(right: list[list[str]], choices: Mapping[str, str], query: str) -> None:
    """Raise `ValueError` where a choice that is wrong would be judged right."""
    names = [name for each in right for name in each]
    words = {word for name in names for word in _words(name)}
    for letter, text in choices.items():
        if letter not in names and any(
            not words.isdisjoint(_words(one)) and is_right(one, names, query)
            for one in (text, letter)
        ):
            raise ValueError(
                f"the choice {letter}, {display(text)}, cannot be told from the right answer, "
                f"{display(right[0][0])}."
            )


def _words(text: str) -> set[str]:
    """Return words of which texts that are judged alike share one; "0" for any number or script.

    Most choices share none, and to judge one takes a millisecond.
    """
    return {
        word if word.isascii() and word.isalpha() else "0"
        for word in _WORD.findall(text.casefold())
    }


def _is_missing(name: object) -> bool:
    return isinstance(name, str) and name.strip().casefold() in ("n/a", "#n/a", "nan")


def answer_key(
    upload: Upload,
    *,
    question: str | None = None,
    answers: str | None = None,
    group: str | None = None,
    separator: str | None = None,
    context: str | None = None,
) -> AnswerKey | None:
    """Return where a table has questions and right answers; None if one is missing.

    `question, answers, group, separator`: what a person says; of the rest, headings and cells do.
    `context`: nothing but a person says it.

    Raises `UploadError` when a column does not exist.
    """
    names = [str(name) for name in upload.table]
    for name in (question, answers, group, context):
        if name and name not in names:
            raise UploadError(
                f"There is no column “{one_line(name)}” in this file; choose another one."
            )
    if question is None and answers is None and (key := _dataset_key(upload)):
        if (group, separator, context) != (None, None, None):
            raise UploadError(
                f"{OWN_READER} Leave out group, separator and context, or name the columns of "
                "questions and of right answers, too."
            )
        return key
    shape = next((s for s in SHAPES if len(columns_named(upload, s)) == len(s)), ())
    right = tuple(columns_named(upload, shape)[1:])
    if question is None:
        asks = columns_named(upload, shape)[0] if shape else question_column(upload)
        question = asks if shape or (asks and is_question_heading(asks)) else None
    if answers is not None:
        right = (answers,)
    elif not right:
        gold = next((n for n in columns_named(upload, GOLD_ANSWERS) if n != question), None)
        right = (gold,) if gold and not _is_judged(upload, gold) else ()
    if not question or not right:
        return None
    if group is None:
        # An address is a source, too, of which each row has one.
        sources = columns_named(upload, SOURCES)
        group = next((n for n in sources if not upload.table[n].iloc[0].startswith("http")), "")
    key = AnswerKey(question, right, group, context=context or "")
    key = _with_cells(upload, key, separator)
    used = {
        question,
        *right,
        group,
        context,
        *key.choices,
        key.letters,
        key.unanswerable,
        first(upload, IDS),
    }
    return replace(key, unused=tuple(name for name in names if name not in used))


def _is_judged(upload: Upload, name: str) -> bool:
    """Return whether a column of answers has another beside it that says if they are right."""
    if plain_heading(name) != "answer":
        return False
    labels = label_columns(upload, kinds(upload))
    return any(affirmation_is_right(each) is not None for each in labels)


#: The columns of files that headings of our own do not tell: that of questions, then those of right
#: answers. As headings are compared (`plain_heading`); what is within an object has a dot.
SHAPES: Final[tuple[tuple[str, ...], ...]] = (
    ("question", "annotations.answer", "annotations.qapairs"),  # AmbigQA, on Hugging Face
    ("question.text", "annotations.shortanswers"),  # Natural Questions, whole
    ("question.stem", "answerkey"),  # ARC, as published
    ("question", "mc1targets.labels"),  # TruthfulQA, many choices
    ("vars.question", "assert"),  # promptfoo
)


def _with_cells(upload: Upload, key: AnswerKey, separator: str | None) -> AnswerKey:
    """Return a key with what cells say: choices, reasons, what separates."""
    cells = column_of(upload, key.answers[0])
    there = cells.distinct.filter(pa.array(~cells.has(Cell.BLANK)))
    few = {text.strip() for text in there.to_pylist()} if len(there) <= _FEW else set()
    if separator is None:
        plain = cells.distinct.filter(pa.array(~cells.has(Cell.LIST)))
        marks = "|;" if upload.kind in _SEPARATED else ""
        separators = (m for m in marks if compute.any(compute.match_substring(plain, m)).as_py())
        separator = next(separators, "")
    key = replace(
        key,
        separator=separator,
        unanswerable=first(upload, tuple(_UNANSWERABLE)) or "",
        has_reasons=bool(compute.all(compute.match_substring(there, RESULT)).as_py()),
        is_boolean=bool(few) and {text.casefold() for text in few} <= _TRUTHS.keys(),
    )
    return _with_choices(upload, key, few)


def _with_choices(upload: Upload, key: AnswerKey, few: set[str]) -> AnswerKey:
    """Return a key with the columns of choices; `few` are the right answers, if they are few."""
    each = tuple(n for n in map(str, upload.table) if _CHOICE.fullmatch(n) and n not in key.answers)
    if len(each) > 1:
        right = upload.table[key.answers[0]].str.strip()
        are_texts = upload.table[[*each]].eq(right, axis=0).any(axis=1) | (right == "")
        are_letters = bool(few) and few <= {*map(_letter, each)}
        if not (are_letters or are_texts.all()):
            return key
        return replace(key, choices=each, are_signs=are_letters and not are_texts.all())
    lists = (name for name in columns_named(upload, _CHOICES) if name not in key.answers)
    name = next((n for n in lists if column_of(upload, n).kind is ColumnKind.LIST), None)
    if name is None:
        return key
    most = max(len(parse_list(text) or ()) for text in column_of(upload, name).texts)
    begins = 0 if plain_heading(name) == "choices" and any(map(str.isdecimal, few)) else None
    if str(most) in few and "0" not in few:  # whatever the heading suggests
        begins = 1
    elif "0" in few:
        begins = 0
    are_signs = bool(few) and all(text.isdecimal() or text in LETTERS for text in few)
    if are_signs:
        rows = zip(upload.table[key.answers[0]], upload.table[name], strict=True)
        are_signs = not all(cell.strip() in (parse_list(of) or ()) for cell, of in rows)
    letters = first(upload, _LETTERS) or ""
    return replace(key, choices=(name,), letters=letters, first_choice=begins, are_signs=are_signs)


def _letter(heading: str) -> str:
    return heading[-1]


def _choice(part: str) -> tuple[str, str]:
    """Return the letter and the text of a choice in a list; "" for a letter that it lacks."""
    value = _json(part) if part.startswith("{") else None
    if isinstance(value, dict):
        return as_text(value.get("label")), as_text(value.get("text"))
    return "", part


def _right_choices(cell: str, choices: Mapping[str, str]) -> list[str]:
    """Return what a cell names: one choice, several, or those to which a list gives a 1."""
    parts = parse_list(cell)
    if parts is None:
        return [cell]
    if len(parts) == len(choices) and {*parts} == {"0", "1"}:
        return [letter for letter, flag in zip(choices, parts, strict=True) if flag == "1"]
    return parts


def _query_in(cell: str) -> str:
    """Return what a cell asks: of a chat, what its messages say."""
    if not cell.lstrip().startswith("[{"):
        return cell
    messages = _json(cell)
    if not isinstance(messages, list) or not all(isinstance(m, dict) for m in messages):
        return cell
    return "\n".join(as_text(m["content"]) for m in messages if m.get("content")) or cell


def _parts(cell: str) -> list[list[str]] | None:
    """Return the answers in a list or an object, each by its names; None for a plain text."""
    if cell.lstrip().startswith("{"):
        value = _json(cell)
        if not isinstance(value, dict):
            lists = [parse_list(text) for text in _PRINTED.findall(cell)]
            if not lists or None in lists:
                raise ValueError("the right answer is an object that cannot be read.")
            value = {"text": [text for texts in lists for text in texts or ()]}
        return [[name] for name in _names(value)]
    items = parse_list(cell)
    if items is None:
        return None
    return [
        [item] if (value := _json(item) if item[:1] in "[{" else None) is None else _names(value)
        for item in items
    ]


def _names(value: Any) -> list[str]:
    """Return every text in an answer that is a list or an object; none where it says it is wrong.

    Raises `ValueError` where it says with a number or a truth value something that nobody knows.
    """
    if isinstance(value, list):
        if {*map(type, value)} & {int, float} and str in map(type, value):
            raise ValueError(f"a right answer is a text beside a number. {_ALONE}")
        return [name for item in value for name in _names(item)]
    if isinstance(value, dict):
        is_test = {"type", "value"} <= value.keys() <= _PARTS_OF_A_TEST
        if is_test and value["type"] not in _TESTS:
            return []
        about = () if is_test else value.keys() - _KEYS
        if not all([_says_right(key, value[key]) for key in about]):
            return []
        return [name for key in _KEYS if key in value for name in _names(value[key])]
    return [as_text(value)]


def _says_right(key: str, value: Any) -> bool:
    """Return whether what stands beside a text says that it is right, or nothing of that.

    Raises `ValueError` where it may say so, and nobody knows.
    """
    meaning = affirmation_is_right(key)
    if meaning is not None and value in (0, 1):
        return bool(value) == meaning
    if isinstance(value, bool) or (isinstance(value, int | float) and _WEIGHT.search(key)):
        raise ValueError(f"a right answer has “{one_line(key)}” beside its text. {_ALONE}")
    return True


def _json(text: str) -> Any:
    """Return JSON as Python has it; None where it is none."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _ambignq(row: Cells, number: int) -> Question:
    return ambigqa_question({**row, "annotations": _cell(row["annotations"])}, number)


def _triviaqa(row: Cells, number: int) -> Question:
    answer = {
        "Value": row["Answer.Value"],
        "Aliases": _cell(row.get("Answer.Aliases") or "[]"),
        "HumanAnswers": _cell(row.get("Answer.HumanAnswers") or "[]"),
    }
    return official_question({**row, "Answer": answer}, number)


def _evouna(row: Cells, number: int) -> Question | None:
    return judged_question({**row, "improper": row["improper"] == "true"}, number, "drop")


#: By the headings that tell a dataset: its question, its right answers, and what reads its rows.
_PUBLISHED: Final[tuple[tuple[frozenset[str], str, str, Make], ...]] = (
    (frozenset({"id", "question", "annotations"}), "question", "annotations", _ambignq),
    (
        frozenset({"QuestionId", "Question", "Answer.Value"}),
        *("Question", "Answer.Value", _triviaqa),
    ),
    (frozenset({"question", "golden_answer", "improper"}), "question", "golden_answer", _evouna),
)


def _dataset_key(upload: Upload) -> AnswerKey | None:
    """Return the key of a dataset that is read in a way of its own."""
    names = [str(name) for name in upload.table]
    for theirs, question, answer, make in _PUBLISHED:
        if theirs <= {*names}:
            unused = (
                name for name in names if name not in theirs and not name.startswith("Answer.")
            )
            return AnswerKey(question, (answer,), unused=tuple(unused), make=make)
    return None


def _cell(cell: str) -> Any:
    if (value := _json(cell)) is None:
        raise ValueError("a cell that should hold JSON does not.")
    return value
