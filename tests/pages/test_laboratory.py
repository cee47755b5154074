"""The page "Laboratory" without a browser: an experiment chosen, set, run, stopped, refused.

What experiments find is tested below tests/studies/laboratory, what is shipped of them there, too.
"""

import shlex
import threading
from copy import copy
from dataclasses import replace

import pytest
from click.testing import CliRunner

from core.cli import main
from core.reports.laboratory.catalogue import EXPERIMENTS
from core.reports.laboratory.rulings import BROKEN, CLAIMS, HELD, WEAK
from core.studies.laboratory.bundled import results_of
from core.studies.laboratory.experiment import Outcome
from tests.hostile import TEXTS
from tests.language_models.openai_server import serving
from tests.sessions import (
    badges,
    chosen,
    go,
    harmless,
    keys,
    pictures,
    press,
    said,
    session,
    settled,
    table,
    texts,
    until,
    visit,
)

pytestmark = pytest.mark.usefixtures("on_ones_own")


def command(page):
    (found,) = [code.value for code in page.get("code") if code.value.startswith("python -m core")]
    return found


def test_opens_on_the_claims_and_looks_closer_at_one_as_it_is_shipped():
    page = session("laboratory")
    assert page.title[0].value == "Do the claims hold?"
    rulings = [claim.rule(results_of(name)[0]) for name, claim in CLAIMS.items()]
    words = [ruling.word for ruling in rulings]
    assert badges(page) == sorted(words, key=(BROKEN, WEAK, HELD).index)  # the worst first
    assert len(pictures(page)) == 7
    assert {ruling.number for ruling in rulings} <= {*texts(page)}
    tried = "7 claims, tried where the truth is known: yes for 2, in part for 3, no for 2."
    assert page.header[0].value == tried
    assert {ruling.follows for ruling in rulings} <= {*texts(page)}
    press(page, "claim_estimator_open")
    assert page.query_params["experiment"] == "estimator"
    (finding,) = results_of("estimator")
    answer = "Do more answers make the doubt exact? Yes: 218 answers"
    assert texts(page)[0].startswith(answer) and texts(page)[2] == finding.sentence
    assert said(page, "Asks no model.")
    assert len(pictures(page)) == 3 and command(page) == "python -m core laboratory estimator"
    names = ["html", "csv", "json"] + ["png", "svg"] * 3
    assert [button.proto.id.rpartition(".")[2] for button in page.get("download_button")] == names
    press(page, "claims")
    assert "experiment" not in page.query_params and len(badges(page)) == 7


def test_a_setting_is_computed_at_once_and_the_command_finds_the_same():
    page = session("laboratory", experiment="estimator", estimator_seeds="3")
    page.number_input(key="estimator_n").set_value(2).run()
    settled(page.number_input(key="estimator_largest").set_value(100).run())
    line = command(page)
    assert line.endswith("estimator --n 2 --seeds 3 --largest 100")
    printed = CliRunner().invoke(main, shlex.split(line)[3:]).stdout
    assert printed.splitlines()[0] == texts(page)[0]
    assert {*table(page, "estimate")["estimate"]} > {"Counts, adjusted for chance"}  # pairs have it
    press(page, "usual_estimator")
    assert texts(page)[2] == results_of("estimator")[0].sentence


def test_an_address_opens_an_experiment_with_its_settings_and_returns_to_it():
    page = session("laboratory", experiment="missing_mass", missing_mass_law="uniform")
    assert command(page).endswith("missing_mass --law uniform")
    settled(go(page, "history").run())
    settled(go(page, "laboratory").run())
    assert command(page).endswith("missing_mass --law uniform")
    page.pills(key="laboratory_which").set_value("finite_samples").run()
    assert command(settled(page)).endswith("laboratory finite_samples")
    page = session("laboratory", experiment="theorem")
    assert said(page, "Asks the embedded model, whichever is chosen above")


@pytest.mark.parametrize("hostile", TEXTS[:2])
def test_what_an_address_may_hold_instead_is_said(hostile):
    page = session("laboratory", experiment=hostile)
    assert said(page, "There is no experiment “") and len(badges(page)) == 1 + len(CLAIMS)
    page = session("laboratory", experiment="hallucination", hallucination_question=hostile)
    assert said(page, "What is true about this question is not known here.")
    assert said(page, "Correct the settings") and not pictures(page) and harmless(page)
    page = session("laboratory", experiment="estimator", estimator_n="77")
    assert said(page, "The address gives estimator_n = 77, which is not a number from 2 to 10")


def test_bad_input_gets_a_sentence_beside_the_field():
    page = session("laboratory", experiment="missing_mass", missing_mass_law="own")
    assert pictures(page)
    settled(page.text_input(key="missing_mass_own").set_value("0.5, often").run())
    assert said(page, "That is not a list of numbers. Give one for each kind") and not pictures(
        page
    )
    settled(page.text_input(key="missing_mass_own").set_value("3; 1").run())
    assert pictures(page) and command(page).endswith("--law own --own '3; 1'")
    settled(page.number_input(key="missing_mass_smallest").set_value(20_000).run())
    assert said(page, "The smallest k, 20,000, is above the largest, 10,000. Exchange them.")


def test_the_answers_of_the_model_are_a_distribution_too():
    page = session("laboratory", experiment="missing_mass", missing_mass_law="model")
    assert said(page, "Asks the embedded model") and said(page, "besides that nobody has found")


def test_what_is_shipped_of_another_model_is_beside():
    page = visit("laboratory", experiment="effective_support")
    page.session_state["laboratory_other_0"] = True
    settled(page.run())
    ours, theirs = results_of("effective_support")
    assert {ours.sentence, theirs.sentence} <= {*texts(page)} and len(pictures(page)) == 8
    assert said(page, f"{theirs.model}. Questions of TriviaQA; Questions 10; Draws k 100")


class Gated:
    """Work that waits until somebody lets it go on, or stops it."""

    def __init__(self):
        self.open = threading.Event()

    def __call__(self, settings, model, progress):
        while not self.open.wait(0.02):
            progress("Waiting", 0.5)
        return Outcome("It came to an end.", {"k": [1]}, results_of("theorem")[0].drawn)


@pytest.fixture
def gated(monkeypatch):
    work = Gated()
    monkeypatch.setitem(EXPERIMENTS, "theorem", replace(EXPERIMENTS["theorem"], work=work))
    yield work
    work.open.set()


def test_what_takes_long_is_started_by_a_press_watched_and_cancelled(gated):
    page = settled(visit("laboratory", experiment="theorem", theorem_questions="5").run())
    assert said(page, "This has not been computed with these settings. It takes about")
    page.button(key="start_laboratory_theorem").click().run()
    until(page, lambda: page.get("progress"))
    assert "cancel_laboratory_theorem" in keys(page) and not pictures(page)
    page.button(key="cancel_laboratory_theorem").click().run()
    until(page, lambda: said(page, "Cancelled."))
    gated.open.set()
    press(page, "again_laboratory_theorem")
    assert said(page, "It came to an end.") and len(pictures(page)) == 4
    assert command(page).endswith("laboratory theorem --questions 5")


def test_what_takes_a_slow_model_minutes_waits_for_a_press(monkeypatch, embedded):
    slow = copy(embedded)
    slow.name, slow.capabilities = "slow", replace(embedded.capabilities, quick=False)
    monkeypatch.setattr("core.ui.laboratory.bench.study_model", lambda: slow)
    about = {"experiment": "hallucination", "hallucination_likeliest": "2"}
    page = session("laboratory", **about)
    assert said(page, "This has not been computed with these settings.") and not pictures(page)
    assert pictures(settled(press(page, "start_laboratory_hallucination")))


def test_a_service_is_not_asked_for_what_takes_too_many_calls():
    with serving() as server:
        page = chosen(session("laboratory", experiment="effective_support"), server)
        assert said(page, "is a service, of which this would take too many calls")
        assert not pictures(page) and "start_laboratory_effective_support" not in keys(page)


def test_a_service_is_not_paid_for_what_it_cannot_answer():
    with serving("none") as server:
        page = chosen(session("laboratory", experiment="chains"), server)
        assert said(page, "does not report how likely whole answers are, which chains take")
        assert said(page, "Asks the model chosen above: ")
        assert "pay_laboratory_chains" not in keys(page)
