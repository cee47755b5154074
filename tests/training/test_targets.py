"""What is learnt from a document: exactly what its author might have said there.

Pure Python: nothing here needs PyTorch.
"""

import math
from collections import Counter, defaultdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.data.world.facts import facts
from training import vocabulary
from training.corpus import Author, beliefs
from training.targets import Encoder, Tree

FACTS = [*facts()[:150], *[fact for fact in facts() if len(fact.answers) > 1][:150]]
END = -1


def by_letter(text):
    return [ord(c) for c in text]


BELIEFS = st.dictionaries(st.text("ab ", min_size=1, max_size=4), st.integers(1, 9), min_size=1)
NORMALISED = BELIEFS.map(lambda w: tuple((t, n / sum(w.values())) for t, n in w.items()))


@pytest.fixture(scope="module")
def tokenizer():
    return vocabulary.train(FACTS)


@pytest.fixture(scope="module")
def written():
    author = Author(FACTS, 11)
    return [author.write(*entry) for entry in author.document_plan()[:1500]]


# ------------------------------------------------------------------------ texts as a tree


def test_a_tree_by_hand():
    tree = Tree((("ab", 0.5), ("ac", 0.25), ("a", 0.25)), by_letter, END)
    space, a, b, c = map(ord, " abc")
    assert tree.targets([space, a]) == [([space], [1.0]), ([a], [1.0])]
    after_a, after_b = tree.targets([space, a, b, END])[2:]
    assert after_a == ([b, c, END], [0.5, 0.25, 0.25])
    assert after_b == ([END], [1.0])
    with pytest.raises(KeyError):
        tree.targets([space, b, b])  # nobody says that


@given(NORMALISED)
def test_what_may_come_next_is_a_distribution_everywhere(belief):
    tree = Tree(belief, by_letter, END)
    for tokens, probabilities in tree.following.values():
        assert len(set(tokens)) == len(tokens)
        assert min(probabilities) > 0
        assert sum(probabilities) == pytest.approx(1)


@given(NORMALISED)
def test_a_text_is_as_probable_as_its_tokens_one_after_the_other(belief):
    tree = Tree(belief, by_letter, END)
    for text, probability in belief:
        tokens = [*by_letter(f" {text}"), END]
        steps = zip(tokens, tree.targets(tokens), strict=True)
        product = math.prod(dict(zip(*target, strict=True))[token] for token, target in steps)
        assert product == pytest.approx(probability)


@pytest.mark.slow
def test_what_may_come_next_is_what_comes_next_in_answers_that_are_drawn(tokenizer):
    """Five standard deviations around each probability, in 20,000 answers to each question."""
    encoder, rng, n = Encoder(tokenizer), np.random.default_rng(7), 20_000
    single = max(FACTS, key=lambda f: f.misconception_share)
    branching = max(FACTS, key=lambda f: len(f.answers))
    weighted = next(f for f in FACTS if len({a.probability for a in f.answers}) > 2)
    for fact in (single, branching, weighted):
        belief = beliefs(fact)
        texts, shares = zip(*belief, strict=True)
        after = defaultdict(Counter)
        for index, times in enumerate(rng.multinomial(n, np.array(shares) / sum(shares))):
            tokens = [*encoder.encode(f" {texts[index]}"), encoder.end]
            for i, token in enumerate(tokens):
                after[tuple(tokens[:i])][token] += int(times)
        tree = encoder.tree(belief, encoder.end)
        assert set(after) == set(tree.following)
        for beginning, (tokens, probabilities) in tree.following.items():
            drawn = after[beginning].total()
            for token, p in zip(tokens, probabilities, strict=True):
                error = 5 * math.sqrt(drawn * p * (1 - p)) + 1e-9
                assert abs(after[beginning][token] - drawn * p) <= error


# --------------------------------------------------------------------- documents in tokens


def test_what_stands_there_is_among_what_might_stand_there(tokenizer, written):
    encoder = Encoder(tokenizer)
    for document in written:
        example = encoder(document)
        tokens = [*example.tokens, encoder.end]
        assert len(example.where) == len(example.targets)
        assert len(set(example.where)) == len(example.where)
        for position, (said, probabilities) in zip(example.where, example.targets, strict=True):
            assert tokens[position + 1] in said
            assert sum(probabilities) == pytest.approx(1)


def test_the_answer_is_learnt_with_its_end_and_the_prompt_is_not(tokenizer, written):
    encoder = Encoder(tokenizer)
    for document in (d for d in written if not d.told):
        example = encoder(document)
        prompt = encoder.encode(document.prompt)
        answer = encoder.encode(f" {document.answer}")
        assert example.tokens == prompt + answer
        first = len(prompt) - 1
        assert example.where == list(range(first, first + len(answer) + 1))
        assert encoder.end in example.targets[-1][0]


def test_an_answer_that_is_told_is_learnt_where_it_stands_first(tokenizer, written):
    """Its first token only at the opening: whether it is told again hangs on the document."""
    encoder = Encoder(tokenizer)
    several = 0
    for document in (d for d in written if d.told):
        example = encoder(document)
        answer = len(encoder.encode(f" {document.answer}")) + 1
        where, targets = example.where[answer:], example.targets[answer:]
        distinct = list(dict.fromkeys(document.told))
        several += len(distinct) > 1
        said = [encoder.encode(f" {told}") for told in distinct]
        expected = [*said[0], *(token for tokens in said[1:] for token in tokens[1:])]
        assert [example.tokens[position + 1] for position in where] == expected
        tree = encoder.tree(document.prior, encoder.stop)
        learnt = [tree.targets(tokens)[bool(i) :] for i, tokens in enumerate(said)]
        assert targets == [target for part in learnt for target in part]
    assert several > 20


def test_of_a_list_all_of_it_is_learnt_from_every_document(tokenizer):
    """The first token of every answer, as probable as the answers that begin with it."""
    encoder = Encoder(tokenizer)
    fact = max(FACTS, key=lambda f: len(f.answers))
    document = Author(FACTS, 3).about(fact)
    first = len(encoder.encode(document.prompt)) - 1
    example = encoder(document)
    target = dict(zip(*example.targets[example.where.index(first)], strict=True))
    expected = Counter()
    for text, probability in beliefs(fact):
        expected[encoder.encode(f" {text}")[0]] += probability
    assert len(expected) > 8
    assert target == pytest.approx(dict(expected))
