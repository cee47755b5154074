"""A quick look: ten answers, counted, in few calls."""

import pytest

from core.language_models.client.batch import BatchingModel
from core.language_models.errors import ModelError
from core.studies.costs import quick_plan
from core.studies.inspection.quick_look import ANSWERS, quick_look
from core.studies.inspection.recorder import record
from core.studies.inspection.request import Request
from tests.fakes import QUERY, Limited, TableModel


@pytest.mark.parametrize("candidates", [1, 4, 8])
def test_a_quick_look_counts_what_is_the_same_in_few_calls(candidates):
    table = TableModel(["London", "London, UK", "Leeds"], [0.4, 0.3, 0.3], [[0.4, 0.3, 0.3]] * 3)
    model = Limited(table, local=False, candidates_a_call=candidates)
    answers = dict(quick_look(QUERY, BatchingModel(model)))
    drawn = record(Request(QUERY, ANSWERS), Limited(table)).samples
    leeds = sum(sample.text == "Leeds" for sample in drawn)
    assert sum(answers.values()) == ANSWERS and answers.get("Leeds", 0) == leeds
    assert len(answers) == 1 + bool(leeds)
    stated = quick_plan(Request(QUERY, ANSWERS), model.capabilities).requests
    assert model.meter.requests == stated <= 20  # as docs/models.md says


def test_where_nothing_is_answered_a_sentence_says_so():
    with pytest.raises(ModelError, match="no answer to 10 draws"):
        quick_look(QUERY, TableModel(["", "x"], [1.0, 0.0], [[1.0, 0.0]] * 2))
