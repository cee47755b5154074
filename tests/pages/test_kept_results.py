"""Kept results opened on the pages they belong to, exactly and without asking."""

import json

import pytest

from core.language_models.embedded.model import EmbeddedModel
from core.studies.tour import EXAMPLES
from core.studies.verdict import default_policy
from core.ui.keeping import kept
from core.ui.shared import _of_this_process
from tests.pages.sessions import keys, metrics, press, said, session

QUERY = "Name a mammal"


@pytest.fixture(autouse=True)
def fresh():
    _of_this_process.clear()
    yield
    _of_this_process.clear()


@pytest.fixture
def no_model(monkeypatch):
    """Return a switch: from then on the model answers nothing more."""

    def broken(*_, **__):
        raise AssertionError("the model was asked")

    def switch():
        for method in ("sample", "log_likelihoods", "next_token"):
            monkeypatch.setattr(EmbeddedModel, method, broken)

    return switch


def results():
    return kept().results


def only():
    (result,) = results().search().results
    return result


def save(query=QUERY, title="", kind="inspection", payload=None):
    payload = payload or json.dumps([kind, query, title])
    return results().save(kind, title, query, "embedded", payload)


def test_an_inspection_opens_as_it_was_without_asking(no_model):
    asked = session("inspection", q=QUERY, tau="0.5", seed="3")
    no_model()
    page = session("inspection", saved=only().id)
    assert metrics(page) == metrics(asked) and len(metrics(page)) > 3
    link = f"?saved={only().id}"  # under which a kept one is already
    assert [c.value for c in page.code] == [c.value for c in asked.code if c.value != link]
    asking = "Has enough been seen?"  # by the model, which is not asked here
    assert [h.value for h in page.subheader] == [
        h.value for h in asked.subheader if h.value != asking
    ]
    assert not [field for field in page.text_input if field.key == "q"]
    assert results().search().total == 1


def test_from_a_kept_inspection_one_goes_back_to_asking():
    session("inspection", q=QUERY)
    page = press(session("inspection", saved=only().id), "leave_kept")
    assert "saved" not in page.query_params
    assert page.text_input(key="q").value == EXAMPLES["Known"] and "leave_kept" not in keys(page)


def test_a_kept_inspection_offers_no_button_that_does_nothing():
    session("inspection", q=QUERY)
    page = session("inspection", saved=only().id)
    before = metrics(page)
    offered = [b.key for b in page.button if b.key == "sample_30" and not b.disabled]
    for key in offered:
        assert metrics(press(page, key)) != before


def test_a_curve_opens_as_it_was_without_asking(no_model):
    session("amplification")
    assert not results().search().total
    case = {"query": "What is the capital of Spain?", "answer": "Madrid", "repeated": "Paris"}
    asked = session("amplification", **case)
    assert (only().kind, only().query) == ("amplification", case["query"])
    no_model()
    page = session("amplification", saved=only().id)
    assert not [field for field in page.text_input if field.key == "query"]

    def tables(page):
        return [t.value for t in page.dataframe if "repetitions" in t.value]

    assert len(tables(page)) == 1 and tables(page)[0].equals(tables(asked)[0])
    assert said(page, "1. ") == said(asked, "1. ")


def test_a_used_policy_opens_on_calibration():
    page = press(session("calibration"), "use_example")
    press(page, "use_policy")
    assert only().kind == "policy" and only().outcome == default_policy().sentence
    assert only().title == f"Mutual information: answer {default_policy().where}"
    page = session("calibration", saved=only().id)
    assert said(page, default_policy().sentence)
    assert "stop_policy" not in keys(page)
    press(page, "use_kept")
    assert "stop_policy" in keys(page) and results().search().total == 1


@pytest.mark.parametrize("name", ["inspection", "amplification", "calibration"])
@pytest.mark.parametrize("other", [None, "inspection", "amplification", "policy"])
def test_an_id_of_nothing_or_of_another_kind_gets_a_sentence(name, other):
    ours = "policy" if name == "calibration" else name
    if other == ours:
        other = None
    page = session(name, saved=save(kind=other) if other else "no-such-id-of-anything")
    assert said(page, f"This link is of a kept {other}" if other else "not kept here")
    assert "leave_kept" not in keys(page)
    press(page, "close_notice")
    assert "saved" not in page.query_params and "close_notice" not in keys(page)


@pytest.mark.parametrize("payload", ["{}", "not json", "[{}]"])
@pytest.mark.parametrize("name", ["inspection", "amplification", "calibration"])
def test_a_damaged_result_is_no_traceback(name, payload):
    kind = "policy" if name == "calibration" else name
    page = session(name, saved=save(kind=kind, payload=payload))
    assert "leave_kept" in keys(page)
