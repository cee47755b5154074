"""The page "Calibration" without a browser: what is read, what is promised, and in which words."""

import functools
import io
import json
import re
import sys
import threading
import time
import zipfile
from collections import Counter
from dataclasses import replace
from functools import partial

import pandas as pd
import pytest
from scipy import stats
from streamlit.runtime.scriptrunner import get_script_run_ctx

from core.abstention.policy import to_json
from core.data.tabular import isolation, uploads
from core.data.tabular.isolation import Limits
from core.data.tabular.labels import Meaning
from core.data.world.grading import matches
from core.language_models.errors import ModelError
from core.studies.calibration import calibration as study
from core.studies.calibration import diagnostics, holdout
from core.studies.calibration import scoring as study_of_scoring
from core.studies.calibration.calibration import BEST, METHODS, Target, calibrate
from core.studies.calibration.example import EXAMPLE_NAME, example_bytes
from core.studies.inspection.inspection import run
from core.studies.inspection.request import Request
from core.studies.inspection.verdict import default_policies, default_policy
from core.ui.calibration import data, scoring, target
from core.ui.calibration.data import ONE_EACH
from tests.language_models.openai_server import serving
from tests.sessions import chosen, go, session, settled, visit

RIGHT, WRONG = 150, 50  # of a table, from the smallest doubt to the largest
ROWS = RIGHT + WRONG
GUARANTEED, UNCERTIFIED = "Guaranteed", "Cannot be certified"
PROBLEM, NO_GUARANTEE = "Problem", "No guarantee"


@pytest.fixture
def app():
    return opened()


def opened():
    return visit("calibration").run()


@pytest.fixture
def example(app):
    app.button(key="use_example").click().run()
    return settled(app)


def upload(page, content, name="labels.csv"):
    """Upload a file and wait for what is computed beside the page."""
    page.file_uploader(key="labelled_file").upload(name, content).run()
    return settled(page)


def sound(page):
    assert not page.exception
    return page


def table(*, scores=None, labels=("1", "0"), heading="question,score,correct", separator=","):
    """A hundred and fifty right answers, and then fifty wrong ones of larger doubt."""
    scores = [f"{row / 100:.2f}" for row in range(ROWS)] if scores is None else scores
    right = [labels[0] if row < RIGHT else labels[1] for row in range(ROWS)]
    rows = [
        f"question {row}{separator}{score}{separator}{label}"
        for row, (score, label) in enumerate(zip(scores, right, strict=True))
    ]
    return "\n".join([heading.replace(",", separator), *rows]).encode()


def certified(right, wrong, error=0.05, confidence=0.9):
    """How many are answered if all the wrong ones have the largest doubts: the exact walk."""
    errors = 0
    while errors < wrong:
        tail = stats.binom.cdf(errors + 1, right + errors + 1, error)
        if tail > 1 - confidence:
            break
        errors += 1
    return right + errors


# ---------------------------------------------------------------------- looking at the page


def texts(page):
    return [text.value for text in page.text]


def said(page, words):
    return [text for text in texts(page) if words in text]


def badges(page):
    found = (re.fullmatch(r":\w+-badge\[(?::\S+: )?(.+)\]", m.value) for m in page.markdown)
    return [badge[1] for badge in found if badge]


def metrics(page):
    return {metric.label: metric.value for metric in page.metric}


def of_key(elements, beginning):
    """The one widget whose key begins so: many keys end with a fingerprint of the data."""
    (found,) = [e for e in elements if e.key and e.key.startswith(beginning)]
    return found


def pictures(page):
    """What the charts say in words."""
    return [chart.proto.alt for chart in page.get("vega_lite_chart")]


def with_column(page, heading):
    (found,) = [table.value for table in page.dataframe if heading in table.value]
    return found


def has_no_result(page):
    return (
        bool(said(page, "Load labelled scores to see the result"))
        and not page.metric
        and not pictures(page)
    )


def choose_scores(page, *names):
    of_key(page.multiselect, "scores_").set_value(list(names)).run()
    return sound(page)


def score(page):
    """The box in which the score of the target is chosen."""
    (found,) = [s for s in page.selectbox if s.label == "Score"]
    return found


# --------------------------------------------------------------------------- opening it


def test_opens_without_data_and_says_what_it_wants(app):
    assert not app.exception
    assert app.title[0].value == "When should it answer?"
    assert [heading.value for heading in app.subheader] == [
        "1. Data",
        "2. Target",
        "3. Result",
        "4. Use",
    ]
    assert has_no_result(app)
    assert said(app, "Load labelled scores to set a target")
    assert not badges(app) and not app.slider


def test_opens_as_a_cold_deep_link():
    page = visit("calibration").run()
    assert not page.exception
    assert page.title[0].value == "When should it answer?"


def test_the_bundled_example_is_the_default_policy(example):
    """The policy that decides unless somebody brings another is the example's."""
    policy = default_policy()
    assert said(example, f"{EXAMPLE_NAME}: 1,000 rows, 21 columns (CSV)")
    assert badges(example) == [GUARANTEED]
    assert policy.sentence in texts(example)
    assert metrics(example) == {
        "Threshold λ": f"{policy.threshold:.3f}",
        "Answered": f"{policy.answered / policy.labels:.1%}",
        "Wrong among them": f"{policy.errors / policy.answered:.1%}",
        "Upper bound": f"{policy.upper_bound:.1%}",
    }


def test_every_part_of_the_example_is_drawn_and_said_in_words(example):
    alt = pictures(example)
    policy = default_policy()
    assert len(alt) == 6
    assert f"at the threshold {policy.answered / policy.labels:.0%} are answered" in alt[0]
    assert alt[1].startswith("Histogram of Mutual information for")
    assert all(f"{name} from" in alt[2] for name in ("Mutual information", "Semantic entropy"))
    assert "nats" in alt[3] and alt[3] == alt[4]
    assert "answered wrong" in alt[5]
    intervals = with_column(example, "95% interval")
    assert len(intervals) == 7 and intervals["score"][0] == "Mutual information"
    chosen, *others = intervals["95% interval of that"]
    assert chosen == "–" and all(re.fullmatch(r"[+-]0\.\d+ to [+-]0\.\d+", o) for o in others)


@pytest.mark.parametrize(
    "bad", [{"alpha": "7"}, {"alpha": "much"}, {"confidence": "-1"}, {"method": "magic"}]
)
def test_nonsense_in_the_address_is_no_traceback(bad):
    page = visit("calibration")
    page.query_params.update(bad)
    page.run()
    page.button(key="use_example").click().run()
    assert badges(sound(page))


def test_the_target_can_be_given_in_the_address():
    page = visit("calibration")
    page.query_params.update({"alpha": "0.1", "confidence": "0.95", "method": "ltt"})
    page.run()
    page.button(key="use_example").click().run()
    assert said(page, "With 95% confidence over the 1,000 labelled rows, at most 10% of")


# -------------------------------------------------------------- one table in many clothes


def as_json_lines(content, array=False):
    head, *rows = (line.split(",") for line in content.decode().splitlines())
    objects = [json.dumps(dict(zip(head, row, strict=True))) for row in rows]
    return (f"[{', '.join(objects)}]" if array else "\n".join(objects)).encode()


def as_parquet(content):
    buffer = io.BytesIO()
    pd.read_csv(io.BytesIO(content)).to_parquet(buffer)
    return buffer.getvalue()


COMMAS = [f"{row // 100},{row % 100:02d}" for row in range(ROWS)]
NAMED = "prénom " + "question,score,correct"  # a letter that encodings disagree about
CLOTHES = {
    "comma": ("labels.csv", table(), None),
    "byte-order mark": ("labels.csv", b"\xef\xbb\xbf" + table(), None),
    "semicolons and decimal commas": (
        "labels.csv",
        table(scores=COMMAS, separator=";"),
        "The columns are separated by “;”.",
    ),
    "tabs": ("labels.tsv", table(separator="\t"), None),
    "Latin-1": (
        "labels.csv",
        NAMED.encode("latin-1") + table()[len("question,score,correct") :],
        "The file is not UTF-8; it was read as Windows-1252.",
    ),
    "UTF-16": ("labels.csv", table().decode().encode("utf-16"), "The file was read as UTF-16."),
    "Windows line ends": ("labels.csv", table().replace(b"\n", b"\r\n"), None),
    "true and false": ("labels.csv", table(labels=("true", "false")), None),
    "TRUE and FALSE": ("labels.csv", table(labels=("TRUE", "FALSE")), None),
    "yes and no": ("labels.csv", table(labels=("yes", "no")), None),
    "C and I": ("labels.csv", table(labels=("C", "I")), None),
    "correct and incorrect": ("labels.csv", table(labels=("correct", "incorrect")), None),
    "JSON lines": ("labels.jsonl", as_json_lines(table()), None),
    "a JSON array": (
        "labels.json",
        as_json_lines(table(), array=True),
        "The file is one JSON array",
    ),
    "Parquet": ("labels.parquet", as_parquet(table()), None),
    "Parquet called .csv": (
        "labels.csv",
        as_parquet(table()),
        "The name ends in .csv, but the file holds Parquet.",
    ),
    "JSON lines called .csv": (
        "labels.csv",
        as_json_lines(table()),
        "The name ends in .csv, but the file holds JSON lines.",
    ),
    "duplicate headings": (
        "labels.csv",
        table(heading="question,question,correct"),
        "The heading “question” appears more than once; the other is now “question (2)”.",
    ),
}


@pytest.mark.parametrize("clothes", CLOTHES)
def test_the_same_table_gives_the_same_result_in_all_clothes(app, clothes):
    name, content, note = CLOTHES[clothes]
    upload(app, content, name)
    answered = certified(RIGHT, WRONG)
    assert answered == 153  # P(Bin(153, 5 %) ≤ 3) is 4.9 %, P(Bin(154, 5 %) ≤ 4) is 11 %
    assert badges(app) == [GUARANTEED]
    assert metrics(app)["Threshold λ"] == "1.525"
    assert metrics(app)["Answered"] == f"{answered / ROWS:.1%}"
    assert metrics(app)["Wrong among them"] == f"{(answered - RIGHT) / answered:.1%}"
    assert said(app, f"{name}: {ROWS} rows, 3 columns")
    assert bool(note) == bool(said(app, "Note: "))
    assert not note or said(app, f"Note: {note}")


@pytest.mark.parametrize("word", ["None", "NA", "null", "007", "nan", "1e5", "-"])
def test_words_that_programs_take_for_something_else_stay_what_they_are(app, word):
    """As a question, and as an answer."""
    lines = table(heading="question,score,correct,answer").decode().splitlines()
    lines[1:] = [f"{line},{word}" for line in lines[1:]]
    lines[5] = lines[5].replace("question 4", word)
    upload(app, "\n".join(lines).encode())
    preview = with_column(app, "question")
    assert preview["question"].iloc[4] == word
    assert set(preview["answer"]) == {word}
    assert list(preview.index[:2]) == [2, 3]  # lines of the file
    assert metrics(app)["Answered"] == f"{certified(RIGHT, WRONG) / ROWS:.1%}"


@pytest.mark.parametrize("empty", ["", "NaN", "None", "n/a"])
def test_a_missing_score_abstains(app, empty):
    """It is no 0: what is answered are the rows with a score."""
    missing = 10
    scores = [empty if row < missing else f"{row / 100:.2f}" for row in range(ROWS)]
    upload(app, table(scores=scores))
    answered = certified(RIGHT - missing, WRONG)
    assert metrics(app)["Answered"] == f"{answered / ROWS:.1%}"
    assert said(app, f"over the {ROWS} labelled rows")
    assert any(f"for {RIGHT - missing} right and {WRONG} wrong" in alt for alt in pictures(app))


def test_a_score_that_is_no_number_is_named_by_its_line_and_abstains(app):
    scores = [f"{row / 100:.2f}" for row in range(ROWS)]
    scores[3] = "0.03 or so"
    upload(app, table(scores=scores))
    assert badges(app) == [PROBLEM]  # one word makes it text: the person says that it is a score
    choose_scores(app, "score")
    assert said(app, "Line 5: “score” is not a number (counts as missing).")
    assert metrics(app)["Answered"] == f"{certified(RIGHT - 1, WRONG) / ROWS:.1%}"


ASKED = "Your answer is needed"
RIGHT_TOO, WRONG_TOO, OUT = Meaning.RIGHT, Meaning.WRONG, Meaning.OUT


def meanings(page):
    """The fields in which the person says what values mean, in the order of the page."""
    return [field for field in page.selectbox if field.key and field.key.startswith("meaning_")]


def asked(page):
    """Whether the page asks what labels mean, and promises nothing meanwhile."""
    sound(page)
    return badges(page) == [ASKED] and has_no_result(page)


def test_labels_that_say_neither_are_asked_about_and_promise_nothing(app):
    lines = table().decode().splitlines()
    lines[4] = lines[4].removesuffix("1") + "maybe"
    lines[8] = lines[8].removesuffix("1")
    upload(app, "\n".join(lines).encode())
    assert asked(app)
    assert said(app, "“correct” has cells that say neither right nor wrong. What do they mean?")
    assert said(app, "“maybe” (1 row)") and said(app, "empty (1 row)")
    assert [field.value for field in meanings(app)] == [None, None]
    meanings(app)[0].set_value(OUT).run()
    assert asked(app)
    meanings(app)[1].set_value(OUT).run()
    assert said(sound(app), "Line 5: “correct” is “maybe” (left out).")
    assert said(app, "Line 9: “correct” is empty (left out).")
    assert said(app, "As you said, 1 row in which “correct” is empty was left out.")
    assert metrics(app)["Answered"] == f"{certified(RIGHT - 2, WRONG) / (ROWS - 2):.1%}"
    (promise,) = said(app, "With 90% confidence")
    assert "2 rows without a label were left out, so this holds only for questions like" in promise
    meanings(app)[0].set_value(WRONG_TOO).run()
    assert said(sound(app), "were counted as wrong") or said(app, "was counted as wrong")


@pytest.mark.parametrize("labels", [("1", ""), ("T", "W"), ("c", "x"), ("true", "NaN")])
def test_half_of_the_labels_unread_certify_nothing_until_they_mean_wrong(app, labels):
    """Half of the answers are wrong, and the page said: at most 5 % of them."""
    content = "\n".join(
        ["question,score,correct", *(f"q{i},{i % 97},{labels[i % 2]}" for i in range(ROWS))]
    )
    upload(app, content.encode())
    assert asked(app) and said(app, "All its other labels say right.")
    meanings(app)[0].set_value(OUT).run()
    assert badges(sound(app)) == [UNCERTIFIED] and not app.metric
    assert said(app, "Every label of “score” is right.")
    meanings(app)[0].set_value(RIGHT_TOO).run()
    assert badges(sound(app)) == [UNCERTIFIED] and not app.metric
    meanings(app)[0].set_value(WRONG_TOO).run()
    assert badges(sound(app)) == [UNCERTIFIED]
    assert not said(app, "Every label of “score” is right.")


def test_what_labels_mean_is_remembered_for_the_file(app):
    content = table(labels=("1", ""))
    upload(app, content)
    meanings(app)[0].set_value(WRONG_TOO).run()
    answered = f"{certified(RIGHT, WRONG) / ROWS:.1%}"
    assert metrics(sound(app))["Answered"] == answered
    go(app, "inspection").run()
    go(app, "calibration").run()
    assert [field.value for field in meanings(sound(app))] == [WRONG_TOO]
    assert metrics(app)["Answered"] == answered
    upload(app, content.replace(b"question 1,", b"question one,"), "another.csv")
    assert asked(app)


def test_too_many_words_are_no_labels(app):
    lines = table().decode().splitlines()
    lines[1:14] = [f"{line}, or grade {n}" for n, line in enumerate(lines[1:14])]
    upload(app, "\n".join(lines).replace(", or", " or").encode())
    assert badges(app) == [PROBLEM] and has_no_result(app) and not meanings(app)
    assert said(app, "“correct” has 13 different values that say neither right nor wrong")


def test_a_column_of_unknown_words_can_be_chosen_and_told(app):
    upload(app, table(labels=("good", "bad"), heading="question,score,grade"))
    choose_scores(app, "score")
    of_key(app.selectbox, "correct_").set_value("grade").run()
    assert asked(app)
    for field, meaning in zip(meanings(app), (RIGHT_TOO, WRONG_TOO), strict=True):
        field.set_value(meaning)
    app.run()
    assert metrics(sound(app))["Answered"] == f"{certified(RIGHT, WRONG) / ROWS:.1%}"


def test_a_number_that_can_be_read_in_two_ways_promises_nothing(app):
    upload(app, table(scores=[f'"{3 + row},425"' if row else "175" for row in range(ROWS)]))
    assert badges(app) == [PROBLEM] and has_no_result(app)
    assert said(app, "“score” has the number “4,425”: its comma or dots can part thousands")


def test_rows_of_one_question_count_once(app):
    content = (
        table().replace(b"question 1,", b"question 0,").replace(b"question 2,", b"question 0,")
    )
    upload(app, content)
    assert said(app, "2 rows repeat another row's question.")
    assert metrics(app)["Answered"] == f"{certified(RIGHT - 2, WRONG) / (ROWS - 2):.1%}"


def test_constant_scores_are_certified_only_if_nearly_all_is_right(app):
    upload(app, table(scores=["0.5"] * ROWS))
    assert badges(app) == [UNCERTIFIED]
    assert said(app, f"the {ROWS} surest answers") and said(app, "25.0%")
    assert said(app, "All doubts are equal")
    assert not app.slider and not app.metric


@pytest.mark.parametrize(
    ("labels", "sentence"),
    [(("1", "1"), "Every label of “score” is right."), (("0", "0"), "surest answer")],
)
def test_one_class_only(app, labels, sentence):
    upload(app, table(labels=labels))
    assert badges(app) == [UNCERTIFIED] and said(app, sentence) and not app.metric
    intervals = with_column(app, "95% interval")
    assert list(intervals["95% interval"]) == ["–"]  # nothing can be told apart


def test_one_row(app):
    upload(app, b"question,score,correct\nWho?,0.5,1\n")
    assert said(app, "labels.csv: 1 row, 3 columns (CSV)")
    assert badges(app) == [UNCERTIFIED]
    assert said(app, "Too few labelled answers have a score: 1.")


@pytest.mark.parametrize("method", ["crc", "empirical"])
def test_one_row_held_back_and_every_method(app, method):
    app.toggle(key="hold").set_value(True).run()
    upload(app, b"question,score,correct\nWho?,0.5,1\nWhat?,0.6,1\n")
    app.selectbox(key="method").set_value(method).run()
    assert said(sound(app), "Rows to try settings on: 1; held back: 1.")
    for button in [button for button in app.button if button.key == "confirm"]:
        button.click().run()
        sound(app)


EXTREMES = {
    "too far apart": ["-1.7e308", "1.7e308"],
    "too close together": ["0", "5e-324"],
    "infinite": ["0.5", "inf"],
    "surely": ["-inf", "0.5"],
    "tiny": ["1e-9", "2e-9"],
    "huge": ["1e18", "2e18"],
}


@pytest.mark.parametrize("extreme", EXTREMES)
def test_scores_at_the_ends_of_what_numbers_can_be(app, extreme):
    low, high = EXTREMES[extreme]
    upload(app, table(scores=[low] * RIGHT + [high] * WRONG))
    assert badges(app) == [GUARANTEED]
    assert metrics(app)["Answered"] == f"{RIGHT / ROWS:.1%}"
    if app.slider:
        for end in (app.slider[0].min, app.slider[0].max):
            app.slider[0].set_value(end).run()
            sound(app)
    else:
        assert said(app, "to move λ by hand") or said(app, "All doubts are equal")


def zipped():
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("labels.csv", table())
    return buffer.getvalue()


REFUSED = {
    "empty": (b"", "The file is empty"),
    "only blank lines": (b"\n \n", "The file has only blank lines"),
    "a heading only": (b"question,score,correct\n", "The file has a heading and no rows"),
    "a picture": (b"\x89PNG\r\n\x1a\n" + bytes(50), "The file seems to be a PNG picture"),
    "an archive": (zipped(), "The file seems to be a zip archive, as Excel workbooks"),
    "bytes": (bytes(range(256)) * 4, "The file seems to be binary"),
    "a page": (b"<!doctype html><html>", "The file seems to be an HTML or XML page"),
    "half a Parquet": (as_parquet(table())[:200], "The file begins like Parquet"),
    "ragged": (
        table().replace(b"question 1,", b"question, 1,"),
        "Line 3 has 4 cells, the heading has 3. Quote cells that contain the separator.",
    ),
    "an open quote": (
        table().replace(b"question 7,", b'"question 7,'),
        'Line 9: a quote (") opens a cell and is never closed',
    ),
    "broken JSON lines": (
        as_json_lines(table()).replace(b"}\n", b"\n", 1),
        "Line 1 is not one JSON object",
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_cannot_be_read_gets_a_sentence(app, what):
    content, sentence = REFUSED[what]
    upload(app, content, "mine.csv")
    assert badges(app) == [PROBLEM]
    (said_,) = said(app, "mine.csv: ")
    assert said_.startswith(f"mine.csv: {sentence}")
    assert has_no_result(app)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"a,b\nfoo,bar\n", "No column of this file contains numbers"),
        (b"a,b\n1.5,2.5\n3.5,4.5\n", "Choose at least one score column"),
        (b"correct\n1\n0\n", "Choose at least one score column"),
    ],
)
def test_what_lacks_scores_or_labels_gets_a_sentence(app, content, sentence):
    upload(app, content)
    assert badges(app) == [PROBLEM] and said(app, sentence)
    assert has_no_result(app)


def test_a_column_without_labels_gets_a_sentence(app):
    upload(app, b"a,b\n1.5,2.5\n3.5,4.5\n")
    choose_scores(app, "a")
    of_key(app.selectbox, "correct_").set_value("b").run()
    assert said(sound(app), "No cell of “b” says whether an answer is right")
    of_key(app.selectbox, "correct_").set_value("a").run()
    assert said(sound(app), "“a” is chosen both as a score and as")
    assert has_no_result(app)


def test_a_bad_file_leaves_the_last_good_one_in_place(app):
    upload(app, table(), "good.csv")
    before = metrics(app)
    app.file_uploader(key="labelled_file").set_value(("bad.csv", b"", "text/csv")).run()
    assert badges(sound(app)) == [PROBLEM, GUARANTEED]
    assert said(app, "bad.csv: The file is empty") and said(app, "good.csv: 200 rows")
    assert metrics(app) == before
    app.file_uploader(key="labelled_file").clear().run()  # the person takes it away again
    assert badges(sound(app)) == [GUARANTEED] and not said(app, "bad.csv")
    assert said(app, "good.csv: 200 rows") and metrics(app) == before


def test_a_file_that_takes_too_long_leaves_the_last_good_one_in_place(app, monkeypatch):
    upload(app, table(), "good.csv")
    isolation._drop()
    asleep = "import time; print('ready', flush=True); time.sleep(1000)"
    monkeypatch.setattr(isolation, "_COMMAND", (sys.executable, "-c", asleep))
    hasty = partial(isolation.parse_isolated, limits=Limits(seconds=0.05))
    monkeypatch.setattr(isolation, "parse_isolated", hasty)
    app.file_uploader(key="labelled_file").set_value(("slow.csv", table(), "text/csv")).run()
    isolation._drop()
    assert said(sound(app), "slow.csv: Reading the file takes more than 0.05 seconds")
    assert said(app, "good.csv: 200 rows")


def test_whoever_leaves_the_page_stops_the_reading(app, monkeypatch):
    """Nobody waits for what nobody looks at; back on the page, it begins again."""
    left = []

    def leave(content, name, *, cancelled):
        assert not cancelled()
        get_script_run_ctx().script_requests.request_stop()
        try:
            cancelled()
        except BaseException as error:
            left.append(type(error).__name__)
            raise

    with monkeypatch.context() as patch:
        patch.setattr(isolation, "parse_isolated", leave)
        app.file_uploader(key="labelled_file").set_value(("x.csv", table(), "text/csv")).run()
    assert left == ["StopException"] and not said(app, "x.csv")
    assert said(sound(app.run()), "x.csv: 200 rows")


def test_long_cells_are_not_sent_to_the_browser(app):
    long = "long " * 19_000
    upload(app, "\n".join([table().decode(), f"{long},0.5,1"]).encode())
    (kinds,) = [f.value for f in app.dataframe if "first cell" in f.value]
    assert not said(app, "of longer cells") and len(kinds) == 3  # row 201 is not shown
    rows = [f'"{long}",{row},{row % 2}' for row in range(30)]
    upload(app, "\n".join(["question,score,correct", *rows]).encode(), "long.csv")
    shown = [str(cell) for f in app.dataframe for cell in f.value.to_numpy(object).ravel()]
    assert sum(cell.startswith("long long") for cell in shown) == 31
    assert max(map(len, shown)) == 201
    assert said(app, "Shown: the first 200 characters of longer cells.")


def test_several_complaints_stand_beside_each_other(example):
    """Each has a place of its own on the page."""
    example.file_uploader(key="labelled_file").upload("bad.csv", b"").run()
    example.file_uploader(key="new_scores").upload("new.csv", b"a\n1\n").run()
    example.file_uploader(key="policy_file").upload("policy.json", b"{").run()
    assert badges(sound(example)).count(PROBLEM) == 3


def test_remove_forgets_the_data(example):
    example.button(key="remove_upload").click().run()
    assert has_no_result(sound(example)) and not said(example, EXAMPLE_NAME)


@pytest.mark.slow
def test_two_hundred_thousand_rows():
    wrong, rows = 50_000, 200_000
    lines = (f"q{row},{row},{int(row < rows - wrong)}" for row in range(rows))
    page = opened(timeout=600)
    upload(page, "\n".join(["question,score,correct", *lines]).encode())
    assert said(page, "labels.csv: 200,000 rows, 3 columns (CSV)")
    assert metrics(page)["Answered"] == f"{certified(rows - wrong, wrong) / rows:.1%}"
    assert len(with_column(page, "question")) == 200  # the first of them
    assert page.button(key="compare").label == "Compare with intervals"  # not unasked


# ------------------------------------------------------------------------- hostile text

IMAGE, SCRIPT = "![x](http://evil.invalid/x.png)", "<script>alert(1)</script>"
MONEY, FORMULA = "$5 and $6 :red[x] **b**", '=HYPERLINK("http://evil.invalid")'
HOSTILE = (IMAGE, SCRIPT, MONEY, FORMULA)


def markdown(page):
    """Every text of the page that Streamlit reads as Markdown."""
    for kind in ("markdown", "caption", "title", "header", "subheader"):
        yield from (element.value for element in page.get(kind))
    for kind in ("error", "warning", "info", "success"):
        yield from (element.value for element in page.get(kind))
    for metric in page.metric:
        yield from (metric.label, metric.value, metric.delta, metric.help)
    for kind in ("expander", "tab"):
        yield from (element.label for element in page.get(kind))
    for kind in ("button", "download_button", "file_uploader", "number_input", "toggle"):
        yield from (text for e in page.get(kind) for text in (e.proto.label, e.proto.help))
    for kind in ("selectbox", "multiselect", "slider"):
        yield from (text for e in page.get(kind) for text in (e.proto.label, e.proto.help))


def hostile_table():
    heading = f"{IMAGE},{SCRIPT},question,source,{MONEY}"
    cells = [hostile.replace('"', '""') for hostile in HOSTILE]
    rows = (
        f'{row / 100},{-row / 100},{row} {IMAGE},"{cells[row % 4]}",{int(row < RIGHT)}'
        for row in range(ROWS)
    )
    return "\n".join([heading, *rows]).encode()


def test_markdown_of_the_page_is_found_at_all(example):
    found = "\n".join(markdown(example))
    for words in ("Guaranteed", "Threshold λ", "By source", "λ by hand", "Decisions (CSV)"):
        assert words in found


@pytest.mark.parametrize("method", METHODS)
def test_hostile_names_and_cells_reach_no_markdown(app, method):
    upload(app, hostile_table(), f"{IMAGE}.csv")
    app.toggle(key="hold").set_value(True).run()
    app.selectbox(key="method").set_value(method).run()
    if method != "ltt":
        score(app).set_value(SCRIPT).run()
    app.slider[0].set_value(app.slider[0].max).run()
    app.button(key="confirm").click().run()
    app.file_uploader(key="new_scores").upload(f"{MONEY}.csv", hostile_table()).run()
    sound(app)
    assert said(app, f"{IMAGE}.csv: {ROWS} rows") and len(badges(app)) == 4
    assert any(SCRIPT in alt for alt in pictures(app))
    assert not [text for text in markdown(app) for hostile in HOSTILE if hostile in str(text)]


@pytest.mark.parametrize("column", ["best of all scores", ONE_EACH, "(none)", "it's \"x\" \\ '"])
def test_columns_named_like_our_own_words(app, column):
    doubled = column.replace('"', '""')
    upload(app, table(heading=f'question,"{doubled}",correct'))
    assert badges(app) == [GUARANTEED]
    upload(app, table(heading=f'question,score,"{doubled}"'), "other.csv")
    assert badges(app) == [GUARANTEED]


# --------------------------------------------------------------------- what columns mean


def two_scores():
    """`good` is a doubt; `sure` a confidence, whose own answers are all right but the last ten."""
    rows = (
        f"question {row},{row / 100},{1 - row / 200},{int(row < RIGHT)},{int(row < ROWS - 10)}"
        for row in range(ROWS)
    )
    return "\n".join(["question,good,sure,good_correct,sure_correct", *rows]).encode()


def answered(page):
    return metrics(page).get("Answered")


def test_columns_are_guessed_and_the_person_decides(app):
    upload(app, two_scores())
    assert of_key(app.multiselect, "scores_").value == ["good", "sure"]
    assert of_key(app.multiselect, "surer_").value == ["sure"]
    assert of_key(app.selectbox, "query_").value == "question"
    labels = {s.key.rsplit("_", 1)[-1]: s.value for s in app.selectbox if s.key.startswith("corr")}
    assert {"good": "good_correct", "sure": "sure_correct"}.items() <= labels.items()
    half = 0.95  # each of two scores is tested at δ / 2
    best = certified(ROWS - 10, 10, confidence=half)
    assert best > certified(RIGHT, WRONG, confidence=half)
    assert answered(app) == f"{best / ROWS:.1%}"
    assert said(app, "Best of 2 scores, each tested at δ divided by 2: sure.")


def test_another_choice_of_scores_changes_the_result(app):
    upload(app, two_scores())
    choose_scores(app, "good")
    assert answered(app) == f"{certified(RIGHT, WRONG) / ROWS:.1%}"
    assert not said(app, "Best of")
    choose_scores(app, "sure")
    assert answered(app) == f"{certified(ROWS - 10, 10) / ROWS:.1%}"
    choose_scores(app)
    assert said(app, "Choose at least one score column") and has_no_result(app)
    choose_scores(app, "sure", "good")
    assert score(app).options == [BEST, "sure", "good"]


def test_the_other_direction_changes_the_result(app):
    upload(app, table())
    of_key(app.multiselect, "surer_").set_value(["score"]).run()
    assert badges(sound(app)) == [UNCERTIFIED]  # now the wrong ones seem the surest
    of_key(app.multiselect, "surer_").set_value([]).run()
    assert badges(app) == [GUARANTEED]


def test_one_label_for_all_scores_or_one_for_each_changes_the_result(app):
    upload(app, two_scores())
    choose_scores(app, "sure", "good")
    each = answered(app)
    key = next(s.key for s in app.selectbox if s.value == ONE_EACH)
    app.selectbox(key=key).set_value("good_correct").run()
    half = 0.95
    assert answered(sound(app)) == f"{certified(RIGHT, WRONG, confidence=half) / ROWS:.1%}"
    app.selectbox(key=key).set_value(ONE_EACH).run()
    assert answered(app) == each
    app.selectbox(key=f"{key}_sure").set_value("good_correct").run()
    assert answered(sound(app)) == f"{certified(RIGHT, WRONG, confidence=half) / ROWS:.1%}"


def test_source_and_entropy_can_be_named(app):
    lines = two_scores().decode().splitlines()
    lines = [
        f"{line},{'kind,spread' if not row else f'k{row % 2},{row % 3}'}"
        for row, line in enumerate(lines)
    ]
    upload(app, "\n".join(lines).encode())
    assert said(app, "There is no source column.") and said(app, "There is no column with the sem")
    choose_scores(app, "good", "sure")
    of_key(app.selectbox, "source_").set_value("kind").run()
    of_key(app.selectbox, "entropy_").set_value("spread").run()
    sound(app)
    assert not said(app, "There is no")
    assert any(alt.startswith("k1: ") or "; k1: " in alt for alt in pictures(app))
    assert any("2.0 or more nats" in alt for alt in pictures(app))


# ------------------------------------------------------------------------------ targets


def set_target(page, **numbers):
    for key, value in numbers.items():
        page.number_input(key=key).set_value(value)
    page.run()
    return sound(page)


@pytest.mark.parametrize(("error", "confidence"), [(0.1, 0.9), (0.05, 0.95), (0.02, 0.8)])
def test_another_target_changes_the_result(app, error, confidence):
    upload(app, table())
    set_target(app, alpha=error, confidence=confidence)
    assert answered(app) == f"{certified(RIGHT, WRONG, error, confidence) / ROWS:.1%}"
    assert said(
        app,
        f"With {100 * confidence:.0f}% confidence over the {ROWS} labelled rows, at most "
        f"{100 * error:.0f}% of answered questions are wrong",
    )


def test_a_target_out_of_reach_is_said_and_offers_nothing_to_use(app):
    upload(app, table())
    set_target(app, alpha=0.001)
    assert badges(app) == [UNCERTIFIED]
    assert said(app, "even if all of them are right") or said(app, "Even if all of them are right")
    assert not app.metric and not [b for b in app.button if b.key == "use_policy"]
    assert app.slider[0].value == app.slider[0].min  # answers nothing
    app.slider[0].set_value(0.5).run()
    assert badges(sound(app)) == [UNCERTIFIED, NO_GUARANTEE]
    assert said(app, "0 of 50 answered questions were wrong")


def test_methods_promise_different_things(app):
    upload(app, table())
    app.selectbox(key="method").set_value("crc").run()
    allowed = int(0.05 * (ROWS + 1)) - 1  # (errors + 1) / (rows + 1) is at most α
    assert badges(app) == [GUARANTEED]
    assert answered(app) == f"{(RIGHT + allowed) / ROWS:.1%}"
    assert said(app, "This does not bound the error among the answered.")
    assert app.number_input(key="confidence").disabled
    app.selectbox(key="method").set_value("empirical").run()
    errors = max(e for e in range(WRONG) if e / (RIGHT + e) <= 0.05)
    assert badges(app) == [NO_GUARANTEE]
    assert answered(app) == f"{(RIGHT + errors) / ROWS:.1%}"
    assert metrics(app)["Upper bound"] == "none"
    app.selectbox(key="method").set_value("ltt").run()
    assert badges(app) == [GUARANTEED]


def test_best_of_all_scores_pays_for_the_choice(app):
    upload(app, two_scores())
    assert score(app).value == BEST
    score(app).set_value("sure").run()
    named = certified(ROWS - 10, 10)
    assert answered(sound(app)) == f"{named / ROWS:.1%}" and not said(app, "Best of")
    app.selectbox(key="method").set_value("empirical").run()
    assert BEST not in score(sound(app)).options  # only the guarantee can pay for it
    assert score(app).value == "sure"
    app.selectbox(key="method").set_value("ltt").run()
    assert score(sound(app)).value == "sure"
    score(app).set_value(BEST).run()
    app.selectbox(key="method").set_value("crc").run()
    assert score(sound(app)).value == "good"


def test_settings_that_were_tried_are_counted_once_each(app):
    upload(app, table())
    counted = [c.value for c in app.caption if "You have tried" in c.value]
    assert not counted
    set_target(app, alpha=0.1)
    assert any("You have tried 2 settings on these rows" in c.value for c in app.caption)
    assert said(app, "This is one of 2 settings tried on these rows")
    set_target(app, alpha=0.05)
    set_target(app, alpha=0.1)
    assert any("You have tried 2 settings on these rows" in c.value for c in app.caption)
    set_target(app, confidence=0.8)
    assert any("You have tried 3 settings on these rows" in c.value for c in app.caption)


def test_other_rows_begin_a_new_count(app):
    upload(app, table())
    set_target(app, alpha=0.1)
    upload(app, two_scores(), "other.csv")
    assert not any("You have tried" in c.value for c in app.caption)


def test_a_confidence_near_one_is_not_rounded_to_certainty(app):
    upload(app, table())
    set_target(app, confidence=0.999)
    assert any("the 99.9% interval" in c.value for c in app.caption)
    assert not any("100 %" in c.value or "100%" in c.value for c in app.caption)


# ------------------------------------------------------------------- going and coming back


def elsewhere_and_back(page):
    sound(go(page, "inspection").run())
    return sound(go(page, "calibration").run())


def test_data_mapping_and_target_survive_another_page(app):
    upload(app, two_scores(), "mine.csv")
    choose_scores(app, "good")
    set_target(app, alpha=0.1, confidence=0.8)
    app.toggle(key="hold").set_value(True).run()
    before = metrics(app)
    assert before["Answered"] != "0.0%"
    elsewhere_and_back(app)
    assert said(app, "mine.csv: 200 rows, 5 columns (CSV)")
    assert of_key(app.multiselect, "scores_").value == ["good"]
    assert app.number_input(key="alpha").value == 0.1
    assert app.number_input(key="confidence").value == 0.8
    assert app.toggle(key="hold").value
    assert metrics(app) == before


def test_a_complaint_and_the_good_file_survive_another_page(app):
    upload(app, table(), "good.csv")
    upload(app, b"", "bad.csv")
    elsewhere_and_back(app)
    assert said(app, "good.csv: 200 rows") and badges(app)[-1] == GUARANTEED


def test_a_threshold_moved_by_hand_survives_another_page(example):
    example.slider[0].set_value(0.5).run()
    elsewhere_and_back(example)
    assert example.slider[0].value == 0.5
    assert badges(example) == [GUARANTEED, NO_GUARANTEE]


@pytest.fixture
def work(monkeypatch):
    """What the page computed over all rows, by name, and the comparisons that were begun."""
    done = []

    def counted(module, name):
        function = getattr(module, name)

        def wrapper(*args, **kwargs):
            # What a comparison computes in its own thread, perhaps for the test before, is not
            # the page's doing.
            if name == "compare" or get_script_run_ctx(suppress_warning=True) is not None:
                done.append(name)
            return function(*args, **kwargs)

        monkeypatch.setattr(module, name, wrapper)

    for name in ("calibrate", "curves", "by_entropy", "by_source", "shares", "compare", "halves"):
        counted(study, name)
    counted(target, "calibrate")
    for name in ("suggest", "kinds", "gold_questions", "labelled", "independent", "column_of"):
        counted(data, name)
    counted(uploads, "parse")
    counted(isolation, "parse_isolated")
    return done


def test_a_rerun_computes_nothing_anew(app, work):
    upload(app, two_scores())
    assert {"parse_isolated", "suggest", "calibrate", "curves", "shares", "labelled"} <= set(work)
    assert work.count("curves") == work.count("labelled") == work.count("parse_isolated") == 1
    work.clear()
    app.run()
    elsewhere_and_back(app)
    assert work == []


def test_moving_the_threshold_computes_nothing_over_all_rows(example, work):
    for value in (0.4, 0.5):
        example.slider[0].set_value(value).run()
    assert badges(sound(example)) == [GUARANTEED, NO_GUARANTEE] and work == []


def test_another_target_calibrates_anew_and_reads_nothing_anew(example, work):
    set_target(example, alpha=0.1)
    assert "calibrate" in work
    anew = {"parse", "parse_isolated", "suggest", "kinds", "labelled", "curves", "halves"}
    assert not anew & set(work)


# ---------------------------------------------------------------------- λ moved by hand


def test_moving_the_threshold_loses_the_guarantee_and_going_back_restores_it(app):
    upload(app, table())
    slider, found = app.slider[0], app.slider[0].value
    assert found == 1.525 and (slider.min, slider.max) == (0, pytest.approx(1.99 * 1.005))
    slider.set_value(1.6).run()
    assert badges(sound(app)) == [GUARANTEED, NO_GUARANTEE]  # what was found stays found
    assert said(app, "No guarantee: λ was chosen by hand. On the 200 labelled rows, 10 of 160 ")
    assert said(app, "Answered 80.0%, observed error 6.2%.")
    assert any("threshold 1.600" in alt for alt in pictures(app))
    app.button(key="back").click().run()
    assert app.slider[0].value == found
    assert badges(sound(app)) == [GUARANTEED]
    assert any("threshold 1.525" in alt for alt in pictures(app))


@pytest.mark.parametrize(("end", "answered"), [("min", "0.0%"), ("max", "100.0%")])
def test_the_ends_of_the_slider_answer_nothing_and_everything(app, end, answered):
    upload(app, table())
    app.slider[0].set_value(getattr(app.slider[0], end)).run()
    error = "none" if end == "min" else f"{WRONG / ROWS:.1%}"
    assert said(sound(app), f"Answered {answered}, observed error {error}.")
    # Everything means also what is less sure than all that was labelled.
    λ = "0.000" if end == "min" else "∞"
    assert any(alt.endswith(f"threshold {λ}.") for alt in pictures(app))


def test_a_threshold_moved_for_one_target_does_not_move_another(app):
    upload(app, table())
    app.slider[0].set_value(0.5).run()
    set_target(app, alpha=0.1)
    assert badges(app) == [GUARANTEED]


# ---------------------------------------------------------- held back, and confirmed once


def bundled(*scores):
    """The bundled example as the page reads it."""
    return study.read(example_bytes(), EXAMPLE_NAME, scores)


def confirm(page):
    page.button(key="confirm").click().run()
    return sound(page)


def test_a_half_is_held_back_and_confirms_once(app):
    app.toggle(key="hold").set_value(True).run()  # before anything was seen
    app.button(key="use_example").click().run()
    first, second = holdout.halves(bundled())
    assert said(sound(app), "Rows to try settings on: 500; held back: 500.")
    found = calibrate(first, Target(score="mutual_information"))
    assert metrics(app)["Answered"] == f"{found.outcome.coverage:.1%}"
    assert badges(app) == [GUARANTEED]
    confirm(app)
    expected = holdout.confirm(found.policy, second, 0.9)
    assert expected.sentence in texts(app)
    assert badges(app) == [GUARANTEED, "Confirmed" if expected.kept else "Not confirmed"]
    assert app.button(key="confirm").disabled

    set_target(app, alpha=0.1)  # another threshold
    assert badges(app) == [GUARANTEED] and not app.button(key="confirm").disabled
    confirm(app)
    assert said(app, "1 other threshold was confirmed on this half before; only the first")
    assert "Confirmed" not in badges(app)

    set_target(app, alpha=0.05)  # and the first again: it is as confirmed as it was
    assert app.button(key="confirm").disabled and expected.sentence in texts(app)
    assert not said(app, "other threshold")


def test_what_was_tried_on_all_rows_is_held_against_a_confirmation(example):
    set_target(example, alpha=0.1)
    example.toggle(key="hold").set_value(True).run()
    assert said(sound(example), "Before the split, 2 settings were tried on all rows.")
    assert not any("You have tried" in c.value for c in example.caption)  # on these rows: one
    confirm(example)
    assert badges(example)[-1] in ("Within the target", "Not confirmed")


def test_nothing_certified_is_nothing_to_confirm(app):
    app.toggle(key="hold").set_value(True).run()
    upload(app, table())
    set_target(app, alpha=0.001)
    assert badges(app) == [UNCERTIFIED]
    assert not [button for button in app.button if button.key == "confirm"]


# -------------------------------------------------------------------- policies in use


def use(page):
    page.button(key="use_policy").click().run()
    return sound(page.run())  # AppTest loses what a rerun of its own draws


def test_a_policy_is_used_until_it_is_stopped(example):
    sentence = default_policy().sentence
    assert not [button for button in example.button if button.key == "stop_policy"]
    use(example)
    assert badges(example) == ["Policy in use", GUARANTEED]
    assert texts(example).count(sentence) == 2
    assert said(example, "In use: verdicts on Inspection follow this policy.")
    example.slider[0].set_value(0.5).run()  # another threshold is another policy
    assert not said(example, "In use: ")
    example.button(key="stop_policy").click().run()
    assert badges(sound(example)) == [GUARANTEED, NO_GUARANTEE]


def test_scores_of_unknown_origin_cannot_decide_inspections(app):
    upload(app, table())
    assert app.button(key="use_policy").disabled
    assert said(app, "The file does not say how its scores were made")


def test_a_score_or_direction_that_is_not_computed_here_cannot_decide_inspections(example):
    choose_scores(example, "sampled_mass", "semantic_entropy")
    score(example).set_value("sampled_mass")
    of_key(example.multiselect, "surer_").set_value(["sampled_mass"]).run()
    set_target(example, alpha=0.3)
    assert example.button(key="use_policy").disabled
    assert said(example, "This policy uses the score “sampled_mass”, which is not computed here.")
    score(example).set_value("semantic_entropy")
    of_key(example.multiselect, "surer_").set_value(["semantic_entropy"])
    example.selectbox(key="method").set_value("empirical").run()
    assert badges(example) == [NO_GUARANTEE] and example.button(key="use_policy").disabled
    assert said(example, "takes a large “semantic_entropy” as a sign of a sure answer")


def bring(page, content, name="policy.json"):
    content = content if isinstance(content, bytes) else content.encode()
    page.file_uploader(key="policy_file").set_value((name, content, "application/json")).run()
    return sound(page)


def test_a_policy_can_be_brought_and_used(app):
    entropy = default_policies()["semantic_entropy"]
    bring(app, to_json(entropy))
    assert entropy.sentence in texts(app) and not badges(app)
    app.button(key="use_uploaded").click().run()
    assert badges(sound(app)) == ["Policy in use"]


@pytest.mark.parametrize(
    ("damage", "sentence"),
    [
        (lambda text: text[: len(text) // 2], "This file is not a policy, because it is not JSON."),
        (lambda text: "[]", "This file is not a Believe policy."),
        (lambda text: text.replace('"version": 1', '"version": 99'), "This policy has version 99"),
        (lambda text: text.replace('"answered": ', '"answered": -'), "It must be that 0 ≤ errors"),
        (lambda text: text.replace('"threshold": 0', '"threshold": "0"'), "it is not JSON"),
        (lambda text: text.replace('"labels"', '"Labels"'), "The policy lacks “labels”."),
    ],
)
def test_a_damaged_policy_gets_a_sentence(app, damage, sentence):
    damaged = damage(to_json(default_policy()))
    assert damaged != to_json(default_policy())
    bring(app, damaged)
    assert badges(app) == [PROBLEM] and said(app, sentence)
    assert not [button for button in app.button if button.key == "use_uploaded"]


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"pipeline": None}, "This policy was calibrated on scores of unknown origin"),
        ({"score": IMAGE}, f"This policy uses the score “{IMAGE}”, which is not computed here."),
        ({"larger_is_surer": True}, "as a sign of a sure answer; here it is a sign of doubt."),
    ],
)
def test_a_policy_that_can_decide_nothing_here_says_why(app, change, sentence):
    bring(app, to_json(replace(default_policy(), **change)))
    assert said(app, sentence) and app.button(key="use_uploaded").disabled
    assert not [text for text in markdown(app) if IMAGE in str(text)]


# ----------------------------------------------------------------------- new scores


def new_scores(page, content, name="new.csv"):
    page.file_uploader(key="new_scores").set_value((name, content, "text/csv")).run()
    return sound(page)


def test_new_scores_that_cannot_be_read_are_not_tried_again_at_every_rerun(app, work):
    upload(app, table())
    work.clear()
    new_scores(app, b"score\n" + b"1,2\n", "ragged.csv")
    app.run()
    assert said(app, "Line 2 has 2 cells") and work.count("parse_isolated") == 1
    new_scores(app, b"score\n1\n", "good.csv")
    assert not said(app, "Line 2 has 2 cells") and work.count("parse_isolated") == 2


def test_new_scores_are_held_against_those_of_the_calibration(app):
    upload(app, table())
    same = "\n".join(["score", *(f"{(row + 0.4) / 50}" for row in range(ROWS // 2))])
    new_scores(app, same.encode())
    assert badges(app) == [GUARANTEED, "No difference visible"]
    assert said(app, "The 100 new scores, against 200 of the calibration: no difference is visible")
    assert said(app, "76 of 100 would be answered.")  # 0.008, 0.028, …, 1.508
    other = "\n".join(["score", *(f"{(row + 0.4) / 100 + 1}" for row in range(ROWS))])
    new_scores(app, other.encode())
    assert badges(app) == [GUARANTEED, "Different"]
    assert said(app, "they are distributed differently")
    assert said(app, "53 of 200 would be answered.")
    new_scores(app, b"score,note\n0.1,\n0.2,\n,missing\n")
    assert badges(app) == [GUARANTEED, "Too few to say"]
    assert said(app, "too few to see a difference") and said(app, "2 of 3 would be answered.")


def test_new_scores_follow_the_target(app):
    """What was computed for one policy is not shown for another."""
    upload(app, table())
    new_scores(app, table())
    first = said(app, "would be answered")
    set_target(app, alpha=0.1)
    assert said(app, "would be answered") != first


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "The file is empty"),
        (b"other\n0.5\n", "There is no column “score” in new.csv."),
        (b"score\nmuch\nlittle\n", "“score” has no number: its cells are text."),
        (b"a,score\n1,2\n1\n", "Line 3 has 1 cell, the heading has 2."),
    ],
)
def test_new_scores_that_cannot_be_used_get_a_sentence(app, content, sentence):
    upload(app, table())
    new_scores(app, content)
    assert badges(app) == [GUARANTEED, PROBLEM] and said(app, sentence)


def test_new_scores_of_another_pipeline_are_refused_by_the_field(example):
    text = example_bytes().decode("utf-8-sig")
    new_scores(example, text.encode())
    assert badges(example) == [GUARANTEED, "No difference visible"]
    new_scores(example, text.replace('""tau"": 0.25', '""tau"": 0.75').encode())
    assert badges(example) == [GUARANTEED, PROBLEM]
    assert said(example, "τ = 0.25 there, 0.75 here")


# --------------------------------------------------------------- the comparison, beside


def large_table():
    """More than is compared unasked."""
    lines = (f"q{row},{row},{int(row < 20_000)}" for row in range(20_001))
    return "\n".join(["question,score,correct", *lines]).encode()


def waited_for(page, what):
    """Run until something is there: a slow machine shows progress first."""
    for _ in range(600):
        if what(page):
            return sound(page)
        time.sleep(0.1)
        page.run()
    raise AssertionError("it never came")


def has_intervals(page):
    return any("95% interval" in table.value for table in page.dataframe)


def keys(page):
    return {button.key for button in page.button}


def test_large_tables_are_compared_when_somebody_asks(app):
    upload(app, large_table())
    assert not has_intervals(app)
    app.button(key="compare").click().run()
    waited_for(app, has_intervals)
    assert "compare" not in keys(app)
    set_target(app, alpha=0.1)
    assert "compare" in keys(app) and not has_intervals(app)  # for this target nobody asked


def test_a_comparison_can_be_cancelled_and_gives_way_to_another(app, monkeypatch):
    gate = threading.Event()
    compare = diagnostics.compare

    def slow(found, progress):
        progress("Resampling the labelled rows", 0.5)
        gate.wait(60)
        progress("Resampling the labelled rows", 0.6)
        return compare(found, progress, resamples=20)

    monkeypatch.setattr(diagnostics, "compare", slow)
    app.file_uploader(key="labelled_file").upload("labels.csv", table()).run()
    first = app.session_state["run_comparison"].job
    assert app.get("progress") and "cancel_comparison" in keys(app)
    set_target(app, alpha=0.1)
    second = app.session_state["run_comparison"].job
    assert first.cancelling and not second.cancelling  # nobody will look at the first
    app.button(key="cancel_comparison").click().run()
    gate.set()
    waited_for(app, lambda page: "again_comparison" in keys(page))
    assert first.wait(60) and second.wait(60)
    assert first.cancelled and second.cancelled and PROBLEM not in badges(app)
    app.button(key="again_comparison").click().run()
    waited_for(app, has_intervals)


# ---------------------------------------------------------------- questions, to be scored

GOLD = {  # some right answers on purpose wrong, so that both labels come up
    "What is the capital of France?": "Paris",
    "What is the capital of Germany?": "Bonn",
    "What is the capital of Italy?": "Rome",
    "What is the capital of Spain?": "Toledo",
}


@pytest.fixture
def gold(monkeypatch):
    """A file of questions that nobody has uploaded yet; what is scored outlives a session."""
    monkeypatch.setattr(scoring, "_scorings", functools.cache(scoring.Scorings))
    rows = (f"{question},{answer},capitals" for question, answer in GOLD.items())
    return "\n".join(["question,gold answers,source", *rows]).encode()


def test_questions_with_right_answers_are_scored_on_the_embedded_model(app, gold, embedded):
    upload(app, gold, "gold.csv")
    assert said(app, "Questions with right answers and no scores: 4.") and has_no_result(app)
    assert app.button(key="score").label == "Score 4 questions on the embedded model"
    app.button(key="score").click().run()
    waited_for(app, lambda page: said(page, "4 of 4 scored."))
    right = [
        matches(run(Request(question), embedded).scores["mutual_information"].answer, [answer])
        for question, answer in GOLD.items()
    ]
    assert 0 < sum(right) < 4
    assert badges(app) == [UNCERTIFIED]  # four are too few
    assert said(app, "Too few labelled answers have a score: 4.")
    alt = f"Histogram of Mutual information for {sum(right)} right and {4 - sum(right)} wrong"
    assert any(text.startswith(alt) for text in pictures(app))
    assert [d.proto.label for d in app.get("download_button")].count("Download the scored table")
    app.selectbox(key="method").set_value("empirical")
    set_target(app, alpha=0.5)
    assert not app.button(key="use_policy").disabled  # the model here made these scores


def test_the_scored_table_is_what_the_study_makes(app, gold, embedded):
    upload(app, gold, "gold.csv")
    app.button(key="score").click().run()
    waited_for(app, lambda page: said(page, "4 of 4 scored."))
    _, _, (scored_upload, content) = app.session_state["remembered_scored"]
    golds = [
        study_of_scoring.Gold(question, (answer,), "capitals") for question, answer in GOLD.items()
    ]
    request = Request(golds[0].query)
    expected = study_of_scoring.table(
        study_of_scoring.score_all(golds, embedded, request), embedded, request
    )
    assert content == expected
    assert scored_upload.name == "gold.csv (scored)"


def test_stopping_keeps_what_is_scored_and_goes_on_from_there(app, gold, monkeypatch):
    asked, gate = [], threading.Event()
    score_one = study_of_scoring.score

    def slow(question, *args, **kwargs):
        asked.append(question.query)
        assert len(asked) != 3 or gate.wait(60)
        return score_one(question, *args, **kwargs)

    monkeypatch.setattr(study_of_scoring, "score", slow)
    upload(app, gold, "gold.csv")
    app.button(key="score").click().run()
    waited_for(app, lambda page: len(asked) == 3)
    assert app.get("progress") and has_no_result(app)
    app.button(key="cancel_scoring").click().run()
    gate.set()
    waited_for(app, lambda page: said(page, "2 of 4 scored."))
    assert PROBLEM not in badges(app)
    assert said(app, "Too few labelled answers have a score: 2.")
    assert app.button(key="score").label == "Score 2 questions on the embedded model"
    app.button(key="score").click().run()
    waited_for(app, lambda page: said(page, "4 of 4 scored."))
    # The one that was under way when it was stopped is asked again, and no other.
    assert asked == [*list(GOLD)[:3], *list(GOLD)[2:]]


def test_one_persons_stop_does_not_end_the_scoring_of_another(app, gold, monkeypatch):
    asked, gate = [], threading.Event()
    score_one = study_of_scoring.score

    def slow(question, *args, **kwargs):
        asked.append(question.query)
        assert gate.wait(60)
        return score_one(question, *args, **kwargs)

    monkeypatch.setattr(study_of_scoring, "score", slow)
    other = session("calibration")
    for page in (app, other):
        upload(page, gold, "gold.csv")
        page.button(key="score").click().run()
    app.button(key="cancel_scoring").click().run()
    assert app.button(key="score") and not app.get("progress")
    gate.set()
    waited_for(other, lambda page: said(page, "4 of 4 scored."))
    assert asked == list(GOLD)


def test_a_failure_of_the_model_is_said_and_keeps_what_is_scored(app, gold, monkeypatch):
    score_one = study_of_scoring.score

    def broken(question, *args, **kwargs):
        if "Italy" in question.query:
            raise ModelError("The model went away. Start it again.")
        return score_one(question, *args, **kwargs)

    monkeypatch.setattr(study_of_scoring, "score", broken)
    upload(app, gold, "gold.csv")
    app.button(key="score").click().run()
    waited_for(app, lambda page: said(page, "The model went away."))
    assert badges(app) == [PROBLEM, UNCERTIFIED] and said(app, "2 of 4 scored.")


def scored_on(page):
    """The questions of the scored table, row by row."""
    return page.session_state["remembered_scored"][-1][0].table["question"].tolist()


def test_on_a_service_one_slow_question_holds_up_no_other_and_stopping_loses_none(
    gold, on_ones_own
):
    gate = threading.Event()

    def held(path, body):
        if "Germany" in str(body):
            gate.wait(60)

    with serving("none", before=held) as server:
        page = chosen(session("calibration"), server)
        probes = len(server.exchanges)
        upload(page, gold, "gold.csv")
        (offered,) = [text for text in texts(page) if ": at most " in text]
        most = offered.split(": at most ")[1].split(" calls")[0]
        page.button(key="score").click().run()
        done = "3 of 4 questions done"
        waited_for(page, lambda page: [p for p in page.get("progress") if p.proto.text == done])
        assert re.search(rf"[1-9]\d* calls so far, of at most {most}\.", "\n".join(texts(page)))
        assert 0 < page.get("progress")[0].proto.value < 100
        page.button(key="cancel_scoring").click().run()
        waited_for(page, lambda page: said(page, "3 of 4 scored."))
        assert not gate.is_set()
        others = [question for question in GOLD if "Germany" not in question]
        assert scored_on(page) == others
        gate.set()
        page.button(key="score").click().run()
        waited_for(page, lambda page: said(page, "4 of 4 scored."))
        assert scored_on(page) == list(GOLD)
        made = [str(body) for body in server.bodies[probes:]]
        # What was under way when one stopped was left, and is asked again; nothing else is, and
        # everything counts.
        again = [body for body, times in Counter(made).items() if times > 1]
        assert again and all("Germany" in body for body in again)
        assert said(page, f"Used for scoring so far: {len(made):,} calls, ")


def test_questions_without_an_answer_are_named_by_their_line(app, gold):
    upload(app, gold + b"\nWho is it?,,people\n,Nobody,people\n", "gold.csv")
    assert said(app, "Line 6: “gold answers” has no answer (left out).")
    assert said(app, "Line 7: “question” is empty (left out).")
    assert said(app, "Questions with right answers and no scores: 4.")


# ------------------------------------------------------------ the inspection follows


def inspect(page, question=None, **settings):
    """Go to the inspection, ask, and wait for the verdict."""
    go(page, "inspection").run()
    if question is not None:
        page.text_input(key="q").set_value(question)
    for key, value in settings.items():
        of_key([*page.slider, *page.number_input], key).set_value(value)
    page.run()
    return waited_for(page, lambda shown: shown.code)


def verdict(page):
    """The one sentence that compares a doubt with λ."""
    (found,) = [text for text in texts(page) if "λ = " in text and "holds for" not in text]
    return found


def use_entropy_by_hand(page, value):
    """Semantic entropy decides, at a λ that somebody chose."""
    score(page).set_value("semantic_entropy").run()
    page.slider[0].set_value(value).run()
    return use(page)


def test_the_inspection_follows_the_policy_in_use(example):
    use_entropy_by_hand(example, 0.5)
    inspect(example)
    assert badges(example)[0] == "Policy in use"
    assert re.search(r"S\.E\. is \d\.\d+ nats, below λ = 0\.500 nats\.", verdict(example))
    assert said(example, "No guarantee: λ was chosen by hand.")
    go(example, "calibration").run()
    example.slider[0].set_value(0.25).run()
    use(example)
    assert "λ = 0.250 nats" in verdict(inspect(example))


def test_the_policy_in_use_turns_a_verdict(example):
    """A question with many answers: much entropy, little mutual information."""
    question = "Name a yellow fruit."
    inspect(example, question)
    assert [h.value for h in example.subheader if "Answer" in h.value]
    go(example, "calibration").run()
    use_entropy_by_hand(example, 0.25)
    inspect(example, question)
    assert [h.value for h in example.subheader if "Abstain" in h.value]
    example.button(key="stop_policy").click().run()
    waited_for(example, lambda page: page.code)
    assert [h.value for h in example.subheader if "Answer" in h.value]
    assert "M.I." in verdict(example) and "Policy in use" not in badges(example)


def test_another_pipeline_is_refused_by_the_field_and_the_default_decides(example):
    use_entropy_by_hand(example, 0.25)
    inspect(example, tau=0.9)
    assert said(
        example, "This policy was calibrated for a different pipeline: τ = 0.25 there, 0.9 here"
    )
    assert said(example, "The default policy decides instead.")
    assert f"λ = {default_policy().threshold:.3f}" in verdict(example)
    inspect(example, tau=0.25)
    assert not said(example, "different pipeline")
    assert "S.E. is" in verdict(example)


def test_a_policy_of_another_pipeline_can_be_brought_and_is_refused_there(app):
    policy = default_policies()["semantic_entropy"]
    bring(app, to_json(replace(policy, pipeline=replace(policy.pipeline, samples=30))))
    app.button(key="use_uploaded").click().run()
    inspect(app)
    assert said(app, "k = 30 there, 10 here") and "M.I." in verdict(app)
    inspect(app, k=30)
    assert not said(app, " there, ") and "S.E. is" in verdict(app)


@pytest.mark.parametrize("change", [{"score": "confidence"}, {"larger_is_surer": True}])
def test_a_policy_that_can_decide_nothing_here_breaks_no_inspection(app, change):
    """However it came to be in use: a session may have outlived an update."""
    app.session_state["policy_in_use"] = replace(default_policy(), **change)
    inspect(app)
    assert said(app, "The default policy decides instead.") and "M.I." in verdict(app)
