"""The claims of a paragraph: each sentence is asked about as a question of its own.

The question is whether the sentence is true. It is asked like any other, so that its mutual
information says whether the model keeps to its opinion when it is told another one. Small models
call everything false and keep to it, so the opposite is asked about, too. No policy is
calibrated on such questions, and certificates of other questions do not fit: nothing is promised.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from core import prompts
from core.codec import is_writable
from core.language_models.errors import ModelError, StoppedError, fault_of
from core.language_models.language_model import LanguageModel
from core.language_models.opening import AUTO, open_for_study
from core.language_models.stopping import ending
from core.language_models.true_false import says
from core.reports.inspection import words
from core.studies.inspection.inspection import Inspection, read
from core.studies.inspection.recorder import record, usual_request
from core.studies.inspection.request import InvalidRequestError, Request, check_model_and_budget
from core.studies.inspection.verdict import Decision, Headline
from core.studies.progress import Cancelled, Progress, part, silent

MOST_CHARACTERS: Final = 20_000  # of a text
MOST_CLAIMS: Final = 100
BUDGET: Final = 10_000
#: What holds of every claim and of all of them together.
NO_PROMISE: Final = (
    "Nothing is promised of these claims, nor of the text as a whole: no threshold was calibrated "
    "on such questions."
)
OPPOSITE: Final = {"true": "false", "false": "true"}
NO_CLAIM: Final = "A question claims nothing."
_ASKING: Final = frozenset("?？؟‽\u037e")  # the last is Greek
#: Where each sentence stands in a text, in characters, and what is asked about it.
Questions = list[tuple[tuple[int, int], tuple[str, ...]]]
# An end of a sentence: its marks with closing quotes, and white space or the end behind them.
# Where a script has no spaces, its own marks alone; a line break ends a sentence, too.
_END: Final = re.compile(r"(?<![.!?…؟।])[.!?…؟।]++[\"'”’»)\]*_]*+(?=\s|$)|[。！？]+[”’」』）]*|\n")
#: A blank line; a line with a colon, and what stands under it.
_PARAGRAPH: Final = re.compile(r"[ \t]*\n[ \t]*\n")
_LIST: Final = re.compile(r":[*_]*[ \t]*\n\s*\S")
_CLOSING: Final = "\"'”’»)]*_」』）"
#: What ends a quotation or a bracket, by what begins it; as German and French write them, too.
_PAIRS: Final = {
    **{"(": ")", "[": "]", "（": "）", "「": "」", "『": "』", "«": "»", "»": "«", '"': '"'},
    **{"“": "”", "„": "“”", "‘": "’"},
}
# What has a full stop that mostly ends no sentence, and has a vowel, else `_ABBREVIATION` knows it.
_SHORT: Final = frozenset(
    (
        *("prof", "sen", "gov", "gen", "capt", "rev", "hon", "nos", "ca", "approx", "fig", "vol"),
        *("vs", "cf", "pp", "bzw", "dr", "mr", "mrs", "ms", "st", "ed", "eds", "jan", "feb"),
        *("mar", "apr", "jun", "jul", "aug", "sep", "sept", "oct", "nov", "dec", "etc", "al"),
        *("univ", "ave", "dept", "bros", "sra", "atty", "asst", "assn"),
        # In small letters these are other words: 6 ft.
        *("Pres", "Col", "Maj", "Adm", "Rep", "Amb", "Supt", "Insp", "Messrs", "Mme", "Mlle"),
        *("Inc", "Co", "Ste", "Lieut", "Sec", "Del", "Mass", "Conn", "Calif", "Geo", "Chas"),
        *("Dist", "Jos", "Thos"),
    )
)
# Letters with full stops between them, one letter, a Latin name without a vowel, an ordinal.
_ABBREVIATION: Final = re.compile(
    r"([^\W\d_]+\.)+[^\W\d_]+|(?!I$)[^\W\d_]|[B-DF-HJ-NP-TV-XZ][b-df-hj-np-tv-xz]{1,4}|"
    r"[IVXLC]{2,7}|\d{1,2}"
)
_BEFORE_NUMBERS: Final = frozenset(("no", "art", "par", "op", "ex"))
_LOG = logging.getLogger("believe")


@dataclass(frozen=True)
class TextClaim:
    """A sentence of a text, and whether the model calls it true."""

    text: str
    # start, end: where it stands in the text, in characters.
    start: int
    end: int
    # “perhaps true” or “perhaps false” where the model keeps to that, and calls the opposite the
    # contrary; else “open”.
    mark: str
    reason: str
    # inspection, opposite: the evidence of it, and of its opposite; None where there is none.
    inspection: Inspection | None = field(default=None, repr=False, compare=False)
    opposite: Inspection | None = field(default=None, repr=False, compare=False)

    @property
    def mutual_information(self) -> float | None:
        """Of the question whether the sentence is true, nats; None without evidence."""
        seen = self.inspection
        return seen.scores["mutual_information"].value if seen else None

    def to_dict(self) -> dict[str, Any]:
        """Return a dictionary that JSON can hold."""
        return {
            "claim": self.text,
            "start": self.start,
            "end": self.end,
            "mark": self.mark,
            "reason": self.reason,
            "mutual_information": self.mutual_information,
        }


def sentences(text: str) -> Iterator[tuple[int, int]]:
    """Yield where each sentence of a text begins and ends, in characters.

    Where a text may deny one piece by another, the two stay together. So no sentence ends at a
    mark before a small letter or a bracket; at the full stop of an abbreviation or an ordinal; or,
    before a letter, at an ellipsis or the end of a line without a mark. What follows a line with a
    colon belongs to it until a blank line, and so does all of one quotation or bracket.
    """
    start, inside = 0, _inside(text)
    for end in [*(m.end() for m in _END.finditer(text)), len(text)]:
        piece = text[start:end]
        if end < len(text) and _goes_on(piece, text[end:], inside[end]):
            continue
        if any(character.isalnum() for character in piece):
            left = len(piece) - len(piece.lstrip())
            yield start + left, start + len(piece.rstrip())
        start = end


def _goes_on(piece: str, rest: str, is_inside: bool) -> bool:
    """Whether a sentence goes on behind a mark or a line break, maybe inside a quotation."""
    following = rest.lstrip()[:1]
    is_paragraph = _PARAGRAPH.match(rest[:100] if not piece.endswith("\n") else f"\n{rest[:100]}")
    if not is_paragraph and (is_inside or _LIST.search(piece)):
        return True
    if piece.endswith("\n"):
        line = piece.rstrip()
        is_open = not line.rstrip(_CLOSING).endswith(tuple(".!?…؟।。！？"))
        return line.endswith(":") or (is_open and not is_paragraph and following.isalpha())
    quoted = piece.rstrip(_CLOSING)
    if following.islower() or following == "(" or (piece != quoted and rest[:1].isalnum()):
        return True
    if quoted.endswith(("...", "…")):
        return following.isalpha() and "\n" not in rest[: rest.find(following)]
    if not quoted.endswith("."):
        return False
    last = (quoted[:-1].rsplit(maxsplit=1) or [""])[-1].lstrip("\"'“‘«([")
    short = not _SHORT.isdisjoint((last, last.lower()))
    numbered = following.isdigit() and last.lower() in _BEFORE_NUMBERS
    return short or numbered or _ABBREVIATION.fullmatch(last) is not None


def _inside(text: str) -> list[bool]:
    """Say of every place in a text whether it is in a quotation or a bracket; of its end, too.

    A blank line ends what nothing else has ended.
    """
    inside, pending = [False], ""
    paragraphs = {match.end() - 1 for match in _PARAGRAPH.finditer(text)}
    for place, character in enumerate(text):
        is_apostrophe = character == "’" and text[place + 1 : place + 2].isalpha()
        if place in paragraphs:
            pending = ""
        elif pending and character in _PAIRS[pending[-1]] and not is_apostrophe:
            pending = pending[:-1]
        elif character in _PAIRS:
            pending += character
        inside.append(bool(pending))
    return inside


def claims(
    text: str,
    question: str = "",
    model: str | LanguageModel = "embedded",
    *,
    form: str = AUTO,
    budget: int = BUDGET,
    system: str = "",
    context: str = "",
) -> list[TextClaim]:
    """Split a text into sentences, and ask a model whether each of them is true.

    Nothing is promised of a claim or of the text. Raises `InvalidRequestError`
    when there is no claim, or too much text; `ModelError` when the model cannot be opened.

    `question`: what the text answers; asked with every claim, so that “it” means something.
    `model, form, budget`: as for `guard`: who judges, maybe another than who wrote.
    `system, context`: a system prompt, and the passages that the text was drawn from: in front of
    every prompt.
    """
    front = {"system": system, "context": context}
    if not isinstance(text, str) or not isinstance(question, str):
        raise InvalidRequestError("The text and the question that it answers are texts.")
    check_model_and_budget(model, budget)
    requested = questions_about(text, question, **front)
    opened = open_for_study(model, form, budget, _LOG.info)
    with ending():
        return list(claims_of(text, requested, opened, silent, **front))


def questions_about(text: str, question: str = "", **front: str) -> Questions:
    """Return where each sentence stands, and what is asked about it; nothing of a question.

    Raises `InvalidRequestError` when there is no claim, or too much text.
    """
    if len(text) > MOST_CHARACTERS or not is_writable(text):
        raise InvalidRequestError(
            f"The text has more than {MOST_CHARACTERS:,} characters, or is no valid Unicode. Give "
            "a shorter part of it."
        )
    places = list(sentences(text))
    if not places or len(places) > MOST_CLAIMS:
        raise InvalidRequestError(
            f"The text has {len(places)} sentences; give one with 1 to {MOST_CLAIMS}."
        )
    return [(place, _queries(text[slice(*place)], question.strip(), front)) for place in places]


def _queries(sentence: str, question: str, front: dict[str, str]) -> tuple[str, ...]:
    """Return what is asked: whether it is true, and whether its opposite is; checked for length."""
    last = max(place for place, character in enumerate(sentence) if character.isalnum())
    if not _ASKING.isdisjoint(sentence[last:]):  # in quotes or emphasised, too
        return ()
    claim = " ".join(sentence.split())
    both = claim, f"{prompts.NOT}{claim}"
    return tuple(
        Request(prompts.truth(one, question), claim=True, **front).query  # type: ignore[arg-type]
        for one in both
    )


def requests_of(requested: Questions, model: LanguageModel, **front: str) -> list[Request]:
    """Return every request that asking a model about these sentences makes."""
    return [_request(query, model, front) for _, queries in requested for query in queries]


def claims_of(
    text: str, requested: Questions, model: LanguageModel, progress: Progress = silent, **front: str
) -> Iterator[TextClaim]:
    """Ask a model about each sentence, and yield what it says of it as soon as it is there.

    `requested`: what `questions_about` returns. Raises `StoppedError`, and `Cancelled` out of
    `progress`.
    """
    for number, (place, queries) in enumerate(requested):
        begins = f"Sentence {number + 1} of {len(requested)}: "
        requests = [_request(query, model, front) for query in queries]
        yield _claim(text, place, requests, model, part(progress, number, len(requested), begins))


def _request(query: str, model: LanguageModel, front: dict[str, str]) -> Request:
    return usual_request(query, model.capabilities, claim=True, **front)


def _claim(
    text: str,
    place: tuple[int, int],
    requests: Sequence[Request],
    model: LanguageModel,
    progress: Progress,
) -> TextClaim:
    """Ask a model about one sentence; whatever goes wrong with it leaves the claim open."""
    sentence = text[slice(*place)]
    if not requests:
        return TextClaim(sentence, *place, "open", NO_CLAIM)

    try:
        seen, opposite = (
            read(record(request, model, part(progress, half, 2)))
            for half, request in enumerate(requests)
        )
    except StoppedError:
        raise
    except (ModelError, InvalidRequestError) as error:
        return TextClaim(sentence, *place, "open", str(error))
    except Cancelled:
        raise
    except Exception as error:  # of a model of one's own
        return TextClaim(sentence, *place, "open", fault_of(model.name, error))
    opinion, reason = _opinion(seen), seen.verdict.reason
    if seen.headline is Headline.UNTAUGHT:
        reason = words.STAMPS[seen.headline].reason
    elif opinion and _opinion(opposite) != OPPOSITE[opinion]:
        reason = f"The model does not call the opposite {OPPOSITE[opinion]}. {reason}"
    elif opinion:
        return TextClaim(sentence, *place, f"perhaps {opinion}", reason, seen, opposite)
    return TextClaim(sentence, *place, "open", reason, seen, opposite)


def _opinion(inspection: Inspection) -> str:
    """Return “true” or “false” where that answer is served; else nothing."""
    if inspection.decision is not Decision.ANSWER or inspection.headline is not Headline.PERHAPS:
        return ""
    answer = inspection.verdict.answer or ""
    return next((word for word in OPPOSITE if says(answer, word)), "")
