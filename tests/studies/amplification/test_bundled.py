"""The curves that are shipped: of the shipped weights, all of them, and what would be computed."""

import dataclasses
import math

import pytest

from core.studies.amplification import bundled
from core.studies.amplification.curve import DEFAULT_REPETITIONS, Case, amplify, grid
from core.studies.amplification.fate import Fate, last_fate
from core.studies.amplification.gallery import EXAMPLES, PAPER, by_band
from core.studies.inspection.inspection import run
from core.studies.inspection.recorder import usual_request
from tests.fakes import Turning

AGAIN = "the weights have changed: run python -m benchmarks.amplification --write"
LARGEST = 200_000  # bytes
SAME = 1e-4  # nats: single precision, summed in another order on another machine


def test_what_is_shipped_belongs_to_the_shipped_weights_and_is_all_that_is_wanted(embedded):
    found = bundled.content()
    assert (found.model, found.revision) == (embedded.name, embedded.revision), AGAIN
    assert found.curves.keys() == set(bundled.contents(embedded)), AGAIN
    assert bundled.FILE.stat().st_size < LARGEST


def test_what_is_shipped_is_what_would_be_computed(embedded):
    chosen = [
        (EXAMPLES["Half known"], grid(embedded, 100)),
        (PAPER[list(PAPER)[1]][0].case, DEFAULT_REPETITIONS),
        *((cases[-1], DEFAULT_REPETITIONS) for cases in by_band(12).values()),
    ]
    for case, times in chosen:
        found, computed = bundled.find(case, embedded, times), amplify(case, embedded, times)
        assert found is not None, AGAIN
        assert dataclasses.replace(found, points=()) == dataclasses.replace(computed, points=())
        for one, other in zip(found.points, computed.points, strict=True):
            assert dataclasses.astuple(one)[:4] == pytest.approx(
                dataclasses.astuple(other)[:4], abs=SAME
            ), AGAIN


def test_the_examples_test_what_the_model_would_answer(embedded):
    """As Home and Inspection do, of the same questions."""
    for case in EXAMPLES.values():
        asked = usual_request(case.query, embedded.capabilities)
        assert run(asked, embedded).verdict.answer == case.answer
    curve = bundled.find(EXAMPLES["Many answers"], embedded, grid(embedded, 100))
    assert last_fate(curve) is Fate.ALIVE


def test_of_other_weights_or_another_model_nothing_is_used(embedded):
    case = EXAMPLES["Known"]
    times = grid(embedded, 100)
    assert bundled.find(case, embedded, times)
    assert bundled.find(case, embedded, times[:-1]) is None
    assert bundled.find(Case(case.query, case.repeated, case.answer), embedded, times) is None
    other = Turning()
    assert bundled.find(case, other, times) is None
    other.name = embedded.name  # trained anew
    assert bundled.find(case, other, times) is None


def test_the_recorded_curves_are_the_papers_and_say_which_file_gave_them(tmp_path):
    recorded = bundled.recording()
    of = recorded.provenance
    assert set(recorded.curves) == {one.case for group in PAPER.values() for one in group}
    assert {(c.model, c.revision) for c in recorded.curves.values()} == {(of.model, of.revision)}
    assert of.model == f"gguf:./{of.file}" and of.revision.startswith(of.sha256[:12])
    assert bundled.recording(tmp_path / "none.json") is None


def test_what_is_written_is_read_again(monkeypatch):
    model = Turning()
    wanted = [(Case("A?", "right", "wrong"), (0, 1, 5)), (Case("B “?”", "x", "y"), (0, 2))]
    monkeypatch.setattr(bundled, "contents", lambda model: wanted)
    found = bundled.read(bundled.compute(model))
    assert (found.model, found.revision) == (model.name, model.revision)
    assert found.curves == {(case, times): amplify(case, model, times) for case, times in wanted}


def test_an_impossible_answer_is_written_too(monkeypatch):
    model, case = Turning(), Case("A?", "right", "wrong")
    monkeypatch.setattr(bundled, "contents", lambda model: [(case, (0,))])
    monkeypatch.setattr(bundled, "amplify", lambda *_: computed)
    computed = dataclasses.replace(
        amplify(case, Turning(), [0]), points=(bundled.point_of(0, -math.inf, -0.5),)
    )
    (found,) = bundled.read(bundled.compute(model)).curves.values()
    assert found == computed and found.points[0].normalised_probability == 0
