"""Questions of the embedded world: bands, and wordings that training never used."""

import pytest

from core.data.datasets.world import world_questions
from core.data.world.facts import Band, facts
from core.data.world.grading import find


def test_every_fact_is_asked_for_once():
    found = list(world_questions())
    assert len(found) == len(facts()) == len({question.id for question in found})
    for question, fact in zip(found, facts(), strict=True):
        assert question.query == fact.question
        assert question.source == f"world {fact.band.value}"
        assert question.answers == tuple(answer.names for answer in fact.answers)


@pytest.mark.parametrize("band", Band)
def test_a_band_is_asked_for_by_itself(band):
    found = list(world_questions({band}))
    assert len(found) == sum(fact.band == band for fact in facts())
    assert {question.source for question in found} == {f"world {band.value}"}


def test_held_out_wordings_were_never_trained_on():
    trained, held_out = list(world_questions()), list(world_questions(wording="held-out"))
    assert [q.id for q in trained] == [q.id for q in held_out]
    families = set()
    for question, fact in zip(held_out, facts(), strict=True):
        assert find(question.query) is not None and find(question.query, taught=True) is None
        asked = [t for t in fact.held_out if fact.ask(t) == question.query]
        families |= {(fact.relation, template) for template in asked}
    relations = {fact.relation for fact in facts()}
    assert len(families) > 3 * len(relations)  # not one wording for all
