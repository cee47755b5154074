"""Nothing is asked of a service before a person has agreed to it, wherever on the pages."""

import pytest

from tests.language_models.openai_server import serving
from tests.sessions import QUERY, chosen, keys, offer, press, said, session, settled

pytestmark = pytest.mark.usefixtures("on_ones_own")
CASE = {"query": "What is the capital of Spain?", "answer": "Madrid", "repeated": "Paris"}
GOLD = b"question,gold answers\nWhat is the capital of France?,Paris\nName a mammal,Dog\n"


@pytest.fixture
def server():
    with serving("none") as server:
        yield server


@pytest.mark.parametrize(
    ("name", "link"),
    [
        ("inspection", {"q": QUERY, "k": "40", "temperature": "2", "seed": "7"}),
        ("inspection", {"q": QUERY, "saved": "no-such-id"}),
        ("amplification", CASE | {"most": "1000", "tab": "Your question"}),
        ("amplification", {"tab": "The paper’s questions"}),
        ("amplification", {"tab": "The embedded world", "each": "3"}),
        ("amplification", {"tab": "The mechanism"}),
        ("questions", {"words": "capital"}),
        ("home", {}),
        ("calibration", {"saved": "no-such-id"}),
        ("history", {"history_words": "x"}),
    ],
)
def test_no_link_and_no_page_spends_anything_by_itself(server, name, link):
    page = chosen(session(name, **link), server)
    probes = len(server.exchanges)
    for _ in range(2):
        settled(page.run())
    assert len(server.exchanges) == probes


def test_proposing_says_what_it_takes_first(server):
    page = chosen(session("amplification", query="Name a yellow fruit."), server)
    probes = len(server.exchanges)
    settled(page.button(key="propose").click().run())
    most = offer(page, "pay_propose")
    assert most and len(server.exchanges) == probes
    press(page, "pay_propose")
    assert 0 < len(server.exchanges) - probes <= most
    assert page.text_input(key="answer").value == "Banana" and "pay_propose" not in keys(page)
    page.text_input(key="query").set_value("Name a fish").run()
    settled(page.button(key="propose").click().run())
    asked = len(server.exchanges)
    page.text_input(key="query").set_value("Name a bird").run()  # nobody wants that any more
    assert "pay_propose" not in keys(page) and len(server.exchanges) == asked


def test_a_curve_says_what_it_takes_first_and_what_it_took(server):
    page = chosen(session("amplification", **CASE, kept=""), server)
    probes = len(server.exchanges)
    most = offer(page, "pay_own")
    press(page, "pay_own")
    calls = len(server.exchanges) - probes
    assert 0 < calls <= most
    assert said(page, f"Used for these curves: {calls:,} calls, ")
    with serving("none") as other:  # what was agreed of one service is not agreed of another
        chosen(page, other)
        probes = len(other.exchanges)
        settled(page.run())
        assert offer(page, "pay_own") and len(other.exchanges) == probes


def test_scoring_questions_says_what_it_takes_first_and_what_it_took(server):
    page = chosen(session("calibration"), server)
    page.file_uploader(key="labelled_file").upload("gold.csv", GOLD).run()
    probes = len(server.exchanges)
    (said_first,) = said(page, ": at most ")
    most = int(said_first.split(": at most ")[1].split(" ")[0].replace(",", ""))
    press(page, "score")
    calls = len(server.exchanges) - probes
    assert 0 < calls <= most and said(page, "2 of 2 scored.")
    assert said(page, f"Used for scoring so far: {calls:,} calls, ")


def test_what_failed_at_once_is_not_asked_again_by_itself():
    def dead(path, body):
        return (403, {}, b'{"error": {"message": "No."}}') if QUERY in str(body) else None

    with serving("none", before=dead) as server:
        page = chosen(session("inspection", q=QUERY), server)
        press(page, "pay_inspection")
        made = len(server.exchanges)
        for _ in range(3):
            settled(page.run())
        assert len(server.exchanges) == made and "again_inspection" in keys(page)
        assert said(page, "Used so far: ")


def test_sampling_until_certified_is_not_offered_of_a_service(server):
    page = chosen(session("inspection", q=QUERY), server)
    press(page, "pay_inspection")
    assert "certify" not in [button.key for button in page.button]
    assert page.button(key="sample_30")
