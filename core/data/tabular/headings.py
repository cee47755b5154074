"""Headings that say what a column is: questions, right answers, groups, and what names an item."""

import re
from collections.abc import Sequence

from core.data.tabular.label_words import LONGEST_HEADING, heading_words

# Headings are compared without case, white space, _ and -. The first that is found is taken.
QUERIES = (
    *("question", "query", "prompt", "q", "input", "userinput", "problem", "questiontext"),
    *("question.stem", "question.text", "userquery", "attributes.input.value"),
    *("frage", "pregunta", "domanda", "вопрос"),
)
#: What a heading ends in that names a column of questions, after a dot or in one word.
_QUESTION = re.compile(
    r"(.*[._])?(question|query|prompt|problem|input)|.*(question|frage|pregunta)"
)
#: What names an item, of which one may have several rows.
ITEM = re.compile(
    r"(.*\.)?((question|q|query|doc|document|prompt|example|sample|item|task|problem|case|test|"
    r"testcase|instance|record|entry|datapoint|frage[ns]?|aufgaben?|pregunta|u|uu|gu)?"
    r"(id|hash|key)|instance|item|"
    r"(doc|prompt|test|question|sample|example|instance|item|problem|case|frage[ns]?|aufgaben?)?"
    r"(idx|index)|"
    r"(doc|prompt|test|question|sample|example|instance|item|problem|case|frage[ns]?|aufgaben?)"
    r"(no|nr|number|nummer))"
)
#: What names one question, however it is worded.
OWN_ITEM = re.compile(
    r"(.*\.)?((question|q|query|prompt|example|item|problem|instance|frage[ns]?|uu|gu|u|base|"
    r"original|parent|canonical)?id|instance|(paraphrase|rephrasing|variant|duplicate|copy)of)"
)
#: What makes no other question of a text in small letters, as RE2 reads it: a number that counts it
#: (“3.”, “Q3:”, “iv)”), the word for one (“Question:”), a trial (“(attempt 3)”, “#3” or a hash
#: behind the mark), thanks, how to answer (“Answer briefly.”), and HTML's tags and blanks.
NO_QUESTION = (
    r"(?s)&(nbsp|amp|#160);|\n\s*(a|answer|antwort|response)\s*:\s*$|\[/?inst\]|</?s>|"
    r"[?.!]\s*(thanks|thank you)[.!\s]*$|"
    r"[?.!]\s+(please\s+)?((answer|reply|respond)\s+(briefly|shortly|concisely|directly|in|with|"
    r"using|only|as|step)|think\s+(step|carefully|hard|about)|let.?s think|"
    r"explain\s+your|be\s+(brief|short|concise|precise|honest|accurate)|"
    r"keep\s+(it|your)|(no|without) explanation|(just|only)\s+(the|one|give|answer)|"
    r"give\s+(only|just|your|a short|a brief)|in\s+(one|a single|a few|at most)\s)"
    r"[^?]{0,80}$|\?\s*[(\[][0-9a-f]{6,40}[)\]]\s*$|"
    r"^\s*[(\[]?[ivxl]{1,7}[.)\]]+\s|"
    r"^(\s*[(\[]?((q|question|frage|nr\.?|no\.?)?\s*[0-9]{1,6}|[a-z])[.:)\]]+\s|"
    r"\s*(question|query|frage)\s*[0-9]{0,6}\s*[.:)\]]+)+|"
    r"([?.!\n][\s([,;#-]*|[(\[])(attempt|try|trial|run|sample|seed|rep|repeat|repetition|variant|"
    r"version|style|temperature|versuch|lauf|variante|essai|intento)[\s:=#]*[0-9.]{1,6}[)\]]*\s*$|"
    r"\?\s*[(\[]?#?\s*[0-9]{1,6}[)\]]?\s*$|</?[a-z][a-z0-9]{0,9}( [^<>]{0,100})?/?>"
)
_NAMES = frozenset({"id", "ids", "idx", "index", "uuid", "guid", "hash", "key", "nr", "nummer"})
#: Rows of one width that show by themselves that what stands above them is their heading.
_ENOUGH_ROWS = 3
#: What a number begins with, or a label of 0 and 1.
_FIGURE = re.compile(r"\s*[+−-]?[.,]?[0-9]")
# A group first: "source" is often there as well, and says less.
SOURCES = ("group", "band", "source", "dataset", "category", "relation", "topic", "subject")
#: Of what a model says.
ANSWERS = (
    *("answer", "modelanswer", "response", "modelresponse", "prediction", "completion", "output"),
)
RIGHT_ANSWERS = (
    *("goldenanswers", "goldanswers", "goldenanswer", "goldanswer", "goldaliases", "gold"),
    *("aliases", "references", "reference", "answers", "rightanswers", "rightanswer"),
    *("correctanswers", "correctanswer", "answers.text", "answer.aliases", "possibleanswers"),
    *("expectedoutput", "ideal", "target", "groundtruth", "groundtruths", "expected"),
    *("expectedanswer", "answerkey", "bestanswer"),
)
#: Rules by which one answer is judged, in words: a score's labels by another rule than those that
#: count end in its name: “nll_correct_f1” beside “nll_correct”.
RULES = {"same_answer": "the same answer", "f1": "token F1 ≥ 0.25 (the paper’s)"}
#: An "answer" beside gold answers is what a model said.
GOLD_ANSWERS = (*RIGHT_ANSWERS, "answer")


def plain_heading(heading: str) -> str:
    """Return a heading as headings are compared."""
    return re.sub(r"[\s_-]", "", heading[:LONGEST_HEADING].casefold())


def is_question_heading(heading: str) -> bool:
    """Return whether a heading names questions: “question”, “doc.question”, “Prüfungsfrage”."""
    plain = plain_heading(heading)
    return plain in QUERIES or _QUESTION.fullmatch(plain) is not None


def names_an_item(heading: str) -> bool:
    """Return whether a heading ends in a word for what tells one thing from another: “trace_id”."""
    return heading_words(heading).rpartition(" ")[2] in _NAMES


def heads_a_table(
    heading: Sequence[str], below: Sequence[Sequence[str]], above: Sequence[str]
) -> bool:
    """Return whether a row is the heading of the rows below it, and not one of several texts.

    All are as wide, and a heading names questions, or is a word above numbers alone; or enough rows
    are as wide, these headings are no numbers, and the titles above them name no questions. A
    single word may as well be the heading of one column of texts, in which a space follows each
    comma.
    """
    if len(heading) < 2 or not below or any(len(row) != len(heading) for row in below):
        return False
    columns = zip(heading, zip(*below, strict=True), strict=True)
    return any(
        is_question_heading(name) or not (_FIGURE.match(name) or not all(map(_FIGURE.match, cells)))
        for name, cells in columns
    ) or (
        len(below) >= _ENOUGH_ROWS
        and not any(_FIGURE.match(name) or not name.strip() for name in heading)
        and (
            any(" " in title.strip() for title in above)
            or not any(cell[:1].isspace() for row in (heading, *below) for cell in row[1:])
        )
        and not any(is_question_heading(title) for title in above)
    )
