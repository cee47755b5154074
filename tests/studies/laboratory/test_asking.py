"""Many questions at once: all of them, in their order."""

import threading
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pytest

from core.language_models.errors import ModelError
from core.studies.inspection.request import InvalidRequestError
from core.studies.laboratory.asking import AskingOnce, must_score, of_each
from tests.fakes import knows


class CountingModel:
    """A model that is asked by several threads, and counts those within `beside`."""

    def __init__(self, at_once):
        self.capabilities = replace(knows(2).capabilities, questions_at_once=at_once)
        self.name = "beside"
        self.inside = 0
        self.lock = threading.Lock()

    @contextmanager
    def beside(self):
        with self.lock:
            self.inside += 1
        yield
        with self.lock:
            self.inside -= 1


@pytest.mark.parametrize("at_once", [1, 4])
def test_results_come_in_the_order_of_the_items(at_once):
    model, shares = CountingModel(at_once), []

    def work(item, go_on):
        go_on()
        assert model.inside > 0
        return item * item

    found = of_each(model, range(30), work, lambda stage, share: shares.append((stage, share)))
    assert found == [item * item for item in range(30)]
    assert shares[-1] == ("30 of 30 questions done", 1)
    with pytest.raises(InvalidRequestError, match="no question"):
        of_each(model, [], work, lambda *_: None)


def test_a_failure_ends_it():
    def work(item, go_on):
        raise ModelError("The model is gone.")

    with pytest.raises(ModelError, match="gone"):
        of_each(CountingModel(3), range(9), work, lambda *_: None)


def test_only_whole_answers_are_compared():
    model = CountingModel(1)
    must_score(model)
    for lacking in ({"scores_given_text": False}, {"whole_answers": False}):
        other = CountingModel(1)
        other.capabilities = replace(model.capabilities, **lacking)
        with pytest.raises(ModelError, match="does not score given, whole answers"):
            must_score(other)


def test_what_has_one_answer_is_asked_once():
    pairs, drawn = [], []

    class Pairs:
        def sample(self, prompt, count, *, temperature, seed=0, first=0):
            drawn.append((prompt, count, temperature, seed, first))
            return [prompt] * count

        def score_together(self, blocks):
            pairs.extend((p, a) for prompts, answers in blocks for p in prompts for a in answers)
            return [np.array([[float(p + a) for a in b] for p in ps]) for ps, b in blocks]

    model = AskingOnce(Pairs())
    assert model.log_likelihoods(["1", "2"], ["3", "4"]).tolist() == [[13, 14], [23, 24]]
    first, second = model.score_together([(["2", "5"], ["4", "6"]), (["1"], [])])
    assert first.tolist() == [[24, 26], [54, 56]] and second.shape == (1, 0)
    assert model.log_likelihoods(["5"], ["6"]).tolist() == [[56]]
    assert sorted(pairs) == sorted({*pairs}) and len(pairs) == 7
    greedy, warm = {"temperature": 0.0}, {"temperature": 0.9, "seed": 1, "first": 2}
    calls = (1, greedy), (2, greedy), (3, warm), (3, warm)
    replies = [model.sample("1", count, **how) for count, how in calls]
    assert [*map(len, replies)] == [1, 2, 3, 3]
    assert drawn == [("1", 1, 0.0, 0, 0), ("1", 3, 0.9, 1, 2), ("1", 3, 0.9, 1, 2)]
