"""Questions of the embedded world: bands, and wordings that training never used."""

import pytest

from core.data.datasets.world import NEVER_TAUGHT, world_questions
from core.data.world.facts import Band, facts, untaught_lists
from core.data.world.grading import find


def test_every_fact_is_asked_for_once():
    found = list(world_questions())
    everything = (*facts(), *untaught_lists())
    assert len(found) == len(everything) == len({question.id for question in found})
    for question, fact in zip(found, everything, strict=True):
        assert question.query == fact.question
        name = NEVER_TAUGHT if fact in untaught_lists() else fact.band.value
        assert question.source == f"world {name}"
        assert question.answers == tuple(answer.names for answer in fact.answers)


@pytest.mark.parametrize("band", Band)
def test_a_band_is_asked_for_by_itself(band):
    found = list(world_questions({band}))
    assert len(found) == sum(fact.band == band for fact in facts())
    assert {question.source for question in found} == {f"world {band.value}"}


def test_held_out_wordings_were_never_trained_on():
    bands = [band.value for band in Band]
    trained, held_out = (list(world_questions(bands, words)) for words in ("trained", "held-out"))
    assert [q.id for q in trained] == [q.id for q in held_out]
    families = set()
    for question, fact in zip(held_out, facts(), strict=True):
        assert find(question.query) is not None and find(question.query, taught=True) is None
        asked = [t for t in fact.held_out if fact.ask(t) == question.query]
        families |= {(fact.relation, template) for template in asked}
    relations = {fact.relation for fact in facts()}
    assert len(families) > 3 * len(relations)  # not one wording for all
