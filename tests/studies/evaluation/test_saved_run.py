"""A run read again: filters that report what they drop, labelled data, inspections."""

import json
import shutil
from dataclasses import replace

import numpy as np
import pytest
from pyarrow import parquet

from core.abstention import metrics
from core.abstention.policy import PolicyError, pipeline_in, to_json
from core.abstention.policy_files import from_json
from core.data.datasets.draw import random_order
from core.data.tabular import uploads
from core.data.tabular.labelled_rows import labelled_rows
from core.data.tabular.suggestions import suggest
from core.studies.calibration import calibration
from core.studies.calibration.calibration import Target, calibrate
from core.studies.calibration.new_rows import new_decisions, new_scores
from core.studies.evaluation import run_folder
from core.studies.evaluation.bundled import FOLDER
from core.studies.evaluation.local import local
from core.studies.evaluation.rows import Row, table
from core.studies.evaluation.run import evaluate
from core.studies.evaluation.saved_run import (
    Filter,
    Run,
    RunError,
    is_diverse,
    is_short,
    labelled_csv,
)
from core.studies.inspection import serialise
from core.studies.inspection.inspection import run as inspect
from core.studies.inspection.request import InvalidRequestError
from core.studies.inspection.verdict import CERTIFIED as BOUND
from core.studies.progress import Cancelled
from core.uncertainty.scores import SCORES
from tests.csv_files import records_in
from tests.studies.evaluation.worlds import World, questions, rows_of, surveyed, task


def with_rows(run, **changed):
    """Change columns of some rows, by their ids, in place."""

    def engine(left, wanted, tick):
        for row in local(left, wanted, tick):
            yield Row(row.values | changed.get(row.id, {}), row.recording)

    folder = run.folder.with_name("changed")
    evaluate(surveyed(questions(60)), task(World()), folder, engine=engine)
    return Run(folder)


# ------------------------------------------------------------------------------ filters


@pytest.mark.parametrize(
    ("greedy", "responses", "short"),
    [
        ("x" * 19, ["y" * 19], True),
        ("x" * 20, ["y"], False),
        ("x", ["y" * 20, "z" * 30], False),
        ("x", ["y" * 20, "z" * 19], True),
        ("x", [], False),
    ],
)
def test_the_greedy_answer_and_one_other_are_shorter_than_20_characters(greedy, responses, short):
    assert is_short({"greedy": greedy, "responses": responses}) is short


@pytest.mark.parametrize(("entropy", "diverse"), [(0.7, False), (0.71, True), (None, False)])
def test_an_entropy_above_seven_tenths_is_diverse(entropy, diverse):
    assert is_diverse({"entropy": entropy}) is diverse


def test_filters_drop_when_rows_are_read_and_report_what_they_drop(made):
    changed = with_rows(
        made,
        q1={"greedy": "x" * 20},
        q2={"responses": ["x" * 40]},
        q6={"entropy": 0.7},
        q10={"entropy": 0.2},
        q14={"greedy": "x" * 25, "entropy": 0.1},
    )
    every = changed.rows()
    assert (every.table.num_rows, every.dropped) == (60, ())
    short = changed.rows([Filter.from_text("short")])
    assert short.dropped == (
        "Dropped 3 of 60 rows: the greedy answer, or every other one, has 20 characters or more.",
    )
    assert set(every.table["id"].to_pylist()) - set(short.table["id"].to_pylist()) == {
        *("q1", "q2", "q14")
    }
    both = changed.rows(
        [Filter.from_text("short"), Filter.from_text("diverse=many")], columns=["id"]
    )
    assert both.table.column_names == ["id"] and both.table.num_rows == 55
    assert both.dropped[1] == (
        "Dropped 2 of 60 rows: the semantic entropy is 0.7 nats or less of the source “many”."
    )
    diverse = changed.rows([Filter.from_text("diverse")])
    entropies = [row["entropy"] for row in rows_of(changed.folder).values()]
    assert diverse.table.num_rows == sum(entropy > 0.7 for entropy in entropies) < 57
    assert changed.rows().table.num_rows == 60  # nothing was thrown away


def test_rows_that_failed_are_dropped_first_and_reported(made):
    rows = made.rows([Filter.from_text("short")])
    assert rows.dropped[0] == "Dropped 2 of 60 rows: they failed."
    assert rows.dropped[1].startswith("Dropped 0 of 60 rows: ")
    assert {"q5", "q11"}.isdisjoint(rows.table["id"].to_pylist())
    assert len(rows_of(made.folder)) == 60


def test_what_cannot_be_filtered_by_is_said(made):
    with pytest.raises(RunError, match=r"no filter “long”\. Choose short or diverse"):
        Filter.from_text("long")
    with pytest.raises(RunError, match=r"of the source “wordnet”\. There are many and one"):
        made.rows([Filter.from_text("diverse=wordnet")])


def test_a_folder_without_a_run_is_none(tmp_path):
    with pytest.raises(RunError, match="holds no run"):
        _ = Run(tmp_path).manifest


# ---------------------------------------------------------------------------- handed over


def read(content):
    upload = uploads.parse(content, "run.csv")
    return labelled_rows(upload, suggest(upload))


def test_the_labelled_table_is_read_as_what_the_run_says(made):
    content, dropped = labelled_csv(made, [Filter.from_text("diverse=many")])
    data, rows = read(content), made.rows([Filter.from_text("diverse=many")])
    assert dropped == rows.dropped and data.problems == ()
    assert pipeline_in(data.pipeline) == made.pipeline
    assert data.sources.tolist() == rows.table["source"].to_pylist()
    for name in SCORES:
        doubts = [np.nan if d is None else d for d in rows.table[name].to_pylist()]
        np.testing.assert_allclose(data.doubts[name], doubts)
        served = zip(
            *(rows.table[c].to_pylist() for c in (f"{name}_answer", "answers")), strict=True
        )
        assert data.correct[name].tolist() == [[answer] in right for answer, right in served]


def test_what_is_not_among_the_rows_stands_in_the_promise_made_of_them(made):
    assert read(labelled_csv(made)[0]).selection == "Dropped 2 of 60 rows: they failed."
    content, left_out = labelled_csv(made, [Filter("short"), Filter("diverse", "many")])
    data = read(content)
    assert data.selection == " ".join(left_out) and len(left_out) == 3
    policy = calibrate(data, Target(0.3, 0.8, "ltt", "mutual_information")).policy
    narrowed = f" {data.selection} So this holds only for questions like those that remain."
    assert narrowed in policy.sentence and from_json(to_json(policy)) == policy


@pytest.mark.parametrize(
    ("known", "says"),
    [
        (True, "Asked: 60 of 120 questions, at random; slow ones may be missing."),
        (False, "The file’s first 60 of 120 questions."),
    ],
)
def test_a_run_that_was_stopped_says_how_its_rows_were_chosen(made, known, says):
    manifest = json.loads((made.folder / "run.json").read_text())
    if not known:
        del manifest["order"]
    manifest["questions"]["number"] = 120
    (made.folder / "run.json").write_text(json.dumps(manifest))
    assert labelled_csv(Run(made.folder))[1][-1] == says


def test_an_exact_match_is_an_option(tmp_path):
    longer = [replace(q, answers=(("deep red sea",), ("green",))) for q in questions(8)]
    evaluate(surveyed(longer), task(World()), tmp_path / "run")
    found = {
        match: [
            row["semantic_entropy_correct"]
            for row in records_in(labelled_csv(Run(tmp_path / "run"), match=match)[0])
        ]
        for match in ("f1", "exact")
    }
    rows = records_in(labelled_csv(Run(tmp_path / "run"), match="f1")[0])
    assert [row["semantic_entropy_correct_same_answer"] for row in rows] == [
        row["semantic_entropy_correct"]
        for row in records_in(labelled_csv(Run(tmp_path / "run"))[0])
    ]
    content, selection = labelled_csv(Run(tmp_path / "run"), match="exact")
    assert selection[0] == "Right by “…_correct”: word for word."
    by_f1 = calibration.read(content, "run.csv", ["semantic_entropy"], "f1")  # the others count
    assert by_f1.selection == selection[0] and by_f1.correct["semantic_entropy"].all()
    assert found["f1"].count("1") == 8 and found["exact"].count("1") == 0


def test_a_policy_of_one_run_applies_to_another(made, tmp_path):
    data = read(labelled_csv(made)[0])
    policy = calibrate(data, Target(0.3, 0.8, "ltt", "mutual_information")).policy
    assert policy is not None and policy.pipeline == made.pipeline
    other = questions(40, first=100)
    evaluate(surveyed(other), task(World()), tmp_path / "other")
    content, _ = labelled_csv(Run(tmp_path / "other"))
    fresh = new_scores(uploads.parse(content, "other.csv"), policy)
    rows = rows_of(tmp_path / "other")
    answers = [row["mutual_information"] < policy.threshold for row in rows.values()]
    assert fresh.answers.tolist() == answers and 0 < sum(answers) < 40
    decisions = [row["decision"] for row in records_in(new_decisions(fresh))]
    assert decisions == ["answer" if answer else "abstain" for answer in answers]
    evaluate(surveyed(other), task(World(), 20), tmp_path / "more")
    content, _ = labelled_csv(Run(tmp_path / "more"))
    with pytest.raises(PolicyError, match="k = 10 there, 20 here"):
        new_scores(uploads.parse(content, "more.csv"), policy)


def test_the_world_separates_guesses_by_information_and_not_by_entropy(made):
    """What the paper shows: many right answers look like guesses to the entropy alone."""
    table = made.rows().table
    areas = {
        name: metrics.auroc(
            table[f"{name}_raw"].to_numpy(), table[f"{name}_correct"].to_numpy(zero_copy_only=False)
        )
        for name in ("mutual_information", "semantic_entropy")
    }
    assert areas["mutual_information"] > areas["semantic_entropy"] + 0.1


# ---------------------------------------------------------------------------- inspections


def saved(recording):
    """All of a recording but how long its calls took."""
    return serialise.recording_to_json(replace(recording, calls=()))


def test_a_run_from_before_the_weighted_doubt_is_read_as_one_from_today(made, tmp_path):
    """It is computed from the rows, also of those that wait for their part."""
    today = made.rows().table
    folder = tmp_path / "before"
    shutil.copytree(made.folder, folder)
    for part in run_folder.parts_of(folder):
        rows = parquet.read_table(part)
        old = [name for name in rows.column_names if not name.startswith("weighted_doubt")]
        assert len(old) == len(rows.column_names) - 5
        parquet.write_table(rows.select(old), part)
    before = Run(folder).rows().table
    assert before.schema == today.schema
    new = [name for name in today.column_names if name.startswith("weighted_doubt")]
    assert before.drop_columns(new) == today.drop_columns(new)
    for name in new:
        then, now = before[name].to_pylist(), today[name].to_pylist()
        assert any(value is not None for value in now)
        assert then == (pytest.approx(now) if name in new[:2] else now), name
    waiting = [Row({n: v for n, v in r.items() if n not in new}) for r in today.to_pylist()]
    assert table(waiting).select(new) == before.select(new)
    no_bound = [Row(row.values | {f"{BOUND}_raw": None}) for row in waiting]
    assert table(no_bound)["weighted_doubt"].null_count == len(waiting)


def test_a_row_opens_as_the_inspection_that_it_came_from(made):
    for id in ("q0", "q18", "q19", "q59"):
        found = made.inspection(id)
        again = inspect(replace(task(World()).request, query=found.query), World())
        assert saved(found.recording) == saved(again.recording)
        assert found.scores == again.scores and found.verdict == again.verdict
    assert made.inspection("q5") is None and made.inspection("nobody") is None


def test_a_row_of_an_unfinished_part_opens_too(tmp_path):
    def progress(stage, share):
        if share >= 0.5:
            raise Cancelled

    with pytest.raises(Cancelled):
        evaluate(surveyed(questions(4)), task(World()), tmp_path, progress)
    first, *_, last = (question.id for question in random_order(lambda: questions(4), 4))
    assert Run(tmp_path).inspection(first).query == f"What is question number {first[1:]}?"
    assert Run(tmp_path).inspection(last) is None


def test_the_reading_of_the_run_is_that_of_its_inspections(tmp_path):
    wanted = task(World())
    wanted = replace(wanted, reading=replace(wanted.reading, similarity="ratio", threshold=0.8))
    evaluate(surveyed(questions(2)), wanted, tmp_path)
    assert Run(tmp_path).inspection("q1").reading == wanted.reading


def test_a_recording_comes_back_and_a_changed_one_is_refused():
    request = replace(task(World()).request, query="question number 7")
    recording = inspect(request, World()).recording
    text = serialise.recording_to_json(recording)
    assert serialise.recording_to_json(serialise.recording_from_json(text)) == text
    changed = json.loads(text) | {"texts": ["else"]}
    for other in ("", "[]", "3", "{}", json.dumps(changed), "[" * 100_000):
        with pytest.raises(InvalidRequestError, match="Ask the question again"):
            serialise.recording_from_json(other)
    with pytest.raises(ValueError, match="not JSON compliant"):
        serialise.recording_to_json(replace(recording, greedy_log_likelihood=-np.inf))


def test_a_labelled_table_has_no_score_that_its_questions_chose():
    """Nothing could be promised of it: it was fitted there."""
    (first, *_) = records_in(labelled_csv(Run(FOLDER / "embedded_world"))[0])
    assert first["weighted_doubt"] == "" and first["mutual_information"]
