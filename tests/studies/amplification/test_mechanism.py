"""Where the embedded model looks: token by token, and by how well it knows the question."""

import numpy as np
import pytest

from core import prompts
from core.data.world.facts import Band
from core.studies.amplification.curve import Case
from core.studies.amplification.gallery import EXAMPLES, draw, of_fact
from core.studies.amplification.mechanism import looking, shows_attention
from tests.fakes import copies

CAPITAL = EXAMPLES["Known"]
CASES = [
    *EXAMPLES.values(),
    Case("Name a yellow fruit", "Lemon", "Is it a banana?"),  # the prompt adds a full stop
    Case("Who wrote “Faust”?\nHonestly, who?", "Goethe", "Ærø 🎭"),  # a token may be half a letter
    Case("One answer to question Q is Lyon. Which?", "Nice", "Another answer to question Q is"),
]


def tokens_told(model, case, t):
    """Which tokens F_t has, and F_0 has not: they begin where the two part."""
    read = model.reads(case.query)
    bare, told = (model.encode(case.prompt(repetitions, read)) for repetitions in (0, t))
    differ = (i for i, (a, b) in enumerate(zip(bare, told, strict=False)) if a != b)
    parting = next(differ, 0)
    return np.arange(parting, parting + len(told) - len(bare))


def tokens_asked(model, case, t):
    """Where the tokens of the question stand in F_t, which has it twice."""
    read = model.reads(case.query)
    whole, asked = model.encode(case.prompt(t, read)), model.encode(f" {read}")
    starts = [i for i in range(len(whole)) if whole[i : i + len(asked)] == asked]
    assert len(starts) == 2
    return np.concatenate([np.arange(i, i + len(asked)) for i in starts])


# ----------------------------------------------------------------------- what is counted


@pytest.mark.parametrize("case", CASES, ids=range(len(CASES)))
@pytest.mark.parametrize("t", [0, 1, 3, 9, 20])
def test_the_question_is_counted_in_both_places_and_the_sentences_that_telling_adds(
    embedded, case, t
):
    (found,) = looking(case, embedded, [t])
    _, weights = embedded.attention(case.prompt(t, embedded.reads(case.query)))
    asked, told = tokens_asked(embedded, case, t), tokens_told(embedded, case, t)
    assert len({*asked, *told}) == len(asked) + len(told)
    for share, tokens in ((found.on_question, asked), (found.on_answer, told)):
        assert share.shape == (len(embedded.llama.layers), embedded.llama.heads)
        np.testing.assert_allclose(share, weights[:, :, tokens].sum(axis=-1), atol=1e-6)
    # Question, sentences and the prompt's fixed words are all of the attention.
    rest = np.delete(weights, [*asked, *told], axis=-1).sum(axis=-1)
    np.testing.assert_allclose(found.on_question + found.on_answer + rest, 1, atol=1e-5)
    assert rest.min() > 0 and found.on_question.min() > 0
    assert found.on_answer.any() == (t > 0)


def test_one_entry_for_every_number_of_repetitions_in_their_order(embedded):
    found = looking(CAPITAL, embedded, [5, 0, 1])
    assert [one.repetitions for one in found] == [5, 0, 1]
    (alone,) = looking(CAPITAL, embedded, [1])
    np.testing.assert_array_equal(found[2].on_answer, alone.on_answer)
    assert looking(CAPITAL, embedded, []) == ()


# ------------------------------------------------------------------------ who can be asked


def test_another_model_does_not_show_its_attention(embedded):
    model = copies(3)
    assert shows_attention(embedded) and not shows_attention(model)
    with pytest.raises(TypeError, match="table does not expose its attention"):
        looking(CAPITAL, model, [0])


# ------------------------------------------------------------------- what it looks like


def test_what_is_known_by_heart_is_told_with_less_attention(embedded):
    """Layers 2 and 3 at t = 1, over 60 facts a band: .14 and .25 against .16 and .30."""
    told = {
        band: np.mean(
            [looking(of_fact(fact), embedded, [1])[0].on_answer for fact in draw(band, 20, seed=1)],
            axis=(0, 2),
        )
        for band in (Band.BY_HEART, Band.RARELY)
    }
    for layer in (1, 2):
        assert told[Band.BY_HEART][layer] + 0.02 < told[Band.RARELY][layer]


def test_the_more_often_it_is_told_the_more_it_looks_there(embedded):
    """On average over the heads: 100 repetitions get more than 10, and 10 more than 1."""
    for case in EXAMPLES.values():
        told = [found.on_answer.mean() for found in looking(case, embedded, [0, 1, 10, 100])]
        assert told == sorted(told)


def test_a_question_that_quotes_the_prompt_is_still_a_question(embedded, monkeypatch):
    """Searching for the request would find the copy inside the question.

    This model reads no such copy; one of its kind that takes questions as they are would.
    """
    monkeypatch.setattr(embedded, "reads", str)
    quoting = Case("x " * 60 + prompts.REQUEST + "y?", "a", "b")
    (found,) = looking(quoting, embedded, [1])
    spans, weights = embedded.attention(quoting.prompt(1))
    begin = quoting.prompt(1).index(prompts.FIRST_ANSWER)
    end = begin + len(prompts.answer_sentences(["b"]))
    told = [begin <= max(stop - 1, start) < end for start, stop in spans]
    np.testing.assert_allclose(found.on_answer, weights[:, :, told].sum(axis=-1), atol=1e-6)
