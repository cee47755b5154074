"""The command line: the studies' numbers, one JSON object, exit statuses that mean something."""

import hashlib
import io
import json
import math
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from core import cli, prompts
from core.abstention.policy import to_json
from core.abstention.policy_files import from_json, policy_from_dict
from core.commands.ledger import IN_MEMORY
from core.commands.terminal import CLEAR, guard
from core.data.datasets.predictions import predictions_in, read_predictions, row_hashes
from core.data.tabular.uploads import parse
from core.language_models import opening
from core.reports.amplification import words as curve_words
from core.reports.calibration.words import UNNOTED, UNREAD
from core.reports.inspection.words import USUAL_NUMBER_ALONE, likely
from core.reports.result_files import FROM_FILE
from core.store.database import open_database
from core.store.errors import StoreError
from core.store.labels import UNKNOWN_LOOK, Labels, Looks
from core.store.results import SavedResults
from core.studies.amplification import curve
from core.studies.amplification.curve import Case
from core.studies.calibration import calibration as study
from core.studies.calibration.example import EXAMPLE
from core.studies.evaluation.recorded_answers import recorded_answers
from core.studies.inspection import serialise as serialise_inspection
from core.studies.inspection.certificates import SMOLLM2, default_policy
from core.studies.inspection.inspection import run
from core.studies.inspection.request import Reading, Request
from core.uncertainty.scores import SCORES
from tests.command_line import believe, refused
from tests.csv_files import csv_file, records_in
from tests.fakes import QUERY, Counted, Limited, Searched, TableModel, copies, falling, fruit, words
from tests.language_models.openai_server import serving
from tests.reports.reading import read_document

QUESTION = "What is the capital of Zorvania?"
CAPITAL = ("amplify", "What is the capital of France?", "--answer", "Paris", "--repeated", "Lyon")


@pytest.fixture(autouse=True)
def read_here(monkeypatch):
    """Read files in this process, which is faster, and return the names of those that were read."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    names = []

    def parse_here(content, name):
        names.append(name)
        return parse(content, name)

    monkeypatch.setattr("core.commands.calibrate.parse_isolated", parse_here)
    return names


@pytest.fixture
def table(monkeypatch):
    """Serve a table instead of the shipped model, under any name."""
    model = copies(12)
    monkeypatch.setattr(opening, "open_model", lambda name: model)
    return model


def one_object(result):
    """The only thing on standard output."""
    assert result.exit_code == 0, result.stderr
    found, end = json.JSONDecoder().raw_decode(result.stdout)
    assert result.stdout[end:] == "\n"
    return found


def without_times(text):
    data = json.loads(text)
    for call in [*data["calls"]["list"], *data["recording"]["calls"]]:
        call["seconds"] = 0
    return data


# --------------------------------------------------------------------------------- JSON


def test_options_reach_the_study_and_json_is_one_object(table):
    options = ("--samples", 25, "--temperature", 0.6, "--seed", 4, "--similarity", "ratio")
    result = believe("inspect", QUERY, *options, "--threshold", 0.9, "--json")
    expected = run(Request(QUERY, 25, 0.6, 4), copies(12), Reading("ratio", 0.9))
    assert one_object(result) and result.stderr == ""
    assert without_times(result.stdout) == without_times(serialise_inspection.to_json(expected))


# ------------------------------------------------------------------ what it was not taught


def test_what_the_model_was_not_taught_is_said_and_its_answer_only_to_who_asks():
    asked = "inspect", "Who is at the door?"
    data = one_object(believe(*asked, "--json"))
    answer, reason = data["verdict"]["answer"], data["verdict"]["reason"]
    first, sentence, *rest = believe(*asked).stdout.splitlines()
    assert first == "I don’t know. Not near anything this model was taught."
    assert sentence.startswith("What it says to such a question is a guess, whatever its doubt.")
    assert "Add --show-untaught to see what it would have said." in rest
    assert not [line for line in rest if answer in line or "λ" in line], "which decides nothing"
    (idle,) = [line for line in rest if line.endswith(" nats, decides nothing here.")]
    assert reason.partition(" M.I. is ")[0] in rest and reason.endswith(" nats.")
    everything = believe(*asked, "--show-untaught").stdout.splitlines()
    assert everything[0] == first and {sentence, reason, idle} <= {*everything}
    assert [line for line in everything if line.endswith(f": {answer}")]
    likeliest = data["clusters"][0]
    assert f"{likeliest['mass']:8.1%}  {answer}" in everything
    assert likeliest["mass"] < likeliest["probability"]


def test_a_file_offers_nothing_that_takes_a_model(tmp_path):
    asked, file = ("inspect", "Who is at the door?"), tmp_path / "inspection.json"
    file.write_text(believe(*asked, "--json").stdout, encoding="utf-8")
    shown = believe("inspect", "--from", file).stdout
    assert cli.SAY_SHOW in shown and shown.count("Add --") == 1 and "--samples" not in shown
    opened = believe("inspect", "--from", file, "--show-untaught").stdout
    assert "Add --" not in opened
    assert opened.splitlines()[1:] == [
        line
        for line in believe(*asked, "--show-untaught").stdout.splitlines()
        if not line.startswith("Add --")
    ]


@pytest.mark.parametrize("installed", [True, False])
def test_another_model_is_offered_where_it_is_installed(installed, monkeypatch):
    monkeypatch.setattr("core.cli.find_spec", lambda name: installed)
    outside = believe("inspect", "Who is at the door?").stdout.splitlines()
    assert (cli.SAY_OTHER in outside) == installed != (cli.SAY_CONNECTED in outside)
    known = believe("inspect", "What is the capital of France?").stdout
    assert cli.SAY_OTHER not in known and cli.SAY_CONNECTED not in known


def test_what_a_larger_model_answered_before_is_offered_and_opens_without_any_model(monkeypatch):
    answer = recorded_answers()[0]
    offer = cli.SAY_RECORDED.format(answer)
    assert offer in believe("inspect", answer.question).stdout.splitlines()
    assert "Recorded: " not in believe("inspect", "Who is at the door?").stdout
    monkeypatch.setattr("core.cli.open_for_study", None)
    lines = believe("inspect", answer.question, "--recorded").stdout.splitlines()
    assert lines[0] == f"{answer.sentence}. No model was asked now." and offer not in lines
    data = one_object(believe("inspect", answer.question, "--recorded", "--json"))
    assert (data["query"], data["model"]) == (answer.question, answer.provenance.model)
    likewise = believe("inspect", f"{answer.question}!!", "--recorded").stdout
    assert likewise.startswith(f"Read as: {answer.question}")
    far = believe("inspect", "Who is at the door?", "--recorded")
    assert far.exit_code == 1 and "No recorded question is near this one." in far.stderr
    result = believe("inspect", answer.question, "--recorded", "--samples", 9)
    assert result.exit_code == 2 and "--recorded opens what was recorded" in result.stderr


def test_more_answers_are_offered_without_the_promise_that_they_lose(monkeypatch):
    model = Searched(words(8), [0.02] * 8, np.full((8, 8), 0.02))
    offer = [cli.MORE_ANSWERS, USUAL_NUMBER_ALONE]
    for revision, lines in ((default_policy(SMOLLM2).pipeline.revision, offer), ("0", offer[:1])):
        model.revision = revision
        monkeypatch.setattr("core.cli.open_for_study", lambda *asked: model)
        printed = believe("inspect", QUERY).stdout.splitlines()
        assert [line for line in printed if line in offer] == lines


def test_what_is_surely_meant_is_asked_and_said_and_what_was_typed_only_at_wish():
    asked, meant = "whats teh capitol of spain", "What's the capital of Spain?"
    first, second, *_ = believe("inspect", asked).stdout.splitlines()
    assert first == f"Read as: {meant}" and second == "Madrid. Believe it."
    as_read = one_object(believe("inspect", asked, "--json"))
    assert (as_read["query"], as_read["typed"]) == (meant, asked)
    as_typed = one_object(believe("inspect", asked, "--as-typed", "--json"))
    assert (as_typed["query"], as_typed["typed"]) == (asked, None)


def test_a_near_question_is_offered_and_not_asked():
    asked = "who inventd dinamite"
    result = believe("inspect", asked)
    assert "\nThe model was not taught these words, so its answer may be made up." in result.stdout
    assert "\nDid you mean:\n  Who invented dynamite? (38% away)" in result.stdout
    unit = believe("inspect", "boiling point of water in fahrenheit").stdout
    assert "What is the boiling point of water? (20% away, but lacks “fahrenheit”)" in unit
    assert "The truth:" not in result.stdout
    found = one_object(believe("inspect", asked, "--json"))
    assert found["query"] == asked and found["taught"]["near"]
    assert found["taught"]["offers"][0]["question"] == "Who invented dynamite?"
    assert found["truth"] is found["typed"] is None
    recognised = believe("inspect", "What is the capital of France?").stdout
    assert "taught" not in recognised and "Did you mean" not in recognised


# --------------------------------------------------------- the model as its own similarity


def test_the_model_itself_compares_answers(monkeypatch, tmp_path):
    monkeypatch.setattr(opening, "open_model", lambda name: Limited(fruit(), next_token=True))
    options = ("--similarity", "judge", "--threshold", 0.5, "--samples", 8)
    result = believe("inspect", QUERY, *options, "--json")
    assert (result.exit_code, result.stderr) == (0, "")
    request, reading = Request(QUERY, 8, judged=True), Reading("judge", 0.5)
    expected = run(request, Limited(fruit(), next_token=True), reading)
    assert without_times(result.stdout) == without_times(serialise_inspection.to_json(expected))
    path = tmp_path / "judged.json"
    path.write_text(result.stdout, "utf-8")
    again = believe("inspect", "--from", path, "--json")
    assert without_times(again.stdout) == without_times(result.stdout) | {"from_file": True}


def test_a_service_compares_answers_within_its_budget():
    with serving("chat-none") as server:
        options = ("--model", server.name, "--similarity", "judge", "--samples", 3)
        result = believe("inspect", "Name a yellow fruit.", *options, "--json")
        assert result.exit_code == 0
        recording = json.loads(result.stdout)["recording"]
        assert recording["request"]["judged"] and len(recording["judged"]) > 1
        assert json.loads(result.stdout)["reading_threshold"] == 0.5
        assert [b for b in server.bodies if prompts.SAME in json.dumps(b)]
        result = believe("inspect", "Name a mammal", *options, "--budget", 4)
        assert result.exit_code == 1 and "budget" in result.stderr.lower()


@pytest.mark.parametrize(
    "arguments",
    [
        ("inspect", "Name a yellow fruit.", "--samples", 12),
        ("amplify", "Name a yellow fruit.", "--answer", "Banana", "--repeated", "Lemon"),
    ],
)
def test_a_service_is_paid_with_the_cost_said_before_and_after(monkeypatch, tmp_path, arguments):
    monkeypatch.setenv("BELIEVE_DATABASE_URL", f"sqlite:///{tmp_path}/believe.db")
    paying = ("--budget", 900, "--prices", 1, 2)
    with serving("none") as server:
        result = believe(*arguments, "--model", server.name, "--json", *paying)
        assert result.exit_code == 0 and json.loads(result.stdout)
        assert " at your prices" in result.stderr.splitlines()[-1]
        probed, tried, form, offered, used = result.stderr.splitlines()
        assert re.search(r" can do took [1-5] calls?\.$", probed)
        assert tried == f"Trying how {server.name} is asked took 5 calls."
        assert form.startswith(f"{server.name} is asked in the form plain. To 5 simple questions")
        took = int(probed.split()[-2])
        said = re.search(
            r"at most ([\d,]+) calls and [\d,]+ tokens, "
            r"[\d.]+ at your prices. Failed calls count. The budget is 900 calls",
            offered,
        )
        calls = len(server.exchanges) - took - 5
        assert 0 < calls <= int(said[1].replace(",", ""))
        assert used.startswith(f"Used: {calls} calls, ")
        again = believe(*arguments, "--model", server.name, "--json")
        assert "Used: 0 calls: all answers came from the cache." in again.stderr
        assert "took 5 calls" not in again.stderr and " in the form plain. To 5" in again.stderr
    with serving("none") as server:  # what was used until then is said as well
        chosen = (*arguments, "--model", server.name, "--form", "plain")
        stopped = believe(*chosen, "--budget", took + 3)
        assert stopped.exit_code == 1 and "Used: 3 calls, " in stopped.stderr
        made = len(server.exchanges)
        assert made == took + 3  # nothing was tried
        stopped = believe(*arguments, "--model", server.name, "--budget", 3)
        assert stopped.exit_code == 1 and " is asked took 3 calls." in stopped.stderr
        made += 3
        stopped = believe(*arguments, "--model", server.name, "--budget", 0)
        assert stopped.exit_code == 1 and "budget of 0 calls" in stopped.stderr
        assert len(server.exchanges) == made and "kept from before" not in stopped.stderr
        assert believe(*arguments, "--model", server.name, "--budget", -5).exit_code == 2
    with serving("chat-none") as server:  # finding out what it can do is part of the budget
        stopped = believe(*arguments, "--model", server.name, "--budget", 1)
        assert stopped.exit_code == 1 and "budget of 1 calls is used up" in stopped.stderr
        assert len(server.exchanges) == 1


def test_what_is_found_is_kept_for_history(monkeypatch, tmp_path):
    monkeypatch.setenv("BELIEVE_DATABASE_URL", f"sqlite:///{tmp_path}/believe.db")
    asked = "Name a yellow fruit."
    printed = believe("inspect", asked, "--json").stdout
    believe("inspect", "Name a mammal", "--no-keep")
    curve = believe("amplify", asked, "--answer", "Lemon", "--repeated", "Banana", "--json").stdout
    believe("calibrate", EXAMPLE, "--score", "mutual_information")
    with open_database() as database:
        found = SavedResults(database).search().results
        assert [r.kind for r in found] == ["policy", "amplification", "inspection"]
        assert found[0].title.startswith("Mutual information: answer below ")
        assert {r.query for r in found[1:]} == {asked} and all(r.outcome for r in found)
        payloads = [SavedResults(database).open(r.id).payload for r in found]
    assert without_times(payloads[2]) == without_times(printed)
    assert json.loads(payloads[1]) == [json.loads(curve)]
    monkeypatch.setenv("BELIEVE_DATABASE_URL", "mysql://nowhere")
    result = believe("inspect", asked)
    assert result.exit_code == 0 and "Not saved to History: " in result.stderr


@pytest.mark.parametrize(
    ("flavour", "options", "words"),
    [
        ("top", ("--samples", 20), "at least 100 samples"),
        ("none", ("--temperature", 0.3), "Choose 0.7 or more"),
    ],
)
def test_what_means_nothing_is_refused_before_it_is_offered(flavour, options, words):
    with serving(flavour) as server:
        result = believe("inspect", QUERY, *options, "--model", server.name)
        assert result.exit_code == 1 and words in result.stderr
        assert "at most" not in result.stderr and "Used" not in result.stderr


# ------------------------------------------------------------------------ a saved file


def test_on_a_public_server_the_owners_commands_have_the_owners_key(monkeypatch):
    """A shell there may hold the variables of the server; who types in it is no stranger."""
    monkeypatch.setenv("BELIEVE_PUBLIC", "1")
    monkeypatch.delenv("BELIEVE_PUBLIC_KEYS", raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-owner")
    monkeypatch.setattr("core.language_models.backends.openai.address.is_global", lambda _: True)
    with serving("echo", key="sk-of-the-owner") as server:
        result = believe("inspect", QUERY, "--model", server.name, "--samples", 3, "--no-keep")
    assert result.exit_code == 0, result.output
    assert "sk-of-the-owner" not in result.output


@pytest.fixture
def file(tmp_path, table):
    path = tmp_path / "inspection.json"
    path.write_text(believe("inspect", QUERY, "--threshold", 0.4, "--json").stdout, "utf-8")
    return path


def test_what_a_model_can_do_is_printed_and_kept_for_the_next_command(tmp_path, monkeypatch):
    monkeypatch.setenv("BELIEVE_DATABASE_URL", f"sqlite:///{tmp_path}/believe.db")
    with serving("echo", slots=4) as server:
        found = json.loads(believe("probe", server.name, "--json").stdout)
        assert found["estimator"] == "Algorithm 3 (exact likelihoods)"
        assert found["capabilities"]["candidates_a_call"] == 4
        assert [line.partition(" ")[0] for line in found["asked"]] == ["/completions"] * 4
        assert "refused (400: n_cmpl cannot" in found["asked"][0]
        printed = believe("probe", server.name).stdout
        assert "Found out by 4 calls:" in printed and "up to 4." in printed
        assert "Its answers end with the token" in printed
        assert believe("probe", "embedded").stdout.count("\n") == 3
        assert believe("probe", f"{server.name}x").exit_code == 1


def test_a_saved_inspection_is_recomputed_without_a_model(file, monkeypatch):
    report = believe("inspect", QUERY, "--threshold", 0.4).stdout

    def refuse(name):
        raise AssertionError("a model was opened")

    monkeypatch.setattr(opening, "open_model", refuse)
    content = json.loads(file.read_text()) | {"from_file": True}  # programs see that, too
    assert one_object(believe("inspect", "--from", file, "--json")) == content
    notice, _, again = believe("inspect", "--from", file).stdout.partition("\n")
    assert notice.startswith("Not verified.") and again == report


def test_a_report_is_written_beside_what_is_printed(file, tmp_path):
    report = tmp_path / "report.html"
    result = believe("inspect", "--from", file, "--report", report)
    assert result.exit_code == 0 and "M.I." in result.output
    written = report.read_text(encoding="utf-8")
    assert QUERY in written and FROM_FILE in written


def test_a_file_that_is_no_inspection_cannot_be_done():
    result = believe("inspect", "--from", EXAMPLE, "--json")
    refused(result, "not an inspection saved by Believe", 1)


def test_files_that_are_too_large_are_not_read_whole(tmp_path):
    path = tmp_path / "large"
    with path.open("wb") as file:
        file.truncate(10**12)  # a terabyte that takes no room
    for command in (("inspect", "--from", path), ("calibrate", path)):
        refused(believe(*command), "bytes", 1)


# ------------------------------------------------------------------------ exit statuses


@pytest.mark.parametrize(
    ("arguments", "says", "status"),
    [
        (("inspect", ""), "There is no question.", 2),
        (("inspect", QUESTION, "--samples", 301), "from 1 to 300", 2),
        (("inspect", QUESTION, "--temperature", "nan"), "temperature", 2),
        (("inspect", QUESTION, "--threshold", 0), "threshold τ", 2),
        (("inspect", "--from", __file__, "--threshold", 0.5), "omit --threshold", 2),
        (("inspect", "--from", __file__, "--quick"), "omit --from", 2),
        (("inspect", QUESTION, "--quick", "--samples", 50), "omit --samples", 2),
        (("inspect", QUESTION, "--model", "unknown"), "There is no model called “unknown”.", 1),
        (("inspect", "語" * 2000), "Shorten the question", 1),
        ((*CAPITAL, "--repetitions", "0,few"), "takes whole numbers separated by commas", 2),
        ((*CAPITAL, "--repetitions", "-1"), "must lie between 0 and 1,000.", 2),
        ((*CAPITAL, "--repetitions", "9" * 5000), "--repetitions takes whole numbers", 2),
        ((*CAPITAL, "--repeated", "Paris"), "The two answers are the same.", 2),
        ((*CAPITAL, "--model", "unknown"), "There is no model called “unknown”.", 1),
        (
            (*CAPITAL[:4], "--repeated", "Lyon " * 120, "--repetitions", "0,20"),
            "With 20 repetitions the prompt does not fit into the model’s context; the most",
            1,
        ),
        (("amplify", "語" * 2000, *CAPITAL[2:]), "Shorten the question", 1),
    ],
    ids=lambda value: None if isinstance(value, tuple) else str(value)[:40],
)
def test_wrong_usage_and_what_cannot_be_done_are_sentences(arguments, says, status):
    for more in ((), ("--json",)):
        refused(believe(*arguments, *more), says, status)


@pytest.mark.parametrize(
    "arguments",
    [
        *(("inspect",), ("inspect", "one", "two"), ("inspect", "one", "--from", __file__)),
        *(("inspect", "--from", "no such file.json"), ("inspect", "--from", ".")),
        *((("inspect", QUESTION, "--prices", price, "1")) for price in ("nan", "-1", "inf")),
        ("inspect", QUESTION, "--similarity", "vibes"),
        *(("unknown",), ("calibrate",), ("calibrate", "no such file.csv"), ("calibrate", ".")),
        *(("calibrate", EXAMPLE, "another.csv"), ("calibrate", EXAMPLE, "--out", ".")),
        ("calibrate", EXAMPLE, "--method", "vibes"),
        ("amplify", QUERY, "--answer", "a"),
        ("amplify", QUERY, "--answer", "a", "--repeated", "b", "--unknown"),
    ],
    ids=lambda arguments: " ".join(map(str, arguments))[-40:],
)
def test_wrong_usage_is_status_two(arguments):
    result = believe(*arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "Usage" in result.stderr


def test_help_is_no_error():
    for arguments in (("--help",), ("inspect", "--help")):
        result = believe(*arguments)
        assert result.exit_code == 0 and "inspect" in result.stdout


# --------------------------------------------------------------------------- the report


def test_the_report_says_first_what_to_do_and_then_why(table):
    result = believe("inspect", QUERY, "--samples", 200)
    seen = run(Request(QUERY, 200), copies(12))
    lines = result.stdout.splitlines()
    assert lines[:2] == ["I don’t know.", "It would have said: answer0"]
    assert lines[2] == seen.verdict.reason
    for name, info in SCORES.items():
        (line,) = (line for line in lines if info.title in line)
        assert info.symbol in line and info.unit in line
        assert f"{seen.scores[name].value:.4f}" in line
    assert any("Sampled mass" in line and f"{seen.sampled_mass:.4f}" in line for line in lines)
    for cluster in seen.clusters:
        assert any(line.endswith(f" {cluster.samples}×  {cluster.text}") for line in lines)


def test_the_report_says_what_is_likely_beyond_what_is_certified(monkeypatch):
    model = copies(200, share=0.9)
    monkeypatch.setattr(opening, "open_model", lambda name: model)
    result = believe("inspect", QUERY, "--samples", 60, "--temperature", 1)
    assert likely(run(Request(QUERY, 60, 1.0), model)) in result.stdout.splitlines()


def test_a_score_without_a_value_is_a_dash(monkeypatch):
    model = TableModel(["a b", "c d"], falling(2), [falling(2)] * 2, cut={"a b", "c d"})
    monkeypatch.setattr(opening, "open_model", lambda name: model)
    result = believe("inspect", QUERY)
    assert result.exit_code == 0
    (line,) = (s for s in result.stdout.splitlines() if "Certified mutual information" in s)
    assert "–" in line


# ------------------------------------------------------------------------- calibrating


def scores_file(folder, heading, rows):
    path = folder / "scores.csv"
    path.write_bytes(csv_file(heading, rows))
    return path


@pytest.fixture
def scores(tmp_path):
    """Two scores of 40 questions: a doubt, and a confidence that knows a little more."""
    rows = [
        (f"q{i}", "x", i / 100, int(i < 25 or i % 2), 1 - i / 50, int(i < 36)) for i in range(1, 41)
    ]
    heading = ["question", "source", "doubt", "doubt_correct", "sure", "sure_correct"]
    return scores_file(tmp_path, heading, rows)


def studied(path, *scores, **target):
    """The study's policy for a file of one group, at which nobody has looked, as JSON."""
    data = study.read(path.read_bytes(), path.name, scores)
    policy = study.calibrate(data, study.Target(**target), looks=()).policy
    return to_json(replace(policy, caution=None))


def first_look(result):
    """The policy that was printed, without what says that it is the first look."""
    found = one_object(result)
    assert (found["looks"], found["spent_by"]) == (1 if found["method"] == "ltt" else 0, [])
    return {name: each for name, each in found.items() if name not in ("delta", "spent_by")}


def test_nothing_is_promised_where_looks_cannot_be_read_or_noted(scores, tmp_path, monkeypatch):
    base = ("calibrate", scores, "--score", "doubt", "--target-error", 0.2, "--json")
    (tmp_path / "folder").write_text("in the way")
    monkeypatch.setenv("BELIEVE_DATABASE_URL", f"sqlite:///{tmp_path}/folder/believe.db")
    refused(believe(*base), f"{UNREAD} The database", 1)
    (tmp_path / "believe.db").write_text("damaged")
    monkeypatch.setenv("BELIEVE_DATABASE_URL", f"sqlite:///{tmp_path}/believe.db")
    assert "was damaged and could not be read" in believe(*base).stderr

    def full(*_):
        raise StoreError("The disk is full. Make room.")

    with monkeypatch.context() as broken:
        broken.setattr(Looks, "save", full)
        refused(believe(*base), f"{UNNOTED} The disk is full. Make room.", 1)

    save = Looks.save

    def meanwhile(looks, *_):
        return not save(looks, [("of a later Believe", "{}")])

    with monkeypatch.context() as broken:
        broken.setattr(Looks, "save", meanwhile)
        refused(believe(*base), f"{UNREAD} {UNKNOWN_LOOK}", 1)
    refused(believe(*base), f"{UNREAD} {UNKNOWN_LOOK}", 1)


def test_it_prints_and_writes_the_policy_of_the_study(scores, tmp_path, read_here):
    out = tmp_path / "policy.json"
    base = ("calibrate", scores, "--score", "doubt", "--target-error", 0.2, "--out", out)
    result = believe(*base, "--json")
    assert (result.exit_code, result.stderr) == (0, f"{IN_MEMORY}\n")
    written = out.read_text("utf-8")
    assert written == studied(scores, "doubt", error=0.2, score="doubt")
    assert first_look(result) == json.loads(written)
    assert read_here == [scores.name]
    # Every second one from the 26th is wrong; P(Bin(27, 0.2) ≤ 1) < 0.05 < P(Bin(28, 0.2) ≤ 2).
    found = from_json(result.stdout)
    assert found.threshold == pytest.approx(0.275)
    assert (found.answered, found.errors, found.labels) == (27, 1, 40)
    out.unlink()
    assert believe(*base).exit_code == 0
    assert from_json(out.read_bytes()) == found
    out = tmp_path / "no such folder" / "policy.json"
    refused(believe(*base, "--out", out), "written: No such file or directory.", 1)


def test_a_calibration_can_be_written_as_a_report(scores, tmp_path):
    report = tmp_path / "report.html"
    base = ("calibrate", scores, "--score", "doubt", "--target-error", 0.2)
    result = believe(*base, "--report", report, "--json")
    policy = from_json(json.dumps(one_object(result)))
    found = read_document(report.read_text(encoding="utf-8"))
    assert found.texts[2:4] == [f"doubt on {scores.name}", policy.sentence]
    assert found.settings["Threshold λ, of the doubt"] == repr(policy.threshold)
    nowhere = tmp_path / "no" / "folder.html"
    refused(believe(*base, "--report", nowhere), "cannot be written", 1)
    part = tmp_path / "part.json"
    rows = records_in(scores.read_bytes())
    part.write_text(json.dumps({"settings": {}, "rows": rows}))
    believe("calibrate", part, *base[2:], "--report", report, "--out", tmp_path / "policy.json")
    says = "The rows were read from “rows”; the rest of the file was left out."
    assert says in read_document(report.read_text(encoding="utf-8")).texts
    assert from_json((tmp_path / "policy.json").read_bytes()).codebook.notes == (says,)


def test_of_several_scores_the_best_is_taken_and_paid_for(scores):
    options = ("--target-error", 0.2, "--json")
    found = first_look(
        believe("calibrate", scores, "--score", "doubt", "--score", "sure", *options)
    )
    assert found == json.loads(studied(scores, "doubt", "sure", error=0.2))
    assert (found["score"], found["scores_tried"]) == ("sure", 2)
    # Without a name too, where none of them is the mutual information.
    assert found == first_look(believe("calibrate", scores, *options))
    # A method that takes one score takes the first.
    options = ("--method", "empirical", "--confidence", 0.8, *options)
    first = first_look(believe("calibrate", scores, *options))
    alone = json.loads(
        studied(scores, "doubt", error=0.2, confidence=0.8, method="empirical", score="doubt")
    )
    assert first | {"codebook": None} == alone | {"codebook": None}  # read beside another score


def test_a_direction_that_no_heading_says_is_asked_for(tmp_path):
    rows = [(f"q{i}", i / 100, int(i > 30 or i == 0)) for i in range(100)]
    path = scores_file(tmp_path, ["question", "score", "correct"], rows)
    result = believe("calibrate", path, "--target-error", 0.2)
    refused(result, "Add --larger-is-surer or --larger-is-doubt; of several scores", 1)
    assert "Say whether a larger “score” means a surer answer or more doubt" in result.stderr
    options = ("--target-error", 0.2, "--json")
    surer = believe("calibrate", path, "--larger-is-surer", *options)
    assert one_object(surer)["larger_is_surer"] and "larger" not in surer.stderr
    doubt = believe("calibrate", path, "--larger-is-doubt", *options)
    assert "The labels speak against the direction of “score” (AUROC 0.01" in doubt.stderr


def test_a_score_without_a_mistake_is_vouched_for(tmp_path):
    rows = [(f"q{i}", i / 100, int(i < 60)) for i in range(100)]
    path = scores_file(tmp_path, ["question", "doubt", "correct"], rows)
    refusal = believe("calibrate", path)
    refused(refusal, "Rows used: 100 of 100.", 1)
    assert "(AUROC 1)" in refusal.stderr.partition("Rows used")[2]
    assert refusal.stderr.rstrip().endswith("Add --vouch SCORE to say so.")
    options = ("--vouch", "doubt", "--target-error", 0.2, "--json")
    policy = policy_from_dict(one_object(believe("calibrate", path, *options)))
    assert policy.codebook.claims == (
        "As you said, “doubt” was made without a look at the right answers.",
    )


@pytest.fixture
def in_groups(tmp_path):
    """Of two hundred answers those from 150 to 198 are wrong; their group has right ones, too."""
    rows = [
        (i, i / 100, int(i < 150 or i > 198), "easy" if i < 148 else "hard", "x")
        for i in range(200)
    ]
    return scores_file(tmp_path, ["question", "doubt", "correct", "group", "other"], rows)


def test_what_is_promised_for_each_group_stands_below_the_policy_and_in_the_json(in_groups):
    """P(Bin(153, 5 %) ≤ 3) is below 10 %, P(Bin(154, 5 %) ≤ 4) is not."""
    result = believe("calibrate", in_groups)
    assert "too: “easy”. No promise holds by itself for “hard” (3 of 5 wrong)." in result.stdout
    assert result.stdout.splitlines()[-2:] == [
        "easy: answered 148 of 148, 0 of them wrong",
        "hard: answered 5 of 52, 3 of them wrong",
    ]
    found = one_object(believe("calibrate", in_groups, "--json"))
    assert found["group_guarantee"] in result.stdout
    promised = {"other_errors": None, "promised": True}
    assert found["groups"] == [
        {"name": "easy", "queries": 148, "answered": 148, "errors": 0, **promised},
        {"name": "hard", "queries": 52, "answered": 5, "errors": 3, **promised, "promised": False},
    ]
    assert policy_from_dict(found).answered == 153


def test_groups_can_be_named_and_switched_off(in_groups):
    for column in ("", "other"):  # the other column has one value: a group of all rows
        assert "groups" not in one_object(
            believe("calibrate", in_groups, "--group", column, "--json")
        )
    refused(believe("calibrate", in_groups, "--group", "none"), "no column “none”", 1)


def test_rows_are_different_questions_only_if_somebody_says_so(tmp_path):
    rows = [(i // 4, i / 1000, int(i < 150 or i == 199)) for i in range(200)]
    path = scores_file(tmp_path, ["trace_id", "doubt", "correct"], rows)
    says = "These may: “trace_id” (50 different). The promise would take 200 rows for 200"
    refused(believe("calibrate", path), says, 1)
    refused(believe("calibrate", path), 'or --question "" if every row asks another', 1)
    options = ("--target-error", 0.2, "--json")
    every = one_object(believe("calibrate", path, "--question", "", *options))
    by_text = one_object(believe("calibrate", path, "--question", "trace_id", *options))
    assert (every["labels"], by_text["labels"]) == (200, 50)


def test_predictions_beside_references_are_graded_if_somebody_says_by_what(tmp_path, monkeypatch):
    monkeypatch.setenv("BELIEVE_DATABASE_URL", f"sqlite:///{tmp_path}/believe.db")
    said = {0: "2 days", 1: "Paris"}  # else 5 days
    rows = [(f"q{i}", said.get(i % 20, "5 days"), "2 days", i / 1000) for i in range(200)]
    path = scores_file(tmp_path, ["question", "prediction", "gold", "doubt"], rows)
    refused(believe("calibrate", path), "Add --grade same-answer, paper, person", 1)
    both = ("--grade", "paper", "--correct", "gold")
    refused(believe("calibrate", path, *both), "Give either --grade or --correct.", 2)
    options = ("--target-error", 0.2, "--prediction", "prediction", "--reference", "gold")
    refused(believe("calibrate", path, *options, "--grade", "same-answer"), "Wrong among the", 1)
    result = believe("calibrate", path, *options, "--grade", "paper", "--method", "empirical")
    assert "by the paper’s rule (token F1 ≥ 0.25), of “prediction” beside “gold”" in result.stderr
    assert "differ on 90.0% of 200 questions" in result.stderr
    assert "The labels were made by the paper’s rule" in result.stdout
    refused(believe("calibrate", path, "--grade", "model"), "Name it with --model.", 1)
    for idle in (("--model", "smollm2"), ("--prediction", "prediction")):
        without = believe("calibrate", path, "--correct", "gold", *idle)
        refused(without, f"omit {idle[0]}.", 2)
    refused(believe("calibrate", path, "--grade", "person"), "No row of this file has a", 1)
    table = parse(path.read_bytes(), path.name)
    items = row_hashes(read_predictions(table, predictions_in(table)))
    with open_database() as database:  # as the page Calibration saves them
        for item, row in zip(items[:100], rows, strict=False):
            Labels(database).save(item, "right" if row[1] == "2 days" else "wrong")
    result = believe("calibrate", path, "--grade", "person", "--method", "empirical")
    assert (
        "made by a person" in result.stderr and "differ on 0.0% of 100 questions" in result.stderr
    )
    assert "answered 1 of 100" in result.stdout
    result = believe("calibrate", path, *options, "--grade", "paper", "--method", "empirical")
    assert "and a person differ on 90.0% of 100 questions" in result.stderr
    unscored = scores_file(tmp_path, ["question", "prediction", "gold"], [r[:3] for r in rows])
    says = "Of 200 predictions 10 are right by the rule “same answer”."
    refused(believe("calibrate", unscored, "--grade", "same-answer"), says, 1)


def test_which_filter_counts_is_asked_and_another_one_is_another_look(tmp_path, monkeypatch):
    monkeypatch.setenv("BELIEVE_DATABASE_URL", f"sqlite:///{tmp_path / 'looks.sqlite'}")
    rows = [
        (f"q{i}", i / 100 + len(kind), i % 50 > 0, kind)
        for i in range(200)
        for kind in ("strict", "loose")
    ]
    path = scores_file(tmp_path, ["question", "doubt", "correct", "filter"], rows)
    base = ("calibrate", path, "--target-error", 0.2, "--json")
    refused(believe(*base), "Add --filter COLUMN=VALUE, or --filter COLUMN if their mix", 1)
    strict = one_object(believe(*base, "--filter", "filter=strict"))
    mix = one_object(believe(*base, "--filter", "filter"))
    assert [(each["labels"], each["looks"]) for each in (strict, mix)] == [(200, 1), (200, 2)]
    only = "As you said, only rows in which “filter” is “strict” count."
    assert only in policy_from_dict(strict).sentence
    says = "“filter” is “strict” and “loose”: their mix counts, not one alone."
    assert policy_from_dict(mix).selection == says
    both = ("--filter", "filter=strict", "--filter", "filter")
    refused(believe(*base, *both), "--filter takes one value of a column; give it one.", 2)


def test_the_promise_comes_first_and_then_the_numbers(scores):
    for name, where in (("doubt", "below"), ("sure", "above")):
        options = ("--score", name, "--target-error", 0.2)
        found = policy_from_dict(one_object(believe("calibrate", scores, *options, "--json")))
        lines = believe("calibrate", scores, *options).stdout.splitlines()
        assert lines[0] == found.sentence
        shown = -found.threshold if found.larger_is_surer else found.threshold
        assert lines[2] == f"{name}: answer {where} {shown:.6g}"
        assert lines[3] == f"answered {found.answered} of 40, {found.errors} of them wrong"


def test_rows_that_do_not_count_are_told_beside_the_policy(tmp_path):
    rows = [(f"q{i % 30}", i / 100 if i % 30 < 29 else 0.9, int(i % 30 < 29)) for i in range(60)]
    rows.append(("last", 0.1, "maybe"))
    path = scores_file(tmp_path, ["question", "doubt", "correct"], rows)
    result = believe("calibrate", path, "--target-error", 0.2, "--json", "--meaning", "maybe=out")
    assert one_object(result)["labels"] == 30
    assert "Line 62: “correct” is “maybe” (left out)." in result.stderr
    assert "As you said, 1 row in which “correct” is “maybe” was left out." in result.stderr
    assert "Rows that repeat another row’s question: 30." in result.stderr
    assert one_object(result)["left_out"] == 1
    assert "1 row without a label was left out" in one_object(result)["guarantee"]


@pytest.fixture
def unread_labels(tmp_path):
    """Sixty right answers, forty of which the label is empty or a word, and a right one."""
    labels = ["1"] * 60 + [""] * 25 + ["W"] * 15 + ["1"]
    rows = [(f"q{i}", i / 100, label) for i, label in enumerate(labels)]
    return scores_file(tmp_path, ["question", "doubt", "correct"], rows)


@pytest.mark.parametrize("more", [(), ("--json",), ("--meaning", "W=wrong")])
def test_labels_that_are_not_read_are_named_and_promise_nothing(unread_labels, tmp_path, more):
    out = tmp_path / "policy.json"
    result = believe("calibrate", unread_labels, "--out", out, *more)
    says = "“correct” has cells that say neither right nor wrong: empty (25 rows)"
    refused(result, says, 1)
    assert not out.exists()
    assert ("“W” (15 rows)" in result.stderr) == ("W=wrong" not in more)
    assert "--meaning VALUE=wrong" in result.stderr


def test_what_labels_mean_can_be_said(unread_labels):
    says = ("--meaning", "w=wrong", "--meaning", "=wrong", "--target-error", 0.06, "--json")
    found = one_object(believe("calibrate", unread_labels, *says))
    # P(Bin(61, 6 %) ≤ 1) is above 5 %: no wrong one is answered, and all the right ones are.
    assert (found["answered"], found["errors"], found["left_out"]) == (60, 0, 0)
    says = ("--meaning", "W=out", "--meaning", " =out")
    result = believe("calibrate", unread_labels, *says)
    assert result.exit_code == 1 and "Every label of “doubt” is right." in result.stderr


@pytest.mark.parametrize(
    ("options", "says", "status"),
    [
        (("--meaning", "W"), "--meaning takes VALUE=right", 2),
        (("--meaning", "W=maybe"), "--meaning takes VALUE=right", 2),
        (("--meaning", "W=right", "--meaning", "w=wrong"), "two meanings", 2),
        (("--meaning", "V=right"), "No row has the value “v” in “correct”", 1),
    ],
)
def test_a_meaning_that_means_nothing_is_refused(unread_labels, options, says, status):
    refused(believe("calibrate", unread_labels, *options), says, status)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"question,answer\na,b\n", "python -m core evaluate questions.jsonl"),
        (b"question,doubt,correct\na,0.5,1\nb,0.9,0\n", "Too few"),
    ],
)
def test_what_cannot_be_calibrated_is_a_sentence(tmp_path, content, says):
    path, out = tmp_path / "x.csv", tmp_path / "policy.json"
    path.write_bytes(content)
    refused(believe("calibrate", path, "--out", out), says, 1)
    assert not out.exists()


@pytest.mark.parametrize(
    ("options", "says", "status"),
    [
        (("--score", "c"), "There is no column “c”", 1),
        (("--target-error", "nan"), "The target error is nan", 2),
        (("--confidence", 90), "The confidence is 90.0", 2),
        (("--score", "doubt", "--score", "sure", "--method", "crc"), "Name one score.", 2),
    ],
)
def test_calibrating_the_impossible_is_a_sentence(scores, options, says, status):
    refused(believe("calibrate", scores, *options, "--json"), says, status)


def test_what_a_look_may_spend_is_said_also_where_nothing_is_certified(scores):
    result = believe("calibrate", scores, "--score", "doubt", "--target-error", 0.001, "--json")
    assert result.exit_code == 1 and "Too few labelled answers" in result.stderr
    assert json.loads(result.stdout) == {
        "guarantee": None,
        "answered": 0,
        "looks": 1,
        "delta": 0.05,
        "spent_by": [],
    }


def test_later_looks_at_the_same_labels_spend_less(scores, tmp_path, monkeypatch):
    """Nothing is kept for History, and the looks are remembered all the same."""
    monkeypatch.setenv("BELIEVE_DATABASE_URL", f"sqlite:///{tmp_path / 'kept.sqlite'}")
    base = ("calibrate", scores, "--target-error", 0.3, "--no-keep", "--json", "--score")
    first = one_object(believe(*base, "doubt"))
    same, done = (believe(*base, score) for score in ("doubt", "sure"))
    again, other = one_object(same), one_object(done)
    assert first == again and (first["looks"], first["delta"], first["spent_by"]) == (1, 0.05, [])
    assert (other["looks"], other["delta"]) == (2, 0.025)
    assert other["spent_by"] == ["doubt: at most 30%, 40 rows of scores.csv"]
    assert "Looks before it: doubt: at most 30%, 40 rows" in done.stderr
    assert "Looks before it" not in same.stderr
    assert "Look 2 at these labels: it was tested at 97.5%" in other["guarantee"]
    with open_database() as database:
        assert SavedResults(database).search().total == 0


def test_a_half_is_held_back_and_tests_the_policy(scores):
    options = ("--score", "doubt", "--target-error", 0.4, "--hold-back")
    made = one_object(believe("calibrate", scores, *options, "--json"))
    tested = made["held_back"]
    assert (made["labels"], tested["questions"]) == (20, 20)
    assert (tested["looks"], tested["confidence"]) == (1, 0.95)
    said = believe("calibrate", scores, *options).output
    assert f"On 20 new questions it answered {tested['answered']}, " in said


def test_calibrate_runs_as_a_module(tmp_path):
    done = subprocess.run(
        [*(sys.executable, "-m", "core", "calibrate", str(EXAMPLE)), *("--group", ""), "--json"],
        env=os.environ | {"BELIEVE_DATABASE_URL": f"sqlite:///{tmp_path}/believe.db"},
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    # The default shares δ = 10% between this promise and that of what it believes; a first look
    # leaves as much for those that follow.
    bundled = replace(default_policy(), belief=None, looks=1, caution=None)
    printed = policy_from_dict(json.loads(done.stdout))
    unused = ("source", *bundled.codebook.unused)  # no groups are wanted
    assert printed == replace(bundled, codebook=replace(bundled.codebook, unused=unused))


def test_what_was_read_stands_beside_the_policy_and_before_it_in_it(scores):
    done = believe("calibrate", scores, "--score", "doubt", "--target-error", 0.2)
    assert done.stderr.splitlines()[1:4] == [
        "Question: “question”; 40 rows ask 40 different questions.",
        "Right: “doubt_correct” is “1” (32 of 40 rows); wrong: “0”.",
        "Score: “doubt”; larger means more doubt.",
    ]


def test_outside_scores_are_calibrated():
    folder = os.environ.get("BELIEVE_TEST_DATA")
    if not folder:
        pytest.skip("BELIEVE_TEST_DATA names no folder with outside data")
    path = Path(folder) / "calibration/tq_agreement.csv"
    options = ("--score", "score", "--correct", "correct", "--target-error", 0.1)
    refused(believe("calibrate", path, *options), "a larger “score” means", 1)
    options += ("--larger-is-surer",)
    found = policy_from_dict(one_object(believe("calibrate", path, *options, "--json")))
    rows = records_in(path.read_bytes())
    assert found.data == hashlib.sha256(path.read_bytes()).hexdigest()
    assert found.larger_is_surer and found.pipeline is None
    assert found.labels == len(rows) == 1938  # no question comes twice
    answered = [row for row in rows if float(row["score"]) > -found.threshold]
    assert 0 < found.answered == len(answered) < 1938
    assert found.errors == sum(row["correct"] == "0" for row in answered)
    assert found.errors / found.answered < found.upper_bound <= 0.1


# -------------------------------------------------------------------------- amplifying


def told(*more):
    """Amplify with the table's question and two of its answers."""
    return believe("amplify", QUERY, "--answer", "answer0", "--repeated", "answer1", *more)


def test_a_curve_as_json_is_the_studys(embedded):
    found = one_object(believe(*CAPITAL, "--json"))
    case = Case("What is the capital of France?", "Paris", "Lyon")
    assert found == curve_words.to_dict(curve.amplify(case, embedded))


def test_a_curve_in_words_by_hand(table):
    """Q(a) and Q(b) as the table has them: 0.8 and more go to what is told."""
    first = falling(12)
    rows = [first[:2], 0.2 * first[:2] + [0, 0.8]]
    lines = told("--repetitions", "0,1").stdout.splitlines()
    assert lines[:3] == [
        "A reason not to believe “answer0”: it gives way, as what is half known does.",
        "“answer1” overtakes at 1 repetition: “answer0” keeps "
        f"{rows[1][0] / rows[1].sum():.1%} of the two.",
        "",
    ]
    assert re.split(r" {2,}", lines[3].strip()) == [
        "Repetitions",
        "ln P(answer to test), nats",
        "ln P(answer to repeat), nats",
        "P(answer to test) of the two",
    ]
    for t, (line, (a, b)) in enumerate(zip(lines[4:], rows, strict=True)):
        numbers = (math.log(a), math.log(b), a / (a + b))
        assert line.split() == [str(t), *(f"{n:.4g}".replace("-", "−") for n in numbers)]
        assert len(line) == len(lines[3])


def test_a_curve_can_be_written_as_a_report(table, tmp_path):
    report = tmp_path / "report.html"
    verdict, *_ = told("--repetitions", "0,1", "--report", report).stdout.splitlines()
    found = read_document(report.read_text(encoding="utf-8"))
    assert found.texts[2:4] == [QUERY, verdict]
    assert found.settings["Answer that is repeated"] == "answer1"
    assert found.settings["Repetitions"] == "0, 1"


def test_repetitions_may_come_twice_and_in_any_order(table):
    tidy = one_object(told("--repetitions", "0,1", "--json"))
    assert [point["repetitions"] for point in tidy["curve"]] == [0, 1]
    for careless in ("1,0,1,0", " 1, 0 ,", "0,,1", "0, ,1", "01,00"):
        assert one_object(told("--repetitions", careless, "--json")) == tidy


def test_frequencies_stand_where_likelihoods_are_missing(monkeypatch):
    monkeypatch.setattr(opening, "open_model", lambda name: Counted(lambda t: ["answer0"]))
    *_, line = told("--repetitions", "5").stdout.splitlines()
    assert line.split()[:2] == ["5", "1"]  # and the interval
    (point,) = one_object(told("--repetitions", "5", "--json"))["curve"]
    assert point["repetitions"] == 5 and point["log_likelihood_answer"] is None
    result = believe("amplify", QUERY, "--answer", "x", "--repeated", "y", "--repetitions", "0")
    first, *_, line = result.stdout.splitlines()
    assert result.exit_code == 0
    assert first == "Neither answer was sampled, so they cannot be compared."
    assert line.split() == ["0"]


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_no_text_of_a_model_moves_the_cursor_of_a_terminal():
    raw = "Lyon\x1b[2K\rBELIEVE IT: Paris \x07\x9b1m\u202e 👩\u200d🚀\n"
    of_terminal = "Lyon�[2K�BELIEVE IT: Paris ��1m� 👩\u200d🚀\n"
    for stream, text in ((io.StringIO(), raw), (Terminal(), of_terminal)):
        guard(stream)
        stream.write(raw)
        stream.write(f"{CLEAR}half done")  # our own
        assert stream.getvalue() == f"{text}{CLEAR}half done"


def test_what_the_encoding_of_a_file_lacks_is_an_escape_and_no_traceback():
    stream = io.TextIOWrapper(io.BytesIO(), "cp1252")
    guard(stream)
    stream.write('"M.I. ≥ ½"')
    stream.flush()
    assert json.loads(stream.buffer.getvalue().decode("cp1252")) == "M.I. ≥ ½"
