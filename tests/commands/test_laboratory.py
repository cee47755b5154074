"""The command `laboratory`: an experiment's sentence, its table, its files."""

import json
import shlex
from functools import partial

import pytest

from core.studies.laboratory.bundled import results_of
from core.studies.laboratory.experiment import to_dict
from tests import command_line
from tests.language_models.openai_server import serving

laboratory = partial(command_line.believe, "laboratory")


def test_it_finds_what_is_shipped():
    found = json.loads(laboratory("missing_mass", "--json").stdout)
    (kept,) = results_of("missing_mass")
    assert found["sentence"] == kept.sentence
    assert found["settings"] == to_dict(kept)["settings"]
    assert found["table"]["k"] == list(kept.columns["k"])


def test_it_prints_the_sentence_and_the_table_and_writes_files(tmp_path):
    files = [tmp_path / f"found.{ending}" for ending in ("json", "csv", "svg")]
    wanted = [part for file in files for part in ("--out", file)]
    few = ("--n", 2, "--seeds", 2, "--sizes", 2, "--largest", 50)
    result = laboratory("estimator", *few, *wanted)
    assert result.exit_code == 0, result.output
    sentence, _, headings, *rows = result.stdout.splitlines()
    assert sentence.startswith("With 50 draws and γ = 1/k, Algorithm 1 is off by ")
    assert headings.split()[:3] == ["estimate", "k", "samples"] and len(rows) % 2 == 0
    found = json.loads(files[0].read_text())
    assert found["sentence"] == sentence and found["settings"]["n"] == 2
    assert len(files[1].read_text(encoding="utf-8-sig").splitlines()) == 1 + len(rows)
    pictures = sorted(path.name for path in tmp_path.glob("*.svg"))
    assert pictures == ["found-bounds.svg", "found-errors.svg", "found-estimates.svg"]


def test_a_model_is_asked_what_is_true():
    result = laboratory("hallucination", "--likeliest", 3, "--question", "Name a yellow fruit")
    assert result.exit_code == 0 and "nats, and M.I. finds" in result.stdout


def test_the_command_in_a_report_asks_in_the_same_form(tmp_path):
    with serving("echo") as server:
        asks = ("--model", server.name, "--form", "examples")
        few = ("--chains", 0, "--longest", 2, "--question", "Name a planet.")
        result = laboratory("chains", *few, *asks, "--out", tmp_path / "found.html")
        assert result.exit_code == 0, result.output
    assert shlex.join(asks) in (tmp_path / "found.html").read_text()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("estimator", "--n", 1), "The Coordinates n is 1; choose one from 2 to 10."),
        (("estimator", "--smallest", 500, "--largest", 50), "is above the largest"),
        (("missing_mass", "--law", "own", "--own", "x"), "That is not a list of numbers."),
        (("hallucination", "--question", "Why?"), "is not known here"),
        (("estimator", "--out", "found.txt"), "--out takes files that end in .csv"),
        (("estimator", "--gamma", "2"), "is not one of"),
    ],
)
def test_wrong_usage_is_a_sentence(arguments, says):
    result = laboratory(*arguments)
    assert (result.exit_code, result.stdout) == (2, "") and says in result.stderr
