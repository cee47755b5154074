"""What is certified of a model whose file a person brings: by which rows, and how well."""

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.default_policy import example
from benchmarks.recorded_policy import ERRORS, PAID, smallest_promise, thirds
from core.abstention.policy import to_json
from core.abstention.policy_files import from_json
from core.abstention.thresholds import Uncertifiable, learn_then_test
from core.data.tabular.fingerprints import of_questions
from core.reports.calibration.words import caution
from core.studies.calibration.calibration import calibrate, read
from core.studies.calibration.groups import by_group
from core.studies.inspection.certificates import (
    DECIDES,
    QWEN,
    WEIGHTED,
    certificate,
    certified_model,
    default_policies,
    default_policy,
)
from core.uncertainty.scores import SCORES

AGAIN = "run python -m benchmarks.recorded_policy --write again"
POLICY = default_policy(QWEN)
PIPELINE = POLICY.pipeline


@pytest.fixture(scope="module")
def rows():
    return thirds()


@pytest.fixture(scope="module")
def table(rows):
    ours, _, pipeline = rows
    return example(ours, pipeline)


def test_the_bundled_policy_is_the_calibration_of_the_recorded_rows(table):
    calibration = smallest_promise(table)
    assert replace(calibration.policy, caution=caution(by_group(calibration))) == POLICY, AGAIN
    assert from_json(to_json(POLICY)) == POLICY
    assert "chosen among 4 after a look at the rows: they were tested together" in POLICY.sentence


def test_every_score_and_error_that_was_tried_on_these_rows_is_paid_for(table):
    """Worked out by hand: δ = 10%, by 7 scores and 4 errors; less was asked for, and not given."""
    tries = POLICY.scores_tried, POLICY.targets_tried, POLICY.settings_tried, POLICY.looks
    assert tries == (len(SCORES) - 1, len(ERRORS), 1, 0) == (7, 4, 1, 0)
    data, share = read(table, "recorded.csv"), 0.1 / 28
    assert WEIGHTED not in data.doubts, "some of these questions chose its weights"
    for error in (each for each in ERRORS if each < POLICY.target_error):
        assert calibrate(data, replace(PAID, error=error)).policy is None
    one = np.unique(data.questions, return_index=True)[1]
    answered = {}
    for name in data.doubts:
        rows = data.doubts[name][one], data.correct[name][one]
        certified = learn_then_test(*rows, target_error=POLICY.target_error, confidence=1 - share)
        answered[name] = 0 if isinstance(certified, Uncertifiable) else certified.answered
    assert max(answered, key=answered.__getitem__) == DECIDES[QWEN] == POLICY.score
    assert {name for name, each in default_policies(QWEN).items() if each} == {POLICY.score}


def test_the_rows_that_test_it_made_nothing_and_bear_it_out(rows):
    ours, rest, pipeline = rows
    assert pipeline == PIPELINE, AGAIN

    def numbers(part):
        return of_questions(np.array([each.row.values["query"] for each in part], object))

    made = POLICY.row_hashes & ~np.uint64(1)
    assert set(made) == set(numbers(ours)) and POLICY.labels == len(made)
    assert not np.isin(numbers(rest), made).any() and len(rest) > len(made) / 2
    masses = np.array([each.row.values["sampled_mass"] for each in rest])
    assert (masses < pipeline.least_mass).mean() <= 0.5 < (masses < 0.5).mean()
    served = [each for each in rest if each.doubt(POLICY.score) < POLICY.threshold]
    wrong = sum(not each.row.is_right(POLICY.score) for each in served)
    assert served and wrong / len(served) < POLICY.target_error


def test_it_is_known_by_its_weights_and_holds_for_what_was_recorded_alone():
    for name in ("gguf:/elsewhere/renamed.gguf", PIPELINE.model):
        assert certificate(replace(PIPELINE, model=name, least_mass=0.0)) == POLICY
    assert certified_model(PIPELINE.revision) == QWEN
    others = {
        "model": ("smollm2", "embedded"),
        "revision": (PIPELINE.revision.replace("examples", "chat"), "0123456789ab"),
        "samples": (7, 9, 16),
        "temperature": (0.9,),
        "similarity": ("token_f1",),
        "estimator": ("Algorithm 1 (sampled pairs)",),
        "sampling": ("drawn",),
        "prompt": ("0123456789ab",),
        "answer_tokens": (64,),
        "front": ("system 0123456789ab",),
        "gamma_1": (0.1,),
        "answer_rule": (2,),
    }
    for field, values in others.items():
        for value in values:
            assert certificate(replace(PIPELINE, **{field: value})) is None, field
