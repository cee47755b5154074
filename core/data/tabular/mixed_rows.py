"""Rows of several models, filters or epochs in one file: which of them count is asked.

Each would have a threshold of its own, and a promise for their mix promises nothing of one. To
choose another afterwards is a look, for its rows share questions and labels with those before.

So is a column that says what the labels judge: “pass” beside “test_kind”, which is “latency”, says
nothing of right answers. No list of words knows all such columns. What is the same in every row is
therefore named, whatever its heading.
"""

import re
from collections.abc import Collection, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from core.codec import count_of, list_of, one_line
from core.data.tabular.columns import Column, ColumnKind, column_of, columns_named, kinds, word_of
from core.data.tabular.headings import plain_heading
from core.data.tabular.label_meanings import display, spelling, values_of
from core.data.tabular.label_words import affirmation_is_right, heading_words
from core.data.tabular.pipelines import is_of_runs, pipelines_of
from core.data.tabular.uploads import Upload, UploadError

#: A column, and the value whose rows count, as `word_of` gives it; None if all count, as a mix.
RowFilter = tuple[str, str | None]

HEADINGS = (
    *("model", "modelname", "modelid", "provider", "provider.id", "filter", "epoch", "annotator"),
    *("llm", "lm", "engine", "modell", "modèle", "modele", "modelo", "modello", "checkpoint"),
    *("system", "systemname", "variant", "version", "config", "configuration", "setting", "run"),
    *("agent", "assistant", "bot", "backend", "endpoint", "deployment", "strategy", "method"),
    *("arm", "condition", "experiment", "systemprompt", "prompttemplate", "template"),
    *("judge", "grader", "rater", "reviewer", "sistema", "anbieter", "fournisseur", "variante"),
    *("methode", "méthode", "método", "模型", "モデル", "generator", "temperature", "topp"),
    *("seed", "shots", "nshot", "numshots", "fewshot", "numfewshot"),
    # A score may have been fitted on some of them.
    *("split", "datasplit", "fold", "cvfold", "partition", "istrain", "istest", "traintest"),
    *("holdout", "isholdout"),
)
#: Words that may stand beside those: “Model used”, “deployment_id”, “prompt_version”.
_OF_SETTINGS = re.compile(
    r"names?|ids?|used?|base|types?|family|tag|key|label|slug|hf|the|of|full|short|alias|release|"
    r"revision|snapshot|api|size|prompt|number|no|nr|v?\d+|utilisé|verwendet(es)?"
)
_MODELS = re.compile(r"models?|llms?|lms?|engine|checkpoint|modell|modèle|modele|modelo|modello")
#: What says what a test, a metric or a label is about, where it does not say who was tested.
_CRITERIA = re.compile(
    r"(.*\.)?(metrics?|metrik|métriques?|métricas?|criteri(on|a|um|o)|kriteri(um|en)|critères?|"
    r"aspects?|aspekt|dimension|rubric|"
    r"(test|check|eval|evaluation|assert|assertion|metric|label|score|feedback|prüf)"
    r"(kind|type|name|key|art)|checks?|assertions?)"
)
#: What labels are about that are not about right answers, and words that may stand beside it.
_QUALITIES = re.compile(
    r"latency|latenz|latence|latencia|speed|cost|kosten|price|timing|timeout|availability|uptime|"
    r"format(ting)?|json|schema|syntax|toxic(ity)?|safety|safe|bias|fairness|"
    r"relevan(ce|cy|t)|relevanz|helpful(ness)?|style|tone|fluency|coheren(ce|t)|concise(ness)?|"
    r"readab(le|ility)|politeness|refusals?|guardrails?|pii|privacy|jailbreaks?|security|retrieval|"
    r"recall|language|compliance|instruction(s)?|completeness|usefulness|satisfaction"
)
_BESIDE = re.compile(
    r"tests?|checks?|evals?|metrics?|scores?|quality|valid|is|of|the|answer|output|llm"
)
_RIGHTNESS = re.compile(r"equals?|f1|token f1|g eval correctness|factuality|same answer")
_FEW = 50  # values; a column of more is named with their number
_DESCRIBES = 0.5  # more values than this share of the rows describe rows, and are not asked about
_NAMED = 3
_LONGEST_CONSTANT = 60  # characters


class UnknownMixtureError(UploadError):
    """Nobody has said which model, filter or epoch counts; `column` tells them apart."""

    def __init__(self, column: str, why: str) -> None:
        super().__init__(why)
        self.column = column


def mixture_columns(upload: Upload) -> list[str]:
    """Return the columns that tell models, filters or epochs apart, or what labels judge."""
    pipeline = [] if len(pipelines_of(upload)) == 1 and is_of_runs(upload) else ["pipeline"]
    return [*settings_columns(upload), *columns_named(upload, pipeline), *_criteria(upload)]


def settings_columns(upload: Upload) -> list[str]:
    """Return the columns whose heading says that they name what answered: “model”, “llm_name”."""
    return [name for name in upload.headings if _tells_apart(name) and not _is_id(upload, name)]


def _tells_apart(heading: str) -> bool:
    """Whether a heading is one of these, or a phrase of such words: “Model used”, “base_model”."""
    plain, words = plain_heading(heading), heading_words(heading).split()
    if plain in HEADINGS or plain.rpartition(".")[2] in HEADINGS:
        return True
    others = [word for word in words if word not in HEADINGS]
    is_phrase = len(others) < len(words) and all(map(_OF_SETTINGS.fullmatch, others))
    by_whom = len(words) == 2 and words[1] == "by"  # “answered_by”
    return is_phrase or by_whom or bool(words and _MODELS.fullmatch(words[-1]))


def _is_id(upload: Upload, name: str) -> bool:
    """Whether a column gives each row an id of its own, as of a run that is one call."""
    number = len(upload.table)
    return (
        number > _NAMED
        and heading_words(name).endswith(" id")
        and len(column_of(upload, name).texts) == number
    )


def _criteria(upload: Upload) -> list[str]:
    """Return the columns of words that say what labels are about, by heading or by their words."""
    words = [name for name, kind in kinds(upload).items() if kind is ColumnKind.TEXT]
    return [
        name
        for name in words
        if not _tells_apart(name)
        and (_CRITERIA.fullmatch(plain_heading(name)) or _are_qualities(column_of(upload, name)))
    ]


def _are_qualities(column: Column) -> bool:
    """Whether half of the few words of a column name what labels can judge but right answers."""
    if len(column.distinct) > _FEW:
        return False
    texts = [text for text in column.texts if text.strip()]
    return sum(map(_is_quality, texts)) * 2 >= len(texts) > 0


def _is_quality(text: str) -> bool:
    words = [word for word in heading_words(text).split() if not _BESIDE.fullmatch(word)]
    return bool(words) and all(map(_QUALITIES.fullmatch, words))


def rows_that_count(upload: Upload, filters: Sequence[RowFilter]) -> NDArray[np.bool_]:
    """Return which rows of a table every filter keeps, (n,).

    Raises `UploadError` when a column is none of `mixture_columns`, so that a filter could choose
    by the labels, or no row has a value.
    """
    count = np.ones(len(upload.table), bool)
    for name, value in filters:
        if name not in (columns := mixture_columns(upload)):
            raise UploadError(
                f"“{one_line(name)}” is no column of models, filters or epochs, by which rows can "
                f"be chosen. Of these there {_there_are(columns)}."
            )
        column = column_of(upload, name)
        if value is None:
            continue
        chosen = column.of_word(value)
        if not chosen.any():
            raise UploadError(
                f"No row has {display(value)} in “{one_line(name)}”. It has "
                f"{_in_words(upload, name, _words(upload, name))}; choose one of them."
            )
        count &= chosen
    return count


def check_mixtures(
    upload: Upload, filters: Sequence[RowFilter], usable: NDArray[np.int64], others: Sequence[str]
) -> None:
    """Refuse rows of several models, filters or epochs of which nobody has said which count.

    Labels that may judge something else than right answers are refused alike. `usable` are the rows
    that would be used; `others`, columns that mean something else.
    """
    settled = {*others, *(name for name, _ in filters)}
    criteria = _criteria(upload)
    for name in mixture_columns(upload):
        if name in settled:
            continue
        words = _words(upload, name, usable)
        if len(words) > max(_FEW, _DESCRIBES * len(usable)):
            continue
        what = f"“{one_line(name)}” {_says(upload, name, usable)} in the rows that would "
        if name in criteria and not all(
            affirmation_is_right(word) is True or _RIGHTNESS.fullmatch(heading_words(word))
            for word in words
        ):
            raise UnknownMixtureError(
                name,
                f"{what}be used. If that is what the labels judge, they do not say whether an "
                "answer is right. Choose other labels, or say which of it counts before you see "
                "the result: the promise then names it.",
            )
        if len(words) > 1:
            raise UnknownMixtureError(
                name,
                f"{what}be used, and a promise for their mix would not hold for one of them "
                "alone. Say which of them counts before you see the result: each further choice "
                "costs a look.",
            )


def sentences(
    upload: Upload, filters: Sequence[RowFilter], usable: NDArray[np.int64]
) -> Iterator[str]:
    """Yield what a person said of models, filters and epochs, a sentence each.

    Of a column with too many values to be asked about, their number.
    """
    for name in mixture_columns(upload):
        words = _words(upload, name, usable)
        if name not in dict(filters) and len(words) > _FEW:
            yield f"“{one_line(name)}” {_says(upload, name, usable)}, which are a mix."
    for name, value in filters:
        if value is not None:
            others = int(np.count_nonzero(~column_of(upload, name).of_word(value)))
            yield f"{_only(upload, name, value)} (left out: {count_of(others, 'row')} of others)."
        elif len(_words(upload, name, usable)) > 1:
            yield (
                f"“{one_line(name)}” {_says(upload, name, usable)} in the rows used: as "
                "you said, a promise holds for this mix, not for one of them alone."
            )


def selection(upload: Upload, filters: Sequence[RowFilter], usable: NDArray[np.int64]) -> str:
    """Return what narrows a promise: the filters that leave rows out, and what labels judge."""
    chosen = [
        f"{_only(upload, name, value)}."
        if value is not None
        else f"“{one_line(name)}” {_says(upload, name, usable)}: their mix counts, not one alone."
        for name, value in filters
        if value is not None or name not in _criteria(upload)
    ]
    judged = [
        f"Right and wrong are by “{one_line(name)}”, which {_says(upload, name, usable)}."
        for name in _criteria(upload)
        if name in dict(filters)
    ]
    return " ".join((*chosen, *judged))


def kinds_used(upload: Upload, usable: NDArray[np.int64]) -> Iterator[tuple[str, str]]:
    """Yield each of `mixture_columns` that has few values in the rows used, with each of them."""
    for name in mixture_columns(upload):
        words = _words(upload, name, usable)
        if len(words) <= _FEW:
            yield from ((name, spelling(column_of(upload, name), word)) for word in words if word)


def other_settings(upload: Upload, only: Sequence[tuple[str, str]], others: Collection[str]) -> str:
    """Say which models are here that were not in a calibration, or not as a mix; "" if none.

    `only`: what told them apart there, with each value; where one of these columns is missing here,
    it may have another name, so that one which says the same of every row counts, too. `others`:
    the other headings there.
    """
    of_models: dict[str, list[str]] = {}
    for name, value in only:
        of_models.setdefault(plain_heading(name), []).append(value)
    rest, here = ({*map(plain_heading, names)} for names in (others, upload.headings))
    for name in settings_columns(upload):
        words, values = _words(upload, name), of_models.get(plain_heading(name), [])
        says = f"“{one_line(name)}” {_says(upload, name, np.arange(len(upload.table)))}"
        if len(values) > 1 and not {*map(word_of, values)} <= {*words}:
            return f"{says}, and a mix of {list_of([*map(display, values)])} made the policy"
        is_open = len(words) > 1 or not of_models.keys() <= here
        is_open &= len(words) <= max(_FEW, _DESCRIBES * len(upload.table))
        if is_open and not values and plain_heading(name) not in rest:
            return f"{says}, and nothing says that such rows made the policy"
    return ""


def constants(upload: Upload, usable: NDArray[np.int64], others: Sequence[str]) -> Iterator[str]:
    """Yield a sentence on the columns that say the same in every row: they narrow what is judged.

    `others`: columns that mean something else.
    """
    same = []
    for name in map(str, upload.table.columns):
        codes = column_of(upload, name).codes[usable]
        if name not in others and len(usable) > 1 and (codes == codes[0]).all():
            text = column_of(upload, name).text(int(codes[0]))
            if 0 < len(text.strip()) <= _LONGEST_CONSTANT:
                same.append(f"“{one_line(name)}” is {display(text)}")
    if same:
        yield f"In every row used: {list_of(same)}."


def _only(upload: Upload, name: str, value: str) -> str:
    text = display(spelling(column_of(upload, name), value))
    return f"As you said, only rows in which “{one_line(name)}” is {text} count"


def _words(upload: Upload, name: str, usable: NDArray[np.int64] | None = None) -> list[str]:
    column = column_of(upload, name)
    if usable is None:
        return [*values_of(column)]
    there = np.unique(column.codes[usable]).tolist()
    return [*dict.fromkeys(word_of(column.text(code)) for code in there)]


def _says(upload: Upload, name: str, usable: NDArray[np.int64]) -> str:
    """Say what a column is in some rows; of many values, how many they are."""
    words = _words(upload, name, usable)
    if len(words) > _FEW:
        return f"has {len(words):,} different values, such as {_in_words(upload, name, words[:3])}"
    return f"is {_in_words(upload, name, words)}"


def _in_words(upload: Upload, name: str, words: Sequence[str]) -> str:
    shown = [display(spelling(column_of(upload, name), word)) for word in words[:_NAMED]]
    return list_of([*shown, *words[_NAMED:]], most=_NAMED)


def _there_are(columns: Sequence[str]) -> str:
    if not columns:
        return "are none"
    return f"{'are' if len(columns) > 1 else 'is'} {list_of([f'“{one_line(c)}”' for c in columns])}"
