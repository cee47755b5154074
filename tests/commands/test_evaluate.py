"""The command `evaluate`: a run begun, stopped, gone on with, read, and handed over."""

import json
from functools import partial

import pytest

from core import cli
from core.abstention.metrics import MEASURES
from core.abstention.policy_files import from_json
from core.commands import evaluate as command
from core.data.datasets.questions import write_questions
from core.language_models import opening
from core.language_models.errors import RefusedError
from core.studies.evaluation import cluster
from core.studies.evaluation.saved_run import Run, labelled_csv
from core.studies.inspection.pipeline import front_of
from core.studies.inspection.request import Request
from core.uncertainty.scores import SCORES
from tests import command_line
from tests.command_line import refused
from tests.studies.evaluation.worlds import World, questions, rows_of
from tests.studies.inspection.test_front import Behind

believe = partial(command_line.believe, "evaluate")


@pytest.fixture
def world(monkeypatch):
    """Serve a world of numbers instead of the shipped model, under any name."""
    model = World()
    monkeypatch.setattr(opening, "open_model", lambda name: model)
    return model


@pytest.fixture
def asked(tmp_path):
    path = tmp_path / "questions.jsonl"
    write_questions(questions(40), path)
    return path


def test_a_run_is_asked_reported_and_read_again(world, asked, tmp_path):
    result = believe(asked, "--out", tmp_path / "run")
    assert result.exit_code == 0, result.stderr
    assert "40 questions asked, 0 finished before." in result.stderr
    first, answer, _, head, *lines = result.stdout.splitlines()
    lines, (_, intervals, _, *comparisons) = lines[: len(SCORES)], lines[len(SCORES) :]
    assert first == f"40 of 40 questions finished, rows that count: 40, in {tmp_path / 'run'}."
    assert answer.startswith("No doubt is shown to find the wrong answers. ")  # of 40 rows
    assert head.split() == ["symbol", "right", "right", "by", "F1", "AUROC", "AURC", "AUGRC", "PRR"]
    assert "token F1 calls" in result.stderr  # beside the rule for the same answer
    assert [line.split()[0] for line in lines] == [i.symbol.split()[0] for i in SCORES.values()]
    assert all(line.count(" to ") == 4 for line in lines)
    assert intervals.startswith("Intervals: 95%, paired bootstrap of 1,000 resamples")
    assert len(comparisons) == len(SCORES) - 1
    assert all("adjusted p" in line for line in comparisons)
    assert sorted(world.asked) == list(range(40))
    again = believe(asked, "--out", tmp_path / "run")
    assert "0 questions asked, 40 finished before." in again.stderr
    assert again.stdout == result.stdout and len(world.asked) == 40
    read = believe("--out", tmp_path / "run")
    assert read.stdout == result.stdout and result.stderr.endswith(read.stderr)


def test_json_is_one_object_with_every_measure_of_every_score(world, asked, tmp_path):
    result = believe(asked, "--out", tmp_path / "run", "--json")
    found = json.loads(result.stdout)
    assert (found["questions"], found["done"], found["rows"]) == (40, 40, 40)
    assert (found["model"], found["form"], found["match"]) == (
        "world of numbers",
        "plain",
        "same_answer",
    )
    assert list(found["scores"]) == list(SCORES)
    for values in found["scores"].values():
        assert set(values) == {"right", "right_by", *MEASURES, "intervals"}
        assert values["intervals"]["auroc"] is not None
        for measure, limits in values["intervals"].items():
            assert limits is None or limits[0] <= values[measure] <= limits[1]
    assert found["resamples"] == 1_000 and found["answer"].endswith(".")
    assert {(each["score"], each["measure"]) for each in found["comparisons"]} == {
        ("mutual_information", "auroc")
    }
    assert [each["other"] for each in found["comparisons"]] == list(SCORES)[1:]
    assert found["scores"]["mutual_information"]["auroc"] > 0.5


def test_without_resamples_there_are_no_intervals(world, asked, tmp_path):
    believe(asked, "--out", tmp_path / "run", "--resamples", 0)
    result = believe("--out", tmp_path / "run", "--resamples", 0)
    assert "No intervals yet. --resamples says how many to draw." in result.stdout
    found = json.loads(believe("--out", tmp_path / "run", "--resamples", 0, "--json").stdout)
    assert found["scores"]["mutual_information"]["intervals"]["auroc"] is None
    assert found["scores"]["mutual_information"]["auroc"] > 0.5


def test_the_figures_of_the_paper_are_written(world, asked, tmp_path):
    options = ("--out", tmp_path / "run", "--resamples", 20, "--figures", tmp_path / "figures")
    result = believe(asked, *options, "--target-loss", 0.2)
    assert "Each half has 5 of either kind (the paper has 500)" in result.stderr
    assert "At a target loss of 20%, by the paper’s rule: " in result.stderr
    curves = ("precision-recall", "precision-recall-others")
    names = (*curves, "mixture-recall", "mixture-error")
    found = [tmp_path / "figures" / f"{name}.svg" for name in names]
    of = "questions, right by the same answer"  # a picture by itself says of what it is
    assert all("<svg" in (text := path.read_text()) and of in text for path in found)
    read = json.loads(believe(*options, "--json").stdout)
    assert read["figures"] == [str(path) for path in found]
    turned = believe(*options, "--many", "one")
    assert "There are 10 questions with one right answer and" in turned.stderr
    refused(believe(*options, "--many", "nowhere"), "The rows are of many and one, not of nowhere.")
    (tmp_path / "file").write_text("")
    for no_folder in (tmp_path / "file" / "x", tmp_path / ("x" * 300)):
        refused(believe(*options[:4], "--figures", no_folder), "cannot be made")


def test_a_run_without_rows_has_nothing_to_say(world, asked, tmp_path):
    world.broken = {n: RefusedError("None.") for n in range(40)}
    result = believe(asked, "--out", tmp_path / "run", "--figures", tmp_path / "figures")
    assert result.exit_code == 0 and "No row counts, so nothing can be said." in result.stderr
    assert all(line.split()[-4:] == ["–"] * 4 for line in result.stdout.splitlines()[3:])
    assert list((tmp_path / "figures").iterdir()) == []


def test_options_reach_the_run(world, asked, tmp_path):
    options = ("--samples", 20, "--temperature", 0.6, "--seed", 4, "--similarity", "ratio")
    believe(asked, "--out", tmp_path / "run", *options, "--threshold", 0.9, "--gamma-1", 0.01)
    made = Run(tmp_path / "run").pipeline
    assert (made.samples, made.temperature, made.sampling) == (20, 0.6, "drawn")
    assert (made.similarity, made.tau, made.gamma_1) == ("ratio", 0.9, 0.01)
    assert Run(tmp_path / "run").manifest["seed"] == 4
    other = believe(asked, "--out", tmp_path / "run", *options, "--threshold", 0.8)
    refused(other, "holds a different run: τ = 0.9 there, 0.8 here and γ₁ = 0.01 there, 0.0 here")


def test_the_rows_are_what_calibrate_reads_and_a_policy_comes_of_them(world, asked, tmp_path):
    file, policy = tmp_path / "scores.csv", tmp_path / "policy.json"
    believe(asked, "--out", tmp_path / "run", "--labelled", file)
    assert file.read_bytes() == labelled_csv(Run(tmp_path / "run"))[0]
    words = "calibrate", file, "--target-error", 0.4, "--out", policy, "--no-keep"
    result = command_line.believe(*words)
    assert result.exit_code == 0, result.stderr
    assert from_json(policy.read_text()).pipeline == Run(tmp_path / "run").pipeline


def test_filters_and_what_they_drop(world, asked, tmp_path):
    believe(asked, "--out", tmp_path / "run")
    result = believe("--out", tmp_path / "run", "--filter", "short", "--filter", "diverse=one")
    first, second, *_ = result.stderr.splitlines()
    assert first.startswith("Dropped 0 of 40 rows: the greedy answer")
    assert second.startswith("Dropped ") and second.endswith("of the source “one”.")
    refused(believe("--out", tmp_path / "run", "--filter", "long"), "no filter “long”")
    refused(believe("--out", tmp_path / "run", "--filter", "short=x"), "the source “x”")
    refused(believe("--out", tmp_path / "run", "--source", "x"), "not of x")


def test_what_failed_is_said_and_asked_again_where_that_is_wanted(world, asked, tmp_path):
    world.broken = {7: RefusedError("Not this one.")}
    result = believe(asked, "--out", tmp_path / "run")
    assert "Dropped 1 of 40 rows: they failed." in result.stderr and result.exit_code == 0
    assert "Why rows failed, most often: Not this one." in result.stderr
    world.broken = {}
    assert "0 questions asked" in believe(asked, "--out", tmp_path / "run").stderr
    result = believe(asked, "--out", tmp_path / "run", "--retry-failed")
    assert "1 question asked, 39 finished before." in result.stderr
    assert "Dropped" not in result.stderr


def test_the_price_of_what_failed_is_stated_where_it_is_asked_again(monkeypatch, asked, tmp_path):
    model, out = World(broken={7: RefusedError("Not now.")}, local=False), tmp_path / "run"
    monkeypatch.setattr(opening, "open_model", lambda name: model)
    believe(asked, "--out", out, "--yes")
    model.broken = {}
    refused(believe(asked, "--out", out, "--retry-failed"), "--yes agrees beforehand")
    result = believe(asked, "--out", out, "--retry-failed", "--yes")
    assert result.exit_code == 0 and "at most 0 calls" not in result.stderr
    assert len(rows_of(out)) == 40 and "1 question asked" in result.stderr


# --------------------------------------------------------------------------- what it costs


def test_what_a_service_costs_is_said_first_and_agreed_to(monkeypatch, asked, tmp_path):
    model = World(local=False)
    model.name = "openai:world of numbers"  # the kind says how many tokens a price is for
    monkeypatch.setattr(opening, "open_model", lambda name: model)
    out = tmp_path / "run"
    refused(believe(asked, "--out", out, "--prices", 1, 2), "--yes agrees beforehand")
    refused(believe(asked, "--out", out, input="n\n"), "Nothing was asked.")
    assert model.asked == [] and model.meter.requests == 0
    result = believe(asked, "--out", out, "--prices", 1, 2, input="y\n")
    assert result.exit_code == 0, result.stderr
    before, after = result.stderr.split("Ask? [y/N]:")
    assert "at most" in before and "at your prices" in before and "The budget is" in before
    assert f"Used: {model.meter.requests:,} calls" in after
    assert "Ask?" not in believe(asked, "--out", out).stderr  # nothing is left


def test_a_budget_ends_the_run_and_more_of_it_goes_on(monkeypatch, asked, tmp_path):
    model, out = World(local=False), tmp_path / "run"
    monkeypatch.setattr(opening, "open_model", lambda name: model)
    result = believe(asked, "--out", out, "--yes", "--budget", 40)
    refused(result, "The budget of 40 calls is used up.")
    finished = Run(out).finished_questions
    assert 0 < finished < 40
    assert f"{finished} questions finished; run the same command again to go on." in result.stderr
    assert believe(asked, "--out", out, "--yes").exit_code == 0
    assert len(rows_of(out)) == 40


# ------------------------------------------------------------------------- what goes wrong


def test_a_context_and_a_system_prompt_stand_in_front_and_in_the_policy(monkeypatch, tmp_path):
    model = Behind(World())
    monkeypatch.setattr(opening, "open_model", lambda name: model)
    file, out, scored = tmp_path / "q.jsonl", tmp_path / "run", tmp_path / "scored.csv"
    rows = [
        {"question": q.query, "answers": [a[0] for a in q.answers], "passage": f"P{i}."}
        for i, q in enumerate(questions(8))
    ]
    file.write_text("\n".join(map(json.dumps, rows)))
    front = ("--context", "passage", "--system", "Be brief.")
    result = believe(file, "--out", out, *front, "--labelled", scored)
    assert result.exit_code == 0, result.stderr
    assert model.fronts == {f"Be brief.\n\nContext:\nP{i}.\n\n" for i in range(8)}
    assert "“passage” stands in front of each question." in result.stderr
    assert Run(out).pipeline.front == front_of(Request("q", system="Be brief.", context="any"))
    assert "system and context" in scored.read_text()  # so a policy of these rows names it, too
    refused(believe(file, "--out", out), "in front of the prompt")


@pytest.mark.parametrize(
    "idle",
    [
        ["--retry-failed"],
        ["--model", "smollm2"],
        *(["--samples", 9], ["--answers", "right"], ["--engine", "local"]),
        *(["--many", "world"], ["--target-loss", 0.2]),
    ],
    ids=lambda idle: idle[0],
)
def test_an_option_that_would_do_nothing_is_refused(idle, world, asked, tmp_path):
    assert believe(asked, "--out", tmp_path / "run", "--resamples", 0).exit_code == 0
    refused(believe("--out", tmp_path / "run", *idle), f"omit {idle[0]}.", 2)


def test_bad_input_gets_a_sentence(world, asked, tmp_path):
    out = tmp_path / "run"
    refused(believe("--out", out), "holds no run")
    lines = asked.read_text().splitlines()
    before = lines[4].replace('"id"', '"malformed_before": 2, "id"', 1)  # as `dataset` writes it
    asked.write_text("\n".join([*lines[:3], "{", before]))
    refused(believe(asked, "--out", out), "Line 4")
    assert not out.exists() and world.asked == []
    result = believe(asked, "--out", out, "--on-malformed", "skip")
    reading = Run(out).manifest["questions"]["reading"]
    assert reading[0] == "4 questions, 4 of them different."
    assert reading[-2].startswith("Left out: Line 4") and "\n".join(reading) in result.stderr
    assert reading[-1] == "3 malformed rows left out."
    assert len(rows_of(out)) == 4
    assert labelled_csv(Run(out))[1] == ("3 malformed rows left out.",)  # and so in the promise
    asked.write_text("")
    refused(believe(asked, "--out", out), "The file is empty")
    options = ("--sampling", "likeliest", "--seed", 1)
    assert believe(asked, "--out", out, *options).exit_code == 2
    assert believe(asked, "--out", out, "--samples", 0).exit_code == 2
    labelled = ("--out", out, "--labelled", tmp_path / "scored.csv")
    for choice in (("--source", "one"), ("--served", "semantic_entropy")):
        refused(believe(*labelled, *choice), "of all sources, each score with its own answer", 2)
    (tmp_path / "file").mkdir()
    refused(believe("--out", out, "--labelled", tmp_path / "no" / "x.csv"), "cannot be written")


def test_an_engine_that_is_not_installed_is_said_with_how_to_install_it(
    world, asked, tmp_path, monkeypatch
):
    monkeypatch.setattr(cluster, "find_spec", lambda name: None)
    said = believe(asked, "--out", tmp_path / "run", "--engine", "ray")
    refused(said, "pip install -r requirements/cluster.txt")
    assert not (tmp_path / "run").exists() and world.asked == []


@pytest.mark.parametrize(
    "options",
    [
        *(("--workers", 2), ("--address", "auto"), ("--reserve", "GPU=1")),
        *(("--engine", "ray", "--reserve", text) for text in ("GPU", "GPU=x", "=1", "GPU=-1")),
        ("--engine", "ray", "--workers", 0),
    ],
)
def test_options_of_an_engine_that_cannot_be_are_wrong_usage(
    world, asked, tmp_path, monkeypatch, options
):
    monkeypatch.setattr(cluster, "find_spec", lambda name: True)
    assert believe(asked, "--out", tmp_path / "run", *options).exit_code == 2
    assert world.asked == []


def test_a_stop_says_what_is_finished(world, asked, tmp_path, monkeypatch):
    sample = world.sample

    def stopped(prompt, *arguments, **options):
        if len(world.asked) == 12:
            raise KeyboardInterrupt
        return sample(prompt, *arguments, **options)

    monkeypatch.setattr(world, "sample", stopped)
    result = believe(asked, "--out", tmp_path / "run")
    assert result.exit_code == cli.STOPPED and result.stdout == ""
    said = "11 questions finished; run the same command again to go on.\nStopped.\n"
    assert result.stderr.endswith(said)
    monkeypatch.undo()


def test_the_state_is_shown_now_and_then(world, asked, tmp_path, monkeypatch):
    monkeypatch.setattr(command, "SAID", 0.0)
    said = believe(asked, "--out", tmp_path / "run").stderr.splitlines()
    states = [line.partition(" of 40 questions")[0] for line in said if " of 40 questions" in line]
    assert list(dict.fromkeys(states)) == [str(i) for i in range(40)]
