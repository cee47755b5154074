"""Texts that stand where an answer should, and are none: “I don't know”, a refusal, an error."""

from __future__ import annotations

import re

from core.codec import one_line

_CANNOT = r"(?:do not|don't|did not|didn't|cannot|can not|can't|could not|couldn't|am not|'m not)"
_UNABLE = (
    r"(?:know|sure|certain|able|tell|say|answer|respond|help|assist|comply|provide|determine|find|"
    r"recall|remember|have (?:any |enough |the |access|information|knowledge|data))"
)
# Each stands at the beginning of the text; those that end with $ are all of it. A title may be
# one of them (“Unknown”): it is withheld then, which promises less and never more.
_NO_ANSWER = re.compile(
    "|".join(
        (
            rf"(?:i|we) ?(?:really |honestly |simply |just )?{_CANNOT} (?:really )?{_UNABLE}\b",
            r"(?:i|we)(?: am| are|'m|'re) (?:unable|unsure|uncertain)\b",
            r"(?:i am|i'm|we're) (?:very |so |really )?sorry\b[ ,.;:]*(?:but|i|we|this|that)\b",
            r"(?:i have|we have|i've|there is|there's) no (?:idea|information|answer|knowledge)\b",
            r"sorry\b[ ,.;:]+(?:but|i|we|this|that)\b",
            r"(?:as|being|i am|i'm) an? (?:ai|artificial intelligence|(?:large )?language model)\b",
            r"(?:error|exception|http \d{3}|status \d{3})\s*:",
            r"(?:you|we) (?:have )?exceeded your\b",
            r"(?:do not|don't) know\b",
            r"(?:rate limit|quota|too many requests|internal server error|service unavailable)\b",
            r"(?:no idea|not sure|unsure|dunno|idk|unknown|not known|no answer|unanswerable|n/a)$",
            r"(?:no information(?: available)?|not available|cannot (?:answer|say|tell))$",
            # The same in German, French, Spanish, Italian, Portuguese.
            r"(?:das )?(?:weiß|weiss) ich (?:leider )?nicht\b|ich weiß (?:es )?(?:leider )?nicht\b",
            r"keine ahnung\b|je ne sais pas\b|(?:yo )?no (?:lo )?sé\b|non (?:lo )?so\b|não sei\b",
        )
    )
)


def is_no_answer(text: str) -> bool:
    """Say whether a model's text says that it has no answer, or why it gives none.

    Found by how such texts begin in six languages. It misses others, and those that only hint.
    """
    plain = one_line(text).casefold().replace("’", "'").strip(" \"'“”.!*_")
    return bool(_NO_ANSWER.match(plain))
