"""The command line: the studies' numbers, one JSON object, exit statuses that mean something."""

import json
import subprocess
import sys

import pytest
from click.testing import CliRunner

from core import cli
from core.studies import saved
from core.studies.inspection import Reading, run
from core.studies.recording import Request
from core.uncertainty.scores import SCORES
from tests.fakes import QUERY, TableModel, copies, falling

CONTRACT = {
    *("query", "model", "estimator", "seed", "responses", "clusters", "joint", "product"),
    *("contributions", "sampled_mass", "certified_lower_bound", "scores", "verdict", "calls"),
}
SCORE_NAMES = {
    *("greedy_probability", "semantic_entropy", "self_verification", "mutual_information"),
    *("min_conditional_entropy", "pair_covariance", "certified_mutual_information"),
}
QUESTION = "What is the capital of Zorvania?"


def believe(*arguments):
    return CliRunner().invoke(cli.main, [str(argument) for argument in arguments])


@pytest.fixture
def table(monkeypatch):
    """Serve a table instead of the shipped model, under any name."""
    model = copies(12)
    monkeypatch.setattr(cli, "open_model", lambda name: model)
    return model


def without_times(text):
    data = json.loads(text)
    for call in [*data["calls"]["list"], *data["recording"]["calls"]]:
        call["seconds"] = 0
    return data


# --------------------------------------------------------------------------------- JSON


def test_json_is_one_object_with_what_the_contract_names(table):
    result = believe("inspect", QUERY, "--json")
    assert (result.exit_code, result.stderr) == (0, "")
    data, end = json.JSONDecoder().raw_decode(result.stdout)
    assert result.stdout[end:] == "\n"
    assert set(data) >= CONTRACT
    assert set(data["scores"]) == SCORE_NAMES
    assert all({"value", "doubt"} <= set(score) for score in data["scores"].values())
    assert data["query"] == QUERY
    assert data["model"] == "table"
    assert sum(response["count"] for response in data["responses"]) == 10
    assert {"decision", "answer", "reason"} <= set(data["verdict"])


def test_json_holds_no_nan():
    result = believe("inspect", QUESTION, "--samples", 3, "--json")

    def refuse(name):
        raise AssertionError(name)

    json.loads(result.stdout, parse_constant=refuse)


def test_options_reach_the_study(table):
    options = ("--samples", 25, "--temperature", 0.6, "--seed", 4, "--similarity", "ratio")
    result = believe("inspect", QUERY, *options, "--threshold", 0.9, "--json")
    expected = run(Request(QUERY, 25, 0.6, 4), copies(12), Reading("ratio", 0.9))
    assert without_times(result.stdout) == without_times(saved.to_json(expected))


def test_the_defaults_are_the_contracts(table):
    expected = run(Request(QUERY, 10, 0.9, 0), copies(12), Reading("token_f1", 0.25))
    result = believe("inspect", QUERY, "--json")
    assert without_times(result.stdout) == without_times(saved.to_json(expected))


def test_the_shipped_model_gives_the_studys_numbers(embedded):
    result = believe("inspect", QUESTION, "--samples", 5, "--seed", 2, "--json")
    expected = run(Request(QUESTION, 5, seed=2), embedded)
    assert without_times(result.stdout) == without_times(saved.to_json(expected))


# ------------------------------------------------------------------------ a saved file


@pytest.fixture
def file(tmp_path, table):
    path = tmp_path / "inspection.json"
    path.write_text(believe("inspect", QUERY, "--threshold", 0.4, "--json").stdout, "utf-8")
    return path


def test_a_saved_inspection_is_recomputed_without_a_model(file, monkeypatch):
    def refuse(name):
        raise AssertionError("a model was opened")

    monkeypatch.setattr(cli, "open_model", refuse)
    result = believe("inspect", "--from", file, "--json")
    assert result.exit_code == 0
    assert json.loads(result.stdout) == json.loads(file.read_text("utf-8"))
    assert (
        believe("inspect", "--from", file).stdout
        == cli._report(saved.from_json(file.read_bytes())) + "\n"
    )


@pytest.mark.parametrize("content", [b"", b"{}", b"\xff\xfe", b"query,answer\n", b"[" * 50_000])
def test_a_file_that_is_no_inspection_cannot_be_done(tmp_path, content):
    path = tmp_path / "other.json"
    path.write_bytes(content)
    result = believe("inspect", "--from", path, "--json")
    assert result.exit_code == 1
    assert result.stdout == ""
    assert "not an inspection saved by Believe" in result.stderr


def test_a_missing_file_is_wrong_usage(tmp_path):
    assert believe("inspect", "--from", tmp_path / "none.json").exit_code == 2
    assert believe("inspect", "--from", tmp_path).exit_code == 2


# ------------------------------------------------------------------------ exit statuses


@pytest.mark.parametrize(
    ("arguments", "says", "status"),
    [
        (("inspect", ""), "There is no question.", 2),
        (("inspect", "x" * 2001), "2,001 characters", 2),
        (("inspect", "\ud800"), "Unicode", 2),
        (("inspect", QUESTION, "--samples", 0), "from 1 to 300", 2),
        (("inspect", QUESTION, "--samples", 301), "from 1 to 300", 2),
        (("inspect", QUESTION, "--temperature", 0), "temperature", 2),
        (("inspect", QUESTION, "--temperature", "nan"), "temperature", 2),
        (("inspect", QUESTION, "--seed", -1), "seed", 2),
        (("inspect", QUESTION, "--threshold", 0), "threshold τ", 2),
        (("inspect", QUESTION, "--model", "unknown"), "There is no model called “unknown”.", 1),
        (("inspect", "é" * 2000), "Shorten the question", 1),
    ],
)
def test_wrong_usage_and_what_cannot_be_done_are_sentences(arguments, says, status):
    for more in ((), ("--json",)):
        result = believe(*arguments, *more)
        assert result.exit_code == status
        assert result.stdout == ""
        assert says in result.stderr
        assert "Traceback" not in result.stderr
        assert result.stderr.rstrip().endswith(".")


def test_options_beside_a_saved_inspection_are_refused():
    result = believe("inspect", "--from", __file__, "--threshold", 0.5)
    assert result.exit_code == 2
    assert "leave --threshold out" in result.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ("inspect",),
        ("inspect", "--json"),
        ("inspect", "one", "two"),
        ("inspect", QUESTION, "--samples", "many"),
        ("inspect", QUESTION, "--similarity", "vibes"),
        ("inspect", QUESTION, "--unknown"),
        ("unknown",),
    ],
)
def test_wrong_usage_is_status_two(arguments):
    result = believe(*arguments)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert "Usage" in result.stderr


def test_a_query_and_a_file_are_one_too_many(file):
    assert believe("inspect", QUERY, "--from", file).exit_code == 2


@pytest.mark.parametrize("arguments", [("--help",), ("inspect", "--help")])
def test_help_is_no_error(arguments):
    result = believe(*arguments)
    assert result.exit_code == 0
    assert "inspect" in result.stdout


def test_it_runs_as_a_module():
    done = subprocess.run(
        [sys.executable, "-m", "core", "inspect", "--samples", "x", "q"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert done.stdout == ""
    assert "python -m core inspect" in done.stderr


# --------------------------------------------------------------------------- the report


def test_the_report_says_first_what_to_do_and_then_why(table):
    result = believe("inspect", QUERY, "--samples", 200)
    seen = run(Request(QUERY, 200), copies(12))
    lines = result.stdout.splitlines()
    assert lines[0] == "ABSTAIN: answer0"
    assert lines[1] == seen.verdict.reason
    for name, info in SCORES.items():
        (line,) = (line for line in lines if info.title in line)
        assert info.symbol in line and info.unit in line
        assert f"{seen.scores[name].value:.4f}" in line
    assert any("Sampled mass" in line and f"{seen.sampled_mass:.4f}" in line for line in lines)
    for cluster in seen.clusters:
        assert any(line.endswith(f" {cluster.samples}×  {cluster.text}") for line in lines)


def test_a_score_without_a_value_is_a_dash(monkeypatch):
    model = TableModel(["a b", "c d"], falling(2), [falling(2)] * 2, cut={"a b", "c d"})
    monkeypatch.setattr(cli, "open_model", lambda name: model)
    result = believe("inspect", QUERY)
    assert result.exit_code == 0
    (line,) = (s for s in result.stdout.splitlines() if "Certified mutual information" in s)
    assert "–" in line
