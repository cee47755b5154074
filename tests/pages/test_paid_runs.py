"""Paying for what a service is asked: agreed before, watched and stopped, and said afterwards."""

import re

import pytest
import streamlit as st

from core.data.world.grading import find
from core.language_models.trial import QUESTIONS
from core.reports.inspection.words import QUICK
from core.store.database import Database
from core.store.results import SavedResults
from core.studies.inspection.quick_look import ANSWERS
from core.ui.payment import price_key
from core.ui.storage import storage
from tests.language_models.openai_server import serving
from tests.sessions import (
    QUERY,
    chosen,
    disk_full,
    go,
    keys,
    metrics,
    offer,
    press,
    said,
    session,
    settled,
    table,
    texts,
    until,
)

KEY = "sk-very-secret-4711"
CASE = {"query": "What is the capital of Spain?", "answer": "Madrid", "repeated": "Paris"}
GOLD = b"question,gold answers\nWhat is the capital of France?,Paris\nName a mammal,Dog\n"
FEW = 4  # samples, where every answer is a call of its own
TOLD = "One answer to question Q is"  # in the prompts of second answers

pytestmark = pytest.mark.usefixtures("on_ones_own")


# ------------------------------------------------------------------------------- before


@pytest.fixture
def server():
    with serving("none") as server:
        yield server


def test_no_link_and_no_page_spends_anything_by_itself(server):
    page = chosen(session("home"), server)
    probes = len(server.exchanges)
    for name, link in (
        ("inspection", {"q": QUERY, "k": "40", "temperature": "2", "seed": "7"}),
        ("inspection", {"q": QUERY, "saved": "no-such-id"}),
        ("amplification", CASE | {"most": "1000", "tab": "Your question"}),
        ("amplification", {}),
        ("amplification", {"tab": "The paper’s"}),
        ("amplification", {"tab": "Embedded world", "each": "3"}),
        ("amplification", {"tab": "The mechanism"}),
        ("questions", {"words": "capital"}),
        ("calibration", {"saved": "no-such-id"}),
        ("evaluation", {"run": "0" * 32}),
        ("history", {"history_words": "x"}),
    ):
        page.query_params.update(link)
        settled(go(page, name).run())
        settled(page.run())
        for key in link:
            page.query_params.pop(key, None)
    assert said(page, f"{server.name}: ready.") and len(server.exchanges) == probes


def test_proposing_says_what_it_takes_first(server):
    query = "Name a yellow fruit."
    page = chosen(session("amplification", query=query), server)
    probes = len(server.exchanges)
    settled(page.button(key="propose").click().run())
    most = offer(page, "pay_propose")
    assert most and len(server.exchanges) == probes
    press(page, "pay_propose")
    assert 0 < len(server.exchanges) - probes <= most
    answers = {name for answer in find(query).answers for name in answer.names}
    assert page.text_input(key="answer").value in answers and "pay_propose" not in keys(page)
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


def test_questions_to_calibrate_on_say_what_they_take_first_and_what_they_took(server):
    page = chosen(session("calibration"), server)
    settled(page.file_uploader(key="labelled_file").upload("gold.csv", GOLD).run())
    probes = len(server.exchanges)
    (said_first,) = said(page, ": at most ")
    most = int(said_first.split(": at most ")[1].split(" ")[0].replace(",", ""))
    press(page, "start_run")
    calls = len(server.exchanges) - probes
    assert 0 < calls <= most and said(page, "2 of 2 questions finished.")
    assert said(page, f"Used for these rows: {calls:,} calls, ")
    again = session("calibration", **page.query_params)  # a reload, which knows no model
    assert said(again, "2 of 2 questions finished.") and "start_run" not in keys(again)
    assert len(server.exchanges) - probes == calls


@pytest.mark.parametrize(
    ("flavour", "state"), [("echo", "exact likelihoods"), ("none", "answers are counted")]
)
def test_a_service_says_what_it_can_and_is_asked_only_when_that_is_agreed(page, flavour, state):
    with serving(flavour, key=KEY, lists_end=False) as server:
        chosen(page, server, KEY)
        assert said(page, state)
        probes = len(server.exchanges)
        most = offer(page)
        assert 1 <= probes - len(QUESTIONS) <= 5 and most > 0
        assert said(page, "Our prompts alone. To 5 simple questions it said: ")
        assert said(page, QUICK) and "calls" not in QUICK  # of which the offer has the number
        assert not metrics(page)
        page.run()
        page.slider(key="tau").set_value(0.5).run()
        assert len(server.exchanges) == probes and not page.exception
        press(page, "pay_quick")
        probes += (looked := len(server.exchanges) - probes)
        assert 0 < looked <= 20 and not metrics(page)
        assert sum(table(page, "draws")["draws"]) == ANSWERS and said(page, "This is no verdict.")
        press(page, "pay_inspection")
        assert 0 < len(server.exchanges) - probes <= most
        assert set(server.outcomes[probes:]) == {"ok"}
        assert len(metrics(page)) > 3 and page.code[0].value
        assert said(page, f"openai:{server.model}@{server.base_url}")
        assert "certify" not in keys(page) and page.button(key="sample_30")
        paid = len(server.exchanges)
        assert offer(page.run()) is None  # agreed once is agreed
        page.slider(key="tau").set_value(0.9).run()
        assert len(server.exchanges) == paid and not page.exception
        page.number_input(key="k").set_value(12).run()  # another request: agreed anew
        assert offer(page) and len(server.exchanges) == paid


def test_a_service_that_needs_many_samples_is_offered_them_and_refuses_fewer(page):
    with serving("top") as server:
        chosen(page, server)
        probes = len(server.exchanges)
        assert page.number_input(key="k").value == 100 and offer(page) >= 100
        page.number_input(key="k").set_value(99).run()
        assert said(page, "which takes at least 100 samples") and offer(page) is None
        assert len(server.exchanges) == probes


def test_what_was_answered_before_costs_no_call(on_ones_own, monkeypatch, tmp_path):
    """Neither in another session, nor after a restart; a saved inspection says what it cost."""
    monkeypatch.setenv("BELIEVE_DATABASE_URL", f"sqlite:///{tmp_path}/believe.db")
    with serving("echo") as server:
        page = press(chosen(session("inspection", q=QUERY), server), "pay_inspection")
        first = metrics(page)
        # Beside the verdict as well as in the picker.
        assert len(said(page, "Its answers end with the token")) == 2
        (link,) = [code.value for code in page.code if "?saved=" in code.value]
        assert used(session("inspection", saved=link.rpartition("=")[2])) == used(page)
        page = chosen(session("inspection", q=QUERY), server)
        assert offer(page) is None and metrics(page) == first
        st.cache_resource.clear()  # as a restart does
        page = chosen(session("inspection", q=QUERY), server)
        asked = len(server.exchanges)
        press(page, "pay_inspection")
        assert len(server.exchanges) == asked and metrics(page) == first
        assert used(page) == "0 calls: all answers came from the cache."


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


def test_at_the_budget_it_stops_with_a_sentence_and_nothing_is_lost(page):
    with serving("none") as server:
        chosen(page, server)
        probes = len(server.exchanges)
        page.number_input(key="budget_calls").set_value(5 + probes).run()
        assert said(page, " 5 calls are left in the budget.")
        press(page, "pay_inspection")
        assert len(server.exchanges) - probes == 5
        assert said(page, f"The budget of {5 + probes} calls is used up.") and not metrics(page)
        settled(page.run())
        assert len(server.exchanges) - probes == 5 and said(page, "is used up")
        page.number_input(key="budget_calls").set_value(500).run()
        settled(page)
        for button in [b for b in page.button if b.key == "again_inspection"]:
            settled(button.click().run())
        if offer(page):
            press(page, "pay_inspection")
        settled(page.run())
        assert metrics(page)
        bodies = server.paid()[probes:]  # what the first five answered was not asked again
        assert len(bodies) == len(set(bodies))
        assert said(page.run(), f"Used so far: {len(server.exchanges)} calls.")


# ---------------------------------------------------------------------------- on the way


def held(gate):
    """Return what lets no second answer out before the gate is open."""

    def wait(path, body):
        if TOLD in str(body):
            gate.wait()

    return wait


def asking_few(page, server):
    """Choose a server, which sets the number of samples to what it needs, and ask for few."""
    chosen(page, server)
    page.number_input(key="k").set_value(FEW).run()
    return page


def answers_so_far(page):
    """How many answers there are so far, and how many different ones; none of them is shown."""
    lines = [re.match(r"Answers so far: (\d+), (\d+) of them different\.", t) for t in texts(page)]
    (numbers,) = [tuple(map(int, line.groups())) for line in lines if line] or [(0, 0)]
    return numbers


def begun(page, server, probes):
    """Agree, and wait until all first answers are there."""
    page.button(key="pay_inspection").click().run()
    return until(page, lambda: answers_so_far(page)[0] == FEW)


def test_answers_and_calls_are_shown_while_the_rest_is_on_its_way(page, gate):
    with serving("none", n=False, before=held(gate)) as server:
        asking_few(page, server)
        probes, most = len(server.exchanges), offer(page)
        begun(page, server, probes)
        assert not metrics(page) and page.get("progress")
        shown = answers_so_far(page)
        # All samples and the greedy answer are answered; calls that are held may be begun.
        made = [text for text in texts(page) if text.endswith(f"so far, of at most {most:,}.")]
        assert FEW + 1 <= int(made[0].split()[0]) <= len(server.exchanges) - probes <= most
        gate.set()
        settled(page)
        responses = table(page, "ended by itself")
        assert (len(responses), responses["text"].nunique()) == shown
        assert answers_so_far(page) == (0, 0) and metrics(page)


def test_cancel_waits_for_no_reply_and_pays_for_no_more_calls(page, gate):
    """The server answers nothing more, so a cancel that waited for it would never end."""
    with serving("none", n=False, before=held(gate)) as server:
        asking_few(page, server)
        probes = len(server.exchanges)
        begun(page, server, probes)
        page.button(key="cancel_inspection").click().run()
        shown = answers_so_far(page)
        until(page, lambda: said(page, "Cancelled before all answers arrived."))
        assert answers_so_far(page) == shown and shown[0] == FEW
        made = len(server.exchanges)
        assert said(page, "Used so far: ") and not said(page, "Only time was lost")
        gate.set()
        for _ in range(3):
            settled(page.run())
        until(page, lambda: all(e.outcome for e in server.exchanges))
        assert len(server.exchanges) == made and not metrics(page)
        settled(page.button(key="again_inspection").click().run())
        assert metrics(page)
        bodies = server.paid()[probes:]  # nothing that was answered was asked again
        assert len(bodies) == len(set(bodies))


def test_cancelled_before_anything_was_answered_lists_nothing(page, gate):
    with serving("none", n=False, before=lambda path, body: gate.wait() and None) as server:
        gate.set()
        asking_few(page, server)
        gate.clear()
        page.button(key="pay_inspection").click().run()
        page.button(key="cancel_inspection").click().run()
        until(page, lambda: said(page, "Cancelled before all answers arrived."))
        assert answers_so_far(page) == (0, 0)
        gate.set()


def history():
    return storage().results.search().results


def test_a_run_that_nobody_watches_any_more_is_kept_in_history(page, gate):
    """As after a reload, which forgets the service: the page that paid is never drawn again."""
    with serving("none", n=False, before=held(gate)) as server:
        asking_few(page, server)
        begun(page, server, len(server.exchanges))
        assert server.model not in str([result.model for result in history()])
        before = len(history())
        gate.set()
        until(session("home"), lambda: len(history()) > before)
        (result,) = [r for r in history() if server.model in r.model]
        again = session("inspection", saved=result.id)
        assert len(metrics(again)) > 3 and used(again)
        page.run()  # it was only asleep
        assert metrics(settled(page)) == metrics(again)
        assert [c.value for c in page.code if c.value.endswith(f"?saved={result.id}")]
        assert len(history()) == before + 1


def test_what_cannot_be_kept_is_no_failure_of_the_run(page, monkeypatch):
    with serving("none") as server:
        chosen(page, server)
        monkeypatch.setattr(SavedResults, "save", disk_full)
        press(page, "pay_inspection")
        assert metrics(page) and "again_inspection" not in keys(page)
        assert said(page, "This result is not saved. The disk is full. Make room.")


def test_where_no_answer_can_be_saved_no_press_pays(page, monkeypatch):
    with serving("none") as server:
        chosen(page, server)
        server.exchanges.clear()
        with monkeypatch.context() as disk:
            disk.setattr(Database, "check_room", disk_full)
            press(page, "pay_inspection")
            assert said(page, "The disk is full. Make room. Until then no further call is made")
            again(page)
            assert said(page, "The disk is full. Make room. Until then no further call is made")
        assert server.exchanges == []
        again(page)
        assert metrics(page) and server.exchanges


def again(page):
    """Ask again, and agree to the cost where that is asked for."""
    press(page, "again_inspection")
    if "pay_inspection" in keys(page):
        press(page, "pay_inspection")


# ----------------------------------------------------------------------------- afterwards


def used(page):
    (sentence,) = [text for text in texts(page) if "Used for all scores together: " in text]
    return sentence.partition("Used for all scores together: ")[2]


def test_what_was_really_used_stands_beside_the_scores(page):
    tokens = []

    def counted(reply):
        tokens.append((reply["usage"]["prompt_tokens"], reply["usage"]["completion_tokens"]))
        return reply

    with serving("none", after=counted) as server:
        chosen(page, server)
        for way, price in (("in", 3.0), ("out", 5.0)):
            page.number_input(key=price_key(server.name, way)).set_value(price).run()
        probes, told = len(server.exchanges), len(tokens)
        most = offer(page)
        assert said(page, " at your prices. ")
        press(page, "pay_inspection")
        read, written = map(sum, zip(*tokens[told:], strict=True))
        calls = len(server.exchanges) - probes
        cost = (3 * read + 5 * written) / 1_000_000
        assert 0 < calls <= most
        assert used(page) == (
            f"{calls:,} calls, {read:,} tokens in and {written:,} out as the service counts them, "
            f"{cost:.4f} at your prices."
        )
        assert said(page, f"Used so far: {len(server.exchanges)} calls.")  # without another run
        page.number_input(key="k").set_value(12).run()
        press(page, "pay_inspection")  # the two more come on top
        calls = len(server.exchanges) - probes
        assert used(page).startswith(f"{calls:,} calls, ")


def test_each_model_has_prices_of_its_own(page):
    """What one costs says nothing of another, nor of what was paid for another before."""
    with serving("none") as cheap, serving("none") as dear:
        chosen(page, cheap)
        page.number_input(key=price_key(cheap.name, "in")).set_value(3.0).run()
        press(page, "pay_inspection")
        cost = used(page).rpartition(", ")[2]
        assert cost.endswith(" at your prices.")
        chosen(page, dear)
        assert offer(page) and not said(page, " at your prices")
        page.number_input(key=price_key(dear.name, "in")).set_value(3000.0).run()
        assert said(page, " at your prices. ")
        page.query_params["saved"] = history()[0].id
        assert used(page.run()).endswith(cost)


def test_on_this_machine_calls_cost_nothing_and_that_is_said(page):
    assert said(page, "Estimator: Algorithm 3 (exact likelihoods). 4 calls to the model on this")
    assert not said(page, "Used so far") and not said(page, "tokens")
