"""Whether a server scores a given text as it scored the same text when it drew it."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Self

from core.language_models.backends.openai.replies import Reply, Tokens, tokens_of, total

EXACT = 0.1  # nats a token that batches and precisions may make out


@dataclass(frozen=True)
class SampledAnswer:
    """A sampled answer: its text, the tokens of that, and what ended it."""

    text: str
    listed: Tokens
    tokens: Tokens
    ended_by: str = ""

    @classmethod
    def of(cls, choice: Reply, text: str) -> Self:
        """Read a choice; nothing is said where its tokens do not spell its text."""
        listed = tokens_of(choice)
        spelt = list(accumulate((token for token, _ in listed), initial=""))
        count = spelt.index(text) if text and text in spelt else 0
        behind = listed[count:]
        ends = count and len(behind) == 1 and choice.get("finish_reason") == "stop"
        mark = behind[0][0] if ends and "\n" not in text + behind[0][0] else ""
        return cls(text, listed, listed[:count], mark.strip() and mark)


def usual_end(answers: Sequence[SampledAnswer]) -> str:
    """Return the token that ended at least half of some answers; "" if none did."""
    end, times = Counter(d.ended_by for d in answers).most_common(1)[0]
    return end if 2 * times >= len(answers) else ""


def agree(own: Tokens, repeated: Tokens) -> bool | None:
    """Whether two lists of the same tokens are equally likely; None where they are not the same."""
    if [token for token, _ in own] != [token for token, _ in repeated]:
        return None
    one, other = total(own), total(repeated)
    return one is not None and other is not None and abs(one - other) <= EXACT * len(own)


def to_repeat(answers: Sequence[tuple[str, Tokens]]) -> list[tuple[str, Tokens]]:
    """Return what can be given as it was said, the shortest first.

    Templates of chats may leave out white space around an answer: what has some comes last.
    """
    whole = [(t, listed) for t, listed in answers if t.strip() and listed and "\ufffd" not in t]
    return sorted(whole, key=lambda one: (one[0] != one[0].strip(), len(one[1])))


def repeats(before: Tokens, whole: Tokens, own: Tokens) -> bool | None:
    """Whether a text goes on, behind all tokens of its prompt, as likely as it was said.

    None where that cannot be compared: tokens across the border, or cut otherwise than drawn.
    An end that was listed behind what was said need not be in the text.
    """
    behind = whole[len(before) :]
    same = [token for token, _ in before] == [token for token, _ in whole[: len(before)]]
    if not same or not behind or len(own) - len(behind) not in (0, 1):
        return None
    values = [("", value) for _, value in own[: len(behind)]]
    return agree(values, [("", value) for _, value in behind])


def all_agree(compared: Sequence[bool | None]) -> bool:
    """Whether there were comparisons, and all of them came out well."""
    return True in compared and False not in compared
