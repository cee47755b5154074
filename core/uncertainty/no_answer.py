"""Texts that stand where an answer should, and are none: “I don't know”, a refusal, an error."""

import re

from core.codec import one_line

# What may stand in front: an apology, or who speaks.
_LEAD = (
    r"(?:(?:unfortunately|regrettably|sadly|honestly|actually|well|hmm+|um+|uh+|oh|sorry|"
    r"apologies|my apologies|i apologi[sz]e|i(?:'m| am) (?:so |very |really )?(?:sorry|afraid)|"
    r"to be honest|as an? [a-z ]{1,40})\b[ ,.;:!-]*(?:(?:that|but|to say)\b[ ,]*)*)*"
)
_WHO = r"(?:i|we) ?(?:really |honestly |simply |just |actually |still )?"
_NOT = r"(?:do not|don't|did not|didn't|am not|'m not)"
_KNOW = (
    r"(?:know|sure|certain|able|say|recall|remember|understand|"
    r"have (?:any |enough |the |access|information|knowledge|data))"
)
_DO = (
    r"(?:know|tell|say|answer|respond|help|assist|comply|provide|determine|find|recall|remember|"
    r"fulfil|fulfill|discuss|confirm|verify|give|access|browse|complete|generate|share|identify|"
    r"do (?:that|this|it)|be (?:sure|certain)|engage|process|offer|advise|predict)"
)
_STATUS = r"(?:error|unavailable|requests|timeout|gateway|forbidden|unauthorized|request|found)"
# Each stands at the beginning of the text; those that end with $ are all of it. A title may be
# one of them (“Unknown”): it is withheld then, which promises less and never more.
_NO_ANSWER = re.compile(
    _LEAD
    + "(?:"
    + "|".join(
        (
            rf"{_WHO}{_NOT} (?:really |actually |quite |exactly )?{_KNOW}\b",
            rf"{_WHO}(?:can(?:not| not|'t)|could(?: not|n't)|will not|won't) "
            rf"(?:accurately |really |definitively )?{_DO}\b",
            r"(?:i|we) (?:must )?(?:decline|refuse)\b",
            r"(?:i|we)(?: am| are|'m|'re) (?:unable|unsure|uncertain)\b",
            r"(?:i|we)(?: am|'m| are|'re) (?:very |so |really )?sorry\b[ ,.;:]*(?:this|that)\b",
            r"(?:i have|we have|i've|there is|there's) (?:no|not enough|insufficient|too little) "
            r"(?:idea|information|answer|knowledge|context|data)\b",
            r"(?:nobody|no one) (?:really )?knows\b|(?:do not|don't) know\b",
            r"sorry\b[ ,.;:]+(?:this|that)\b",
            r"(?:being|i am|i'm) an? (?:ai|artificial intelligence|(?:large )?language model)\b",
            r"as an? (?:ai|artificial intelligence|(?:large )?language model)\b",
            r"(?:error|exception|http \d{3}|status \d{3})\s*:|(?:http|error):? ?[45]\d\d$",
            rf"(?:http )?[45]\d\d [a-z -]{{0,30}}{_STATUS}$|traceback \(|\W{{1,3}}error\W",
            r"(?:you|we) (?:have )?exceeded your\b|\W?content (?:was )?(?:filter|removed|block)",
            r"(?:rate limit|quota|too many requests|internal server error|service unavailable)\b",
            r"(?:it |this |that )?can(?:not| not|'t) be (?:determined|known|answered|said)\b",
            r"(?:the |this )?(?:text|passage|context|document|article|question) "
            r"(?:does not|doesn't|is (?:unclear|ambiguous|not clear))\b",
            r"not (?:mentioned|specified|stated|given|provided|enough (?:information|context))\b",
            r".*\b(?:do|did) you mean\b",
            r"(?:could|can) you (?:please )?(?:clarify|specify|provide)\b",
            r"(?:no idea|not sure|unsure|dunno|idk|unknown|not known|no answer|unanswerable|n/a|"
            r"null|undefined|the answer is|\W*think\W*)$",
            r"(?:no information(?: available)?|not available|cannot (?:answer|say|tell))$",
            # The same in other languages.
            r"(?:das )?(?:weiß|weiss) ich (?:leider )?nicht\b|ich weiß (?:es )?(?:leider )?nicht\b",
            r"ich kann (?:[a-zäöüß]+ ){0,4}nicht\b|tut mir leid\b|keine ahnung\b",
            r"je ne (?:sais|peux|connais) pas\b|désolée?\b|(?:yo )?no (?:lo )?sé\b|no puedo\b",
            r"lo siento\b|non (?:lo )?so\b|non posso\b|mi dispiace\b|não (?:sei|posso)\b",
            r"(?:ja )?nie wiem\b|(?:я )?не знаю\b|jag vet inte\b|ik weet (?:het )?niet\b",
            r"我?不知道|我?不清楚|我?無法|我?无法|(?:わか|分か)りません|知りません|모르",
        )
    )
    + ")"
)


def is_no_answer(text: str) -> bool:
    """Say whether a model's text says that it has no answer, or why it gives none.

    Found by how such texts begin, in a dozen languages. It misses others, and those that only hint.
    Signs without a letter or a digit are one of them; an empty text is not.
    """
    plain = one_line(text).casefold().replace("’", "'").strip(" \"'“”.!*_")
    is_signs = bool(text.strip()) and not any(map(str.isalnum, plain))
    return is_signs or bool(_NO_ANSWER.match(plain))
