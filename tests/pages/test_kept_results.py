"""Kept results opened on the pages they belong to, exactly and without asking."""

import json
from dataclasses import replace

import pytest

from core.abstention.policy import to_json
from core.language_models.backends.embedded.model import EmbeddedModel
from core.reports.result_files import open_result
from core.store import fallback_database
from core.store.database import open_database
from core.store.labelled_files import Files
from core.store.results import SavedResults
from core.studies.examples import EXAMPLES
from core.studies.inspection.certificates import default_policy
from core.studies.inspection.serialise import from_json
from core.ui.policy_badge import NOT_CHECKED
from core.ui.saved_result import ANOTHERS_POLICY
from core.ui.storage import storage
from tests.reports.reading import read_document
from tests.sessions import (
    QUERY,
    badges,
    disk_full,
    keys,
    metrics,
    only,
    policy_badges,
    press,
    results,
    said,
    save,
    session,
    until,
)

CURVE = {"query": "What is the capital of Spain?", "answer": "Madrid", "repeated": "Paris"}
UNSAVED = "This result is not saved. The disk is full. Make room."
pytestmark = pytest.mark.usefixtures("fresh")


@pytest.fixture
def no_model(monkeypatch):
    """Return a switch: from then on the model answers nothing more."""

    def broken(*_, **__):
        raise AssertionError("the model was asked")

    def switch():
        for method in ("sample", "log_likelihoods", "next_token"):
            monkeypatch.setattr(EmbeddedModel, method, broken)

    return switch


def test_an_inspection_opens_as_it_was_without_asking(no_model):
    asked = session("inspection", q=QUERY, tau="0.5", seed="3")
    no_model()
    page = session("inspection", saved=only().id)
    assert metrics(page) == metrics(asked) and len(metrics(page)) > 3
    link = f"?saved={only().id}"  # under which a kept one is already
    assert [c.value for c in page.code] == [c.value for c in asked.code if c.value != link]
    asking = "Has enough been seen?"  # by the model, which is not asked here
    assert [h.value for h in page.header] == [h.value for h in asked.header if h.value != asking]
    assert not [field for field in page.text_input if field.key == "q"]
    # What the policy of this session promises is not said of what another time decided.
    assert [policy_badges(each) for each in (asked, page)] == [
        *(["The policy does not fit"], [])  # at τ = .5 it fits none
    ]
    assert results().search().total == 1


def test_an_inspection_that_is_read_otherwise_today_says_what_it_said(downloaded):
    """In the words of then, with the reason of then: in its report, too, and beside another."""
    press(session("inspection", q=EXAMPLES["Known"]), "ask")
    saved = results().open(only().id)
    assert badges(session("inspection", saved=saved.id)) == ["Saved result"]
    reason, perhaps = json.loads(saved.payload)["verdict"]["reason"], "Perhaps. Paris"
    results().delete(saved.id)
    results().save("inspection", "", saved.query, "embedded", saved.payload, outcome=perhaps)
    page = session("inspection", saved=(old := only().id))
    assert badges(page) == ["Saved result", "Read otherwise today"]
    then = f"It was “Perhaps” when it was saved. {reason}"
    assert said(page, then)
    assert then in read_document(downloaded(page, "inspection_report.html")).texts
    other = results().save("inspection", "", saved.query, "embedded", saved.payload + " ")
    page = session("inspection", saved=other, beside=old)
    assert badges(page) == ["Saved result", "Beside it"] and said(page, f"On the right: {then}")


def linked(page):
    """Return the id under which the page says that what it shows is kept, if it says so."""
    ids = [code.value.partition("?saved=")[2] for code in page.code if "?saved=" in code.value]
    assert len(ids) + keys(page).count("keep_view") == 1  # either there is a link, or a button
    assert bool(ids) == any("In History." in c.value for c in page.caption)
    return ids[0] if ids else None


def test_the_link_opens_what_is_on_the_screen():
    page = session("inspection", q=QUERY)
    first = linked(page)
    assert first == only().id
    for number, (key, value, usual) in enumerate(
        [("tau", 0.9, 0.25), ("gamma_1", 0.1, 0.0), ("gamma_2", 0.1, 0.0)]
    ):
        widget = (page.slider if key == "tau" else page.number_input)(key=key)
        widget.set_value(value).run()
        assert linked(page) is None and results().search().total == number + 1
        press(page, "keep_view")
        assert linked(page) not in (None, first) and results().search().total == number + 2
        opened = session("inspection", saved=linked(page))
        assert metrics(opened) == metrics(page)
        assert from_json(results().open(linked(page)).payload).reading != (
            from_json(results().open(first).payload).reading
        )
        (page.slider if key == "tau" else page.number_input)(key=key).set_value(usual).run()
        assert linked(page) == first
    page.selectbox(key="similarity").set_value("ratio").run()
    assert linked(page) is None


def test_the_link_opens_what_the_policy_on_the_screen_decided():
    page = session("inspection", q=QUERY)
    first = linked(page)
    page.session_state["policy_in_use"] = replace(default_policy(), threshold=0.01, belief=None)
    page.run()
    assert not said(page, "The default policy decides instead.") and linked(page) is None
    press(page, "keep_view")
    assert from_json(results().open(linked(page)).payload).verdict.rule.value == 0.01
    press(page, "stop_policy")
    assert linked(page) == first


def test_no_link_leads_to_another_verdict_where_a_policy_decides_nothing():
    page = session("inspection", q=QUERY, k="20")  # for which nothing is certified
    first = linked(page)
    page.session_state["policy_in_use"] = default_policy()
    page.run()
    assert said(page, "calibrated for a different pipeline") and linked(page) is None
    press(page, "keep_view")
    assert from_json(results().open(linked(page)).payload).refused
    press(page, "stop_policy")
    assert linked(page) == first


def test_no_link_is_shown_to_what_was_deleted():
    page = session("inspection", q=QUERY)
    results().delete(first := linked(page))
    assert linked(page.run()) is None and not results().search().total
    press(page, "keep_view")
    assert linked(page) == only().id != first


def test_what_nobody_asked_for_is_kept_where_the_person_wants_it():
    page = session("inspection")
    assert linked(page) is None and not results().search().total
    press(page, "keep_view")
    assert linked(page) == only().id


def test_what_cannot_be_kept_is_shown_and_said(monkeypatch):
    with monkeypatch.context() as broken:
        for method in ("save", "exists"):
            broken.setattr(SavedResults, method, disk_full)
        page = session("inspection", q=QUERY)
        for _ in range(2):  # at once, and for as long as it is so
            assert len(metrics(page)) > 3 and linked(page) is None
            assert said(page, UNSAVED) and said(page, "Press “Save to History” below once that")
            press(page, "keep_view")
        curve = session("amplification", **CURVE)
        assert said(curve, f"{UNSAVED} It stays on this page.") and said(curve, "1. ")
    press(page, "keep_view")
    assert linked(page) == only().id and not said(page, "not saved")
    assert not said(curve.run(), "not saved") and results().search().total == 2


def test_a_database_that_cannot_be_opened_is_tried_again_and_takes_what_there_is(
    monkeypatch, tmp_path
):
    monkeypatch.setattr(fallback_database, "AGAIN", 0.01)
    folder = tmp_path / "folder"
    folder.write_text("in the way")
    monkeypatch.setenv("BELIEVE_DATABASE_URL", f"sqlite:///{folder}/believe.db")
    page = session("inspection", q=QUERY)
    assert said(page, "cannot be written") and said(page, "results are in memory only, and lost if")
    assert metrics(page) and "This result will be in History once" in page.caption[-1].value
    assert said(session("history"), "results are in memory only") and only()
    folder.unlink()
    until(page, lambda: not said(page, "in memory only"))
    assert linked(page) == only().id and not badges(page)
    with open_database() as there:
        assert there.folder == folder and SavedResults(there).open(only().id).query == QUERY


def test_what_an_address_names_is_no_less_there_while_the_database_cannot_be_opened(
    monkeypatch, tmp_path
):
    monkeypatch.setattr(fallback_database, "AGAIN", 0.01)
    folder, elsewhere = tmp_path / "folder", tmp_path / "elsewhere"
    monkeypatch.setenv("BELIEVE_DATABASE_URL", f"sqlite:///{folder}/believe.db")
    with open_database() as there:
        policy = SavedResults(there).save("policy", "", "", "", to_json(default_policy()))
        file = Files(there).save("mine.csv", b"question,score,correct\na,1,1\nb,2,0\n")
    folder.rename(elsewhere)
    folder.write_text("in the way")
    named = session("inspection", q=QUERY, policy=policy)
    assert said(named, "that of this address cannot be read.")
    assert named.query_params["policy"] == policy
    assert not said(session("inspection", saved=policy), "was deleted")
    data = session("calibration", file=file)
    assert said(data, "The file that this address names cannot be read.")
    folder.unlink()
    elsewhere.rename(folder)
    until(named, lambda: "stop_policy" in keys(named))
    until(data, lambda: said(data, "mine.csv: 2 rows"))


def test_a_database_that_is_deleted_meanwhile_has_everything_again_and_that_is_said(
    monkeypatch, tmp_path
):
    monkeypatch.setenv("BELIEVE_DATABASE_URL", f"sqlite:///{tmp_path}/believe.db")
    page = session("inspection", q=QUERY)
    first = linked(page)
    (tmp_path / "believe.db").unlink()
    page.slider(key="tau").set_value(0.9).run()
    press(page, "keep_view")
    assert linked(page.run()) not in (None, first)
    assert said(page, "was deleted or replaced while Believe had it open. All that had been saved")
    with open_database() as there:
        assert (
            SavedResults(there).search().total == 2
            and SavedResults(there).open(first).query == QUERY
        )


def test_a_kept_inspection_offers_no_button_that_does_nothing_and_a_way_back():
    session("inspection", q=QUERY)
    page = session("inspection", saved=only().id)
    before = metrics(page)
    offered = [b.key for b in page.button if b.key == "sample_30" and not b.disabled]
    for key in offered:
        assert metrics(press(page, key)) != before
    press(page, "leave_kept")
    assert "saved" not in page.query_params and "leave_kept" not in keys(page)
    assert page.text_input(key="q").value == EXAMPLES["Known"]


def test_a_curve_opens_as_it_was_without_asking(no_model):
    session("amplification")
    assert not results().search().total
    asked = session("amplification", **CURVE)
    assert (only().kind, only().query) == ("amplification", CURVE["query"])
    session("amplification", repeated="The donkey")  # nothing else is changed
    assert results().search().total == 2
    results().delete(results().search().results[0].id)

    def points(page):
        page.session_state["behind"] = True  # what is folded up is not drawn
        (table,) = (t.value for t in page.run().dataframe if "Repetitions" in t.value)
        return table

    before = points(asked)
    no_model()
    page = session("amplification", saved=only().id)
    assert not [field for field in page.text_input if field.key == "query"]
    assert points(page).equals(before)
    assert said(page, "1. ") == said(asked, "1. ")
    assert "inspect" in keys(page)
    other = results().open(only().id).payload.replace('"embedded"', '"another"')
    id = results().save("amplification", "", CURVE["query"], "another", other)
    assert "inspect" not in keys(session("amplification", saved=id))  # the model in use is no “its”


def test_a_used_policy_opens_on_calibration():
    page = session("calibration")
    page.number_input(key="wrong").set_value(10.0).run()
    until(page, lambda: "use_policy" in keys(page))
    press(page, "use_policy")
    policy = page.session_state["policy_in_use"]
    assert only().kind == "policy"
    assert only().outcome == policy.in_short
    assert only().title == f"Mutual information: answer {policy.where}"
    page = session("calibration", saved=only().id)
    assert said(page, policy.sentence)
    assert "stop_policy" not in keys(page)
    press(page, "use_kept")
    assert "stop_policy" in keys(page) and results().search().total == 1
    # Where its promise does not hold is said by its address, too, and in its file.
    caution = json.loads(only().payload)["caution"]
    assert caution.startswith("Not for every group: of “never seen”, ")
    assert said(page.run(), caution)
    opened = session("inspection", policy=only().id)
    opened.session_state["policy_badge_1"] = True
    assert said(opened.run(), caution)
    assert policy_badges(opened)[0].startswith("Answered: ≤ 10% *wrong*")
    page, id = session("history"), only().id  # any page takes it along
    page.session_state["policy_in_use"], page.session_state["policy_in_use_id"] = policy, id
    assert page.run().query_params["policy"] == id


def test_a_policy_of_a_file_or_of_another_person_is_not_verified():
    """Whoever follows a link to it, or takes it for their own, sees no promise of it unmarked."""
    here, there = (SavedResults(storage().database, whose) for whose in ("", "somebody else"))
    of_file = open_result(to_json(default_policy()).encode()).payload
    for results_of, payload in ((here, of_file), (there, to_json(default_policy()))):
        id = results_of.save("policy", "", "", "", payload)
        page = session("inspection", q=QUERY, policy=id)
        assert badges(page) == ["Policy in use"]
        assert policy_badges(page) == ["The policy is not verified"]
        assert said(page, f"Not verified: {default_policy().in_short}")
        assert said(page, "Not verified, so “Perhaps”.")
        asked = results().search("", "inspection").results[0]
        assert "unverified policy" in asked.outcome
        opened = session("inspection", saved=asked.id)
        assert badges(opened) == ["Saved result", "Not verified"]
        assert said(opened, ANOTHERS_POLICY)
        assert said(opened, f"Not verified: {default_policy().sentence}")
        results().delete(asked.id)
        page.session_state["policy_badge_1"] = True
        assert said(page.run(), NOT_CHECKED)
        press(page, "stop_policy")
        assert policy_badges(page)[0].startswith("“Believe it”: ≤ 2% *wrong*")
        taken = session("calibration", saved=id)
        press(taken, "use_kept")
        assert said(taken, "Not verified: Answered: ≤ 5% wrong")
        assert results().open(taken.query_params["policy"]).payload == of_file
    own = session(
        "inspection", q=QUERY, policy=save(kind="policy", payload=to_json(default_policy()))
    )
    assert badges(own) == ["Policy in use"]


def test_what_another_persons_policy_decided_is_not_verified(downloaded):
    """Whoever opens the link to it: its owner has chosen that policy."""
    session("inspection", q=QUERY, policy=save(kind="policy", payload=to_json(default_policy())))
    (own,) = results().search("", "inspection").results
    assert badges(session("inspection", saved=own.id)) == ["Saved result"]
    there = SavedResults(storage().database, "somebody else")
    foreign = there.save("inspection", "", QUERY, "embedded", results().open(own.id).payload)
    page = session("inspection", saved=foreign)
    assert badges(page) == ["Saved result", "Not verified"] and said(page, ANOTHERS_POLICY)
    assert said(page, "Not verified, so “Perhaps”.")
    assert ANOTHERS_POLICY in read_document(downloaded(page, "inspection_report.html")).texts
    page = session("inspection", saved=own.id, beside=foreign)
    assert said(page, f"On the right: {ANOTHERS_POLICY}")
    results().delete(own.id)
    session("inspection", q=QUERY)  # by what is built in
    (plain,) = results().search("", "inspection").results
    plain = there.save("inspection", "", QUERY, "embedded", results().open(plain.id).payload)
    assert badges(session("inspection", saved=plain)) == ["Saved result"]


def test_no_policy_of_today_stands_over_what_another_decided():
    session("inspection", q=QUERY)
    before = only().id
    used = save(kind="policy", payload=to_json(default_policy()))
    assert "stop_policy" in keys(session("inspection", q=QUERY, policy=used))
    assert "stop_policy" not in keys(session("inspection", saved=before, policy=used))


PAGES_OF = {"inspection": "inspection", "amplification": "amplification", "policy": "calibration"}


@pytest.mark.parametrize(("kind", "name"), PAGES_OF.items())
def test_a_link_that_leads_nowhere_gets_a_sentence_and_no_traceback(kind, name):
    """An id of nothing, of another kind, and of a result that somebody has damaged."""
    other = next(each for each in PAGES_OF if each != kind)
    for id, sentence in (
        ("no-such-id-of-anything", "not here"),
        (save(kind=other), f"This link is to a saved {other}"),
    ):
        page = session(name, saved=id)
        assert said(page, sentence) and not {"leave_kept", "ask", "propose"} & {*keys(page)}
        fields = {each.key for each in page.text_input}
        assert not {"q", "query"} & fields and not page.get("file_uploader"), "nothing beneath"
        press(page, "close_notice")
        assert "saved" not in page.query_params and "close_notice" not in keys(page)
    for payload in ("{}", "not json"):
        page = session(name, saved=save(kind=kind, payload=payload))
        assert "leave_kept" in keys(page)
