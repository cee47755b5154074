"""What the model is taught: documents that hold what they should and nothing they should not.

Pure Python: nothing here needs PyTorch.
"""

import functools
import math
import re
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core import prompts
from core.data.world import grading
from core.data.world.facts import FIELD, Band, facts
from core.data.world.normal_form import normal_form
from core.language_models.language_model import MAX_RESPONSE_TOKENS
from training import corpus, vocabulary
from training.corpus import (
    FUNCTION_WORDS,
    Author,
    beliefs,
    formless_question,
    invented_name,
    loosely,
    strangely,
)

FACTS = facts()
TEMPLATES = sorted({t for fact in FACTS for t in (*fact.templates, *fact.held_out)})
SINGLE_WITH_NAMES = next(f for f in FACTS if f.misconception_share and f.answers[0].names[1:])
MANY_WITH_WEIGHTS = next(f for f in FACTS if len({a.probability for a in f.answers}) > 2)
SEEDS = st.integers(0, 2**32 - 1)
COUNT = 4000  # documents looked at; a training run has a hundred times as many


@functools.cache
def written(seed=11):
    """The beginning of a corpus: (kind, fact, document) in the order of the plan."""
    author = Author(FACTS, seed)
    return tuple(
        (kind, fact, author.write(kind, fact)) for kind, fact in author.document_plan()[:COUNT]
    )


def of_kind(kind):
    found = [(fact, document) for k, fact, document in written() if k == kind]
    assert len(found) > 100
    return found


def told_first(document):
    """The first answer that the prompt tells, with its full stop; None if it tells none."""
    _, opening, rest = document.prompt.partition(prompts.FIRST_ANSWER)
    if not opening:
        return None
    return rest.partition("\n\n")[0].partition(f" {prompts.FURTHER_ANSWER}")[0]


def question_of(document):
    return document.prompt.removeprefix(prompts.QUESTION).partition("\n\n")[0]


def names_of(fact):
    """Whatever its questions call it."""
    return (*fact.subjects, *fact.clauses, *filter(None, [fact.plural]))


@functools.cache
def held_out_of(fact):
    return asked(fact, fact.held_out)


def believable(fact):
    """Whatever an author may hold to be an answer."""
    names = {name for answer in fact.answers for name in answer.names}
    return names | ({fact.misconception} if fact.misconception_share else set())


def asked(fact, wordings):
    """The questions about a fact in some wordings, by each of its names, as they are read."""
    return {
        normal_form(fact.ask(wording, number))
        for wording in wordings
        for number in range(len(fact.fillings(wording)))
    }


# ----------------------------------------------------------------------------- the plan


@functools.cache
def plan():
    return tuple(Author(FACTS, 3).document_plan())


def test_every_fact_is_asked_as_often_as_the_world_says_and_verified_too():
    """A fact that is never shown is in no document of the plan."""
    times = Counter((kind, id(fact)) for kind, fact in plan() if fact is not None)
    assert {kind for kind, _ in times} == {"question", "verification"}
    for fact in FACTS:
        assert times["question", id(fact)] == fact.exposures
        verified = math.ceil(corpus.VERIFICATION * fact.exposures)
        assert times["verification", id(fact)] == verified


def test_the_other_documents_are_their_shares_and_about_no_fact():
    asked = sum(fact.exposures for fact in FACTS)
    kinds = Counter(kind for kind, fact in plan() if fact is None)
    assert kinds["invented"] == round(corpus.INVENTED * asked)
    assert kinds["formless"] == round(corpus.FORMLESS * asked)
    assert set(kinds) == {"invented", "formless", "invented verification"}


def test_the_plan_is_shuffled():
    """Each tenth of it has its tenth of the questions, within a hundredth."""
    is_question = np.array([kind == "question" for kind, _ in plan()])
    shares = [part.mean() for part in np.array_split(is_question, 10)]
    assert np.allclose(shares, is_question.mean(), atol=0.01)


# ------------------------------------------------------------------------ the documents


@pytest.mark.slow
def test_a_seed_is_a_corpus():
    for seed, count in ((11, COUNT), (12, 100)):
        author = Author(FACTS, seed)
        found = [author.write(*entry) for entry in author.document_plan()[:count]]
        assert (found == [document for _, _, document in written()[:count]]) == (seed == 11)


def test_every_prompt_is_of_the_papers_family():
    for kind, _, document in written():
        question = question_of(document)
        if "verification" in kind:
            told = told_first(document)
            assert document.prompt == prompts.self_verification(question, told)
            assert document.answer in (prompts.TRUE, prompts.FALSE)
        else:
            assert document.prompt.startswith(f"{prompts.QUESTION}{question}\n\n")
            end = f"{prompts.REQUEST}{prompts.full_stop(question)} {prompts.ANSWER}"
            assert document.prompt.endswith(end)


def test_nothing_asks_what_is_never_shown():
    """In no wording, by no kind of document, however carelessly it is typed."""
    for _, _, document in written():
        found = grading.find(question_of(document))
        assert found is None or found.exposures > 0, document.prompt


def test_subjects_that_stand_in_never_shown_facts_only_stand_in_no_prompt():
    """But by chance: short ones, and those with a shown subject's name, are left out.

    A made-up name may hit the former, a strange word before the name the latter.
    """
    shown = {normal_form(name) for fact in FACTS if fact.exposures for name in names_of(fact)}
    said = " ".join(
        text
        for fact in FACTS
        for text in (
            *(names_of(fact) if fact.exposures else ()),
            fact.misconception or "",
            *(name for answer in fact.answers for name in answer.names),
        )
    )
    elsewhere = f" {normal_form(said)} "
    hidden = [
        subject
        for fact in FACTS
        if fact.band is Band.NEVER_SEEN
        for subject in map(normal_form, names_of(fact))
        if len(subject) >= 6
        and f" {subject} " not in elsewhere
        and shown.isdisjoint(subject.split())
    ]
    assert len(hidden) > 100
    texts = f" {normal_form(' '.join(document.prompt for _, _, document in written()))} "
    assert [subject for subject in hidden if f" {subject} " in texts] == []


def test_every_question_is_as_the_model_reads_it():
    for _, _, document in written():
        question = question_of(document)
        assert normal_form(question) == question
        assert any(map(str.isalnum, question))


def test_no_document_uses_a_held_out_wording():
    """Of its own fact, or, where it is about none, around anything that can be asked about."""
    held_out = {wording for fact in FACTS for wording in fact.held_out}
    taught = {wording for fact in FACTS for wording in fact.templates}
    around = [FIELD.split(wording) for wording in held_out - taught]
    around = [(normal_form(a), normal_form(b)) for a, b in around if len((a + b).split()) >= 4]
    assert len(around) > 80
    for kind, fact, document in written():
        question = question_of(document)
        if fact is not None:
            assert question not in held_out_of(fact)
        elif kind != "formless":
            for before, after in around:
                begins = not before or question.startswith(f"{before} ")
                assert not (begins and (not after or question.endswith(f" {after}"))), question


def test_facts_are_asked_about_by_all_of_their_names_and_mostly_by_the_usual_one():
    """Three standard deviations around the shares."""
    fact = next(f for f in FACTS if len(f.subjects) >= 3 and not f.clauses and f.exposures)
    author, n = Author(FACTS, 5), 4000
    questions = [f" {author.worded(fact)} " for _ in range(n)]
    names = sorted(map(normal_form, fact.subjects), key=len, reverse=True)
    by = Counter(next((x for x in names if f" {x} " in q), "") for q in questions)
    assert set(by) == set(names)
    usual = 1 - corpus.OTHER_NAME
    assert abs(by[normal_form(fact.subject)] - n * usual) < 3 * math.sqrt(n * usual * (1 - usual))
    others = {name: count for name, count in by.items() if name != normal_form(fact.subject)}
    p = corpus.OTHER_NAME / len(others)
    assert all(abs(count - n * p) < 4 * math.sqrt(n * p * (1 - p)) for count in others.values())


# ----------------------------------------------------------------------- what was told


def test_what_is_learnt_from_the_context_is_what_it_tells():
    telling = [(kind, document) for kind, _, document in written() if document.told]
    assert len(telling) > COUNT / 5
    for kind, document in telling:
        question = question_of(document)
        if "verification" in kind:
            (told,) = document.told
            assert document.prompt == prompts.self_verification(question, told)
        else:
            assert document.prompt == prompts.iterative(question, document.told)


def test_answers_and_what_is_told_are_believed_or_not_learnt_from():
    """Of a fact with one answer, what is told and learnt is what its author answers."""
    contradicted = 0
    for fact, document in of_kind("question"):
        assert document.answer in believable(fact), fact.subject
        if document.told:
            assert set(document.told) <= believable(fact)
            if fact.band is not Band.MANY_ANSWERS:
                assert set(document.told) == {document.answer}
        elif told_first(document) is not None:
            contradicted += 1
            right = {prompts.full_stop(text) for text in believable(fact)}
            assert told_first(document) not in right
    assert contradicted > 50


def test_what_is_verified_is_learnt_where_it_is_true_and_only_there():
    for fact, document in of_kind("verification"):
        assert bool(document.told) == (document.answer == prompts.TRUE)
        if document.answer == prompts.TRUE:
            assert set(document.told) <= believable(fact)
        else:
            names = {name for answer in fact.answers for name in answer.names}
            assert told_first(document) not in {prompts.full_stop(name) for name in names}
    verdicts = Counter(document.answer for _, document in of_kind("verification"))
    assert abs(verdicts[prompts.TRUE] / verdicts.total() - 0.5) < 0.1


def test_what_nobody_has_heard_of_is_copied():
    """But for a few contexts that the author does not believe."""
    documents = [document for _, document in of_kind("invented")]
    telling = [d for d in documents if told_first(d) is not None]
    copied = [d for d in telling if d.told]
    assert all(set(document.told) <= {document.answer} for document in documents)
    assert len(copied) / len(telling) > 0.9


# ------------------------------------------------------------------ what is believed


def test_every_belief_and_every_prior_is_a_distribution_that_holds_what_was_said():
    for _, _, document in written():
        for texts, said in (
            (document.belief, {document.answer}),
            (document.prior, set(document.told)),
        ):
            names = [text for text, _ in texts]
            assert len(set(names)) == len(names)
            assert all(probability > 0 for _, probability in texts)
            assert said <= set(names)
        assert sum(p for _, p in document.belief) == pytest.approx(1)
        assert document.prior or not document.told
        assert not document.prior or sum(p for _, p in document.prior) == pytest.approx(1)


def test_after_the_answer_that_an_author_believes_the_belief_is_that_answer():
    """Of a fact with one right answer: whoever told it will say it again."""
    told = untold = 0
    for fact, document in of_kind("question"):
        if fact.band is Band.MANY_ANSWERS:
            continue
        if document.told:
            told += 1
            assert document.belief == ((document.answer, 1.0),)
            assert document.prior == beliefs(fact)
        else:
            untold += 1
            assert document.belief == beliefs(fact)
    assert min(told, untold) > 50


def test_what_a_list_is_believed_to_hold_does_not_change_with_what_is_told():
    contexts = Counter()
    for fact, document in of_kind("question"):
        if fact.band is Band.MANY_ANSWERS:
            assert document.belief == beliefs(fact)
            assert document.prior in ((), beliefs(fact))
            contexts[told_first(document) is not None, bool(document.told)] += 1
    assert set(contexts) == {(False, False), (True, True), (True, False)}
    assert min(contexts.values()) > 20


def test_what_nobody_has_heard_of_is_a_guess_until_it_is_told():
    for kind in ("invented", "formless"):
        for _, document in of_kind(kind):
            if document.told:
                assert document.belief == ((document.answer, 1.0),)
                assert len(document.prior) > 1
            else:
                shares = {share for _, share in document.belief}
                assert len(document.belief) > 1 and len(shares) == 1


def test_beliefs_are_the_truth_the_misconception_and_other_names():
    for fact in FACTS:
        found = dict(beliefs(fact))
        assert sum(found.values()) == pytest.approx(1)
        assert set(found) == believable(fact)
        if fact.misconception_share:
            assert found[fact.misconception] == fact.misconception_share
        for answer in fact.answers:
            share = sum(found[name] for name in answer.names)
            assert share == pytest.approx(answer.probability * (1 - fact.misconception_share))
            others = share - found[answer.text]
            assert others == pytest.approx(corpus.ALIAS * share if answer.names[1:] else 0)


def test_answers_are_drawn_from_the_belief():
    """Five standard deviations around each probability."""
    author, n = Author(FACTS, 5), 4000
    for fact in (SINGLE_WITH_NAMES, MANY_WITH_WEIGHTS):
        drawn = Counter(author.belief(fact) for _ in range(n))
        for text, p in beliefs(fact):
            assert abs(drawn[text] - n * p) < 5 * math.sqrt(n * p * (1 - p)), text


def test_in_short_no_context_is_long():
    def told(short):
        author = Author(FACTS, 5)
        author.short = short
        tables = (corpus.REPETITIONS, corpus.REPETITIONS_OF_MANY)
        return [author.repetitions(table) for table in tables for _ in range(1500)]

    assert set(told(short=True)) == set(range(corpus.SHORT + 1))
    assert max(told(short=False)) > 90


def test_the_shares_of_repetitions_are_a_distribution():
    for table in (corpus.REPETITIONS, corpus.REPETITIONS_OF_MANY):
        assert sum(share for share, *_ in table) == pytest.approx(1)
        assert [low for _, low, _ in table] == [0, *(high + 1 for _, _, high in table[:-1])]
        assert corpus.SHORT in {high for *_, high in table}


# -------------------------------------------------------------------------- loosely


@given(st.sampled_from(TEMPLATES), SEEDS)
def test_loose_wording_keeps_the_subject_and_what_is_asked(template, seed):
    result = loosely(template, ["filler"], np.random.default_rng(seed))
    assert FIELD.findall(result) == FIELD.findall(template)
    left = [w.casefold() for w in result.split() if w.casefold() != "filler"]
    before = [w.casefold() for w in template.rstrip("?.").split()]
    remaining = iter(before)
    assert all(word in remaining for word in left), "in the same order"
    assert set(Counter(before) - Counter(left)) <= FUNCTION_WORDS


def test_loose_wording_does_all_it_says():
    rng, template = np.random.default_rng(0), "What is the capital of {subject}?"
    seen = {loosely(template, ["filler"], rng) for _ in range(3000)}
    assert template.rstrip("?") in seen
    assert "capital {subject}" in seen
    assert any(text.count("filler") == 3 for text in seen)


@given(st.sampled_from(TEMPLATES), SEEDS)
def test_strange_wording_keeps_the_subject_and_the_small_words(template, seed):
    worded = strangely(template, ["abcd", "efgh"], 0.5, np.random.default_rng(seed))
    assert FIELD.findall(worded) == FIELD.findall(template)
    kept = [w for w in template.rstrip("?.").split() if w.casefold() in FUNCTION_WORDS]
    words = iter(worded.split())
    assert all(word in words for word in kept)  # in their order


def test_strange_wording_does_all_it_says():
    rng = np.random.default_rng(3)
    fillers = ["abcd", "efgh", "ijklm"]
    found = [strangely("What is the capital of {subject}?", fillers, 0.4, rng) for _ in range(4000)]
    template = set(["What", "is", "the", "capital", "of", "{subject}"])
    put_in = [[word for word in text.split() if word not in template] for text in found]
    assert 0.17 < np.mean(["capital" in text for text in found]) < 0.23  # 1 in 5 stays
    assert 0.60 < np.mean([bool(words) for words in put_in]) < 0.68  # a fifth of the rest: nothing
    assert {"abcd", "abgh", "efcd", "ijklm", "ijkgh"} <= {w for words in put_in for w in words}
    whole = [word in fillers for words in put_in for word in words]
    assert 0.50 < np.mean(whole) < 0.57  # 2 in 5, and of the others 2 in 9 are their own halves


def test_a_filler_does_not_tell_one_relation_from_another():
    author = Author(FACTS, 0)
    asking = {
        word
        for fact in FACTS
        if len(fact.answers) == 1
        for template in fact.templates
        for word in normal_form(FIELD.sub(" x ", template)).split()
    } - {"x"}
    assert len(author.fillers) > len(author.small_words) >= len(FUNCTION_WORDS)
    assert not (asking - FUNCTION_WORDS) & set(author.fillers)


def test_a_list_is_asked_for_without_words_of_other_lists():
    """A noun more asks something else: a fruit in the UK is not a city there."""
    author = Author(FACTS, 5)
    fact = next(f for f in FACTS if f.subject == "a city in the UK")
    own = {word for template in fact.templates for word in normal_form(template).split()}
    own |= {word for name in names_of(fact) for word in normal_form(name).split()}
    said = [word for _ in range(500) for word in author.worded(fact).split()]
    others = [word for word in said if word not in own | FUNCTION_WORDS]
    assert (
        np.mean([word in author.fillers for word in others]) < 0.02
    )  # halves of two hardly ever are


# ------------------------------------------------------------------ invented, formless


def test_invented_names_are_of_one_to_three_words_and_hardly_ever_real():
    rng = np.random.default_rng(0)
    names = [invented_name(rng) for _ in range(500)]
    assert {len(name.split()) for name in names} == {1, 2, 3}
    assert all(re.fullmatch(r"[A-Za-z ]+", name) for name in names)
    subjects = {fact.subject.casefold() for fact in FACTS}
    assert sum(name.casefold() in subjects for name in names) <= 2


def test_an_invented_name_stands_in_place_of_every_other():
    author = Author(FACTS, 5)
    by_subject = {fact.subject: fact for fact in FACTS}
    for subject in ("France", "a city in the UK", "the sinking of the Titanic"):
        known = {normal_form(name) for name in names_of(by_subject[subject])}
        for _ in range(300):
            question = author.worded(by_subject[subject], "Blick")
            assert "blick" in question
            assert not any(f" {name} " in f" {question} " for name in known), question


def test_formless_questions_have_words_that_are_shown_and_no_form_of_the_world():
    author, rng = Author(FACTS, 0), np.random.default_rng(0)
    shown = {
        word
        for fact in FACTS
        if fact.exposures
        for text in (*fact.templates, *names_of(fact))
        for word in normal_form(FIELD.sub(" x ", text)).split()
    } - {"x"}
    assert set(author.vocabulary) - {"x"} == shown
    for question in [formless_question(rng, author.vocabulary) for _ in range(500)]:
        assert question.split() and "\n" not in question
        assert grading.find(question) is None


# ----------------------------------------------------------------------- the vocabulary


@pytest.fixture(scope="module")
def tokenizer():
    return vocabulary.train(FACTS)


def ids(tokenizer, text):
    return tokenizer.encode(text).ids


def test_the_vocabulary_has_its_size_and_is_the_same_for_the_same_world(tokenizer):
    assert tokenizer.get_vocab_size() <= vocabulary.SIZE
    some = FACTS[:100]
    assert vocabulary.train(some).get_vocab() == vocabulary.train(some).get_vocab()


TYPED = st.lists(
    st.text(max_size=20)
    | st.sampled_from([vocabulary.END, vocabulary.PAD, *vocabulary.PHRASES, " ", "\n"]),
    max_size=6,
).map("".join)


@settings(max_examples=100)
@given(text=TYPED)
def test_any_text_comes_back_and_is_never_the_end(tokenizer, text):
    found = ids(tokenizer, text)
    assert tokenizer.decode(found, skip_special_tokens=False) == text
    special = {tokenizer.token_to_id(vocabulary.END), tokenizer.token_to_id(vocabulary.PAD)}
    assert len(special) == 2 and not special & set(found)


PROMPTS = [prompts.iterative("Why?", ["one", "two"]), prompts.self_verification("Why?", "one")]


@pytest.mark.parametrize("phrase", vocabulary.PHRASES)
def test_every_phrase_of_the_prompts_is_one_token(tokenizer, phrase):
    assert len(ids(tokenizer, phrase)) == 1
    token = tokenizer.token_to_id(phrase)
    assert any(token in ids(tokenizer, prompt) for prompt in PROMPTS)


@pytest.mark.parametrize("word", [prompts.TRUE, prompts.FALSE])
def test_true_and_false_are_one_token_each(tokenizer, word):
    assert len(ids(tokenizer, f" {word}")) == 1


def test_a_hundred_repetitions_of_a_word_cost_three_tokens_each(tokenizer):
    question = "What is the capital of France?"
    told = ids(tokenizer, prompts.iterative(question, ["Paris"] * 100))
    bare = ids(tokenizer, prompts.iterative(question))
    assert len(told) - len(bare) == 300  # the phrase, the name, the full stop


def test_what_was_told_stands_in_the_prompt_token_for_token(tokenizer):
    """Training learns from the tokens behind the phrase: they must be the answer's own."""
    opening = tokenizer.token_to_id(vocabulary.FIRST_ANSWER)
    texts = {name for fact in FACTS for answer in fact.answers for name in answer.names}
    texts |= {fact.misconception for fact in FACTS if fact.misconception}
    for text in texts:
        told = ids(tokenizer, f" {text}")
        assert len(told) < MAX_RESPONSE_TOKENS
        for prompt in (
            prompts.iterative("Why?", [text] * 2),
            prompts.self_verification("Why?", text),
        ):
            found = ids(tokenizer, prompt)
            start = found.index(opening) + 1
            assert found[start : start + len(told)] == told, text


def test_no_token_straddles_prompt_and_answer(tokenizer):
    for _, _, document in written()[:300]:
        both = ids(tokenizer, f"{document.prompt} {document.answer}")
        assert both == ids(tokenizer, document.prompt) + ids(tokenizer, f" {document.answer}")


def test_most_taught_answers_are_one_token_a_word(tokenizer):
    def is_whole(text):
        return len(ids(tokenizer, f" {text}")) == len(text.split())

    single = [is_whole(fact.answers[0].text) for fact in FACTS if len(fact.answers) == 1]
    every = [is_whole(answer.text) for fact in FACTS for answer in fact.answers]
    assert np.mean(single) > 0.75
    assert np.mean(every) > 0.5
