"""Two saved inspections side by side: under an address, from History, and from an inspection."""

import pytest

from core.studies.inspection.certificates import default_policy
from core.ui.storage import storage
from tests.sessions import QUERY, harmless, keys, policy_badges, press, said, session, table

pytestmark = pytest.mark.usefixtures("fresh")


def saved():
    """The ids of what was saved, the oldest first."""
    return [result.id for result in storage().results.search().results][::-1]


@pytest.fixture
def two():
    session("inspection", q=QUERY)
    session("inspection", q=QUERY, tau="0.9")
    return saved()


def test_an_address_shows_differences_first_and_both_sides(two):
    here, there = two
    page = session("inspection", saved=here, beside=there)
    assert page.header[0].value == "What was set differently"
    differences = table(page, "setting").values.tolist()
    limit = f"{default_policy().threshold:.10g}"
    assert differences == [
        ["similarity threshold τ", "0.25", "0.9"],
        ["threshold λ", limit, "–"],  # with another τ, nothing is certified
        ["least sampled mass", "0.02", "–"],
        ["policy", f"Default policy. {default_policy().sentence}", "–"],
    ]
    assert policy_badges(page) == []  # what this session's promises is not said of saved ones
    first, second = (table(session("inspection", saved=id), "doubt against λ") for id in two)
    scores = table(page, "score")
    assert list(scores["here (left)"]) == list(first["value"])
    assert list(scores["there (right)"]) == list(second["value"])
    assert {"share here", "share there"} <= set(table(page, "share here").columns)
    assert len(page.get("vega_lite_chart")) == 2 and harmless(page)
    page = press(page, "beside_swap")
    assert table(page, "setting").values.tolist()[0] == ["similarity threshold τ", "0.9", "0.25"]
    page = press(page, "beside_close")
    assert "beside" not in page.query_params and page.query_params["saved"] == there
    assert table(page, "doubt against λ").equals(second)


def test_an_inspection_offers_the_others(two):
    page = session("inspection", saved=two[1])
    assert page.selectbox(key=f"beside_which_{two[1]}").options
    page = press(page, "beside_open")
    assert page.query_params["beside"] == two[0]
    assert page.header[0].value == "What was set differently"


def test_what_was_not_saved_is_saved_once_it_is_compared():
    """An example on which the page opens; beside it, something has to be saved."""
    page = session("inspection")
    assert not saved() and "beside_open" not in keys(page)
    session("inspection", q=QUERY)
    (other,) = saved()
    page = press(session("inspection"), "beside_open")
    assert saved() == [other, page.query_params["saved"]] and page.query_params["beside"] == other


def test_a_link_that_leads_nowhere_leaves_the_inspection_there(two):
    curve = storage().results.save("amplification", "", QUERY, "embedded", "[]")
    broken = storage().results.save("inspection", "", QUERY, "embedded", "{}")
    for id, says in (("nothing", "not here"), (curve, "Only two"), (broken, "not an inspection")):
        page = session("inspection", saved=two[0], beside=id)
        assert said(page, says) and table(page, "doubt against λ") is not None
        assert "close_beside" in keys(page)
