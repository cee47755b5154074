"""A question that many ask at once is recorded once."""

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from core.studies.inspection import recorder
from core.studies.inspection.recorder import usual_request
from core.studies.inspection.recording import Estimator
from core.ui.inspection import recordings
from tests.patience import LONG
from tests.studies.evaluation.worlds import World

MANY = 8


def test_who_asks_the_same_at_once_gets_the_same_recording(monkeypatch):
    ask, recorded = threading.Barrier(MANY), []

    def record(*args, **kwargs):
        recorded.append(args)
        return recorder.record(*args, **kwargs)

    monkeypatch.setattr(recordings, "record", record)
    there, model = recordings.Recordings(), World()
    request = usual_request("What is question number 7?", model.capabilities)

    def now(_):
        ask.wait(LONG)
        return there.wait_for(request, model)

    with ThreadPoolExecutor(MANY) as threads:
        first, *others = threads.map(now, range(MANY))
    assert len(recorded) == 1
    assert others == [first] * (MANY - 1)


def test_a_model_that_says_less_than_before_is_asked_anew():
    there, model = recordings.Recordings(), World()
    request = usual_request("What is question number 7?", model.capabilities)
    assert there.wait_for(request, model).estimator is Estimator.EXACT
    model.capabilities = replace(model.capabilities, whole_answers=False)
    assert there.largest(request, model) is None
    assert there.wait_for(replace(request, samples=20), model).estimator is Estimator.PREFIX
