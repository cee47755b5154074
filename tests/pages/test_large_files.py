"""The largest files that are permitted keep no other visitor waiting.

What the thread of a page computes, and how long it keeps the interpreter from other threads, is
measured as time of a processor: other work on the machine takes none of it.
"""

import gc
import threading
import time
from functools import cache

import numpy as np
import pytest
from streamlit.runtime.scriptrunner import script_runner

from core.abstention.codebook import EVERY_ROW
from core.data.datasets.draw import draw
from core.data.datasets.tables import holds_questions, uploaded_questions
from core.data.tabular.isolation import parse_isolated
from core.data.tabular.labelled_rows import MAX_SCORED, Columns, labelled_rows
from core.data.tabular.rows import MAX_CELLS, MAX_UPLOAD_BYTES
from core.data.tabular.suggestions import suggest
from core.studies.calibration.calibration import BEST, Target, independent_rows
from core.studies.calibration.diagnostics import contradictions
from core.studies.calibration.holdout import halves
from core.studies.calibration.result import calibration_result
from core.studies.calibration.rows_by_doubt import RowSelection, by_doubt, table
from core.studies.evaluation.run import survey
from core.ui.calibration import data
from core.ui.runs.large import SMALL
from tests.patience import LONG
from tests.sessions import metrics, of_key, said, session, settled, until

MOST = 0.2  # seconds of a processor
TRIES = 3  # in each of which a thread can lose its processor to another program, but not in all

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def heap():
    """Hide from the collector what other tests left behind, as the server does what it begins with.

    Searching all that for garbage takes seconds, in whichever thread it falls due.
    """
    gc.collect()
    gc.freeze()


def scored(rows, scores=1):
    """Questions with scores that are seldom alike, and whether each answer is right."""
    rng = np.random.default_rng(0)
    confidence = rng.random((rows, scores))
    right = rng.random(rows) < 0.5 + confidence[:, 0] / 2
    names = [f"confidence {number}" for number in range(scores)]
    heading = ["question", "group", *names, "correct"] if scores == 1 else [*names, "correct"]
    text = [",".join(heading)]
    for row in range(rows):
        cells = [f"{number:.6f}" for number in confidence[row]]
        if scores == 1:  # each tenth question is asked before
            question = f"Q{row - row % 10 % 2} is this the question that the model was asked?"
            cells = [question, f"topic {row % 30}", *cells]
        text.append(",".join([*cells, str(int(right[row]))]))
    return "\n".join(text).encode()


@cache
def answered(questions, names):
    """Questions with so many right answers each, whose names are not the shortest."""
    answers = "|".join(f"a{number:027}" for number in range(names))
    return "\n".join(["question,answers", *(f"Q{q}?,{answers}" for q in range(questions))]).encode()


@cache
def long():
    return scored(399_000)


@cache
def wide():
    return scored(10_000, 199)


def few_of(content, rows=100):
    """The same file with few rows."""
    return b"\n".join(content.split(b"\n")[: rows + 1])


def test_they_are_as_large_as_can_be():
    assert MAX_UPLOAD_BYTES / 2 < len(long()) < MAX_UPLOAD_BYTES
    assert 0.99 * MAX_CELLS < 199 * 10_000
    assert MAX_UPLOAD_BYTES / 2 < len(answered(1800, 1000)) < MAX_UPLOAD_BYTES


# ---------------------------------------------------------------------- the thread of a page


@pytest.fixture
def computed(monkeypatch):
    """What each run of a page computed in its thread, seconds of a processor."""
    seconds = []
    execute = script_runner.exec_func_with_error_handling

    def timed(*args):
        began = time.thread_time()
        try:
            return execute(*args)
        finally:
            seconds.append(time.thread_time() - began)

    monkeypatch.setattr(script_runner, "exec_func_with_error_handling", timed)
    return seconds


def upload(page, content, key):
    page.file_uploader(key=key).set_value(("a.csv", content, "text/plain"))
    return settled(page.run())


def calibration(content):
    app = upload(session("calibration"), content, "labelled_file")
    app.number_input(key="wrong").set_value(20)
    return settled(app.run())


def of_some_scores(content):
    """As many scores as the limit lets through."""
    app = calibration(content)
    of_key(app.selectbox, "query_").set_value(EVERY_ROW)
    app = settled(app.run())
    assert said(app, f"199 scores of 10,000 rows are more than {MAX_SCORED:,} numbers")
    few = [f"confidence {number}" for number in range(MAX_SCORED // 10_000)]
    app = settled(of_key(app.multiselect, "surer_").set_value(few).run())
    app.number_input(key="wrong").set_value(25)
    return settled(app.run())


def evaluation(content):
    app = session("evaluation")
    app.pills(key="evaluation_source").set_value("Your file")
    app.run()
    return upload(app, content, "evaluation_file")


def drawn_of_all(app):
    return said(app, "a.csv: 300 questions, drawn at random of 1,800.")


@pytest.mark.parametrize(
    ("visit", "content", "small", "shows"),
    [
        (calibration, long, lambda: few_of(long(), 1000), lambda app: metrics(app)["Answers"]),
        (of_some_scores, wide, None, lambda app: metrics(app)["Answers"]),
        (evaluation, lambda: answered(1800, 1000), lambda: answered(10, 10), drawn_of_all),
        (
            calibration,
            lambda: answered(1800, 1000),
            lambda: answered(10, 10),
            lambda app: said(app, "a.csv: 1,800 questions."),
        ),
    ],
    ids=["long", "wide", "evaluation", "questions to ask"],
)
def test_no_page_computes_for_long_in_its_thread(visit, content, small, shows, computed):
    """What the same page takes with a small file is its drawing, and no work on the file."""
    drawing = calibration if visit is of_some_scores else visit
    for _ in range(2):  # the first also loads what it uses
        computed.clear()
        drawing(few_of(long(), 1000) if small is None else small())
    least = max(computed)
    computed.clear()
    assert shows(visit(content()))
    # A slow machine draws slowly, too: with 100 scores for 1 there are more lines to draw.
    assert max(computed) - least < max(MOST, 3 * least)


def test_reading_a_large_file_can_be_cancelled(monkeypatch):
    begun, may_end = threading.Event(), threading.Event()
    read = data.labelled_rows

    def waits(*args):
        begun.set()
        assert may_end.wait(LONG)
        return read(*args)

    monkeypatch.setattr(data, "labelled_rows", waits)
    app = session("calibration")
    app.file_uploader(key="labelled_file").set_value(
        ("a.csv", few_of(long(), SMALL + 1), "text/plain")
    )
    until(app.run(), begun.is_set)
    app.run()
    (cancel,) = [button for button in app.button if button.key == "cancel_labelled"]
    cancel.click().run()
    assert said(app, "Cancelled.") and not metrics(app)
    may_end.set()
    app.button(key="again_labelled").click().run()
    assert metrics(settled(app))["Answers"]


# ------------------------------------------------------------------------- the interpreter


def longest_alone(work):
    """How long work computes while no other thread gets the interpreter, seconds of a processor."""
    results = []
    worker = threading.Thread(target=lambda: results.append(work()), daemon=True)
    worker.start()
    clock = time.pthread_getcpuclockid(worker.ident)
    longest = before = 0.0
    while worker.is_alive():
        try:
            now = time.clock_gettime(clock)
        except OSError:  # it has just ended
            break
        longest, before = max(longest, now - before), now
        time.sleep(0.001)
    worker.join()
    assert results, "it failed"
    return longest


def test_who_keeps_the_interpreter_is_noticed():
    number = 1_000_000
    while True:
        began = time.thread_time()
        sum(range(number))  # in one piece
        if time.thread_time() - began > 2 * MOST:
            break
        number *= 2
    assert longest_alone(lambda: sum(range(number)) > 0) > MOST
    assert longest_alone(lambda: sum(x for x in range(number // 4)) > 0) < MOST


def everything_on(content, scores=None):
    def work():
        upload = parse_isolated(content, "a.csv")
        columns = suggest(upload)
        query = columns.query or EVERY_ROW
        columns = Columns(query, columns.source, columns.scores[:scores])
        rows = independent_rows(labelled_rows(upload, columns))
        assert len(rows.questions) <= len(upload.table)
        first, _ = halves(rows)
        contradictions(first)
        result = calibration_result(rows, Target(0.2, score=BEST))
        assert result.calibration.policy is not None
        behind = by_doubt(result.calibration, result.calibration.policy.threshold)
        return len(table(behind, behind.of(RowSelection.ALL)[:1000]))

    return work


def every_question(content):
    def work():
        upload = parse_isolated(content, "a.csv")
        assert holds_questions(upload)
        some = draw(uploaded_questions(upload), 300)
        return survey("a.csv", lambda: iter(some)).number

    return work


@pytest.mark.skipif(
    not hasattr(time, "pthread_getcpuclockid"), reason="no clock of another thread here"
)
@pytest.mark.parametrize(
    "work",
    [
        pytest.param(lambda: everything_on(long()), id="long"),
        pytest.param(lambda: everything_on(wide(), MAX_SCORED // 10_000), id="wide"),
        pytest.param(lambda: every_question(answered(1800, 1000)), id="questions"),
    ],
)
def test_no_other_thread_stands_still_for_long(work):
    tries = (longest_alone(work()) for _ in range(TRIES))
    assert any(longest < MOST for longest in tries)
