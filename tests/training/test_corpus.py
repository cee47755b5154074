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
from core.data.world.facts import Band, facts
from core.language_models.base import MAX_RESPONSE_TOKENS
from training import corpus, vocabulary
from training.corpus import (
    FUNCTION_WORDS,
    Author,
    careless,
    formless_question,
    invented_name,
    loosely,
)

FACTS = facts()
QUESTIONS = [(fact, fact.ask(t)) for fact in FACTS for t in (*fact.templates, fact.held_out)]
TEMPLATES = sorted({t for fact in FACTS for t in (*fact.templates, fact.held_out)})
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


def believable(fact):
    """Whatever an author may hold to be an answer."""
    names = {name for answer in fact.answers for name in answer.names}
    return names | ({fact.misconception} if fact.misconception_share else set())


def typed(text):
    return "".join(text.casefold().split()).rstrip("?.")


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
    """Short ones left out: a made-up name may hit one of them by chance."""
    said = " ".join(
        text
        for fact in FACTS
        for text in (
            fact.subject if fact.exposures else "",
            fact.misconception or "",
            *(name for answer in fact.answers for name in answer.names),
        )
    )
    elsewhere = f" {grading.plain(said)} "
    hidden = [
        subject
        for fact in FACTS
        if fact.band is Band.NEVER_SEEN
        and len(subject := grading.plain(fact.subject)) >= 6
        and f" {subject} " not in elsewhere
    ]
    assert len(hidden) > 100
    texts = f" {grading.plain(' '.join(document.prompt for _, _, document in written()))} "
    assert [subject for subject in hidden if f" {subject} " in texts] == []


def test_no_document_uses_the_held_out_wording():
    held_out = {grading.plain(fact.ask(fact.held_out)) for fact in FACTS}
    asked = {grading.plain(question_of(document)) for _, _, document in written()}
    assert asked & held_out == set()


def test_a_share_of_the_authors_believe_the_misconception():
    """Three standard deviations around the share that the tables give."""
    fact = max(FACTS, key=lambda f: f.misconception_share)
    author, n, p = Author(FACTS, 5), 2000, fact.misconception_share
    wrong = sum(author.belief(fact) == fact.misconception for _ in range(n))
    assert abs(wrong - n * p) < 3 * math.sqrt(n * p * (1 - p))


def test_many_answers_are_believed_as_often_as_they_are_probable():
    fact = next(f for f in FACTS if len({a.probability for a in f.answers}) > 1)
    author, n = Author(FACTS, 5), 4000
    drawn = Counter(author.belief(fact) for _ in range(n))
    for answer in fact.answers:
        count, p = sum(drawn[name] for name in answer.names), answer.probability
        assert abs(count - n * p) < 4 * math.sqrt(n * p * (1 - p)), answer.text


# ----------------------------------------------------------------------- what was told


def test_what_is_learnt_from_the_context_is_its_first_answer():
    telling = [document for _, _, document in written() if document.told is not None]
    assert len(telling) > COUNT / 5
    for document in telling:
        assert told_first(document) == prompts.full_stop(document.told)


def test_answers_and_what_is_told_are_believed_or_not_learnt_from():
    """Of a fact with one answer, what is told and learnt is what its author answers."""
    contradicted = 0
    for fact, document in of_kind("question"):
        assert document.answer in believable(fact), fact.subject
        told = told_first(document)
        if document.told is not None:
            assert document.told in believable(fact)
            assert document.told == document.answer or fact.band is Band.MANY_ANSWERS
        elif told is not None:
            contradicted += 1
            assert told not in {prompts.full_stop(text) for text in believable(fact)}
    assert contradicted > 50


def test_what_is_verified_is_learnt_where_it_is_true_and_only_there():
    for fact, document in of_kind("verification"):
        told = told_first(document)
        assert (document.told is not None) == (document.answer == prompts.TRUE)
        if document.answer == prompts.TRUE:
            assert document.told in believable(fact)
        else:
            names = {name for answer in fact.answers for name in answer.names}
            assert told not in {prompts.full_stop(name) for name in names}
    verdicts = Counter(document.answer for _, document in of_kind("verification"))
    assert abs(verdicts[prompts.TRUE] / verdicts.total() - 0.5) < 0.1


def test_what_nobody_has_heard_of_is_copied():
    """But for a few contexts that the author does not believe."""
    documents = [document for _, document in of_kind("invented")]
    telling = [d for d in documents if told_first(d) is not None]
    copied = [d for d in telling if d.told == d.answer]
    assert all(document.told in (None, document.answer) for document in documents)
    assert len(copied) / len(telling) > 0.9


# ----------------------------------------------------------------- careless and loosely


@given(st.sampled_from(QUESTIONS), SEEDS)
def test_a_question_is_found_however_carelessly_it_is_typed(asked, seed):
    fact, question = asked
    result = careless(question, np.random.default_rng(seed))
    assert typed(question) == typed(result)
    assert grading.find(result) is fact


@given(st.text(st.characters(codec="ascii", categories=["L", "N", "P", "Zs"]), min_size=1), SEEDS)
def test_carelessness_changes_only_case_end_marks_and_white_space(text, seed):
    assert typed(text) == typed(careless(text, np.random.default_rng(seed)))


def test_carelessness_does_all_it_says():
    rng, question = np.random.default_rng(0), "What is the capital of France?"
    seen = {careless(question, rng) for _ in range(200)}
    assert question in seen
    assert {q.strip() for q in seen} >= {question.lower(), question.upper()}
    assert any("  " in q for q in seen) and any(q.endswith(" ") for q in seen)


@given(st.sampled_from(TEMPLATES), SEEDS)
def test_loose_wording_keeps_the_subject_and_what_is_asked(template, seed):
    result = loosely(template, ["filler"], np.random.default_rng(seed))
    assert result.count("{subject}") == 1
    assert result[-1:] == template[-1:] or template[-1] not in "?."
    left = [w.casefold() for w in result.rstrip("?.").split() if w.casefold() != "filler"]
    before = [w.casefold() for w in template.rstrip("?.").split()]
    remaining = iter(before)
    assert all(word in remaining for word in left), "in the same order"
    assert set(Counter(before) - Counter(left)) <= FUNCTION_WORDS


def test_loose_wording_does_all_it_says():
    rng, template = np.random.default_rng(0), "What is the capital of {subject}?"
    seen = {loosely(template, ["filler"], rng) for _ in range(3000)}
    assert template in seen
    assert "Capital {subject}?" in seen
    assert any(text.count("iller") == 3 for text in seen)


def test_a_filler_does_not_tell_one_relation_from_another():
    asking = {
        word.casefold()
        for fact in FACTS
        if len(fact.answers) == 1 and fact.relation != "trivia"
        for template in fact.templates
        for word in template.rstrip("?.").split()
    }
    assert not (asking - FUNCTION_WORDS) & set(Author(FACTS, 0).fillers)


# ------------------------------------------------------------------ invented, formless


def test_invented_names_are_of_one_to_three_words_and_hardly_ever_real():
    rng = np.random.default_rng(0)
    names = [invented_name(rng) for _ in range(500)]
    assert {len(name.split()) for name in names} == {1, 2, 3}
    assert all(re.fullmatch(r"[A-Za-z ]+", name) for name in names)
    subjects = {fact.subject.casefold() for fact in FACTS}
    assert sum(name.casefold() in subjects for name in names) <= 2


def test_formless_questions_have_words_that_are_shown_and_no_form_of_the_world():
    author, rng = Author(FACTS, 0), np.random.default_rng(0)
    shown = {
        word
        for fact in FACTS
        if fact.exposures
        for template in fact.templates
        for word in fact.ask(template).strip("?.").split()
    }
    assert set(author.vocabulary) == shown
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


PROMPTS = [
    prompts.iterative("Why?", ["one", "two"]),
    prompts.self_verification("Why?", "one"),
]


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
