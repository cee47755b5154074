"""Texts that stand where an answer should, and are none: “I don't know”, a refusal, an error."""

import re

from core.codec import one_line

BEGINNING = 200  # characters, by which a text without an answer is known
_AROUND = " \"'“”.!*_"
# What may stand in front: an apology, who speaks, or as of when.
_LEAD = (
    r"(?:(?:(?:as of|based on|according to|given|(?:that's |that is )?an? [a-z]{4,11} question|"
    r"[a-z]{4,11} question)\b[^,.!]{0,80}+|unfortunately|regrettably|sadly|honestly|actually|well|"
    r"hmm+|um+|uh+|oh|sorry|"
    r"apologies|my apologies|i apologi[sz]e|i(?:'m| am) (?:so |very |really )?(?:sorry|afraid)|"
    r"to be honest|as an? (?:[a-z]+ ){0,3}(?:ai|model|assistant|bot|chatbot|system|program))"
    r"\b[ ,.;:!-]*(?:(?:that|but|to say)\b[ ,]*){0,2}){0,4}"
)
_WHO = r"(?:i|we) ?(?:really |honestly |simply |just |actually |still )?"
_NOT = r"(?:do not|don't|did not|didn't|am not|'m not)"
_KNOW = (
    r"(?:know|sure|certain|able|say|recall|remember|understand|"
    r"have (?:any |enough |the |access|information|knowledge|data|real-time|personal|current|"
    r"specific|details|an? (?:answer|specific|definitive)))"
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
            rf"(?:accurately |really |definitively )?(?:{_DO}\b|$)",
            rf"(?:cannot|can't|unable to|not able to|impossible to) {_DO}\b",
            r"(?:i|we) (?:must )?(?:decline|refuse)\b|i(?:'d| would) (?:rather|prefer) not\b",
            r"i prefer not to\b|(?:i|we)(?:'d| would)? need (?:more|additional|further)\b",
            r"(?:i|we)(?: am| are|'m|'re) (?:unable|unsure|uncertain)\b",
            r"(?:i|we)(?: am|'m| are|'re) (?:very |so |really )?sorry\b[ ,.;:]*(?:this|that)\b",
            r"(?:i have|we have|i've|there is|there's) (?:no|not enough|insufficient|too little) "
            r"(?:[a-z]+ ){0,2}(?:idea|information|answer|knowledge|context|data|consensus)\b",
            r"(?:it|this|that|the answer(?: to (?:this|that|your) question)?)(?:'s| is| remains) "
            r"(?:currently |still |generally |simply )?(?:unknown|unclear|uncertain|"
            r"not (?:clear|known|certain|available|provided|given|specified|mentioned)|"
            r"(?:impossible|not possible|difficult|hard) to (?:say|tell|know|determine|answer))\b",
            r"(?:nobody|no one) (?:really )?knows\b|(?:do not|don't) know\b",
            r"sorry\b[ ,.;:]+(?:this|that)\b",
            r"(?:being|i am|i'm|as) (?:just |only )?an? (?:ai|artificial intelligence|"
            r"(?:large )?language model)\b",
            r"(?:error|exception|http \d{3}|status \d{3})\s*:|(?:http|error):? ?[45]\d\d$",
            rf"(?:http )?[45]\d\d [a-z -]{{0,30}}{_STATUS}$|traceback \(|\W{{1,3}}error\W",
            r"(?:you|we) (?:have )?exceeded your\b|\W?content (?:was )?(?:filter|removed|block)",
            r"(?:rate limit|quota|too many requests|internal server error)\b",
            r"(?:the |this |our )?(?:server|model|service|system|engine) (?:is )?(?:currently |"
            r"temporarily )?(?:overloaded|busy|unavailable|down|at capacity|not available)\b",
            r"an (?:[a-z]+ )?error (?:has )?occurred\b|something went wrong\b|try again\b",
            r"(?:request|connection) (?:timed out|failed|refused|reset|closed)\b",
            r"(?:invalid|missing|incorrect) (?:api )?key\b|you(?:'ve| have) (?:reached|hit) your\b",
            r"(?:please|you must|you need to) (?:provide|clarify|specify|try|rephrase|give me)\b",
            r"(?:it |this |that )?can(?:not| not|'t) be (?:determined|known|answered|said)\b",
            r"(?:the |this |your )?(?:text|passage|context|document|article|question) (?:does not|"
            r"doesn't|cannot be|can't be|is (?:unclear|ambiguous|not clear|unanswerable))\b",
            r"not (?:mentioned|specified|stated|given|provided|enough (?:information|context))\b",
            r"not applicable$",
            r".*\b(?:do|did) you mean\b",
            r"(?:which|what|who|could|can|are|do|did|is|would)\b[^?]{0,80}?\byou (?:please )?"
            r"(?:clarify|specify|provide|referring|asking|looking for|talking|interested)\b",
            r"(?:no idea|not sure|unsure|unclear|uncertain|dunno|idk|unknown|not known|no answer|"
            r"unanswerable|n/a|null|undefined|the answer is|think)$",
            r"(?:no|insufficient|not enough) (?:information|data|context)\b|"
            r"(?:information |data )?(?:is )?not available\b",
            # Thoughts, marks of a template, and what stands before the line of the answer.
            r"\W+(?:seed:)?(?:think(?:ing)?|thoughts?|reasoning|analysis|unk|s|eos|bos|endoftext|"
            r"im_(?:start|end)|inst|redacted|blocked|object object)\W*$",
            r"(?:(?:okay|ok|alright|hmm+|so)\W+)?(?:the user (?:is|asks|asked|wants)|"
            r"let(?:'s| me) (?:think|see|break|analy[sz]e)|we are asked)\b",
            r"(?:sure|certainly|of course|absolutely)\W+i(?: can|'d be happy to) help\b",
            # An opening whose answer stands on a line of its own.
            r"(?:sure(?: thing)?|(?:(?:that's |that is )?an? )?"
            r"(?:great|good|excellent|interesting|fascinating|tricky) question|"
            r"(?:here(?: is|'s) )?(?:the |my |an? )?(?:short |final )?(?:answer|response))$",
            r"(?:```|~~~)[\w+#-]*$",
            # The same in other languages.
            r"(?:das |ich )?weiss (?:ich |es )?(?:leider )?nicht\b|(?:es )?tut mir leid\b",
            r"(?:leider )?(?:ich )?(?:kann|habe) (?:ich )?(?:[a-zäöü]+ ){0,4}(?:nicht|kein)",
            r"(?:leider|dazu|darüber|hierzu) (?:kann|habe|weiss|liegen)\b|keine ahnung\b",
            r"(?:das ist )?(?:leider )?(?:unbekannt|nicht bekannt)$|onbekend$|desconocid[oa]$",
            r"(?:je suis )?(?:vraiment )?désolée?\b|je n(?:e |')(?:sais|peux|connais|dispose|ai)\b",
            r"inconnue?$|sconosciut[oa]$|desconhecid[oa]$|nieznan[aey]$|неизвестно$",
            r"(?:yo )?no (?:lo )?sé\b|no (?:puedo|tengo|se (?:sabe|conoce|puede))\b|lo siento\b",
            r"non (?:lo )?so\b|non (?:posso|ho|si (?:sa|conosce|può))\b|mi dispiace\b",
            r"não (?:sei|posso|tenho|consigo)\b|(?:me )?desculpe\b|lamento\b|sinto muito\b",
            r"(?:ja )?nie (?:wiem|mogę|mam|znam)\b|przykro mi\b|przepraszam\b|bohužel\b|nevím\b",
            r"(?:я )?не (?:знаю|могу|имею)\b|извините\b|простите\b|к сожалению\b",
            r"нет (?:информации|данных)\b|en tiedä\b|ve(?:t|d) (?:inte|ikke)\b",
            r"(?:jag|jeg) ve(?:t|d) (?:inte|ikke)\b|tyvärr\b|desværre\b|beklager\b",
            r"(?:ik )?(?:weet|kan) (?:ik |het |dat )*(?:helaas )?niet\b|het spijt me\b|helaas\b",
            r"üzgünüm\b|maalesef\b|bilmiyorum\b|nu știu\b|nem tudom\b|sajnos\b|λυπάμαι\b",
            r"δεν (?:ξέρω|γνωρίζω|μπορώ)\b|tôi không (?:biết|thể)\b|xin lỗi\b|maaf\b",
            r"(?:saya )?tidak (?:tahu|bisa|dapat)\b|ฉันไม่|ขออภัย|ไม่ทราบ|मुझे नहीं|क्षमा करें",
            r"لا أ(?:عرف|علم|ستطيع)|عذر|آسف|אני לא (?:יודע|יכול)|מצטער",
            r"(?:你好[，,]?)?(?:很|非常|十分)?(?:抱歉|对不起|對不起|遗憾)|(?:你好[，,]?)?(?:这个问题)?我?(?:暂时)?"
            r"(?:不知道|不太清楚|不清楚|不确定|無法|无法|没有相关|不能回答)|作为(?:一个|一名)?(?:ai|人工智能)|未知$|让我们换个话题",
            r"申し訳|すみません|(?:わか|分か)りません|知りません|不明(?:です)?$|情報が(?:ありません|ない)",
            r"죄송|미안|잘? ?모르|알 수 없",
        )
    )
    + ")"
)


def is_no_answer(text: str) -> bool:
    """Say whether a model's text says that it has no answer, or why it gives none.

    Found by how such texts begin, in two dozen languages. It misses others, and those that only
    hint. So is what ends in a colon, whose answer stands on a line of its own, and signs without a
    letter or a digit; an empty text is not.
    """
    plain = one_line(text, BEGINNING).casefold().replace("’", "'").strip(_AROUND)
    is_signs = bool(text.strip()) and not any(map(str.isalnum, plain))
    is_opening = text.rstrip(f"{_AROUND}\n").endswith((":", "："))
    return is_signs or is_opening or bool(_NO_ANSWER.match(plain))
