"""The page "Evaluation" without a browser: a run begun, left, found again, gone on with, deleted.

What makes a run survive is tested below tests/studies/evaluation, how files are read below
tests/data.
"""

import json
import threading

import pytest
import streamlit as st
from pyarrow import parquet

from core.language_models.errors import RefusedError
from core.reports.evaluation import words
from core.store.labels import UNKNOWN_LOOK
from core.studies.evaluation.bundled import folders
from core.studies.evaluation.saved_run import Run, labelled_csv
from core.ui.evaluation import form
from core.ui.evaluation import runs as module
from core.ui.evaluation.runs import runs
from core.ui.runs.job import JOB
from core.ui.runs.widget import GOES_ON
from core.ui.storage import Storage, storage
from tests.hostile import TEXTS
from tests.language_models.openai_server import serving
from tests.patience import LONG
from tests.sessions import (
    badges,
    chosen,
    go,
    harmless,
    keys,
    listed,
    of_key,
    press,
    run_named,
    said,
    session,
    settled,
    until,
    visit,
)
from tests.studies.evaluation.worlds import World, questions, rows_of, surveyed, task, written

NUMBER = 12

pytestmark = pytest.mark.usefixtures("on_ones_own")


def lines(asked=None):
    return "\n".join(
        json.dumps({"id": q.id, "question": q.query, "answers": q.answers, "source": q.source})
        for q in asked or questions(NUMBER)
    ).encode()


def opened(**query):
    """The page with the results where there is least to draw."""
    return session("evaluation", results="Policy", **query)


def uploaded(page, content=None, name="mine.jsonl"):
    """Choose a file of questions."""
    page.pills(key="evaluation_source").set_value("Your file").run()
    content = lines() if content is None else content
    return page.file_uploader(key="evaluation_file").set_value((name, content, "text/plain")).run()


def begun(page):
    """Start the run that is chosen, and return its key, which the address names."""
    page.button(key="start_run").click().run()
    return run_named(until(page, lambda: "start_run" not in keys(page)))  # it is saved first


def unfolded(page):
    """Open the form again, which closes when a run has started."""
    assert "start_run" not in keys(page)
    page.session_state["new_run"] = True
    return page.run()


def run_of(key):
    return Run(runs().find(key))


def finished(page):
    return said(page, " finished")


def test_opens_on_a_bundled_run_which_nobody_changes():
    page = settled(visit("evaluation").run())
    assert page.title[0].value == "Which doubt finds wrong answers?"
    box = page.selectbox(key="evaluation_run")
    assert box.value == "embedded_world" and "(bundled)" in box.options[0]
    number = Run(folders()["embedded_world"]).finished_questions
    size = f"{number} questions, the 8 likeliest answers to each. Right means: the same as an "
    assert said(page, f"{size}accepted answer.") and said(page, "1,994 questions; 91 of these")
    assert "calibrate_run" in keys(page) and not {"go_on", "delete_run"} & {*keys(page)}
    assert said(page, "300 questions, drawn at random of") and said(page, "on this machine.")
    page.button(key="calibrate_run").click().run()
    settled(go(page, "calibration").run())  # where the button leads; AppTest does not follow
    assert said(page, f"embedded world (run).csv: {number} rows")


def test_a_recorded_run_says_whose_answers_it_has():
    page = session("evaluation", run="qwen_popular_questions", results="Rows")
    assert said(page, "Recorded: Qwen2.5-Coder 1.5B, on ")
    (about,) = said(page, "SHA-256 ")
    assert "cc324af070c2…, in the form examples." in about and "Asked in the form" in about
    assert said(page, "The model’s policy was made of 596 questions; 190 of these are among them.")
    labels, *recordings = words.recorded_verdicts().values()
    # As `benchmarks.recorded_model` prints.
    perhaps = [cells[labels.index("≈ Perhaps")] for cells in recordings]
    assert perhaps == ["4 of 117 wrong, 3.4%", "3 of 15 wrong, 20.0%"]


def test_before_a_run_it_says_what_the_embedded_model_never_learnt():
    rows = [
        {"question": "What is the capital of France?", "answers": ["Paris"]},
        {"question": "Who is my dentist?", "answers": ["Ann"]},
    ]
    page = uploaded(opened(), "\n".join(map(json.dumps, rows)).encode())
    sentence = "1 of these 2 questions is among those that the embedded model learnt."
    assert said(settled(page), sentence)
    page = uploaded(page, json.dumps(rows[1]).encode())
    assert said(settled(page), "This question is not among those that the embedded model learnt.")


def test_a_file_is_asked_once_whatever_happens(world):
    page = uploaded(opened())
    assert said(page, "mine.jsonl: 12 questions.") and badges(page) == []
    assert said(page, "world of numbers: this takes up to")
    key = begun(page)
    settled(page)
    assert finished(page) == ["12 of 12 questions finished. Answered by world of numbers."]
    assert sorted(world.in_runs) == list(range(NUMBER)) and "go_on" not in keys(page)
    first = rows_of(run_of(key).folder)
    press(unfolded(page), "start_run")  # the same again is the same run
    assert run_named(page) == key and len(world.in_runs) == NUMBER
    again = opened(run=key)
    assert finished(again) == finished(page) and rows_of(run_of(key).folder) == first
    box = again.selectbox(key="evaluation_run")
    assert len(box.options) == 1 + len(folders()) and box.value == key
    settled(box.select_index(1).run())
    assert run_named(again) == again.selectbox(key="evaluation_run").value in folders()
    settled(go(again, "history").run())
    again.query_params.pop("run", None)
    settled(go(again, "evaluation").run())
    assert run_named(again) in folders()  # the page is as it was left


def test_cancelled_found_again_and_gone_on_with(world, monkeypatch):
    measured, real = [], form.lasts
    monkeypatch.setattr(form, "lasts", lambda *of: measured.append(of[0]) or real(*of))
    page = uploaded(opened())
    world.free = 5
    key = begun(page)
    until(page, lambda: len(world.in_runs) == 5)
    elsewhere = go(page, "history").run()
    assert "running" in keys(elsewhere)  # the way back to it
    first = listed(elsewhere)[0][0]["came"]
    assert first.startswith("Running: ") and first.endswith("of 12 questions finished.")
    page = go(page, "evaluation").run()
    assert "running" not in keys(page)
    other = visit("evaluation", run=key).run()  # a reload, or a second tab
    assert f"cancel_evaluation_{key}" in keys(other) and "delete_run" not in keys(other)
    other.button(key=f"cancel_evaluation_{key}").click().run()
    assert said(other, GOES_ON) and not said(other, "Cancelled.")
    assert runs().is_running(run_of(key).folder)  # it is the first one's, too
    page.run().button(key=f"cancel_evaluation_{key}").click().run()
    assert not runs().is_running(run_of(key).folder)
    longest = max((q.query for q in questions(NUMBER)), key=len)
    assert measured.count(longest) == 2  # once a session, not beside the run that is ending
    assert said(page, "world of numbers: this takes up to")
    world.open.set()
    for job in [thread for thread in threading.enumerate() if thread.name == JOB]:
        job.join(LONG)
    st.cache_resource.clear()  # as a restart does
    later = opened(run=key)
    (state,) = finished(later)
    done = int(state.split(" ")[0])
    assert 0 < done < NUMBER
    press(later, "go_on")
    assert (
        finished(later)[0].startswith("12 of 12") and len(world.in_runs) <= NUMBER + 1
    )  # one was under way
    assert rows_of(run_of(key).folder).keys() == {q.id for q in questions(NUMBER)}


def test_what_failed_is_a_row_and_is_asked_again_where_that_is_wanted(world):
    world.broken = {3: RefusedError("Not this one.")}
    page = uploaded(opened())
    key = begun(page)
    settled(page)
    assert finished(page)[0].startswith("12 of 12 questions finished, 1 failed.")
    (part,) = run_of(key).folder.glob("rows-*")  # half of it, as if it had been stopped
    parquet.write_table(parquet.read_table(part).sort_by([("error", "descending")])[:6], part)
    page = opened(run=key)
    assert finished(page)[0].startswith("6 of 12 questions finished, 1 failed.")
    assert said(page, ": this takes up to") and "ask_again" not in keys(page)  # that takes more
    press(page, "go_on")
    world.broken = {}
    press(page, "ask_again")
    assert finished(page)[0].startswith("12 of 12 questions finished. ")
    assert rows_of(run_of(key).folder)["q3"]["error"] is None


def test_a_service_says_what_it_takes_first_and_the_budget_ends_a_run_that_goes_on(world):
    with serving("echo") as server:
        page = chosen(uploaded(opened(), lines(questions(2))), server)
        until(page, lambda: said(page, ": at most "))
        probes = len(server.exchanges)
        assert said(page, "evaluate --context COLUMN")
        page.text_area(key="evaluation_system").set_value("Answer like a smith.").run()
        assert said(page.run(), "Cached answers are not requested again.")
        assert len(server.exchanges) == probes  # nobody has agreed yet
        page.number_input(key="budget_calls").set_value(probes + 12).run()
        begun(page)
        settled(page)
        assert said(page, "The budget of") and said(page, "Used so far: ")
        assert len(server.exchanges) - probes == 12
        asked = [json.dumps(body) for body in server.bodies[probes:]]
        assert all("Answer like a smith." in body for body in asked)
        page.number_input(key="budget_calls").set_value(2000).run()
        press(page, "go_on")
        assert finished(page)[0].startswith("2 of 2 questions finished. ")
        assert said(page, "Used for these rows: ")
        bodies = server.paid()[probes:]
        assert len(bodies) == len(set(bodies))


def test_its_rows_go_to_calibration_and_it_is_deleted(world):
    page = uploaded(opened())
    key = begun(page)
    content, _ = labelled_csv(run_of(key)) if settled(page) else (b"", ())
    page.button(key="calibrate_run").click().run()
    settled(go(page, "calibration").run())
    assert said(page, "mine.jsonl (run).csv: 12 rows") and content.count(b"\n") == NUMBER + 1
    label = "mutual_information_correct"
    assert said(page, f"Beside it: by “{label}_f1” (token F1 ≥ 0.25 (the paper’s)) ")
    by_f1 = "one for each score, by token F1 ≥ 0.25 (the paper’s)"
    (which,) = (box for box in page.selectbox if by_f1 in box.options)
    which.set_value(by_f1).run()
    assert said(settled(page), f"Right: “{label}_f1” is ") and said(page, f"by “{label}” ")
    (((run,),),) = (listed(session("history", history_words="mine", history_kind="evaluations")),)
    assert run["kind"] == "Evaluation"
    page = opened(run=key)
    page.button(key="delete_run").click().run()
    assert runs().find(key) is None and "run" not in page.query_params
    assert not listed(session("history"))
    gone = opened(run=key)
    assert said(gone, "The run that this address names is not here")
    assert "run" not in press(gone, "close_run").query_params


def test_a_run_belongs_to_who_began_it(world, monkeypatch):
    """Who finds which run is tested below tests/ui/evaluation."""
    monkeypatch.setenv("BELIEVE_HISTORY", "own")
    monkeypatch.setattr("core.ui.session.person", lambda: "alice")
    hers = uploaded(opened())
    key = begun(hers)
    settled(hers)
    monkeypatch.setattr("core.ui.session.person", lambda: "bob")
    page = opened(run=key)
    here = page.selectbox(key="evaluation_run").options
    assert said(page, "is not here") and len(here) == len(folders())


def test_a_shared_server_has_limits(world, monkeypatch):
    monkeypatch.setenv("BELIEVE_HISTORY", "own")
    monkeypatch.setattr(module, "MOST_SHARED", 5)
    monkeypatch.setattr(module, "MOST_RUNS", 1)
    page = uploaded(opened())
    assert said(page, "mine.jsonl: 5 questions, drawn at random of 12.")
    begun(page)
    settled(page)
    unfolded(page).number_input(key="evaluation_draw").set_value(1).run()
    press(page, "start_run")
    assert said(page, "You have 1 runs, the most that this server saves")


def test_a_file_that_cannot_be_used_gets_a_sentence(world):
    page = uploaded(opened())
    assert "start_run" in keys(page)  # nor is the one before, under another's name
    for content, sentence in (
        (b"", "The file is empty"),
        (b"a,b\n1,2\n", "no column of questions with one of right answers"),
        (b"question,answers\nWho?,\n", "Line 2: there is no right answer."),
    ):
        uploaded(page, content, "bad.csv")
        assert said(page, sentence) and badges(page) == ["Problem"]
        assert "start_run" not in keys(page)
    uploaded(page, b"question,answers\nWho?,Ann\nWhat?,\n", "half.csv")
    page.checkbox(key="evaluation_skip").check().run()
    assert said(page, "half.csv: 1 question.") and said(page, "Left out: Line 3: ")


def test_whoever_knows_better_says_what_columns_mean(world):
    content = b"a,b,kind,answer\nWho is 1?,Ann; Bea,k,Cid\nWho is 2?,Dan,l,Eve\n"
    page = uploaded(opened(), content, "mine.csv")
    assert badges(page) == ["Problem"] and "start_run" not in keys(page)
    for role, column in (("question", "a"), ("answers", "b"), ("group", "kind")):
        of_key(page.selectbox, f"evaluation_{role}_").set_value(column).run()
    assert not badges(page) and said(page, "“Who is 1?”, right: “Ann” or “Bea”.")
    of_key(page.selectbox, "evaluation_separator_").set_value("").run()
    assert said(page, "“Who is 1?”, right: “Ann; Bea”.")
    of_key(page.selectbox, "evaluation_answers_").set_value("answer").run()
    rows = rows_of(runs().find(begun(page))).values()
    assert {row["query"]: (row["answers"], row["source"]) for row in rows} == {
        "Who is 1?": ([["Cid"]], "k"),
        "Who is 2?": ([["Eve"]], "l"),
    }


def test_a_published_file_offers_no_box_that_it_would_not_heed(world):
    notes = str([{"type": "singleAnswer", "answer": ["Ann"]}]).replace("'", '"')
    row = {"id": "1", "question": "Who?", "annotations": notes}
    page = uploaded(opened(), json.dumps([row]).encode(), "theirs.json")
    assert said(page, "The file is read as its publisher describes it")
    boxes = {box.key.split("_")[1] for box in page.selectbox if box.key.startswith("evaluation_")}
    assert "question" in boxes and not boxes & {"group", "separator"}


def test_wordnet_is_read_once(world, monkeypatch):
    read = []
    monkeypatch.setattr(form.questions, "has_wordnet", lambda: True)
    monkeypatch.setattr(
        form.questions, "wordnet_questions", lambda: read.append(1) or questions(NUMBER)
    )
    form.questions.wordnet.cache_clear()
    page = opened()
    page.pills(key="evaluation_source").set_value("WordNet").run()
    assert said(page, "WordNet: 12 questions.")
    page.number_input(key="evaluation_number").set_value(5).run()
    assert said(page, "WordNet: 5 questions, drawn at random of 12.") and read == [1]
    form.questions.wordnet.cache_clear()


def test_hostile_names_and_questions_stay_text(world):
    name = f"{TEXTS[0]} {TEXTS[3]} {TEXTS[4]}.jsonl"
    asked = questions(2)
    page = uploaded(session("evaluation"), lines(asked).replace(b"q1", b"<b>"), name)
    begun(page)
    assert harmless(settled(page))


def test_nothing_of_a_public_demo_outlives_its_session(world, monkeypatch, tmp_path):
    monkeypatch.setenv("BELIEVE_PUBLIC", "1")
    page = uploaded(opened())
    key = begun(page)
    settled(page)
    assert finished(page)[0].startswith("12 of 12") and not list(tmp_path.iterdir())
    assert said(opened(run=key), "is not here")


def test_a_run_put_beside_another_is_looked_at_too(monkeypatch):
    own = runs().folder_of(surveyed(questions(1)), task(World())).parent
    right, wrong = (
        {"mutual_information": 0.1, "mutual_information_correct": it} for it in (True, False)
    )
    written(own / ("a" * 32), *[right] * NUMBER)
    written(own / ("b" * 32), *[right] * (NUMBER - 1), wrong)
    with monkeypatch.context() as closed:  # another database is in its place
        closed.setattr(Storage, "why", "It cannot be opened yet.")
        assert said(session("evaluation", run="a" * 32), "of them. It cannot be opened yet.")
        assert not storage().looks.all()
    page = session("evaluation", run="a" * 32, results="Compare")
    assert len(storage().looks.all()) == 2
    assert said(page, "Look 2 at these labels")
    (own / ("b" * 32) / "rows-00000.parquet").write_bytes(b"")
    page = session("evaluation", run="a" * 32, results="Compare")
    assert said(page, "rows-00000.parquet is damaged") and not said(page, str(own))
    storage().looks.save([("of a later Believe", "{}")])
    written(own / ("c" * 32), *[wrong] * NUMBER)
    assert said(session("evaluation", run="c" * 32), UNKNOWN_LOOK)
