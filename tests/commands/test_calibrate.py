"""A policy tested on new rows from the command line; `tests/test_cli.py` has how one is made."""

import json
from functools import partial

import pytest

from tests import command_line

believe = partial(command_line.believe, "calibrate")


def write(file, first, wrong):
    rows = (f"q{first + n},{n},{int(n >= 100 or n >= wrong)}\n" for n in range(100))
    file.write_text("question,entropy,correct\n" + "".join(rows))
    return file


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.setenv("BELIEVE_DATABASE_URL", f"sqlite:///{tmp_path / 'b.db'}")  # of looks
    made = write(tmp_path / "rows.csv", 0, 3)
    options = ("--target-error", 0.2, "--no-keep", "--out", tmp_path / "policy.json")
    assert believe(made, *options).exit_code == 0
    return made, write(tmp_path / "new.csv", 500, 4), tmp_path / "policy.json"


def test_new_rows_test_a_policy_and_its_own_do_not(files):
    own, new, policy = files
    done = believe(new, "--policy", policy, "--json")
    checked = json.loads(done.stdout)
    assert (checked["questions"], checked["answered"], checked["errors"]) == (100, 100, 4)
    assert (checked["outcome"], checked["looks"], checked["confidence"]) == ("kept", 1, 0.95)
    again = believe(new, "--policy", policy)
    assert again.stdout.startswith("On 100 new questions it answered 100, 4 of them wrongly.")
    after = believe(new, "--target-error", 0.2, "--no-keep", "--json")
    assert json.loads(after.stdout)["looks"] == 2
    refused = believe(own, "--policy", policy)
    assert refused.exit_code == 1 and "All of these questions made this policy" in refused.stderr


def test_a_policy_is_tested_as_it_is(files):
    _, new, policy = files
    done = believe(new, "--policy", policy, "--score", "entropy")
    assert done.exit_code == 2
    assert "--policy is tested as it is; omit --score." in done.stderr
