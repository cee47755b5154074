"""The button of every screen gives the report of what is on the screen.

What a report holds is tested below tests/reports; that a browser opens and prints it, below
tests/browser.
"""

from dataclasses import replace

import pytest

from core.abstention.policy_files import from_json
from core.studies.calibration.example import EXAMPLE
from core.studies.evaluation.bundled import folders
from core.studies.evaluation.saved_run import Run
from core.studies.laboratory.bundled import results_of
from tests.reports.reading import read_document
from tests.sessions import QUERY, metrics, move, session, texts, threshold

pytestmark = pytest.mark.usefixtures("on_ones_own")


def test_of_an_inspection(downloaded):
    app = session("inspection", q=QUERY, k=30, tau=0.4)
    found = read_document(downloaded(app, "inspection_report.html"))
    assert found.texts[1:3] == ["Believe · Inspection of one question", QUERY]
    assert found.settings["Similarity threshold τ"] == "0.4"
    assert {row[0]: row[1] for row in found.tables["Scores"][1:]}.items() <= metrics(app).items()


def test_of_the_curves_that_are_drawn(downloaded):
    app = session("amplification", query=QUERY, answer="dog", repeated="stone")
    found = read_document(downloaded(app, "amplification_report.html"))
    assert found.texts[1:3] == ["Believe · Amplification of an answer", QUERY]
    assert found.texts[3] in texts(app) and found.settings["Answer that is repeated"] == "stone"


def test_of_a_calibration_follows_lambda(downloaded):
    app = session("calibration")
    found = read_document(downloaded(app, "calibration_report.html"))
    assert found.texts[2] == f"Mutual information on {EXAMPLE.name}"
    certified = from_json(downloaded(app, "policy.json"))
    assert found.texts[3] == replace(certified, caution=None).sentence
    assert certified.caution in found.texts, "which stands apart"
    assert {certified.of_error, certified.payment.strip()} <= {*texts(app)}
    assert found.settings["Threshold λ, of the doubt"] == repr(certified.threshold)
    move(app, threshold(app)["places"]["values"][-1])
    moved = from_json(downloaded(app, "policy.json"))
    found = read_document(downloaded(app, "calibration_report.html"))
    assert moved.threshold != certified.threshold
    assert [text for text in found.texts if "λ by hand" in text and moved.sentence in text]


def test_of_an_evaluation_follows_the_run(downloaded):
    app = session("evaluation", run="qwen_popular_questions")
    found = read_document(downloaded(app, "evaluation_report.html"))
    run = Run(folders()["qwen_popular_questions"])
    asked = run.manifest["questions"]
    assert found.texts[2] == f"{run.pipeline.model} on {asked['name']}"
    assert asked["sha256"] in found.settings["Questions"]


def test_of_an_experiment(downloaded):
    app = session("laboratory", experiment="chains")
    found = read_document(downloaded(app, "laboratory_chains_report.html"))
    assert found.texts[3] == results_of("chains")[0].sentence
