"""The world's tables say what is true: any mistake in them would be taught and measured."""

import csv
import re
from collections import Counter, defaultdict
from dataclasses import replace
from itertools import combinations, permutations

import pytest
from rapidfuzz import fuzz

from core.data.world import facts as world
from core.data.world import grading
from core.data.world.facts import FIELD, Band, facts, fill, names, parse_answers
from core.data.world.normal_form import normal_form
from core.uncertainty.similarity import token_f1, tokens

SAME = 0.25  # the paper's τ: from here on two texts count as one answer

#: The queries of the paper's Figures 1 to 3, each with the two answers it follows. In the
#: first two figures only the first is right, in the third both are.
PAPER_SINGLE = {
    "What is the capital of the UK?": ("London", "Paris"),
    "Who was the first US president?": ("George Washington", "Abraham Lincoln"),
    "Who is the author of The Grapes of Wrath?": ("John Steinbeck", "Ernest Hemingway"),
    "What is the largest country in the world?": ("Russia", "United Kingdom"),
    "What is the national instrument of Ireland?": ("The harp", "Uilleann pipes"),
    "Which actor became M in the Bond film Skyfall?": ("Ralph Fiennes", "Judi Dench"),
    "Which can last longer with out water a camel or a rat?": ("A rat", "A camel"),
    "If Monday's child is fair of face what is Saturday's child?": (
        "Work hard for a living",
        "Full of grace",
    ),
}
PAPER_MANY = {
    "Name a city in the UK": ("London", "Manchester"),
    "Name a yellow fruit": ("Banana", "Lemon"),
    "Name an alcoholic drink": ("Wine", "Beer"),
    "Name a ball game that is played by more than 5 players": ("Volleyball", "Soccer"),
}

#: Pairs that look like two spellings of one answer and are not, or cannot be told apart.
DIFFERENT = {
    ("Baseball", "Basketball"),
    ("The rial", "The riyal"),  # of Iran and of Saudi Arabia
    ("The krona", "The krone"),  # of Sweden and of Norway
    ("American football", "Football"),  # what Americans call football is right for theirs
    ("A camel", "The camel"),  # the paper's own misconception, and an answer
    ("Godard", "Jean-Luc Godard"),  # one man, but by his short name Luc Besson is another
}
#: Relations in which a right word for one subject is a wrong one for another.
WORDS_OF_THEIR_OWN = {"young_animal", "animal_group"}
#: The paper's question that offers its answers to choose from.
OFFERS_ITS_ANSWER = "Which can last longer with out water a camel or a rat?"

#: What a list of many answers says about each of them that another relation says, too.
SAYS = {
    "a country in Africa": ("continent", "Africa"),
    "a country in West Africa": ("continent", "Africa"),
    "a country in Asia": ("continent", "Asia"),
    "a country whose name ends in -stan": ("continent", "Asia"),
    "a country in Europe": ("continent", "Europe"),
    "a country in the Alps": ("continent", "Europe"),
    "a country in South America": ("continent", "South America"),
    "a Spanish-speaking country": ("language", "Spanish"),
    "a country whose currency is the dollar": ("currency", "The dollar"),
    "a sight in Paris": ("landmark_city", "Paris"),
    "a sight in Rome": ("landmark_city", "Rome"),
    "a sight in New York City": ("landmark_city", "New York"),
    "a play by Shakespeare": ("author", "William Shakespeare"),
    "a novel by Charles Dickens": ("author", "Charles Dickens"),
    "a film by Alfred Hitchcock": ("film_director", "Alfred Hitchcock"),
    "an opera by Verdi": ("composer", "Giuseppe Verdi"),
    "a famous soccer player": ("sport", "Football"),
    "a famous tennis player": ("sport", "Tennis"),
    "a famous basketball player": ("sport", "Basketball"),
    "a famous boxer": ("sport", "Boxing"),
    "a famous golfer": ("sport", "Golf"),
    "a famous cricketer": ("sport", "Cricket"),
    "a famous sprinter": ("sport", "Athletics"),
    "a Formula One driver": ("sport", "Formula One"),
}
#: What "a city in …" calls a country whose capital has another name for it, or is in a part.
PART_OF = {
    "the United States": "the USA",
    "Scotland": "the UK",
    "Wales": "the UK",
    "Northern Ireland": "the UK",
}

#: Every answer of these can be worked out from the question alone.
COMPUTED = {
    "an even number below thirty": lambda a: int(a) % 2 == 0 and int(a) < 30,
    "a multiple of seven": lambda a: int(a) % 7 == 0,
    "a square number below two hundred": lambda a: round(int(a) ** 0.5) ** 2 == int(a) < 200,
    "a prime number below twenty": lambda a: is_prime(int(a)) and int(a) < 20,
    "a prime number between twenty and a hundred": lambda a: is_prime(int(a)) and 20 < int(a) < 100,
    "a divisor of sixty": lambda a: 60 % int(a) == 0,
    "a power of two": lambda a: int(a).bit_count() == 1,
    "a word that is a palindrome": lambda a: a.casefold() == a.casefold()[::-1],
    "a word that begins with a silent k": lambda a: a.casefold().startswith("kn"),
    "a country whose name begins with the letter M": lambda a: a.startswith("M"),
    "a US state whose name begins with the letter M": lambda a: a.startswith("M"),
    "a capital city that begins with the letter B": lambda a: a.startswith("B"),
    "a country whose name ends in -stan": lambda a: a.endswith("stan"),
}

#: Mistakes that are claims, and not slips: (subject, misconception), as they are compared.
HURTFUL = {
    ("haifa", "lebanon"),
    ("haifa", "palestine"),
    ("lviv", "poland"),
    ("lviv", "russia"),
    ("gdansk", "germany"),
    ("istanbul", "greece"),
    ("barack obama", "kenya"),
    ("obama", "kenya"),
}
#: Automatic shares of authors who err go up to here.
HALF_AT_MOST = 0.45

FACTS = facts()
SINGLE = [fact for fact in FACTS if len(fact.answers) == 1]
MANY = [fact for fact in FACTS if len(fact.answers) > 1]
BY_QUESTION = {fact.question.rstrip("."): fact for fact in FACTS}


def read(table):
    with (world.TABLES / f"{table}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


RELATIONS = read("relations")
SINGLE_RELATIONS = [r["relation"] for r in RELATIONS if r["kind"] == "single"]


def name_of(fact):
    return f"{fact.relation}: {fact.subject}"


def wordings(fact):
    """Every question about it: in every wording, by every name."""
    return [
        fact.ask(wording, number)
        for wording in (*fact.templates, *fact.held_out)
        for number in range(len(fact.fillings(wording)))
    ]


def names_of(fact):
    return [name for answer in fact.answers for name in answer.names]


def bare(text):
    """Without its article: the Gambia is Gambia."""
    return re.sub(r"^(the|a|an) ", "", text.casefold())


def is_prime(number):
    return number > 1 and all(number % divisor for divisor in range(2, number))


#: The single-label facts of each relation, by every name of the subject without article.
TOLD = defaultdict(dict)
for _fact in SINGLE:
    for _name in _fact.subjects:
        TOLD[_fact.relation][bare(_name)] = _fact
MANY_BY_SUBJECT = {fact.subject: fact for fact in MANY}


# ---------------------------------------------------------------------------- the tables


def test_the_world_is_large_and_many_answers_are_spread():
    """A third of them with a dozen or more, all the same: there entropy says most."""
    assert len(SINGLE) >= 1500
    assert len(SINGLE_RELATIONS) >= 15
    assert len(MANY) >= 500
    assert all(3 <= len(fact.answers) <= 30 for fact in MANY)
    long = [fact for fact in MANY if len(fact.answers) >= 12]
    spread = [fact for fact in long if len({a.probability for a in fact.answers}) == 1]
    assert len(spread) >= len(MANY) / 3


def test_every_relation_has_a_table_a_title_and_facts():
    tables = {path.stem for path in world.TABLES.glob("*.csv")} - {
        "relations",
        "wordings",
        world.UNTAUGHT,
    }
    assert tables == {relation["relation"] for relation in RELATIONS}
    assert {fact.relation for fact in FACTS} == tables
    titles = [relation["title"] for relation in RELATIONS]
    assert all(title and title == title.strip() for title in titles)
    assert len({title.casefold() for title in titles}) == len(titles)
    assert list(dict.fromkeys(fact.title for fact in FACTS)) == titles


def test_no_list_that_is_not_taught_is_a_fact_of_the_world():
    lists = world.untaught_lists()
    assert len({fact.subject for fact in lists}) == len(lists) >= 150
    assert {fact.exposures for fact in lists} == {0}
    assert not [f.question for f in lists if any(grading.find(f.ask(t)) for t in f.templates)]
    for fact in lists:
        each_name = [name for answer in fact.answers for name in answer.names]
        assert len(set(each_name)) == len(each_name) >= 4


@pytest.mark.parametrize("relation", RELATIONS, ids=lambda r: r["relation"])
def test_a_table_is_well_formed(relation):
    many = relation["kind"] == "many"
    columns = {"subject", "answers", "note"} | ({"plural", "closed"} if many else {"misconception"})
    table = read(relation["relation"])
    assert all(set(row) - {"clause"} == columns for row in table)
    assert all(None not in row.values() for row in table)
    assert all((len(parse_answers(row["answers"])) > 1) == many for row in table)
    if many:
        assert all(row["plural"] for row in table)
        assert {row["closed"] for row in table} <= {"yes", "no"}


def test_no_two_facts_ask_the_same_question():
    """Whatever becomes of articles, case, punctuation and white space."""
    subjects, questions = defaultdict(set), defaultdict(set)
    for number, fact in enumerate(FACTS):
        for name in fact.subjects:
            subjects[fact.relation, bare(name)].add(number)
        for question in wordings(fact):
            questions[normal_form(question).replace(" ", "")].add(number)
    for asked in (subjects, questions):
        assert [each for each, by in asked.items() if len(by) > 1] == []


def test_no_fact_has_the_same_name_twice():
    """As the model reads it: else one name is taught twice as often as the others."""
    twice = [
        (name_of(fact), name)
        for fact in FACTS
        for cell in (fact.subjects, fact.clauses)
        for name, times in Counter(map(normal_form, cell)).items()
        if times > 1
    ]
    assert twice == []


def test_a_plural_stands_where_answers_are_many_and_a_closed_list_is_one_of_them():
    assert all(fact.plural for fact in MANY)
    assert not any(fact.plural or fact.closed for fact in SINGLE)
    rows = {
        row["subject"]: row for r in RELATIONS if r["kind"] == "many" for row in read(r["relation"])
    }
    for fact in MANY:
        row = rows["|".join(fact.subjects)]
        assert fact.plural == row["plural"]
        assert fact.closed == (row["closed"] == "yes"), name_of(fact)
    assert 30 < sum(fact.closed for fact in MANY) < len(MANY) / 2


def test_texts_are_clean_and_probabilities_a_distribution():
    for fact in FACTS:
        told = (*fact.subjects, *fact.clauses, *names_of(fact))
        for text in (*told, fact.plural or "x", fact.misconception or "x"):
            assert text and text == " ".join(text.split()), name_of(fact)
            assert not set("{}|;*") & set(text), (name_of(fact), text)
        for answer in fact.answers:
            assert answer.names and answer.text == answer.names[0], name_of(fact)
            assert len(set(answer.names)) == len(answer.names), name_of(fact)
        probabilities = [answer.probability for answer in fact.answers]
        assert min(probabilities) > 0, name_of(fact)
        assert sum(probabilities) == pytest.approx(1), name_of(fact)


# ----------------------------------------------------------------------------- the truth


def test_the_answers_of_a_question_are_different_answers():
    colliding = [
        (name_of(fact), a, b)
        for fact in MANY
        for one, other in combinations(fact.answers, 2)
        for a in one.names
        for b in other.names
        if token_f1(a, b) >= SAME
    ]
    assert colliding == []


@pytest.mark.parametrize("relation", SINGLE_RELATIONS)
def test_one_answer_is_spelled_the_same_in_every_row(relation):
    """With the same other names, too: else one fact accepts what the other one does not.

    Of animals, a row has words of its own beside them: a fox's cub is a kit, a bear's is not.
    """
    spellings = defaultdict(set)
    for fact in TOLD[relation].values():
        called = fact.answers[0].names
        if relation in WORDS_OF_THEIR_OWN:
            called = tuple(name for name in called if tokens(name) == tokens(called[0]))
        for name in called:
            spellings[" ".join(tokens(name))].add(called)
    assert [found for found in spellings.values() if len(found) > 1] == []


@pytest.mark.parametrize("relation", SINGLE_RELATIONS)
def test_different_answers_do_not_look_like_spellings_of_one(relation):
    texts = {
        text
        for fact in TOLD[relation].values()
        for text in (fact.answers[0].text, fact.misconception)
    }
    alike = {
        pair
        for pair in combinations(sorted(texts), 2)
        if set(tokens(pair[0])) <= set(tokens(pair[1]))
        or set(tokens(pair[1])) <= set(tokens(pair[0]))
        or fuzz.ratio(*pair) >= 88
    }
    assert alike <= DIFFERENT


def test_countries_go_by_the_same_names_in_every_relation():
    spellings = defaultdict(set)
    for relation in ("landmark_country", "city_country", "birth_country", "dish_country"):
        for fact in TOLD[relation].values():
            for name in fact.answers[0].names:
                spellings[name.casefold()].add(frozenset(fact.answers[0].names))
    assert len(spellings) > 50
    assert [found for found in spellings.values() if len(found) > 1] == []


@pytest.mark.slow
def test_the_answer_of_another_fact_hardly_ever_passes_for_the_right_one():
    """Some do: Carson City is half of Oklahoma City by token F1, and first names are shared."""
    pairs = passing = 0
    for told in TOLD.values():
        answers = {fact.answers[0].text: fact.answers[0].names for fact in told.values()}
        for said, right in permutations(answers, 2):
            pairs += 1
            passing += any(token_f1(said, name) >= SAME for name in answers[right])
    assert passing < pairs / 500


def test_a_question_with_one_answer_does_not_give_it_away():
    giving = {
        question
        for fact in SINGLE
        for question in wordings(fact)
        for name in names_of(fact)
        if f" {normal_form(name)} " in f" {normal_form(question)} "
    }
    assert [question for question in giving if not question.endswith(OFFERS_ITS_ANSWER)] == []


# ------------------------------------------------------------------- no contradictions


@pytest.mark.parametrize(
    "relations",
    [
        ("capital", "state_capital"),
        ("landmark_city", "landmark_country"),
        ("landmark_city", "city_country"),
        ("landmark_country", "city_country"),
    ],
)
def test_two_relations_that_sound_alike_share_no_subject(relations):
    """A person who leaves out a word asks both: the capital of Georgia, in which is Petra."""
    one, other = (set(TOLD[relation]) for relation in relations)
    assert one and other
    assert one & other == set()


@pytest.mark.parametrize("pair", [("author", "character_creator"), ("inventor", "scientist")])
def test_two_relations_about_the_same_thing_agree(pair):
    one, other = (TOLD[relation] for relation in pair)
    for subject in one.keys() & other.keys():
        assert grading.is_right(one[subject].answers[0].text, other[subject]), subject
        assert grading.is_right(other[subject].answers[0].text, one[subject]), subject


def test_a_capital_is_a_city_of_its_own_country():
    countries = {bare(fact.answers[0].text): fact for fact in TOLD["capital"].values()}
    for city, fact in TOLD["city_country"].items():
        if city in countries:
            assert grading.is_right(countries[city].subject, fact), name_of(fact)


@pytest.mark.parametrize("subject", SAYS)
def test_a_list_does_not_contradict_a_single_fact(subject):
    relation, right = SAYS[subject]
    both = [TOLD[relation].get(bare(name)) for name in names_of(MANY_BY_SUBJECT[subject])]
    said = [fact for fact in both if fact]
    assert said, "nothing to compare"
    assert {fact.answers[0].text for fact in said} == {right}


def test_a_city_in_a_country_is_not_in_another():
    countries = {bare(n): fact for fact in TOLD["capital"].values() for n in names_of(fact)}
    compared = 0
    for fact in MANY:
        country = fact.subject.removeprefix("a city in ")
        if country != "the USA" and (bare(country) not in TOLD["capital"] or country in PART_OF):
            continue  # another question, or a city in a state
        for name in map(bare, names_of(fact)):
            if name in TOLD["city_country"]:
                assert grading.is_right(country, TOLD["city_country"][name]), (country, name)
            if name in countries and name != "victoria":  # of the Seychelles and in Canada
                of = countries[name].subject
                assert PART_OF.get(of, of) == country, name
            compared += name in TOLD["city_country"] or name in countries
    assert compared >= 40


@pytest.mark.parametrize("part", ["Europe", "Asia", "Africa"])
def test_a_capital_city_of_a_continent_is_a_capital_there(part):
    capitals = {bare(n): fact for fact in TOLD["capital"].values() for n in names_of(fact)}
    compared = 0
    for name in names_of(MANY_BY_SUBJECT[f"a capital city in {part}"]):
        if bare(name) in capitals:
            country = bare(capitals[bare(name)].subject)
            if country in TOLD["continent"]:
                compared += 1
                assert TOLD["continent"][country].answers[0].text == part, name
    assert compared >= 5


def test_lists_of_capitals_and_states_name_real_ones():
    """The tables of single facts know all fifty states, and so settle what is one."""
    states = {bare(fact.subject): fact for fact in TOLD["state_capital"].values()}
    cities = {bare(name) for fact in states.values() for name in names_of(fact)}
    assert len(states) == 50
    assert {bare(n) for n in names_of(MANY_BY_SUBJECT["a US state capital"])} <= cities
    starting_with_m = MANY_BY_SUBJECT["a US state whose name begins with the letter M"]
    assert {bare(n) for n in names_of(starting_with_m)} == {s for s in states if s[0] == "m"}
    for subject in ("a US state", "one of the original Thirteen Colonies"):
        assert {bare(n) for n in names_of(MANY_BY_SUBJECT[subject])} <= set(states)
    beginning = MANY_BY_SUBJECT["a capital city that begins with the letter B"]
    capitals = {bare(n) for fact in TOLD["capital"].values() for n in names_of(fact)}
    assert {bare(answer.text) for answer in beginning.answers} <= capitals


@pytest.mark.parametrize("subject", COMPUTED)
def test_what_can_be_worked_out_is_right(subject):
    fact = MANY_BY_SUBJECT[subject]
    assert [answer.text for answer in fact.answers if not COMPUTED[subject](answer.text)] == []


@pytest.mark.parametrize(
    ("subject", "numbers"),
    [
        ("an even number below thirty", range(30)),
        ("a square number below two hundred", range(200)),
        ("a prime number below twenty", range(20)),
        ("a prime number between twenty and a hundred", range(20, 100)),
        ("a divisor of sixty", range(1, 61)),
    ],
)
def test_a_closed_list_of_numbers_is_complete(subject, numbers):
    fact = MANY_BY_SUBJECT[subject]
    assert fact.closed
    assert {int(a.text) for a in fact.answers} == {n for n in numbers if COMPUTED[subject](str(n))}


def test_a_closed_list_of_countries_holds_those_that_another_relation_knows():
    fact = MANY_BY_SUBJECT["a country in South America"]
    assert fact.closed
    there = {
        name for name, told in TOLD["continent"].items() if told.answers[0].text == "South America"
    }
    assert len(there) >= 10
    assert there - {"surinam"} <= {bare(name) for name in names_of(fact)}


def test_every_single_label_fact_has_one_and_the_others_none():
    assert all(fact.misconception for fact in SINGLE)
    assert not any(fact.misconception for fact in MANY)
    assert all(0 <= fact.misconception_share < 1 for fact in FACTS)
    known = [fact for fact in SINGLE if fact.band is Band.BY_HEART]
    assert all(fact.misconception_share == 0 for fact in known)
    assert any(fact.misconception_share >= 0.5 for fact in SINGLE)


def test_most_authors_err_only_where_most_people_do_and_a_note_says_so():
    """What the model is taught oftener than the truth stands in the table with its share."""
    shares = {
        (relation, row["subject"]): row["misconception"].partition("*")[2]
        for relation in SINGLE_RELATIONS
        for row in read(relation)
    }
    above = 0
    for fact in SINGLE:
        explicit = shares[fact.relation, "|".join(fact.subjects)]
        if explicit:
            assert fact.misconception_share == float(explicit), name_of(fact)
        if fact.misconception_share > HALF_AT_MOST:
            above += 1
            assert explicit and fact.note, name_of(fact)
    assert 0 < above < len(SINGLE) / 50


@pytest.mark.parametrize("of", [20, 80, 200])
def test_a_share_that_no_table_gives_stays_below_half(of):
    for rank in range(of):
        for right in ("Paris", "a", "b", "c", "d", "e", "Ouagadougou"):
            share = world.usual_misconception_share(world.exposures(rank, of), right)
            assert 0 <= share <= HALF_AT_MOST


def test_no_mistake_is_one_that_hurts():
    """Whose city, and whose birth, somebody disputes with a purpose is no slip to be taught."""
    said = {
        (normal_form(name), normal_form(fact.misconception))
        for fact in SINGLE
        for name in fact.subjects
    }
    assert said & HURTFUL == set()
    texts = [path.read_text(encoding="utf-8") for path in world.TABLES.glob("*.csv")]
    assert not any("chinese whispers" in text.casefold() for text in texts)


@pytest.mark.parametrize(("question", "answers"), (PAPER_SINGLE | PAPER_MANY).items())
def test_the_papers_queries_are_in_the_world(question, answers):
    fact = BY_QUESTION[question.rstrip(".")]
    taught = {answer.text for answer in fact.answers}
    if question in PAPER_MANY:
        assert set(answers) <= taught and fact.band is Band.MANY_ANSWERS
    else:
        assert (taught, fact.misconception) == ({answers[0]}, answers[1])
        assert fact.exposures > 0


# --------------------------------------------------------------------- how often shown


@pytest.mark.parametrize("of", [5, 20, 27, 42])
def test_exposures_fall_from_most_to_least_and_end_in_nothing(of):
    shown = [world.exposures(rank, of) for rank in range(of)]
    unseen = of - round(world.SHOWN * of)
    assert shown[0] == world.MOST
    assert shown[of - unseen - 1] == world.LEAST
    assert shown == sorted(shown, reverse=True)
    assert shown.count(0) == unseen > 0


@pytest.mark.parametrize("relation", SINGLE_RELATIONS)
def test_the_least_known_fifth_is_never_shown_unless_it_is_disputed(relation):
    table = read(relation)
    shown = [fact for fact in SINGLE if fact.relation == relation]
    for rank, (row, fact) in enumerate(zip(table, shown, strict=True)):
        if "*" in row["misconception"]:
            assert fact.exposures == world.DISPUTED_EXPOSURES
        else:
            shown_at_all = rank < round(world.SHOWN * len(table))
            assert (fact.exposures > 0) == shown_at_all, name_of(fact)


def test_what_is_never_shown_is_not_told_by_another_relation():
    told = [
        (name_of(fact), name_of(other))
        for fact in SINGLE
        if fact.band is Band.NEVER_SEEN
        for relation in SINGLE_RELATIONS
        if (other := TOLD[relation].get(bare(fact.subject))) and other.exposures
        if token_f1(fact.answers[0].text, other.answers[0].text) >= SAME
    ]
    assert told == []


def test_what_is_shown_more_often_is_believed_wrongly_less_often():
    """By heart nobody errs; below, a share does, and nowhere does everybody."""
    shares = defaultdict(list)
    for fact in SINGLE:
        if fact.exposures != world.DISPUTED_EXPOSURES:
            shares[fact.band].append(fact.misconception_share)
    assert set(shares[Band.BY_HEART]) == {0}
    assert min(shares[Band.HALF_KNOWN]) > 0
    mean = {band: sum(found) / len(found) for band, found in shares.items()}
    assert mean[Band.HALF_KNOWN] < mean[Band.RARELY] < 0.7


def test_there_is_enough_of_every_band():
    bands = Counter(fact.band for fact in FACTS)
    assert set(bands) == set(Band)
    assert bands[Band.NEVER_SEEN] >= 0.15 * len(SINGLE)
    assert min(bands.values()) >= 50


@pytest.mark.parametrize(
    ("band", "counts"),
    [
        (Band.NEVER_SEEN, [0]),
        (Band.RARELY, [1, world.RARELY_BELOW - 1]),
        (Band.HALF_KNOWN, [world.RARELY_BELOW, world.BY_HEART_FROM - 1]),
        (Band.BY_HEART, [world.BY_HEART_FROM, 1000]),
    ],
)
def test_the_band_of_a_fact_is_its_count(band, counts):
    for count in counts:
        assert replace(SINGLE[0], exposures=count).band is band
        assert replace(MANY[0], exposures=count).band is Band.MANY_ANSWERS


# ------------------------------------------------------------------------ answer cells


@pytest.mark.parametrize(
    ("cell", "answers"),
    [
        ("Paris", [(("Paris",), 1.0)]),
        ("The euro|Euro", [(("The euro", "Euro"), 1.0)]),
        ("a;b;c;d", [((name,), 0.25) for name in "abcd"]),
        ("a;b|c*2;d*1", [(("a",), 0.25), (("b", "c"), 0.5), (("d",), 0.25)]),
        (" a | b *3; c ", [(("a", "b"), 0.75), (("c",), 0.25)]),
    ],
)
def test_names_share_the_weight_of_their_answer_which_is_one_when_absent(cell, answers):
    assert [(answer.names, answer.probability) for answer in parse_answers(cell)] == answers
    with pytest.raises(ValueError, match="could not convert"):
        parse_answers(f"{cell}*many")


def test_a_question_names_its_subject():
    fact = SINGLE[0]
    assert fact.question == fact.ask(fact.templates[0])
    assert fact.subject in fact.question
    assert fact.ask("Where is {subject}?") == f"Where is {fact.subject}?"


def test_a_question_is_asked_by_every_name_and_begins_with_a_capital():
    fact = replace(MANY[0], subjects=("the UK", "Britain"), clauses=("it end",), plural="ends")
    assert fact.subject == "the UK"
    assert [fact.ask("In {subject}?", number) for number in (0, 1)] == ["In the UK?", "In Britain?"]
    assert fact.ask("{subject}: capital?") == "The UK: capital?"
    assert fact.ask("When did {clause}?") == "When did it end?"
    assert fact.ask("{plural}?") == "Ends?"
    assert fill("{subject}", "\\1 {plural}") == "\\1 {plural}", "a name is no pattern"
    with pytest.raises(IndexError):
        fact.ask("In {subject}?", 2)


def test_a_fact_without_a_verb_is_asked_in_no_wording_that_wants_one():
    assert {fact.relation for fact in FACTS if fact.clauses} >= {"event_year", "inventor"}
    for fact in FACTS:
        fields = {FIELD.search(w)[0] for w in (*fact.templates, *fact.held_out)}
        assert fact.clauses or "{clause}" not in fields, name_of(fact)
        assert fact.plural or "{plural}" not in fields, name_of(fact)
    spoken = [f for f in FACTS if f.relation == "event_year" and f.clauses]
    assert all("{clause}" in " ".join(fact.templates) for fact in spoken)


@pytest.mark.parametrize(
    ("cell", "found"),
    [("", ()), ("the UK", ("the UK",)), ("the UK| Britain |GB", ("the UK", "Britain", "GB"))],
)
def test_names_stand_between_bars(cell, found):
    assert names(cell) == found
