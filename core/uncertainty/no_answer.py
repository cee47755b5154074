"""Texts that stand where an answer should, and are none: “I don't know”, a refusal, an error."""

import re
import unicodedata

from core.codec import one_line
from core.uncertainty.accents import without_accents, without_vowel_marks

BEGINNING = 200  # characters, by which a text without an answer is known
_AROUND = " \"'“”.!*_"
# What may stand in front: an apology, who speaks, or as of when.
_LEAD = (
    r"(?:(?:the |my )?(?:final |short )?(?:answer|response)(?: is)?[ :]+)?"
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
            r"not applicable$|time[ -]?out$|timed out$",
            r".*\b(?:do|did) you mean\b",
            r"(?:which|what|who|could|can|are|do|did|is|would)\b[^?]{0,80}?\byou (?:please )?"
            r"(?:clarify|specify|provide|referring|asking|looking for|talking|interested)\b",
            r"(?:no idea|not sure|unsure|unclear|uncertain|dunno|idk|unknown|not known|no answer|"
            r"unanswerable|n/a|null|undefined|the answer is|think)$",
            r"(?:no|insufficient|not enough) (?:information|data|context)\b|"
            r"(?:information |data )?(?:is )?not available\b",
            # Thoughts, marks of a template, and what stands before the line of the answer.
            r"\W+(?:seed:)?(?:think(?:ing)?|thoughts?|reasoning|analysis|unk|s|eos|bos|endoftext|"
            r"im_(?:start|end)|inst|redacted|blocked|filtered|object object)\W*$",
            r"(?:(?:okay|ok|alright|hmm+|so)\W+)?(?:the user (?:is|asks|asked|wants)|"
            r"let(?:'s| me) (?:think|see|break|analy[sz]e)|we are asked)\b",
            r"(?:sure|certainly|of course|absolutely)\W+i(?: can|'d be happy to) help\b",
            # An opening whose answer stands on a line of its own.
            r"(?:sure(?: thing)?|(?:(?:that's |that is )?an? )?"
            r"(?:great|good|excellent|interesting|fascinating|tricky) question|"
            r"(?:here(?: is|'s) )?(?:the |my |an? )?(?:short |final )?(?:answer|response))$",
            r"(?:```|~~~)[\w+#-]*$",
        )
    )
    + ")"
)


def _bare(text: str) -> str:
    return without_vowel_marks(without_accents(text))


# The same in other languages, with up to four words in front: a pronoun, “unfortunately”. What is
# written with ß, or in capitals, stands here as `str.casefold` leaves it; accents do not matter.
_SPACED = (
    # German, Dutch, Afrikaans
    r"weiss (?:ich |es |das )*(?:leider |auch )*nicht|keine (?:ahnung|angaben?|antwort|daten|"
    r"informationen)|nicht (?:sicher|bekannt)|tut mir leid|entschuldigung|liegen mir|"
    r"(?:kann|habe) (?:[a-zäöü]+ ){0,4}(?:nicht|kein)|leider (?:kann|habe|weiss|liegen|nicht)|"
    r"(?:weet|kan) (?:ik |het |dat )*(?:helaas )?niet?|niet zeker|geen (?:idee|informatie|gegevens|"
    r"antwoord)|spijt me|helaas|is nie seker|jammer genoeg",
    # Swedish, Norwegian, Danish, Icelandic
    r"(?:vet|ved) (?:jag |jeg )?(?:inte|ikke)|(?:inte|ikke) (?:säker|sikker)|tyvärr|desværre|"
    r"dessverre|beklag[ae]r|ledsen|undskyld|ingen (?:aning|anelse|information)|veit ekki|ekki viss|"
    r"því miður",
    # French, Spanish, Catalan, Galician, Italian, Portuguese, Romanian, Haitian
    r"je (?:ne |n')(?:le |en )?(?:sais|suis pas|peux|connais|dispose|ai)|j(?:e |')sais pas|"
    r"je l'ignore|pas sûre?|on (?:ne sait pas|l'ignore)|pas d'information|"
    r"aucune (?:idée|information)|désolée?|malheureusement|"
    r"no (?:lo |me |les? )?(?:sé|puedo|tengo|estoy segur[oa]|dispongo|cuento con|conozco|recuerdo|"
    r"se (?:sabe|conoce|puede)|hay (?:información|datos))|ni idea|lo siento|desconozco|"
    r"se desconoce|(?:lamentable|desafortunada|desgraciada)mente|no ho sé|ho sento|non o sei|"
    r"non (?:lo |ne |mi )?(?:so|saprei|posso|ho|sono sicur[oa]|dispongo|conosco|ricordo|"
    r"si (?:sa|conosce|può))|"
    r"nessuna idea|mi dispiace|purtroppo|"
    r"não (?:o )?(?:sei|posso|tenho|consigo|faço ideia|conheço|há informaç\w+)|(?:me )?desculpe|"
    r"nenhuma ideia|desconheço|infelizmente|lamento|sinto muito|"
    r"nu (?:știu|ştiu|stiu|sunt sigur\w*|pot|am)|îmi pare rău|din păcate|mwen pa konnen",
    # Polish, Czech, Slovak, Slovene, Croatian and Serbian
    r"nie (?:wiem|mogę|mam|znam|jestem pew\w+|posiadam|som si ist\w*)|przykro mi|przepraszam|"
    r"niestety|trudno powiedzieć|ne(?:vím|viem|znám|poznám|mám|tuším|mohu|môžem)|nejsem si jist\w*|"
    r"omlouvám se|mi líto|bohuž[ei]a?[lľ]|ľutujem|žiaľ|ospravedlňujem sa|prepáčte|ne vem|"
    r"nisem prepričan\w*|žal (?:mi|ne|nimam)|oprostite|ne (?:znam|mogu)|nisam sigur\w*|žao mi|"
    r"nažalost|izvinite|nemam",
    # Russian, Ukrainian, Belarusian, Bulgarian, Macedonian, Serbian, Kazakh, Kyrgyz, Mongolian
    r"не (?:знаю|могу|имею|уверен\w*|располагаю|помню|можу|маю|впевнен\w*|певен|ведаю|знам|мога|"
    r"съм сигур\w*|сум сигур\w*)|извините|простите|к сожалению|затрудняюсь|"
    r"мне (?:это )?неизвестно|точно не известно|"
    r"(?:нет|немає) (?:информации|данных|ответа|інформації|даних)|вибачте|пробачте|на жаль|"
    r"прабачце|съжалявам|за съжаление|нямам|нисам сигур\w*|жао ми|нажалост|жал ми|білмеймін|"
    r"кешіріңіз|өкінішке|билбейм|кечиресиз|мэдэхгүй|уучлаарай",
    # Lithuanian, Latvian, Estonian, Finnish, Hungarian
    r"nežinau|nesu tikr|atsiprašau|neturiu|nezinu|neesmu pārliecināt\w*|atvainojiet|diemžēl|"
    r"ei tea|(?:pole|ei ole) kindel|vabandust|kahjuks|en (?:tiedä|voi|osaa|ole varma)|"
    r"valitettavasti|pahoittelen|anteeksi|ei tietoa|"
    r"nem (?:tudom|ismer\w*|vagyok biztos)|sajn(?:os|álom)|elnézést|fogalmam sincs|"
    r"nincs (?:információ|adat)",
    # Greek, Turkish, Azerbaijani, Uzbek, Albanian, Basque, Irish, Welsh, Maltese, Esperanto
    r"δεν (?:ξέρω|γνωρίζω|μπορώ|έχω|διαθέτω|είμαι σίγουρ\w*)|λυπάμαι|δυστυχώσ|συγγνώμη|"
    r"bilmiyorum|bilemiyorum|(?:yanıtla|cevapla)yam\w+|cevap verem\w+|bilinmiyor|"
    r"emin değilim|üzgünüm|maalesef|özür dilerim|(?:bilgim|fikrim) yok|"
    r"bilmirəm|təəssüf|bilmayman|kechirasiz|afsuski|nuk e di|më vjen keq|fatkeqësisht|"
    r"ez dakit|barkatu|sentitzen dut|níl a fhios|tá brón orm|ddim yn gwybod|mae'n ddrwg|ma nafx|"
    r"mi ne scias",
    # Vietnamese, Indonesian and Malay, Filipino, Swahili, Hausa, Zulu, Malagasy
    r"không (?:biết|thể|chắc|rõ|có thông tin)|xin lỗi|rất tiếc|tiếc là|"
    r"(?:tidak|tak) (?:tahu|bisa|dapat|yakin|pasti|diketahui|memiliki|mempunyai|ada informasi)|"
    r"kurang tahu|maaf|sayangnya|malangnya|hindi ko (?:po )?(?:alam|matiyak)|hindi ako sigurado|"
    r"pasensya|paumanhin|sijui|sifahamu|samahani|sina (?:uhakika|habari|taarifa|jibu)|siwezi|"
    r"haijulikani|ban sani ba|angazi|tsy fantatro",
)
# In scripts whose words are written together, or end in what the next one changes.
_JOINED = (
    # Chinese, Japanese, Korean
    r"不(?:太|是很)?(?:知道|清楚|了解|确定|確定|能回答)|无法|無法|找不到|未找到|暂无|暫無|"
    r"(?:没有|沒有)(?:足够|足夠|相关|相關|任何|答案|.{0,4}信息|.{0,4}資訊)|"
    r"抱歉|对不起|對不起|遗憾|遺憾|作为(?:一个|一名)?(?:ai|人工智能)|让我们换个话题|"
    r"(?:わか|分か|判|解)(?:り|ら)(?:ません|ない|ん)|知(?:り|ら)(?:ません|ない)|存じ(?:上げ)?ません|"
    r"申し訳|すみません|ごめん|残念ながら|(?:でき|出来)(?:ません|ない|かね)|覚えて(?:い)?(?:ません|ない)|"
    r"情報[がは](?:ありません|ない|持って|見つかり)|答えられ(?:ません|ない)|わかりかね|"
    r"모르(?:겠|네|는|지)|모릅니다|몰라|알 수 없|알지 못|죄송|미안|확실하지|"
    r"확실치|정보[가는은]? ?없|답(?:변)?(?:할|드릴) 수 없|찾을 수 없|알려(?:져|지지) (?:있지 )?않",
    # Arabic, Persian, Urdu, Hebrew
    r"لا (?:أ|ا)(?:عرف|علم|دري|ستطيع|ملك)|لا (?:يمكن|توجد|يوجد|تتوفر)|ليست? لد|"
    r"لم (?:أ|ا)تمكن|لست (?:متأكد|واثق)|للأسف|"
    r"عذر|عفوا|آسف|أعتذر|غير (?:معروف|معلوم|متأكد)|نمی.?(?:دانم|دونم|توانم)|مت[اأ]سف|"
    r"اطلاع(?:ی|اتی) ندارم|ببخشید|معلوم نیست|مطمئن نیستم|معلوم نہیں|نہیں (?:معلوم|جانت)|معاف|افسوس|"
    r"לא (?:יודע|בטוח|יכול|ידוע)|\bאינ?ני|סליחה|מצטער|אין לי|לצערי",
    # Hindi, Marathi, Nepali, Bengali, Gujarati, Punjabi, Odia, Tamil, Telugu, Kannada, Malayalam
    r"मुझे (?:नहीं|खेद)|नहीं (?:पता|मालूम|जानत)|(?:पता|मालूम|जानकारी) नहीं|(?:उत्तर|जवाब) नहीं दे|"
    r"क्षमा|माफ़? ?(?:कर|की)|खेद है|माह[िी]त नाही|"
    r"थाहा छैन|জানি না|জানা নেই|দুঃখিত|নিশ্চিত নই|ক্ষমা|বলতে পার|ખબર નથી|જાણતો નથી|માફ કર|દિલગીર|"
    r"ਨਹੀਂ ਪਤਾ|ਪਤਾ ਨਹੀਂ|ਮਾਫ਼? ?ਕਰ|ਮੁਆਫ|ਅਫ਼ਸੋਸ|ଜାଣିନାହିଁ|ଦୁଃଖିତ|தெரியா|தெரியவில்லை|மன்னி|తెలియ(?:దు|లేదు)|క్షమించ|"
    r"ಗೊತ್ತಿಲ್ಲ|ತಿಳಿದಿಲ್ಲ|ಕ್ಷಮಿಸಿ|അറിയില്ല|ക്ഷമിക്ക",
    # Sinhala, Thai, Lao, Khmer, Burmese, Georgian, Armenian, Amharic
    r"දන්නේ නැ|සමාවන්න|ไม่(?:รู้|ทราบ|แน่ใจ|สามารถ|มีข้อมูล)|ขออภัย|ขอโทษ|เสียใจ|ບໍ່ຮູ້|ຂໍໂທດ|មិនដឹង|សូមទោស|សុំទោស|"
    r"မသိ|တောင်းပန်|არ ვიცი|ვწუხვარ|ბოდიში|სამწუხაროდ|չգիտեմ|ցավոք|ներող|ներեց|አላውቅም|ይቅርታ",
)
# All of the text: “unknown”.
_UNKNOWN = (
    r"(?:das ist |es ist )?(?:leider )?unbekannt|unsicher|onbekend|okänd|ukendt|ukjent|inconnue?|"
    r"desconocid[oa]|desconegut|sconosciut[oa]|desconhecid[oa]|necunoscut|nieznan[aey]|neznám[éýá]|"
    r"neznano|nepoznato|неизвестно|неизвестен|неизвестна|невідомо|непознато|nežinoma|nezināms|"
    r"teadmata|tuntematon|ismeretlen|άγνωστο|bilinmiyor|không rõ|tidak diketahui|"
    r"未知|不详|不詳|不明(?:です)?|مجهول|نامعلوم|অজানা|अज्ञात|უცნობია|անհայտ է"
)
_ELSEWHERE = re.compile(
    _bare(
        rf"(?:[^\W\d]\S* ){{0,4}}(?:{'|'.join(_SPACED)})(?!\w)|.{{0,24}}(?:{'|'.join(_JOINED)})|"
        rf"(?:{_UNKNOWN})$"
    )
)


def is_no_answer(text: str) -> bool:
    """Say whether a model's text says that it has no answer, or why it gives none.

    Found by how such texts begin, in sixty languages. It misses others, and those that only hint.
    So is what ends in a colon, whose answer stands on a line of its own, and signs without a
    letter or a digit; an empty text is not.
    """
    composed = unicodedata.normalize("NFC", one_line(text, BEGINNING).casefold())
    plain = composed.replace("’", "'").strip(_AROUND)
    is_signs = bool(text.strip()) and not any(map(str.isalnum, plain))
    is_opening = text.rstrip(f"{_AROUND}\n").endswith((":", "："))
    return is_signs or is_opening or bool(_NO_ANSWER.match(plain) or _ELSEWHERE.match(_bare(plain)))
