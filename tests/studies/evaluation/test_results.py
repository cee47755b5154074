"""What every score is worth on the rows of a run: worked out by hand, and nothing invented."""

import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from core.abstention import metrics
from core.abstention.blocks import all_blocks
from core.reports.evaluation import words
from core.studies.evaluation import run_folder
from core.studies.evaluation.results import (
    FEWEST,
    RESAMPLES,
    affordable,
    columns_for,
    measure_run,
    read_results,
    stamp,
)
from core.studies.evaluation.run_folder import RunError
from core.studies.evaluation.saved_run import Filter
from core.uncertainty.scores import SCORES
from tests.studies.evaluation.worlds import written

INFORMATION, ENTROPY = "mutual_information", "semantic_entropy"


def row(doubt, right=True, **more):
    return {INFORMATION: doubt, f"{INFORMATION}_correct": right, **more}


def test_four_rows_by_hand(tmp_path):
    """Doubts .1 right, .2 wrong, .3 right, none wrong: the last is the most doubtful of all."""
    run = written(tmp_path / "run", row(0.1), row(0.2, False), row(0.3), row(None, False))
    found = read_results(run)
    one = measure_run(found, 0)
    assert found.scores == (INFORMATION,) and found.right(INFORMATION) == 0.5
    assert one.interval(INFORMATION, "auroc").value == 0.75  # 3 of 4 pairs are in order
    assert one.interval(INFORMATION, "aurc").value == pytest.approx((0 + 1 / 2 + 1 / 3 + 1 / 2) / 4)
    # Of all four, 0, 1, 1 and 2 are answered and wrong; within a step it grows in a straight line.
    assert one.interval(INFORMATION, "augrc").value == pytest.approx((0 + 0.5 + 1 + 1.5) / 16)
    curve = one.bands[INFORMATION]
    assert (curve.recalls[0], curve.recalls[-1]) == (0.25, 0.75)  # nobody answers the fourth
    assert (curve.precision[0], curve.precision[-1]) == (1.0, pytest.approx(2 / 3))


def test_all_scores_are_judged_by_one_answer_where_that_is_wanted(made):
    own = read_results(made)
    for served in (INFORMATION, "greedy_probability"):
        found = read_results(made, served=served)
        assert all((right == own.correct[served]).all() for right in found.correct.values())
        (differ, judged) = words.labels(found)
        assert differ.startswith(f"Of {SCORES[served].symbol}’s answers the paper’s token F1")
        assert f"by {SCORES[served].symbol}’s answer" in judged
    assert len(words.labels(own)) == 1


def test_the_labels_differ_on_what_they_are_said_to_and_curves_end_where_too_little_was_seen(
    tmp_path,
):
    served = {f"{INFORMATION}_answer": "red wine", f"{INFORMATION}_correct": True}
    apart = {f"{INFORMATION}_answer": "blue", f"{INFORMATION}_correct": True}
    rows = row(0.1, **served), row(0.2, **apart), row(0.3), row(None, False)
    found = read_results(written(tmp_path / "run", *rows))
    right, by_f1 = (found.correct_by(m)[INFORMATION].tolist() for m in ("same_answer", "f1"))
    alone = sum(f and not r for f, r in zip(by_f1, right, strict=True))
    assert alone > 0 and f"{alone} by F1 alone, 0 by the rule alone" in words.labels(found)[0]
    assert "recall of 75% at most" in words.curve_ends(found)[0]
    assert not any("would take a while" in words.intervals(measure_run(found, n)) for n in (0, 20))
    with pytest.raises(RunError, match="not of nowhere"):
        read_results(found.run, sources=["nowhere"])


def test_the_measures_are_those_of_metrics_and_the_table_the_whole_run(made):
    found = read_results(made)
    one = measure_run(found, 20)
    assert len(found) == 58 and found.dropped == ("Dropped 2 of 60 rows: they failed.",)
    assert found.scores == tuple(SCORES) and found.has_independent_rows
    assert words.missing_scores(found) == ()
    for name in SCORES:
        values = metrics.measures(all_blocks(found.doubts[name], found.correct[name]))
        for measure, expected in zip(metrics.MEASURES, values, strict=True):
            interval = one.interval(name, measure)
            assert interval.value == pytest.approx(expected)
            # Of another measure whose resamples are alike nothing is known.
            assert interval.lower <= interval.upper or measure != "auroc"
    few = measure_run(read_results(made, columns=columns_for("same_answer")), 20)
    assert few.interval(INFORMATION, "auroc") == one.interval(INFORMATION, "auroc")


def test_scores_of_an_earlier_rule_of_answers_are_said_to_be(tmp_path):
    found = read_results(written(tmp_path / "run", row(0.1), row(0.2, False)))
    earlier = SimpleNamespace(pipeline=replace(found.run.pipeline, answer_rule=1))
    (note,) = set(words.missing_scores(replace(found, run=earlier))) - set(
        words.missing_scores(found)
    )
    assert note.startswith("These scores are of an earlier rule of answers")


def test_rows_of_chosen_sources_and_by_exact_match(made):
    found = read_results(made, [Filter("short")], "exact", sources=["many"])
    assert set(found.sources) == {"many"} and found.match == "exact"
    assert found.dropped[-1] == f"Left out {58 - len(found)} rows of other sources."
    assert found.right_answers.tolist() == [3] * len(found)
    assert found.correct[ENTROPY].tolist() == found.table[f"{ENTROPY}_exact"].to_pylist()
    assert len(read_results(made, sources=[])) == 58


@pytest.mark.parametrize("right", [True, False])
def test_where_all_answers_are_of_one_kind_that_is_said(tmp_path, right):
    run = written(tmp_path / "run", row(0.1, right), row(0.2, right), row(None, right))
    found = read_results(run)
    one = measure_run(found, 10)
    for measure, known in {"auroc": False, "prr": False, "aurc": True, "augrc": True}.items():
        assert math.isfinite(one.interval(INFORMATION, measure).value) is known
    kind = "right" if right else "wrong"
    assert any(
        text.startswith(f"Every answer of M.I. is {kind}: ") for text in words.missing_scores(found)
    )


def test_a_score_without_any_value_is_missing_and_said_to_be(tmp_path):
    found = read_results(written(tmp_path / "run", row(0.1), row(0.2, False)))
    assert ENTROPY not in found.scores and "S.E. has no value in any row." in words.missing_scores(
        found
    )
    assert math.isnan(measure_run(found, 5).interval(ENTROPY, "aurc").value)


def test_no_row_counts(tmp_path):
    found = read_results(written(tmp_path / "run", row(None, error="It broke.")))
    assert len(found) == 0 and words.missing_scores(found) == (
        "No row counts, so nothing can be said.",
    )
    assert found.scores == () and math.isnan(found.right(INFORMATION))
    assert measure_run(found, 10).resampled.least.shape == (10, 0, 4)


def test_how_many_resamples_are_affordable():
    assert affordable(1_500, 7) == RESAMPLES
    assert FEWEST <= affordable(3_000, 7) < RESAMPLES
    assert affordable(200_000, 7) == 0 == affordable(200_000, 7, 5.0)
    assert affordable(0, 7) == affordable(10, 0) == RESAMPLES


def test_a_run_that_gets_rows_has_another_stamp(made):
    before = stamp(made)
    assert stamp(made) == before
    (made.folder / run_folder.UNFINISHED).write_text("{}\n")
    assert stamp(made) != before


def test_questions_asked_twice_are_no_independent_rows(made):
    found = read_results(made)
    found.queries[1] = f"{found.queries[0].upper()} ?"  # however it is spelt
    assert not found.has_independent_rows


def test_entropies_and_doubts_are_numbers_where_they_are_missing(tmp_path):
    found = read_results(written(tmp_path / "run", row(None), row(0.5, entropy=None)))
    numbers = np.stack([found.doubts[INFORMATION], found.entropies], axis=1)
    numbers = numbers[np.argsort(found.entropies)]  # asked in a random order
    np.testing.assert_array_equal(numbers, [[np.nan, 0.0], [0.5, np.nan]])
