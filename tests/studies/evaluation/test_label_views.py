"""What Evaluation shows of labels is a look at them, which the calibration knows of."""

import json
from dataclasses import replace

from core.abstention import ledger
from core.reports.evaluation.words import price_of_view
from core.studies.evaluation.bundled import folders
from core.studies.evaluation.label_views import view
from core.studies.evaluation.results import read_results
from core.studies.evaluation.run import evaluate
from core.studies.evaluation.saved_run import Filter, Run
from core.uncertainty.scores import SCORES
from tests.command_line import believe
from tests.studies.evaluation.worlds import World, questions, surveyed, task, written


def test_every_choice_of_rows_or_labels_is_a_look_and_the_same_is_none(tmp_path):
    evaluate(surveyed(questions(60)), task(World()), tmp_path)
    run = Run(tmp_path)
    choices = (
        {},
        {"filters": [Filter("diverse")]},
        {"served": "greedy_probability"},
        {"sources": ["one"]},
        {},
    )
    looks = []
    for place, choice in zip((1, 2, 3, 4, 1), choices, strict=True):
        seen = view(read_results(run, **choice), looks)
        assert seen.place == place and seen.is_view
        assert price_of_view(seen).startswith(f"Look {place} at these labels") is (place > 1)
        looks.append(seen)
    other = view(read_results(run), looks, (0.1, 0.9))
    assert other.place == 5 and view(read_results(run), [*looks, other], (0.1, 0.9)) == other
    assert "may spend δ/16." in price_of_view(looks[3])
    assert "30 looks at these labels have spent δ" in price_of_view(replace(looks[3], place=31))


def test_a_run_that_goes_on_is_looked_at_anew_when_its_rows_have_doubled(tmp_path, monkeypatch):
    monkeypatch.setattr(ledger, "MOST_KEPT", 8)  # all rows count, not those that stand for them
    one = {"mutual_information": 0.1}
    looks, places = [], []
    for number in (10, 15, 19, 20, 30):
        run = written(tmp_path / str(number), *[one] * number)
        run.manifest["ended"] = None
        looks.append(view(read_results(run), looks))
        places.append(looks[-1].place)
    assert places == [2, 2, 2, 3, 3]  # the first costs one place more


def test_a_bundled_run_shown_whole_is_no_look():
    run = Run(folders()["embedded_world"])
    assert view(read_results(run), ()) is None
    assert view(read_results(run, match="exact"), ()).place == 1


def test_the_commands_share_one_ledger(tmp_path, monkeypatch):
    monkeypatch.setenv("BELIEVE_DATABASE_URL", f"sqlite:///{tmp_path / 'kept.sqlite'}")
    evaluate(surveyed(questions(60)), task(World()), tmp_path / "run")

    def evaluated(*more):
        return believe("evaluate", "--out", tmp_path / "run", "--resamples", 0, *more).stderr

    def calibrated(*scores):
        chosen = [part for score in scores for part in ("--score", score)]
        return json.loads(believe("calibrate", tmp_path / "scored.csv", "--json", *chosen).stdout)

    assert "Look" not in evaluated("--labelled", tmp_path / "scored.csv")
    assert "Look 2 at these labels" in evaluated("--filter", "diverse")
    named = calibrated("mutual_information")
    assert named["looks"] == 3  # it was named after all scores were seen
    assert [each.split(",")[0] for each in named["spent_by"]] == ["shown"] * 2
    assert calibrated("mutual_information", "semantic_entropy")["looks"] == 4  # two, chosen of all
    assert calibrated(*SCORES)["looks"] == 1  # the best of all, on just the rows that were shown
