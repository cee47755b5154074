"""From an inspection to the laboratory: is the verdict stable, and what do longer chains add."""

from types import SimpleNamespace

import pytest

from core.language_models.language_model import Capabilities
from core.reports.laboratory.deciding import plan, sentence
from core.studies import costs
from core.studies.examples import EXAMPLES
from core.studies.inspection.certificates import default_policy
from core.studies.inspection.recorder import usual_request
from core.studies.inspection.request import Reading, Request
from core.studies.laboratory import deciding
from core.studies.laboratory.deciding import DecidingSettings
from core.ui.inspection import sampling
from core.ui.policy_badge import IN_USE
from tests.language_models.openai_server import serving
from tests.sessions import chosen, go, keys, offer, pictures, press, said, session, settled

SMALL = DecidingSettings(samples=(2, 8), thresholds=(0.25,), temperatures=(0.9,), seeds=2)


@pytest.fixture(autouse=True)
def _few(monkeypatch):
    monkeypatch.setattr(sampling, "settings_for", lambda model, request: SMALL)


def test_whether_a_verdict_is_stable_is_said_with_a_picture_at_the_press_of_a_button(embedded):
    page = session("inspection", q=EXAMPLES["Unknown"])
    press(page, "reveal")
    assert "ask_stable" in keys(page) and not said(page, "is not stable")
    press(page, "ask_stable")
    found = deciding.run([EXAMPLES["Unknown"]], embedded, settings=SMALL)
    assert said(page, sentence(found)) and "(never kept)" in sentence(found)
    assert [p for p in pictures(page) if p.startswith("Values that keep the verdict: number of")]
    assert "ask_stable" not in keys(page)
    # Another reading is another verdict; what was computed is there when one comes back.
    page.slider(key="tau").set_value(0.9).run()
    assert "ask_stable" in keys(settled(page)) and not said(page, sentence(found))
    page.radio(key="example_question").set_value("Known").run()
    assert "ask_stable" in keys(settled(page))


def test_where_the_policy_in_use_decides_nothing_no_other_is_called_stable():
    page = session("inspection", q=EXAMPLES["Known"], tau="0.3")
    assert "ask_stable" in keys(page)
    page.session_state[IN_USE] = default_policy()  # of τ = 0.25
    assert "ask_stable" not in keys(page.run()) and "chains" in keys(page)


def test_a_service_is_asked_only_after_its_cost_was_said():
    with serving() as server:
        page = chosen(session("inspection"), server)
        press(page, "pay_inspection")
        made = len(server.exchanges)
        page.button(key="ask_stable").click().run()
        assert offer(page, "pay_stable") and len(server.exchanges) == made
        page.button(key="chains").click().run()
        page = go(page, "laboratory").run()
        page.button(key="start_laboratory_chains").click().run()
        assert offer(page, "pay_laboratory_chains") and len(server.exchanges) == made


def test_the_most_that_it_takes_is_the_sum_of_what_each_setting_takes(embedded):
    request = usual_request("Q", embedded.capabilities)
    asked = deciding.requests_of(request, Reading(), embedded, SMALL)
    assert len(asked) == 3  # the likeliest, and two draws
    most = [costs.plan(one, embedded.capabilities).requests for one in asked]
    assert plan(("Q", "R"), embedded, request, Reading(), SMALL).requests == 2 * sum(most)


def test_fewer_values_are_tried_where_each_takes_long(monkeypatch):
    monkeypatch.undo()
    few, many = Request("Q", 8), Request("Q", sampling.MANY + 1)

    def tried(request, **abilities):
        able = Capabilities(scores_given_text=True, **abilities)
        return sampling.settings_for(SimpleNamespace(capabilities=able), request)

    assert tried(few) == DecidingSettings()
    assert tried(many) == tried(few, local=False) == tried(few, quick=False) == sampling.FEWER


def test_longer_chains_are_looked_at_in_the_laboratory_with_the_same_question():
    page = session("inspection", q=EXAMPLES["Known"])
    page.button(key="chains").click().run()
    assert settled(page).query_params["experiment"] == "chains"
    assert page.text_input(key="chains_question").value == EXAMPLES["Known"]
    press(go(page, "laboratory"), "start_laboratory_chains")
    assert said(page, "Chains of 2, 3 and 4 answers have an M.I. of")
