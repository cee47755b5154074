"""The words by which two answers differ or do not: what `answer_form` looks up.

Small letters, without accents. In a list, phrases come before the words in them.
"""

from fractions import Fraction

from core.uncertainty.accents import without_accents


def _list(text: str) -> list[str]:
    return text.split()


def _set(text: str) -> frozenset[str]:
    return frozenset(without_accents(text.casefold()).split())  # й and ς, too


def _with_endings(stems: str, endings: str) -> frozenset[str]:
    return _set(" ".join(stem + end for stem in stems.split() for end in endings.split()))


def _phrases(text: str) -> frozenset[str]:
    return frozenset(text.split(", "))


#: Words that say nothing of an answer.
FILLERS = _set(
    "a an the it its this that these those there is was are were be been being about "
    "approximately approx around roughly circa ca do does did"
)
#: Numbers in front of another one elsewhere: on iki (12), to hundrede (200), do lakh (200,000).
NUMBERS_ELSEWHERE = _set("on to do")
MULTIPLIED_ELSEWHERE = _set(
    "bir iki üç dört beş altı yedi sekiz dokuz bin milyon milyar hundrede hundre tusind tusinde "
    "tusen millioner milliarder lakh crore sau hazar hazaar"
)
#: After one of these, an answer begins: "the capital is Paris".
COPULAS = _set("is was are were called named")
ARTICLES = _set("a an the")
#: A part of a name: "Leonardo da Vinci" is Leonardo, and da Vinci.
PARTICLES = _set("da das de del della der des di do dos du la las le los van von bin ibn ben al el")
#: What begins a part of an answer: after some a place only says where, after others nothing does.
PLACING = _set("of in on at from mark")
RELATIONS = _set(
    "for with to into during within between against like as per via upon "
    "who which whose whom where when because versus vs"
)
PREPOSITIONS = PLACING - {"mark"} | RELATIONS | {"by"}
#: Kinds of things, which a name has or has not: "the Nile" and "the Nile River".
KINDS = _set(
    "river city town village state republic kingdom empire country nation commonwealth province "
    "county island islands lake ocean desert mount mountain planet element disease novel film "
    "movie book play song album language people system company corporation inc ltd ag gmbh "
    "organization organisation era period dynasty party year color colour federal federative"
)
#: What a sentence says of its answer: "the capital of France is Paris".
ROLES = _set(
    "capital answer correct name largest biggest author writer novelist poet painter composer "
    "singer actor actress inventor founder director ceo leader"
)
#: With a kind or without, these are different things: China, the Republic of China.
CONTESTED = frozenset(("china", "korea", "congo"))
#: Whom one name names, the first of theirs.
FORENAMES = _set(
    "napoleon jesus elvis dante galileo michelangelo rembrandt leonardo raphael muhammad buddha "
    "voltaire aristotle confucius augustus tutankhamun cleopatra nefertiti"
)
#: In front of a name these are no first names, either: the White Nile.
COLOURS = _set(
    "black white red blue green yellow brown grey gray pink purple orange golden silver dark light "
    "cold hot dead holy wild prime shadow great big small high low young free open real true"
)
TRUTHS = _set("yes no true false")
#: What a number counts, beside units and words for many.
COUNTED = _set("people men women children persons percent")
#: ... how far a measure goes,
EXTENTS = _set("long tall high wide deep thick old")
#: ... and what multiplies it, though it looks like many of something.
MULTIPLES = _set(
    "millions billions trillions thousands hundreds dozens scores pairs couples halves lakhs "
    "crores times squares cubes millones billones trillones milions bilions quadrillions "
    "quintillions sextillions septillions decillions zillions gazillions trilhoes decenas dezenas "
    "dizaines centenas centenares milhares millares veces vezes miles cientos milhoes bilhoes "
    "centaines milliers milliards douzaines docenas myriads grosses tens thirds quarters fourths "
    "fifths sixths sevenths eighths ninths tenths hundredths thousandths"
)
#: Things: a name in front of one is another thing, no first name: Tower Bridge.
COMPOUNDS = _set(
    "airport airlines airways avenue award awards bank bay beach bridge building castle cathedral "
    "championship church club college cup day dollar fc festival fever flu gate glacier gulf "
    "hall heights hospital house jr junior league library museum open palace park peace peninsula "
    "prize road sauce school sea square stadium station strait street syndrome temple theatre "
    "theater times tower treaty tribune united university valley virus war wall hilton acid bomb "
    "monday tuesday wednesday thursday friday saturday sunday "
    "cake cheese chocolate juice milk oil ore painting pie powder soup wine"
)
#: Without a name these say nothing of who: Prince, Prince Charles.
TITLES = _set(
    "prince princess king queen president sir lord lady saint professor dr mr mrs miss pope "
    "emperor empress duke duchess earl count general captain admiral judge senator"
)
#: Family names that are no plural of a name.
NOT_PLURAL = _set(
    "adams andrews banks brooks burns daniels edwards evans fields harris jacobs johns marks "
    "matthews michaels mills myers owens parks peters phillips reeves richards roberts robins "
    "rogers andreas lucas lukas nicolas nikolas carlos marcos mathias matthias matias elias tobias "
    "jonas hans jens nils james jules georges gilles yves fils cours corps sanders simons "
    "stevens summers waters wells williams woods philips news arms mars wales"
)
#: A kind, but "Kansas City" is not Kansas.
CITY, NEW_YORK = "city", ("new", "york")

# Such words of other languages, as they stand in front of a name: new and old, directions, saints.
_ELSEWHERE = (
    _set(
        "nuevo nueva nouveau nouvelle novo nuovo nuova noua neu viejo vieja vieux vieille velho "
        "velha vecchio vecchia baja bajo basse baixo baixa basso bassa alto alta haut haute sud "
        "sur sao santo sankt szent sveti svaty sveta nieuw nieuwe noord zuid oost nya nye norra "
        "sodra ostra vastra sor oster vaster etela pohjois lansi uusi yeni kuzey guney dogu bati "
        "asagi yukari eski νεα νεο νεος παλαια βορεια βορειος νοτια νοτιος ανατολικη δυτικη ανω "
        "κατω αγιος αγια санкт "
        # Which of several, by number, colour or size.
        "primer primera primero segundo segunda tercer tercera tercero cuarto cuarta quinto quinta "
        "premier premiere deuxieme seconde troisieme quatrieme cinquieme sixieme secondo seconda "
        "terzo terza primeiro primeira terceiro terceira blanco negro negra rojo roja azul blanc "
        "noir noire rouge bleu bleue vert verte bianco nera rosso rossa branco preto vermelho "
        "birinci ikinci ucuncu dorduncu besinci buyuk kucuk kizil mavi "
        # Almost, near, after; whose; places that are named after others.
        "beinahe bei nahe vor nach casi cerca tras despues antes presque quasiment pres apres "
        "avant dopo prope neredeyse почти около возле после перед "
        "tante onkel oncle tio abuelo abuela grossvater grossmutter oma opa zio zia nonno "
        "nonna enkel neffe nichte schwager тетя дядя "
        "avenida calle piazza stade estadio stadio schloss chateau castillo "
        "castello palacio palazzo gare estacion stazione puerto porto golfe golfo "
        "universidad universite universitat universita flughafen aeroport aeropuerto pont puente "
        "ponte catedral cathedrale bahia baie atletico dynamo hertha borussia улица площадь вокзал"
    )
    | _with_endings(
        "северн южн восточн западн нов стар бел красн черн велик больш верхн нижн свят північн "
        "півден голуб син зелен мал перв втор трет четверт пят",
        "ый ая ое ые ий яя ее ой ья ье",
    )
    | _with_endings(
        "erst zweit dritt viert fünft sechst siebt acht neunt zehnt weiß schwarz rot blau grün "
        "gelb groß klein",
        "e er es en",
    )
    | _with_endings(
        "nov now star jizn juzn severn sjevern vychodn istocn zapadn horn doln gorn wielk velk "
        "poludniow polnocn wschodni zachodni neu alt ehemalig ostlich westlich nordlich sudlich",
        "y a e i er es",
    )
)
#: Who has one of these is another one: New York, York; vice president, president.
QUALIFIERS = _ELSEWHERE | _set(
    "american north south east west northern southern eastern western northeast northwest "
    "southeast southwest central equatorial papua democratic new old upper lower inner outer "
    "left right vice deputy assistant acting former formerly ex late junior jr senior sr anti "
    "pre post half step grand great-grand sub semi quasi pseudo fake false co under mid male "
    "female positive negative last next previous first-born little lesser san santa saint "
    "objective visual before after until since nearly almost below above am pm maternal "
    "paternal wife husband widow son daughter father mother brother sister nephew niece uncle "
    "aunt father-in-law son-in-law minus greater outside opposite near avoid lost lose "
    "loses past ago norte nord ouest oeste alt ehemaliger ehemalige ancien ancienne mutter vater "
    "sohn tochter mere pere fils madre padre hijo schwester bruder frau mrs ms miss during against "
    "like between via"
)
#: What makes less of an answer: partly, perhaps, sometimes, on a condition.
RESERVATIONS = _set(
    "partly partially partial mostly mainly largely somewhat sometimes occasionally often usually "
    "generally typically maybe perhaps possibly probably presumably presumed supposedly allegedly "
    "alleged apparently reportedly arguably seemingly potentially theoretically likely falsely "
    "except but unless only solely provided providing if depending depends assuming might could "
    "vielleicht wahrscheinlich moglicherweise teilweise manchmal nur wenn quiza quizas "
    "probablemente posiblemente parcialmente probablement forse probabilmente talvez "
    "vermutlich eventuell angeblich wohl höchstwahrscheinlich mutmaßlich probable posible "
    "presuntamente supuestamente supostamente possivelmente provavelmente magari poate probabil "
    "belki sanırım galiba muhtemelen herhalde może możliwe chyba prawdopodobnie asi snad možná "
    "pravděpodobně možno možda vjerojatno verovatno misschien waarschijnlijk mogelijk kanske "
    "troligen kanskje måske muligens muligvis ehkä luultavasti talán valószínűleg ίσως πιθανόν "
    "наверное наверно возможно вероятно видимо якобы можливо мабуть mungkin barangkali labda "
    "pengine"
)

NEGATIONS = _set(
    "not no never none nobody nothing nowhere neither nor without cannot non except unless hardly "
    "rarely seldom lack lacks lacked fail fails failed refuse refuses refused nicht kein keine "
    "keiner keinen keinem keines nie niemals ohne weder noch nein ne pas jamais sans aucun aucune "
    "nunca sin ninguno ninguna ningun nessun nessuna senza nao nem bez nie ikke inte niet geen ei "
    "degil bukan khong wrong incorrect untrue unlikely unlike but rather instead δεν οχι неверно "
    "не нет ни без никогда לא لا ليس ليست لم لن غير नहीं 아니 "
    # Of further languages in Latin letters; `same_answer` takes any short word of other scripts.
    "tidak tak tiada belum jangan usah nggak enggak gak hindi wala huwag dili si sio siyo hapana "
    "hakuna neni nejsou nikoli nikoliv nu nici fara nije nisu nema niso ekki eigi ikki ikkje nav "
    "nera ez ezin nid ni nad ddim heb nil nior nuk mos yok hayir deyil yox emas yoq "
    "nincs sem nelkul ilman mitte ilma nemmeno neanche tampoco mai nin nooit "
    "zonder ej icke aldrig uten uden ingen inget intet chang chua mhux tsy dudu henteu kaore "
    "aole nenhum nenhuma ninguem nada ningu nul nulle falsch faux falso falsa yanlış fałsz fout "
    "keinesfalls keineswegs mitnichten"
)
#: In one word with what they deny: n't without its apostrophe.
CONTRACTED = _set(
    "dont doesnt didnt isnt arent wasnt werent wont wouldnt cant couldnt shouldnt hasnt havent "
    "hadnt aint mustnt"
)
#: Parts of words of scripts that do not separate them.
NEGATIONS_INSIDE = tuple(
    _list("不 没 沒 無 无 非 未 ない なかっ ません ไม่ 않 아니 아닙 아님 아닌 零下")
)

#: A name of one of these behind a comma says where something is: London, England, UK.
CONTINENTS = _phrases(
    "africa, antarctica, asia, europe, north america, south america, america, oceania, "
    "united states, united kingdom, great britain, britain, dc, earth"
)
COUNTRIES = _phrases(
    "afghanistan, albania, algeria, andorra, angola, argentina, armenia, australia, austria, "
    "azerbaijan, bahamas, bahrain, bangladesh, barbados, belarus, belgium, belize, benin, bhutan, "
    "bolivia, bosnia, botswana, brazil, brunei, bulgaria, burkina faso, burma, burundi, cambodia, "
    "cameroon, canada, chad, chile, china, colombia, congo, costa rica, croatia, cuba, cyprus, "
    "czechia, czech republic, denmark, djibouti, dominica, ecuador, egypt, el salvador, england, "
    "eritrea, estonia, ethiopia, fiji, finland, france, gabon, gambia, georgia, germany, ghana, "
    "greece, grenada, guatemala, guinea, guyana, haiti, honduras, hungary, iceland, india, "
    "indonesia, iran, iraq, ireland, israel, italy, ivory coast, jamaica, japan, jordan, "
    "kazakhstan, kenya, kosovo, kuwait, kyrgyzstan, laos, latvia, lebanon, lesotho, liberia, "
    "libya, liechtenstein, lithuania, luxembourg, madagascar, malawi, malaysia, maldives, mali, "
    "malta, mauritania, mauritius, mexico, moldova, monaco, mongolia, montenegro, morocco, "
    "mozambique, myanmar, namibia, nepal, netherlands, holland, new zealand, nicaragua, niger, "
    "nigeria, north korea, northern ireland, north macedonia, norway, oman, pakistan, palestine, "
    "panama, papua new guinea, paraguay, peru, philippines, poland, portugal, qatar, romania, "
    "russia, rwanda, samoa, saudi arabia, scotland, senegal, serbia, sierra leone, singapore, "
    "slovakia, slovenia, somalia, south africa, south korea, south sudan, spain, sri lanka, "
    "sudan, suriname, sweden, switzerland, syria, taiwan, tajikistan, tanzania, thailand, togo, "
    "tonga, tunisia, turkey, turkmenistan, uganda, ukraine, uruguay, uzbekistan, venezuela, "
    "vietnam, wales, yemen, zambia, zimbabwe, "
    "alabama, alaska, arizona, arkansas, california, colorado, connecticut, delaware, florida, "
    "hawaii, idaho, illinois, indiana, iowa, kansas, kentucky, louisiana, maine, maryland, "
    "massachusetts, michigan, minnesota, mississippi, missouri, montana, nebraska, nevada, "
    "new hampshire, new jersey, new mexico, new york, north carolina, north dakota, ohio, "
    "oklahoma, oregon, pennsylvania, rhode island, south carolina, south dakota, tennessee, "
    "texas, utah, vermont, virginia, washington, west virginia, wisconsin, wyoming, "
    "ontario, quebec, british columbia, alberta, new south wales, queensland, bavaria, catalonia"
)

#: Words that stand for a sign.
SIGN_WORDS = {
    **dict.fromkeys(("percent", "pct"), "%"),
    **dict.fromkeys(("dollar", "dollars", "usd"), "$"),
    **dict.fromkeys(("euro", "euros", "eur"), "€"),
    **dict.fromkeys(("gbp",), "£"),
    **dict.fromkeys(("yen", "jpy"), "¥"),
    **dict.fromkeys(("degree", "degrees"), "°"),
    **dict.fromkeys(("plus",), "+"),
    **dict.fromkeys(("times",), "*"),
}
#: What is compared with a number, longest first.
COMPARATORS: dict[tuple[str, ...], str] = {
    ("no", "more", "than"): "<=",
    ("not", "more", "than"): "<=",
    ("no", "less", "than"): ">=",
    ("not", "less", "than"): ">=",
    ("no", "fewer", "than"): ">=",
    ("more", "than"): ">",
    ("greater", "than"): ">",
    ("larger", "than"): ">",
    ("less", "than"): "<",
    ("fewer", "than"): "<",
    ("smaller", "than"): "<",
    ("at", "least"): ">=",
    ("at", "most"): "<=",
    ("up", "to"): "<=",
    ("or", "more"): ">=",
    ("or", "less"): "<=",
    ("or", "fewer"): "<=",
}
#: Such only right before a number: "over 50", but "Moon over Miami".
COMPARATORS_BEFORE_NUMBERS = {
    "over": ">",
    "under": "<",
    "above": ">",
    "below": "<",
    "exceeding": ">",
    "minimum": ">=",
    "maximum": "<=",
}
HEDGES = _set(
    "or either oder ou veya yahut или або lub albo alebo eller vagy أو یا או या অথবা atau hoặc"
)
CONJUNCTIONS = _set("and und et")
ERAS = frozenset(("bc", "bce"))
PRESENT_ERAS = frozenset(("ad", "ce"))

_UNITS = _list(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
    "fifteen sixteen seventeen eighteen nineteen"
)
_TENS = _list("twenty thirty forty fifty sixty seventy eighty ninety")
_ORDINALS = _list(
    "zeroth first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth "
    "thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth"
)
SMALL = {word: value for value, word in enumerate(_UNITS)}
TENS = {word: 10 * (place + 2) for place, word in enumerate(_TENS)}
ORDINALS = {word: value for value, word in enumerate(_ORDINALS)} | {
    word[:-1] + "ieth": value for word, value in TENS.items()
}
SCALES = {
    **{"hundred": 100, "thousand": 1_000, "million": 10**6, "billion": 10**9},
    **{"trillion": 10**12, "dozen": 12, "bn": 10**9, "mn": 10**6, "lac": 10**5},
    **{"lakh": 10**5, "lakhs": 10**5, "crore": 10**7, "crores": 10**7},
}
ORDINAL_SCALES = {
    f"{word}th": SCALES[word] for word in _list("hundred thousand million billion trillion")
}
#: Parts of one, after a number.
PARTS = {
    **{"half": 2, "halves": 2, "third": 3, "thirds": 3, "quarter": 4, "quarters": 4, "fourths": 4},
    **{"fifths": 5, "sixths": 6, "sevenths": 7, "eighths": 8, "ninths": 9, "tenths": 10},
}
HALF = Fraction(1, 2)
DECADES = {
    **{"twenties": "20s", "thirties": "30s", "forties": "40s", "fifties": "50s"},
    **{"sixties": "60s", "seventies": "70s", "eighties": "80s", "nineties": "90s"},
}

_MONTHS = _list(
    "january february march april may june july august september october november december"
)
MONTHS = {
    **{name: number for number, name in enumerate(_MONTHS, 1)},
    **{name[:3]: number for number, name in enumerate(_MONTHS, 1)},
    "sept": 9,
}
#: Of a measured number.
UNITS = {
    **{"km": "kilometers", "kilometres": "kilometers", "kilometer": "kilometers"},
    **{"kilometre": "kilometers", "m": "meters", "metres": "meters", "meter": "meters"},
    **{"metre": "meters", "cm": "centimeters", "centimetres": "centimeters"},
    **{"mm": "millimeters", "millimetres": "millimeters", "kg": "kilograms", "kgs": "kilograms"},
    **{"kilogram": "kilograms", "g": "grams", "gram": "grams", "lb": "pounds", "lbs": "pounds"},
    **{
        "pound": "pounds",
        "inch": "inches",
        "ft": "feet",
        "foot": "feet",
        "mi": "miles",
        "mile": "miles",
    },
    **{"hr": "hours", "hrs": "hours", "hour": "hours", "h": "hours", "min": "minutes"},
    **{"mins": "minutes", "minute": "minutes", "sec": "seconds", "secs": "seconds"},
    **{"second": "seconds", "yr": "years", "yrs": "years", "year": "years", "day": "days"},
    **{"week": "weeks", "month": "months", "century": "century", "c": "celsius", "f": "fahrenheit"},
}
#: How a measure goes on: "5 m long".
MEASURES = _set(
    "long tall high wide deep thick apart across away in of at on from to by above below "
    "run race sprint dash relay"
)
#: What an amount is divided by: 5 a day, 5 daily.
RATES = {
    **{"daily": "day", "hourly": "hour", "nightly": "night", "weekly": "week"},
    **{"monthly": "month", "yearly": "year", "annually": "year", "twice": "twice"},
    "thrice": "thrice",
}
TIMES = _set("second minute hour day night week month quarter year")
DIRECTIONS = {"n": "north", "s": "south", "e": "east", "w": "west"}
#: Other spellings of a name.
ALIASES = {
    "usa": ("united", "states"),
    "uk": ("united", "kingdom"),
    "ussr": ("soviet", "union"),
    "uae": ("united", "arab", "emirates"),
    "mt": ("mount",),
    "it's": ("it", "is"),
    "that's": ("that", "is"),
    "there's": ("there", "is"),
}
#: Before a name only: "St. Louis", but "Wall St".
SAINTS = frozenset(("st", "ste", "saint"))
#: Before these a point ends no sentence.
ABBREVIATIONS = _set("prof capt pres corp dept univ sept lieut approx")
#: Around "I" these tell that nobody counts.
SPEAKING = _set(
    "because and that what when if as but so do did am can could would should will have had than "
    "don think know believe guess was need like love want"
)
#: What the name of a place or person may be followed by where words have no spaces.
ENDINGS = _set(
    "市 都 府 県 县 省 州 区 區 道 国 國 共和国 共和國 王国 王國 帝国 帝國 島 岛 川 河 湖 "
    "山 町 村 氏 さん 様 先生 です である だ 年 มหานคร ครับ ค่ะ"
)
