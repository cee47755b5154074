"""The sentences of a longer text, marked on Inspection."""

import pytest

from core.claims import NO_PROMISE
from core.ui.inspection.claims import UNTAUGHT
from core.ui.model import ChosenModel
from tests.hostile import TEXTS
from tests.language_models.openai_server import serving
from tests.sessions import (
    chosen,
    components,
    go,
    harmless,
    keys,
    offer,
    press,
    said,
    session,
    settled,
)
from tests.test_claims import TEXT, Judge


def bring(page, text):
    page.session_state["claims_fold"] = True
    settled(page.run())
    return settled(page.text_area(key="claims_text").set_value(text).run())


def parts(page):
    return next((content["parts"] for content in components(page) if "parts" in content), None)


@pytest.fixture
def page():
    page = session("inspection")
    page.session_state["model_chosen"] = ChosenModel("judge", Judge())
    return page


def test_sentences_are_marked_in_their_text_after_a_press(page):
    text = f"{TEXT}\n{TEXTS[0]}."
    page = bring(page, text)
    assert said(page, NO_PROMISE) and parts(page) is None
    page = press(page, "claims_ask")
    assert "".join(part["text"] for part in parts(page)) == text and harmless(page)
    kinds = [part["kind"] for part in parts(page) if "kind" in part]
    assert kinds[:3] == ["true", "false", "open"]
    assert parts(page)[1]["label"] == "perhaps true, M.I. 0.000 nats"
    page.session_state["claim_pressed"] = ("judge", "1", text, "", ""), 1
    page = settled(page.run())
    assert said(page, "Perhaps false.")
    press(page, "open_claim")
    assert page.query_params["saved"] and said(page, "Statement: Lyon is in Spain!")


def test_other_marks_than_those_of_the_text_are_not_shown(page):
    page = press(bring(page, TEXT), "claims_ask")
    page = settled(page.text_area(key="claims_text").set_value("Rome is in Italy.").run())
    assert parts(page) is None
    page = settled(page.text_area(key="claims_text").set_value(" ? ").run())
    assert said(page, "0 sentences; give one with")


def test_a_service_is_asked_only_after_its_price_was_agreed_to(on_ones_own):
    with serving("none") as server:
        page = bring(go(chosen(session("home"), server), "inspection"), "Rome is in Italy.")
        before = len(server.exchanges)
        page = press(page, "claims_ask")
        assert offer(page, "pay_claims") > 100 and len(server.exchanges) == before


def test_the_embedded_model_says_that_it_cannot_judge():
    page = session("inspection")
    page.session_state["claims_fold"] = True
    page = settled(page.run())
    assert said(page, UNTAUGHT) and "claims_ask" not in keys(page)
