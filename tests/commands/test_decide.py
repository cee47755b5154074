"""Rows decided by a policy on the command line: the same as `Policy.decide` says."""

import csv
import io
import json
from dataclasses import replace
from functools import partial

import pytest

from core.abstention.policy import Policy, to_json
from core.studies.evaluation import bundled
from core.studies.evaluation.saved_run import Run
from core.studies.inspection.certificates import default_policy
from tests import command_line

ROWS = "question,confidence\nWho?,0.9\nWhen?,0.2\nWhere?,\n=1+1,0.5\n"


@pytest.fixture
def files(tmp_path):
    score = {"score": "confidence", "larger_is_surer": True}
    like = {"only": (("model", "GPT-4"),), "lowest": 0.1, "highest": 0.95}
    book = replace(default_policy().codebook, **score, **like)
    policy = replace(
        default_policy(), **score, threshold=-0.404, pipeline=None, codebook=book, belief=None
    )
    (tmp_path / "policy.json").write_text(to_json(policy))
    (tmp_path / "rows.csv").write_text(ROWS)
    return tmp_path, policy


believe = partial(command_line.believe, "decide")


def test_every_row_gets_its_decision_and_formulas_are_disarmed(files):
    place, policy = files
    done = believe(place / "policy.json", place / "rows.csv")
    assert done.exit_code == 0, done.stderr
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    assert [row["decision"] for row in rows] == ["answer", "abstain", "abstain", "answer"]
    assert [policy.decide(row) for row in rows] == [row["decision"] for row in rows]
    assert not rows[-1]["question"].startswith("=")
    only = "What was seen of 4 rows, 2 of them below λ, does not show whether they are like those"
    assert only in done.stderr and f"Only if they are: {policy.sentence}" in done.stderr
    assert "2 of 4 rows are answered." in done.stderr
    told = json.loads(believe(place / "policy.json", place / "rows.csv", "--json").stdout)
    assert told["answer_if"] == {"score": "confidence", "above": 0.404} and told["answered"] == 2
    to_file = believe(place / "policy.json", place / "rows.csv", "--out", place / "out.csv")
    assert to_file.stdout == "" and (place / "out.csv").read_text("utf-8-sig") == done.stdout


def test_headings_among_the_rows_are_none_and_their_lines_are_named(files):
    place, _ = files
    (place / "joined.csv").write_text(f"{ROWS}question,confidence\nWhy?,0.7\n")
    done = believe(place / "policy.json", place / "joined.csv")
    assert "Line 6: the headings again (left out)." in done.stderr
    assert "3 of 5 rows are answered." in done.stderr and "question,conf" not in done.stdout[20:]


def test_what_cannot_decide_is_a_sentence(files):
    place, policy = files
    (place / "other.csv").write_text("question,surety\nWho?,0.9\n")
    assert "no column “confidence”" in believe(place / "policy.json", place / "other.csv").stderr
    (place / "percent.csv").write_text("question,confidence\nWho?,90\nWhen?,0.2\n")
    scale = believe(place / "policy.json", place / "percent.csv")
    assert scale.exit_code == 1 and "In percent.csv: “confidence” is 90" in scale.stderr
    (place / "model.csv").write_text("model,confidence\ngpt-4,0.9\nllama,0.9\n")
    model = believe(place / "policy.json", place / "model.csv")
    assert model.exit_code == 1 and "“model” is “llama”, and only" in model.stderr
    better = to_json(Policy(**{**vars(policy), "target_error": 0.001, "belief": None}))
    (place / "policy.json").write_text(better)
    done = believe(place / "policy.json", place / "rows.csv")
    assert done.exit_code == 1 and "Somebody has changed it" in done.stderr


def test_an_inspection_asks_with_the_settings_of_its_policy(tmp_path):
    policy = default_policy()
    (tmp_path / "policy.json").write_text(to_json(policy))
    words = ["inspect", "What is the capital of France?", "--policy", str(tmp_path / "policy.json")]
    done = command_line.believe(*words, "--json", "--no-keep")
    assert json.loads(done.stdout)["headline"] == "answer"
    told = command_line.believe(*words, "--no-keep").stdout
    assert f"\n{policy.sentence}\n" in told and policy.caution.startswith("Not for every group")
    pipeline = replace(policy.pipeline, revision="other")
    (tmp_path / "policy.json").write_text(to_json(replace(policy, pipeline=pipeline)))
    done = command_line.believe(*words, "--json", "--no-keep")
    assert json.loads(done.stdout)["headline"] == "undecided"
    for option in (["--samples", "9"], ["--gamma-1", "0.1"]):
        done = command_line.believe(*words, *option)
        assert done.exit_code == 2 and f"omit {option[0]}" in done.stderr
    pipeline = replace(policy.pipeline, least_mass=0.9999)  # so more answers are not advised either
    (tmp_path / "policy.json").write_text(to_json(replace(policy, pipeline=pipeline)))
    done = command_line.believe(*words, "--no-keep")
    assert done.stdout.startswith("Can’t tell yet.") and "--samples" not in done.stdout
    assert "--samples" in command_line.believe(*words[:2], "--samples", 7, "--no-keep").stdout


def test_a_policy_is_tried_on_the_rows_of_a_run(tmp_path):
    run = next(iter(bundled.folders().values()))
    policy = replace(default_policy(), pipeline=Run(run).pipeline)
    (tmp_path / "policy.json").write_text(to_json(policy))
    words = ["--policy", str(tmp_path / "policy.json"), "--resamples", "0", "--json"]
    done = command_line.believe("evaluate", "--out", run, *words)
    assert done.exit_code == 0, done.stderr
    decisions = json.loads(done.stdout)["decisions"]
    assert 0 < decisions["errors"] < decisions["answered"] < decisions["questions"]


def test_what_holds_no_answer_is_not_answered_and_an_earlier_decision_is_called_so(files):
    place, _ = files
    rows = ["Who?,Bach,0.9,abstain", "When?,Error: 429,0.9,answer", "Where?,,0.9,answer"]
    (place / "mixed.csv").write_text("\n".join(["question,answer,confidence,decision", *rows]))
    done = believe(place / "policy.json", place / "mixed.csv")
    heading, *found = csv.reader(io.StringIO(done.stdout))
    assert heading[3:] == ["decision before 1", "decision"]
    assert [row[4] for row in found] == ["answer", "abstain", "abstain"]
    assert "1 of 3 rows are answered. 2 rows below λ hold no answer" in done.stderr
    (place / "mixed.csv").write_text("question,answer,confidence\nWhen?,Error: 429,0.9")
    done = believe(place / "policy.json", place / "mixed.csv")
    assert "1 row below λ holds no answer" in done.stderr


def test_nothing_is_promised_of_rows_whose_model_has_another_heading(files):
    place, policy = files
    for heading, model, promised in (("Model", "GPT-4", True), ("llm_name", "llama", False)):
        (place / "new.csv").write_text(f"{heading},confidence\n{model},0.9\n{model},0.2\n")
        stderr = believe(place / "policy.json", place / "new.csv").stderr
        assert (policy.sentence in stderr) is promised
        assert ("“llm_name” is “llama”, and nothing says" in stderr) is not promised


def test_what_is_promised_holds_of_the_answers_that_are_given_and_refusals_are_none(files):
    place, _ = files
    right = [number % 2 or number % 10 > 2 for number in range(400)]
    answers = ["I don't know." if number % 2 else f"A{number}" for number in range(400)]
    rows = [
        f"Who was {number}?,{answers[number]},0.9,{int(right[number])}" for number in range(400)
    ]
    (place / "rows.csv").write_text("\n".join(["question,answer,score,correct", *rows]))
    words = ["calibrate", place / "rows.csv", "--larger-is-surer", "--no-keep", "--out"]
    for error, certified in ((0.3, False), (0.5, True)):  # 20 % wrong with refusals, 40 % without
        done = command_line.believe(*words, place / "p.json", "--target-error", str(error))
        assert (done.exit_code == 0) is certified, done.stderr
    done = believe(place / "p.json", place / "rows.csv")
    assert "200 of 400 rows are answered." in done.stderr and "at most 50%" in done.stderr


def test_of_rows_that_all_pass_the_promise_is_only_that_of_rows_like_those(files):
    place, policy = files
    labels = policy.labels
    cases = [(5, policy.answered, True), (12, policy.answered, True), (30, policy.answered, False)]
    for number, answered, cautious in (*cases, (25, labels - 9, True), (25, labels, False)):
        other = replace(policy, answered=answered, errors=0, upper_bound=None, rows="")
        (place / "policy.json").write_text(to_json(other))
        (place / "new.csv").write_text("\n".join(["confidence", *["0.9"] * number]))
        stderr = believe(place / "policy.json", place / "new.csv").stderr
        assert ("Only if they are: With 90% confidence" in stderr) is cautious


def test_nothing_is_promised_of_rows_that_are_answered_too_often(files):
    place, policy = files
    share = policy.answered / policy.labels
    for number, promised in ((20, True), (2000, False)):
        scores = [0.9 if i < number * (share + 0.1) else 0.2 for i in range(number)]
        (place / "new.csv").write_text("\n".join(["confidence", *map(str, scores)]))
        told = believe(place / "policy.json", place / "new.csv").stderr
        assert (policy.sentence in told) is promised
        assert ("Nothing is promised of these rows" in told) is not promised
