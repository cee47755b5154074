"""The page "History" without a browser: the list, and what can be done with a result."""

import csv
import io
import json
from contextlib import suppress

import pytest
from streamlit.errors import StreamlitAuthError
from streamlit.testing.v1 import AppTest

from core.reports.inspection.words import EARLIER, STAMPS, Headline, outcome, read_outcome
from core.reports.result_files import FROM_FILE
from core.store.results import LONGEST_TITLE, SavedResults
from core.studies.examples import EXAMPLES
from core.studies.inspection.certificates import default_policy
from core.studies.inspection.inspection import run
from core.studies.inspection.recorder import usual_request
from core.studies.inspection.serialise import from_json, to_json
from core.studies.inspection.verdict import scale_end
from core.ui import frame
from core.ui.components.history import NOT_SAVED
from core.ui.history import A_PAGE, ALL, EVERY_MODEL, KINDS
from core.ui.storage import storage
from tests.hostile import TEXTS
from tests.patience import LONG
from tests.sessions import (
    QUERY,
    badges,
    go,
    harmless,
    keys,
    listed,
    metrics,
    only,
    press,
    results,
    said,
    save,
    session,
    settled,
    texts,
)

pytestmark = pytest.mark.usefixtures("fresh")


def titles(page):
    return [row["title"] for group in listed(page) for row in group]


# ------------------------------------------------------------------------------ the list


def test_is_empty_at_first_and_says_what_comes_there():
    page = session("history")
    assert not listed(page) and said(page, "Nothing here yet.")
    assert "ask_first" in keys(page)
    assert not page.selectbox  # there is nothing to search


def test_lists_what_was_asked_once_and_nothing_else():
    session("inspection")  # the example that it opens on: nobody asked for it
    assert not listed(session("history"))
    for _ in range(2):
        page = session("inspection", q=QUERY)
        page.slider(key="tau").set_value(0.5).run()
    page = session("history")
    (((row,),),) = (listed(page),)
    assert (row["title"], row["policy"]) == (QUERY, "default policy: ≤ 2% wrong")
    assert row["numbers"].partition(" nats, limit ")[0] == row["doubt"].partition(" ")[0]
    assert row["stamp"]["label"] in {stamp.label for stamp in STAMPS.values()} and row["came"]
    assert row["part"] >= 0 and (row["kind"], row["model"]) == ("Inspection", "embedded")
    assert titles(session("history", history_words=row["came"])) == [QUERY]
    press(session("inspection", q=EXAMPLES["Known"]), "ask")  # now somebody asks for it
    assert titles(session("history")) == [EXAMPLES["Known"], QUERY]


def test_a_question_with_other_marks_is_the_same_unless_its_answer_hangs_on_them():
    for query in ("What is 2 + 3?", "What is 2 -3?", "name a yellow fruit", "Name a yellow fruit."):
        save(query)
    assert [[row["title"] for row in group] for group in listed(session("history"))] == [
        ["Name a yellow fruit.", "name a yellow fruit"],
        ["What is 2 -3?"],
        ["What is 2 + 3?"],
    ]


def test_a_verdict_without_its_reason_says_where_it_is():
    """As earlier versions saved it. All doubts lie on one scale, as on an inspection's."""
    grounds = f"λ = {default_policy().threshold:.3f}, default policy: ≤ 5% wrong"
    for word, doubt in (("Perhaps", 0.1), ("I don’t know", 2.0), ("I don’t know", 4.0)):
        came = f"{word} ({doubt:.3f} nats, {grounds}). Rome"
        results().save("inspection", "", f"{doubt}", "embedded", f"[{doubt}]", outcome=came)
    largest, large, small = (row for (row,) in listed(session("history")))
    assert (small["why"], large["why"]) == (NOT_SAVED, "")
    limit = small["limit"]
    assert 0 < small["part"] < limit < large["part"] < largest["part"] <= 1
    assert [row["doubt"].split()[1] for row in (small, large)] == ["<", "≥"]
    assert large["part"] / limit == pytest.approx(2 / round(default_policy().threshold, 3))


def test_a_doubt_that_only_rounding_makes_as_large_as_the_limit_is_no_withheld_one():
    came = "Perhaps (0.581 nats, λ = 0.581, default policy: ≤ 5% wrong; moved). Rome"
    results().save("inspection", "", "Rome?", "embedded", "{}", outcome=came)
    ((row,),) = listed(session("history"))
    assert row["part"] == row["limit"] and row["doubt"] == "< 0.581"


def test_a_doubt_that_is_not_on_the_scale_has_its_unit_and_its_limit():
    came = "Perhaps (0.103 S.V., λ = 0.200, default policy: ≤ 15% wrong). Rome"
    results().save("inspection", "", "Rome?", "another", "{}", outcome=came)
    ((row,),) = listed(session("history"))
    assert (row["part"], row["doubt"]) == (None, "0.103 S.V., limit 0.200")


@pytest.mark.parametrize(
    ("away", "beside"), [(0.59, "59% away > 42%"), (0.3, "30% away, but lacks a word")]
)
def test_how_far_the_nearest_taught_question_is_stands_on_a_scale_of_its_own(away, beside):
    came = UNTAUGHT.replace(".", f" ({away:.0%} away).", 1)
    results().save("inspection", "", QUERY, "embedded", "{}", outcome=came)
    ((row,),) = listed(session("history"))
    assert (row["part"], row["limit"]) == (away, pytest.approx(0.42)) and row["doubt"] == beside
    assert not row["truth"] and not row["came"], "it gave no answer"


def test_an_answer_is_held_against_the_truth_where_that_is_known():
    for model, came in (
        ("another", "Perhaps. Paris"),
        ("embedded", "I don’t know. It would have said: Paris"),
        ("embedded", "I don’t know. It would have said: Dog"),
    ):
        results().save("inspection", came, QUERY, model, json.dumps(came), outcome=came)
    rows = [row for group in listed(session("history")) for row in group]
    assert [row["truth"] for row in rows] == ["right", "wrong", ""]


def test_a_reason_that_was_not_saved_is_found_where_it_is_the_same_today(embedded):
    request = usual_request("Which band recorded Appetite for Destruction?", embedded.capabilities)
    seen = run(request, embedded)
    whole = outcome(seen)
    reason = read_outcome(whole).why
    assert seen.headline is Headline.PERHAPS and reason
    for n, saved in enumerate((whole.replace(f"; {reason}", ""), whole)):
        other = saved.replace("Guns", "Other") if n else saved  # which no model says today
        payload = " " * n + to_json(seen)
        results().save("inspection", "", f"{n}", "embedded", payload, outcome=other)
    results().save(
        "inspection", "", "2", "embedded", "{}", outcome=whole.replace(f"; {reason}", "")
    )
    damaged, other, old = (row for (row,) in listed(session("history")))
    assert [row["why"] for row in (damaged, other, old)] == [NOT_SAVED, reason, reason]
    assert {row["stamp"]["label"] for row in (damaged, other, old)} == {"≈ Perhaps"}


@pytest.mark.parametrize(
    ("kind", "beside"), [("Known", "3.4% ≤ 50%"), ("Many answers", "0.029 ≤ 0.179")]
)
def test_beside_believe_it_stands_the_limit_that_gave_it(embedded, kind, beside):
    """Saved or, by earlier versions, not; where nothing can be computed anew, λ alone is known."""
    seen = run(usual_request(EXAMPLES[kind], embedded.capabilities), embedded)
    now, payload = outcome(seen), to_json(seen)
    earlier = now.replace(f"; {read_outcome(now).why}", "")
    for n, (came, saved) in enumerate([(earlier, "{}"), (earlier, payload), (now, f" {payload}")]):
        results().save("inspection", "", f"{n}", "embedded", saved, outcome=came)
    saved, anew, alone = (row for (row,) in listed(session("history")))
    assert (saved["doubt"], saved["why"]) == (anew["doubt"], anew["why"]) == (beside, "")
    assert alone["doubt"].endswith(f"< {default_policy().threshold:.3f}")
    part = 0.179 / 0.581 if kind == "Many answers" else 1
    assert saved["believed"] == pytest.approx(part * saved["limit"]) and alone["believed"] == 0
    if kind == "Known":  # on a scale of its own, as on Inspection
        assert (saved["part"], saved["limit"]) == (0.034, 0.5)


def test_the_file_says_no_more_than_the_list(downloaded):
    """A word of a certificate that was replaced, and one without a promise, are marked in both."""
    default = "default policy: ≤ 5% wrong"
    for came in (f"Believe it (0.001 nats, λ = 1.581, {default}). Paris", "Perhaps. Dog"):
        results().save("inspection", came, QUERY, "embedded", json.dumps(came), outcome=came)
    save("“bare”", kind="policy")
    file = downloaded(session("history"), "history.csv").decode("utf-8-sig")
    rows = [list(row.values())[1:7] for row in csv.DictReader(io.StringIO(file))]
    assert rows == [
        ["", "", "", "", "", ""],
        ["Perhaps, no promise", "Dog", "right", "", "– no limit certified", ""],
        ["Believe it", "Paris", "wrong", default, "0.001 nats, limit 1.581", EARLIER],
    ]


def test_words_and_kinds_find_results():
    save("Name a mammal"), save("Name a fish", "Swimming"), save("s < 1", kind="policy")
    page = session("history")
    assert titles(page) == ["s < 1", "Swimming", "Name a mammal"]
    for words, found in (("name", 2), ("FISH swim", 1), ("mamm", 1), ("embedded", 3)):
        page.text_input(key="history_words").set_value(words).run()
        assert len(titles(page)) == found
    page.text_input(key="history_words").set_value("")
    page.selectbox(key="history_kind").set_value("policies").run()
    assert titles(page) == ["s < 1"]
    page.selectbox(key="history_kind").set_value("curves").run()
    assert not titles(page)
    assert titles(session("history", history_words="mammal")) == ["Name a mammal"]


@pytest.mark.parametrize(
    ("model", "in_short"),
    [
        ("gguf:/home/me/models/Qwen.gguf", "gguf:Qwen.gguf"),
        (r"gguf:C:\models\Qwen.gguf", "gguf:Qwen.gguf"),
        ("openai:org/model@https://x.example/v1", "openai:org/model@https://x.example/v1"),
    ],
)
def test_a_file_of_a_model_is_named_without_its_folders(model, in_short):
    results().save("inspection", "", "Q?", model, "[]", outcome="Perhaps. A")
    (((row,),),) = (listed(session("history")),)
    assert (row["model"], row["model_in_short"]) == (model, in_short)


@pytest.mark.parametrize(("word", "side"), [("Perhaps", "<"), ("I don’t know", "≥")])
def test_a_doubt_that_reads_as_the_limit_says_on_which_side_it_is(word, side):
    came = f"{word} (0.581 nats, λ = 0.581, default policy: ≤ 5% wrong). A"
    results().save("inspection", "", "Q?", "embedded", "[]", outcome=came)
    assert listed(session("history"))[0][0]["doubt"] == f"{side} 0.581"


UNTAUGHT = "I don’t know. Not near anything this model was taught."


def test_verdicts_and_models_filter_what_is_listed_and_show_more_lists_the_rest():
    def save_as(n, model, outcome):
        results().save("inspection", "", f"Question {n}", model, f"[{n}]", outcome=outcome)

    for n in range(30):
        save_as(n, "embedded", "Believe it (0.029 nats, λ = 0.58, own policy: none). Paris")
    save_as(30, "embedded", "Perhaps (-2.0 nats, λ = -1.5, own policy: ≤ 5% wrong; moved). Rome")
    save_as(31, "openai:gpt@https://x.example/v1", UNTAUGHT)
    page = session("history")
    assert (
        len(titles(page)) == A_PAGE and "all (32)" in page.selectbox(key="history_verdict").options
    )
    press(page, "history_more")
    assert len(titles(page)) == 32 and "history_more" not in keys(page)
    rows = [row for (row,) in listed(page)]
    doubts = [(row["part"], row["doubt"], row["why"]) for row in rows[:3]]
    assert doubts == [
        (None, "– not compared", "Not near anything this model was taught."),
        (None, "−2.000 nats, limit −1.500", "moved"),  # by minimum conditional entropy
        (pytest.approx(0.029 / scale_end(0.58, 0.029)), "0.029 < 0.580", ""),
    ]
    assert rows[1]["policy"] == "own policy: ≤ 5% wrong of all answered"
    assert not [
        each
        for each in page.selectbox(key="history_verdict").options
        if each.startswith("No verdict")
    ]
    results().save("amplification", "", "Question 32", "embedded", "{}", outcome="A curve")
    assert "No verdict (1)" in session("history").selectbox(key="history_verdict").options
    page.selectbox(key="history_model").set_value("openai:gpt@https://x.example/v1").run()
    assert titles(page) == ["Question 31"]
    assert page.selectbox(key="history_verdict").options == ["all (1)", "? I don’t know (1)"]
    page.selectbox(key="history_model").set_value(EVERY_MODEL).run()
    assert len(titles(page)) == A_PAGE  # of another search: from its beginning
    page.selectbox(key="history_verdict").set_value("≈ Perhaps").run()
    assert (
        titles(page) == ["Question 30"] and len(page.selectbox(key="history_verdict").options) == 5
    )
    page.text_input(key="history_words").set_value("paris").run()
    assert said(page, "None of these has this verdict.") and not titles(page)
    assert "≈ Perhaps (0)" in page.selectbox(key="history_verdict").options  # it can be taken back
    page.selectbox(key="history_verdict").set_value(ALL).run()
    assert len(titles(page)) == A_PAGE
    page.selectbox(key="history_kind").set_value("curves").run()
    assert said(page, "No saved result has all of these words.")


def test_what_is_older_than_what_is_listed_is_said_to_be_there(monkeypatch):
    monkeypatch.setattr("core.ui.history.MOST", 2)
    save("Name a mammal"), save("Name a fish"), save("Name a bird")
    page = session("history")
    assert titles(page) == ["Name a bird", "Name a fish"]
    assert said(page, "The newest 2 of 3 results: search finds the older ones.")
    assert titles(session("history", history_words="mammal")) == ["Name a mammal"]


def test_repeats_of_a_question_are_folded_beneath_the_latest():
    for n in range(3):
        save("Name a fish", payload=f"[{n}]")
    save("Name a fish", kind="amplification")
    several = listed(session("history"))
    assert [len(group) for group in several] == [1, 3] and "asked 3" in several[1][0]["times"]
    assert several[0][0]["kind"] == "Curve" and not several[0][0]["stamp"]


# -------------------------------------------------------------------- the chosen result


def draw(ids):
    from core.ui.history import actions
    from core.ui.storage import storage

    every = {one.id: one for one in storage().results.search().results}
    actions([every[id] for id in ids if id in every])


def ticked(*ids):
    page = AppTest.from_function(draw, kwargs={"ids": ids}, default_timeout=LONG).run()
    assert not page.exception
    return page


def test_a_ticked_result_is_renamed_where_the_title_will_do():
    page = ticked(save())
    for title in ("   ", "x" * (LONGEST_TITLE + 1)):
        page.text_input[0].set_value(title).run()
        press(page, "rename_result")
        assert said(page, "A title has 1 to 200 characters") and only().title == QUERY
    page.text_input[0].set_value("My title").run()
    press(page, "rename_result")
    assert (only().title, only().query) == ("My title", QUERY)
    assert titles(session("history", history_words="my title")) == ["My title"]


def test_all_that_are_ticked_are_deleted():
    save(kind="policy")
    page = ticked(save(), save("Name a fish"))
    assert not page.text_input and {QUERY, "Name a fish"} <= {*texts(page)}
    press(page, "delete_result")
    assert only().kind == "policy"
    assert "delete_result" not in keys(page.run())


def test_two_inspections_are_compared_and_nothing_else(monkeypatch):
    pairs = []
    monkeypatch.setattr(frame, "beside", lambda *ids: pairs.append(ids))
    two = save(), save("Name a fish")
    for ids in ((), two[:1], (two[0], save(kind="policy"))):
        assert "compare_two" not in keys(ticked(*ids))
    press(ticked(*two), "compare_two")
    assert pairs == [two]


def test_every_kind_of_the_list_has_a_page_to_open_on(monkeypatch):
    def go_to(page, query_params):
        went.append((page, *query_params.items()))
        raise InterruptedError  # the script ends here

    went = []
    monkeypatch.setattr(frame.st, "Page", lambda script, **_: script.stem)
    monkeypatch.setattr(frame.st, "switch_page", go_to)
    for kind in filter(None, KINDS.values()):
        with suppress(InterruptedError):
            frame.show(kind, "id")
    assert went == [
        ("inspection", ("saved", "id")),
        ("amplification", ("saved", "id")),
        ("calibration", ("saved", "id")),
        ("evaluation", ("run", "id")),
    ]


def test_hostile_titles_queries_and_searches_stay_text():
    hostile = " ".join(TEXTS)
    session("inspection", q=hostile)
    id = only().id
    for page in (session("history"), ticked(id), session("inspection", saved=id)):
        assert harmless(page)
    assert said(ticked(id), hostile) and len(titles(session("history"))) == 1
    assert harmless(session("history", history_words=f"{hostile} % _ \x00 ' OR 1=1 --"))


# ------------------------------------------------------------------------- out of a file


def brought(content):
    """The page with a file in it, which was saved elsewhere."""
    page = session("history")
    return settled(page.file_uploader(key="result_file").upload("result.json", content).run())


def test_a_result_of_another_machine_opens_with_the_same_numbers(monkeypatch):
    asked = session("inspection", q=QUERY, tau="0.5", seed="3")
    content = to_json(from_json(only().payload)).encode()
    results().delete(only().id)  # as if it had been another machine
    shown = []
    monkeypatch.setattr(frame, "show", lambda *what: shown.append(what))
    page = brought(content)
    assert said(page, f"Inspection: {QUERY}") and not results().search().total
    press(page, "open_file")
    assert shown == [("inspection", only().id)]
    page = session("inspection", saved=only().id)
    assert metrics(page) == metrics(asked) and len(metrics(page)) > 3
    assert said(page, FROM_FILE) and "Not verified" in badges(page)
    session("inspection", q=QUERY)  # asked here: the file's verdict is none of its
    (here,), (there,) = listed(session("history"))
    assert (here["title"], here["stamp"]["label"]) == (QUERY, "✓ Believe it")
    assert (there["title"], there["stamp"]) == (QUERY, None)
    assert there["came"].startswith("Not verified: ")


@pytest.mark.parametrize("content", [b"{}", b"not json", json.dumps(TEXTS).encode()])
def test_a_file_that_is_no_result_gets_a_sentence_and_is_not_saved(content):
    page = brought(content)
    assert said(page, "saved by Believe") and "open_file" not in keys(page)
    assert harmless(page) and not results().search().total


# --------------------------------------------------------------------------- several people


@pytest.fixture
def several(on_ones_own, monkeypatch):
    """A server that several people use; return a function that says who is there now."""
    monkeypatch.setenv("BELIEVE_HISTORY", "own")

    def come(name):
        monkeypatch.setattr("core.ui.history.person", lambda: name)
        monkeypatch.setattr("core.ui.session.person", lambda: name)

    come(None)
    return come


def test_on_this_computer_every_session_lists_what_any_has_asked():
    session("inspection", q=QUERY)
    page = session("history")
    assert titles(page) == [QUERY] and not said(page, "Only you see this list")


def test_where_everybody_sees_the_list_it_says_so(on_ones_own, monkeypatch):
    monkeypatch.setenv("BELIEVE_HISTORY", "everyone")
    for only_here in (True, False):
        monkeypatch.setattr("core.ui.session.only_here", lambda only_here=only_here: only_here)
        page = session("history")
        assert bool(said(page, "Whoever opens this server sees this list")) is not only_here


def test_a_stranger_lists_nothing_of_another_session_and_opens_what_they_were_given(several):
    asked = session("inspection", q=QUERY)
    (link,) = [code.value for code in asked.code if "?saved=" in code.value]
    assert any("for whoever has it" in caption.value for caption in asked.caption)
    other = session("history")
    assert said(other, "it ends with this browser session") and not titles(other)
    assert not titles(session("history", history_words="mammal"))
    assert not titles(session("history", history_kind="inspections"))
    opened = session("inspection", saved=link.partition("?saved=")[2])
    assert metrics(opened) == metrics(asked)
    assert not titles(session("history"))  # opening it kept nothing
    assert titles(settled(go(asked, "history").run())) == [QUERY]


def test_each_person_has_a_list_in_every_session(several):
    several("alice")
    session("inspection", q=QUERY)
    several("bob")
    session("inspection", q="Name a fish")
    for name, question in (("alice", QUERY), ("bob", "Name a fish")):
        several(name)
        page = session("history")
        assert titles(page) == [question] and said(page, "Only you see this list")
    several(None)
    assert not titles(session("history"))


def test_models_of_others_are_not_offered(several, choosing):
    several("alice")
    keep_as("person alice", "openai:hers@https://hers.example/v1")
    found = {}
    for name in ("alice", "bob"):
        several(name)
        page = session("inspection")
        found[name] = [box.options for box in page.selectbox if box.key == "model_before"]
    assert found == {"alice": [["openai:hers@https://hers.example/v1"]], "bob": []}


def test_who_cannot_sign_in_is_told_so(several, monkeypatch):
    def fail():
        raise StreamlitAuthError("**For the owner alone**")

    monkeypatch.setattr("core.ui.history.signs_in", lambda: True)
    monkeypatch.setattr("streamlit.login", fail)
    page = session("history")
    assert said(press(page, "sign_in"), "Nobody can sign in") and not said(page, "owner alone")


def keep_as(owner, model="embedded"):
    return SavedResults(storage().database, owner).save("inspection", "", QUERY, model, "{}")
